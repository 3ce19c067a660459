"""Whether a release comes from its original is said in three levels, and never too strongly."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

import setveil as sv
from setveil.io.releases.alignment import write_alignment
from setveil.pipeline.verify import Verification
from setveil.published.disassociated.clusters import SimpleCluster
from setveil.published.disassociated.form import Disassociated
from setveil.report.outcome import report_verification

TREE = sv.Hierarchy.from_paths(
    [("beer", "Alcohol", "ALL"), ("wine", "Alcohol", "ALL"), ("milk", "ALL"), ("tea", "ALL")]
)
DATA = sv.Transactions.of([["beer", "milk"], ["wine", "milk"], ["tea"], ["tea"], ["milk"]])
BAGS = sv.Bags.of([["beer", "beer"], ["beer", "wine"], ["milk"], ["milk"]])
MADE = {
    "generalized": (sv.Partition(), sv.KAnonymity(2), DATA, TREE, "consistent"),
    "one cut": (sv.Apriori(), sv.KmAnonymity(2, 2), DATA, TREE, "exact"),
    "suppressed": (sv.Suppression(), sv.Coherence(1, 2, 1), DATA, None, "exact"),
    "typical bags": (sv.SSC(), sv.VocabularyKAnonymity(2), BAGS, TREE, "consistent"),
    "disassociated": (sv.Disassociation(), sv.KmAnonymity(2, 2), DATA, None, "consistent"),
}


@pytest.mark.parametrize("name", MADE)
def test_only_the_alignment_or_one_rule_for_all_records_is_exact(name, tmp_path):
    method, promise, data, tree, alone = MADE[name]
    release = method.anonymize(data, promise, tree)
    sv.write(release, tmp_path / "r")
    write_alignment(release, data, tmp_path / "alignment")
    given = {"hierarchy": tree} if name == "typical bags" else {}
    made = sv.verify(release, data, **given)
    read = sv.verify(tmp_path / "r", original=data, **given)
    linked = sv.verify(tmp_path / "r", original=data, alignment=tmp_path / "alignment", **given)
    assert (made.origin, read.origin, linked.origin) == ("exact", alone, "exact")
    words = {"exact": "Comes from this original: ", "consistent": "Consistent with this original: "}
    assert read.origin_text.startswith(words[alone])
    assert read.to_dict()["origin"] == alone
    assert sv.verify(tmp_path / "r").origin is None
    other = [["beer"]] * len(data)
    wrong = sv.verify(tmp_path / "r", original=other, **given)
    assert (wrong.origin, wrong.origin_text) == ("no", "Does not come from this original")


def test_an_impossible_release_whose_counts_agree_is_called_consistent_and_no_more():
    clusters = [
        SimpleCluster(2, [{("b", "d"): 1, ("c", "d"): 1}, {("a",): 1}], []),
        SimpleCluster(2, [{("b",): 1}, {("c",): 1, ("d",): 1}], []),
    ]
    data = [["b", "d"], ["c"], ["a", "d"], ["b", "c", "d"]]
    release = Disassociated.of_clusters(clusters, sv.KmAnonymity(2, 2))
    nodes = np.repeat(np.flatnonzero(release.is_simple), 2).tolist()
    ways = [replace(release, alignment=np.array(way)) for way in set(permutations(nodes))]
    assert {sv.verify(one, data).origin for one in ways} == {"no"}  # it is no possible world
    verdict = sv.verify(release, data)
    assert verdict.fits_original
    assert verdict.origin_text == "Consistent with this original: item and pair counts agree"
    sections = report_verification(Verification(verdict=verdict)).sections
    assert any(section.title == verdict.origin_text and section.private for section in sections)


def test_synthetic_records_are_at_most_consistent_with_their_original(tmp_path):
    data = [["a"]] * 30
    sv.anonymize(data, epsilon=1, public_items=True, output=tmp_path / "r")
    assert sv.verify(tmp_path / "r", original=data).origin == "consistent"


@pytest.mark.parametrize("method", [sv.Apriori(), sv.HgHs(), sv.MHgHs()])
def test_one_cut_says_nothing_about_items_that_the_hierarchy_lacks(method, tmp_path):
    promise = sv.KmAnonymity(2, 1)
    sv.write(method.anonymize(DATA, promise, TREE), tmp_path / "r")
    more = [[*record, "zither"] if at == 1 else record for at, record in enumerate(DATA)]
    verdict = sv.verify(tmp_path / "r", original=more)
    assert verdict.origin == "no"
    assert "an item that is not in the hierarchy" in verdict.failed[0].text
    for unknown in ("drop", "root"):
        place = tmp_path / unknown
        outcome = sv.anonymize(
            more, k=2, m=1, hierarchy=TREE, method=method.name, unknown=unknown, output=place
        )
        assert outcome.verdict.origin == "exact"
        assert sv.verify(place, original=more).origin == "exact"


def test_what_a_rule_leaves_out_of_other_data_is_stated(tmp_path):
    release = sv.Apriori().anonymize(DATA, sv.KmAnonymity(2, 1), TREE)
    june = [["beer", "zither"], ["wine"], ["milk"], ["milk"], ["tea"], ["tea"]]
    sv.apply(release, june, unknown="drop", output=tmp_path / "june")
    assert sv.verify(tmp_path / "june", original=june).origin == "exact"
