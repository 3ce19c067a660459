"""Items that a given hierarchy lacks: below the root, left out, or refused."""

from __future__ import annotations

import pytest

import setveil
from setveil.data.transactions import Transactions
from setveil.errors import ParameterError, UnknownItemError
from setveil.hierarchy.tree import Hierarchy
from setveil.hierarchy.unknown import fitted

TREE = Hierarchy.from_paths(
    [("beer", "Alcohol", "ALL"), ("wine", "Alcohol", "ALL"), ("milk", "ALL")]
)
BASKETS = [["beer", "oats"], ["wine", "oats"], ["milk", "rare"], ["milk"], ["beer"], ["wine"]]


def test_unknown_items_are_leaves_of_the_root() -> None:
    tree, data = fitted(TREE, Transactions.of(BASKETS), "root")
    assert tree.path("oats") == ("oats", "ALL")
    assert tree.path("wine") == TREE.path("wine")
    assert len(data.vocabulary) == 5
    assert tree.origin.parameters == {"unknown": "root"}


def test_unknown_items_are_left_out() -> None:
    tree, data = fitted(TREE, Transactions.of(BASKETS), "drop")
    assert tree == TREE
    assert list(data)[:3] == [("beer",), ("wine",), ("milk",)]


def test_unknown_items_are_refused_with_both_ways_out() -> None:
    with pytest.raises(UnknownItemError, match=r"unknown='root', or leave them out.*'drop'"):
        fitted(TREE, Transactions.of(BASKETS), "refuse")
    with pytest.raises(UnknownItemError, match="did you mean 'milk'"):
        fitted(TREE, Transactions.of([["Milk "], ["beer"]]), "refuse")
    with pytest.raises(UnknownItemError, match="a group with the label of an item: 'Alcohol'"):
        fitted(TREE, Transactions.of([["Alcohol"]]), "root")


@pytest.mark.parametrize("unknown", ["root", "drop"])
@pytest.mark.parametrize("words", [{"k": 2}, {"k": 2, "m": 2}])
def test_a_release_is_verified_and_measured_against_its_original_again(
    tmp_path, unknown, words
) -> None:
    place = tmp_path / "release"
    how = {"hierarchy": TREE, "unknown": unknown, "output": place}
    done = setveil.anonymize(BASKETS, **how, **words)
    assert done.verdict.holds
    assert "2 items are not in the hierarchy (3 occurrences, 33.3 %)" in done.notes[0]
    assert set(done.suppressed) >= ({"oats", "rare"} if unknown == "drop" else set())
    assert setveil.verify(place, BASKETS).holds
    assert setveil.measure(place, BASKETS, "ncp") == setveil.measure(done.release, BASKETS, "ncp")
    others = [[item.replace("milk", "tea") for item in basket] for basket in BASKETS]
    assert not setveil.verify(place, others[:5]).holds


def test_a_release_shows_no_unknown_item_that_its_records_do_not_show(tmp_path) -> None:
    setveil.anonymize(BASKETS, k=2, hierarchy=TREE, unknown="root", output=tmp_path / "release")
    shown = set((tmp_path / "release" / "data.csv").read_text(encoding="utf-8").split())
    text = (tmp_path / "release" / "hierarchy.csv").read_text(encoding="utf-8")
    assert "rare" not in text
    assert ("oats" in text) == any("oats" in line for line in shown)


@pytest.mark.parametrize("unknown", ["root", "drop"])
def test_bounds_of_a_support_allow_for_unknown_items(tmp_path, unknown) -> None:
    setveil.anonymize(BASKETS, k=2, hierarchy=TREE, unknown=unknown, output=tmp_path / "release")
    release = setveil.read_release(tmp_path / "release")
    for item, people in (("oats", 2), ("rare", 1), ("milk", 2)):
        found = release.support([item])
        assert found.lower <= people <= found.upper


def test_what_can_lack_no_items_takes_no_such_word() -> None:
    with pytest.raises(ParameterError, match="only a hierarchy of your own can lack items"):
        setveil.anonymize(BASKETS, k=2, hierarchy="balanced:2", unknown="drop")
    with pytest.raises(ParameterError, match="publishes items as they are"):
        setveil.anonymize(
            BASKETS, k=2, m=2, method="disassociation", hierarchy=TREE, unknown="drop"
        )
