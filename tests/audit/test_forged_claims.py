"""False claims of a release and numbers too large to count carelessly never make a verdict hold."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from setveil.alignment.merging import count_records
from setveil.audit import verify
from setveil.audit.rareitemsets import Search, Vertical
from setveil.data.transactions import Bags, Transactions
from setveil.data.vocabulary import Vocabulary
from setveil.errors import DataError
from setveil.hierarchy.tree import Hierarchy, Origin
from setveil.promises import Coherence, KAnonymity, KmAnonymity, VocabularyKAnonymity
from setveil.published.disassociated.clusters import JointCluster, SimpleCluster
from setveil.published.disassociated.form import Disassociated
from setveil.published.generalized import Generalized
from setveil.published.suppressed import Suppressed
from setveil.published.typical_bags import TypicalBags

VISITS = [
    ["tea", "flu"],
    ["tea", "flu"],
    ["tea", "cold"],
    ["tea"],
    ["beer"],
    ["beer"],
    ["beer", "tea"],
    ["tea"],
]
PROMISE = Coherence(h=0.6, k=2, p=1, private=["flu", "cold"])


def without(*gone, min_support=0.0):
    rows = [[item for item in visit if item not in gone] for visit in VISITS]
    return Suppressed.of(rows, PROMISE, min_support=min_support)


@pytest.mark.parametrize("share", [0.99, 0.3])
def test_a_release_cannot_excuse_a_missing_private_item_by_a_threshold_that_others_break(share):
    verdict = verify(without("flu", min_support=share), Transactions.of(VISITS))
    assert [check.name for check in verdict.failed] == ["private"]
    rare = f"items in less than {100 * share:g} % of the records"
    text = f"the release says that {rare} were left out, but publishes some of them"
    assert verdict.failed[0].text == text
    assert verdict.witness.private


@pytest.mark.parametrize(
    "share", [1, 1.0, 5, True, -1, float("nan"), float("inf"), 10**400, "0.9", None, [1]]
)
def test_a_threshold_that_is_not_a_share_is_refused(share):
    with pytest.raises(DataError, match="min_support is not a share of the records"):
        without("flu", "cold", "beer", "tea", min_support=share)


def test_all_rare_items_may_be_left_out_where_the_release_says_so():
    verdict = verify(without("flu", "cold", min_support=0.26), Transactions.of(VISITS))
    assert verdict.holds
    assert "in less than 26 % of the records are left out" in verdict.text


def huge_bags():
    """Two rare items whose numbers would be equal if items and counts were multiplied in int64."""
    vocabulary = Vocabulary(f"i{number:02}" for number in range(33))
    pairs = [(0, 0, 1), (1, 32, 1), (2, 1, 2**59 - 1), (3, 1, 2**59 - 1)]
    records, items, counts = np.array(pairs).T
    return Bags.from_pairs(records, items, vocabulary, counts=counts)


@pytest.mark.parametrize(
    "promise",
    [KmAnonymity(k=2, m=1), Coherence(h=1, k=2, p=1), KAnonymity(k=2)],
    ids=lambda promise: promise.model,
)
def test_huge_counts_never_make_two_items_one(promise):
    verdict = verify(huge_bags(), promise=promise)
    assert not verdict.holds
    assert verdict.witness.items == ("i00",)


def test_supports_are_counted_alike_when_codes_and_weights_do_not_fit_into_one_word(monkeypatch):
    rows = np.random.default_rng(3).random((40, 9)) < 0.4
    counted = count_records(
        Transactions.of([[str(item) for item in np.flatnonzero(row)] for row in rows])
    )

    def found():
        search = Search(Vertical.of(counted), 4)
        return [
            sorted(map(tuple, rare.itemsets.tolist()))
            for size in (1, 2, 3)
            for rare in search.of_size(size)
        ]

    plain = found()
    monkeypatch.setattr("setveil.audit.rareitemsets._WORD", 0)
    assert found() == plain
    assert sum(map(len, plain)) > 10


def test_knowing_all_items_takes_no_longer_than_knowing_as_many_as_there_are():
    parts = [
        SimpleCluster(3, [{("t",): 3}]),
        SimpleCluster(2, [{("w", "z"): 2}]),
        SimpleCluster(2, [{("v",): 2}]),
    ]
    cluster = JointCluster([{("u",): 2, ("w",): 2, ("z",): 2}], parts)
    verdicts = [
        verify(Disassociated.of_clusters([cluster], KmAnonymity(k=2, m=m)))
        for m in (6, "all", 10**12)
    ]
    assert [verdict.holds for verdict in verdicts] == [False] * 3
    assert len({verdict.witness for verdict in verdicts}) == 1


@pytest.mark.parametrize(
    "origin",
    [
        Origin("balanced", {"fanout": 0}, pruned=True),
        Origin("balanced", {"fanout": "x"}, pruned=True),
        Origin("balanced", {"fanout": 2, "order": "luck"}, pruned=True),
        Origin("balanced", {}, pruned=True),
        Origin("balanced", {"fanout": 2, "order": "numeric"}, pruned=True),
        Origin("prefix", {"lengths": 5}, pruned=True),
        Origin("prefix", {"lengths": ["a"]}, pruned=True),
        Origin("given", {}, pruned=True),
        Origin("magic", {}, pruned=True),
    ],
    ids=str,
)
def test_a_recipe_that_cannot_be_followed_is_a_release_that_does_not_stem_from_its_original(origin):
    tree = Hierarchy.from_parents(["a", "b", "*"], [2, 2, -1], origin)
    verdict = verify(
        Generalized.of([["a"], ["a"], ["b"], ["b"]], tree, KAnonymity(k=2)),
        Transactions.of([["a"], ["a"], ["b"], ["b"]]),
    )
    assert [check.name for check in verdict.failed] == ["containment"]
    assert verdict.failed[0].text == "its tree cannot be rebuilt from the recipe in release.json"


@pytest.mark.parametrize("epsilon", [-1, 1.5, "x", True, [4], float("nan")])
def test_an_epsilon_that_is_not_a_number_of_steps_is_refused(epsilon):
    with pytest.raises(DataError, match="epsilon is not a number of steps"):
        TypicalBags.of_rows(Bags.of([["a"]]), VocabularyKAnonymity(k=2), {}, epsilon=epsilon)


def test_nodes_of_a_tree_that_the_original_does_not_fit_do_not_hold():
    bags, data = Bags.of([["x"], ["x"]]), Bags.of([["a"], ["b"]])
    whole = Hierarchy.from_paths([("x", "*"), ("y", "*")])
    pruned = Hierarchy.from_parents(
        ["x", "*"], [1, -1], Origin("balanced", {"fanout": 2}, pruned=True)
    )
    for tree, text in (
        (whole, "an original record contains an item that is not in the hierarchy"),
        (pruned, "it contains 1 node that the tree built"),
    ):
        verdict = verify(
            TypicalBags.of_rows(bags, VocabularyKAnonymity(k=2), {}, hierarchy=tree), data
        )
        assert [check.name for check in verdict.failed] == ["containment"]
        assert verdict.failed[0].text.startswith(text)


def test_the_epsilon_that_a_release_claims_is_shown():
    release = TypicalBags.of([["a"], ["a"]], VocabularyKAnonymity(k=2))
    release = replace(release, epsilon=10**30)
    tree = Hierarchy.balanced(Transactions.of([["a", "b"]]).vocabulary, 2)
    verdict = verify(release, Bags.of([["a"], ["b"]]), hierarchy=tree)
    assert verdict.checks[-1].text.endswith(f"at most {10**30} steps away")


def test_a_fan_out_beyond_all_items_is_one_level():
    items = ["a", "b", "c"]
    assert Hierarchy.balanced(Transactions.of([items]).vocabulary, 10**30) == Hierarchy.balanced(
        Transactions.of([items]).vocabulary, 3
    )


def test_counts_that_cannot_be_added_up_are_refused():
    rows = np.zeros(9, dtype=np.int64)
    for counts in (np.full(9, 10**18), np.full(9, 2**61)):
        with pytest.raises(
            DataError, match=r"the counts add up to more than .*, which is too large"
        ):
            Bags.from_pairs(rows, rows, Vocabulary(["a"]), counts=counts)


def test_a_release_that_suppresses_everything_says_so():
    tree = Hierarchy.from_parents(["a", "b", "*"], [2, 2, -1])
    verdict = verify(
        Generalized.of([[], [], []], tree, KAnonymity(k=2)).without_alignment(),
        Transactions.of([["a"], ["b"], []]),
    )
    assert verdict.holds
    assert verdict.checks[-1].text.endswith(
        "(by matching); 2 nonempty originals are published as empty"
    )
