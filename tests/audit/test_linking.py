"""What can be linked in disassociated data is a piece, as likely as over all placements."""

from __future__ import annotations

from itertools import combinations
from random import Random

import pytest

import setveil as sv
from setveil.audit.attack.attack import view_of
from tests.audit.disassociations import invented, projected, released
from tests.oracle import disassociation, linking

KM = sv.KmAnonymity(k=2, m=2)


def seen(clusters, promise=KM):
    """A release of these clusters as an adversary sees it, and the numbers of its items."""
    release = released(clusters, promise)
    data = sv.Transactions.of([list(release.items)] * len(release))
    return view_of(release, data), data.vocabulary.numbers


def test_the_smaller_cluster_gives_the_likelier_pieces():
    """Known a and b: 3 records are expected in the cluster of 3, and 0.3 in the cluster of 30."""
    clusters = [
        {"size": size, "chunks": [[[["a"], 3]], [[["b"], 3]]], "terms": ["x"]} for size in (3, 30)
    ]
    view, number = seen(clusters)
    known = tuple(sorted((number["a"], number["b"])))
    assert view.expected(known) == pytest.approx(3.3)
    assert 1 / view.candidates(known) == pytest.approx(0.303, abs=0.0005)  # not 1/6
    small, large = ([cluster, {"size": 9, "chunks": [], "terms": ["c"]}] for cluster in clusters)
    assert [seen(one)[0].candidates(known) for one in (small, large)] == [3, 3]


def test_an_item_without_counts_leads_to_a_record_of_its_cluster():
    view, number = seen([{"size": 7, "chunks": [[[["a"], 2]]], "terms": ["x"]}])
    assert view.candidates((number["x"],)) == 7
    assert view.candidates((number["a"],)) == 2
    assert view.candidates((number["a"], number["x"])) == 2  # the pieces of a; x has none


def test_in_overlaid_chunks_only_pieces_that_are_allowed_count():
    """Part 1 lists y itself, so {x, y} is in part 2 for certain, and likelier than an {x}."""
    parts = [
        {"size": 3, "chunks": [[[["y"], 3]]], "terms": []},
        {"size": 2, "chunks": [], "terms": ["z"]},
    ]
    clusters = [{"shared": [[[["x"], 2], [["x", "y"], 1]]], "parts": parts}]
    view, number = seen(clusters)
    assert view.linking.overlaid
    known = (number["x"], number["z"])
    found = linking.linked(clusters, linking.profiles(clusters), ["x", "z"])
    assert 1 / view.candidates(known) == pytest.approx(float(found[1]))
    assert 1 / view.candidates(known) > 1 / 3


def tiny(seed, most):
    """Two or three clusters with few placements, some of them joint; None if there are no
    originals."""
    rng, clusters = Random(seed), []
    number = rng.choice((2, 3))
    while len(clusters) < number:
        careful = rng.random() < 0.5
        some = projected(rng, 2, 6)[0] if seed % 2 else invented(rng, 2, careful=careful)
        clusters += [
            one for one in some if not disassociation.is_void(one) and linking.effort([one]) <= most
        ]
    clusters = clusters[:number]
    found = linking.profiles(clusters)
    ok = not disassociation.faults(clusters) and len({one[0] for one in found}) == number
    return (clusters, found) if ok else None


def compare(seed, clusters, found):
    """Compare the chances of all sets of up to three known items, and with one that is lacking."""
    view, number = seen(clusters)
    items = sorted(number)
    rng, compared = Random(seed), 0
    for known in [known for size in (1, 2, 3) for known in combinations(items, size)]:
        numbers = tuple(sorted(number[item] for item in known))
        truth = linking.linked(clusters, found, known)
        assert view.expected(numbers) == pytest.approx(float(truth[0]) if truth else 0, abs=1e-9)
        for lacking in [(), *([rng.choice(items)],) * (len(known) < 3)]:
            truth = linking.linked(clusters, found, known, lacking)
            if truth is not None and not set(lacking) & set(known):
                chance = 1 / view.candidates(numbers, tuple(number[item] for item in lacking))
                assert chance == pytest.approx(float(truth[1]), abs=1e-8), (seed, known, lacking)
                compared += 1
    return compared, bool(view.linking.overlaid)


def judged(releases, most):
    """Compare so many releases; how many sets were compared, and how many releases were joint and
    had overlaid chunks."""
    sets = joint = overlaid = done = seed = 0
    while done < releases:
        seed += 1
        made = tiny(seed, most)
        if made is not None:
            compared, has_overlaid = compare(seed, *made)
            joint += any("parts" in one for one in made[0])
            sets, overlaid, done = sets + compared, overlaid + has_overlaid, done + 1
    return sets, joint, overlaid


def test_the_chance_of_the_likeliest_piece_is_that_over_all_placements():
    sets, joint, overlaid = judged(200, 120)
    assert sets > 3_000
    assert joint > 80
    assert overlaid > 40


@pytest.mark.proof
def test_five_thousand_releases_agree_with_all_their_placements():
    sets, joint, overlaid = judged(5_000, 2_000)
    assert sets > 100_000
    assert joint > 2_000
    assert overlaid > 1_000


@pytest.mark.parametrize("k", [2, 3])
def test_within_a_promise_that_holds_no_piece_is_likelier_than_one_in_k(k):
    """Also over the placements that leave no record empty, if there are few placements."""
    verified = overlaid = 0
    for seed in range(160):
        rng = Random(seed)
        clusters = invented(rng, k, careful=True) if seed % 2 else projected(rng, k, 9)[0]
        promise = sv.KmAnonymity(k=k, m=2)
        if not sv.verify(released(clusters, promise)).holds:
            continue
        view, number = seen(clusters, promise)
        few = linking.effort(clusters) <= 200
        full = linking.profiles(clusters, no_empty=True) if few else None
        for known in [known for size in (1, 2) for known in combinations(sorted(number), size)]:
            numbers = tuple(sorted(number[item] for item in known))
            if view.expected(numbers) > 1e-12:
                assert view.candidates(numbers) >= k - 1e-6
            truth = None if full is None else linking.linked(clusters, full, known)
            assert truth is None or truth[1] * k <= 1
        verified, overlaid = verified + 1, overlaid + bool(view.linking.overlaid)
    assert verified > 20
    assert overlaid > 3


def test_a_chunk_with_too_many_placements_is_close_to_the_exact_chance(monkeypatch):
    parts = [
        {"size": 12, "chunks": [[[["y"], 3]]], "terms": []},
        {"size": 9, "chunks": [[[["w"], 3]]], "terms": []},
        {"size": 8, "chunks": [], "terms": ["z"]},
    ]
    shared = [[["x"], 4], [["x", "y"], 3], [["w", "x"], 3]]
    clusters = [{"shared": [shared], "parts": parts}]
    exact, number = seen(clusters)
    monkeypatch.setattr("setveil.audit.attack.linking._MOST_STATES", 1)
    close = seen(clusters)[0]
    for known in ("x", "xy", "xz", "wx"):
        numbers = tuple(sorted(number[item] for item in known))
        assert close.candidates(numbers) == pytest.approx(exact.candidates(numbers), rel=0.02)
