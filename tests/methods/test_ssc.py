"""SSC: the same clusters as the oracle, and k equal bags for any data."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from setveil.audit import verify
from setveil.data.transactions import Bags, Transactions
from setveil.engines.local import Local
from setveil.errors import DataError, ParameterError
from setveil.hierarchy.tree import Hierarchy
from setveil.methods.ssc import SSC, best
from setveil.methods.ssc import method as module
from setveil.methods.ssc import paper as clustering
from setveil.methods.ssc.nearbags import prepare
from setveil.promises import VocabularyKAnonymity
from tests.oracle import ssc as oracle
from tests.oracle import ssc_best as plain
from tests.strategies import bags, data_with_tree, trees

WAYS = st.fixed_dictionaries(
    {
        "term_epsilon": st.integers(0, 5),
        "omega": st.sampled_from([5.5, 10, 40]),
        "model": st.sampled_from(["nil", "maximum"]),
        "seed_rule": st.sampled_from(["farthest", "first"]),
    }
)
VARIANTS = st.sampled_from(["best", "paper"])
TYPICAL = st.sampled_from(["majority", "mixed", "slots", "generalized"])
PAPERS = st.sampled_from(["majority", "slots", "generalized"])


@st.composite
def small_data(draw):
    """Bags that the oracle can match by brute force, without empty ones."""
    labels = "abcdefg"[: draw(st.integers(2, 7))]
    tree = draw(trees(leaves=labels))
    record = st.dictionaries(st.sampled_from(labels), st.integers(1, 2), min_size=1, max_size=3)
    return draw(st.lists(record, min_size=2, max_size=8)), tree


def method_of(variant, ways, **more):
    """The method; what only the paper's algorithm uses is left out if another is drawn."""
    return SSC(variant=variant, **more, **(ways if variant == "paper" else {}))


def paths_of(tree):
    return list(tree.paths())


def spread(bag):
    return [term for term, count in bag.items() for _ in range(count)]


def published(release):
    """The published bag of each original record, by what its items mean."""
    names, counts = (
        release.meanings(),
        np.split(release.classes.counts, release.classes.indptr[1:-1]),
    )
    numbers = np.split(release.classes.items, release.classes.indptr[1:-1])
    found = [
        Counter({names[i]: int(c) for i, c in zip(items, times, strict=True)})
        for items, times in zip(numbers, counts, strict=True)
    ]
    return [found[number] for number in release.alignment]


class Follower:
    """Chooses among the best matchings the one that the kernels took, which must be one of them."""

    def __init__(self, data, tree, method, k):
        near = method._near(data, tree)
        self.space = clustering.space_of(data, near, method._rule(k))
        self.labels = data.vocabulary.labels

    def __call__(self, members, centres):
        bounds = np.array([0, len(members)])
        made = clustering.with_centres((self.space, np.array(members), bounds))
        terms = [self.labels[term] for term in made.terms]
        width = len(members)
        slots = [tuple(terms[i * width : (i + 1) * width]) for i in range(len(made.slot_times))]
        taken = tuple(
            sorted(
                slot
                for slot, times in zip(slots, made.slot_times, strict=True)
                for _ in range(times)
            )
        )
        assert taken in centres
        return taken


def check_against_oracle(records, tree, ways, k, typical):
    data, method = Bags.of(records), SSC(variant="paper", typical=typical, **ways)
    release = method.anonymize(data, VocabularyKAnonymity(k=k), tree, engine=Local(1))
    terms = [spread(record) for record in records]
    space = oracle.Space(
        oracle.tree_distance(paths_of(tree)), method.term_epsilon, method.omega, method.model
    )
    follow = Follower(data, tree, method, k)
    expected = [Counter()] * len(records)
    for members in oracle.ssc(terms, k, space, method.seed_rule, follow):
        centre = oracle.successive(terms, members, space, follow)
        for member in members:
            expected[member] = typical_of(centre, typical, space, tree, terms)
    equal = published(release)
    distinct = {tuple(sorted(record.items())) for record in records}
    if len(distinct) < len(records):  # equal bags may be swapped
        assert Counter(frozenset(bag.items()) for bag in equal) == Counter(
            frozenset(bag.items()) for bag in expected
        )
    else:
        assert equal == expected


