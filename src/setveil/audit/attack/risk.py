"""Risk in the words of the field: prosecutor, journalist and marketer, and how many people are
unique before and after."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from setveil.audit.attack.draws import Draw, Draws, Estimate, Items
from setveil.data.arrays import Flags, Floats, Int64s, find, offsets
from setveil.data.transactions import Transactions
from setveil.errors import ParameterError

if TYPE_CHECKING:
    from setveil.audit.attack.outcome import View


@dataclass(frozen=True)
class Risk:
    """What is measured for each draw besides the candidates of `Row`.

    Let f be the published records that fit what is known, n the people of the original that have
    it, and N those of the population. Prosecutor risk is 1/f (`Row.success` on average, and
    `Row.largest`), journalist risk n/N x 1/f, because the person may not be in the data at all.
    Marketer risk is the share of right links if each person is linked with a random one of the
    candidates: 1/f if their own record is among them, and 0 if not."""

    unique_before: Estimate
    """How often nobody else in the original has what is known."""
    unchanged: Estimate
    """The prosecutor risk on average if the original were published as it is."""
    journalist: Estimate
    journalist_largest: float
    marketer: Estimate
    population: int | None = None
    """How many people are in the population; None if the release is taken as the population."""

    def to_dict(self, success: Estimate, largest: float, alone: Estimate) -> dict[str, object]:
        """All risks of a row, with what the row knows itself."""
        journalist = self.journalist.to_dict()
        return {
            "unique": {"before": self.unique_before.to_dict(), "after": alone.to_dict()},
            "unchanged": self.unchanged.to_dict(),
            "prosecutor": {"average": success.to_dict(), "largest": largest},
            "journalist": {"average": journalist, "largest": self.journalist_largest},
            "marketer": self.marketer.to_dict(),
            "population": self.population,
        }


class Holders:
    """Who has some items."""

    def __init__(self, data: Transactions) -> None:
        order = np.argsort(data.items, kind="stable")
        self._rows = data.rows[order].astype(np.int64)
        self._starts = offsets(np.bincount(data.items, minlength=len(data.vocabulary)))
        self._people = len(data)

    def of(self, known: Items, lacking: Items = (), among: Int64s | None = None) -> Int64s:
        """The people with all known items and none of the lacking ones, ascending; only some of
        them if these are given."""
        lists = sorted(map(self._of, known), key=len)
        lists = lists if among is None else [among, *lists]
        found = lists[0] if lists else np.arange(self._people)
        for other in lists[1:]:
            found = found[find(other, found) >= 0]
        for item in lacking:
            found = found[find(self._of(item), found) < 0]
        return found

    def _of(self, item: int) -> Int64s:
        if item < 0:  # nobody has it
            return self._rows[:0]
        return self._rows[self._starts[item] : self._starts[item + 1]]


class Population:
    """All people whom an adversary may mean, those in the data among them."""

    def __init__(self, people: Transactions, data: Transactions) -> None:
        self._holders, self._size = Holders(people), len(people)
        self._numbers: list[int] = people.vocabulary.find(data.vocabulary).tolist()

    def __len__(self) -> int:
        return self._size

    def count(self, known: Items, lacking: Items) -> int:
        """How many people have what is known."""
        return len(self._holders.of(self._own(known), self._own(lacking)))

    def _own(self, items: Items) -> Items:
        return tuple(self._numbers[item] for item in items)


class Risks:
    """Measures the risk of each row."""

    def __init__(self, view: View, data: Transactions, population: Transactions | None) -> None:
        self._view, self._holders = view, Holders(data)
        self._population = None if population is None else Population(population, data)

    def of(
        self, draws: Draws, values: Floats, *, columns: bool = False, true: Flags | None = None
    ) -> Risk:
        """The risk of a row, from the candidates of each draw.

        Args:
            draws: The people, and what is known of them.
            values: How many candidates each draw left.
            columns: Whether the columns of the person are known too; then nobody of a population is
                ruled out, because it has no columns.
            true: Whether each person has what is known of them; all have if not given.
        """
        have = self._have(draws.draws, columns)
        population = None if columns else self._population
        sample, chance = draws.sample, 1 / np.maximum(values, 1)
        journalist = chance
        if population is not None:
            journalist = chance * _in_data(draws.draws, have, population)
        right, has = np.ones(len(chance)), np.ones(len(chance)) if true is None else true
        if true is not None or not self._view.own_fits:
            right = np.array([self._view.fits(d.record, d.known) for d in draws.draws], np.float64)
        return Risk(
            sample.share((have == 1) * has.astype(np.float64)),
            sample.mean(has / np.maximum(have, 1)),
            sample.mean(journalist),
            float(journalist.max(initial=0.0)),
            sample.mean(right * chance),
            None if population is None else len(population),
        )

    def _have(self, draws: Sequence[Draw], columns: bool) -> Int64s:
        """How many people of the original have what is known in each draw."""
        if columns:
            view, holders = self._view, self._holders
            counts = (len(holders.of(d.known, among=view.alike(d.record))) for d in draws)
            return np.fromiter(counts, np.int64, len(draws))
        return _counted(draws, lambda known, lacking: len(self._holders.of(known, lacking)))


def _in_data(draws: Sequence[Draw], have: Int64s, population: Population) -> Floats:
    """How likely somebody of the population who has what is known is in the data."""
    meant = _counted(draws, population.count)
    if (meant < have).any():
        allowed = "it must contain everybody in the data; some known items fit fewer of its people"
        raise ParameterError("population_data", "given", allowed)
    return have / np.maximum(meant, 1)


def _counted(draws: Sequence[Draw], count: Callable[[Items, Items], int]) -> Int64s:
    """A number for what is known in each draw; the same items are counted once."""
    once = cache(count)
    return np.fromiter((once(d.known, d.lacking) for d in draws), np.int64, len(draws))


def unique_share(sizes: Int64s) -> float:
    """The share of records that nobody else has, from how often each distinct record occurs.

    Example:
        >>> unique_share(np.array([1, 3]))
        0.25
    """
    return float(sizes[sizes == 1].sum() / max(int(sizes.sum()), 1))
