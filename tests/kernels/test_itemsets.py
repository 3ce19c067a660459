"""Top itemsets, of all and of the closed ones, against the plain oracle."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from setveil.data.transactions import Transactions
from setveil.errors import ParameterError
from setveil.metrics import itemsets
from setveil.metrics.itemsets import closed_itemsets, top_itemsets
from tests.oracle import itemsets as oracle
from tests.strategies import transactions

SHOP = Transactions.of(
    [["beer", "wine"], ["beer", "wine", "milk"], ["beer", "milk"], ["bread"], []]
)


KINDS = {"all": (top_itemsets, oracle.supports), "closed": (closed_itemsets, oracle.closed)}
each_kind = pytest.mark.parametrize("kind", KINDS)


def check(
    kind: str, data: Transactions, count: int, least_size: int = 1, weights: list[int] | None = None
) -> None:
    find, plain = KINDS[kind]
    found = find(
        data,
        count,
        least_size=least_size,
        weights=None if weights is None else np.array(weights, dtype=np.int64),
    )
    truth = plain(list(data), weights, least_size)
    certain, ties = oracle.top(truth, count)
    rows = [(tuple(sorted(itemset)), support) for itemset, support in found]
    assert {itemset for itemset, _ in rows[: found.certain]} == certain
    assert {itemset for itemset, _ in rows} == certain | ties
    assert len(rows) == len(certain | ties)
    assert all(truth[itemset] == support for itemset, support in rows)
    assert [support for _, support in rows] == sorted(
        (support for _, support in rows), reverse=True
    )
    assert found.complete


@each_kind
@given(
    data=transactions(max_records=14, max_items=7),
    count=st.integers(1, 40),
    least_size=st.integers(1, 4),
)
def test_the_top_itemsets_are_those_of_the_oracle(kind, data, count, least_size):
    check(kind, data, count, least_size)


@given(
    data=transactions(max_records=14, max_items=7),
    count=st.integers(1, 40),
    sizes=st.tuples(st.integers(1, 4), st.integers(0, 2)),
)
def test_the_size_of_itemsets_can_be_bounded(data, count, sizes):
    least, most = sizes[0], sum(sizes)
    found = top_itemsets(data, count, least_size=least, most_size=most)
    truth = oracle.supports(list(data), None, least)
    kept = Counter({itemset: truth[itemset] for itemset in truth if len(itemset) <= most})
    certain, ties = oracle.top(kept, count)
    assert {tuple(sorted(itemset)): support for itemset, support in found} == {
        itemset: kept[itemset] for itemset in certain | ties
    }


@each_kind
@given(
    data=transactions(max_records=10, max_items=6),
    count=st.integers(1, 30),
    least_size=st.integers(1, 3),
    draw=st.data(),
)
def test_weights_count_as_repeated_records(kind, data, count, least_size, draw):
    weights = draw.draw(st.lists(st.integers(1, 300), min_size=len(data), max_size=len(data)))
    check(kind, data, count, least_size, weights)


@each_kind
def test_records_of_weight_0_count_as_absent(kind):
    present, absent = [["a", "b"], ["a"], ["a", "b", "c"]], [["a", "b", "c", "d"]] * 6
    found = KINDS[kind][0](Transactions.of(absent + present), 5, weights=[0] * 6 + [1] * 3)
    assert list(found) == list(KINDS[kind][0](Transactions.of(present), 5))


@each_kind
@pytest.mark.parametrize("seed", range(6))
def test_more_rows_than_a_word_has_bits_are_counted_right(kind, seed):
    chance = random.Random(seed)
    records = [
        [str(item) for item in range(9) if chance.random() < 0.9 - item / 12] for _ in range(300)
    ]
    check(kind, Transactions.of(records), 60)
    check(kind, Transactions.of(records), 25, least_size=3)
    check(kind, Transactions.of(records), 25, weights=[chance.randrange(1, 9) for _ in records])


@each_kind
@given(
    data=transactions(max_records=12, max_items=7),
    chance=st.randoms(use_true_random=False),
    count=st.integers(1, 20),
)
def test_the_order_of_the_records_does_not_matter(kind, data, chance, count):
    order = list(range(len(data)))
    chance.shuffle(order)
    found, again = KINDS[kind][0](data, count), KINDS[kind][0](data.take(order), count)
    assert list(found) == list(again)


def test_those_of_equal_support_are_ordered_by_size_and_items():
    found = top_itemsets(SHOP, 2)
    assert list(found) == [
        (("beer",), 3),
        (("milk",), 2),
        (("wine",), 2),
        (("beer", "milk"), 2),
        (("beer", "wine"), 2),
    ]
    assert (found.certain, found.least_support, found.wanted) == (1, 2, 2)


def test_data_with_fewer_itemsets_gives_all_of_them():
    found = top_itemsets(SHOP, 100)
    assert len(found) == found.certain == 8
    assert found.least_support == 0


@pytest.mark.parametrize("records", [[], [[]], [[], []]])
def test_data_without_items_has_no_itemsets(records):
    assert list(top_itemsets(Transactions.of(records), 3)) == []


def test_ties_without_number_are_cut_off(monkeypatch):
    monkeypatch.setattr(itemsets, "MOST_TIES", 50)
    data = Transactions.of(
        [[f"{item:02}" for item in range(60)], ["00"], ["00", "01"], ["01"], ["01"]]
    )
    found = top_itemsets(data, 10)
    assert not found.complete
    assert list(found)[:3] == [(("01",), 4), (("00",), 3), (("00", "01"), 2)]
    assert (found.certain, found.least_support) == (3, 1)
    assert len(found) >= 50
    assert set(found.supports.tolist()[3:]) == {1}
    assert top_itemsets(data, 3).complete


@pytest.mark.parametrize(("count", "least_size"), [(0, 1), (1, 0), (-1, 1)])
def test_numbers_below_one_are_refused(count, least_size):
    with pytest.raises(ParameterError):
        top_itemsets(SHOP, count, least_size=least_size)


@pytest.mark.long
def test_the_supports_of_retail_are_those_of_a_plain_count(shared_data):
    from setveil.io import read
    from setveil.metrics.queries import count_supports

    data = read(shared_data / "retail.dat.gz")
    found = top_itemsets(data, 1000)
    assert found.certain <= 1000 <= len(found)
    for size in np.unique(found.itemsets.lengths).tolist():
        rows = np.flatnonzero(found.itemsets.lengths == size)
        queries = found.itemsets.take(rows).items.reshape(-1, size).astype(np.int64)
        assert count_supports(data, queries).tolist() == found.supports[rows].tolist()


@given(
    data=transactions(max_records=20, max_items=9),
    count=st.integers(1, 40),
    least_size=st.integers(1, 4),
    table=st.integers(0, 6),
)
def test_any_number_of_items_may_be_in_the_table_of_pairs(data, count, least_size, table):
    from setveil.kernels import top

    few = top._FEW, top._MANY
    top._FEW = top._MANY = table
    try:
        check("all", data, count, least_size)
    finally:
        top._FEW, top._MANY = few


@given(
    data=transactions(min_records=4, max_records=40, max_items=9),
    count=st.integers(1, 40),
    least_size=st.integers(1, 4),
    sample=st.integers(1, 10),
    quick=st.integers(1, 4),
)
def test_a_sample_may_show_too_few_items(data, count, least_size, sample, quick):
    from setveil.kernels import top

    names = "_FEW", "_SAMPLE", "_THIN", "_QUICK", "_DEVIATIONS"
    before = [getattr(top, name) for name in names]
    try:
        for name, value in zip(names, (1, sample, 1, quick, 0), strict=True):
            setattr(top, name, value)
        check("all", data, count, least_size)
    finally:
        for name, value in zip(names, before, strict=True):
            setattr(top, name, value)


def test_lists_of_the_same_records_count_pairs_once():
    from setveil.kernels import top

    data = top.Weighted(SHOP.indptr, SHOP.items, np.ones(len(SHOP), dtype=np.int64), 4)
    counted = top.count_frequent(data)
    for size in (1, 2, 3):
        wanted = top.Wanted(2, size, 100)
        one, other = top.find_top(counted, wanted), top.find_top(data, wanted)
        assert one.supports.tolist() == other.supports.tolist()
        assert one.items.tolist() == other.items.tolist()
