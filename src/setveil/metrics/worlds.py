"""The records in which itemsets and pairs are counted: the original, and what a release has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from setveil.alignment.align import check_size
from setveil.data.arrays import Int64s
from setveil.data.transactions import Bags, Transactions
from setveil.data.vocabulary import Vocabulary
from setveil.errors import check_count
from setveil.metrics.state import State
from setveil.published.release import RecordRelease, Release

Worlds = Sequence[Transactions]


def draw_worlds(release: Release, *, seed: int = 0, reconstructions: int = 1) -> Worlds:
    """Possible originals of a release; the first is that of the seed itself."""
    count = check_count("reconstructions", reconstructions, 1)
    more = np.random.SeedSequence(seed).generate_state(count - 1, np.uint64).tolist()
    drawn = (release.reconstruct(each) for each in (seed, *more))
    return [world.sets() if isinstance(world, Bags) else world for world in drawn]


@dataclass(frozen=True, eq=False)
class Records(State):
    """Original and published records: what follows from them only if all are counted together."""

    shared: ClassVar[tuple[str, ...]] = ("worlds",)
    before: tuple[Transactions, ...]
    after: tuple[Transactions, ...]
    times: tuple[Int64s, ...] = ()
    """How often each published record occurs; empty if all occur once."""
    worlds: int = 1
    """How many possible originals the published records are."""

    @classmethod
    def drawn(
        cls,
        release: Release,
        original: Transactions,
        *,
        worlds: Worlds | None = None,
        **drawing: int,
    ) -> Records:
        """Those of possible originals, which may have been drawn before."""
        worlds = worlds or draw_worlds(release, **drawing)
        return cls((original,), (joined(worlds),), worlds=len(worlds))

    @classmethod
    def certain(cls, release: Release, original: Transactions) -> Records:
        """Those that a release shows for certain."""
        rows, counts = release.certain_rows()
        return cls((original,), (rows,), (counts,))

    @classmethod
    def classes(cls, release: RecordRelease, original: Transactions) -> Records:
        """Those of a release of records, with a slot as its most frequent item."""
        check_size(release, original)
        return cls((original,), (release.with_terms().classes,), (release.sizes,))

    @property
    def original(self) -> Transactions:
        return joined(self.before)

    @property
    def published(self) -> Transactions:
        return joined(self.after)

    @property
    def weights(self) -> Int64s | None:
        return np.concatenate(self.times) if self.times else None


def joined(parts: Worlds) -> Transactions:
    """The records of several parts in one; supports add up."""
    if len(parts) == 1:
        return parts[0]
    words = Vocabulary(dict.fromkeys(label for part in parts for label in part.vocabulary))
    starts = np.cumsum([0, *map(len, parts)])
    rows = [part.rows + start for part, start in zip(parts, starts.tolist(), strict=False)]
    items = [words.encode(part.vocabulary.labels)[part.items] for part in parts]
    return Transactions.from_pairs(
        np.concatenate(rows), np.concatenate(items), words, size=int(starts[-1])
    )
