"""The reports of hierarchies: their shape and their faults."""

from collections.abc import Iterator

from setveil.errors import Spelling, UnknownItemError, did_you_mean, spelled
from setveil.hierarchy.build import range_of
from setveil.hierarchy.recipes import remarks
from setveil.hierarchy.tree import Hierarchy
from setveil.pipeline.hierarchy import Checked
from setveil.report import Fact, Report, Section, as_flag
from setveil.words import count, plural

MOST_CHILDREN = 12  # how many children of a node are shown; the rest are counted


def report_faults(name: str, checked: Checked, spell: Spelling = as_flag) -> Report:
    """Every fault of a hierarchy as a line, how a table was read, and what helps."""
    faults = checked.faults
    errors = sum(fault.severity == "error" for fault in faults)
    title = f"{name}: {plural(errors, 'error')}, {plural(len(faults) - errors, 'note')}"
    facts = tuple(Fact(fault.severity, fault.sentence) for fault in faults)
    values = {"usable": checked.is_usable, "faults": [fault.to_dict() for fault in faults]}
    advice = spelled(checked.advice, spell)
    text = f"levels: {' < '.join(checked.columns)}" if checked.columns else ""
    values |= {"levels": list(checked.columns), "advice": advice}
    more = (Section("Try", advice),) if advice else ()
    return Report((Section(title, text, facts, holds=checked.is_usable), *more), values)


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
    shown = Section(title, path + "\n".join(_lines(tree, start, depth, "")))
    said = [remark.text(as_flag) for remark in remarks(tree)[:1]]
    more = (Section("Note", "\n".join(said)),) if said else ()
    return Report((shown, *more), {**values, "remarks": said})


def _lines(tree: Hierarchy, node: int, depth: int, indent: str) -> Iterator[str]:
    size = f"  ({_size(tree, node)})" if node >= tree.leaf_count else ""
    yield f"{indent}{tree.labels[node]}{size}"
    children = tree.children(node).tolist() if depth else []
    for child in children[:MOST_CHILDREN]:
        yield from _lines(tree, child, depth - 1, indent + "  ")
    if len(children) > MOST_CHILDREN:
        yield f"{indent}  ... and {count(len(children) - MOST_CHILDREN)} more"


def _size(tree: Hierarchy, node: int) -> str:
    """How many leaves a node has, and if its label is a position, which."""
    leaves = plural(int(tree.widths[node]), "leaf", "leaves")
    if tree.origin.kind != "balanced" or tree.origin.is_public or not tree.widths[node]:
        return leaves
    items = tree.labels[tree.first[node] : tree.stop[node]]
    return f"{leaves}: {range_of(items, tree.origin.parameters['order'])}"


def _nested(tree: Hierarchy, node: int, depth: int) -> dict[str, object]:
    shown: dict[str, object] = {"label": tree.labels[node], "leaves": int(tree.widths[node])}
    if depth and node >= tree.leaf_count:
        children = tree.children(node).tolist()
        shown["children"] = [_nested(tree, child, depth - 1) for child in children]
    return shown
