"""What was lost for counting: are, the average relative error of random queries, and item_error."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from setveil.alignment.align import over_whole_tree
from setveil.data.arrays import Floats, Int64s, positions, random_from
from setveil.data.transactions import Transactions
from setveil.errors import check_count
from setveil.metrics.generalization import check_fits
from setveil.metrics.state import State, measured
from setveil.published.release import Release
from setveil.published.suppressed import Suppressed
from setveil.threads import on_threads

SIZES = (1, 2, 3)
_BLOCK_RECORDS = 1 << 16


@dataclass(frozen=True, eq=False)
class Answers(State):
    """The answers to the same queries in the original and from the release."""

    records: int
    truth: Int64s
    expected: Floats

    @classmethod
    def of(
        cls,
        release: Release,
        original: Transactions,
        *,
        seed: int = 0,
        queries: int = 1000,
        asked: Int64s | None = None,
    ) -> Answers:
        """The answers of a part to `asked`; a whole original draws its own queries."""
        asked = drawn_queries(original, seed, queries) if asked is None else asked
        numbers, places = _asked(asked)
        labels = [original.vocabulary[number] for number in numbers.tolist()]
        expected = over_whole_tree(release, original).estimates(labels, places)
        return cls(len(original), count_supports(original, asked), expected)


@measured(Answers.of)
def are(answers: Answers) -> float:
    """Average relative error of the answers to "how many records have these items?".

    Formula: the average over queries S of |sup(S) - est(S)| / max(sup(S), s), where s is 0.1 % of
    the number of records. A query is drawn by drawing a record of the original and then items of
    it, `queries` times for each of 1, 2 and 3 items. est(S) is the expected support that
    `release.estimates` gives; a suppressed release answers exactly if all items of S are published,
    and 0 otherwise.

    Range: 0 (every answer is right) upward, without a bound. 0 if no record has items.

    Example:
        Half of the people behind "Alcohol" are expected to have bought beer; all did.

        >>> from setveil import Generalized, Hierarchy, KAnonymity
        >>> tree = Hierarchy.from_paths([("beer", "Alcohol"), ("wine", "Alcohol")])
        >>> release = Generalized.of([["Alcohol"], ["Alcohol"]], tree, KAnonymity(k=2))
        >>> are(release, Transactions.of([["beer"], ["beer"]]))
        0.5
    """
    least = max(answers.records / 1000, np.finfo(float).tiny)
    errors = np.abs(answers.truth - answers.expected) / np.maximum(answers.truth, least)
    return float(errors.mean()) if len(errors) else 0.0


def answers_of_suppressed(
    release: Suppressed, original: Transactions, *, seed: int = 0, asked: Int64s | None = None
) -> Answers:
    """The same for a suppressed release: exact if all items are published, else 0."""
    check_fits(release, original)
    asked = drawn_queries(original, seed) if asked is None else asked
    truth = count_supports(original, asked)
    kept = np.append(original.vocabulary.marks(release.items), True)[asked].all(axis=1)
    return Answers(len(original), truth, np.where(kept, truth, 0))


def drawn_queries(original: Transactions, seed: int, queries: int = 1000) -> Int64s:
    """Random queries of each size, filled with -1."""
    check_count("queries", queries, 1)
    random, longest = random_from(seed), max(SIZES)
    drawn = [draw_queries(original, size, queries, random) for size in SIZES]
    gaps = [((0, 0), (0, longest - rows.shape[1])) for rows in drawn]
    return np.concatenate(
        [np.pad(rows, gap, constant_values=-1) for rows, gap in zip(drawn, gaps, strict=True)]
    )


def _asked(queries: Int64s) -> tuple[Int64s, Int64s]:
    """The items that occur in queries, and the queries as positions in them; -1 stays."""
    numbers = np.unique(queries[queries >= 0])
    return numbers, np.where(queries >= 0, np.searchsorted(numbers, queries), -1)


def draw_queries(data: Transactions, size: int, count: int, random: np.random.Generator) -> Int64s:
    """Rows of `size` items that occur together: random items of a random record."""
    able = np.flatnonzero(data.lengths >= size)
    if not len(able):
        return np.zeros((0, size), dtype=np.int64)
    rows = np.empty((count, size), dtype=np.int64)
    for at, record in enumerate(random.choice(able, size=count).tolist()):
        items = data.items[data.indptr[record] : data.indptr[record + 1]]
        rows[at] = np.sort(random.choice(items, size=size, replace=False))
    return rows


def count_supports(data: Transactions, queries: Int64s) -> Int64s:
    """The number of records that contain each query, by bitmaps over blocks of records."""
    numbers, places = _asked(queries)
    row_of = positions(numbers, len(data.vocabulary))

    def count(start: int) -> Int64s:
        bitmap = _bitmap(data, row_of, len(numbers), start, min(start + _BLOCK_RECORDS, len(data)))
        found = np.zeros(len(queries), dtype=np.int64)
        for at in range(0, len(queries), 256):
            joint = np.bitwise_and.reduce(bitmap[places[at : at + 256]], axis=1)
            found[at : at + 256] = np.bitwise_count(joint).sum(axis=1, dtype=np.int64)
        return found

    blocks = on_threads(count, range(0, len(data), _BLOCK_RECORDS))
    return sum(blocks, start=np.zeros(len(queries), dtype=np.int64))


def _bitmap(
    data: Transactions, row_of: Int64s, height: int, start: int, stop: int
) -> npt.NDArray[np.uint64]:
    """A row of bits per item, a bit per record of the block, and last a row of ones."""
    words = (stop - start + 63) // 64
    table = np.zeros((height + 1) * words, dtype=np.uint64)
    table[-words:] = ~np.uint64(0)
    rows = row_of[data.items[data.indptr[start] : data.indptr[stop]]]
    records = np.arange(stop - start, dtype=np.int32)
    owners = np.repeat(records, np.diff(data.indptr[start : stop + 1]))
    asked = np.flatnonzero(rows >= 0)
    owners = owners[asked]
    bits = np.uint64(1) << (owners & 63).astype(np.uint64)
    np.bitwise_or.at(table, rows[asked] * words + (owners >> 6), bits)
    return table.reshape(height + 1, words)


@dataclass(frozen=True, eq=False)
class ItemSupports(State):
    """How many records have each item, and how many an analyst expects to have it."""

    truth: Int64s
    expected: Floats

    @classmethod
    def of(cls, release: Release, original: Transactions) -> ItemSupports:
        return cls(original.supports(), expected_supports(release, original))


@measured(ItemSupports.of)
def item_error(found: ItemSupports) -> float:
    """Error of the supports of items: how many of the occurrences an analyst miscounts.

    Formula: sum of |so - se| over all items of the original, divided by the sum of so, where so is
    the number of original records with the item, and se the number that the release alone lets one
    expect (`release.estimates`).

    Range: 0 (the supports of all items are right) upward; 1 if nothing is published, at most 2 if
    as many occurrences are expected as there were. 0 if no record has items.

    Example:
        Of two people behind "Alcohol" one is expected to have bought beer, and one wine; both
        bought beer.

        >>> from setveil import Generalized, Hierarchy, KAnonymity
        >>> tree = Hierarchy.from_paths([("beer", "Alcohol"), ("wine", "Alcohol")])
        >>> release = Generalized.of([["Alcohol"], ["Alcohol"]], tree, KAnonymity(k=2))
        >>> item_error(release, Transactions.of([["beer"], ["beer"]]))
        0.5
    """
    total = int(found.truth.sum())
    return float(np.abs(found.expected - found.truth).sum() / total) if total else 0.0


def expected_supports(release: Release, original: Transactions) -> Floats:
    """How many records an analyst expects to have each item of the original."""
    items = list(original.vocabulary.labels)
    queries = np.arange(len(items), dtype=np.int64)[:, None]
    return over_whole_tree(release, original).estimates(items, queries)
