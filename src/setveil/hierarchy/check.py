"""What may be wrong with a hierarchy as somebody wrote it down, and the tree of one that is right."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any, Literal

import numpy as np

from setveil.data.vocabulary import Vocabulary
from setveil.errors import HierarchyError, ParameterError
from setveil.hierarchy.chains import chains_of
from setveil.hierarchy.cycles import find_cycles
from setveil.hierarchy.tree import Hierarchy, Origin, numbered

Edge = tuple[str, str]
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
    "repeated line",
    "single child",
]


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong (an `error`: no tree, or not one for this data) or that looks odd (a `note`)."""

    kind: FaultKind
    labels: tuple[str, ...]
    """Every label that the fault is about; the sentence names only the first few."""
    sentence: str
    severity: Literal["error", "note"] = "error"

    def to_dict(self) -> dict[str, object]:
        return {
            "kind": self.kind,
            "severity": self.severity,
            "labels": list(self.labels),
            "sentence": self.sentence,
        }


@dataclass(frozen=True)
class Outline:
    """A hierarchy as it was written down, faults and all.

    A chain goes up: `(child, parent)`, or `(leaf, parent, ..., root)`. Each pair of neighbours is an edge. A label repeated right after
    itself is one node (other tools pad short paths that way), and empty labels at the end say nothing: `("ALL", "")` names a root.
    """

    chains: Sequence[Sequence[str]]
    from_leaves: bool = False
    """Whether each chain starts at a leaf, so that its first label must not be a group elsewhere."""
    lines: Sequence[int] | None = None
    """The line of each chain in its file."""


def edges_of_paths(paths: Iterable[Sequence[str]]) -> list[Edge]:
    """The distinct edges `(child, parent)` of paths `(leaf, parent, ..., root)`, in order of appearance.

    Example:
        >>> edges_of_paths([("beer", "Alcohol", "ALL"), ("wine", "Alcohol", "ALL")])
        [('beer', 'Alcohol'), ('Alcohol', 'ALL'), ('wine', 'Alcohol')]
    """
    return list(dict.fromkeys(edge for path in paths for edge in _edges(path)))


def tree_of_edges(
    edges: Iterable[Iterable[object]] | Mapping[Any, object], origin: Origin | None = None
) -> Hierarchy:
    """The tree of pairs `(child, parent)`; siblings keep their order of appearance.

    Raises:
        HierarchyError: when they are no tree; it lists every fault.
    """
    chains = chains_of(
        edges.items() if isinstance(edges, Mapping) else edges, "edges", "pairs (child, parent)"
    )
    wrong = next((chain for chain in chains if len(chain) != 2), None)
    if wrong is not None:
        raise ParameterError("edges", tuple(wrong), "each must be a pair (child, parent)")
    return tree_of_outline(Outline(chains), origin)


def tree_of_paths(paths: Iterable[Iterable[object]], origin: Origin | None = None) -> Hierarchy:
    """The tree of paths `(leaf, parent, ..., root)`; leaves keep their order as far as a tree allows.

    Raises:
        HierarchyError: when they are no tree; it lists every fault.
    """
    return tree_of_outline(
        Outline(chains_of(paths, "paths", "paths (leaf, parent, ..., root)"), from_leaves=True),
        origin,
    )


def tree_of_outline(
    outline: Outline, origin: Origin | None = None, source: str = "the hierarchy"
) -> Hierarchy:
    """The tree that an outline describes; `source` is what the error calls it."""
    links = _Links(outline)
    errors = [fault.sentence for fault in links.faults() if fault.severity == "error"]
    if errors:
        raise HierarchyError(errors, source)
    numbers = {label: number for number, label in enumerate(links.parent)}
    parents = np.fromiter(
        (numbers.get(parent, -1) for parent in links.parent.values()),
        dtype=np.int64,
        count=len(numbers),
    )
    return numbered(list(links.parent), parents, origin or Origin())


