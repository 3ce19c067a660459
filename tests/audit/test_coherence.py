"""Verifying coherence and suppressed releases: against brute force, and with one thing broken."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from setveil.alignment.merging import count_records
from setveil.audit import verify
from setveil.audit.coherence import find_moles
from setveil.data.transactions import Bags, Transactions
from setveil.methods import Suppression
from setveil.methods.suppression.moles import greatest_fraction
from setveil.promises import KAnonymity, KmAnonymity
from setveil.promises.coherence import Coherence, matching_items
from setveil.published.suppressed import Suppressed
from tests.methods.test_suppression import random_case
from tests.oracle import coherence as oracle
from tests.proofs import proof

ORIGINAL = [
    record.split()
    for record in (
        "a c d f g Diabetes",
        "a b c f Hepatitis",
        "b d f x Hepatitis",
        "b c g y z HIV",
        "a c f g HIV",
    )
]
PUBLISHED = [
    record.split()
    for record in ("a c f g Diabetes", "a c f Hepatitis", "f Hepatitis", "c g HIV", "a c f g HIV")
]
PROMISE = Coherence(h=0.8, k=2, p=2, private=["Diabetes", "Hepatitis", "HIV"])


def failed(release, original=ORIGINAL):
    """The names of the checks that fail, and the first witness."""
    verdict = verify(release, Transactions.of(original))
    return [check.name for check in verdict.failed], verdict.witness


def check_seed(seed):
    records, private, h, k, p = random_case(seed)
    expected = oracle.minimal(oracle.moles(records, private, h, k, p))
    promise = Coherence(h=float(h), k=k, p=p, private=private)
    found = list(find_moles(count_records(Transactions.of(records)), promise))
    assert {
        frozenset(mole.items): "rare" if mole.private is None else "breach" for mole in found
    } == expected
    assert len(found) == len(expected)
    assert [len(mole.items) for mole in found] == sorted(len(mole.items) for mole in found)
    for mole in found:
        cohort = [record for record in records if set(mole.items) <= set(record)]
        assert (len(cohort), sum(mole.private in record for record in cohort)) == (
            mole.support,
            mole.count,
        )
    return not expected


@proof(10_300)
def test_the_moles_it_finds_are_those_of_brute_force(seeds):
    assert 0 < sum(check_seed(seed) for seed in seeds) < len(seeds)


def test_records_that_occur_several_times_count_as_often():
    records = [["a", "b", "flu"]] * 70 + [["a", "b"]] * 60 + [["a", "c"]] * 3
    for k, h in ((3, 0.54), (3, 0.5), (4, 0.9)):
        found = find_moles(
            count_records(Transactions.of(records)), Coherence(h=h, k=k, p=3, private=["flu"])
        )
        expected = oracle.minimal(oracle.moles(records, {"flu"}, str(h), k, 3))
        assert {frozenset(mole.items) for mole in found} == set(expected)


def test_the_release_of_figure_1_holds_and_every_question_is_answered():
    verdict = verify(Suppressed.of(PUBLISHED, PROMISE), Transactions.of(ORIGINAL))
    assert verdict.holds
    assert [check.name for check in verdict.checks] == [
        "structure",
        "coherence",
        "records",
        "private",
        "suppression",
        "containment",
    ]


def test_a_rare_mole_is_the_witness_with_its_support():
    verdict = verify(Transactions.of(ORIGINAL), promise=PROMISE)
    assert not verdict.holds
    assert (verdict.witness.items, verdict.witness.count) == (("x",), 1)
    assert verdict.witness.text == "{x} occurs in 1 record, not 2"


def test_a_breach_is_the_witness_with_its_share_and_the_private_item():
    records = [
        [item for item in record if item in {"b", "f", "Hepatitis", "HIV"}] for record in ORIGINAL
    ]
    verdict = verify(Transactions.of(records), promise=PROMISE)
    assert (
        verdict.witness.text
        == "{b, f} occurs in 2 records; 2 of them (100 %) contain the private item Hepatitis,"
        " more than h = 80 %"
    )


def test_an_adversary_who_knows_nothing_may_know_too_much():
    verdict = verify(
        Transactions.of([["flu"], ["flu"], []]), promise=Coherence(h=0.5, k=2, p=1, private=["flu"])
    )
    assert (
        verdict.witness.text
        == "there are 3 records; 2 of them (66.67 %) contain the private item flu, more than h = 50 %"
    )
    assert not verify(
        Transactions.of([["flu"]]), promise=Coherence(h=1, k=2, p=1, private=["flu"])
    ).holds
    assert verify(Transactions.of([]), promise=Coherence(h=0.1, k=2, p=1, private=["flu"])).holds


def test_a_mole_of_one_item_that_was_left_in_is_found():
    forgotten = [
        record + [item for item in "xyz" if item in before]
        for record, before in zip(PUBLISHED, ORIGINAL, strict=True)
    ]
    names, witness = failed(Suppressed.of(forgotten, PROMISE))
    assert (names, witness.items) == (["coherence"], ("x",))


def test_a_private_item_that_was_touched_is_found():
    names, witness = failed(Suppressed.of([*PUBLISHED[:4], ["a", "c", "f", "g"]], PROMISE))
    assert names == ["private", "suppression", "containment"]
    assert witness.text == "HIV occurs in 2 original records and is published in 1"
    assert witness.private


@pytest.mark.parametrize(("min_support", "holds"), [(0.0, False), (0.2, False), (0.21, True)])
def test_a_private_item_may_be_left_out_only_where_the_release_says_that_items_so_rare_are(
    min_support, holds
):
    without = [[item for item in record if item != "Diabetes"] for record in PUBLISHED]
    release = Suppressed.of(without, PROMISE, min_support=min_support)
    verdict = verify(release, Transactions.of(ORIGINAL))
    assert verdict.holds == holds
    if holds:
        text = next(check.text for check in verdict.checks if check.name == "private")
        assert text.endswith(
            "; those in less than 21 % of the records are left out, as the release says"
        )


def test_an_item_that_is_suppressed_in_some_records_only_is_found():
    names, witness = failed(
        Suppressed.of([*PUBLISHED[:4], ["a", "c", "g", "HIV"]], replace(PROMISE, p=1))
    )
    assert names == ["suppression", "containment"]
    assert witness.text == "f occurs in 4 original records and is published in 3"


def test_an_item_that_changed_its_record_is_found_though_all_counts_agree():
    moved = [
        record.split()
        for record in (
            "a c f g Diabetes",
            "a c f Hepatitis",
            "f g Hepatitis",
            "c HIV",
            "a c f g HIV",
        )
    ]
    names, witness = failed(Suppressed.of(moved, replace(PROMISE, p=1)))
    assert names == ["containment"]
    assert witness.private
    assert witness.original is not None


def test_an_item_from_nowhere_is_found():
    names, witness = failed(Suppressed.of([[*record, "new"] for record in PUBLISHED], PROMISE))
    assert "suppression" in names
    assert "new" in witness.text


def test_a_lost_record_is_found():
    names, witness = failed(Suppressed.of(PUBLISHED[:4], PROMISE))
    assert "records" in names
    assert any(
        "1 record is lost" in line
        for line in [
            witness.text,
            verify(Suppressed.of(PUBLISHED[:4], PROMISE), Transactions.of(ORIGINAL)).text,
        ]
    )


def test_an_alignment_that_gives_a_person_the_record_of_another_is_found():
    release = Suppressed.of(PUBLISHED, PROMISE)
    swapped = replace(release, alignment=release.alignment[[1, 0, 2, 3, 4]])
    assert failed(swapped)[0] == ["containment"]
    assert failed(release.without_alignment())[0] == []


def test_sizes_that_do_not_fit_are_found():
    release = Suppressed.of(PUBLISHED, PROMISE)
    assert failed(replace(release, sizes=np.zeros(len(release.sizes), dtype=np.int64)))[0] == [
        "structure"
    ]


def test_other_promises_of_a_suppressed_release_can_be_asked_for():
    release = Suppressed.of([["a"], ["a"], ["b"], ["b"]], PROMISE)
    assert verify(release, promise=KAnonymity(k=2)).holds
    assert not verify(release, promise=KmAnonymity(k=3, m=1)).holds


def test_of_bags_a_count_is_part_of_what_an_adversary_knows():
    bags = Bags.of([{"a": 1}, {"a": 1}, {"a": 2}, {"a": 2, "flu": 2}, {"a": 1, "flu": 1}])
    assert verify(bags, promise=Coherence(h=0.5, k=2, p=1, private=["flu"])).holds
    verdict = verify(bags, promise=Coherence(h=0.4, k=2, p=1, private=["flu"]))
    assert verdict.witness.items == ("a x2",)
    assert not verify(
        Bags.of([{"a": 1}, {"a": 1}, {"a": 2}]), promise=Coherence(h=1, k=2, p=1)
    ).holds


def test_as_many_witnesses_as_asked_for():
    verdict = verify(Transactions.of(ORIGINAL), promise=PROMISE, limit=5)
    assert [witness.items for witness in verdict.checks[0].witnesses][:3] == [
        ("x",),
        ("y",),
        ("z",),
    ]
    assert len(verdict.checks[0].witnesses) == 5


def test_wide_data_with_many_private_items():
    draw = random.Random(1)
    records = [
        [
            f"u{draw.randint(0, 4)}",
            f"v{draw.randint(0, 3)}",
            *{f"x{draw.randint(0, 60)}" for _ in range(3)},
        ]
        for _ in range(3000)
    ]
    private = {f"x{number}" for number in range(61)}
    for h in ("0.05", "0.1", "0.9"):
        holds = verify(
            Transactions.of(records), promise=Coherence(h=float(h), k=2, p=2, private=private)
        ).holds
        assert holds == (oracle.moles(records, private, h, 2, 2) == {})


def test_a_pattern_names_items():
    assert matching_items(["dx:flu", "dx:HIV", "Dx:x", "beer"], "dx:*") == {"dx:flu", "dx:HIV"}


@pytest.mark.parametrize(
    "h",
    ["0.8", "0.3333333333333333", "0.6666666666666666", "0.7", "0.1428571428571428", "1e-3", "1"],
)
def test_shares_are_compared_exactly_with_h_as_it_is_written(h):
    """1/3 is more than 0.3333333333333333, although the computer's numbers for both are equal; and
    4 of 5 is not more than 0.8."""
    for size in range(2, 13):
        for held in range(1, size + 1):
            records = [["a", "flu"]] * held + [["a"]] * (size - held) + [["b"]] * 20 * size
            data = Transactions.of(records)
            promise = Coherence(h=float(h), k=2, p=1, private=["flu"])
            is_fine = Fraction(held, size) <= Fraction(h)
            guessed = Fraction(held, len(data)) > Fraction(h)
            assert verify(data, promise=promise).holds == (is_fine and not guessed)
            if not guessed and size % 3 == 0:
                release = Suppression().anonymize(data, promise)
                assert is_fine == ("a" in set(release.items))


def test_the_greatest_fraction_below_a_number_is_found():
    for text in ("0.3333333333333333", "0.8", "0.99", "0.001", "0.61803398874989", "1"):
        for most in (*range(1, 40), 1000):
            found = greatest_fraction(Fraction(text), most)
            exact = Fraction(text)
            best = max(Fraction(int(exact * q), q) for q in range(1, most + 1))
            assert found == best
