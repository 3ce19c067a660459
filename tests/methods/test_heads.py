"""The chunks of frequent items against plain definitions."""

from __future__ import annotations

import random
from itertools import combinations

import numpy as np
import pytest

from setveil.kernels.disassociation.annealing import anneal
from setveil.kernels.disassociation.given import Rule
from setveil.kernels.disassociation.heads import charge, find_stayers, settle
from setveil.kernels.itemsets import count_chosen
from tests.oracle import heads as oracle
from tests.proofs import proof


def random_rows(chance: random.Random) -> tuple[list[frozenset[int]], int]:
    items = chance.randint(1, 9)
    weights = [1 / (i + 1) ** chance.choice([0, 0.5, 1]) for i in range(items)]
    sizes = [chance.randint(0, 5) for _ in range(chance.randint(1, 40))]
    return [frozenset(chance.choices(range(items), weights, k=size)) for size in sizes], items


def laid_out(rows: list[frozenset[int]]) -> tuple[np.ndarray, np.ndarray]:
    ptr = np.concatenate(([0], np.cumsum([len(row) for row in rows]))).astype(np.int64)
    return ptr, np.array([item for row in rows for item in sorted(row)], dtype=np.int64)


def random_weights(chance: random.Random) -> tuple[np.ndarray, np.ndarray]:
    """Whole numbers, so that sums do not depend on their order; no weight where a conflict is."""
    size = chance.randint(1, 8)
    weights, conflicts = np.zeros((size, size)), np.zeros((size, size), dtype=bool)
    for a, b in combinations(range(size), 2):
        if chance.random() < 0.3:
            conflicts[a, b] = conflicts[b, a] = True
        elif chance.random() < 0.6:
            weights[a, b] = weights[b, a] = chance.randint(1, 20)
    return weights, conflicts


@proof(20_000)
def test_annealing_is_that_of_the_oracle_and_keeps_conflicts_apart(seeds):
    for seed in seeds:
        chance = random.Random(seed)
        (weights, conflicts), sweeps = random_weights(chance), chance.randint(1, 12)
        found = anneal(weights, conflicts, sweeps).tolist()
        plain = oracle.Annealing(weights.tolist(), conflicts.tolist()).run(sweeps)
        assert found == plain, seed
        for a, b in combinations(range(len(found)), 2):
            assert found[a] != found[b] or not conflicts[a, b], seed


@proof(20_000)
def test_rounding_neither_breaks_annealing_nor_makes_it_use_more_chunks_than_items(seeds):
    for seed in seeds:
        chance = random.Random(seed)
        weights, conflicts = random_weights(chance)
        weights *= chance.random() / 3
        found = anneal(weights, conflicts, chance.randint(1, 130)).tolist()
        assert 0 <= min(found) <= max(found) < len(found), seed
        for a, b in combinations(range(len(found)), 2):
            assert found[a] != found[b] or not conflicts[a, b], seed


def test_annealing_finds_the_best_chunks_of_few_items():
    """In nearly all of 300 cases; the best is found by trying all."""
    hits = 0
    for seed in range(300):
        weights, conflicts = random_weights(random.Random(seed))
        size = min(len(weights), 6)
        weights, conflicts = weights[:size, :size].copy(), conflicts[:size, :size].copy()
        found = anneal(weights, conflicts, 60)
        kept = sum(weights[a, b] for a, b in combinations(range(size), 2) if found[a] == found[b])
        hits += kept == best_kept(weights, conflicts, [])
    assert hits >= 290


def best_kept(weights: np.ndarray, conflicts: np.ndarray, chunks: list[list[int]]) -> float:
    item = sum(map(len, chunks))
    if item == len(weights):
        return sum(weights[a, b] for chunk in chunks for a, b in combinations(chunk, 2))
    found = 0.0
    for number, chunk in enumerate([*chunks, []]):
        if not any(conflicts[item, other] for other in chunk):
            more = [*chunks, []] if number == len(chunks) else list(chunks)
            more[number] = [*chunk, item]
            found = max(found, best_kept(weights, conflicts, more))
    return found


