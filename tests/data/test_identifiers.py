"""Items that look like identifiers are found, and rare items that are none are not."""

from __future__ import annotations

import random
import uuid

import numpy as np
import pytest
from hypothesis import given, settings

from setveil import Transactions
from setveil.data.identifiers import find_identifiers, some_of
from setveil.data.itemshapes import CELLS, shape_of
from setveil.data.openings import SAMPLE, Opening, opening_of
from tests.oracle.identifiers import has_identifiers
from tests.strategies import SEEDS

IDENTIFIERS = {
    "order numbers": lambda n: str(100_000 + n),
    "counted lines": lambda n: str(n + 1),
    "a prefix and digits": lambda n: f"P{n:05d}",
    "several parts": lambda n: f"ORD-2024-{n:04d}",
    "mail addresses": lambda n: f"u{n}@example.org",
    "dates": lambda n: f"{1900 + n % 97}-{1 + n % 12:02d}-{1 + n % 28:02d}",
    "timestamps": lambda n: f"2024-01-{1 + n % 28:02d} {n % 24:02d}:{n % 60:02d}:{n // 7 % 60:02d}",
    "phone numbers": lambda n: f"+49 170 {1_000_000 + 977 * n}",
    "phone numbers in another form": lambda n: f"(555) {100 + n % 900}-{1000 + 7 * n}",
    "UUIDs": lambda n: str(uuid.UUID(int=random.Random(n).getrandbits(128))),
    "hashes": lambda n: f"{random.Random(n).getrandbits(128):032x}",
    "prices": lambda n: f"{random.Random(n).randint(100, 99_999) / 100:.2f}",
    "names": lambda n: f"anna {''.join(chr(97 + int(digit)) for digit in str(n))}",
}


def lists(
    size: int, products: int, length: float, seed: int, *, skew: float = 1.0, least: int = 1
) -> list[list[str]]:
    """Random lists of products, some more popular than others, with shuffled whole numbers."""
    draw = np.random.default_rng(seed)
    weights = 1 / np.arange(1, products + 1) ** skew
    ends = np.cumsum(weights) / weights.sum()
    names = draw.permutation(products) + least
    lengths = draw.geometric(1 / length, size)
    return [
        [str(each) for each in dict.fromkeys(names[np.searchsorted(ends, draw.random(n))].tolist())]
        for n in lengths.tolist()
    ]


def opening(rows: list[list[str]]) -> Opening:
    labels: dict[str, int] = {}
    items = [labels.setdefault(item, len(labels)) for row in rows for item in row]
    lengths = np.array([len(row) for row in rows], dtype=np.int64)
    return opening_of(lengths, np.array(items, dtype=np.int32), labels)


def found(rows: list[list[str]]) -> object:
    return find_identifiers(some_of(Transactions.of(rows)), opening(rows))


