"""Suppression: against brute force, its promises on real data, its parameters and its refusals."""

from __future__ import annotations

import json
import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import assume, given, settings

from setveil.audit import verify
from setveil.data.transactions import Bags, Transactions
from setveil.engines.local import Local
from setveil.errors import InfeasibleError, ParameterError
from setveil.io import read
from setveil.methods.suppression import Suppression, explain
from setveil.methods.suppression.moles import Setting, find_moles
from setveil.metrics import measure
from setveil.promises import KmAnonymity, LDiversity
from setveil.promises.coherence import Coherence
from tests.methods.moles import greedy_order
from tests.oracle import coherence as oracle
from tests.proofs import proof
from tests.strategies import SEEDS

SHARES = ("0.2", "0.25", "0.4", "0.5", "0.6", "0.75", "0.8", "1")
ONE = Local(1)


def random_case(seed):
    """Small random records of public items a, b, ... and private ones V, W, ...; and h, k and p."""
    draw = random.Random(seed)
    public, private = "abcdefgh"[: draw.randint(1, 8)], "VWXY"[: draw.randint(0, 4)]
    dense, sensitive, size = (
        draw.choice([0.15, 0.3, 0.5, 0.7, 0.9]),
        draw.choice([0.1, 0.2, 0.4]),
        draw.randint(8, 40),
    )
    records = [
        [item for item in public if draw.random() < dense]
        + [item for item in private if draw.random() < sensitive]
        for _ in range(size)
    ]
    return (
        records,
        set(private),
        draw.choice(SHARES),
        draw.choice([2, 2, 3, 5, 8]),
        draw.randint(1, 4),
    )


def check_case(seed):
    """Compare all results for a random case with brute force; whether it was feasible."""
    records, private, h, k, p = random_case(seed)
    data, promise = Transactions.of(records), Coherence(h=float(h), k=k, p=p, private=private)
    moles = oracle.moles(records, private, h, k, p)
    if frozenset() in moles:
        with pytest.raises(InfeasibleError):
            Suppression().anonymize(data, promise, engine=ONE)
        return False
    expected, found = oracle.minimal(moles), find_moles(Setting.of(data, promise), ONE)
    kinds = ["rare" if item < 0 else "breach" for item in found.private.tolist()]
    assert sorted(zip(map(sorted, found.named(data)), kinds, strict=True)) == sorted(
        (sorted(mole), kind) for mole, kind in expected.items()
    )
    support = Counter(item for record in records for item in record)
    check_witnesses(found, data, records)
    greedy = {
        score: check_greedy(score, data, promise, h, found) for score in ("mm/il", "mm", "1/il")
    }
    answers = {score: oracle.restored(expected, items, support) for score, items in greedy.items()}
    losses = [sum(support[item] for item in left) for left in answers.values()]
    check_answer("mm", answers["mm"], data, promise)
    check_answer("1/il", answers["1/il"], data, promise)
    check_answer("mm/il", list(answers.values())[losses.index(min(losses))], data, promise)
    release = Suppression(search=True).anonymize(data, promise, engine=ONE)
    assert oracle.moles(list(release.classes.take(release.alignment)), private, h, k, p) == {}
    best = sum(support[item] for item in release.suppressed_items(data))
    assert oracle.optimal(expected, support) <= best <= min(losses)
    return True


def check_witnesses(found, data, records):
    for mole, support, private, count in zip(
        found.named(data),
        found.supports.tolist(),
        found.private.tolist(),
        found.counts.tolist(),
        strict=True,
    ):
        cohort = [record for record in records if set(mole) <= set(record)]
        assert len(cohort) == support
        assert private < 0 or sum(data.vocabulary[private] in record for record in cohort) == count


def check_greedy(score, data, promise, h, found):
    """The order of the greedy choice, and that exactly these items go when none comes back."""
    order = greedy_order(found, np.maximum(data.supports(), 1).astype(float), score)
    greedy = oracle.greedy(list(data), set(promise.private), h, promise.k, promise.p, score)
    assert [data.vocabulary[item] for item in order] == greedy
    plain = Suppression(score=score, restore=False).anonymize(data, promise, engine=ONE)
    assert set(plain.suppressed_items(data)) == set(greedy)
    return greedy


def check_answer(score, left, data, promise):
    """What stays suppressed when items come back."""
    release = Suppression(score=score).anonymize(data, promise, engine=ONE)
    assert set(release.suppressed_items(data)) == left
    assert verify(release, data).holds


@proof(6_300)
def test_random_data_against_brute_force(seeds):
    assert sum(check_case(seed) for seed in seeds) > 0.6 * len(seeds)


