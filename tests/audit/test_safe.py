"""With `safe`, no item of another chunk is likelier than it may be, over all worlds."""

from __future__ import annotations

import json
from dataclasses import replace
from random import Random

import pytest

import setveil as sv
from setveil.audit.disassociated.check import check_safe
from setveil.audit.disassociated.layout import Layout
from setveil.audit.records import check_written
from setveil.errors import InfeasibleError, ParameterError
from tests.audit.disassociations import effort, invented, released
from tests.oracle import inference
from tests.proofs import proof

HARDEST = 9
"""Releases with more worlds, as a power of two, are not enumerated."""


def random_case(seed):
    rng = Random(seed)
    k = rng.choice((2, 2, 3))
    items, share = "abcde"[: rng.randint(2, 5)], rng.choice((0.3, 0.5, 0.7))
    drawn = [[i for i in items if rng.random() < share] for _ in range(rng.randint(k + 1, 6))]
    return [record or [rng.choice(items)] for record in drawn], k


def clusters_of(release):
    found = [json.loads(line) for line in release.lines()]
    return found if max(map(effort, found)) <= HARDEST else None


def compared(seeds):
    """How many safe and usual releases were enumerated, and how many usual ones leak."""
    safe = usual = leaking = 0
    for seed in seeds:
        data, k = random_case(seed)
        promise = sv.KmAnonymity(k=k, m=2)
        release = sv.Disassociation(arrangement="safe").anonymize(data, promise)
        assert sv.verify(release, data).holds
        if (clusters := clusters_of(release)) is not None:
            assert inference.violations(clusters, k, 2) == [], (seed, data)
            safe += 1
        other = sv.Disassociation(arrangement=k + 1).anonymize(data, promise)
        if (clusters := clusters_of(other)) is not None:
            found, said = inference.violations(clusters, k, 2), check_safe(Layout(other))
            assert not (found and said.holds), (seed, data)
            usual, leaking = usual + 1, leaking + bool(found)
    return safe, usual, leaking


@proof(22_300)
def test_no_inference_is_above_the_bound_over_all_worlds(seeds):
    safe, usual, leaking = compared(seeds)
    assert safe > 0.8 * len(seeds)
    assert leaking > 0.2 * usual


def test_what_the_check_accepts_never_leaks_in_made_up_clusters():
    accepted = refused = 0
    for seed in range(400):
        clusters = invented(Random(seed), 2, careful=True)
        release = released(clusters, sv.KmAnonymity(k=2, m=2))
        if max(map(effort, clusters)) > HARDEST or not sv.verify(release).holds:
            continue
        if check_safe(Layout(release)).holds:
            assert inference.violations(clusters, 2, 2) == [], seed
            accepted += 1
        else:
            refused += 1
    assert accepted > 20
    assert refused > 20


CLUSTER = {"size": 10, "chunks": [[[["a"], 9]], [[["b"], 2]]], "terms": ["x"]}
OTHER = {"size": 10, "chunks": [[[["c"], 2]]], "terms": ["x"]}


def test_a_cover_is_found_with_the_item_and_its_share():
    release = released([CLUSTER, OTHER], sv.KmAnonymity(k=2, m=2))
    assert sv.verify(release).holds  # it does not say that it is safe
    verdict = sv.verify(replace(release, is_safe=True))
    assert not verdict.holds
    assert [check.name for check in verdict.failed] == ["inference"]
    assert verdict.witness.items == ("a",)
    assert "9 of 10 records (90.00 %)" in verdict.witness.text


def test_that_a_release_is_safe_is_written_and_read(tmp_path):
    data = [["a", "b"], ["a"], ["b", "c"], ["a", "c"], ["b"], ["a", "b"]]
    done = sv.anonymize(data, k=2, m=2, arrangement="safe", output=tmp_path / "r")
    assert json.loads((tmp_path / "r/release.json").read_text(encoding="utf-8"))["safe"] is True
    read = sv.read_release(tmp_path / "r")
    assert read.is_safe
    assert "published with counts, apart from the known ones" in read.describe()
    assert "inference" in [check.name for check in done.verdict.checks]
    sv.write(read, tmp_path / "again")
    assert check_written(sv.read_release(tmp_path / "again"), read).holds


def test_what_is_published_without_counts_is_not_covered_and_the_release_says_so(tmp_path):
    data = [["a", "t"], ["a"], ["b"], ["b"]]
    release = sv.Disassociation(arrangement="safe").anonymize(data, sv.KmAnonymity(k=2, m=2))
    clusters = clusters_of(release)
    assert [cluster["terms"] for cluster in clusters] == [["t"]]
    loose = {(known, item): p for known, item, p in inference.inferences(clusters, 2, terms=True)}
    assert loose[("a",), "t"] > max(1 / 2, inference.shares(clusters)["t"])
    assert inference.violations(clusters, 2, 2) == []  # as it says of items with counts
    assert "an item that is published with counts" in release.describe()
    assert "published without counts, or together with a known one, is not" in release.limits()
    usual = sv.Disassociation(arrangement=11).anonymize(data, sv.KmAnonymity(k=2, m=2))
    assert "without counts" not in usual.limits()


def test_safe_is_refused_together_with_what_decides_about_clusters():
    for more in ({"refine": False}, {"share_lost": True}):
        with pytest.raises(ParameterError, match="publishes all records as one cluster"):
            sv.Disassociation(arrangement="safe", **more)


@pytest.mark.parametrize("m", [1, 2, 3, 4])
def test_safe_works_for_every_m_and_on_awkward_data(m):
    promise = sv.KmAnonymity(k=2, m=m)
    for data in ([], [[], []], [["a"]] * 3, [["a"], ["b"]], [["a", "b", "c", "d"]] * 2 + [[]]):
        release = sv.Disassociation(arrangement="safe").anonymize(data, promise)
        assert sv.verify(release, data).holds


def test_the_price_is_said(tmp_path):
    rng = Random(1)
    data = [[i for i in "abcdefgh" if rng.random() < 0.4] or ["a"] for _ in range(60)]
    done = sv.anonymize(data, k=3, m=2, arrangement="safe")
    assert any("Effect of arrangement='safe'" in note and "chunked" in note for note in done.notes)


def test_sensitive_items_stay_apart_in_a_safe_release():
    rng = Random(2)
    data = [[i for i in "abcde" if rng.random() < 0.5] or ["a"] for _ in range(20)]
    promise = sv.KmAnonymity(k=2, m=2, diversity=sv.LDiversity(l=3, sensitive=["e"]))
    release = sv.Disassociation(arrangement="safe").anonymize(data, promise)
    assert sv.verify(release, data).holds
    assert "e" in release.terms.record(0)
    with pytest.raises(InfeasibleError, match="not sensitive"):
        sv.Disassociation(arrangement="safe").anonymize([["e"]] * 4, promise)