def find_faults(
    source: Outline | Hierarchy | Iterable[Edge], vocabulary: Vocabulary | None = None
) -> list[Fault]:
    """Every fault of a hierarchy, errors before notes, in a fixed order.

    Args:
        source: A tree, an outline (`setveil.hierarchy.files.read_outline` gives that of a file) or pairs `(child, parent)`.
        vocabulary: The items of the data that the hierarchy is for, when known.

    Example:
        >>> for fault in find_faults([("milk", "Dairy"), ("milk", "Drinks"), ("Dairy", "ALL"), ("tea", "Drinks")]):
        ...     print(f"{fault.severity}: {fault.sentence}")
        error: 'milk' has two parents: 'Dairy' and 'Drinks'
        error: two roots: 'Drinks' and 'ALL', but everything must come together in one
        note: 2 nodes have a single child: 'Dairy' and 'ALL'
    """
    if isinstance(source, Hierarchy):
        source = Outline(list(source.paths()), from_leaves=True)
    elif not isinstance(source, Outline):
        source = Outline(list(source))
    links = _Links(source)
    faults = links.faults() + links.notes()
    if vocabulary is not None:
        faults += links.faults_with(vocabulary)
    return sorted(faults, key=lambda fault: fault.severity)


class _Links:
    """The edges of an outline: one parent for each label, and what does not fit that."""

    def __init__(self, outline: Outline) -> None:
        self.outline = outline
        self.parent: dict[str, str] = {}
        self.more: dict[str, list[str]] = {}
        self.empty: list[int] = []
        known: set[tuple[str, ...]] = set()
        for place, labels in enumerate(outline.chains):
            if "" in labels:
                self._note_empty(place, labels)
            above = tuple(labels[1:])
            if above not in known:
                known.add(above)
                self._add(labels, _edges(labels))
            elif above and above[0] and labels[0] and labels[0] not in self.parent:
                self.parent[labels[0]] = above[0]
            else:
                self._add(labels, _edges(labels))
        self.inner = set(self.parent.values()) | {
            parent for parents in self.more.values() for parent in parents
        }
        self.inner.discard("")

    def _add(self, labels: Sequence[str], edges: Iterable[Edge]) -> None:
        own = self.parent
        if labels and labels[0]:
            own.setdefault(labels[0], "")
        for child, parent in edges:
            first = own.get(child, "")
            if not first:
                own[child] = parent
            elif first != parent and parent not in self.more.get(child, ()):
                self.more.setdefault(child, []).append(parent)
            own.setdefault(parent, "")

    def _note_empty(self, place: int, labels: Sequence[str]) -> None:
        used = max((position for position, label in enumerate(labels) if label), default=-1)
        if "" in labels[: used + 1] or used < 0:
            self.empty.append(place)

    def faults(self) -> list[Fault]:
        """What makes the outline no tree."""
        if not self.parent:
            return [
                Fault("no nodes", (), "no nodes: a hierarchy has a line for each item"),
                *self._empty_labels(),
            ]
        return [
            *self._empty_labels(),
            *self._two_parents(),
            *self._cycles(),
            *self._roots(),
            *self._two_levels(),
        ]

    def _empty_labels(self) -> Iterator[Fault]:
        if self.empty:
            places = [
                str(self.outline.lines[place]) if self.outline.lines else str(place + 1)
                for place in self.empty
            ]
            count = "1 line has" if len(places) == 1 else f"{len(places):,} lines have"
            yield Fault("empty label", ("",), f"{count} an empty label: line {_listed(places)}")

    def _two_parents(self) -> Iterator[Fault]:
        lines = self._edge_lines()
        for label, others in self.more.items():
            parents = [self.parent[label], *others]
            named = [f"{parent!r}{lines.get((label, parent), '')}" for parent in parents]
            count = "two" if len(parents) == 2 else str(len(parents))
            yield Fault(
                "two parents", (label, *parents), f"{label!r} has {count} parents: {_listed(named)}"
            )

    def _edge_lines(self) -> dict[Edge, str]:
        """Where the edges of the labels with several parents stand first."""
        lines: dict[Edge, str] = {}
        if self.more and self.outline.lines:
            for labels, line in zip(self.outline.chains, self.outline.lines, strict=True):
                for edge in _edges(labels):
                    if edge[0] in self.more:
                        lines.setdefault(edge, f" (line {line})")
        return lines

    def _cycles(self) -> Iterator[Fault]:
        for cycle in find_cycles(self.parent, self.more):
            shown = " -> ".join(
                repr(label)
                for label in [*cycle[:8], *(["..."] if len(cycle) > 8 else []), cycle[0]]
            )
            yield Fault("cycle", cycle, f"a cycle: {shown}")

    def _roots(self) -> Iterator[Fault]:
        roots = tuple(label for label, parent in self.parent.items() if not parent)
        if not roots:
            yield Fault("no root", (), "no root: every node has a parent, so there is no top")
        if len(roots) > 1:
            count = "two" if len(roots) == 2 else str(len(roots))
            named = _listed([repr(root) for root in roots])
            yield Fault(
                "two roots",
                roots,
                f"{count} roots: {named}, but everything must come together in one",
            )

    def _two_levels(self) -> Iterator[Fault]:
        """Labels that start a path and are groups in another, and groups that stand at different distances from the root."""
        if not self.outline.from_leaves:
            return
        depths: dict[str, set[int]] = {}
        seen: set[tuple[str, ...]] = set()
        for labels in self.outline.chains:
            if labels and labels[0] in self.inner and any(label != labels[0] for label in labels):
                depths.setdefault(labels[0], set()).add(-1)
            above = tuple(labels[1:])
            if above not in seen:
                seen.add(above)
                self._add_depths(depths, above)
        for label, levels in depths.items():
            if len(levels) > 1 or -1 in levels:
                yield Fault("two levels", (label,), _sentence_of_levels(label, levels))

    def _add_depths(self, depths: dict[str, set[int]], above: Sequence[str]) -> None:
        groups = list(dict.fromkeys(label for label in above if label))
        if groups and not self.parent[groups[-1]]:
            for depth, label in enumerate(reversed(groups)):
                depths.setdefault(label, set()).add(depth)

    def notes(self) -> list[Fault]:
        """What is odd but harmless."""
        return [*self._repeated_lines(), *self._single_children()]

    def _repeated_lines(self) -> Iterator[Fault]:
        seen: set[tuple[str, ...]] = set()
        repeated: dict[str, None] = {}
        for labels in self.outline.chains:
            line = tuple(labels)
            if line in seen:
                repeated[line[0] if line else ""] = None
            seen.add(line)
        yield from _about(
            tuple(repeated), "repeated line", "line is repeated", "lines are repeated", "note"
        )

    def _single_children(self) -> Iterator[Fault]:
        children: dict[str, int] = {}
        for parent in chain(self.parent.values(), *self.more.values()):
            children[parent] = children.get(parent, 0) + 1
        single = tuple(parent for parent, count in children.items() if parent and count == 1)
        yield from _about(
            single, "single child", "node has a single child", "nodes have a single child", "note"
        )

    def faults_with(self, vocabulary: Vocabulary) -> list[Fault]:
        """Where the outline and the items of the data do not meet."""
        missing = tuple(item for item in vocabulary if item not in self.parent)
        inner = tuple(item for item in vocabulary if item in self.inner)
        unused = tuple(
            label for label in self.parent if label not in self.inner and label not in vocabulary
        )
        return [
            *_about(missing, "item without a leaf", "item has no leaf", "items have no leaf"),
            *_about(
                inner,
                "item is an inner node",
                "item is not a leaf but an inner node",
                "items are not leaves but inner nodes",
            ),
            *_about(
                unused,
                "leaf without an item",
                "leaf stands for no item of the data",
                "leaves stand for no item of the data",
                "note",
            ),
        ]


def _about(
    labels: tuple[str, ...],
    kind: FaultKind,
    one: str,
    many: str,
    severity: Literal["error", "note"] = "error",
) -> Iterator[Fault]:
    """One fault about all these labels; none when there are none."""
    if labels:
        sentence = f"{len(labels):,} {one if len(labels) == 1 else many}: {_listed([repr(label) for label in labels])}"
        yield Fault(kind, labels, sentence, severity)


def _edges(labels: Sequence[str]) -> Iterator[Edge]:
    used = labels if "" not in labels else [label for label in labels if label]
    return ((child, parent) for child, parent in pairwise(used) if child != parent)


def _sentence_of_levels(label: str, levels: set[int]) -> str:
    groups = sorted(level for level in levels if level >= 0)
    if -1 in levels:
        return (
            f"{label!r} is used at two levels: it has a line as a leaf, and it is a group of others"
        )
    return f"{label!r} is used at two levels: {_listed([str(level) for level in groups])} steps below the root"


def _listed(names: Sequence[str]) -> str:
    """The first few names as they stand in a sentence."""
    if len(names) > 4:
        return f"{', '.join(names[:3])} and {len(names) - 3:,} more"
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
