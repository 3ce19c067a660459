"""The choice between small clusters and head chunks above them: brute force, plain definitions."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from functools import partial
from itertools import combinations
from math import exp

import numpy as np
import pytest

from setveil.audit import verify
from setveil.data.generate import quest
from setveil.data.transactions import Transactions
from setveil.engines.local import Local
from setveil.errors import InfeasibleError, ParameterError
from setveil.kernels.disassociation.given import Rule
from setveil.methods.disassociation import Disassociation
from setveil.methods.disassociation.arranging import Arranger
from setveil.methods.disassociation.choosing import (
    Above,
    Found,
    head_kinds,
    judge_all,
    judge_clusters,
    take_best,
)
from setveil.methods.disassociation.head import Arranged, Head, Piece
from setveil.methods.disassociation.judging import Judge, Judged, Scope, Targets
from setveil.methods.disassociation.layers import Way, lay
from setveil.methods.disassociation.partitioning import Clusters, canonical_order, verpart
from setveil.methods.disassociation.refine import assemble, no_joints
from setveil.methods.disassociation.sketches import Divided, Layers
from setveil.promises import KmAnonymity, LDiversity
from setveil.published.disassociated.canonical import together
from setveil.published.disassociated.supports import SupportIndex
from tests.oracle import disassociation as worlds
from tests.oracle import inference
from tests.proofs import proof

KINDS = ("joined", "beside", "parts", "left", "bare", "hubs", "again")


def random_data(chance: random.Random, most: int = 60) -> Transactions:
    items = chance.randint(2, 14)
    weights = [1 / (i + 1) ** chance.choice([0, 0.5, 1]) for i in range(items)]
    sizes = [chance.randint(1, 6) for _ in range(chance.randint(4, most))]
    return Transactions.of(
        [set(chance.choices(range(10, 10 + items), weights, k=s)) for s in sizes]
    )


def taking(choose):
    """A search that takes what a function chooses."""
    return lambda small, way, others: [Found("head", lambda: choose(small, way))]


def data_numbers(data: Transactions) -> list[list[int]]:
    bounds = data.indptr.tolist()
    return [data.items[a:b].tolist() for a, b in zip(bounds, bounds[1:], strict=False)]


class Forced:
    """A choice that always takes head chunks, with few items in the head, small clusters below and
    a random one of the arrangements; `kinds` counts what came out."""

    def __init__(self, chance: random.Random, limit: int | None = None) -> None:
        self.chance, self.limit, self.kinds = chance, limit, Counter[str]()

    def __call__(self, small: Divided, way: Way) -> Divided:
        chance, k = self.chance, way.rule.k
        many = [1, 1, 2, 4] if self.limit is not None else [1, 4, 12, 30]
        scope = Scope(chance.choice(many), 1, chance.randint(0, 2))
        judge = Judge(small.clusters.rows, scope)
        judge.count()
        clusters, targets = judge.small(small), judge.targets
        if chance.random() < 0.5:  # without those that tie for the last rank
            best = np.argsort(-targets.supports, kind="stable")[: scope.many]
            targets = Targets(*(each[best] for each in targets))
            below = None
        else:
            below = partial(judge.kept, clusters)
        made = Head(small.clusters.rows, targets, way.rule, below)
        pieces = self.pieces(made, k)
        low, high = (sum(each) for each in zip(*(piece[3:] for piece in pieces), strict=True))
        assert (low <= made._targets.supports).all()
        assert (made._targets.supports <= high).all()
        arranged = made._arranged(pieces)
        cut = arranged.part, arranged.chunks
        limit = chance.randint(k + 1, 6 * k) if self.limit is None else self.limit
        layers = lay(small.clusters, arranged, way._replace(limit=limit))
        self.note(small, arranged, layers)
        found = judge.of_layers(layers, clusters, *cut)
        if all(len(below.clusters) > 1 for below in layers.below):  # else chunks are beside others
            expected = judge.of_clusters(layers.divided)
            assert without_triples(found) == pytest.approx(without_triples(expected))
        return layers.divided

    def pieces(self, made: Head, k: int) -> list[Piece]:
        """All records, those that stay and those that leave, once or twice, parts that agree in the
        most frequent items, or any two parts; sometimes without head chunks in one of them."""
        chance, cost = self.chance, made._targets.cost(0.5)
        way, whole = chance.randrange(7), made._all
        pieces = [made._whole(whole, cost)]
        if way in (1, 2):
            splits = [found for work in made._splits(whole, cost) if (found := work())]
            pieces = chance.choice(splits) if splits else pieces
            self.kinds["left"] += len(pieces) > 1
        elif way == 3:
            side = np.array([chance.random() < 0.5 for _ in whole.records])
            if min(side.sum(), (~side).sum()) >= k:
                parts = (made._count(np.flatnonzero(each)) for each in (side, ~side))
                pieces = [made._whole(each, cost) for each in parts]
        elif way == 4:
            pieces = made._by_hubs(chance.choice([1, 2]), cost)
            self.kinds["hubs"] += len(pieces) > 1
        elif way > 4:
            splits = [found for work in made._splits(whole, cost) if (found := work())]
            stay, left = chance.choice([(None, whole), *splits])
            twice = list(made._again(made._count(left.records), (0.0, 0.05, 0.3)))
            if twice:
                pieces = [*([stay] if stay else []), *chance.choice(twice)]
            self.kinds["again"] += len(pieces) > 1
        if chance.random() < 0.2:
            bare = np.full(len(whole.held), -1, dtype=np.int64)
            pieces = [*pieces[:-1], pieces[-1]._replace(chunk=bare)]
        return pieces

    def note(self, small: Divided, arranged: Arranged, layers: Layers) -> None:
        made = layers.divided
        place = np.argsort(small.clusters.origin)[
            np.searchsorted(np.sort(small.clusters.origin), made.clusters.origin)
        ]
        rows = made.clusters.rows
        head = arranged.chunks[arranged.part[place][rows.rows], rows.items] >= 0
        joined = bool((made.joints.shared[head] >= 0).any())
        self.kinds["joined" if joined else "beside" if head.any() else "no head"] += 1
        self.kinds["parts"] += len(arranged.chunks) > 1
        self.kinds["bare"] += 0 < (arranged.chunks >= 0).any(axis=1).sum() < len(arranged.chunks)


@pytest.fixture(autouse=True)
def _low_prices(monkeypatch):
    """So that records leave small data too."""
    monkeypatch.setattr(
        "setveil.methods.disassociation.head.PRICES", dict.fromkeys((2, 3), (0.0, 0.05, 0.3))
    )


def without_triples(judged: Judged) -> tuple[float, ...]:
    """Without what depends on triples: clusters count those of shared chunks where they are."""
    return tuple(judged._replace(triples=0.0, lost=0.0))


def tiny_record(chance: random.Random, seed: int, number: int) -> list[str]:
    """Up to three items; every other seed gives frequent ones, and rarer ones by which the records
    fall into clusters."""
    if seed % 2:
        return chance.sample("abcde", chance.randint(1, 3))
    frequent = [item for item in "ab" if chance.random() < 0.7]
    return [*frequent, "cd"[number % 2], *(["e"] if chance.random() < 0.2 else [])]


@proof(20_000)
def test_brute_force_over_all_worlds_finds_no_violation_below_head_chunks(seeds, monkeypatch):
    kinds: Counter[str] = Counter()
    for seed in seeds:
        chance = random.Random(seed)
        k, m = chance.choice([2, 2, 2, 3]), chance.choice([2, 2, 3])
        size = chance.choice([4, 4, 5]) if k == 2 else 3
        data = Transactions.of(tiny_record(chance, seed, number) for number in range(size))
        forced = Forced(chance, limit=k + 1)
        monkeypatch.setattr("setveil.methods.disassociation.arranging.judge_all", taking(forced))
        release = Disassociation().anonymize(data, KmAnonymity(k=k, m=m))
        kinds += forced.kinds
        assert verify(release, data).holds, seed
        clusters = [cluster.to_json() for cluster in release.clusters()]
        assert not worlds.violations(clusters, k, m), (seed, clusters)
    often = set(KINDS) - {"again"}  # so few records leave again in one case of 200
    assert min(kinds[kind] for kind in often) > len(seeds) / 200


def test_records_of_a_part_agree_in_the_most_frequent_items_and_none_is_lost():
    split = 0
    for seed in range(300):
        chance = random.Random(seed)
        data, k, hubs = random_data(chance, 120), chance.randint(2, 4), chance.choice([1, 2, 3])
        judge = Judge(data, Scope(12, 2, 2))
        judge.count()
        head = Head(data, judge.targets, Rule(k, 2, np.zeros(len(data.vocabulary), dtype=bool)))
        most = head._items[:hubs].tolist()
        had = [frozenset(row).intersection(most) for row in data_numbers(data)]
        sizes = Counter(had)
        pieces = head._by_hubs(hubs, head._targets.cost(0.5))
        records = np.concatenate([piece.records for piece in pieces]).tolist()
        assert sorted(records) == list(range(len(data))), seed
        for piece in pieces:
            found = {had[record] for record in piece.records.tolist()}
            assert len(piece.records) >= min(k, len(data)), seed
            whole = [each for each in found if sizes[each] >= k]
            assert len(whole) <= 1, seed  # too few others may be with the most
            assert whole in ([], [*found]) or sizes[whole[0]] == max(sizes.values()), seed
        split += len(pieces) > 2
    assert split > 100


@proof(20_000)
def test_head_chunks_verify_on_larger_data(seeds, monkeypatch):
    kinds: Counter[str] = Counter()
    for seed in seeds:
        chance = random.Random(seed)
        data, k, forced = random_data(chance, 120), chance.randint(2, 4), Forced(chance)
        monkeypatch.setattr("setveil.methods.disassociation.arranging.judge_all", taking(forced))
        longest = chance.choice([None, None, 1, 2])
        release = Disassociation(max_subrecord=longest).anonymize(
            data, KmAnonymity(k=k, m=chance.choice([2, 2, 3]))
        )
        kinds += forced.kinds
        assert verify(release, data).holds, seed
        assert longest is None or release.subrecords.lengths.max(initial=0) <= longest
    assert min(kinds[kind] for kind in KINDS) > len(seeds) / 50


@proof(20_000)
def test_the_choice_verifies_when_few_pairs_are_judged(seeds, monkeypatch):
    """The default, with all its guards, on data where head chunks are often the better choice."""
    taken = 0
    for seed in seeds:
        chance = random.Random(seed)
        data, k = random_data(chance, 120), chance.randint(2, 4)
        scope = Scope(chance.randint(2, 12), 2, chance.randint(0, 3))
        made: list[bool] = []

        def choose(small, way, scope=scope, made=made):
            judge = Judge(small.clusters.rows, scope)
            judge.count()
            heads = Above(small, way._replace(judge=judge)).lay(head_kinds(way.rule.m))
            best = take_best([judge_clusters("small", judge, small), *heads])
            made.append(best.kind != "small")
            return best.divided

        monkeypatch.setattr("setveil.methods.disassociation.arranging.judge_all", taking(choose))
        sensitive = chance.random() < 0.2
        diversity = LDiversity(l=2, sensitive=[data.vocabulary[0]]) if sensitive else None
        promise = KmAnonymity(k=k, m=chance.choice([1, 2, 2, 3]), diversity=diversity)
        try:
            release = Disassociation().anonymize(data, promise)
        except InfeasibleError:
            assert sensitive, seed
            continue
        assert not (made and sensitive), seed
        taken += any(made)
        assert verify(release, data).holds, seed
    assert taken > len(seeds) / 20


WORDS = ("search", "search", "small", "head", "hubs", 4, "all", "safe", "paper")


@proof(20_000)
def test_brute_force_over_all_worlds_finds_no_violation_in_any_arrangement(seeds):
    """A release that says that it is safe is, exactly, also if the search took it."""
    taken: Counter[bool] = Counter()
    for seed in seeds:
        chance = random.Random(seed)
        k, kind = chance.choice([2, 2, 2, 3]), chance.choice(WORDS)
        m = 2 if kind == "hubs" else chance.choice([2, 2, 3])
        size = chance.choice([4, 4, 5]) if k == 2 else 3
        data = Transactions.of(tiny_record(chance, seed, number) for number in range(size))
        release = Disassociation(arrangement=kind).anonymize(data, KmAnonymity(k=k, m=m))
        assert verify(release, data).holds, seed
        clusters = [cluster.to_json() for cluster in release.clusters()]
        assert not worlds.violations(clusters, k, m), (seed, clusters)
        taken[release.is_safe] += kind == "search"
        if release.is_safe:
            assert not inference.violations(clusters, k, m), (seed, clusters)
    assert taken[True] > len(seeds) / 20


@proof(20_000)
def test_the_default_verifies(seeds):
    for seed in seeds:
        chance = random.Random(seed)
        data, k = random_data(chance, 120), chance.randint(2, 4)
        release = Disassociation(share_lost=chance.random() < 0.3).anonymize(
            data, KmAnonymity(k=k, m=chance.choice([1, 2, 3, 4, "all"]))
        )
        assert verify(release, data).holds, seed


@proof(20_000)
def test_expected_supports_are_those_of_the_definition(seeds):
    for seed in seeds:
        chance = random.Random(seed)
        data, k = random_data(chance), chance.randint(2, 4)
        rows = data.take(canonical_order(data))
        cuts = sorted({0, len(rows), *(chance.randint(1, len(rows)) for _ in range(2))})
        clusters = Clusters(rows, np.arange(len(rows)), np.array(cuts))
        rule = Rule(k, 2, np.zeros(len(rows.vocabulary), dtype=bool))
        chunks, judge = verpart(clusters, rule), Judge(rows, Scope(), k=k)
        judge.count()
        divided = Divided(clusters, chunks, no_joints(clusters))
        found = judge.of_clusters(divided)
        items, pairs, triples, top = plain_errors(clusters, chunks, k)
        assert (found.items, found.pairs) == (pytest.approx(items), pytest.approx(pairs)), seed
        assert found.head == pytest.approx(found.pairs) or len(rows.vocabulary) > 14
        assert (found.triples, found.top) == (pytest.approx(triples), pytest.approx(top)), seed
        assert judge.pairs_of(judge.small(divided)) == pytest.approx(pairs), seed


@proof(20_000, quick=300)  # some kinds are rare
def test_the_judge_expects_of_frequent_pairs_what_a_release_leads_one_to_expect(seeds, monkeypatch):
    """Of every kind of arrangement, shared chunks and head chunks included."""
    tried: Counter[object] = Counter()
    for seed in seeds:
        chance = random.Random(seed)
        data, k = random_data(chance, 120), chance.randint(2, 4)
        kind = chance.choice(["small", "head", "hubs", k + 1, 20, "all", "safe"])
        method = Disassociation(arrangement=kind, share_lost=kind != "safe" and seed % 3 == 0)
        made: list[Divided] = []

        def noted(records, clusters, chunks, joints, *given, made=made):
            made.append(Divided(clusters, chunks, joints))
            return assemble(records, clusters, chunks, joints, *given)

        monkeypatch.setattr("setveil.methods.disassociation.method.assemble", noted)
        few = Scope(chance.choice([1, 3, 8]), 1, 0)  # so that something is left below the head
        monkeypatch.setattr("setveil.methods.disassociation.choosing.Scope", lambda few=few: few)
        index = SupportIndex.of(method.anonymize(data, KmAnonymity(k=k, m=2)))
        judge = Judge(made[0].clusters.rows, Scope(), k=k)
        judge.count()
        targets, names = judge.targets, data.vocabulary.labels
        ends = zip(targets.first.tolist(), targets.second.tolist(), strict=True)
        expected = [index.expected((names[one], names[other])) for one, other in ends]
        error, _, _ = targets.errors(np.array(expected))
        assert judge.pairs_of(judge.small(made[0])) == pytest.approx(error), (seed, kind)
        tried[kind if made[0].joints.shared.max(initial=-1) >= 0 else "nothing shared"] += 1
    assert min(tried[kind] for kind in ("small", "head", "hubs", 20)) > len(seeds) / 200


def plain_errors(clusters: Clusters, chunks, k: int) -> tuple[float, float, float, float]:
    """The average errors of all items, pairs and triples that occur, and of all pairs, as re_top
    measures them."""
    rows, at = data_numbers(clusters.rows), 0
    truth = Counter(
        frozenset(some) for row in rows for n in (1, 2, 3) for some in combinations(row, n)
    )
    expected: Counter = Counter()
    for start, stop in zip(clusters.bounds.tolist(), clusters.bounds[1:].tolist(), strict=False):
        chunk: dict[int, int] = {}
        for row in rows[start:stop]:
            for item in row:
                chunk[item] = int(chunks.chunk[at])
                at += 1
        here, listed = rows[start:stop], plain_listed(chunk, k, stop - start)
        for n in (1, 2, 3):
            for some in combinations(sorted(chunk), n):
                terms = listed if n > 1 else 1  # of single items what is certain is judged
                expected[frozenset(some)] += plain_support(some, chunk, here, terms)
    errors: list[list[float]] = [[], [], []]
    for itemset, support in truth.items():
        errors[len(itemset) - 1].append(abs(expected[itemset] - support) / support)
    return (*(sum(each) / max(len(each), 1) for each in errors), plain_top(truth, expected))


def plain_listed(chunk: dict[int, int], k: int, size: int) -> float:
    """In how many records an item of the term chunk is expected, by the rule of estimates."""
    terms = sum(number < 0 for number in chunk.values())
    further = 0.1 * (k - 2) * min((len(chunk) - terms) / max(terms, 1), 1) ** 0.3
    again = further / (1 + further)  # the chance of another record, up to k - 1 or all
    return sum(again**more for more in range(min(k - 1, size)))


def plain_support(
    itemset: tuple[int, ...], chunk: dict[int, int], rows: list[list[int]], listed: float
) -> float:
    """The expected support in one cluster: pieces of the itemset are independent."""
    pieces: dict[object, set[int]] = {}
    for item in itemset:
        pieces.setdefault(chunk[item] if chunk[item] >= 0 else ("alone", item), set()).add(item)
    support = float(len(rows))
    for key, piece in pieces.items():
        inside = sum(piece <= set(row) for row in rows)
        support *= (listed if isinstance(key, tuple) else inside) / len(rows)
    return support


def plain_top(truth: Counter, expected: Counter) -> float:
    items = sorted(next(iter(one)) for one in truth if len(one) == 1)
    total = weight = 0.0
    for pair in map(frozenset, combinations(items, 2)):
        seen = 1 if truth[pair] else 1 - exp(-expected[pair])
        if seen:
            error = abs(truth[pair] - expected[pair]) / ((truth[pair] + expected[pair]) / 2)
            total, weight = total + seen * error, weight + seen
    return total / weight if weight else 0.0


def test_the_most_frequent_pairs_and_triples_are_listed_with_all_ties():
    from setveil.kernels.disassociation.frequent import frequent_pairs

    for seed in range(60):
        data = random_data(random.Random(seed))
        rows, items = data_numbers(data), data.supports()
        truth = Counter(pair for row in rows for pair in combinations(sorted(row), 2))
        starts, order = (
            np.concatenate(([0], np.cumsum(items))),
            np.argsort(data.items, kind="stable"),
        )
        top = items >= np.sort(items)[-2]
        counts = sorted(truth.values(), reverse=True)
        least = counts[4] if len(counts) >= 5 else 1
        asked = 5, random.Random(seed).randint(1, least)
        found, bar = frequent_pairs(data.indptr, data.items, (starts, data.rows[order]), asked, top)
        firsts = np.repeat(np.arange(len(items)), np.diff(found.first)).tolist()
        listed = dict(
            zip(
                zip(firsts, found.second.tolist(), strict=True),
                found.supports.tolist(),
                strict=True,
            )
        )
        wanted = {pair for pair in truth if truth[pair] >= least}
        wanted |= set(combinations(np.flatnonzero(top).tolist(), 2))
        assert bar == least, seed
        assert listed == {pair: truth[pair] for pair in wanted}, seed


def test_rare_long_pieces_are_pointed_out():
    chance = random.Random(3)
    data = [
        [str(item) for item in range(40) if chance.random() < 0.5 / (item + 1) ** 0.6] or ["0"]
        for _ in range(4_000)
    ]
    release = Disassociation().anonymize(data, KmAnonymity(k=10, m=2))
    counts = [
        count
        for cluster in release.clusters()
        for chunk in cluster.chunks
        for piece, count in chunk.items()
        if len(piece) > 2 and count < 10
    ]
    assert f"{sum(counts):,} pieces of records show 3 or more items" in release.caution
    assert "{max_subrecord=2}" in release.caution
    for options in ({"max_subrecord": 2}, {"arrangement": 59}):
        small = Disassociation(**options).anonymize(data, KmAnonymity(k=10, m=2))
        assert small.caution == "", options


def test_frequent_pairs_are_kept_where_small_clusters_lose_them():
    from setveil.metrics import measure

    chance = random.Random(3)
    data = Transactions.of(
        [str(item) for item in range(40) if chance.random() < 0.5 / (item + 1) ** 0.6] or ["0"]
        for _ in range(4_000)
    )
    promise = KmAnonymity(k=10, m=2)
    small = measure(Disassociation(arrangement=59).anonymize(data, promise), data, ["pair_error"])
    release = Disassociation().anonymize(data, promise)
    assert verify(release, data).holds
    own = measure(release, data, ["pair_error"])
    assert own["pair_error"] < 0.65 * small["pair_error"]


def test_head_chunks_do_not_depend_on_the_order_of_the_records_or_on_threads(monkeypatch):
    monkeypatch.setattr(Arranger, "_others", lambda *given: [])
    chance = random.Random(3)
    data = Transactions.of(
        [str(item) for item in range(40) if chance.random() < 0.5 / (item + 1) ** 0.6]
        + [str(chance.randint(40, 400))]
        for _ in range(4_000)
    )
    order, promise = chance.sample(range(len(data)), len(data)), KmAnonymity(k=10, m=2)
    one = Disassociation().anonymize(data, promise, engine=Local(1))
    other = Disassociation().anonymize(data.take(order), promise, engine=Local(3))
    assert one == other
    assert int((one.parent < 0).sum()) <= 8  # one joint cluster for each part
    assert int((one.parent >= 0).sum()) > 8


def test_sensitive_items_keep_their_small_clusters():
    data = quest(500, items=30, average_length=4, patterns=10, seed=1)
    promise = KmAnonymity(k=3, m=2, diversity=LDiversity(l=3, sensitive=[data.vocabulary[0]]))
    small = Disassociation(arrangement=17).anonymize(data, promise)
    assert Disassociation().anonymize(data, promise).lines() == small.lines()


def test_the_length_of_subrecords_can_be_bounded():
    data = quest(2_000, items=40, average_length=8, patterns=10, seed=5)
    for options in ({}, {"arrangement": 29}, {"arrangement": "paper"}):
        for m in (2, 3):
            promise = KmAnonymity(k=5, m=m)
            free = Disassociation(**options).anonymize(data, promise)
            bound = Disassociation(max_subrecord=2, **options).anonymize(data, promise)
            assert free.subrecords.lengths.max() > 2 >= bound.subrecords.lengths.max()
            assert verify(bound, data).holds
    with pytest.raises(ParameterError, match="max_subrecord"):
        Disassociation(max_subrecord=0)


def test_frequent_pairs_of_very_long_records_are_found_in_some_and_counted_in_all(monkeypatch):
    data = quest(3_000, items=60, average_length=12, patterns=10, seed=5)
    whole = Judge(data, Scope(50, 10, 5))
    whole.count()
    monkeypatch.setattr("setveil.methods.disassociation.judging.MOST_WORK", whole.work / 3)
    some = Judge(data, Scope(50, 10, 5))
    some.count()
    kept = dict.fromkeys(zip(*map(np.ndarray.tolist, whole.targets[:3]), strict=True))
    found = dict.fromkeys(zip(*map(np.ndarray.tolist, some.targets[:3]), strict=True))
    assert len(kept.keys() & found.keys()) > 0.9 * len(kept)
    release = Disassociation().anonymize(data, KmAnonymity(k=3, m=2))
    assert verify(release, data).holds


def people_with_tastes(chance: random.Random, people: int = 400) -> Transactions:
    """People of four groups of taste with long lists, which small clusters cut apart."""
    return Transactions.of(
        {f"{chance.randrange(4)}-{int(chance.paretovariate(0.6)) % 60}" for _ in range(12)}
        | {f"{person % 4}-{int(chance.paretovariate(0.6)) % 60}" for _ in range(25)}
        for person in range(people)
    )


def test_the_default_is_as_good_as_the_best_arrangement_of_long_records():
    from setveil.metrics import measure

    promise, others = KmAnonymity(k=5, m=2), ({"arrangement": 29}, {"arrangement": 100})
    others += ({"arrangement": "all"}, {"arrangement": "safe"})
    for data in (
        people_with_tastes(random.Random(1)),
        quest(2_000, items=200, average_length=25, patterns=60, seed=2),
        quest(1_500, items=500, average_length=45, patterns=60, seed=3),
    ):
        errors = [
            measure(Disassociation(**each).anonymize(data, promise), data, ["pair_error"])
            for each in ({}, *others)
        ]
        own, *rest = (each["pair_error"] for each in errors)
        assert own <= max(1.15 * min(rest), min(rest) + 0.01)


def test_a_safe_arrangement_is_taken_if_it_costs_nothing():
    data = quest(800, items=20, average_length=4, patterns=5, seed=1)
    release = Disassociation().anonymize(data, KmAnonymity(k=3, m=2))
    safe = Disassociation(arrangement="safe").anonymize(data, KmAnonymity(k=3, m=2))
    assert (release.is_safe, release.lines()) == (True, safe.lines())
    assert "at most" in release.describe()
    assert verify(release, data).holds
    parts = Disassociation(max_part=400).anonymize(data, KmAnonymity(k=3, m=2))
    assert not parts.is_safe
    assert verify(parts, data).holds


def test_a_remark_says_which_arrangement_was_taken():
    data, method = people_with_tastes(random.Random(1)), Disassociation()
    release = method.anonymize(data, KmAnonymity(k=5, m=2))
    small = Disassociation(arrangement=29).anonymize(data, KmAnonymity(k=5, m=2))
    said = {"": method.remark(small)}
    for kind in ("small", "head", "hubs", "100", "all"):
        said[kind] = method.remark(replace(small, taken=kind))
    assert said[""] == ""
    assert len(set(said.values())) == len(said)
    assert "clusters of at most 100 records" in said["100"]
    assert release.is_safe == (release.taken == "safe")
    assert bool(method.remark(release)) is bool(release.taken) is True
    assert together([release, release]).taken == ""


def test_a_safe_arrangement_is_taken_up_to_a_tenth_above_the_least_error():
    def found(kind, pairs: float, rest: float = 0.1) -> Found:
        return Found(kind, dict, pairs, lambda _: Judged(rest, pairs, *[rest] * 5))

    for least, safe, taken in (
        (0.100, 0.109, "safe"),
        (0.100, 0.112, "small"),
        (0.001, 0.0059, "safe"),
        (0.001, 0.0061, "small"),
    ):
        made = [found("small", least), found(100, 2 * least + 0.1), found("safe", safe, 0.2)]
        assert take_best(made).kind == taken
        assert take_best(made, prefer_safe=False).kind == "small"


def test_each_kind_can_be_forced_and_verifies():
    data, promise = people_with_tastes(random.Random(3)), KmAnonymity(k=4, m=2)
    made = {}
    for kind in ("small", "head", "hubs", 100, "all", "safe", "paper"):
        release = Disassociation(arrangement=kind).anonymize(data, promise)
        assert verify(release, data).holds, kind
        assert release.is_safe == (kind == "safe")
        made[kind] = release
    assert made["small"] == Disassociation(arrangement=23).anonymize(data, promise)
    assert len(made["all"].sizes) == 1 < len(made["hubs"].sizes)
    assert len({tuple(release.lines()) for release in made.values()}) == len(made)


@pytest.mark.parametrize(
    ("kind", "m", "more", "said"),
    [
        ("head", 4, {}, "it is made for m = 2 and 3"),
        ("hubs", 3, {}, "it is made for m = 2"),
        ("head", 2, {"diversity": LDiversity(l=2, sensitive=["a"])}, "only clusters are made"),
        (1, 2, {}, "it must be at least k = 2"),
    ],
)
def test_an_arrangement_that_there_is_not_for_a_promise_is_refused(kind, m, more, said):
    with pytest.raises(ParameterError, match=said):
        Disassociation(arrangement=kind).anonymize([["a", "b"]] * 9, KmAnonymity(k=2, m=m, **more))


def test_of_many_records_some_show_which_arrangement_is_tried_for_all(monkeypatch):
    data, promise = people_with_tastes(random.Random(2), 600), KmAnonymity(k=5, m=2)
    made: list[int] = []

    def counting(small: Divided, way: Way, others) -> list[Found]:
        found = judge_all(small, way, others)
        made.append(len(found) - 2)
        return found

    monkeypatch.setattr("setveil.methods.disassociation.arranging.judge_all", counting)
    monkeypatch.setattr("setveil.methods.disassociation.arranging.MANY", 300)
    monkeypatch.setattr("setveil.methods.disassociation.arranging.SOME", 200)
    release = Disassociation().anonymize(data, promise)
    assert made[0] > 2 >= made[1] >= 0
    assert verify(release, data).holds
