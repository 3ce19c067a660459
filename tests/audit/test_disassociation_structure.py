"""Releases broken in one place: the form, the size of clusters, the chunks, sensitive items."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from setveil.audit.verify import verify
from setveil.data.transactions import Transactions
from setveil.errors import DataError, ParameterError
from setveil.promises import KAnonymity, KmAnonymity
from setveil.promises.kanonymity import LDiversity
from setveil.published.disassociated.clusters import JointCluster, SimpleCluster
from setveil.published.disassociated.form import Disassociated

PROMISE = KmAnonymity(k=2, m=2)
AB, C, XY = {("a", "b"): 2, ("a",): 1}, {("c",): 3}, {("x", "y"): 2}


def joint(*, size=3, chunks=(AB, C), terms=("p",), shared=(XY,), other=("q",)):
    """A good joint cluster, and what it becomes with one thing changed."""
    return JointCluster(
        list(shared),
        [
            SimpleCluster(size, list(chunks), list(terms)),
            SimpleCluster(3, [{("a",): 3}], list(other)),
        ],
    )


def verdict_of(*clusters, promise=PROMISE):
    return verify(Disassociated.of_clusters(clusters, promise))


def test_the_release_that_the_others_are_made_from_is_good():
    verdict = verdict_of(joint())
    assert verdict.holds, verdict.text
    assert [check.name for check in verdict.checks] == [
        "structure",
        "clusters",
        "chunks",
        "km-anonymity",
    ]


@pytest.mark.parametrize(
    ("cluster", "rule", "items"),
    [
        (joint(chunks=(AB, {("a", "c"): 3})), "in only one chunk", ("a",)),
        (joint(terms=("p", "b")), "in only one chunk", ("b",)),
        (joint(shared=(XY, {("x",): 2})), "in only one chunk", ("x",)),
        (joint(terms=("p", "x")), "no term chunk below", ("x",)),
        (joint(other=("y",)), "no term chunk below", ("y",)),
        (joint(chunks=(AB, {("c",): 4})), "at most as many subrecords", ()),
        (joint(shared=({("x",): 7},)), "at most as many subrecords", ()),
    ],
)
def test_each_fault_of_the_form_is_found_with_a_witness(cluster, rule, items):
    verdict = verdict_of(cluster)
    structure = verdict.checks[0]
    assert (verdict.holds, structure.name, structure.holds) == (False, "structure", False)
    assert rule in structure.text
    assert structure.witness.items == items


@pytest.mark.parametrize(
    ("broken", "rule", "items"),
    [
        (("subrecords", [0, 2, 4, 5, 5, 6]), "has items", ()),
        (("subrecord_counts", [2, 2, 1, 0, 3]), "occurs at least once", ("c",)),
        (("sizes", [6, 0, 3]), "at least one record", ()),
    ],
)
def test_faults_that_no_file_can_have_are_found_too(broken, rule, items):
    good = Disassociated.of_clusters([joint(chunks=(AB, C))], PROMISE)
    name, values = broken
    made = np.array(values)
    if name == "subrecords":
        rows = good.subrecords
        made = Transactions(made, np.delete(rows.items, 5), rows.vocabulary)
    structure = verify(replace(good, **{name: made})).checks[0]
    assert (structure.name, structure.holds) == ("structure", False)
    assert rule in structure.text
    assert structure.witness.items == items


@pytest.mark.parametrize(
    ("cluster", "problem"),
    [
        (joint(chunks=(AB, {(): 2})), "non-empty subrecords"),
        (joint(chunks=(AB, {("c",): 0})), "non-empty subrecords"),
        (SimpleCluster(0, [], ["a"]), "must be a whole number of 1 or more, not 0"),
    ],
)
def test_faults_that_are_not_even_clusters_are_refused(cluster, problem):
    with pytest.raises(DataError, match=problem):
        verdict_of(cluster)


def test_nothing_is_said_of_the_promise_where_the_form_is_broken():
    last = verdict_of(joint(terms=("p", "b"))).checks[-1]
    assert (last.name, last.holds, last.text.startswith("not checked")) == (
        "km-anonymity",
        False,
        True,
    )


@pytest.mark.parametrize(
    "change",
    [
        {"parent": np.array([-1, 2, 0])},
        {"parent": np.array([-2, 0, 0])},
        {"chunk_node": np.array([0, 1, 1, 3])},
        {"subrecord_chunk": np.array([0, 1, 1, 2, 9])},
        {"subrecord_counts": np.array([2, 2])},
        {"sizes": np.array([6, 3])},
        {"sizes": np.array([7, 3, 3])},
        {"terms": Transactions.of([["p"], ["q"], ["x"]])},
    ],
    ids=lambda change: next(iter(change)),
)
def test_arrays_that_do_not_fit_together_are_refused(change):
    release = replace(Disassociated.of_clusters([joint()], PROMISE), **change)
    assert not verify(release).checks[0].holds


def test_a_term_chunk_of_a_joint_cluster_is_refused():
    release = Disassociated.of_clusters([joint()], PROMISE)
    rows = np.array([0, 1, 2])
    terms = Transactions.from_pairs(rows, release.items.encode(["p", "p", "q"]), release.items)
    assert "only simple clusters" in verify(replace(release, terms=terms)).checks[0].text


def test_as_many_witnesses_as_asked_for_are_given():
    release = Disassociated.of_clusters([joint(terms=("p", "b", "c", "x"))], PROMISE)
    assert len(verify(release, limit=1).checks[0].witnesses) == 1
    assert len(verify(release, limit=10).checks[0].witnesses) == 3


def test_a_small_cluster_is_found():
    verdict = verdict_of(joint(), SimpleCluster(1, [], ["p"]))
    assert [check.name for check in verdict.failed] == ["clusters"]
    assert verdict.witness.count == 1


def test_a_chunk_that_is_not_anonymous_by_itself_is_found():
    verdict = verdict_of(joint(chunks=({("a", "b"): 1, ("a",): 2}, C)))
    assert "chunks" in [check.name for check in verdict.failed]
    assert verdict.witness.items == ("b",)
    shared = verdict_of(joint(shared=({("x", "y"): 1, ("x",): 2, ("y",): 2},)))
    assert shared.witness.items == ("x", "y")
    assert shared.witness.count == 1


def test_an_item_counts_in_each_chunk_apart():
    verdict = verdict_of(
        SimpleCluster(3, [{("a",): 1}], ["p"]), SimpleCluster(3, [{("a",): 3}], ["p"])
    )
    assert [check.name for check in verdict.failed] == ["chunks"]


def test_sensitive_items_in_term_chunks_of_large_clusters_are_diverse():
    verdict = verdict_of(
        joint(), promise=LDiversity(l=3, sensitive=frozenset({"p", "q", "elsewhere"}))
    )
    assert verdict.holds
    assert "2 sensitive items" in verdict.checks[-1].text


@pytest.mark.parametrize(("item", "l", "count"), [("a", 2, None), ("x", 2, None), ("p", 4, 3)])
def test_sensitive_items_in_chunks_or_small_clusters_are_found(item, l, count):
    verdict = verdict_of(joint(), promise=LDiversity(l=l, sensitive=frozenset({item})))
    assert not verdict.holds
    assert verdict.witness.items == (item,)
    assert verdict.witness.count == count


def test_diversity_is_checked_together_with_km_anonymity():
    kept, broken = (
        KmAnonymity(k=2, m=2, diversity=LDiversity(l=3, sensitive=[item])) for item in ("p", "a")
    )
    assert verdict_of(joint(), promise=kept).holds
    assert "(k = 2, m = 2, l = 3)" in verdict_of(joint(), promise=kept).text
    assert [check.name for check in verdict_of(joint(), promise=broken).failed] == ["l-diversity"]
    with pytest.raises(ParameterError, match="not l-diversity"):
        verify(Transactions.of([["a"], ["a"]]), promise=kept)


def test_disassociated_data_cannot_be_held_to_k_anonymity():
    with pytest.raises(ParameterError, match="km-anonymity and l-diversity"):
        verdict_of(joint(), promise=KAnonymity(k=2))


def test_a_verdict_is_written_as_json():
    assert json.loads(json.dumps(verdict_of(joint(terms=("b",))).to_dict()))["holds"] is False
    assert json.loads(
        json.dumps(verdict_of(joint(), promise=LDiversity(l=2, sensitive=["p"])).to_dict())
    )["promise"]["sensitive"] == ["p"]


@pytest.mark.parametrize(("l", "sensitive"), [(1, ["a"]), (2.0, ["a"]), (2, "flu"), (2, 7)])
def test_l_diversity_refuses_what_makes_no_sense(l, sensitive):
    with pytest.raises(ParameterError):
        LDiversity(l=l, sensitive=sensitive)


def test_l_diversity_is_read_back_as_it_is_written():
    promise = LDiversity(l=3, sensitive=[7, "flu"])
    written = promise.to_dict()
    assert LDiversity(l=written["l"], sensitive=written["sensitive"]) == promise