def test_moles_of_one_item_are_really_gone_from_what_is_published():
    data = Transactions.of([["rare", "a"], ["a"], ["a", "b"], ["b"]])
    release = Suppression().anonymize(data, Coherence(h=1, k=2, p=1))
    assert "rare" not in release.items
    assert all("rare" not in record for record in release.records(seed=1))
    assert verify(release, data).holds


def test_km_anonymity_is_the_case_without_private_items():
    data = Transactions.of([["a", "b"], ["a", "b"], ["a", "c"], ["c"], ["c", "b"], ["d"]])
    as_km = Suppression().anonymize(data, KmAnonymity(k=2, m=2))
    assert as_km == Suppression().anonymize(data, Coherence(h=1, k=2, p=2))
    assert verify(as_km, data).promise == KmAnonymity(k=2, m=2)
    assert verify(as_km, data).holds


def test_an_adversary_who_may_know_all_items_of_a_person():
    data = Transactions.of([["a", "b", "c", "d"]] * 2 + [["a", "b", "c"], ["d"]] * 3 + [["b", "d"]])
    release = Suppression().anonymize(data, KmAnonymity(k=2, m="all"))
    assert verify(release, data).holds
    assert verify(release, promise=Coherence(h=1, k=2, p=10**9)).holds
    assert list(release.items) == ["a", "b", "c", "d"]


def test_a_private_item_of_too_many_records_is_named_with_its_share_and_h():
    data = Transactions.of([["a", "flu"], ["b", "flu"], ["a", "flu"], ["b"]])
    with pytest.raises(
        InfeasibleError, match=r"'flu' is in 75 % of all 4 records, more than h = 60 %"
    ) as caught:
        Suppression().anonymize(data, Coherence(h=0.6, k=2, p=1, private=["flu"]))
    assert "\n" not in str(caught.value)


def test_a_share_of_exactly_h_is_allowed():
    data = Transactions.of([["a", "flu"], ["a", "flu"], ["a", "flu"], ["a"], ["a"]])
    release = Suppression().anonymize(data, Coherence(h=0.6, k=2, p=1, private=["flu"]))
    assert list(release.items) == ["a", "flu"]


def test_all_public_items_go_with_rmall_and_the_records_stay():
    data = Transactions.of([["a", "flu"], ["b"], ["a"], []])
    release = Suppression(score="rmall").anonymize(data, Coherence(h=1, k=2, p=1, private=["flu"]))
    assert (list(release.items), len(release)) == (["flu"], 4)
    assert verify(release, data).holds


def test_items_come_back_where_the_greedy_choice_was_not_minimal():
    """w hits most moles and goes first; then x, y and z, needed for v, hit all moles of w."""
    records = (
        [["w", item] for item in "xyz"]
        + [["v", item] for item in "xyz"]
        + [["w"]] * 2
        + [["v"]] * 9
        + [[item] for item in "xyz" * 2]
    )
    data, promise = Transactions.of(records), Coherence(h=1, k=2, p=2)
    plain, restored = (
        Suppression(score="mm/il", restore=flag).anonymize(data, promise) for flag in (False, True)
    )
    lost = [measure(release, data, ["distortion"])["distortion"] for release in (plain, restored)]
    assert lost[1] < lost[0]
    assert verify(restored, data).holds


def test_the_answer_of_mm_is_taken_where_the_ratio_leads_astray():
    """x, of loss 7, is in all moles; by ratio a, b and c go: 1/2 > 3/7, 1/3 > 2/7, 1/6 > 1/7."""
    records = [["x", "a"], ["x", "b"], ["x", "c"], *[["x"]] * 4, ["a"], *[["b"]] * 2, *[["c"]] * 5]
    data, promise = Transactions.of(records), Coherence(h=1, k=2, p=2)
    assert list(Suppression(restore=False).anonymize(data, promise).items) == ["x"]
    assert list(Suppression(score="mm").anonymize(data, promise).items) == ["a", "b", "c"]
    assert list(Suppression().anonymize(data, promise).items) == ["a", "b", "c"]


def test_weights_of_the_user_say_what_is_kept():
    data = Transactions.of([["a", "b"], ["a"], ["a"], ["b"], ["b"], ["b"]])
    promise = Coherence(h=1, k=2, p=2)
    assert list(Suppression().anonymize(data, promise).items) == ["b"]
    release = Suppression(weights={"a": 100.0}).anonymize(data, promise)
    assert list(release.items) == ["a"]
    assert release.method["weights"] == "given"
    assert "100" not in json.dumps(release.method)


