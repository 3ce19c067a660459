"""Generated data: the same everywhere, and like real data."""

from __future__ import annotations

import gzip
import hashlib
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from setveil.data.generate import draw, patients, quest, shop
from setveil.data.generate.shop import RECIPES, STAPLES, TASTES, read_catalogue
from setveil.data.summary import summarize
from setveil.data.transactions import Transactions
from setveil.errors import ParameterError
from setveil.hierarchy.check import find_faults
from setveil.hierarchy.tree import Hierarchy


def digest(data: Transactions) -> str:
    """A fingerprint of records and labels."""
    text = "\n".join(";".join(record) for record in data)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def share_of_pairs(data: Transactions, least: int) -> int:
    """How many pairs of items occur together in at least this many records."""
    width = len(data.vocabulary)
    counts = np.zeros(width * width, dtype=np.int64)
    for length in np.unique(data.lengths).tolist():
        rows = np.flatnonzero(data.lengths == length)
        table = data.items[data.indptr[rows][:, None] + np.arange(length)].astype(np.int64)
        for one, two in combinations(range(length), 2):
            counts += np.bincount(table[:, one] * width + table[:, two], minlength=width * width)
    return int((counts >= least).sum())


def test_a_seed_gives_the_same_records_for_ever() -> None:
    assert digest(quest(2_000, seed=5)) == "c94933c24288e298"
    assert digest(shop(2_000, seed=5).data) == "315c53381b359549"
    assert digest(patients(2_000, seed=5).stays) == "7f47eecc1e14f34e"
    people = "\n".join(patients(2_000, seed=5).people_rows())
    assert hashlib.sha256(people.encode()).hexdigest()[:16] == "0a57bff823c96708"


def test_another_seed_gives_other_records() -> None:
    assert digest(quest(200, seed=1)) != digest(quest(200, seed=2))
    assert digest(shop(200, seed=1).data) != digest(shop(200, seed=2).data)
    assert digest(patients(200, seed=1).stays) != digest(patients(200, seed=2).stays)


@given(
    records=st.integers(0, 40),
    items=st.integers(1, 12),
    length=st.floats(1, 8),
    patterns=st.integers(1, 6),
    seed=st.integers(0, 2**40),
    pattern=st.floats(1, 6),
    shares=st.tuples(st.floats(0, 1), st.floats(0, 1)),
)
def test_quest_keeps_to_its_numbers(
    records: int,
    items: int,
    length: float,
    patterns: int,
    seed: int,
    pattern: float,
    shares: tuple[float, float],
) -> None:
    data = quest(
        records,
        items,
        length,
        patterns,
        seed,
        average_pattern=pattern,
        correlation=shares[0],
        corruption=shares[1],
    )
    assert len(data) == records
    assert (data.lengths >= 1).all()
    assert (data.supports() >= 1).all()
    assert all(1 <= int(item) <= items for item in data.vocabulary)


def test_quest_records_reach_their_average_length() -> None:
    for length, pattern in ((5, 2), (10, 4), (20, 4), (40, 10)):
        data = quest(5_000, average_length=length, average_pattern=pattern, seed=2)
        assert data.occurrences / len(data) == pytest.approx(length, rel=0.08)


def test_quest_looks_like_the_data_set_that_it_imitates(shared_data: Path) -> None:
    with gzip.open(shared_data / "T10I4D100K.dat.gz", "rt") as lines:
        real = Transactions.of(line.split() for line in lines)
    made = quest(100_000, seed=1)
    one, two = summarize(real), summarize(made)
    assert two.lengths.mean == pytest.approx(one.lengths.mean, rel=0.03)
    assert np.std(made.lengths) == pytest.approx(np.std(real.lengths), rel=0.1)
    assert two.items == pytest.approx(one.items, rel=0.1)
    assert two.distinct_records == pytest.approx(one.distinct_records, rel=0.02)
    for rank in (10, 50, 100, 200, 300, 400):
        supports = [np.sort(data.supports())[::-1][rank] for data in (real, made)]
        assert supports[1] == pytest.approx(supports[0], rel=0.2)
    assert share_of_pairs(made, 100) == pytest.approx(share_of_pairs(real, 100), rel=0.2)


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"records": -1}, "records"),
        ({"records": 1.5}, "records"),
        ({"records": 5, "items": 0}, "items"),
        ({"records": 5, "patterns": 0}, "patterns"),
        ({"records": 5, "average_length": 0}, "average_length"),
        ({"records": 5, "average_length": float("nan")}, "average_length"),
        ({"records": 5, "average_pattern": 0.5}, "average_pattern"),
        ({"records": 5, "correlation": 1.5}, "correlation"),
        ({"records": 5, "corruption": -0.1}, "corruption"),
        ({"records": 5, "seed": -1}, "seed"),
        ({"records": 5, "seed": None}, "seed"),
    ],
)
def test_senseless_numbers_are_refused(options: dict[str, object], name: str) -> None:
    with pytest.raises(ParameterError) as caught:
        quest(**options)  # type: ignore[arg-type]
    assert caught.value.name == name


def test_poisson_numbers_have_the_mean_and_variance_of_theirs() -> None:
    numbers = draw.poisson(draw.source(1), 7.5, 200_000)
    assert numbers.mean() == pytest.approx(7.5, rel=0.01)
    assert numbers.var() == pytest.approx(7.5, rel=0.02)


