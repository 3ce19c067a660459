"""Cycles among labels that each point to parents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence


def find_cycles(
    parent: Mapping[str, str], more: Mapping[str, Sequence[str]]
) -> Iterator[tuple[str, ...]]:
    """One cycle, child before parent, of every group of labels that lead to each other.

    Args:
        parent: The first parent of each label, empty when it has none.
        more: Further parents of those labels that have several.
    """
    ups = {
        label: (*((first,) if first else ()), *more.get(label, ()))
        for label, first in _tangled(parent, more)
    }
    for component in _components(ups):
        if len(component) > 1:
            yield _cycle_in(component, ups)


def _tangled(parent: Mapping[str, str], more: Mapping[str, Sequence[str]]) -> list[tuple[str, str]]:
    """The labels from which the top is not reached through first parents alone, and all that have several parents."""
    reaches: dict[str, bool] = {"": True}
    for label in parent:
        walked: list[str] = []
        while label not in reaches:
            reaches[label] = False
            walked.append(label)
            label = parent[label] if label not in more else label
        for step in walked:
            reaches[step] = reaches[label]
    return [(label, first) for label, first in parent.items() if not reaches[label]]


def _components(ups: Mapping[str, Sequence[str]]) -> Iterator[list[str]]:
    """Strongly connected groups of labels, by Tarjan's algorithm without recursion."""
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
                    yield _closed(label, open_labels, is_open)
            elif above in index:
                low[label] = min(low[label], index[above])
            else:
                index[above] = low[above] = len(index)
                open_labels.append(above)
                is_open.add(above)
                work.append((above, iter(ups[above])))


def _closed(label: str, open_labels: list[str], is_open: set[str]) -> list[str]:
    place = open_labels.index(label)
    component = open_labels[place:]
    del open_labels[place:]
    is_open.difference_update(component)
    return component


def _cycle_in(component: list[str], ups: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """A cycle inside a strongly connected group, found by walking up until a label comes again."""
    members, walked = set(component), {min(component): 0}
    label = min(component)
    while True:
        label = next(up for up in ups[label] if up in members)
        if label in walked:
            return tuple(walked)[walked[label] :]
        walked[label] = len(walked)
