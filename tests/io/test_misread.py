"""Files that were read without a question, but not as they were meant."""

from __future__ import annotations

import random

import pytest

import setveil as sv
from setveil.data.identifiers import find_identifiers, some_of
from setveil.errors import DataError, FileFormatError
from setveil.io.files import read_with_account

GOODS = ["beer", "milk", "oat cake", "soap", "tea", "wine"]
DRAW = random.Random(3)
BASKETS = [sorted(DRAW.sample(GOODS, DRAW.choice((1, 2, 2, 3, 4)))) for _ in range(150)]
MARKS = ["/", " / ", " + ", "&", " and ", " · ", "~", "#", ":", "_", " - ", "->", " > ", "<br>"]
MARKS += ["][", ") (", "  ", "，", "\\", "\n", "\r\n", "\t"]
RELEASE = {"k": 2, "m": 1, "method": "disassociation"}


def table(mark: str) -> str:
    rows = [f'{n},"{mark.join(basket)}"\n' for n, basket in enumerate(BASKETS)]
    return "customer,products\n" + "".join(rows)


@pytest.mark.parametrize("mark", MARKS)
def test_whole_sets_that_were_read_as_one_item_each_are_asked_about(make, mark):
    """They were published: all that a person has, as one item that hardly anybody else has."""
    asked = r"seem to (hold several items each|be several in one.* whole sets\?)"
    for data in (make("a.csv", table(mark)), [[mark.join(basket)] for basket in BASKETS]):
        with pytest.raises(DataError, match=asked):
            sv.anonymize(data, **RELEASE)
    if not {"\n", "\t"} & {*mark}:
        with pytest.raises(DataError, match=f"{asked} make each part an item; if they are meant"):
            sv.anonymize(make("a.baskets", "\n".join(map(mark.join, BASKETS))), **RELEASE)


@pytest.mark.parametrize(("mark", "word"), [("\r\n", "\\n"), (" / ", "/"), (" and ", " and ")])
def test_they_are_split_as_the_question_says(make, mark, word):
    path = make("a.csv", table(mark))
    with pytest.raises(DataError) as asked:
        sv.anonymize(path, **RELEASE)
    assert f"split={word!r}" in str(asked.value)
    assert list(sv.read(path, split=word)) == [*map(tuple, BASKETS)]


def test_groups_and_sizes_in_names_are_no_sets():
    for name in ("Drinks/{}", "{} / large", "{}, dry", "{}: {}", "Milk and {}", "{} - new"):
        labels = [name.format(f"{a}x{b}", b) for a in "abcdefghij" for b in "klmnopqrst"]
        data = sv.Transactions.of([[each] for each in labels * 8])
        assert find_identifiers(some_of(data)) is None


def test_lines_of_their_own_that_name_a_person_are_asked_about(make):
    """Sections with a name above them: each line was a record, and the names were published."""
    lines = [
        each for n, basket in enumerate(BASKETS) for each in (f"Ann {'xyz'[n % 3] * n}", *basket)
    ]
    with pytest.raises(DataError, match="at most 5 records have the same"):
        sv.anonymize(make("a.baskets", "\n".join(lines)), **RELEASE)


def test_a_column_of_names_is_asked_about(make):
    """A table of people and names, each in one record, was published as it was."""
    rows = "".join(f"{n},Ann {'xyz'[n % 3]}{'abc'[n % 5 % 3] * n}\n" for n in range(150))
    with pytest.raises(DataError, match="in the column 'name', 150 distinct items are such that"):
        sv.anonymize(make("a.csv", f"patient,name\n{rows}"), item="name", **RELEASE)


