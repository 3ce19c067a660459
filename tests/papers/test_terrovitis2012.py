"""The figures of [Terrovitis2012], and the gaps between its conditions and its guarantee."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from setveil.audit.verify import verify
from setveil.data.transactions import Transactions
from setveil.promises import KmAnonymity
from setveil.published.disassociated.clusters import JointCluster, SimpleCluster
from setveil.published.disassociated.form import Disassociated
from tests.oracle import disassociation as oracle

FIGURE_2A = Transactions.of(
    record.split(", ")
    for record in (
        "itunes, flu, madonna, ikea, ruby",
        "madonna, flu, viagra, ruby, audi a4, sony tv",
        "itunes, madonna, audi a4, ikea, sony tv",
        "itunes, flu, viagra",
        "itunes, flu, madonna, audi a4, sony tv",
        "madonna, digital camera, panic disorder, playboy",
        "iphone sdk, madonna, ikea, ruby",
        "iphone sdk, digital camera, madonna, playboy",
        "iphone sdk, digital camera, panic disorder",
        "iphone sdk, digital camera, madonna, ikea, ruby",
    )
)
C1 = {
    ("flu", "itunes", "madonna"): 2,
    ("flu", "madonna"): 1,
    ("itunes", "madonna"): 1,
    ("flu", "itunes"): 1,
}
C2 = {("audi a4", "sony tv"): 3}
C3 = {
    ("digital camera", "madonna"): 1,
    ("iphone sdk", "madonna"): 1,
    ("digital camera", "iphone sdk", "madonna"): 2,
    ("digital camera", "iphone sdk"): 1,
}
FIGURE_2B = [
    SimpleCluster(5, [C1, C2], ["ikea", "viagra", "ruby"]),
    SimpleCluster(5, [C3], ["panic disorder", "playboy", "ikea", "ruby"]),
]
FIGURE_3_PARTS = [
    SimpleCluster(5, [C1, C2], ["viagra"]),
    SimpleCluster(5, [C3], ["panic disorder", "playboy"]),
]
# The drawing is cut and shows only {ikea, ruby}; the records of figure 2a project to it three
# times, and once to each of the two.
FIGURE_3 = [JointCluster([{("ikea", "ruby"): 3, ("ikea",): 1, ("ruby",): 1}], FIGURE_3_PARTS)]
FIGURE_3_AS_DRAWN = [JointCluster([{("ikea", "ruby"): 4}], FIGURE_3_PARTS)]
FIGURE_4 = [SimpleCluster(5, [{("a",): 3}, {("b", "c"): 3}])]

# The drawing of figure 5 is lost from the text; these follow what the text says of it.
FIGURE_5_PARTS = [
    SimpleCluster(3, [{("a", "x"): 3}]),
    SimpleCluster(3, [{("b", "c"): 3}, {("d", "e", "f"): 3}]),
]
FIGURE_5A = [JointCluster([{("a", "o"): 3, ("o",): 1}], FIGURE_5_PARTS)]
FIGURE_5B = [JointCluster([{("a", "o"): 3, ("o",): 3}], FIGURE_5_PARTS)]

CE_A = [
    JointCluster([{("x",): 2}], [SimpleCluster(2, [{("a",): 2}]), SimpleCluster(3, [{("c",): 2}])])
]
CE_B = [
    JointCluster(
        [{("u",): 2, ("w",): 2, ("z",): 2}],
        [
            SimpleCluster(3, [{("t",): 3}]),
            SimpleCluster(2, [{("w", "z"): 2}]),
            SimpleCluster(2, [{("v",): 2}]),
        ],
    )
]
CE_C = [SimpleCluster(2, [], ["a", "b"])]


def released(clusters, k, m, clusters_of_records=None):
    release = Disassociated.of_clusters(clusters, KmAnonymity(k=k, m=m))
    return (
        release
        if clusters_of_records is None
        else replace(release, alignment=np.array(clusters_of_records))
    )


def written(clusters):
    return [cluster.to_json() for cluster in clusters]


def guarantee(verdict):
    return next(check for check in verdict.checks if check.name == "km-anonymity")


def test_figure_2b_keeps_its_promise_and_figure_2a_is_one_of_its_worlds():
    verdict = verify(released(FIGURE_2B, 3, 2, [0] * 5 + [1] * 5), FIGURE_2A)
    assert verdict.holds, verdict.text
    assert [check.name for check in verdict.checks][-1] == "world"


def test_figure_3_keeps_its_promise_and_figure_2a_is_one_of_its_worlds():
    verdict = verify(released(FIGURE_3, 3, 2, [1] * 5 + [2] * 5), FIGURE_2A)
    assert verdict.holds, verdict.text


def test_figure_3_as_drawn_keeps_its_promise_but_does_not_stem_from_figure_2a():
    assert verify(released(FIGURE_3_AS_DRAWN, 3, 2)).holds
    verdict = verify(released(FIGURE_3_AS_DRAWN, 3, 2, [1] * 5 + [2] * 5), FIGURE_2A)
    assert [check.name for check in verdict.failed] == ["world"]


def test_figures_2b_and_3_are_not_what_another_cluster_of_records_looks_like():
    assert not verify(released(FIGURE_2B, 3, 2, [1] * 5 + [0] * 5), FIGURE_2A).holds
    assert not verify(released(FIGURE_3, 3, 2, [1, 2] * 5), FIGURE_2A).holds


@pytest.mark.parametrize(
    ("clusters", "k", "items", "most"),
    [
        pytest.param(FIGURE_4, 3, ("a", "b"), 1, id="figure 4"),
        pytest.param(FIGURE_5A, 3, ("o", "x"), 1, id="figure 5a"),
        pytest.param(CE_A, 2, ("a", "x"), 1, id="refining empties a term chunk"),
        pytest.param(CE_B, 2, ("t", "u"), 1, id="property 1 is not enough"),
        pytest.param(CE_C, 3, ("a",), 2, id="a cluster below k"),
    ],
)
def test_what_the_paper_lets_pass_is_rejected_with_the_itemset(clusters, k, items, most):
    check = guarantee(verify(released(clusters, k, 2)))
    assert (check.holds, check.witness.items, check.witness.count) == (False, items, most)
    assert oracle.violations(written(clusters), k, 2)[items] == most


@pytest.mark.parametrize(
    "clusters", [FIGURE_4, FIGURE_5A, CE_A, CE_B], ids=["figure 4", "figure 5a", "CE-A", "CE-B"]
)
def test_form_clusters_and_chunks_of_these_are_as_the_paper_wants_them(clusters):
    k = 3 if clusters in (FIGURE_4, FIGURE_5A) else 2
    assert [check.name for check in verify(released(clusters, k, 2)).failed] == ["km-anonymity"]


def test_figure_4_is_repaired_by_a_term_chunk():
    assert verify(released([SimpleCluster(5, [{("a",): 3}], ["b", "c"])], 3, 2)).holds


def test_figure_5b_keeps_its_promise_by_the_construction_of_worlds():
    check = guarantee(verify(released(FIGURE_5B, 3, 2)))
    assert check.holds
    assert "1 cluster by constructing" in check.text
    assert not oracle.violations(written(FIGURE_5B), 3, 2)


@pytest.mark.parametrize(
    ("clusters", "records", "parts"),
    [
        pytest.param(FIGURE_4, "a | a | b c | b c | a b c", [0] * 5, id="figure 4"),
        pytest.param(CE_A, "a x | a | c | c | x", [1, 1, 2, 2, 2], id="CE-A"),
        pytest.param(
            CE_B, "t u | t w | t z | u w z | w z | v w | v z", [1, 1, 1, 2, 2, 3, 3], id="CE-B"
        ),
        pytest.param(CE_C, "a b | a", [0, 0], id="CE-C"),
    ],
)
def test_the_originals_of_the_counterexamples_are_worlds_of_theirs(clusters, records, parts):
    original = Transactions.of(record.split() for record in records.split(" | "))
    verdict = verify(released(clusters, 2, 2, parts), original)
    assert {check.name for check in verdict.failed} <= {"km-anonymity", "clusters"}
    assert verdict.checks[-1].name == "world"
