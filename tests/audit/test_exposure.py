"""Exposure: the shares of the oracle, exact or sampled, and no item of anybody."""

from __future__ import annotations

import json
import random
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from setveil.audit import exposure as front_door
from setveil.audit.exposure import examine, exposure
from setveil.data.transactions import Bags, Transactions
from setveil.errors import ParameterError
from tests.audit.releases import bags_of
from tests.oracle.kanonymity import rare_records
from tests.oracle.km import exposed_share, random_share
from tests.strategies import bags, transactions


@given(st.one_of(transactions(), bags(max_count=2)), st.integers(2, 4))
def test_shares_are_those_of_the_oracle(data, k):
    found = exposure(data, k=k, known=(1, 2, 3, 5))
    records = [record for record in bags_of(data) if record]
    assert (found.records, found.empty) == (len(records), len(data) - len(records))
    assert found.whole == pytest.approx(
        sum(rare_records(records, k).values()) / max(len(records), 1)
    )
    held = [list(record.items()) for record in records]
    for one in found.known:
        assert one.exact
        assert one.examined == len(records)
        assert one.share == pytest.approx(exposed_share(held, k, one.items))


def test_more_knowledge_exposes_no_fewer_people():
    draw = random.Random(5)
    data = Transactions.of(
        [[item for item in "abcdefghij" if draw.random() < 0.4] for _ in range(300)]
    )
    shares = [one.share for one in exposure(data, known=range(1, 8)).known]
    assert shares == sorted(shares)
    assert shares[-1] <= exposure(data).whole


def test_a_sample_is_said_to_be_one_and_lies_near_the_whole(monkeypatch):
    draw = random.Random(6)
    data = Transactions.of(
        [[item for item in "abcdefghijklmno" if draw.random() < 0.35] for _ in range(2_000)]
    )
    exact = exposure(data, known=(2, 3, 4))
    module = sys.modules["setveil.audit.exposure"]
    monkeypatch.setattr(module, "_MOST_ITEMSETS", 10)
    monkeypatch.setattr(module, "_LEAST", 400)
    sampled = exposure(data, known=(2, 3, 4))
    assert [one.exact for one in sampled.known] == [True, False, False]
    assert sampled.known[1].examined < len(data)
    for one, whole in zip(sampled.known, exact.known, strict=True):
        assert one.share == pytest.approx(whole.share, abs=0.08)
    assert "about " in sampled.text
    assert (
        f"(a random sample of {sampled.known[1].examined} records, so give or take" in sampled.text
    )
    assert sampled == exposure(data, known=(2, 3, 4))


@given(st.one_of(transactions(), bags(max_count=2)), st.integers(2, 3))
def test_random_items_single_out_as_many_as_over_all_choices(data, k):
    records = [list(record.items()) for record in bags_of(data) if record]
    for one in exposure(data, k=k, known=(1, 2, 3)).known:
        true = random_share(records, k, one.items)
        assert one.random == pytest.approx(true, abs=0.1)
        assert one.random <= one.share


def test_random_items_and_the_most_telling_ones_are_two_figures_of_the_same_people():
    draw = random.Random(3)
    data = [[*draw.sample(range(12), 6), f"own-{number}"] for number in range(60)]
    (found, drawn), one = examine(data, known=1, drawn=300), exposure(data, known=1).known[0]
    assert one.share == 1.0  # everybody has an item that nobody else has
    assert one.random == pytest.approx(1 / 7, abs=0.04)
    labels = Transactions.of(data).vocabulary
    alone = [labels[items[0]].startswith("own-") for items in drawn[1]]
    assert len(drawn[1]) == found.known[0].drawn == 300
    assert found.known[0].random == pytest.approx(sum(alone) / 300)


def test_draws_do_not_depend_on_the_order_of_the_records():
    draw = random.Random(4)
    data = [draw.sample("abcdefghij", draw.randint(1, 5)) for _ in range(1_500)]
    assert exposure(data) == exposure(sorted(data)) == exposure(data[::-1])


def test_once_a_sample_is_taken_larger_sizes_stay_with_it(monkeypatch):
    """Records of up to five items contain fewer sets of four than of three; records outside the
    sample must not count as examined."""
    draw = random.Random(8)
    data = Transactions.of([draw.sample("abcdefghij", draw.randint(3, 5)) for _ in range(800)])
    module = sys.modules["setveil.audit.exposure"]
    monkeypatch.setattr(module, "_MOST_ITEMSETS", 1_500)
    monkeypatch.setattr(module, "_LEAST", 50)
    assert [one.exact for one in exposure(data, known=(2, 3, 5)).known] == [True, False, False]


def test_no_item_is_named():
    data = Transactions.of([["secret-1", "secret-2"], ["secret-1"], ["secret-3"]])
    assert "secret" not in exposure(data).text + json.dumps(exposure(data).to_dict())


def test_empty_records_are_in_no_share_and_the_sentence_says_how_many_there_are():
    data = [["beer", "wine"], [], ["beer"], ["beer"], [], []]
    random = exposure(data).known[0]
    one = f"{100 * random.random:.1f} ± {100 * random.random_margin:.1f}"
    assert exposure(data).text.splitlines() == [
        "33.3 % of 3 records with items are unique. 3 empty records are not counted.",
        "1 known item singles out 33.3 % of records if it is the most telling one. A random one "
        f"singles out {one} %.",
        "2 known items single out 33.3 % of records if they are the most telling ones. Random ones "
        "single out 33.3 ± 2.9 %.",
        "3 known items single out 33.3 % of records if they are the most telling ones. Random ones "
        "single out 33.3 ± 2.9 %.",
        "Random items: 999 draws from the same records.",
    ]
    sizes = np.array([1, 3, 2])  # the same records, merged
    assert exposure([["beer", "wine"], [], ["beer"]], sizes=sizes) == exposure(data)


def test_no_record_is_exposed_where_there_is_none():
    found = exposure(Transactions.of([]))
    assert (found.whole, [one.share for one in found.known]) == (0.0, [0.0, 0.0, 0.0])


def test_of_bags_the_sentence_says_what_the_adversary_knows():
    assert "1 known item with its count" in exposure(Bags.of([{"a": 2}, {"a": 1}])).sentences[1]


@pytest.mark.parametrize(
    ("options", "message"), [({"k": 1}, "k = 1"), ({"known": (0,)}, "known = 0")]
)
def test_numbers_that_make_no_sense_are_refused(options, message):
    with pytest.raises(ParameterError, match=message):
        front_door(Transactions.of([["a"]]), **options)


def test_numbers_are_shown_as_people_read_them():
    rows = [["a"]] * 4_999 + [["b"]]
    first, second, *_ = exposure(Transactions.of(rows)).sentences
    assert first == "under 0.1 % of 5,000 records are unique."
    assert second.startswith("1 known item singles out under 0.1 % of records if it is the most")
    assert exposure(Transactions.of([["a"]])).sentences[0] == "100.0 % of 1 record are unique."
