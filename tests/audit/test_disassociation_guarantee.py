"""Guarantee 1 against the oracle that goes through every world of tiny releases."""

from __future__ import annotations

from collections import Counter
from random import Random

from setveil.audit.disassociated.guarantee import check_guarantee
from setveil.audit.disassociated.layout import Layout
from setveil.audit.disassociated.proof import prove
from setveil.audit.verify import verify
from setveil.promises import KmAnonymity
from setveil.published.disassociated.clusters import JointCluster, SimpleCluster
from setveil.published.disassociated.form import Disassociated
from tests.audit.disassociations import effort, invented, projected, released
from tests.oracle import disassociation as oracle
from tests.proofs import proof


def compare(seed: int, hardest: float) -> str:
    """Compare one random release with the oracle; the answer says what kind of release it was."""
    random = Random(seed)
    k, m = random.choice((2, 2, 3)), random.choice((1, 2, 2, 3))
    clusters = (
        projected(random, k, 7)[0] if seed % 3 == 0 else invented(random, k, careful=seed % 3 == 1)
    )
    if max(effort(cluster) for cluster in clusters) > hardest:
        return "left out"
    promise = KmAnonymity(k=k, m=m)
    release = released(clusters, promise)
    assert verify(release).holds == oracle.holds(clusters, k, m), (seed, clusters)
    if oracle.faults(clusters):
        return "not well formed"
    broken = oracle.violations(clusters, k, m)
    check = check_guarantee(Layout(release), promise, limit=10_000)
    found = {witness.items: witness.count for witness in check.witnesses}
    assert (() in found) if () in broken else (found == broken), (seed, clusters)
    assert check.holds == (not broken)
    if prove(Layout(release), promise, chunks_hold=False).all():
        assert not broken, (seed, clusters)
        return "accepted by counting"
    return "accepted by search" if check.holds else "rejected"


@proof(24_300)
def test_the_verifier_and_the_oracle_agree_on_random_releases(seeds):
    kinds = Counter(compare(seed, 8 if seeds.start == 0 else 10) for seed in seeds)
    expected = ("not well formed", "accepted by counting", "accepted by search", "rejected")
    assert min(kinds[kind] for kind in expected) >= len(seeds) / 45, kinds
    assert kinds["left out"] < len(seeds) / 3, kinds


def test_what_a_cluster_alone_cannot_hide_another_cluster_may():
    scarce = SimpleCluster(5, [{("a",): 3}, {("b", "c"): 3}])
    promise = KmAnonymity(k=3, m=2)
    assert not verify(Disassociated.of_clusters([scarce], promise)).holds
    assert verify(
        Disassociated.of_clusters([scarce, SimpleCluster(3, [{("a", "b", "c"): 3}])], promise)
    ).holds
    partly = Disassociated.of_clusters([scarce, scarce], promise)
    assert verify(partly).witness.count == 2
    assert verify(Disassociated.of_clusters([scarce] * 3, promise)).holds


def test_a_shared_chunk_of_one_term_may_be_above_chunks_with_that_term_if_it_has_room():
    """Five subrecords {a} fit the five records of the part that does not tell of a; six do not."""
    promise = KmAnonymity(k=2, m=3)
    parts = [SimpleCluster(4, [{("a", "b"): 4}]), SimpleCluster(5, [{("c",): 5}], ["d"])]
    layouts = [
        Layout(Disassociated.of_clusters([JointCluster([{("a",): count}], parts)], promise))
        for count in (5, 6)
    ]
    assert [prove(layout, promise, chunks_hold=True).tolist() for layout in layouts] == [
        [True],
        [False],
    ]
    assert [check_guarantee(layout, promise).holds for layout in layouts] == [True, False]


def test_a_cluster_with_too_few_subrecords_has_no_world():
    verdict = verify(
        Disassociated.of_clusters([SimpleCluster(5, [{("a",): 4}])], KmAnonymity(k=2, m=2))
    )
    assert not verdict.holds
    assert verdict.witness.items == ()
    assert "no data set can have led to" in verdict.witness.text


def test_empty_records_are_no_matter_of_the_promise():
    assert verify(Disassociated.of_clusters([SimpleCluster(1)], KmAnonymity(k=5, m=2))).holds
    assert verify(Disassociated.of_clusters([], KmAnonymity(k=5, m=2))).holds


def test_a_cluster_that_is_too_large_to_decide_counts_as_broken():
    parts = [SimpleCluster(4, [{(f"a{number}",): 4}, {("w",): 2}]) for number in range(6)]
    joint = JointCluster(
        [{("u",): 5, ("w", "u"): 5}],
        [*parts, SimpleCluster(9, [], ["z"]), SimpleCluster(9, [], ["y"])],
    )
    promise = KmAnonymity(k=5, m=3)
    layout = Layout(Disassociated.of_clusters([joint], promise))
    check = check_guarantee(layout, promise, work=200)
    assert not check.holds
    assert check.text.startswith("not proved")
    assert "too large to construct" in check.witness.text


def test_items_of_one_kind_are_separated_if_other_clusters_separate_them():
    """a and b occur in the same places of a cluster that is too small for them; another cluster
    saves each, but not both together."""
    promise = KmAnonymity(k=3, m=2)
    clusters = [SimpleCluster(2, [{("a", "b"): 2}]), SimpleCluster(6, [{("a",): 3, ("b",): 3}])]
    check = check_guarantee(Layout(Disassociated.of_clusters(clusters, promise)), promise, limit=10)
    assert {witness.items: witness.count for witness in check.witnesses} == {("a", "b"): 2}
