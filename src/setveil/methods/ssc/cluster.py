"""Clusters of bags, and the slots that their members share. [Liu2010b] section IV-B"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

import numpy as np

from setveil.data.arrays import Int32s, Int64s
from setveil.data.transactions import Bags
from setveil.engines.base import Engine, Progress
from setveil.errors import DataError
from setveil.published.typical_bags import Matches


@dataclass(frozen=True)
class Clusters:
    """Clusters of bags with their centres."""

    members: Int64s  # the bags of one cluster after the other, in the order in which they joined
    bounds: Int64s
    slot_cluster: Int64s  # the cluster of each slot
    slot_times: Int64s  # how often each slot occurs in its cluster
    terms: Int32s
    """The terms of one slot after the other, one per member, in the order of the members."""

    def __len__(self) -> int:
        return len(self.bounds) - 1

    def of(self, rows: Int64s) -> Clusters:
        """The same clusters, with these numbers for the bags."""
        return replace(self, members=rows[self.members])

    @property
    def sizes(self) -> Int64s:
        return np.diff(self.bounds)

    @property
    def slot_sizes(self) -> Int64s:
        """How many terms each slot holds."""
        return self.sizes[self.slot_cluster]

    @property
    def slot_owners(self) -> Int64s:
        """The slot of each entry of `terms`."""
        return np.repeat(np.arange(len(self.slot_times)), self.slot_sizes)


class Work(Protocol):
    """Work on a block, and how far it is."""

    @property
    def done(self) -> int: ...

    @property
    def total(self) -> int: ...


Part = TypeVar("Part", bound=Work)


def finished(
    step: Callable[[Part], Part],
    parts: Sequence[Part],
    stage: str,
    engine: Engine,
    progress: Progress | None,
) -> list[Part]:
    """The parts after all their steps."""
    made, total = list(parts), sum(part.total for part in parts)
    while pending := [i for i, part in enumerate(made) if part.done < part.total]:
        answers = engine.map(step, [made[i] for i in pending])
        for i, answer in zip(pending, answers, strict=True):
            made[i] = answer
            if progress is not None:
                progress(sum(part.done for part in made), total, stage)
    return made


def of_equal(data: Bags, groups: list[Int64s]) -> Clusters:
    """Groups of equal bags as clusters: each term is a slot."""
    none = np.empty(0, dtype=np.int64)
    firsts = data.take(np.array([group[0] for group in groups], dtype=np.int64))
    sizes = np.array([len(group) for group in groups], dtype=np.int64)
    return Clusters(
        np.concatenate([none, *groups]),
        np.concatenate(([0], np.cumsum(sizes))),
        firsts.rows,
        firsts.counts,
        np.repeat(firsts.items, sizes[firsts.rows]),
    )


def joined_clusters(parts: list[Clusters]) -> Clusters:
    """Several parts as one."""
    none = np.empty(0, dtype=np.int64)
    before = np.cumsum([0, *map(len, parts)]).tolist()
    return Clusters(
        members=np.concatenate([none, *(part.members for part in parts)]),
        bounds=np.cumsum(np.concatenate([[0], *(part.sizes for part in parts)])).astype(np.int64),
        slot_cluster=np.concatenate(
            [none, *(part.slot_cluster + first for part, first in zip(parts, before, strict=False))]
        ),
        slot_times=np.concatenate([none, *(part.slot_times for part in parts)]),
        terms=np.concatenate([np.empty(0, dtype=np.int32), *(part.terms for part in parts)]),
    )


MOST_MATCHES = 1 << 31
"""How many published occurrences can be linked to their records; each takes 20 bytes."""


def matches_of(clusters: Clusters) -> Matches:
    """Every published occurrence with its slot; a slot that occurs n times counts as n slots."""
    times, sizes, owners = clusters.slot_times, clusters.slot_sizes, clusters.slot_owners
    published = int((times * sizes).sum())
    if published > MOST_MATCHES:
        raise DataError(
            f"{published:.3g} occurrences would be published, too many to link each to its record",
            remedy="make the counts smaller",
        )
    starts = np.concatenate(([0], np.cumsum(sizes)))
    place = np.arange(len(clusters.terms)) - np.repeat(starts[:-1], sizes)
    people = clusters.members[np.repeat(clusters.bounds[clusters.slot_cluster], sizes) + place]
    copies = np.repeat(times, sizes)
    ends = np.cumsum(copies)
    turn = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - copies, copies)
    first = np.concatenate(([0], np.cumsum(times)))[:-1][np.repeat(owners, copies)]
    return Matches(np.repeat(people, copies), np.repeat(clusters.terms, copies), first + turn)
