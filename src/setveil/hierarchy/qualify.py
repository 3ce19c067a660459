"""Labels that name several groups, qualified with their parent: `VEGETABLES/CARROTS`."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise, takewhile

from setveil.errors import ParameterError
from setveil.hierarchy.outline import Outline, free_label

Group = tuple[str, ...]  # a group as the labels from its own up to the root


def qualified(outline: Outline) -> Outline:
    """The same outline, in which each group has a label of its own.

    What is above a group decides which group it is. A label that names one group only stays as it
    is. Otherwise, and if it is an item too, the label gets that of its parent in front, and more of
    what is above it as far as needed. Items keep their labels, because the data has them too. An
    item that is in several groups is put below the lowest group that contains all of these.

    Raises:
        ParameterError: if the outline consists of pairs, which do not say what is above a parent.

    Example:
        >>> rows = ["fresh carrots;CARROTS;VEGETABLES;ALL", "frozen carrots;CARROTS;FROZEN;ALL"]
        >>> outline = Outline([row.split(";") for row in rows], from_leaves=True)
        >>> qualified(outline).chains[1]
        ('frozen carrots', 'FROZEN/CARROTS', 'FROZEN', 'ALL')
    """
    if not outline.from_leaves:
        allowed = "in pairs, a label is one node; write a path for each item, or level columns"
        raise ParameterError("qualify", True, allowed)
    lines = [(chain[0] if chain else "", _groups(chain[1:])) for chain in outline.chains]
    lines = _without_padding(lines)
    places: dict[str, dict[Group, None]] = {}
    for leaf, groups in lines:
        places.setdefault(leaf, {})[groups] = None
    home = {leaf: _common_end(list(found)) for leaf, found in places.items()}
    moved = tuple(leaf for leaf, found in places.items() if len(found) > 1 and home[leaf])
    chosen = [(leaf, home[leaf] or groups) for leaf, groups in lines]
    names = _names((groups for _, groups in chosen), set(places))
    chains = [(leaf, *(names[groups[at:]] for at in range(len(groups)))) for leaf, groups in chosen]
    renamed = tuple(name for group, name in names.items() if name != group[0])
    return replace(outline, chains=chains, moved=moved, renamed=renamed)


def _groups(labels: Sequence[str]) -> Group:
    """The labels above a leaf without empty ones and without those that repeat the one before."""
    used = [label for label in labels if label]
    return tuple(used[:1] + [above for below, above in pairwise(used) if above != below])


def _without_padding(lines: Sequence[tuple[str, Group]]) -> list[tuple[str, Group]]:
    """The lines without a leaf repeated right above itself, unless that group has other items."""
    members: dict[Group, set[str]] = {}
    for leaf, groups in lines:
        for at in range(len(groups)):
            found = members.setdefault(groups[at:], set())
            if len(found) < 2:
                found.add(leaf)
    return [
        (leaf, groups[1:] if groups[:1] == (leaf,) and len(members[groups]) < 2 else groups)
        for leaf, groups in lines
    ]


def _common_end(places: Sequence[Group]) -> Group:
    """What all these groups are below, or are; empty if they have no group in common."""
    levels = zip(*(reversed(groups) for groups in places), strict=False)
    shared = [level[0] for level in takewhile(lambda level: len(set(level)) == 1, levels)]
    return tuple(reversed(shared))


def _names(used: Iterable[Group], leaves: set[str]) -> Mapping[Group, str]:
    """A label for each group at or above those that are used."""
    groups = dict.fromkeys(
        groups[at:] for groups in dict.fromkeys(used) for at in range(len(groups))
    )
    alike: dict[str, list[Group]] = {}
    for group in groups:
        alike.setdefault(group[0], []).append(group)
    taken, names = {*leaves, *alike}, dict[Group, str]()
    for label, same in alike.items():
        if len(same) == 1 and label not in leaves:
            names[same[0]] = label
            continue
        for group in same:
            names[group] = free_label(_distinct(group, same), taken)
            taken.add(names[group])
    return names


def _distinct(group: Group, same: Sequence[Group]) -> str:
    """A group with as much of what is above it as sets it apart from those of the same label."""
    others = [other for other in same if other != group]
    for length in range(2, len(group)):
        if all(other[:length] != group[:length] for other in others):
            return "/".join(reversed(group[:length]))
    return "/".join(reversed(group))
