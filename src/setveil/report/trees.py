"""The reports of hierarchies: their shape and their faults."""

from collections.abc import Iterator, Sequence

from setveil.errors import UnknownItemError, did_you_mean
from setveil.hierarchy.check import Fault
from setveil.hierarchy.tree import Hierarchy
from setveil.report import Fact, Report, Section
from setveil.words import count, plural

MOST_CHILDREN = 12  # how many children of a node are shown; the rest are counted


def report_faults(name: str, faults: Sequence[Fault]) -> Report:
    """Every fault of a hierarchy as a line."""
    errors = sum(fault.severity == "error" for fault in faults)
    title = f"{name}: {plural(errors, 'error')}, {plural(len(faults) - errors, 'note')}"
    facts = tuple(Fact(fault.severity, fault.sentence) for fault in faults)
    values = {"usable": errors == 0, "faults": [fault.to_dict() for fault in faults]}
    return Report((Section(title, facts=facts, holds=errors == 0),), values)


def report_tree(tree: Hierarchy, depth: int, label: str | None = None) -> Report:
    """The size of a tree, and `depth` levels of it, from the root or from the node with a label."""
    if label is not None and label not in tree.nodes:
        near = did_you_mean(label, tree.nodes)
        raise UnknownItemError([label], "the hierarchy has no node", near)
    start = tree.root if label is None else tree.nodes.number(label)
    leaves = f"{count(tree.leaf_count)} of them leaves"
    title = f"{plural(len(tree), 'node')}, {leaves}, height {tree.height}"
    path = "" if label is None else " < ".join(tree.path(label)) + "\n"
    size = {"nodes": len(tree), "leaves": tree.leaf_count, "height": tree.height}
    values = {**size, "origin": tree.origin.kind, "tree": _nested(tree, start, depth)}
    return Report((Section(title, path + "\n".join(_lines(tree, start, depth, ""))),), values)


def _lines(tree: Hierarchy, node: int, depth: int, indent: str) -> Iterator[str]:
    width = int(tree.widths[node])
    size = f"  ({plural(width, 'leaf', 'leaves')})" if node >= tree.leaf_count else ""
    yield f"{indent}{tree.labels[node]}{size}"
    children = tree.children(node).tolist() if depth else []
    for child in children[:MOST_CHILDREN]:
        yield from _lines(tree, child, depth - 1, indent + "  ")
    if len(children) > MOST_CHILDREN:
        yield f"{indent}  ... and {count(len(children) - MOST_CHILDREN)} more"


def _nested(tree: Hierarchy, node: int, depth: int) -> dict[str, object]:
    shown: dict[str, object] = {"label": tree.labels[node], "leaves": int(tree.widths[node])}
    if depth and node >= tree.leaf_count:
        children = tree.children(node).tolist()
        shown["children"] = [_nested(tree, child, depth - 1) for child in children]
    return shown
