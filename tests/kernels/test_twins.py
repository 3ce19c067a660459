"""Every kernel gives what a plain twin gives: small ones here, the others where they are used."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import setveil.kernels
from setveil.kernels.disassociation.frequent import Pairs, Triples, count_triples, list_triples
from setveil.kernels.itemsets import count_chosen, count_pairs
from setveil.kernels.recoding.threats import list_holders
from setveil.kernels.steps import fill_holders
from tests.oracle import kernels as plain

KERNELS = Path(setveil.kernels.__file__).parent
WHERE = {
    "closed": "kernels/test_itemsets",
    "disassociation.annealing": "methods/test_heads",
    "disassociation.chunks": "methods/test_disassociation",
    "disassociation.expected": "methods/test_grouping",
    "disassociation.frequent": "kernels/test_twins",
    "disassociation.heads": "methods/test_heads",
    "disassociation.horizontal": "methods/test_disassociation",
    "disassociation.lists": "methods/test_disassociation",
    "disassociation.refine": "methods/test_disassociation",
    "disassociation.subrecords": "methods/test_disassociation",
    "groups": "methods/test_groups",
    "itemsets": "kernels/test_itemsets",
    "partition.split": "methods/test_partition",
    "recoding.threats": "kernels/test_twins",
    "retrieval": "metrics/test_retrieval",
    "ssc.centre": "methods/test_ssc",
    "ssc.grow": "methods/test_ssc",
    "ssc.profiles": "methods/test_ssc",
    "ssc.slots": "methods/test_ssc",
    "steps": "kernels/test_twins",
    "suppression.hitting": "methods/test_suppression",
    "suppression.moles": "methods/test_suppression",
}
"""The test that compares the kernels of each module, or the one caller they have, with a twin."""

ROWS = st.lists(st.sets(st.integers(0, 6), max_size=5).map(sorted), max_size=9)


def laid_out(rows, dtype=np.int32):
    ptr = np.concatenate(([0], np.cumsum([len(row) for row in rows]))).astype(np.int64)
    return ptr, np.array([item for row in rows for item in row], dtype=dtype)


def cut(ptr, values):
    return [values[a:b].tolist() for a, b in zip(ptr, ptr[1:], strict=False)]


def test_every_module_with_kernels_is_compared_with_a_plain_twin():
    files = KERNELS.rglob("*.py")
    with_kernels = {
        ".".join(path.relative_to(KERNELS).with_suffix("").parts)
        for path in files
        if re.search(r"^@kernel$", path.read_text("utf-8"), re.MULTILINE)
    }
    assert with_kernels == WHERE.keys()
    tests = Path(__file__).parents[1]
    for name in set(WHERE.values()):
        assert "from tests.oracle" in (tests / f"{name}.py").read_text("utf-8"), name


@given(ROWS)
def test_the_holders_of_each_item_are_listed(rows):
    ptr, items = laid_out(rows)
    expected = plain.holders(rows, 7)
    bounds = np.concatenate(([0], np.cumsum([len(each) for each in expected]))).astype(np.int64)
    found = np.full(len(items), -1, dtype=np.int32)
    fill_holders(ptr, items, bounds[:-1], found)
    assert cut(bounds, found) == expected


@given(ROWS, st.data())
def test_the_supports_of_pairs_are_counted(rows, data):
    weights = [data.draw(st.integers(1, 3)) for _ in rows]
    ptr, items = laid_out(rows)
    weighed = np.array(weights, dtype=np.int64)
    found = np.zeros(21, dtype=np.int64)
    count_pairs(ptr, items, weighed, found)
    for low, high in combinations(range(7), 2):
        assert found[high * (high - 1) // 2 + low] == plain.supports(rows, weights, (low, high))
    chosen = data.draw(st.permutations(range(7)))[:3]
    place = np.full(8, -1, dtype=np.int64)
    place[chosen], place[7] = range(3), 3
    table = count_chosen(ptr, items, weighed, place)
    expected = [[plain.supports(rows, weights, {a, b}) for b in chosen] for a in chosen]
    assert table.tolist() == expected


@given(ROWS, st.integers(0, 3))
def test_triples_of_frequent_pairs_are_listed_and_counted(rows, bar):
    ones = [1] * len(rows)
    held = {pair: plain.supports(rows, ones, pair) for pair in combinations(range(7), 2)}
    first, second = laid_out([range(item + 1, 7) for item in range(7)], np.int64)
    pairs = Pairs(first, second, np.array(list(held.values()), dtype=np.int64))
    triples = Triples(*list_triples(pairs, bar, 1_000))
    by_pair = cut(triples.first, triples.third)
    listed = [
        (*pair, third) for pair, thirds in zip(held, by_pair, strict=True) for third in thirds
    ]
    assert listed == plain.triples(held, bar)
    counts = count_triples(*laid_out(rows), pairs, triples).tolist()
    assert counts == [plain.supports(rows, ones, triple) for triple in listed]
    for triple, outer, inner in zip(listed, triples.outer, triples.inner, strict=True):
        names = list(held)
        assert (names[outer], names[inner]) == ((triple[0], triple[2]), triple[1:])


@given(ROWS, st.data())
def test_the_records_under_each_node_are_listed(rows, data):
    parents = [
        data.draw(st.integers(-1 if node == 0 else 0, max(node - 1, -1))) for node in range(7)
    ]
    up = np.array(parents, dtype=np.int32)
    starts, found = list_holders(*laid_out(rows), up, np.arange(7, dtype=np.int32))
    assert cut(starts, found) == plain.under(rows, parents)
