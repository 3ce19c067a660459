"""An adversary who knows columns, against a plain count of candidates in groups."""

from __future__ import annotations

from itertools import combinations
from random import Random

import pytest

from setveil.audit.attack.attack import attack
from setveil.report.attack import report_attack
from tests.audit.grouping import below_of, groups_of, people_of
from tests.oracle.grouped import covers, most
from tests.proofs import proof
from tests.tables import WITHIN, random_release


def fewest(data, release, items, *, columns):
    """The fewest candidates of any person and any so many items."""
    groups, below = groups_of(release, data), below_of(release)
    found = []
    for values, own in people_of(data):
        size = len(own) if items is None else items
        for chosen in combinations(sorted(own), size) if own or items == 0 else ():
            fits = [group for group in groups if not columns or covers(group, values)]
            found.append(sum(most(group, frozenset(chosen), below) for group in fits))
    return min(found, default=None)


@proof(2_000, 40)
def test_candidates_are_those_of_the_oracle(seeds):
    for seed in seeds:
        within = ("generalized", "global", "suppressed")[seed % 3]
        data, release = random_release(Random(seed), within)
        for row in attack(release, data, knows=(1,), trials=2_000, seed=1).rows:
            if row.kind in ("items", "columns") and row.draws:
                expected = fewest(data, release, row.items, columns=row.kind == "columns")
                assert row.fewest == max(expected, 1), (seed, row.knowledge)


def holders(people, values, items, *, columns):
    """How many people have these items, and the same columns if these are known."""
    return sum(set(items) <= own and (not columns or values == v) for v, own in people)


@proof(2_000, 20)
def test_people_are_unique_before_by_columns_and_items_as_in_a_plain_count(seeds):
    for seed in seeds:
        data, release = random_release(Random(seed), WITHIN[seed % 4])
        people = people_of(data)
        for row in attack(release, data, knows=(1,), trials=2_000, seed=1).rows:
            if row.kind not in ("items", "columns") or not row.draws or not row.exact:
                continue
            known = row.kind == "columns"
            shares, chances = [], []
            for values, own in people:
                size = len(own) if row.items is None else row.items
                ways = list(combinations(sorted(own), size)) if own or size == row.items else []
                have = [holders(people, values, chosen, columns=known) for chosen in ways]
                if have:
                    shares.append(sum(each == 1 for each in have) / len(have))
                    chances.append(sum(1 / each for each in have) / len(have))
            assert row.risk.unique_before.value == pytest.approx(sum(shares) / len(shares))
            assert row.risk.unchanged.value == pytest.approx(sum(chances) / len(chances))


@pytest.mark.parametrize("within", WITHIN)
def test_what_the_promise_covers_leaves_k_people(within):
    for seed in range(6):
        data, release = random_release(Random(seed), within, k=2, m=1)
        if within == "suppressed":
            continue
        found = attack(release, data, knows=(1,), trials=500, seed=1)
        assert found.holds, (
            seed,
            [(row.knowledge, row.fewest, row.possible) for row in found.rows],
        )
        known = [row.knowledge for row in found.rows]
        assert known[known.index("all columns") :][:4] == [
            "all columns",
            "all columns and 1 item",
            "all columns and 2 items",
            "all columns and all items",
        ]


def test_the_report_speaks_of_columns():
    data, release = random_release(Random(3), "generalized", most=40)
    text = "\n".join(each.text for each in report_attack(attack(release, data, seed=1)).sections)
    assert "all columns and 2 items" in text
    assert "With what the promise covers" in text


def test_an_adversary_with_columns_never_finds_more():
    for seed in range(10):
        data, release = random_release(Random(seed), WITHIN[seed % 4], most=30)
        rows = {row.knowledge: row for row in attack(release, data, trials=500, seed=2).rows}
        if release.shows_records:
            assert rows["all columns and 2 items"].fewest <= rows["2 items"].fewest
