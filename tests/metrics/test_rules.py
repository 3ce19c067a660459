"""Association rules: the truth is within the bounds, whatever the form of the release."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import setveil as sv
from setveil.errors import InfeasibleError, ParameterError
from setveil.metrics.rules import confidence
from setveil.published.release import Support
from tests.strategies import data_with_tree, transactions

KM = sv.KmAnonymity(k=2, m=2)


def check(release: sv.Release, data: sv.Transactions, tree: sv.Hierarchy | None = None) -> None:
    """Every rule with every number of items, against the records themselves."""
    records = [_shown(record, tree) for record in data]
    for rule in sv.rules(release, top=10_000, most_size=4).found:
        both = {*rule.antecedent, *rule.consequent}
        having = sum(record >= both for record in records)
        antecedent = sum(record >= {*rule.antecedent} for record in records)
        assert rule.support.lower <= having <= rule.support.upper
        sure = rule.confidence
        assert 0 <= sure.lower <= sure.guess <= sure.upper <= 1
        if antecedent:
            assert sure.lower - 1e-9 <= having / antecedent <= sure.upper + 1e-9
            off = abs(having / antecedent - sure.guess)
            assert sure.within is None or off <= sure.within * sure.guess + 1e-9
        assert rule.support.within is None or (
            abs(having - rule.support.guess) <= rule.support.within * rule.support.guess + 1e-9
        )
    lowest = [rule.confidence.lower for rule in sv.rules(release, top=50).found]
    assert lowest == sorted(lowest, reverse=True)


def _shown(record: tuple[str, ...], tree: sv.Hierarchy | None) -> set[str]:
    """A record with all that is above its items."""
    found = set(record)
    for item in record if tree is not None else ():
        node = tree.nodes.number(item)
        while node >= 0:
            found.add(tree.labels[node])
            node = int(tree.parent[node])
    return found


@given(data=transactions(), k=st.integers(2, 4))
def test_the_rules_of_disassociated_data_are_within_their_bounds(data, k):
    release = made(lambda: sv.Disassociation().anonymize(data, sv.KmAnonymity(k=k, m=2)))
    if release is not None:
        check(release, data)


@given(data=transactions())
def test_the_rules_of_suppressed_data_are_within_their_bounds(data):
    release = made(lambda: sv.Suppression().anonymize(data, KM))
    if release is not None:
        check(release, data)


@given(pair=data_with_tree())
@pytest.mark.parametrize("method", [sv.Partition(), sv.MHgHs()], ids=lambda method: method.name)
def test_the_rules_of_generalized_data_are_within_their_bounds(method, pair):
    data, tree = pair
    data = sv.Transactions.of(data)
    release = made(lambda: method.anonymize(data, KM, tree))
    if release is not None:
        check(release, data, tree)


def made(make):
    try:
        return make()
    except InfeasibleError:
        return None


def test_the_bounds_of_a_confidence_use_those_of_both_supports():
    found = confidence(Support(3, 6, 4.0), Support(8, 10, 8.0))
    assert (found.lower, found.upper, found.expected) == (0.3, 0.75, 0.5)
    certain = confidence(Support(4, 4, 4.0), Support(8, 8, 8.0))
    assert (certain.lower, certain.upper) == (0.5, 0.5)
    vague = confidence(Support(0, 5, 1.0), Support(0, 9, 2.0))
    assert (vague.lower, vague.upper) == (0.0, 1.0)


def test_limits_leave_out_rules():
    baskets = sv.Transactions.of([["a", "b", "c"]] * 6 + [["a", "b"]] * 3 + [["a"]] * 3)
    release = sv.Disassociation().anonymize(baskets, KM)
    everything = sv.rules(release).found
    assert {len(rule.antecedent + rule.consequent) for rule in everything} == {2, 3}
    assert all(len(each.antecedent) == 1 for each in sv.rules(release, most_size=2).found)
    confident = sv.rules(release, min_confidence=0.9).found
    assert confident
    assert all(rule.confidence.lower >= 0.9 for rule in confident)
    frequent = sv.rules(release, min_support=0.7).found
    assert {rule.antecedent + rule.consequent for rule in frequent} == {("a", "b"), ("b", "a")}
    assert len(sv.rules(release, top=2).found) == 2


def test_thousands_of_itemsets_that_tie_are_not_all_asked_for(monkeypatch):
    records = [[f"{row}-{number}" for number in range(14)] for row in range(2) for _ in range(2)]
    release = sv.Disassociation().anonymize(sv.Transactions.of(records), KM)
    asked, support = [], type(release).support
    monkeypatch.setattr(
        type(release), "support", lambda self, items: asked.append(items) or support(self, items)
    )
    assert len(sv.rules(release, top=5).found) == 5
    assert len(asked) < 5_000


@pytest.mark.parametrize(
    "words",
    [{"top": 0}, {"most_size": 1}, {"min_support": 1.5}, {"min_confidence": "x"}],
    ids=lambda words: next(iter(words)),
)
def test_limits_that_make_no_sense_are_refused(words):
    with pytest.raises(ParameterError, match=next(iter(words))):
        sv.rules([["a"]], **words)


def test_data_is_not_a_release():
    with pytest.raises(ParameterError, match="it must be a release or its folder"):
        sv.rules([["a"]])