def test_each_item_may_count_the_same():
    data = Transactions.of([["a", "b"], ["a", "c"], *[["a"]] * 9, *[["b"], ["c"]] * 3])
    promise = Coherence(h=1, k=2, p=2)
    assert list(Suppression(score="1/il").anonymize(data, promise).items) == ["a"]
    assert list(Suppression(weights="items").anonymize(data, promise).items) == ["b", "c"]


def test_rare_items_are_left_out_first_and_private_ones_too():
    data = Transactions.of([["a", "b"]] * 9 + [["a", "b", "c", "flu"]])
    promise = Coherence(h=1, k=2, p=1, private=["flu"])
    assert list(Suppression().anonymize(data, promise).items) == ["a", "b", "flu"]
    release = Suppression(min_support=0.2).anonymize(data, promise)
    assert list(release.items) == ["a", "b"]
    assert verify(release, data).holds
    assert list(Suppression(min_support=0.99).anonymize(data, KmAnonymity(k=2, m=1)).items) == [
        "a",
        "b",
    ]
    assert list(Suppression(min_support=0.2, score="rmall").anonymize(data, promise).items) == []


@settings(max_examples=40)
@given(seed=SEEDS)
def test_leaving_out_rare_items_is_the_same_as_never_having_had_them(seed):
    draw = random.Random(seed)
    records = [
        [item for item in "abcdefgh" if draw.random() < (ord(item) - 96) / 12] for _ in range(40)
    ]
    assume(all(sum(item in record for record in records) <= 20 for item in "ad"))  # half of them
    promise = Coherence(h=0.5, k=3, p=3, private=["a", "d"])
    often = {
        item
        for item in "abcdefgh"
        if sum(item in record for record in records) >= 0.2 * len(records)
    }
    prepared = [[item for item in record if item in often] for record in records]
    release = Suppression(min_support=0.2).anonymize(Transactions.of(records), promise)
    assert release == Suppression().anonymize(Transactions.of(prepared), promise)
    assert verify(release, Transactions.of(records)).holds


def test_of_bags_the_sets_are_published():
    bags = Bags.of([{"a": 2, "b": 1}, {"a": 1}, {"a": 3}])
    release = Suppression().anonymize(bags, Coherence(h=1, k=2, p=1))
    assert [set(record) for record in release.classes.take(release.alignment)] == [{"a"}] * 3
    assert verify(release, bags).holds
    assert measure(release, bags, ["distortion"]) == {"distortion": 1 / 7}


def test_the_order_of_records_and_the_number_of_threads_do_not_matter():
    draw = random.Random(3)
    records = [draw.sample("abcdefghijklmnop", draw.randint(0, 7)) for _ in range(400)]
    promise = Coherence(h=0.5, k=4, p=4, private=["a", "b"])
    release = Suppression().anonymize(Transactions.of(records), promise, engine=ONE)
    assert release == Suppression().anonymize(
        Transactions.of(records[::-1]), promise, engine=Local(3)
    )


def test_an_adversary_who_knows_eight_items():
    draw = random.Random(4)
    records = [[item for item in "abcdefghijkl" if draw.random() < 0.72] for _ in range(60)]
    found = find_moles(Setting.of(Transactions.of(records), Coherence(h=1, k=3, p=8)), ONE)
    expected = oracle.minimal(oracle.moles(records, set(), "1", 3, 8))
    assert {frozenset(mole) for mole in found.named(Transactions.of(records))} == set(expected)
    assert max(found.sizes) > 5


def test_the_losses_of_a_suppressed_release():
    data = Transactions.of([["a", "b"], ["a"], ["a", "c"], []])
    losses = measure(Suppression().anonymize(data, Coherence(h=1, k=2, p=1)), data)
    assert losses["distortion"] == 2 / 5
    assert losses["class_sizes"] == {"min": 1.0, "median": 2.0, "mean": 2.0, "max": 3.0}
    assert 0 < losses["are"] < 1


def test_progress_is_reported():
    stages = []
    data = Transactions.of([["a", "b", "c"]] * 5 + [["a"], ["b"], ["c"]] * 4)
    Suppression().anonymize(
        data,
        Coherence(h=1, k=2, p=3),
        progress=lambda done, total, stage: stages.append((done <= total, stage)),
    )
    assert {stage for _, stage in stages} >= {"searching for moles of 2 items"}
    assert all(fine for fine, _ in stages)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"score": "best"},
            "score = 'best' is not allowed: it must be one of mm/il, mm, 1/il, rmall",
        ),
        ({"min_support": 1.5}, "min_support = 1.5 is not allowed"),
    ],
)
def test_a_parameter_outside_what_is_allowed_is_refused(options, words):
    with pytest.raises(ParameterError, match=words):
        Suppression(**options)