def test_items_with_dates_in_them_are_asked_about():
    rows = [
        [f"I{n % 7} (20{n % 9}3-0{1 + n % 9}-1{at})" for at in range(n % 5)] for n in range(150)
    ]
    with pytest.raises(DataError, match="distinct items are texts with dates in them"):
        sv.anonymize(rows, **RELEASE)


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.jsonl"])
def test_rows_that_repeat_the_header_are_refused(make, name):
    """Files that were put together: the names of the columns were a record with an item."""
    rows = [["c1", "tea"], ["c2", "milk"], ["customer", "product"], ["c3", "tea"]]
    mark = "," if name == "a.csv" else "\t"
    text = "\n".join(mark.join(row) for row in [["customer", "product"], *rows])
    if name == "a.jsonl":
        text = "\n".join(f'{{"customer": "{who}", "product": "{what}"}}' for who, what in rows)
    path = make(name, text)
    with pytest.raises(FileFormatError, match="1 row repeats the names of the columns; leave such"):
        sv.read(path)
    assert list(sv.read(path, drop_record="customer")) == [("tea",), ("milk",), ("tea",)]
    with pytest.raises(FileFormatError, match="1 row repeats the names of the columns"):
        sv.read(make("b.csv", "id;products\n1;tea|milk\nid;products\n2;tea|soap\n"))


def test_a_hidden_sheet_is_read_only_if_it_is_named(tmp_path):
    book = pytest.importorskip("openpyxl").Workbook()
    for row in ["patient", "item"], ["P1", "secret"]:
        book.active.append(row)
    book.active.sheet_state = "hidden"
    for row in ["patient", "item"], ["P1", "tea"], ["P2", "milk"], ["Checked by Ann"]:
        book.create_sheet("Data").append(row) if row[0] == "patient" else book["Data"].append(row)
    book.save(tmp_path / "a.xlsx")
    data, account = read_with_account(tmp_path / "a.xlsx")
    assert list(data) == [("tea",), ("milk",), ()]
    assert "the first of 2 that is not hidden" in account.notes[0]
    assert account.notes[-1].endswith("Leave it out with drop_record='Checked by Ann'.")
    assert list(sv.read(tmp_path / "a.xlsx", sheet=1)) == [("secret",)]


def test_lines_of_sums_are_no_people(make):
    text = "patient,code\nP1,I10\nP1,R51\nSubtotal 1,\nP2,I10\nSubtotal 2,\n"
    with pytest.raises(FileFormatError, match="2 records are lines of sums, not people; delete"):
        sv.read(make("a.csv", text))
    _, account = read_with_account(make("b.csv", "patient,code\nP1,I10\nP2,R51\nGrand Total,2\n"))
    assert [each.endswith("drop_record='Grand Total'.") for each in account.notes] == [True]


def test_a_table_with_a_column_for_each_person_is_asked_about(make):
    """The names of the columns were published as items: the numbers of all patients."""
    head = ",".join(["code", *(f"{100_000 + 7 * n}" for n in range(150))])
    rows = [",".join([f"I{n}", *("01"[(n + at) % 3 == 0] for at in range(150))]) for n in range(12)]
    path = make("a.csv", "\n".join([head, *rows]))
    with pytest.raises(FileFormatError, match="150 columns of ticks and only 12 rows; if each"):
        sv.read(path)
    assert len(sv.read(path, onehot=True)) == 12


def test_people_that_were_read_as_items_are_asked_about():
    """A table of people and codes, read the other way round: the numbers of all people."""
    codes = [[f"{100_000 + 7 * n}" for n in range(150) if DRAW.random() < 0.4] for _ in range(8)]
    with pytest.raises(
        DataError, match=r"distinct items are each in .* far fewer: are they people"
    ):
        sv.anonymize(codes, **RELEASE)


def test_columns_of_counts_among_ticks_are_asked_about(make):
    """They were left out, with the items that people have most often."""
    rows = [
        f"c{n},{n % 2},{n % 3 == 0:d},{2 * (n % 4 == 0)},{n if n % 5 == 0 else ''}"
        for n in range(30)
    ]
    path = make("a.csv", "\n".join(["customer,tea,milk,soap,beer", *rows]))
    with pytest.raises(FileFormatError, match="2 columns hold counts, and others only say yes"):
        sv.read(path)
    assert len(sv.read(path, onehot=True).vocabulary) == 2
    assert len(sv.read(path, onehot=True, bags=True).vocabulary) == 4


def test_messages_show_no_nested_person(make):
    text = '{"person": {"name": "Ann Other", "born": 1970}, "items": ["tea"]}\n'
    with pytest.raises(FileFormatError, match="'person' is an object") as refused:
        sv.read(make("a.jsonl", text), item="items", record="person")
    assert "Ann" not in str(refused.value)
