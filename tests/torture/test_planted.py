"""The judges of the fuzz campaigns find misreadings that are planted into each reader."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from setveil.data.transactions import Bags, Transactions
from setveil.hierarchy.tree import Hierarchy
from torture import fuzzing, texts
from torture.campaign import attempt
from torture.table import CAMPAIGNS

MOST = 120
"""A misreading is found within so many cases."""


def lose_the_last_record(data: Transactions) -> Transactions:
    return data.take(range(len(data) - 1))


def spell_in_capitals(data: Transactions) -> Transactions:
    return _relabeled(data, str.upper)


def join_the_first_two(data: Transactions) -> Transactions:
    records = [list(_occurrences(data, number)) for number in range(len(data))]
    return type(data).of([records[0] + records[1], *records[2:]] if len(records) > 1 else records)


def _occurrences(data: Transactions, number: int) -> list[str]:
    start, stop = data.indptr[number], data.indptr[number + 1]
    times = data.counts[start:stop].tolist() if isinstance(data, Bags) else [1] * (stop - start)
    return [item for item, count in zip(data[number], times, strict=True) for _ in range(count)]


def _relabeled(data: Transactions, spell: Callable[[str], str]) -> Transactions:
    return type(data).of(
        [[spell(item) for item in _occurrences(data, number)] for number in range(len(data))]
    )


PLANTED = (lose_the_last_record, spell_in_capitals, join_the_first_two)
READERS = (
    *("fimi", "csv", "tsv", "baskets", "jsonl", "arff", "set column", "one-hot", "xlsx"),
    *("parquet", "gz", "zip", "zst"),
)


def found_within(name: str) -> bool:
    """Whether the campaign finds something bad."""
    numbers = (range(number, number + 10) for number in range(1, MOST, 10))
    return any(attempt(CAMPAIGNS[name], some).bad for some in numbers)


@pytest.mark.parametrize("plant", PLANTED, ids=lambda plant: plant.__name__)
@pytest.mark.parametrize("name", READERS)
def test_a_planted_misreading_of_data_is_found(
    name: str, plant: Callable[[Transactions], Transactions], monkeypatch: pytest.MonkeyPatch
) -> None:
    right = texts.read

    def wrong(*path: Any, **options: Any) -> Transactions:
        return plant(right(*path, **options))

    monkeypatch.setattr(texts, "read", wrong)
    assert found_within(f"fuzz {name}")


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM log WHERE rowid > 1",
        "UPDATE log SET text = upper(text)",
        "UPDATE log SET fault = NULL, user = coalesce(user, '0')",
    ],
    ids=["two rows", "capitals", "bad rows"],
)
def test_a_planted_misreading_of_a_log_is_found(
    change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = fuzzing.load_log

    def wrong(connection: Any, source: Any, columns: Any) -> Any:
        found = right(connection, source, columns)
        connection.execute(change)
        return found

    monkeypatch.setattr(fuzzing, "load_log", wrong)
    assert found_within("fuzz query log")


def of_the_root(tree: Hierarchy) -> Hierarchy:
    return Hierarchy.from_paths([(path[0], path[-1]) for path in tree.paths() if len(path) > 1])


def without_a_leaf(tree: Hierarchy) -> Hierarchy:
    return Hierarchy.from_paths(list(tree.paths())[:-1] or list(tree.paths()))


def in_capitals(tree: Hierarchy) -> Hierarchy:
    return Hierarchy.from_paths([tuple(map(str.upper, path)) for path in tree.paths()])


@pytest.mark.parametrize("plant", [of_the_root, without_a_leaf, in_capitals])
def test_a_planted_misreading_of_a_hierarchy_is_found(
    plant: Callable[[Hierarchy], Hierarchy], monkeypatch: pytest.MonkeyPatch
) -> None:
    right = fuzzing.read_hierarchy
    monkeypatch.setattr(fuzzing, "read_hierarchy", lambda *path, **how: plant(right(*path, **how)))
    assert found_within("fuzz hierarchy")


@pytest.mark.parametrize(
    "plant", [lambda items: items[:-1], lambda items: [each.upper() for each in items], sorted]
)
def test_a_planted_misreading_of_a_list_is_found(
    plant: Callable[[list[str]], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    right = fuzzing.read_items
    monkeypatch.setattr(fuzzing, "read_items", lambda path: plant(right(path)))
    assert found_within("fuzz item list")