def typical_of(centre, typical, space, tree, terms):
    if typical == "slots":
        return Counter(frozenset(Counter(slot).items()) for slot in centre)
    if typical == "generalized":
        return oracle.generalized(centre, paths_of(tree))
    return oracle.majority(centre, space.distance, Counter(term for bag in terms for term in bag))


@given(small_data(), WAYS, st.integers(2, 4), PAPERS)
def test_the_paper_variant_is_what_the_oracle_gives(drawn, ways, k, typical):
    records, tree = drawn
    check_against_oracle(records, tree, ways, min(k, len(records)), typical)


@pytest.mark.proof
@settings(max_examples=3_000)
@given(small_data(), WAYS, st.integers(2, 4), PAPERS)
def test_the_paper_variant_is_what_the_oracle_gives_thousands_of_times(drawn, ways, k, typical):
    records, tree = drawn
    check_against_oracle(records, tree, ways, min(k, len(records)), typical)


@given(data_with_tree(multiset=True, min_records=2), WAYS, VARIANTS, TYPICAL)
def test_every_published_bag_occurs_k_times_and_the_verifier_agrees(drawn, ways, variant, typical):
    data, tree = drawn
    release = method_of(variant, ways, typical=typical).anonymize(
        data, VocabularyKAnonymity(k=2), tree
    )
    assert len(release) == len(data)
    assert release.sizes.min() >= 2
    assert verify(release, data, hierarchy=tree).holds


@given(data_with_tree(multiset=True, min_records=3), WAYS, VARIANTS)
def test_matched_occurrences_are_in_their_records_and_relevant_to_each_other(drawn, ways, variant):
    data, tree = drawn
    method = method_of(variant, ways)
    release = method.anonymize(data, VocabularyKAnonymity(k=3), tree)
    near, matches = tree.neighbours(data.vocabulary, ways["term_epsilon"]), release.matches
    slots = {slot: matches.items[matches.slots == slot] for slot in np.unique(matches.slots)}
    assert variant == "best" or all(
        near.distance(one, other) is not None
        for items in slots.values()
        for one in items
        for other in items
    )
    taken = Counter(zip(matches.records.tolist(), matches.items.tolist(), strict=True))
    held = Counter(
        dict(
            zip(
                zip(data.rows.tolist(), data.items.tolist(), strict=True),
                data.counts.tolist(),
                strict=True,
            )
        )
    )
    assert taken <= held
    people = Counter(zip(matches.slots.tolist(), matches.records.tolist(), strict=True))
    assert all(times == 1 for times in people.values())


@given(bags(min_records=4), WAYS, VARIANTS, st.randoms(use_true_random=False))
def test_neither_the_order_of_the_records_nor_the_number_of_threads_matters(
    data, ways, variant, random
):
    tree, promise = Hierarchy.balanced(data.vocabulary, 2), VocabularyKAnonymity(k=2)
    order = random.sample(range(len(data)), len(data))
    method = method_of(variant, ways)
    given_order, other = (
        method.anonymize(d, promise, tree, engine=e)
        for d, e in ((data, Local(1)), (data.take(order), Local(3)))
    )
    assert given_order == other