def test_exponential_numbers_have_their_mean_and_weights_their_chances() -> None:
    random = draw.source(1)
    assert draw.exponential(random, 200_000).mean() == pytest.approx(65_536, rel=0.01)
    drawn = np.bincount(draw.weighted(random, np.array([1, 0, 3]), 100_000))
    assert drawn[1] == 0
    assert drawn[2] / drawn[0] == pytest.approx(3, rel=0.05)
    assert draw.chance(random, 1.0, 100).all()
    assert not draw.chance(random, 0.0, 100).any()


def test_no_table_value_is_where_two_machines_could_round_it_differently() -> None:
    exact = -np.log1p(-(np.arange(1_024) + 0.5) / 1_024) * 65_536
    assert (np.abs(exact - np.floor(exact) - 0.5) > 1e-6).all()


def test_the_catalogue_is_a_sound_uneven_tree() -> None:
    products = read_catalogue()
    tree = Hierarchy.from_paths(product.path for product in products)
    assert find_faults(tree) == []
    fanouts = [len(tree.children(node)) for node in range(tree.leaf_count, len(tree))]
    assert (
        min(fanouts),
        max(fanouts) > 100,
        len(set(tree.depth[: tree.leaf_count].tolist())) > 2,
    ) == (2, True, True)
    names = {product.name for product in products}
    groups = {group for product in products for group in product.groups}
    assert {part for recipe in RECIPES for part in recipe} <= names
    assert {group for taste in TASTES for group in taste} | set(STAPLES) <= groups


def test_every_item_of_a_shop_has_a_path() -> None:
    made = shop(3_000, seed=4)
    tree = Hierarchy.from_paths(made.paths)
    assert len(tree.leaf_numbers(made.data.vocabulary)) == len(made.data.vocabulary)
    assert list(made.data.vocabulary) == sorted(made.data.vocabulary)
    assert (made.data.lengths >= 1).all()


def test_what_belongs_together_is_bought_together() -> None:
    data = shop(20_000, seed=1).data
    gin, tonic = (data.vocabulary.number(item) for item in ("gin 0.7 l", "tonic water 1 l"))
    holders = [set(data.rows[data.items == item].tolist()) for item in (gin, tonic)]
    together, by_chance = (
        len(holders[0] & holders[1]),
        len(holders[0]) * len(holders[1]) / len(data),
    )
    assert together > 5 * by_chance


def test_few_products_sell_often_and_sensitive_ones_seldom() -> None:
    data = shop(20_000, seed=1).data
    supports = np.sort(data.supports())[::-1]
    assert supports[0] > 15 * np.median(supports)
    assert 0 < data.supports()[data.vocabulary.number("pregnancy test early")] < np.mean(supports)


def test_a_small_shop_has_fewer_products() -> None:
    made = shop(500, seed=1, products=40)
    assert len(made.paths) == 40
    assert set(made.data.vocabulary) <= {path[0] for path in made.paths}


def test_a_shop_without_baskets_or_with_one_is_fine() -> None:
    assert len(shop(0, seed=1).data) == 0
    assert shop(1, seed=1, products=1).data.lengths.tolist() == [1]


@pytest.mark.parametrize(
    "options", [{"records": -1}, {"products": 0}, {"products": 10_000}, {"seed": 1.5}]
)
def test_a_shop_that_cannot_be_is_refused(options: dict[str, object]) -> None:
    with pytest.raises(ParameterError):
        shop(**{"records": 10, **options})  # type: ignore[arg-type]


@pytest.mark.long
def test_a_million_records_can_be_generated() -> None:
    assert len(quest(1_000_000, seed=1)) == 1_000_000
    assert len(shop(1_000_000, seed=1).data) == 1_000_000


@given(count=st.integers(0, 60), seed=st.integers(0, 2**40))
def test_each_patient_has_the_codes_of_all_their_stays(count: int, seed: int) -> None:
    made = patients(count, seed)
    people = [row.split(",") for row in made.people_rows()][1:]
    stays = [row.split(",") for row in made.stay_rows()][1:]
    assert [row[0] for row in people] == [str(number + 1) for number in range(count)]
    assert [row[0] for row in stays] == [str(number + 1) for number in range(len(made.stays))]
    codes: dict[str, set[str]] = {}
    for stay in stays:
        own = next(row for row in people if row[0] == stay[1])
        assert stay[2:5] == own[1:4], "a stay repeats the columns of its patient"
        codes.setdefault(stay[1], set()).update(stay[5].split("|"))
    assert codes == {row[0]: set(row[4].split("|")) for row in people}


def test_codes_depend_on_age_and_sex() -> None:
    made = patients(20_000, seed=3)
    rows = [row.split(",") for row in made.people_rows()][1:]

    def share(letter: str, of: list[list[str]]) -> float:
        return sum(f"|{letter}" in f"|{row[4]}" for row in of) / len(of)

    old = [row for row in rows if int(row[1]) <= 1955]
    young = [row for row in rows if 1985 <= int(row[1]) <= 2005]
    assert share("I", old) > 4 * share("I", young)
    assert share("O", [row for row in rows if row[2] == "M"]) == 0
    assert share("O", [row for row in young if row[2] == "F"]) > 0.3
    several = np.bincount(made.owners)
    assert 0.4 < (several > 1).mean() < 0.5, "nearly half have several stays"
    leaves = {path[0] for path in made.paths()}
    assert set(made.stays.vocabulary.labels) == leaves
