"""The comparison with the original: found by the oracle among all worlds, or not."""

from __future__ import annotations

from collections import Counter
from copy import deepcopy
from dataclasses import replace
from random import Random

import numpy as np
import pytest

from setveil.audit.disassociated import original as checks
from setveil.audit.verify import verify
from setveil.data.transactions import Bags, Transactions
from setveil.data.vocabulary import Vocabulary
from setveil.promises import KmAnonymity
from setveil.published.disassociated.clusters import JointCluster, SimpleCluster
from setveil.published.disassociated.form import Disassociated
from tests.audit.disassociations import aligned, effort, projected, released
from tests.oracle import disassociation as oracle
from tests.proofs import proof

PROMISE = KmAnonymity(k=2, m=2)


def with_original(clusters, originals):
    release = released(clusters, PROMISE)
    pairs = list(aligned(release, originals))
    return replace(release, alignment=np.array([node for _, node in pairs])), Transactions.of(
        record for record, _ in pairs
    )


def by_name(verdict):
    return {check.name: check for check in verdict.checks}


def spoil(random: Random, originals):
    """Change one thing: an item of a record, or swap two records of different clusters."""
    spoiled = deepcopy(originals)
    groups = [group for top in spoiled for group in top]
    group = random.choice(groups)
    match random.randrange(3):
        case 0:
            group[random.randrange(len(group))] ^= {random.choice("abcdefgz")}
        case 1:
            other = random.choice(groups)
            one, two = random.randrange(len(group)), random.randrange(len(other))
            group[one], other[two] = other[two], group[one]
        case 2:
            one, two = random.choice(group), random.choice(group)
            moved = set(random.sample(sorted(one), min(len(one), 1)))
            one -= moved
            two |= moved
    return spoiled


def compare(seed: int, hardest: float) -> str:
    random = Random(seed)
    clusters, originals = projected(random, 2, 7)
    if max(effort(cluster) for cluster in clusters) > hardest:
        return "left out"
    if seed % 4:
        originals = spoil(random, originals)
    release, data = with_original(clusters, originals)
    checks, blind = by_name(verify(release, data)), verify(release.without_alignment(), data)
    is_world = all(
        oracle.is_world(cluster, groups)
        for cluster, groups in zip(clusters, originals, strict=True)
    )
    assert checks["world"].holds == is_world, (seed, clusters, originals)
    assert is_world or seed % 4, (seed, clusters, originals)
    if is_world:
        assert checks["records"].holds
        assert checks["items"].holds
        assert checks["supports"].holds
        assert by_name(blind)["pairs"].holds, (seed, clusters, originals)
    return "a world" if is_world else "no world"


@proof(10_300)
def test_the_verifier_and_the_oracle_agree_whether_the_original_is_a_world(seeds):
    kinds = Counter(compare(seed, 9 if seeds.start == 0 else 10) for seed in seeds)
    assert min(kinds["a world"], kinds["no world"]) >= len(seeds) / 5, kinds
    assert kinds["left out"] < len(seeds) / 2, kinds


RELEASE = Disassociated.of_clusters(
    [
        JointCluster(
            [{("x", "y"): 2}],
            [SimpleCluster(2, [{("a", "b"): 2}], ["p"]), SimpleCluster(3, [{("c",): 3}], ["q"])],
        )
    ],
    PROMISE,
)
RECORDS = ["a b p x y", "a b", "c q", "c x y", "c q"]


def original(*records):
    return Transactions.of(record.split() for record in records)


def test_without_the_alignment_the_verdict_says_what_was_not_checked():
    verdict = verify(RELEASE, original(*RECORDS))
    assert verdict.holds
    assert "world" not in by_name(verdict)
    assert "was not checked" in by_name(verdict)["supports"].text


def test_scrambled_data_is_found_without_the_alignment():
    lines = [{"size": 5, "chunks": [[[["b", "d"], 3]]], "terms": ["c"]}]
    release = Disassociated.of_clusters(lines, KmAnonymity(k=3, m=2))
    verdict = verify(release, original("d", "d", "b c d", "b", "b"))
    assert [check.name for check in verdict.failed] == ["pairs"]
    assert verdict.witness.text == "{b, d} occurs in 1 original, but in 3 subrecords"
    assert verdict.witness.private
    assert verify(release, original("b d", "b d", "b c d", "c", "c")).holds


