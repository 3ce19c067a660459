"""The verdict on valid releases, and on releases that were broken in one place."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from setveil.alignment.align import over
from setveil.audit import verify
from setveil.data.transactions import Bags, Transactions
from setveil.errors import ParameterError
from setveil.hierarchy.build import balanced
from setveil.hierarchy.tree import Hierarchy
from setveil.methods import Partition
from setveil.metrics import measure
from setveil.promises import KAnonymity, KmAnonymity, Promise
from setveil.published.generalized import Generalized
from tests.audit.releases import bags_of, parents_of, published_of, releases
from tests.oracle.containment import assignable
from tests.oracle.kanonymity import rare_records
from tests.oracle.km import violations
from tests.strategies import bags, transactions

TREE = Hierarchy.from_parents(["ALL", "A", "B", "a1", "a2", "b1", "b2"], [-1, 0, 0, 1, 1, 2, 2])
ORIGINAL = [
    ["a1"],
    ["a1", "a2"],
    ["b1", "b2"],
    ["b1", "b2"],
    ["a1", "a2", "b2"],
    ["a1", "a2", "b2"],
    ["a1", "a2", "b1", "b2"],
]
PUBLISHED = [
    ["A"],
    ["A"],
    ["b1", "b2"],
    ["b1", "b2"],
    ["a1", "a2", "B"],
    ["a1", "a2", "B"],
    ["a1", "a2", "B"],
]


def table_2(published: list[list[str]] | None = None) -> Generalized:
    """[He2009] Table 2, local recoding, as anybody may have it."""
    return Generalized.of(published or PUBLISHED, TREE, KAnonymity(k=2)).without_alignment()


def failed(verdict) -> list[str]:
    return [check.name for check in verdict.failed]


@given(st.one_of(releases(), releases(multiset=True)), st.booleans())
def test_a_valid_release_holds_with_and_without_its_alignment(pair, keep):
    release, original = pair
    verdict = verify(release if keep else release.without_alignment(), original)
    rare = rare_records(published_of(release), 2)
    assert verdict.holds == (not rare)
    assert [check.name for check in verdict.checks] == [
        "structure",
        "k-anonymity",
        "records",
        "containment",
    ]
    assert set(failed(verdict)) <= {"k-anonymity"}


@given(st.one_of(transactions(max_items=4), bags(max_items=3, max_count=2)), st.integers(2, 4))
def test_k_anonymity_of_plain_data_is_that_of_the_oracle(data, k):
    verdict = verify(data, promise=KAnonymity(k=k), limit=100)
    rare = rare_records(bags_of(data), k)
    assert verdict.holds == (not rare)
    assert len(verdict.checks[0].witnesses) == len(rare)
    assert sorted(witness.count for witness in verdict.checks[0].witnesses) == sorted(rare.values())
    if not isinstance(data, Bags):
        found = {
            frozenset((item, 1) for item in witness.items): witness.count
            for witness in verdict.checks[0].witnesses
        }
        assert found == rare


@given(releases(), st.data())
def test_one_changed_record_is_judged_as_the_oracle_does(pair, data):
    """Drop a node, add a node or replace the record: the verdict is always the oracle's and its
    witness is real."""
    release, original = pair
    assume(len(original) > 0)
    tree, records = release.hierarchy, [dict(record) for record in published_of(release)]
    at = data.draw(st.integers(0, len(records) - 1))
    records[at] = dict.fromkeys(
        data.draw(st.lists(st.sampled_from(tree.labels), max_size=3, unique=True)), 1
    )
    broken = Generalized.of(records, tree, KAnonymity(k=2)).without_alignment()
    verdict = verify(broken, original)
    by_name = {check.name: check for check in verdict.checks}
    rare = rare_records(records, 2)
    assert by_name["k-anonymity"].holds == (not rare)
    assert by_name["containment"].holds == assignable(bags_of(original), records, parents_of(tree))
    if rare:
        witness = by_name["k-anonymity"].witness
        assert rare[frozenset((item, 1) for item in witness.items)] == witness.count
    if not by_name["structure"].holds:
        inside = set(by_name["structure"].witness.items)
        assert any(set(tree.path(label)[1:]) & inside for label in inside)
    assert verdict.holds == all(check.holds for check in verdict.checks)


def test_the_release_of_table_2_holds():
    verdict = verify(table_2(), Transactions.of(ORIGINAL))
    assert verdict.holds
    assert verdict.witness is None
    assert verdict.text.startswith("holds: k-anonymity (k = 2)\n  yes  structure: ")


def test_a_dropped_record_is_lost():
    verdict = verify(table_2(PUBLISHED[:-1]), Transactions.of(ORIGINAL))
    assert failed(verdict) == ["records", "containment"]
    assert verdict.witness.text == "1 record is lost: 6 records are published for 7 originals"


def test_a_record_that_occurs_once_more_is_invented():
    verdict = verify(table_2([*PUBLISHED, ["A"]]), Transactions.of(ORIGINAL))
    assert failed(verdict) == ["records", "containment"]
    assert "1 record is invented" in verdict.witness.text


def test_a_class_that_shrank_under_k_is_found_by_its_record():
    verdict = verify(table_2([["A"], ["ALL"], *PUBLISHED[2:]]), Transactions.of(ORIGINAL))
    assert failed(verdict) == ["k-anonymity"]
    assert (verdict.witness.count, verdict.witness.private) == (1, False)
    assert verdict.witness.items in {("A",), ("ALL",)}


def test_equal_classes_given_twice_are_counted_as_one():
    release = table_2()
    half = list(release.classes).index(("A",))
    sizes = np.append(release.sizes, 1)
    sizes[half] = 1
    twice = replace(
        release, classes=release.classes.take([*range(len(release.classes)), half]), sizes=sizes
    )
    assert verify(twice, Transactions.of(ORIGINAL)).holds
    assert failed(verify(twice, promise=KAnonymity(k=3))) == ["k-anonymity"]


def test_a_distinct_record_that_occurs_0_times_is_found():
    release = table_2()
    assert failed(verify(replace(release, sizes=release.sizes * 0))) == ["structure", "k-anonymity"]


def test_a_node_with_its_parent_in_one_record_is_found():
    changed = [["A", "a1"], ["A", "a1"], *PUBLISHED[2:]]
    verdict = verify(table_2(changed), Transactions.of(ORIGINAL))
    assert failed(verdict) == ["structure", "containment"]
    assert verdict.witness.text == "the record {a1, A} contains a1 and its group A"


def test_a_node_with_a_distant_ancestor_in_one_record_is_found():
    verdict = verify(table_2([["ALL", "a1"], ["ALL", "a1"], *PUBLISHED[2:]]))
    assert failed(verdict) == ["structure"]
    assert verdict.witness.text == "the record {a1, ALL} contains a1 and its group ALL"


def test_a_changed_item_is_found_with_the_original_it_belongs_to():
    changed = [["B"], ["B"], *PUBLISHED[2:]]
    verdict = verify(table_2(changed), Transactions.of(ORIGINAL))
    assert failed(verdict) == ["containment"]
    witness = verdict.witness
    assert witness.private
    assert witness.original in {("a1",), ("a1", "a2")}
    assert "the original {a1" in witness.text


def test_an_item_that_was_left_out_is_found():
    original = [["a1", "b1"], ["a1", "b1"]]
    verdict = verify(
        Generalized.of([["A"], ["A"]], TREE, KAnonymity(k=2)), Transactions.of(original)
    )
    assert failed(verdict) == ["containment"]
    assert (verdict.witness.original, verdict.witness.items) == (("a1", "b1"), ("A",))


def test_a_node_that_covers_nothing_is_found():
    verdict = verify(
        Generalized.of([["A", "B"], ["A", "B"]], TREE, KAnonymity(k=2)),
        Transactions.of([["a1"], ["a1"]]),
    )
    assert failed(verdict) == ["containment"]


def test_a_published_record_too_many_of_its_kind_is_found():
    verdict = verify(
        table_2([["a1"], ["a1"], ["A"], ["A"]]),
        Transactions.of([["a1"], ["a1", "a2"], ["a2"], ["a2"]]),
    )
    assert failed(verdict) == ["containment"]
    assert verdict.witness.items == ("a1",)
    assert not verdict.witness.private


def test_an_alignment_that_is_wrong_is_found_though_another_would_do():
    release = Generalized.of(PUBLISHED, TREE, KAnonymity(k=2))
    crossed = replace(release, alignment=release.alignment[::-1])
    assert failed(verify(crossed, Transactions.of(ORIGINAL))) == ["containment"]
    assert verify(crossed.without_alignment(), Transactions.of(ORIGINAL)).holds


def test_a_label_that_the_hierarchy_does_not_have_is_found():
    release = replace(table_2(), classes=Transactions.of([["zebra"]]), sizes=np.array([7]))
    verdict = verify(release)
    assert failed(verdict) == ["structure"]
    assert verdict.witness.items == ("zebra",)
    with_original = verify(release, Transactions.of(ORIGINAL))
    assert failed(with_original) == ["structure", "containment"]
    assert (
        with_original.checks[-1].text
        == "a release that is not well formed cannot be compared with its original"
    )


def test_a_suppressed_record_is_an_image_and_an_empty_original_needs_one():
    original = Transactions.of([["a1"], [], ["b1"]])
    release = Generalized.of([[], [], []], TREE, KAnonymity(k=3))
    assert verify(release.without_alignment(), original).holds
    wrong = Generalized.of([["A"], ["A"], []], TREE, KAnonymity(k=2))
    assert "containment" in failed(verify(wrong, original))


def test_counts_that_differ_make_records_of_bags_different():
    data = Bags.of([{"a": 1}, {"a": 2}])
    assert not verify(data, promise=KAnonymity(k=2)).holds
    assert verify(data.sets(), promise=KAnonymity(k=2)).holds


def test_a_count_that_no_original_has_is_found():
    original = Bags.of([{"a1": 1, "a2": 1}, {"a1": 2}])
    assert verify(
        Generalized.of([{"A": 2}, {"A": 2}], TREE, KAnonymity(k=2), counted=True), original
    ).holds
    wrong = Generalized.of([{"A": 3}, {"A": 3}], TREE, KAnonymity(k=2), counted=True)
    assert failed(verify(wrong, original)) == ["containment"]
    assert failed(verify(wrong.without_alignment(), original)) == ["containment"]


def test_a_release_over_a_pruned_tree_is_compared_over_the_whole_one():
    original = Transactions.of([[str(n)] for n in range(30)])
    tree = balanced(original.vocabulary, fanout=5)
    release = Generalized.of([[tree.path(str(n))[1]] for n in range(30)], tree, KAnonymity(k=5))
    pruned = over(release, tree.pruned(release.published_nodes())).without_alignment()
    assert verify(pruned).holds
    assert verify(pruned, original).holds
    fewer = verify(pruned, Transactions.of([[str(n)] for n in range(10)] * 3))
    assert failed(fewer) == ["containment"]
    assert "the original's items lacks" in fewer.checks[-1].text


@given(releases(), st.integers(2, 4), st.integers(1, 3))
def test_a_release_is_judged_by_another_promise_on_request(pair, k, m):
    release, _ = pair
    verdict = verify(release, promise=KmAnonymity(k=k, m=m))
    assert verdict.promise == KmAnonymity(k=k, m=m)
    assert verdict.holds == (
        not violations([list(record) for record in published_of(release)], k, m)
    )


def test_no_record_keeps_every_promise():
    assert verify(Transactions.of([]), promise=KAnonymity(k=5)).holds
    assert verify(Transactions.of([]), promise=KmAnonymity(k=5, m=3)).holds
    assert verify(Generalized.of([], TREE, KAnonymity(k=2)), Transactions.of([])).holds


def test_plain_data_needs_a_promise():
    data = Transactions.of([["a"]])
    with pytest.raises(ParameterError, match="plain data carries no promise"):
        verify(data)
    with pytest.raises(ParameterError, match="limit = 0"):
        verify(data, promise=KAnonymity(k=2), limit=0)


def test_a_promise_that_cannot_be_verified_is_refused():
    @dataclass(frozen=True)
    class Vague(Promise):
        model = "vague"

        def describe(self) -> str:
            return "something"

        def limits(self) -> str:
            return "everything"

    with pytest.raises(
        ParameterError,
        match=r"records can be verified for k-anonymity, .*, coherence, not vague",
    ):
        verify(Transactions.of([["a"]]), promise=Vague())


def test_the_verdict_is_written_as_json():
    verdict = verify(table_2([["B"], ["B"], *PUBLISHED[2:]]), Transactions.of(ORIGINAL))
    read = json.loads(json.dumps(verdict.to_dict()))
    assert (read["holds"], read["promise"]["k"]) == (False, 2)
    assert [check["name"] for check in read["checks"]] == [
        "structure",
        "k-anonymity",
        "records",
        "containment",
    ]
    assert read["checks"][-1]["witnesses"][0]["private"] is True
    assert "witness (private): " in verdict.text


def test_the_original_may_be_a_list():
    baskets = [["a"], ["a"], ["a", "b"], ["a", "b"]]
    release = Partition().anonymize(
        baskets, KAnonymity(k=2), Hierarchy.from_paths([("a", "*"), ("b", "*")])
    )
    assert verify(release, baskets).holds
    assert measure(release, baskets, ["ncp"]) == {"ncp": 0.0}