@pytest.mark.parametrize("weights", [{"a": 0}, {"a": -1.0}, {"a": float("inf")}, "cheap", 3])
def test_weights_that_are_no_numbers_above_0_are_refused(weights):
    with pytest.raises(ParameterError, match="weights"):
        Suppression(weights=weights).anonymize(
            Transactions.of([["a"], ["a"]]), Coherence(h=1, k=2, p=1)
        )


@pytest.mark.parametrize(
    "numbers",
    [{"h": 0}, {"h": 1.1}, {"h": True}, {"k": 1}, {"p": 0}, {"p": 1.5}, {"private": "flu"}],
)
def test_a_promise_outside_what_is_allowed_is_refused(numbers):
    with pytest.raises(ParameterError, match=f"^{next(iter(numbers))} = "):
        Coherence(**{"h": 0.5, "k": 2, "p": 2, **numbers})


def test_l_diversity_is_refused_with_a_way_out():
    promise = KmAnonymity(k=2, m=1, diversity=LDiversity(l=2, sensitive=["flu"]))
    with pytest.raises(ParameterError, match="disassociation and groups do"):
        Suppression().anonymize(Transactions.of([["a"], ["a"]]), promise)


class TestExplain:
    DATA = Transactions.of(
        [
            ["a", "b", "flu"],
            ["a", "b", "flu"],
            ["a", "c"],
            ["a", "c"],
            ["b", "c"],
            ["b"],
            ["c"],
            ["c"],
            ["x"],
            ["a"],
            ["b"],
            ["b"],
        ]
    )
    PROMISE = Coherence(h=0.6, k=2, p=2, private=["flu"])

    def test_it_counts_the_minimal_moles_by_size_and_kind(self):
        moles = oracle.minimal(oracle.moles(list(self.DATA), {"flu"}, "0.6", 2, 2))
        expected = Counter((len(mole), kind) for mole, kind in moles.items())
        found = {
            (one.size, kind): getattr(one, kind)
            for one in explain(self.DATA, self.PROMISE).moles
            for kind in ("rare", "breach")
        }
        assert {key: count for key, count in found.items() if count} == expected

    def test_what_it_says_is_what_the_method_loses(self):
        found = explain(self.DATA, self.PROMISE)
        release = Suppression().anonymize(self.DATA, self.PROMISE)
        assert found.distortion == measure(release, self.DATA, ["distortion"])["distortion"]
        assert {one.item for one in found.costs} == set(release.suppressed_items(self.DATA))

    def test_each_saving_is_what_the_easier_promise_loses(self):
        found = explain(self.DATA, Coherence(h=0.6, k=3, p=2, private=["flu"]))
        easier = {"k = 2": {"k": 2}, "h = 0.7": {"h": 0.7}, "p = 1": {"p": 1}}
        assert [one.change for one in found.savings] == list(easier)
        for saving in found.savings:
            promise = Coherence(
                **{"h": 0.6, "k": 3, "p": 2, "private": ["flu"], **easier[saving.change]}
            )
            lost = measure(Suppression().anonymize(self.DATA, promise), self.DATA, ["distortion"])[
                "distortion"
            ]
            assert (saving.distortion, saving.saved) == (
                lost,
                found.suppressed - round(lost * self.DATA.occurrences),
            )

    def test_it_names_the_private_item_that_drives_the_loss(self):
        (driver,) = explain(self.DATA, self.PROMISE).drivers
        assert (driver.item, driver.moles) == ("flu", 1)
        assert driver.saved >= 0

    def test_it_is_written_as_json_and_marked_private(self):
        written = json.loads(json.dumps(explain(self.DATA, self.PROMISE).to_dict()))
        assert written["private"] is True
        assert {"moles", "costs", "savings", "drivers"} <= set(written)


@pytest.mark.parametrize(
    ("file", "share", "k", "p"),
    [
        ("msweb.csv.gz", 0.4, 5, 5),
        pytest.param("T10I4D100K.dat.gz", 0.2, 30, 4, marks=pytest.mark.long),
    ],
)
def test_real_data_verify_and_each_way_is_better_than_the_ones_before(
    shared_data, file, share, k, p
):
    data = read(shared_data / file)
    public = set(
        random.Random(1).sample(data.vocabulary.labels, round(share * len(data.vocabulary)))
    )
    promise = Coherence(h=0.6, k=k, p=p, private=set(data.vocabulary) - public)
    losses = []
    for method in (
        Suppression(score="rmall"),
        Suppression(score="mm", restore=False),
        Suppression(restore=False),
        Suppression(),
    ):
        release = method.anonymize(data, promise)
        assert verify(release, data).holds
        losses.append(measure(release, data, ["distortion"])["distortion"])
    assert losses[0] > losses[1] > losses[2] >= losses[3]
