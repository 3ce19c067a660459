"""Every kernel gives what a plain twin gives: small ones here, the others where they are used."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import setveil.kernels
from setveil.kernels.disassociation.expected import Shown, expect_supports
from setveil.kernels.disassociation.frequent import Pairs, Triples, list_triples
from setveil.kernels.disassociation.given import Block, Given
from setveil.kernels.groups import add_errors, weigh_errors
from setveil.kernels.itemsets import count_chosen, count_pairs
from setveil.kernels.recoding.threats import list_holders
from setveil.kernels.retrieval import BagRows, NearItems, rate_bags
from setveil.kernels.steps import fill_holders
from tests.oracle import kernels as plain

KERNELS = Path(setveil.kernels.__file__).parent
_RELEASE = "methods/test_disassociation::test_the_release_equals_the_oracle_and_verifies"
_EXPECTED = "methods/test_grouping::test_expected_supports_are_those_of_the_definition"
_STAYERS = (
    "methods/test_heads::"
    "test_the_records_that_stay_and_the_price_of_leaving_are_those_of_the_oracle"
)
_TOP = "kernels/test_itemsets::test_the_top_itemsets_are_those_of_the_oracle"
_PARTITION = "methods/test_partition::test_the_release_equals_the_oracle_and_verifies"
_THREATS = "methods/test_hghs::test_the_minimal_threats_are_those_of_the_oracle"
_CUTS = (
    "methods/test_hghs::"
    "test_the_best_search_is_never_cheaper_than_the_optimum_nor_dearer_than_apriori"
)
_PAPER = "methods/test_ssc::test_the_paper_variant_is_what_the_oracle_gives"
_BEST = "methods/test_ssc::test_the_best_variant_is_what_the_oracle_gives"
_MOLES = "methods/test_suppression::test_random_data_against_brute_force"
_HERE = "kernels/test_twins::"

WHERE = {
    "closed.mine_closed": _TOP,
    "disassociation.annealing.anneal": "methods/test_heads::test_annealing_is_that_of_the_oracle_and_keeps_conflicts_apart",
    "disassociation.chunks.split_vertically": _RELEASE,
    "disassociation.expected.count_terms": _EXPECTED,
    "disassociation.expected.expect_supports": _EXPECTED,
    "disassociation.expected.spread_shared": _EXPECTED,
    "disassociation.frequent.frequent_pairs": _EXPECTED,
    "disassociation.frequent.list_triples": _HERE
    + "test_triples_of_frequent_pairs_are_listed_and_counted",
    "disassociation.heads.charge": _STAYERS,
    "disassociation.heads.find_stayers": _STAYERS,
    "disassociation.heads.settle": "methods/test_heads::test_settled_chunks_are_those_of_the_oracle_and_anonymous",
    "disassociation.horizontal.split_horizontally": _RELEASE,
    "disassociation.lists.list_open": _RELEASE,
    "disassociation.refine.refine": _RELEASE,
    "disassociation.subrecords.collect_subrecords": _RELEASE,
    "groups.add_errors": _HERE + "test_errors_of_groups_are_added_and_weighed",
    "groups.pair_errors": "methods/test_groups::test_the_kernel_of_pair_errors_gives_what_its_twin_gives",
    "groups.weigh_errors": _HERE + "test_errors_of_groups_are_added_and_weighed",
    "itemsets.count_chosen": _HERE + "test_the_supports_of_pairs_are_counted",
    "itemsets.count_pairs": _HERE + "test_the_supports_of_pairs_are_counted",
    "itemsets.mine": _TOP,
    "itemsets.mine_pairs": _TOP,
    "itemsets.rank_rows": _TOP,
    "partition.split.split": _PARTITION,
    "recoding.threats.are_minimal": _THREATS,
    "recoding.threats.collect": _THREATS,
    "recoding.threats.insert": _CUTS,
    "recoding.threats.list_holders": _HERE + "test_the_records_under_each_node_are_listed",
    "recoding.threats.repair": _CUTS,
    "retrieval.nearest_distances": "metrics/test_retrieval::test_recall_and_sdist_are_those_of_the_oracle",
    "retrieval.pair_records": "kernels/test_assignment::test_pairs_that_gain_nothing_are_never_matched",
    "retrieval.rate_bags": _HERE + "test_the_nearest_bags_of_each_record_are_rated",
    "ssc.centre.choose_terms": _PAPER,
    "ssc.centre.match_members": _PAPER,
    "ssc.grow.build_clusters": _PAPER,
    "ssc.grow.distances_to": _PAPER,
    "ssc.profiles.exchange": _BEST,
    "ssc.profiles.find_cluster": _BEST,
    "ssc.profiles.gather": _BEST,
    "ssc.slots.fill_slots": _BEST,
    "ssc.slots.share_out": "methods/test_ssc_typical::test_terms_are_those_that_the_oracle_chooses",
    "steps.fill_holders": _HERE + "test_the_holders_of_each_item_are_listed",
    "suppression.hitting.eliminate": _MOLES,
    "suppression.hitting.improve": _MOLES,
    "suppression.hitting.restore": _MOLES,
    "suppression.moles.extend_items": _MOLES,
    "suppression.moles.extend_level": _MOLES,
    "suppression.moles.hash_level": _MOLES,
    "suppression.moles.worst_privates": _MOLES,
}
"""The test that compares each kernel, or the one caller it has, with a twin."""

ROWS = st.lists(st.sets(st.integers(0, 6), max_size=5).map(sorted), max_size=9)


def laid_out(rows, dtype=np.int32):
    ptr = np.concatenate(([0], np.cumsum([len(row) for row in rows]))).astype(np.int64)
    return ptr, np.array([item for row in rows for item in row], dtype=dtype)


def cut(ptr, values):
    return [values[a:b].tolist() for a, b in zip(ptr, ptr[1:], strict=False)]


def test_every_kernel_is_compared_with_a_plain_twin():
    found = {
        ".".join((*path.relative_to(KERNELS).with_suffix("").parts, name))
        for path in KERNELS.rglob("*.py")
        for name in re.findall(r"^@kernel\ndef (\w+)", path.read_text("utf-8"), re.MULTILINE)
    }
    assert found == WHERE.keys()
    for test in set(WHERE.values()):
        file, name = test.split("::")
        text = (Path(__file__).parents[1] / f"{file}.py").read_text("utf-8")
        assert "from tests.oracle" in text, file
        assert f"def {name}(" in text, test


@given(ROWS)
def test_the_holders_of_each_item_are_listed(rows):
    ptr, items = laid_out(rows)
    expected = plain.holders(rows, 7)
    bounds = np.concatenate(([0], np.cumsum([len(each) for each in expected]))).astype(np.int64)
    found = np.full(len(items), -1, dtype=np.int32)
    fill_holders(ptr, items, bounds[:-1], found)
    assert cut(bounds, found) == expected


@given(ROWS, st.data())
def test_the_supports_of_pairs_are_counted(rows, data):
    weights = [data.draw(st.integers(1, 3)) for _ in rows]
    ptr, items = laid_out(rows)
    weighed = np.array(weights, dtype=np.int64)
    found = np.zeros(21, dtype=np.int64)
    count_pairs(ptr, items, weighed, found)
    for low, high in combinations(range(7), 2):
        assert found[high * (high - 1) // 2 + low] == plain.supports(rows, weights, (low, high))
    chosen = data.draw(st.permutations(range(7)))[:3]
    place = np.full(8, -1, dtype=np.int64)
    place[chosen], place[7] = range(3), 3
    table = count_chosen(ptr, items, weighed, place)
    expected = [[plain.supports(rows, weights, {a, b}) for b in chosen] for a in chosen]
    assert table.tolist() == expected


@given(ROWS, st.integers(0, 3))
def test_triples_of_frequent_pairs_are_listed_and_counted(rows, bar):
    ones = [1] * len(rows)
    held = {pair: plain.supports(rows, ones, pair) for pair in combinations(range(7), 2)}
    first, second = laid_out([range(item + 1, 7) for item in range(7)], np.int64)
    pairs = Pairs(first, second, np.array(list(held.values()), dtype=np.int64))
    triples = Triples(*list_triples(pairs, bar, 1_000))
    by_pair = cut(triples.first, triples.third)
    listed = [
        (*pair, third) for pair, thirds in zip(held, by_pair, strict=True) for third in thirds
    ]
    assert listed == plain.triples(held, bar)
    ptr, items = laid_out(rows)
    none, bounds = np.zeros(0, dtype=np.int64), np.array([0, len(rows)])
    given = Given(np.zeros(2, dtype=np.int64), none, none, np.zeros(0))
    shown = Shown(np.zeros(len(items), dtype=np.int32), np.ones(1), given)
    no_table = np.zeros((0, 0), dtype=np.int32)
    found = expect_supports(Block(ptr, items, bounds), shown, pairs, no_table, triples)
    counts = found.sure_triples.tolist()
    assert counts == [plain.supports(rows, ones, triple) for triple in listed]
    for triple, outer, inner in zip(listed, triples.outer, triples.inner, strict=True):
        names = list(held)
        assert (names[outer], names[inner]) == ((triple[0], triple[2]), triple[1:])


@given(ROWS, st.data())
def test_the_records_under_each_node_are_listed(rows, data):
    parents = [
        data.draw(st.integers(-1 if node == 0 else 0, max(node - 1, -1))) for node in range(7)
    ]
    up = np.array(parents, dtype=np.int32)
    starts, found = list_holders(*laid_out(rows), up, np.arange(7, dtype=np.int32))
    assert cut(starts, found) == plain.under(rows, parents)


@given(st.lists(st.dictionaries(st.integers(0, 5), st.integers(-9, 9)), max_size=5), st.data())
def test_errors_of_groups_are_added_and_weighed(groups, data):
    bounds, pairs = laid_out([sorted(group) for group in groups])
    errors = np.array([group[pair] for group in groups for pair in sorted(group)], np.float64)
    some = data.draw(
        st.lists(st.integers(0, len(groups) - 1), unique=True) if groups else st.just([])
    )
    totals = np.zeros(6)
    add_errors(bounds, pairs, errors, np.array(some, dtype=np.int64), totals)
    assert totals.tolist() == plain.added([groups[at] for at in some], 6)
    weights = data.draw(st.lists(st.integers(-4, 4), min_size=6, max_size=6))
    found = weigh_errors(bounds, pairs, errors, np.array(weights, dtype=np.float64))
    assert found.tolist() == plain.weighed(groups, weights)


BAGS = st.lists(st.dictionaries(st.integers(0, 4), st.integers(1, 3), max_size=4), max_size=6)


def as_bags(rows):
    ptr, items = laid_out([sorted(row) for row in rows])
    counts = np.array([row[item] for row in rows for item in sorted(row)], dtype=np.int64)
    return BagRows(ptr, items, counts)


@given(BAGS, BAGS, st.data())
def test_the_nearest_bags_of_each_record_are_rated(records, bags, data):
    omega, most = 5, data.draw(st.integers(1, 4))
    distances = st.dictionaries(st.integers(0, 4), st.integers(0, 2 * omega - 1))
    near = [data.draw(distances) for _ in range(5)]
    holders = [{at: bag[item] for at, bag in enumerate(bags) if item in bag} for item in range(5)]
    chosen, ratings = rate_bags(
        as_bags(records), as_bags(bags), as_bags(holders), NearItems(*as_bags(near)), omega, most
    )
    found = [
        [(int(rating), int(bag)) for bag, rating in zip(*each, strict=True) if bag >= 0]
        for each in zip(chosen, ratings, strict=True)
    ]
    assert found == plain.rated(records, bags, near, omega, most)
