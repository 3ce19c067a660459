"""Synthetic patients, and the diagnosis codes of each of their stays in a hospital."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np

from setveil.data.arrays import Floats, Int32s, Int64s
from setveil.data.generate import draw
from setveil.data.transactions import Transactions
from setveil.data.vocabulary import Vocabulary

YEAR = 2024
"""The year in which ages are counted."""
SEXES = ("F", "M")
PEOPLE_COLUMNS = ("patient", "birth_year", "sex", "postal_code", "codes")
_BAND_STARTS = (0, 15, 40, 65)
_BANDS, _AGES, _PLACES = len(_BAND_STARTS), 100, 40
_CHRONIC_COUNTS = ((80, 16, 4), (55, 28, 12, 5), (25, 30, 22, 13, 10), (8, 17, 22, 21, 17, 15))
"""By age band: of 100 patients, how many have 0, 1, 2 ... chronic diagnoses."""
_ACUTE_COUNTS = (45, 30, 15, 10)
"""Of 100 stays, how many have 1, 2 ... diagnoses that are new."""
_NOTED_AGAIN, _WITH_COMPANION = 0.6, 0.4
"""The chance that a stay notes a chronic diagnosis, and that one brings its companion."""
_AGAIN, _AGAIN_BY_AGE = 0.3, 0.003
"""The chance that another stay follows: this much, and this much more for each year of age."""


class _Chapter(NamedTuple):
    """The codes of one letter: how often people of each age band have them, and women and men."""

    letter: str
    categories: int
    by_band: tuple[int, int, int, int]
    by_sex: tuple[int, int] = (1, 1)
    is_chronic: bool = False


_CHAPTERS = (
    _Chapter("A", 30, (12, 8, 6, 8)),
    _Chapter("C", 40, (1, 3, 12, 20)),
    _Chapter("E", 40, (2, 4, 14, 18), is_chronic=True),
    _Chapter("F", 40, (3, 12, 9, 7), is_chronic=True),
    _Chapter("G", 30, (3, 4, 6, 10), is_chronic=True),
    _Chapter("H", 30, (8, 3, 5, 12)),
    _Chapter("I", 50, (1, 2, 15, 30), is_chronic=True),
    _Chapter("J", 40, (20, 7, 8, 12)),
    _Chapter("K", 50, (6, 9, 12, 10)),
    _Chapter("L", 30, (6, 5, 4, 4)),
    _Chapter("M", 40, (2, 7, 15, 13), is_chronic=True),
    _Chapter("N", 40, (3, 8, 8, 10), (2, 1)),
    _Chapter("O", 30, (0, 30, 1, 0), (1, 0)),
    _Chapter("Q", 20, (6, 1, 1, 1)),
    _Chapter("R", 40, (8, 7, 8, 10)),
    _Chapter("S", 60, (15, 12, 7, 12), (2, 3)),
    _Chapter("Z", 40, (8, 8, 6, 6)),
)


class _Codes(NamedTuple):
    """All codes, and how likely each is for a group: an age band and a sex."""

    names: list[str]
    chronic: Int64s
    """A row of whole weights for each group."""
    acute: Int64s
    companions: Int64s
    """The code that often comes with each."""


@dataclass(frozen=True, eq=False)
class Patients:
    """People, and the codes of each of their stays."""

    birth_years: Int64s
    sexes: Int64s
    """A position in `SEXES` for each patient."""
    postal_codes: Int64s
    owners: Int64s
    """The patient of each stay; a patient's stays are neighbours."""
    stays: Transactions

    def __len__(self) -> int:
        """How many patients there are."""
        return len(self.birth_years)

    def people_rows(self) -> Iterator[str]:
        """The lines of a table with one row per patient; its last column has the set of codes."""
        bounds = np.searchsorted(self.owners, np.arange(len(self) + 1))
        yield ",".join(PEOPLE_COLUMNS)
        for patient, (first, end) in enumerate(zip(bounds[:-1], bounds[1:], strict=True)):
            codes = np.unique(self.stays.items[self.stays.indptr[first] : self.stays.indptr[end]])
            yield self._row(patient, codes)

    def stay_rows(self) -> Iterator[str]:
        """The lines of a table with one row per stay, which repeats the columns of its patient."""
        yield ",".join(("stay", *PEOPLE_COLUMNS))
        for stay, patient in enumerate(self.owners.tolist()):
            codes = self.stays.items[self.stays.indptr[stay] : self.stays.indptr[stay + 1]]
            yield f"{stay + 1},{self._row(patient, codes)}"

    def paths(self) -> list[tuple[str, ...]]:
        """The path from each code to the root: its category, its letter, all codes."""
        return [(name, name[:3], name[0], "All codes") for name in _codes().names]

    def _row(self, patient: int, codes: Int32s) -> str:
        person = f"{self.birth_years[patient]},{SEXES[self.sexes[patient]]}"
        labels = self.stays.vocabulary.labels
        listed = "|".join(labels[code] for code in codes)
        return f"{patient + 1},{person},{self.postal_codes[patient]:05},{listed}"


