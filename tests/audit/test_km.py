"""k^m-anonymity: the answer of enumerating all itemsets, for any m, with the smallest witness."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from setveil.alignment.merging import count_records
from setveil.audit import anonymity, rareitemsets, verify
from setveil.audit.anonymity import find_violations
from setveil.data.transactions import Bags, Transactions
from setveil.promises import KmAnonymity
from tests.audit.releases import bags_of
from tests.oracle import km as oracle
from tests.strategies import bags

HE2009_TABLE_1 = [
    ["Beer", "Diapers"],
    ["Wine", "Diapers", "Pregnancy Test"],
    ["Beer", "Wine", "Pregnancy Test"],
    ["Beer", "Wine", "Diapers", "Pregnancy Test"],
]


def assert_like_oracle(records: list[list[str]], k: int, m: int) -> int:
    """The number of minimal violations, found and checked one by one."""
    expected = oracle.minimal(oracle.violations(records, k, m))
    found = find_violations(
        count_records(Transactions.of(records)), KmAnonymity(k=k, m=m), limit=10_000
    )
    assert {frozenset(items): support for items, support in found} == expected
    assert len(found) == len(expected)
    assert [len(items) for items, _ in found] == sorted(len(items) for items in expected)
    return len(found)


def random_records(draw: random.Random) -> list[list[str]]:
    """Few distinct records, many repeats, so that both answers are common and minimal violations
    come in every size."""
    items = "abcdefgh"[: draw.randint(1, 8)]
    kinds = [
        [item for item in items if draw.random() < density]
        for density in [draw.random() for _ in range(draw.randint(1, 6))]
    ]
    return [list(draw.choice(kinds)) for _ in range(draw.randint(0, 14))]


@pytest.mark.parametrize("seed", range(3))
def test_thousands_of_random_data_sets_have_the_violations_of_the_oracle(seed):
    draw, sizes = random.Random(seed), set()
    for _ in range(2_000):
        sizes.add(
            min(assert_like_oracle(random_records(draw), draw.randint(2, 5), draw.randint(1, 6)), 3)
        )
    assert sizes == {0, 1, 2, 3}


@pytest.mark.parametrize("most", [1, 5])
def test_the_answer_is_the_same_when_extensions_are_counted_in_small_parts(most, monkeypatch):
    monkeypatch.setattr(rareitemsets, "_MOST_EXTENSIONS", most)
    monkeypatch.setattr(anonymity, "_FEW", most)
    draw = random.Random(most)
    for _ in range(300):
        assert_like_oracle(random_records(draw), draw.randint(2, 5), draw.randint(1, 6))


@given(bags(max_items=3, max_count=3), st.integers(2, 4), st.integers(1, 3))
def test_in_bags_an_adversary_knows_items_and_their_counts(data, k, m):
    expected = oracle.violations([list(record.items()) for record in bags_of(data)], k, m)
    assert verify(data, promise=KmAnonymity(k=k, m=m)).holds == (not expected)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 6, 7])
def test_the_smallest_violation_is_the_witness_however_large_it_must_be(size):
    """Every proper subset of `size` items occurs often; all of them together occur once."""
    items = [f"i{number}" for number in range(size)]
    records = [
        [item for item in items if item != left_out] for left_out in items for _ in range(4)
    ] + [items]
    data = Transactions.of(records)
    if size > 1:
        assert verify(data, promise=KmAnonymity(k=4, m=size - 1)).holds
    verdict = verify(data, promise=KmAnonymity(k=4, m=size))
    assert (verdict.witness.items, verdict.witness.count) == (tuple(items), 1)


def test_table_1_of_the_paper_is_2_2_anonymous_and_not_2_3_anonymous():
    """[He2009] Example 1: who knows beer, wine and diapers finds only Dan."""
    data = Transactions.of(HE2009_TABLE_1)
    assert verify(data, promise=KmAnonymity(k=2, m=2)).holds
    verdict = verify(data, promise=KmAnonymity(k=2, m=3), limit=10)
    assert ("Beer", "Diapers", "Wine") in [witness.items for witness in verdict.checks[0].witnesses]


def test_the_paper_s_data_with_a_fifth_record_is_2_m_anonymous_for_every_m():
    data = Transactions.of([*HE2009_TABLE_1, HE2009_TABLE_1[3]])
    assert all(verify(data, promise=KmAnonymity(k=2, m=m)).holds for m in range(1, 9))


def test_k_anonymous_data_is_proved_without_looking_at_itemsets(monkeypatch):
    monkeypatch.setattr(
        rareitemsets.Search, "of_size", lambda *_: pytest.fail("no itemset needs to be counted")
    )
    verdict = verify(
        Transactions.of([[str(n) for n in range(300)]] * 5), promise=KmAnonymity(k=5, m=50)
    )
    assert verdict.holds
    assert "(k-anonymity)" in verdict.checks[0].text


def test_the_number_of_witnesses_is_the_one_asked_for():
    data = Transactions.of([["a"], ["b"], ["c"], ["d", "d2"]])
    for limit in (1, 3, 5):
        assert (
            len(verify(data, promise=KmAnonymity(k=2, m=2), limit=limit).checks[0].witnesses)
            == limit
        )


def test_empty_records_hold_no_itemset():
    assert verify(Transactions.of([[], ["a"], ["a"]]), promise=KmAnonymity(k=2, m=2)).holds


def test_items_of_bags_are_shown_with_their_counts():
    verdict = verify(Bags.of([{"a": 2}, {"a": 1}, {"a": 1}]), promise=KmAnonymity(k=2, m=1))
    assert (verdict.witness.items, verdict.witness.count) == (("a x2",), 1)
