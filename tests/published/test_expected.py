"""The expected support of a disassociated release is the mean over all placements of its pieces."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import setveil as sv
from setveil.published.countable import Support
from tests.oracle.placements import mean_support
from tests.strategies import transactions

PROMISE = sv.KmAnonymity(k=2, m=2)
SIMPLE = {"size": 4, "chunks": [[[["a", "b"], 2], [["a"], 1]], [[["c"], 3]]], "terms": ["x", "y"]}
OTHER = {"size": 3, "chunks": [[[["a"], 2]]], "terms": ["x"]}
JOINT = {
    "shared": [[[["s"], 2]]],
    "parts": [
        {"size": 2, "chunks": [[[["a"], 2]]], "terms": ["x"]},
        {"size": 2, "chunks": [[[["b"], 2]]], "terms": []},
    ],
}


@pytest.mark.parametrize(
    "clusters",
    [[SIMPLE], [OTHER], [JOINT], [OTHER, JOINT]],
    ids=["simple", "small", "joint", "two"],
)
@pytest.mark.parametrize("size", [1, 2, 3])
def test_what_is_expected_is_the_mean_over_all_placements(clusters, size):
    release = sv.Disassociated.of_clusters(clusters, PROMISE)
    for itemset in combinations(release.items, size):
        mean = float(mean_support(clusters, itemset))
        assert release.guess(itemset) == pytest.approx(mean), itemset


def test_items_without_counts_are_said_to_be_estimated():
    release = sv.Disassociated.of_clusters([SIMPLE, OTHER], PROMISE)
    found = release.support(["x"])
    assert (found.lower, found.guess, found.upper) == (2, 2.0, 7)
    assert release.support_note(["x"]) == (
        "x is published without counts in 2 clusters. In how many records of each it is, is an "
        "estimate."
    )
    assert release.support_note(["a", "c"]) == ""
    worlds = [release.reconstruct(seed) for seed in range(5)]
    assert {sum("x" in record for record in world) for world in worlds} == {2}


def test_the_command_says_it_too(tmp_path, capfd):
    from setveil.cli import answer

    sv.write(sv.Disassociated.of_clusters([SIMPLE, OTHER], PROMISE), tmp_path / "r")
    assert answer(["support", str(tmp_path / "r"), "x"]) == 0
    shown = capfd.readouterr().out
    assert "expected  not determined  these items are in different pieces" in shown
    assert "x is published without counts in 2 clusters" in shown
    assert answer(["support", str(tmp_path / "r"), "xx"]) == 0
    assert "The original does not contain 'xx'; did you mean 'x'?" in capfd.readouterr().out
    assert answer(["reconstruct", str(tmp_path / "r"), "-o", str(tmp_path / "worlds")]) == 0
    assert "have an item without counts is an estimate" in capfd.readouterr().out


@given(transactions(), st.integers(1, 3), st.booleans())
def test_estimates_of_many_itemsets_are_those_of_one_at_a_time(drawn, size, share_lost):
    data = sv.Transactions.of([*drawn, ["a"], ["a"]])
    method = sv.Disassociation(arrangement=4, share_lost=share_lost)
    release = method.anonymize(data, PROMISE)
    items = [*release.items, "nobody has it"]
    queries = np.array([*combinations(range(len(items)), size)]).reshape(-1, size)
    found = release.estimates(items, queries)
    for at, query in enumerate(queries.tolist()):
        alone = release.guess([items[each] for each in query])
        assert found[at] == pytest.approx(alone)


def test_listed_items_are_drawn_as_often_as_expected_and_in_fewer_than_k_records():
    clusters = [{"size": 9, "chunks": [[[["a"], 9]]], "terms": ["x"]} for _ in range(40)]
    clusters += [{"size": 9, "chunks": [[[["a"], 9]], [[["x"], 7]]], "terms": []} for _ in range(9)]
    release = sv.Disassociated.of_clusters(clusters, sv.KmAnonymity(k=6, m=2))
    found, both = release.support(["x"]), release.support(["a", "x"])
    assert found.guess == both.guess == release.guess(["x"]) > 40 + 63
    worlds = [release.reconstruct(seed) for seed in range(60)]
    counts = [sum("x" in record for record in world) for world in worlds]
    assert np.mean(counts) == pytest.approx(found.guess, rel=0.03)
    assert max(counts) <= 40 * 5 + 63


def test_a_standard_error_is_stated_only_where_it_is_small():
    assert Support(0, 110, 100.0, 4.0).accuracy == "standard error 4 %"
    assert Support(0, 110, 100.0, 6.0).expected is None
    assert Support(95, 110, 100.0, 4.0).accuracy == "within 10 %"
    assert Support(95, 110, 100.0).is_determined
    assert not Support(80, 110, 100.0).is_determined


def test_more_records_of_a_listed_item_may_have_the_other_items_by_chance_or_always():
    cluster = {"size": 10, "chunks": [[[["a"], 5]]], "terms": ["x"]}
    release = sv.Disassociated.of_clusters([cluster], sv.KmAnonymity(k=5, m=2))
    alone, both = release.support(["x"]), release.support(["a", "x"])
    listed = alone.guess  # 1.3 or less: further ones are 0.1 (k - 2) for each shown item
    assert 1.2 < listed < 1.3
    assert both.guess == pytest.approx(listed / 2)
    most, share = (both.guess + listed) / 2, 0.25 * 3 / 0.1 / 13
    error = listed / 2, most * share, (most * 0.3) ** 0.5
    assert both.error == pytest.approx(sum(each**2 for each in error) ** 0.5)
