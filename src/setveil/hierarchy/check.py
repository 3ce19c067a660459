"""Checks a hierarchy that somebody wrote down, and builds its tree if it has no faults."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Literal

import numpy as np

from setveil.data.vocabulary import Vocabulary
from setveil.errors import HierarchyError, ParameterError, brief, brief_list
from setveil.hierarchy.layouts import TreeOptions, guess_layout, has_parent_first, outline_of
from setveil.hierarchy.outline import (
    Edge,
    Links,
    Outline,
    chains_of,
    column_names,
    edges,
    qualified,
)
from setveil.hierarchy.tree import Hierarchy, Origin, numbered
from setveil.words import plural

FaultKind = Literal[
    "no nodes",
    "empty label",
    "two parents",
    "cycle",
    "no root",
    "two roots",
    "two levels",
    "item without a leaf",
    "item is an inner node",
    "leaf without an item",
    "item in several groups",
    "repeated line",
    "single child",
]

_AS_LEAF = -1  # the level of a label that has a line as a leaf


@dataclass(frozen=True)
class Fault:
    """A mistake in a hierarchy (an `error`: not a tree for this data) or an oddity (a `note`)."""

    kind: FaultKind
    labels: tuple[str, ...]  # every label concerned; the sentence names only the first few
    sentence: str
    severity: Literal["error", "note"] = "error"

    def to_dict(self) -> dict[str, object]:
        return {
            "kind": self.kind,
            "severity": self.severity,
            "labels": list(self.labels),
            "sentence": self.sentence,
        }


def tree_of_edges(
    pairs: Iterable[Iterable[object]] | Mapping[Any, object], origin: Origin | None = None
) -> Hierarchy:
    """The tree of pairs `(child, parent)`; siblings keep their order of appearance."""
    rows = pairs.items() if isinstance(pairs, Mapping) else pairs
    chains = chains_of(rows, "edges", "pairs (child, parent)")
    wrong = next((chain for chain in chains if len(chain) != 2), None)
    if wrong is not None:
        raise ParameterError("edges", tuple(wrong), "each must be a pair (child, parent)")
    if has_parent_first(column_names(pairs)):
        chains = [chain[::-1] for chain in chains]
    return tree_of_outline(Outline(chains), origin)


def tree_of_paths(
    paths: Iterable[Iterable[object]],
    origin: Origin | None = None,
    options: TreeOptions | None = None,
) -> Hierarchy:
    """The tree of paths `(leaf, parent, ..., root)`; leaves keep their order as far as possible.

    A table whose columns have names is read as a file with these names as its header would be."""
    chains = chains_of(paths, "paths", "paths (leaf, parent, ..., root)")
    how, names = options or TreeOptions(), column_names(paths)
    if not names:
        outline = Outline(chains, from_leaves=True)
        return tree_of_outline(qualified(outline) if how.qualify else outline, origin)
    rows = [list(names), *map(list, chains)]
    layout = how.layout or ("pairs" if guess_layout(rows) == "pairs" else "levels")
    outline = outline_of("the table", list(enumerate(rows)), replace(how, layout=layout))
    return tree_of_outline(replace(outline, lines=None), origin)


def tree_of_outline(
    outline: Outline, origin: Origin | None = None, source: str = "the hierarchy"
) -> Hierarchy:
    """The tree that an outline describes; errors call it `source`."""
    check = _Check(outline)
    faults = [fault.sentence for fault in check.errors()]
    if faults:
        raise HierarchyError(faults, source, way_out(outline))
    parent = check.links.parent
    numbers = {label: number for number, label in enumerate(parent)}
    parents = np.array([numbers.get(above, -1) for above in parent.values()], dtype=np.int64)
    return numbered(list(parent), parents, origin or Origin())


def way_out(outline: Outline) -> str:
    """What helps if an outline has errors, as a remedy; empty if nothing here does."""
    if not outline.from_leaves or outline.renamed:
        return ""
    ways, better = [], qualified(outline)
    is_tree = not _Check(better).errors()
    if is_tree and better.renamed:
        example = brief(better.renamed[0])
        ways.append(f"{{qualify=True}} names such groups with their parent, as in {example}")
    elif is_tree:
        ways.append("{qualify=True} moves such items below the lowest group that contains them all")
    if outline.columns:
        columns = brief_list(outline.columns)
        ways.append(f"{{levels}} chooses the columns that are levels, of {columns}")
    return ", and ".join(ways)


def find_faults(
    source: Outline | Hierarchy | Iterable[Edge], vocabulary: Vocabulary | None = None
) -> list[Fault]:
    """Every fault of a hierarchy, errors before notes, in a fixed order.

    Args:
        source: A tree, an outline (`setveil.hierarchy.files.read_outline` reads one from a file) or
            pairs `(child, parent)`.
        vocabulary: The items of the data that the hierarchy is for, if known.

    Example:
        >>> edges = [("milk", "Dairy"), ("milk", "Drinks"), ("Dairy", "ALL"), ("tea", "Drinks")]
        >>> for fault in find_faults(edges):
        ...     print(f"{fault.severity}: {fault.sentence}")
        error: 'milk' has two parents: 'Dairy' and 'Drinks'
        error: there must be one root, but there are two: 'Drinks' and 'ALL'
        note: 2 nodes have only one child: 'Dairy' and 'ALL'
    """
    if isinstance(source, Hierarchy):
        source = Outline(list(source.paths()), from_leaves=True)
    elif not isinstance(source, Outline):
        source = Outline(list(source))
    check = _Check(source)
    faults = check.errors() + check.notes()
    if vocabulary is not None:
        faults += check.compared_with(vocabulary)
    return sorted(faults, key=lambda fault: fault.severity)


class _Check:
    """The faults of one outline."""

    def __init__(self, outline: Outline) -> None:
        self.outline, self.links = outline, Links(outline)

    def errors(self) -> list[Fault]:
        """The faults that make the outline not a tree."""
        if not self.links.parent:
            sentence = "the hierarchy is empty: it needs a line for each item"
            return [Fault("no nodes", (), sentence), *self._empty_labels()]
        return [
            *self._empty_labels(),
            *self._two_parents(),
            *self._cycles(),
            *self._roots(),
            *self._two_levels(),
        ]

    def notes(self) -> list[Fault]:
        """Oddities that do no harm."""
        words = ("item is in several groups", "items are in several groups")
        below = "and now below the lowest group that contains all of these"
        moved = _about(self.outline.moved, "item in several groups", words, "note")
        return [
            *(replace(fault, sentence=f"{fault.sentence}, {below}") for fault in moved),
            *self._repeated_lines(),
            *self._single_children(),
        ]

    def compared_with(self, vocabulary: Vocabulary) -> list[Fault]:
        """How the outline and the items of the data differ."""
        known, inner = self.links.parent, self.links.inner
        missing = [item for item in vocabulary if item not in known]
        groups = [item for item in vocabulary if item in inner]
        unused = [label for label in known if label not in inner and label not in vocabulary]
        unknown = ("item is not in the hierarchy", "items are not in the hierarchy")
        inside = ("item is a group of the hierarchy", "items are groups of the hierarchy")
        absent = (
            "hierarchy item does not occur in the data",
            "hierarchy items do not occur in the data",
        )
        return [
            *_about(missing, "item without a leaf", unknown),
            *_about(groups, "item is an inner node", inside),
            *_about(unused, "leaf without an item", absent, "note"),
        ]

    def _empty_labels(self) -> Iterator[Fault]:
        lines = self.outline.lines or range(1, len(self.outline.chains) + 1)
        found = [
            str(line)
            for line, labels in zip(lines, self.outline.chains, strict=True)
            if "" in labels and (not any(labels) or "" in _without_empty_end(labels))
        ]
        if found:
            has = "1 line has" if len(found) == 1 else f"{len(found):,} lines have"
            noun = "line" if len(found) == 1 else "lines"
            yield Fault("empty label", ("",), f"{has} an empty label: {noun} {_listed(found)}")

    def _two_parents(self) -> Iterator[Fault]:
        lines = self._edge_lines()
        for label, others in self.links.more.items():
            parents = [self.links.parent[label], *others]
            named = [f"{brief(parent)}{lines.get((label, parent), '')}" for parent in parents]
            sentence = f"{brief(label)} has {_number(parents)} parents: {_listed(named)}"
            yield Fault("two parents", (label, *parents), sentence)

    def _edge_lines(self) -> dict[Edge, str]:
        """The first line of each edge from a label with several parents."""
        lines: dict[Edge, str] = {}
        if self.links.more and self.outline.lines:
            for labels, line in zip(self.outline.chains, self.outline.lines, strict=True):
                for edge in edges(labels):
                    if edge[0] in self.links.more:
                        lines.setdefault(edge, f" (line {line})")
        return lines

    def _cycles(self) -> Iterator[Fault]:
        for cycle in _cycles_of(self.links):
            shown = [brief(label) for label in cycle[:8]] + ["..."] * (len(cycle) > 8)
            sentence = f"a cycle: {' -> '.join([*shown, brief(cycle[0])])}"
            yield Fault("cycle", cycle, sentence)

    def _roots(self) -> Iterator[Fault]:
        roots = tuple(label for label, parent in self.links.parent.items() if not parent)
        if not roots:
            yield Fault("no root", (), "there is no root: every node has a parent")
        if len(roots) > 1:
            named = _listed([brief(root) for root in roots])
            sentence = f"there must be one root, but there are {_number(roots)}: {named}"
            yield Fault("two roots", roots, sentence)

    def _two_levels(self) -> Iterator[Fault]:
        """Labels that are both leaves and groups, and groups at several distances from the root."""
        if not self.outline.from_leaves:
            return
        depths: dict[str, set[int]] = {}
        seen: set[tuple[str, ...]] = set()
        for labels in self.outline.chains:
            first = labels[0] if labels else ""
            if first in self.links.inner and any(label != first for label in labels):
                depths.setdefault(first, set()).add(_AS_LEAF)
            above = tuple(labels[1:])
            if above not in seen:
                seen.add(above)
                self._add_depths(depths, above)
        for label, levels in depths.items():
            steps = _listed([str(level) for level in sorted(levels)])
            where = f"at {_number(levels)} levels: {steps} steps below the root"
            if _AS_LEAF in levels:
                where = "at two levels: as a leaf and as a group"
            if len(levels) > 1 or _AS_LEAF in levels:
                yield Fault("two levels", (label,), f"{brief(label)} is used {where}")

    def _add_depths(self, depths: dict[str, set[int]], above: Sequence[str]) -> None:
        groups = list(dict.fromkeys(label for label in above if label))
        if groups and not self.links.parent[groups[-1]]:
            for depth, label in enumerate(reversed(groups)):
                depths.setdefault(label, set()).add(depth)

    def _repeated_lines(self) -> Iterator[Fault]:
        seen: set[tuple[str, ...]] = set()
        repeated: dict[str, None] = {}
        for line in map(tuple, self.outline.chains):
            if line in seen:
                repeated[line[0] if line else ""] = None
            seen.add(line)
        words = ("line is repeated", "lines are repeated")
        yield from _about(list(repeated), "repeated line", words, "note")

    def _single_children(self) -> Iterator[Fault]:
        children = Counter(chain(self.links.parent.values(), *self.links.more.values()))
        single = [parent for parent, count in children.items() if parent and count == 1]
        words = ("node has only one child", "nodes have only one child")
        yield from _about(single, "single child", words, "note")


def _about(
    labels: Sequence[str],
    kind: FaultKind,
    words: tuple[str, str],
    severity: Literal["error", "note"] = "error",
) -> Iterator[Fault]:
    """One fault about all these labels, if any; `words` are for one label and for several."""
    if labels:
        named = _listed([brief(label) for label in labels])
        yield Fault(kind, tuple(labels), f"{plural(len(labels), *words)}: {named}", severity)


def _without_empty_end(labels: Sequence[str]) -> Sequence[str]:
    used = max(position for position, label in enumerate(labels) if label)
    return labels[: used + 1]


def _number(things: Sized) -> str:
    return "two" if len(things) == 2 else str(len(things))


def _listed(names: Sequence[str]) -> str:
    if len(names) > 4:
        return f"{', '.join(names[:3])} and {len(names) - 3:,} more"
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _cycles_of(links: Links) -> Iterator[tuple[str, ...]]:
    """One cycle, child before parent, of every group of labels that lead to each other."""
    ups = {
        label: [*filter(None, [links.parent[label]]), *links.more.get(label, ())]
        for label in _tangled(links)
    }
    for component in _components(ups):
        if len(component) > 1:
            yield _cycle_in(component, ups)


def _tangled(links: Links) -> list[str]:
    """The labels whose first parents lead to no root, or to a label with several parents."""
    reaches: dict[str, bool] = {"": True}
    for label in links.parent:
        walked: list[str] = []
        while label not in reaches:
            reaches[label] = False
            walked.append(label)
            label = links.parent[label] if label not in links.more else label
        for step in walked:
            reaches[step] = reaches[label]
    return [label for label in links.parent if not reaches[label]]


def _components(ups: Mapping[str, Sequence[str]]) -> Iterator[list[str]]:
    """The strongly connected groups of labels, by Tarjan's algorithm without recursion."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    open_labels: list[str] = []
    is_open: set[str] = set()
    for start in ups:
        if start in index:
            continue
        work = [(start, iter(ups[start]))]
        index[start] = low[start] = len(index)
        open_labels.append(start)
        is_open.add(start)
        while work:
            label, rest = work[-1]
            above = next(
                (up for up in rest if up in ups and (up not in index or up in is_open)), None
            )
            if above is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[label])
                if low[label] == index[label]:
                    place = open_labels.index(label)
                    component, open_labels[place:] = open_labels[place:], []
                    is_open.difference_update(component)
                    yield component
            elif above in index:
                low[label] = min(low[label], index[above])
            else:
                index[above] = low[above] = len(index)
                open_labels.append(above)
                is_open.add(above)
                work.append((above, iter(ups[above])))


def _cycle_in(component: list[str], ups: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """A cycle inside a strongly connected group, found by going up until a label repeats."""
    members, walked = set(component), {min(component): 0}
    label = min(component)
    while True:
        label = next(up for up in ups[label] if up in members)
        if label in walked:
            return tuple(walked)[walked[label] :]
        walked[label] = len(walked)