def patients(count: int = 20_000, seed: int = 0) -> Patients:
    """Patients of imaginary hospitals: birth year, sex, postal code, and the codes of each stay.

    Codes have the shape of ICD-10 (`I25.1`); their frequencies are invented. They depend on age and
    sex: each chapter has weights for four age bands and for women and men, and so has each category
    in it. Old patients have more chronic diagnoses, which most of their stays note again, often
    with the same companion; every stay adds one to four others. Few places are large and most
    are small. The same arguments and seed give the same patients on any machine.

    Cost:
        Linear; 100,000 patients take about a second.

    Example:
        >>> made = patients(1_000, seed=1)
        >>> len(made), len(made.stays) > 1_000
        (1000, True)
        >>> made.paths()[0]
        ('A00.0', 'A00', 'A', 'All codes')
    """
    draw.whole("count", count, 0)
    random, codes = draw.source(seed), _codes()
    ages = draw.weighted(random, _age_weights(), count)
    sexes = np.where(draw.chance(random, 0.48, count), 1, 0)
    places = _postal_codes(random, count)
    bands = np.searchsorted(_BAND_STARTS, ages, side="right") - 1
    groups = 2 * bands + sexes
    owners = np.repeat(np.arange(count), _stay_counts(random, ages))
    ill, chronic = _chronic(random, bands, groups)
    noted = _noted(random, owners, ill, chronic)
    new = _new(random, groups[owners])
    rows, items = (np.concatenate(pair) for pair in zip(noted, new, strict=True))
    stays = Transactions.from_pairs(rows, items, Vocabulary(codes.names), size=len(owners))
    return Patients(YEAR - ages, sexes, places, owners, stays)