def test_pairs_that_no_world_has_are_found_without_the_alignment():
    lines = [{"size": 4, "chunks": [[[["a"], 2], [["b"], 2]]], "terms": ["c"]}]
    release = Disassociated.of_clusters(lines, PROMISE)
    assert verify(release, original("a c", "a", "b", "b")).holds
    verdict = verify(release, original("a b", "a", "b", "c"))
    assert [check.name for check in verdict.failed] == ["pairs"]
    assert "in 0 to 0 records of every possible world" in verdict.witness.text


def test_triples_are_compared_if_m_is_three():
    chunk = [[["a", "b", "c"], 2], [["a"], 1], [["b"], 1], [["c"], 1]]
    records = original("a b", "b c", "a c", "a b c d", "d")
    for m, failed in ((2, []), (3, ["pairs"])):
        lines = [{"size": 5, "chunks": [chunk], "terms": ["d"]}]
        release = Disassociated.of_clusters(lines, KmAnonymity(k=2, m=m))
        verdict = verify(release, records)
        assert [check.name for check in verdict.failed if check.name == "pairs"] == failed


@pytest.mark.parametrize("few", [0, 1])
def test_large_data_is_compared_by_its_most_suspicious_pairs(monkeypatch, few):
    monkeypatch.setattr(checks, "MOST_SETS", few)
    lines = [{"size": 5, "chunks": [[[["b", "d"], 3]]], "terms": ["c"]}]
    release = Disassociated.of_clusters(lines, KmAnonymity(k=3, m=2))
    assert not verify(release, original("d", "d", "b c d", "b", "b")).holds
    verdict = verify(release, original("b d", "b d", "b c d", "c", "c"))
    assert verdict.holds
    assert "every pair of items in a chunk is at least that of its" in verdict.checks[-1].text
    monkeypatch.setattr(checks, "MOST_PAIRS", 1)
    verdict = verify(release, original("b d", "b d", "b c d", "c", "c"))
    assert "pairs of some items in chunks" in verdict.checks[-1].text


@pytest.mark.parametrize(
    ("records", "failed"),
    [
        (RECORDS[:-1], "records"),
        ([*RECORDS[:-1], ""], "records"),
        ([*RECORDS[:-1], "c q new"], "items"),
        (["a b p", "a b", "c q", "c", "c q"], "items"),
        (["a b p x", "a b", "c q", "c x y", "c q"], "supports"),
        (["a b p x y", "a b p", "c p q", "c x y", "c q"], "supports"),
    ],
)
def test_what_cannot_be_is_found_without_the_alignment(records, failed):
    check = by_name(verify(RELEASE, original(*records)))[failed]
    assert not check.holds
    assert check.witness is not None


def test_the_witness_of_a_lost_item_is_private():
    verdict = verify(RELEASE, original(*RECORDS[:-1], "c q new"))
    assert verdict.witness.private
    assert verdict.witness.items == ()


@pytest.mark.parametrize(
    "alignment", [[1, 1, 2, 2], [1, 1, 2, 2, 7], [0, 1, 2, 2, 2], [-1, 1, 2, 2, 2], [1, 2, 2, 2, 2]]
)
def test_an_alignment_that_names_no_clusters_is_refused(alignment):
    assert not by_name(verify(replace(RELEASE, alignment=np.array(alignment)), original(*RECORDS)))[
        "world"
    ].holds


def test_the_vocabulary_of_the_original_may_be_in_another_order():
    data = original(*RECORDS)
    order = Vocabulary(reversed(data.vocabulary.labels))
    items = len(order) - 1 - data.items
    turned = Transactions.from_pairs(data.rows, items, order, size=len(data))
    assert verify(replace(RELEASE, alignment=np.array([1, 1, 2, 2, 2])), turned).holds


def test_bags_are_compared_as_sets():
    bags = Bags.of([*record.split(), record.split()[0]] for record in RECORDS)
    assert verify(replace(RELEASE, alignment=np.array([1, 1, 2, 2, 2])), bags).holds
