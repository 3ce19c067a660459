"""The summary, against counting by hand."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from statistics import mean, median

import numpy as np
import pytest
from hypothesis import given

from setveil.data import hashing
from setveil.data.generate import quest
from setveil.data.summary import summarize
from setveil.data.transactions import Bags, Transactions
from setveil.data.vocabulary import Vocabulary
from tests.strategies import bags, transactions


@given(transactions(max_records=20, max_items=4))
def test_every_number_of_a_summary_is_what_counting_gives(data: Transactions) -> None:
    records, found = list(data), summarize(data)
    classes = Counter(records)
    supports = Counter(item for record in records for item in record)
    assert (found.records, found.occurrences, found.items) == (
        len(records),
        sum(map(len, records)),
        len(supports),
    )
    assert (found.distinct_records, found.unique_records) == (
        len(classes),
        sum(size == 1 for record, size in classes.items() if record),
    )
    assert found.empty_records == records.count(())
    assert found.single_record_items == sum(support == 1 for support in supports.values())
    assert dict(found.most_frequent) == dict(supports.most_common(10))
    if records:
        sizes = [len(record) for record in records]
        assert (found.lengths.least, found.lengths.most, found.lengths.median) == (
            min(sizes),
            max(sizes),
            median(sizes),
        )
        assert found.lengths.mean == pytest.approx(mean(sizes))


@given(bags(max_records=20, max_items=3, max_count=2))
def test_bags_are_equal_only_with_equal_counts(data: Bags) -> None:
    bounds = data.indptr.tolist()
    rows = [
        tuple(zip(data.items[a:b].tolist(), data.counts[a:b].tolist(), strict=True))
        for a, b in zip(bounds, bounds[1:], strict=False)
    ]
    classes, found = Counter(rows), summarize(data)
    assert (found.distinct_records, found.unique_records) == (
        len(classes),
        sum(size == 1 for record, size in classes.items() if record),
    )
    assert found.counts is not None
    assert found.counts.pairs == len(data.items)
    assert found.counts.most == max((count for row in rows for _, count in row), default=0)
    assert found.counts.repeated == sum(count > 1 for row in rows for _, count in row)


def test_hashing_in_small_chunks_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    data = quest(500, items=20, average_length=3, patterns=5, seed=3)
    whole = summarize(data)
    monkeypatch.setattr(hashing, "_CHUNK", 4)
    assert summarize(data) == whole


def test_items_of_equal_support_are_listed_in_the_order_of_the_vocabulary() -> None:
    found = summarize(Transactions.of([["b", "a"], ["a", "b"], ["c"]]), most_frequent=2)
    assert found.most_frequent == (("a", 2), ("b", 2))


def test_items_that_nobody_holds_are_not_counted() -> None:
    data = Transactions(np.array([0, 1]), np.array([1]), Vocabulary(["a", "b", "c"]))
    assert summarize(data).items == 1


def test_empty_data_is_summarized() -> None:
    found = summarize(Transactions.of([]))
    assert (found.records, found.distinct_records, found.most_frequent) == (0, 0, ())


def test_a_summary_is_plain_json() -> None:
    found = summarize(Transactions.of([["a"], ["a", "b"]])).to_dict()
    assert json.loads(json.dumps(found)) == found
    assert found["most_frequent"] == [{"item": "a", "support": 2}, {"item": "b", "support": 1}]
    assert "counts" not in found
    assert "counts" in summarize(Bags.of([["a", "a"]])).to_dict()


def test_a_real_data_set_is_summarized(shared_data: Path) -> None:
    import gzip

    with gzip.open(shared_data / "bms-webview-1.dat.gz", "rt") as lines:
        data = Transactions.of(line.split() for line in lines)
    found = summarize(data)
    assert (found.records, found.items, found.lengths.most) == (59_601, 497, 267)
    assert found.distinct_records == len(set(data))