@cache
def _codes() -> _Codes:
    """The catalogue, which is the same for every seed: within a chapter, the category at rank r has
    weight 1 / (r + 3), and in a category each further code has less."""
    names, chronic, acute = list[str](), list[list[int]](), list[list[int]]()
    for chapter in _CHAPTERS:
        for category in range(chapter.categories):
            for number in range(1 + category * 7 % 6):
                names.append(f"{chapter.letter}{category * 7 % 100:02}.{number}")
                weights = _group_weights(chapter, category, number)
                usual = [weight // (5 if chapter.is_chronic else 1) for weight in weights]
                chronic.append(weights if chapter.is_chronic else [0] * len(weights))
                acute.append(usual)
    places = np.argsort(np.array(names))
    order = np.arange(len(names))
    companions = (order * 37 + 11) % len(names)
    return _Codes(
        [names[place] for place in places],
        np.array(chronic, dtype=np.int64)[places].T,
        np.array(acute, dtype=np.int64)[places].T,
        companions,
    )


def _group_weights(chapter: _Chapter, category: int, number: int) -> list[int]:
    """How likely a code is for each age band and sex.

    Of three categories one is commoner among the young and one among the old; of seven, one is
    commoner among women and one among men."""
    base = 10_000_000 // ((category + 3) * (number + 1))
    tilt, side = category % 3 - 1, category % 7
    weights = []
    for band in range(_BANDS):
        for sex in range(len(SEXES)):
            weight = base * chapter.by_band[band] * chapter.by_sex[sex]
            weight *= 3 if side == sex else 1
            weights.append(
                weight * (1, 2, 4, 8)[band if tilt > 0 else 3 - band] if tilt else weight
            )
    return weights


def _age_weights() -> Int64s:
    """How many patients there are of each age: older people are more often in a hospital."""
    alive = [min(100, max(2, 100 - (age - 60) * 5 // 2)) for age in range(_AGES)]
    return np.array([(40 + age) * number for age, number in enumerate(alive)], dtype=np.int64)


def _postal_codes(random: np.random.Generator, count: int) -> Int64s:
    """Places: 40 regions, named by the first three digits, and parts of these."""
    names, weights = list[int](), list[int]()
    for region in range(_PLACES):
        for part in range(3 + region * 7 % 20):
            names.append((100 + 23 * region) * 100 + part * 13 % 100)
            weights.append(1_000_000 // ((region + 2) * (part + 1)))
    return np.array(names)[draw.weighted(random, np.array(weights), count)]


def _stay_counts(random: np.random.Generator, ages: Int64s) -> Int64s:
    """One stay each, and others as long as chance says so."""
    counts = np.ones(len(ages), dtype=np.int64)
    going = np.arange(len(ages))
    while len(going):
        likely: Floats = _AGAIN + _AGAIN_BY_AGE * ages[going].astype(np.float64)
        again = draw.chance(random, likely, len(going))
        going = going[again]
        counts[going] += 1
    return counts


def _chronic(random: np.random.Generator, bands: Int64s, groups: Int64s) -> tuple[Int64s, Int64s]:
    """The patients with chronic diagnoses, in order, and a code for each."""
    counts = np.zeros(len(bands), dtype=np.int64)
    for band, chances in enumerate(_CHRONIC_COUNTS):
        members = np.flatnonzero(bands == band)
        counts[members] = draw.weighted(random, np.array(chances), len(members))
    codes = _codes()
    owners = np.repeat(np.arange(len(bands)), counts)
    found = _drawn(random, codes.chronic, groups[owners])
    partners = codes.companions[found]
    possible = codes.acute[groups[owners], partners] > 0
    joins = draw.chance(random, _WITH_COMPANION, len(found)) & possible
    owners = np.concatenate((owners, owners[joins]))
    found = np.concatenate((found, partners[joins]))
    order = np.argsort(owners, kind="stable")
    return owners[order], found[order]


def _noted(
    random: np.random.Generator, owners: Int64s, ill: Int64s, chronic: Int64s
) -> tuple[Int64s, Int64s]:
    """The stays that note a chronic diagnosis of their patient, and its code."""
    firsts, ends = np.searchsorted(ill, owners), np.searchsorted(ill, owners, side="right")
    counts = ends - firsts
    stays = np.repeat(np.arange(len(owners)), counts)
    starts = np.cumsum(counts) - counts
    places = np.arange(len(stays)) - starts[stays] + firsts[stays]
    kept = draw.chance(random, _NOTED_AGAIN, len(stays))
    return stays[kept], chronic[places[kept]]


def _new(random: np.random.Generator, groups: Int64s) -> tuple[Int64s, Int64s]:
    """The diagnoses that a stay adds: its number, and a code."""
    counts = 1 + draw.weighted(random, np.array(_ACUTE_COUNTS), len(groups))
    stays = np.repeat(np.arange(len(groups)), counts)
    return stays, _drawn(random, _codes().acute, groups[stays])


def _drawn(random: np.random.Generator, weights: Int64s, groups: Int64s) -> Int64s:
    """A code for each entry, by the weights of its group."""
    found = np.zeros(len(groups), dtype=np.int64)
    for group, row in enumerate(weights):
        entries = np.flatnonzero(groups == group)
        found[entries] = draw.weighted(random, row, len(entries))
    return found