@proof(20_000)
def test_settled_chunks_are_those_of_the_oracle_and_anonymous(seeds):
    for seed in seeds:
        chance = random.Random(seed)
        rows, items = random_rows(chance)
        k, m, longest = chance.randint(2, 4), chance.randint(1, 3), chance.choice([0, 0, 1, 2, 3])
        wanted = [chance.randint(0, chance.choice([0, min(2, items), items])) for _ in range(items)]
        rule = Rule(k, m, np.zeros(items, dtype=bool), longest)
        found = settle(*laid_out(rows), np.array(wanted, dtype=np.int64), rule).tolist()
        chunks: dict[int, set[int]] = {}
        for item, number in enumerate(found):
            if number >= 0:
                chunks.setdefault(number, set()).add(item)
        assert [chunks[number] for number in range(len(chunks))] == oracle.settle(
            rows, wanted, k, m, longest
        ), seed
        for domain in chunks.values():
            assert oracle.is_safe([row & domain for row in rows], k, m, longest), seed


def count_together(ptr, occurrences, items):
    return count_chosen(ptr, occurrences, np.zeros(0, dtype=np.int64), np.arange(items + 1))


@proof(20_000)
def test_the_records_that_stay_and_the_price_of_leaving_are_those_of_the_oracle(seeds):
    left = 0
    for seed in seeds:
        chance = random.Random(seed)
        (rows, items), k, m = random_rows(chance), chance.randint(2, 4), chance.randint(2, 3)
        rule = Rule(k, m, np.zeros(items, dtype=bool))
        most = min(2, items)  # numbers of chunks are up to that of the items
        laid, chunk = laid_out(rows), [chance.randint(-1, most) for _ in range(items)]
        together = count_together(*laid, items)
        stays = find_stayers(*laid, np.array(chunk, dtype=np.int64), together, rule).tolist()
        assert stays == oracle.stayers(rows, chunk, k, m), seed
        left += 0 < sum(stays) < len(stays)
        cost, _ = random_weights(chance)
        cost = np.pad(cost, (0, items))[:items, :items].copy()
        cost *= 3  # so that a third is a whole number, and sums do not depend on their order
        found = charge(*laid, together, cost, rule).tolist()
        assert found == oracle.charges(rows, cost.tolist(), k, m), seed
    assert left > len(seeds) / 4


@pytest.mark.parametrize(("links", "staying"), [(50, 2), (150, 0)])
def test_no_record_stays_if_finding_them_takes_too_long(links, staying):
    """A chain: the pairs of each record are also in the next one, and each pass drops the last."""
    rows = [frozenset(range(2 * link, 2 * link + 4)) for link in range(links)]
    rows += [frozenset({2 * links + 2, 2 * links + 3})] * 2
    items = 2 * links + 4
    chunk = np.array([item // 2 % 2 for item in range(items)], dtype=np.int64)
    rows[:1] = [frozenset({2, 3})]  # the first pair would occur once
    rows[links - 1 : links] = [rows[links - 1] - {2 * links, 2 * links + 1} | {0, 1}]
    laid = laid_out(rows)
    rule = Rule(2, 2, np.zeros(items, dtype=bool))
    stays = find_stayers(*laid, chunk, count_together(*laid, items), rule)
    assert stays.sum() == staying


@proof(20_000)
def test_pairs_are_counted(seeds):
    for seed in seeds:
        chance = random.Random(seed)
        rows, items = random_rows(chance)
        ptr, occurrences = laid_out(rows)
        together = count_together(ptr, occurrences, items)
        for a, b in combinations(range(items), 2):
            assert together[a, b] == together[b, a] == sum({a, b} <= row for row in rows), seed
        assert together.diagonal().tolist() == [
            sum(item in row for row in rows) for item in range(items)
        ]
