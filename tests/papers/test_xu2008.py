"""The worked examples of [Xu2008]: Figures 1, 2, 5 and 7, Examples 3 to 7."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from setveil.audit import verify
from setveil.data.transactions import Transactions
from setveil.methods.suppression import Suppression
from setveil.methods.suppression.moles import Setting, find_moles
from setveil.promises.coherence import Coherence
from tests.methods.moles import greedy_order, larger
from tests.oracle import coherence as oracle

ILLNESSES = {"Diabetes", "Hepatitis", "HIV"}
FIGURE_1 = [
    record.split()
    for record in (
        "a c d f g Diabetes",
        "a b c f Hepatitis",
        "b d f x Hepatitis",
        "b c g y z HIV",
        "a c f g HIV",
    )
]
PROMISE = Coherence(h=0.8, k=2, p=2, private=ILLNESSES)
MINIMAL = {frozenset(mole) for mole in ("x", "y", "z", "ab", "ad", "bd", "bf", "bg", "cd", "dg")}
AFTER = [
    record.split()
    for record in ("a c f g Diabetes", "a c f Hepatitis", "f Hepatitis", "c g HIV", "a c f g HIV")
]


@pytest.fixture
def setting():
    return Setting.of(Transactions.of(FIGURE_1), PROMISE)


def test_the_oracle_gives_the_moles_of_examples_4_and_5():
    found = oracle.moles(FIGURE_1, ILLNESSES, "0.8", 2, 2)
    assert found[frozenset("ab")] == "rare"
    assert found[frozenset("bf")] == "breach"
    assert frozenset("a") not in found
    assert oracle.breach(FIGURE_1, ILLNESSES, frozenset("a")) == Fraction(1, 3)
    assert set(oracle.minimal(found)) == MINIMAL


def test_the_oracle_suppresses_x_y_z_then_d_then_b():
    assert oracle.greedy(FIGURE_1, ILLNESSES, "0.8", 2, 2) == ["x", "y", "z", "d", "b"]


def test_the_minimal_moles_are_those_of_example_5(setting):
    moles = find_moles(setting)
    assert {frozenset(mole) for mole in moles.named(setting.data)} == MINIMAL
    kinds = {
        "".join(mole): private
        for mole, private in zip(moles.named(setting.data), moles.private.tolist(), strict=True)
    }
    assert setting.data.vocabulary[kinds.pop("bf")] == "Hepatitis"
    assert set(kinds.values()) == {-1}


def test_the_score_table_is_that_of_figure_5(setting):
    many = np.bincount(larger(find_moles(setting)).items, minlength=len(setting.data.vocabulary))
    table = {
        item: (int(many[number]), int(setting.data.supports()[number]))
        for number, item in enumerate(setting.data.vocabulary)
        if many[number]
    }
    assert table == {"d": (4, 2), "b": (4, 3), "a": (2, 3), "g": (2, 3), "c": (1, 4), "f": (1, 4)}


def test_d_goes_before_b_and_moles_of_one_item_before_both(setting):
    losses = setting.data.supports().astype(float)
    order = greedy_order(find_moles(setting), losses, "mm/il")
    assert [setting.data.vocabulary[item] for item in order] == ["x", "y", "z", "d", "b"]


@pytest.mark.parametrize("restore", [False, True])
def test_the_release_of_figure_1(restore):
    release = Suppression(restore=restore).anonymize(Transactions.of(FIGURE_1), PROMISE)
    published = [set(record) for record in release.classes.take(release.alignment)]
    assert published == [set(record) for record in AFTER]
    assert verify(release, Transactions.of(FIGURE_1)).holds


def test_figure_1_is_coherent_against_an_adversary_who_knows_one_item_but_for_x_y_and_z():
    data = [[item for item in record if item not in "xyz"] for record in FIGURE_1]
    assert oracle.moles(data, ILLNESSES, "0.8", 2, 1) == {}
    assert verify(
        Transactions.of(data), promise=Coherence(h=0.8, k=2, p=1, private=ILLNESSES)
    ).holds