@pytest.mark.parametrize("kind", IDENTIFIERS)
@pytest.mark.parametrize("size", [12, 300])
@pytest.mark.parametrize("named", [False, True])
def test_an_identifier_in_each_line_is_found(kind: str, size: int, named: bool) -> None:
    products = lists(size, max(20, size // 10), 4, seed=size)
    if named:
        products = [[f"item {'abcdefghij'[int(p) % 10]}" for p in row] for row in products]
    rows = [[IDENTIFIERS[kind](n), *row] for n, row in enumerate(products)]
    doubt = find_identifiers(some_of(Transactions.of(rows)), opening(rows))
    assert doubt is not None
    assert doubt.distinct >= size / 10
    assert not any(row[0] in doubt.question for row in rows if len(row[0]) > 5)


@pytest.mark.parametrize("mark", [",", ";", "|"])
@pytest.mark.parametrize("line", ["{0}{m}{item}", "{0}{m}C{1}{m}{item}{m}{price}"])
def test_lines_of_a_table_that_were_read_as_items_are_found(mark: str, line: str) -> None:
    """With `--input-format fimi` a table has an item for each row, and for what is after a blank."""
    draw, items = random.Random(2), ["beer", "oat milk", "tea", "rye bread", "cheese"]
    rows = []
    for n in range(300):
        how = {"item": draw.choice(items), "price": f"{draw.randint(100, 999) / 100:.2f}"}
        rows.append(line.format(7000 + n // 2, 90_000 + n // 3, m=mark, **how).split())
    doubt = found([["order"], *rows])
    assert doubt is not None
    assert doubt.kind == CELLS
    sizes = [f"{n} l, {n % 7}.5 %" for n in range(40)]  # such names are no cells
    assert found([draw.sample(sizes, 1 + n % 5) for n in range(300)]) is None


def test_whole_lines_that_were_read_as_items_are_found() -> None:
    """With `--input-format baskets` a file of numbers between blanks has one item in each line."""
    draw = random.Random(3)
    for first in ("P{}", "{}", "u{}@example.org", "2024-{}-01"):
        rows = [
            [" ".join([first.format(900 + n), *draw.choices("2345", k=n % 4)])] for n in range(200)
        ]
        assert found(rows) is not None
    assert found([["tea for " + "abcdefghij"[n // 20] * (n % 3)] for n in range(200)]) is None


def test_the_position_and_the_shape_are_named() -> None:
    rows = [[*row, f"P{n:05d}"] for n, row in enumerate(lists(200, 30, 4, seed=1))]
    doubt = find_identifiers(some_of(Transactions.of(rows)), opening(rows))
    assert doubt is not None
    assert doubt.place == -1
    assert doubt.question == (
        "200 distinct items at the last position are of the shape 'P#' (# is a number), and 100.0 %"
        " of the records have exactly one of them: are they identifiers?"
    )


def test_two_columns_of_one_shape_are_found() -> None:
    rows = [[f"{10_000 + n}", f"{90_000 - n}", "milk", "beer"][: 3 + n % 2] for n in range(100)]
    doubt = find_identifiers(some_of(Transactions.of(rows)))
    assert doubt is not None
    assert doubt.each == 2


@pytest.mark.parametrize("kind", [kind for kind in IDENTIFIERS if kind != "counted lines"])
@pytest.mark.parametrize("share", [0.3, 0.6])
def test_an_identifier_that_only_some_lines_have_is_found(kind: str, share: float) -> None:
    draw = random.Random(1)
    products = [
        [f"item {'abcdefghijklm'[int(p) % 13]}" for p in row] for row in lists(500, 40, 4, 1)
    ]
    rows = [
        [*row, IDENTIFIERS[kind](n)][: None if draw.random() < share else len(row)]
        for n, row in enumerate(products)
    ]
    doubt = find_identifiers(some_of(Transactions.of(rows)), opening(rows))
    assert doubt is not None
    assert abs(doubt.share - share) < 0.1


def test_a_column_of_identifiers_alone_is_found() -> None:
    assert found([[f"{10_000 + n // 2}"] for n in range(200)]) is not None


@pytest.mark.parametrize("size", [12, 60, 400, pytest.param(6_000, marks=pytest.mark.long)])
@pytest.mark.parametrize("length", [1.2, 2, 3, 15])
def test_lists_of_rare_numbers_are_no_identifiers(size: int, length: float) -> None:
    for products in (50, 5_000, 150_000):
        for skew in (0.0, 1.2):
            rows = lists(size, products, length, seed=size, skew=skew)
            assert found(rows) is None
            assert found([sorted(row, key=int) for row in rows]) is None


def test_values_that_repeat_in_turn_do_not_count_the_lines() -> None:
    assert found([["milk", str(n % 7), str(n % 5)] for n in range(99)]) is None


@pytest.mark.parametrize("products", [900, 90_000])
def test_baskets_of_numbers_with_equally_many_digits_are_no_identifiers(products: int) -> None:
    assert found(lists(2_000, products, 3, seed=5, skew=0.9, least=products // 9)) is None


@pytest.mark.parametrize("kind", ["{}", "size {}", "{:x}kind"])
def test_a_few_values_that_several_records_share_are_no_identifiers(kind: str) -> None:
    rows = [["tea", kind.format(n % 4), *(["milk"] if n % 3 else [])] for n in range(40)]
    assert find_identifiers(some_of(Transactions.of(rows)), opening(rows)) is None


@pytest.mark.parametrize(("records", "people"), [(40, 10), (40, 40), (12, 6)])
def test_identifiers_of_few_records_are_found(records: int, people: int) -> None:
    rows = [["tea", f"P{n % people}", *(["milk"] if n % 3 else [])] for n in range(records)]
    assert find_identifiers(some_of(Transactions.of(rows)), opening(rows)) is not None


def test_thousands_of_rare_artists_per_listener_are_no_identifiers() -> None:
    draw = np.random.default_rng(7)
    rows = [[str(n) for n in draw.choice(300_000, 1_000, replace=False)] for _ in range(20)]
    assert found(rows) is None


@settings(max_examples=40)
@given(seed=SEEDS)
def test_the_records_are_judged_as_one_by_one(seed: int) -> None:
    draw = random.Random(seed)
    size, share = draw.choice([9, 15, 40, 120, 300]), draw.choice([0, 0.3, 0.55, 0.8, 1])
    make = IDENTIFIERS[
        draw.choice([k for k in IDENTIFIERS if k != "phone numbers in another form"])
    ]
    each, spread = draw.choice([1, 1, 2, 3]), draw.choice([1, 3, 30])
    products = lists(size, draw.choice([8, 200, 5_000]), draw.choice([1.01, 2, 4]), seed)
    named = draw.random() < 0.5
    rows = []
    for n, row in enumerate(products):
        own = [make((n + place * size) // spread) for place in range(each)]
        kept = [f"x{'abcdefgh'[int(p) % 8]}" for p in row] if named else row
        rows.append([*(own if draw.random() < share else []), *kept])
    judged = find_identifiers(some_of(Transactions.of(rows)))
    assert (judged is not None) == has_identifiers(rows)


def test_a_sample_of_many_records_is_enough() -> None:
    size = 3 * SAMPLE
    names = [f"item {'abcdefghij'[n % 10]}" for n in range(size)]
    rows = [[f"P{n:06d}", name] for n, name in enumerate(names)]
    doubt = find_identifiers(some_of(Transactions.of(rows)))
    assert doubt is not None
    assert doubt.distinct == size


def test_shapes_of_long_and_strange_items_take_no_time() -> None:
    for item in ("1" * 100_000, "a1" * 90, "(1" * 90, "1." * 90 + "x", "@" * 150, "1-" * 99 + "a"):
        assert len(shape_of(item)) <= 60