def check_best_against_oracle(records, tree, k, rounds, crowds):
    """The method makes the oracle's clusters, and they keep what the best matching keeps.

    How many crowds must have a common term is drawn: so few bags have hardly any."""
    data = Bags.of(records)
    rows = prepare(data, k, group_equal=False).rows
    rows = rows[np.argsort(-data.totals[rows], kind="stable")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(best, "CROWDS", crowds)
        block, items = best.block_of(data.take(rows), tree, k)
    (made,) = best.cluster([block], rounds, Local(1))
    terms = [spread(records[row]) for row in rows]
    space = plain.Tree(paths_of(tree), plain.common_terms(terms, crowds * k))
    expected = plain.gather(terms, k, space)
    for _ in range(rounds):
        expected = plain.exchanged(expected, terms, space)
    clusters = [part.tolist() for part in np.split(made.members, made.bounds[1:-1])]
    assert list(map(sorted, clusters)) == list(map(sorted, expected))
    labels = np.array(data.vocabulary.labels, dtype=object)[items[made.terms]].tolist()
    at, kept = 0, [0] * len(clusters)
    for slot, times in enumerate(made.slot_times.tolist()):
        number = int(made.slot_cluster[slot])
        size = len(clusters[number])
        kept[number] += times * space.kept(space.node(labels[at : at + size]))
        at += size
    for members, value in zip(clusters, kept, strict=True):
        bags = [terms[member] for member in members]
        assert value == plain.value(bags, space)
        if len(members) < 4:
            assert value == plain.best_matching(bags, space)


@given(small_data(), st.integers(2, 4), st.integers(0, 2), st.integers(0, 3))
def test_the_best_variant_is_what_the_oracle_gives(drawn, k, rounds, crowds):
    records, tree = drawn
    check_best_against_oracle(records, tree, min(k, len(records)), rounds, crowds)


@pytest.mark.proof
@settings(max_examples=20_000)
@given(small_data(), st.integers(2, 4), st.integers(0, 2), st.integers(0, 3))
def test_the_best_variant_is_what_the_oracle_gives_20_000_times(drawn, k, rounds, crowds):
    records, tree = drawn
    check_best_against_oracle(records, tree, min(k, len(records)), rounds, crowds)


@given(data_with_tree(multiset=True, min_records=4, max_records=14), st.integers(1, 3))
def test_exchanges_never_make_the_clusters_worth_less(drawn, rounds):
    data, tree = drawn
    rows = prepare(data, 2, group_equal=False).rows
    assume(len(rows))
    part = best.begin_gathering(best.block_of(data.take(rows), tree, 2)[0])
    while part.done < part.total:
        part = best.gather_some(part)
    work = best.begin_exchanging(*best.place_rest(part), rounds)
    worth, count = [], len(work.groups.worth)
    while work.done < work.total:
        work = best.exchange_some(work)
        if work.done >= count:
            worth.append(int(work.groups.worth.sum()))
    groups = work.groups
    assert worth == sorted(worth)
    assert sorted(groups.members.tolist()) == list(range(len(rows)))
    owners = np.repeat(np.arange(count), np.diff(groups.bounds))
    assert groups.owner[groups.members].tolist() == owners.tolist()


def test_a_task_leaves_the_arrays_that_it_is_given_as_they_are():
    data = Bags.of([[str(i % 7), str(i % 11), str(i % 5)] for i in range(60)])
    tree, method = Hierarchy.balanced(data.vocabulary, 3), SSC(variant="paper")
    space = clustering.space_of(data, method._near(data, tree), method._rule(3))
    block = clustering.begin_growing(space)
    grown = clustering.grow_some(block)
    before = clustering.begin_growing(space)
    assert (grown.done, block.done) == (60, 0)
    assert np.array_equal(block.state.alive, before.state.alive)
    assert np.array_equal(block.state.numbers, before.state.numbers)
    assert np.array_equal(block.state.far, before.state.far)
    part = best.begin_gathering(best.block_of(data, tree, 3)[0])
    gathered = best.gather_some(part)
    assert (gathered.done, part.done) == (60, 0)
    assert part.state.alive.tolist() == list(range(60))
    work = best.begin_exchanging(*best.place_rest(gathered), 1)
    groups = [array.copy() for array in work.groups]
    assert best.exchange_some(work).done == 20
    assert all(map(np.array_equal, work.groups, groups))


def test_an_exchange_brings_those_together_who_belong_together():
    data = Bags.of(
        [["a", "b", "c", "d"], ["w", "x", "y", "z"], ["a", "b", "c", "e"], ["w", "x", "y", "v"]]
    )
    tree = Hierarchy.from_paths(
        [(item, "low" if item < "m" else "high", "*") for item in data.vocabulary]
    )
    block, _ = best.block_of(data, tree, 2)
    work = best.begin_exchanging(block, np.array([0, 1, 2, 3]), np.array([0, 2, 4]), 1)
    while work.done < work.total:
        work = best.exchange_some(work)
    assert sorted(map(sorted, work.groups.members.reshape(2, 2).tolist())) == [[0, 2], [1, 3]]


def test_words_without_a_near_partner_meet_below_a_common_node():
    tree = Hierarchy.from_paths(
        [("a", "A", "low", "*"), ("b", "B", "low", "*"), ("y", "Y", "high", "*"), ("z", "*")]
    )
    data = Bags.of([["a", "y"], ["b", "y"]])
    ways = {name: SSC(typical=name) for name in ("majority", "generalized", "slots")}
    made = {n: m.anonymize(data, VocabularyKAnonymity(k=2), tree) for n, m in ways.items()}
    assert published(made["generalized"]) == [Counter(["low", "y"])] * 2
    assert published(made["majority"]) == [Counter(["a", "y"])] * 2
    assert all(verify(release, data, hierarchy=tree).holds for release in made.values())


def test_blocks_hold_all_records_and_do_not_depend_on_threads(monkeypatch):
    monkeypatch.setattr(module, "BLOCK", 20)
    random = np.random.default_rng(5)
    data = Bags.of(
        [str(term) for term in random.integers(0, 60, size=random.integers(1, 9))]
        for _ in range(150)
    )
    tree, promise = Hierarchy.balanced(data.vocabulary, 3), VocabularyKAnonymity(k=3)
    whole = SSC(exact=True).anonymize(data, promise, tree)
    one, three = (SSC().anonymize(data, promise, tree, engine=Local(threads)) for threads in (1, 3))
    shuffled = SSC().anonymize(data.take(random.permutation(len(data))), promise, tree)
    assert one == three == shuffled != whole
    assert one.alignment.tolist() == three.alignment.tolist()
    assert verify(one, data, hierarchy=tree).holds


def test_sets_are_bags_of_single_terms():
    records = [["a", "b"], ["a", "c"], ["b", "c"], ["d"]]
    tree, promise = (
        Hierarchy.balanced(Transactions.of(records).vocabulary, 2),
        VocabularyKAnonymity(k=2),
    )
    assert SSC().anonymize(Transactions.of(records), promise, tree) == SSC().anonymize(
        Bags.of(records), promise, tree
    )


def test_k_equal_bags_are_published_as_they_are():
    data = Bags.of([["a", "a", "b"]] * 5 + [["a", "c"], ["a", "d"], ["b", "d"]])
    tree = Hierarchy.balanced(data.vocabulary, 2)
    release = SSC().anonymize(data, VocabularyKAnonymity(k=3), tree)
    assert published(release)[:5] == [Counter({"a": 2, "b": 1})] * 5
    assert len(release) == 8


def test_too_few_others_take_the_smallest_group_of_equal_ones_as_company():
    data = Bags.of([["a", "b"]] * 4 + [["c", "d"]] * 3 + [["c", "e"]])
    tree = Hierarchy.from_paths(
        [("a", "A", "*"), ("b", "A", "*"), ("c", "C", "*"), ("d", "C", "*"), ("e", "C", "*")]
    )
    release = SSC().anonymize(data, VocabularyKAnonymity(k=3), tree)
    assert sorted(release.sizes.tolist()) == [4, 4]
    assert release.empty == 0


@pytest.mark.parametrize(("empty", "expected"), [(1, 2), (2, 3), (3, 4)])
def test_a_few_empty_bags_hide_among_the_shortest(empty, expected):
    data = Bags.of([[]] * empty + [["a"]] + [["a", "b", "c"]] * 4)
    release = SSC().anonymize(
        data, VocabularyKAnonymity(k=2), Hierarchy.balanced(data.vocabulary, 2)
    )
    assert release.empty == expected
    assert release.sizes.min() >= 2


def test_a_few_empty_bags_do_not_break_up_equal_ones():
    data = Bags.of([["a"]] * 3 + [["b", "b"], ["c"], ["c"], [], []])
    tree = Hierarchy.balanced(data.vocabulary, 2)
    release = SSC().anonymize(data, VocabularyKAnonymity(k=3), tree)
    assert dict(zip(release.classes, release.sizes.tolist(), strict=True)) == {(): 5, ("a",): 3}
    assert verify(release, data, hierarchy=tree).holds


def test_a_cluster_with_nothing_in_common_is_published_empty():
    data = Bags.of([["a"], ["z"]])
    tree = Hierarchy.from_paths([("a", "A", "*"), ("z", "Z", "*")])
    release = SSC().anonymize(data, VocabularyKAnonymity(k=2), tree)
    assert release.empty == 2
    assert len(release.matches) == 0


def test_repeated_terms_cost_no_more_than_single_ones():
    data = Bags.of(
        [{"a": 10**6, "b": 3}, {"a": 10**6 - 1, "b": 5}, {"b": 10**5}, {"a": 1, "b": 10**5}]
    )
    release = SSC().anonymize(
        data, VocabularyKAnonymity(k=2), Hierarchy.balanced(data.vocabulary, 2)
    )
    assert release.sizes.tolist() == [2, 2]


def test_a_count_needs_no_memory_and_takes_nothing_from_the_others():
    data = Bags.of([{"a": 10**12, "b": 2}, {"a": 7, "b": 2}])
    release = SSC().anonymize(
        data, VocabularyKAnonymity(k=2), Hierarchy.balanced(data.vocabulary, 2)
    )
    assert published(release) == [Counter(a=7, b=2)] * 2


@pytest.mark.parametrize("omega", [10, 10_000])
def test_as_much_as_possible_is_matched_first_however_frequent_it_is(omega):
    tree = Hierarchy.from_paths(
        [(f"{group}{leaf}", group, "*") for group in "ab" for leaf in range(4)]
    )
    data = Bags.of(
        [
            {"a0": 44_662, "b3": 66_234},
            {"a1": 210_088, "a3": 255_540},
            {"a0": 139_863, "b0": 254_332, "b3": 198_745},
        ]
    )
    release = SSC(model="maximum", omega=omega, variant="paper").anonymize(
        data, VocabularyKAnonymity(k=3), tree
    )
    assert len(release.matches) == 3 * (44_662 + 66_234)


def test_a_bag_whose_cost_does_not_fit_in_64_bits_is_refused():
    data = Bags.of([{"a": 10**17}, {"a": 1}])
    with pytest.raises(DataError, match=r"a bag of 1e.17 occurrences is too large"):
        SSC().anonymize(data, VocabularyKAnonymity(k=2), Hierarchy.balanced(data.vocabulary, 2))


def test_progress_counts_the_bags_in_clusters():
    seen = []
    data = Bags.of([[str(i % 7), str(i % 11)] for i in range(300)])
    SSC(variant="paper").anonymize(
        data,
        VocabularyKAnonymity(k=3),
        Hierarchy.balanced(data.vocabulary, 3),
        progress=lambda done, total, stage: seen.append((done, total, stage)),
    )
    assert seen[-1] == (300, 300, "clustering")
    assert [done for done, _, _ in seen] == sorted(done for done, _, _ in seen)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"omega": 4}, "omega = 4 is not allowed: it must be above term_epsilon = 4"),
        ({"omega": float("nan")}, "above term_epsilon"),
        ({"term_epsilon": 0, "omega": True}, "it must be a number"),
        ({"omega": 1e9}, "at most 10000"),
        ({"model": "best"}, "it must be one of nil, maximum"),
        ({"seed_rule": "last"}, "it must be one of farthest, first"),
        ({"typical": "all"}, "it must be one of majority, mixed, slots, generalized"),
        ({"variant": "mine"}, "it must be one of best, paper"),
        ({"exchanges": -1}, "it must be a whole number of 0 or more"),
        ({"exchanges": 2}, "the algorithm of the paper makes none"),
        ({"term_epsilon": -1}, "it must be a whole number of 0 or more"),
    ],
)
def test_wrong_parameters_are_refused_with_what_is_allowed(wrong, said):
    with pytest.raises(ParameterError, match=said):
        SSC(**{"variant": "paper", **wrong})


@pytest.mark.parametrize(
    "wrong",
    [{"term_epsilon": 4}, {"omega": 10.0}, {"model": "nil"}, {"seed_rule": "first"}],
    ids=lambda wrong: next(iter(wrong)),
)
def test_what_only_the_paper_uses_is_refused_without_it(wrong):
    with pytest.raises(ParameterError, match="it is used only with variant="):
        SSC(**wrong)
    assert SSC(variant="paper", **wrong).to_dict().items() >= wrong.items()


def test_an_epsilon_of_numpy_becomes_a_plain_number():
    assert type(SSC(variant="paper", term_epsilon=np.int64(3)).to_dict()["term_epsilon"]) is int


def test_more_occurrences_than_can_be_linked_to_records_are_refused():
    data = Bags.of([{"a": 10**10}, {"a": 10**10}])
    with pytest.raises(
        DataError, match="occurrences would be published, too many to link each to its record"
    ):
        SSC().anonymize(data, VocabularyKAnonymity(k=2), Hierarchy.balanced(data.vocabulary, 2))
