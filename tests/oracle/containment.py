"""Whether each published record can be paired with one original, by trying every pairing.

Slow, plain, standard library only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Parents = Mapping[str, str]
"""The parent of each node but the root."""
Bag = Mapping[str, int]
"""How often each label occurs; 1 each in sets."""


def path(label: str, parents: Parents) -> list[str]:
    """A node and all above it."""
    labels = [label]
    while labels[-1] in parents:
        labels.append(parents[labels[-1]])
    return labels


def fits(record: Bag, published: Bag, parents: Parents) -> bool:
    """Whether a published record may represent an original one."""
    if not published:
        return True
    held = dict.fromkeys(published, 0)
    for item, count in record.items():
        over = [node for node in path(item, parents) if node in published]
        if len(over) != 1:
            return False
        held[over[0]] += count
    return all(0 < count <= held[node] for node, count in published.items())


def assignable(originals: Sequence[Bag], published: Sequence[Bag], parents: Parents) -> bool:
    """Whether the published records can be given to the originals one by one."""
    if len(originals) != len(published):
        return False
    if not originals:
        return True
    first, rest = originals[0], originals[1:]
    tried: list[Bag] = []
    for at, one in enumerate(published):
        if one in tried:
            continue
        tried.append(one)
        if fits(first, one, parents) and assignable(
            rest, [*published[:at], *published[at + 1 :]], parents
        ):
            return True
    return False
