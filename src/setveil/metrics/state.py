"""A metric is a state that merges: what is counted of each part of a release, and the figure that
follows from the sum."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import update_wrapper
from inspect import signature
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np

from setveil.alignment.align import check_size
from setveil.data.arrays import Int64s
from setveil.data.transactions import Bags, Transactions
from setveil.published.disassociated.reconstruct import world_seeds
from setveil.published.release import RecordRelease, Release
from setveil.published.rows import stacked

F = TypeVar("F")
Worlds = Sequence[Transactions]


@dataclass(frozen=True, eq=False)
class State:
    """What is counted of a release, or of a part of it."""

    shared: ClassVar[tuple[str, ...]] = ()
    """The fields that are the same in all parts of a release; all others add up."""

    def __add__(self, other: Self) -> Self:
        """The state of two parts together."""
        mine = {each.name: getattr(self, each.name) for each in fields(self)}
        added = (name for name in mine if name not in self.shared)
        return type(self)(**mine | {name: plus(mine[name], getattr(other, name)) for name in added})


def plus(one: Any, other: Any) -> Any:
    """The sum of numbers, arrays, counters and states; flags and sets are joined, tuples chained.

    Example:
        >>> plus({"a": 1, "b": frozenset("x")}, {"a": 2, "b": frozenset("y")})["a"]
        3
    """
    if isinstance(one, frozenset):
        return one | other
    if isinstance(one, dict) and not isinstance(one, Counter):
        return {name: plus(one[name], other[name]) for name in one}
    return one + other


Count = Callable[..., State]


class Measure(Generic[F]):
    """A state and its figure; called with a release and its original, it gives the figure.

    `state(release, original, ...)` counts a release or a part of it. `figure(state, ...)` is what
    the sum of all parts says. What is given besides goes to the one that names it."""

    def __init__(self, state: Count, figure: Callable[..., F]) -> None:
        self.state, self.figure = state, figure
        update_wrapper(self, figure)

    def __call__(self, release: object, original: object, **given: Any) -> F:
        own = {name: given.pop(name) for name in signature(self.figure).parameters if name in given}
        return self.figure(self.state(release, original, **given), **own)


def measured(state: Count) -> Callable[[Callable[..., F]], Measure[F]]:
    """Makes a metric of the function that follows: it takes the sum of such states."""
    return lambda figure: Measure(state, figure)


def draw_worlds(release: Release, *, seed: int = 0, reconstructions: int = 1) -> Worlds:
    """Possible originals of a release; the first is that of the seed itself."""
    drawn = map(release.reconstruct, world_seeds(reconstructions, seed))
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
        return cls((original,), (stacked(worlds),), worlds=len(worlds))

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
        return stacked(self.before)

    @property
    def published(self) -> Transactions:
        return stacked(self.after)

    @property
    def weights(self) -> Int64s | None:
        return np.concatenate(self.times) if self.times else None
