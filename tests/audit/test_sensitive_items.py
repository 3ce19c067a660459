"""Sensitive items: what can be known for certain, found by enumerating all possible worlds."""

from __future__ import annotations

import json
from collections import Counter
from random import Random

import pytest

from setveil import Disassociation, KmAnonymity, LDiversity, anonymize
from setveil.audit.verify import verify
from setveil.errors import InfeasibleError
from tests.audit.disassociations import effort, projected, released
from tests.oracle import disassociation as oracle
from tests.proofs import proof

SENSITIVE = {"H", "I"}


def promise(l: int = 2) -> KmAnonymity:
    return KmAnonymity(k=2, m=2, diversity=LDiversity(l=l, sensitive=SENSITIVE))


def certain(clusters, most=2):
    return [found for each in clusters for found in oracle.certainties(each, SENSITIVE, most)]


def release_of(seed: int):
    """The clusters of a release of small random data in which many people have few items."""
    random = Random(seed)
    items = random.choice(("aHIb", "aHb", "aHI", "aH"))
    share = random.choice((0.2, 0.5))
    data = [[item for item in items if random.random() < share] for _ in range(7)]
    method = Disassociation(arrangement=random.choice(("search", 3, 4)))
    release = method.anonymize(
        [record for record in data if record], promise(random.choice((2, 3)))
    )
    return [json.loads(line) for line in release.lines()]


def try_release(seed: int) -> str:
    try:
        clusters = release_of(seed)
    except InfeasibleError:
        return "infeasible"
    if max(map(effort, clusters), default=0) > 9:
        return "left out"
    assert not certain(clusters), (seed, clusters)
    return "tried"


@proof(5_300)
def test_no_known_items_make_a_sensitive_item_certain(seeds):
    assert Counter(map(try_release, seeds))["tried"] >= 0.4 * len(seeds)


def renamed(cluster, names):
    """The same cluster with other names for its items."""
    text = json.dumps(cluster)
    for item, name in names.items():
        text = text.replace(f'"{item}"', f'"{name}"')
    return json.loads(text)


def judge(seed: int) -> str:
    """Compare the verifier with the oracle on a cluster that may break the promise."""
    random = Random(seed)
    clusters, _ = projected(random, 2, 6)
    terms = sorted({term for each in clusters for term in oracle.terms_of(each)})
    chosen = dict(zip(random.sample(terms, min(len(terms), 2)), "HI", strict=False))
    clusters = [renamed(cluster, chosen) for cluster in clusters]
    if not chosen or max(map(effort, clusters)) > 9:
        return "left out"
    if any(not oracle.worlds(cluster) for cluster in clusters):
        return "left out"
    release = released(clusters, LDiversity(l=2, sensitive=SENSITIVE))
    check = {check.name: check for check in verify(release).checks}["l-diversity"]
    if "every record has" not in check.text and not check.holds:
        return "linked"
    assert check.holds == (not certain(clusters, 2)), (seed, clusters)
    return "holds" if check.holds else "certain"


def test_the_verifier_and_the_oracle_agree_what_is_certain():
    kinds = Counter(map(judge, range(600)))
    assert kinds["holds"] >= 30, kinds


@pytest.mark.parametrize(
    ("cluster", "holds"),
    [
        ({"size": 3, "chunks": [], "terms": ["H"]}, False),
        ({"size": 3, "chunks": [], "terms": ["H", "I"]}, True),
        ({"size": 3, "chunks": [], "terms": ["H", "a"]}, True),
        ({"size": 5, "chunks": [[[["a"], 4]]], "terms": ["H"]}, True),
        (
            {
                "shared": [[[["a"], 2]]],
                "parts": [
                    {"size": 3, "chunks": [], "terms": ["H"]},
                    {"size": 3, "chunks": [], "terms": ["I"]},
                ],
            },
            True,
        ),
        (
            {
                "shared": [[[["a"], 3]]],
                "parts": [
                    {"size": 3, "chunks": [], "terms": ["H"]},
                    {"size": 3, "chunks": [], "terms": []},
                ],
            },
            False,
        ),
    ],
)
def test_an_item_that_is_all_a_cluster_can_have_is_not_hidden(cluster, holds):
    verdict = verify(released([cluster], LDiversity(l=2, sensitive=SENSITIVE)))
    assert verdict.holds == holds == (not certain([cluster]))
    if not holds:
        assert verdict.witness.text == "all 3 records of a cluster have H: nothing else is in it"


def test_people_with_only_sensitive_items_are_put_together_with_others():
    data = [["H"]] * 3 + [["a"]] * 3
    done = anonymize(data, k=2, m=2, l=3, sensitive=["H"], method="disassociation")
    assert done.verdict.holds
    assert done.release.lines() == ['{"size":6,"chunks":[[[["a"],3]]],"terms":["H"]}']
    assert done.notes[-1] == (
        "3 records have only sensitive items. An adversary who knows that such a person has none of "
        "the other items of their group learns that they have a sensitive one."
    )
    with pytest.raises(InfeasibleError, match="no record has an item that is not sensitive"):
        anonymize([["H"]] * 3, k=2, m=2, l=3, sensitive=["H"], method="disassociation")


def test_the_limits_say_what_a_missing_item_reveals():
    assert "NONE of the other items of the group" in promise().limits()
