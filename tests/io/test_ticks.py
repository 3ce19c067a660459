"""Surveys: a column for each option, ticked by a word or by its own name, among free text."""

from __future__ import annotations

import random

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import setveil as sv
from setveil.data.tables.shapes import chosen_columns, find_ticks
from setveil.errors import DataError, FileFormatError, ParameterError
from setveil.io.files import read_with_account
from tests.io.test_titles import _workbook
from tests.oracle import readers

TOOLS = ["Excel", "R", "SQL"]
NAMES = ["Response ID", "Date", *(f"Uses [{tool}]" for tool in TOOLS), "Uses [Other]", "Comments"]
SECRET = "ask Ann Smith"


def _survey(yes: str | None, no: str, size: int = 60) -> tuple[list[list[str]], list[tuple]]:
    """The rows of a survey, and the options that each person ticked; None ticks by their name."""
    draw, rows, ticked = random.Random(3), [], []
    for number in range(size):
        chosen = [tool for tool in TOOLS if draw.random() < 0.5]
        cells = [(tool if yes is None else yes) if tool in chosen else no for tool in TOOLS]
        other = f"{SECRET} {number}" if number % 9 == 5 else ""
        rows.append([str(9000 + number), "2024-03-01", *cells, other, f"{SECRET} {number}"])
        ticked.append(tuple(sorted(f"Uses [{tool}]" for tool in chosen)))
    return rows, ticked


def _csv(names: list[str], rows: list[list[str]]) -> str:
    return "".join(",".join(row) + "\n" for row in [names, *rows])


@pytest.mark.parametrize(
    ("yes", "no"),
    [
        *((None, ""), ("Yes", "No"), ("1", "0"), ("x", ""), ("TRUE", "FALSE")),
        *(("Checked", "Unchecked"), ("Selected", "Not Selected")),
    ],
)
@pytest.mark.parametrize("words", [["Uses *"], ["3-6"], ["uses [*"], [3, "4-5"], ["3-7"]])
def test_ticked_options_are_items_and_free_text_is_left_out(make, yes, no, words):
    rows, ticked = _survey(yes, no)
    data, account = read_with_account(make("a.csv", _csv(NAMES, rows)), item=words)
    assert list(data) == ticked
    assert SECRET not in "".join([*data.vocabulary, *account.notes])
    assert account.columns == {}
    left = [note for note in account.notes if "hold texts rather than ticks" in note]
    assert bool(left) == (words != [3, "4-5"])


def test_options_that_have_their_own_names_are_found_without_being_named(make, tmp_path):
    rows, ticked = _survey(None, "")
    short = [row[:5] for row in rows]
    path = make("a.csv", _csv(NAMES[:5], short))
    data, account = read_with_account(path)
    assert list(data) == ticked
    assert account.notes[0].startswith("3 columns were read as items, one row as one record")
    assert list(sv.read(path, onehot=True)) == ticked
    sheet = [["A survey, March"], [], NAMES[:5], *short]
    assert list(sv.read(_workbook(tmp_path / "a.xlsx", ("Survey", sheet)))) == ticked
    with pytest.raises(FileFormatError, match="3 columns hold ticks"):
        sv.read(make("b.csv", _csv([*NAMES, "Age"], [[*row, "41"] for row in rows])))


def test_a_text_that_comes_late_is_never_an_item_by_a_guess(make):
    names = ["id", "Uses [R]", "Uses [SQL]", "Other"]
    rows = [[str(n), "R", "", "Other"] for n in range(9_000)]
    rows += [["9000", "", "SQL", SECRET]]
    for words in ({}, {"item": ["2-4"]}, {"onehot": True}):
        data, account = read_with_account(make("a.csv", _csv(names, rows)), **words)
        assert set(data.vocabulary) == {"Uses [R]", "Uses [SQL]"}
        assert "'Other'" in account.notes[-1]


def test_items_are_named_after_column_and_option(make):
    names = ["id", "Q1_1", "Q1_2", "Q2", "Q3"]
    rows = [[str(n), "R" * (n % 2), "SQL", "often" if n % 3 else "never", ""] for n in range(9)]
    rows[4][4] = SECRET
    data, account = read_with_account(make("a.csv", _csv(names, rows)), item=["Q*", "Q2"])
    expected = {"Q1_1: R", "Q1_2: SQL", "Q2: never", "Q2: often"}
    assert set(data.vocabulary) == expected
    assert account.notes[0].startswith("Left out, because they hold texts rather than ticks: 'Q3'.")


def test_numbers_are_no_options(make):
    names, rows = ["id", "a", "b", "n"], [[str(n), "1", "0", "2"] for n in range(9)]
    path = make("a.csv", _csv(names, rows))
    assert set(sv.read(path, item=["2-4"]).vocabulary) == {"a"}
    counts = make("b.csv", _csv(["id", "a", "b"], [[str(n), "0", str(n + 2)] for n in range(9)]))
    with pytest.raises(
        FileFormatError, match=r"hold numbers .* counts, add onehot=True and bags=True"
    ):
        sv.read(counts, item=["b*"])
    found = sv.read(counts, record="id", item=["2-3"], onehot=True, bags=True)
    assert (set(found.vocabulary), found.counts.tolist()) == ({"b"}, list(range(2, 11)))


def test_columns_of_the_same_name_have_their_number_in_the_item(make):
    text = "id,R,Other,SQL,Other,None\n1,x,x,,,\n2,,,x,x,\n3,x,x,x,,x\n"
    path = make("a.csv", text)
    expected = [
        ("Other (column 3)", "R"),
        ("Other (column 5)", "SQL"),
        ("None", "Other (column 3)", "R", "SQL"),
    ]
    assert list(sv.read(path)) == expected
    assert list(sv.read(path, item=["2-6"])) == expected
    assert next(iter(sv.read(path, item=["Other*"]))) == ("Other (column 3)",)
    with pytest.raises(FileFormatError, match="there are several columns 'Other' for the item"):
        sv.read(path, item=["Other", "R"])


def test_lists_over_several_columns_are_split_into_cells(make):
    text = "patient,Diag 1,Diag 2\nP1,I10,E11\nP2,E11,\nP3,I10,\n"
    path = make("a.csv", text)
    with pytest.raises(FileFormatError, match="hold texts rather than ticks; split='none' makes"):
        sv.read(path, item=["Diag *"])
    assert list(sv.read(path, item=["Diag *"], split="none")) == [
        ("E11", "I10"),
        ("E11",),
        ("I10",),
    ]


def test_rows_of_one_person_are_joined_when_named(make):
    text = "person,A,B\np1,x,\np1,,x\np2,x,\n"
    path = make("a.csv", text)
    assert list(sv.read(path, record="person", item=["A", "B"])) == [("A", "B"), ("A",)]
    with pytest.raises(FileFormatError, match="'person' repeats"):
        sv.read(path, item=["2-3"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["zz*"], "no column matches 'zz\\*'"),
        (["3-99"], "there are no columns 3 to 99: the table has 7"),
        (["5-3"], "there are no columns 5 to 3"),
        (["Uses *", "Nope"], "there is no column 'Nope' for the item"),
    ],
)
def test_words_that_name_no_column_get_one_clear_line(make, words, message):
    with pytest.raises(FileFormatError, match=message):
        sv.read(make("a.csv", _csv(NAMES, _survey(None, "")[0])), item=words)


@pytest.mark.parametrize("onehot", [None, True])
@pytest.mark.parametrize("words", [{"item": ["2-3"]}, {"item": ["i*"], "record": "id"}])
def test_columns_of_items_without_names_get_one_clear_line(make, tmp_path, words, onehot):
    """The row reader once looked for the first of no columns."""
    names = "id" if "record" in words else "Orders"
    path = make("a.csv", f"{names},,\n1,wine,beer\n2,tea,\n")
    with pytest.raises(FileFormatError, match="no column of items is left: those that were named"):
        sv.read(path, onehot=onehot, **words)
    if "record" in words:
        table = pd.DataFrame({"id": [1, 2], "beer": [1, 0]})
        with pytest.raises(DataError, match="no column of items is left"):
            sv.as_transactions(table, **words)


def test_several_item_columns_are_refused_where_there_are_no_columns(make):
    with pytest.raises(ParameterError, match="item = "):
        sv.read(make("a.jsonl", '["a"]\n["b"]\n'), item=["a*"])
    with pytest.raises(DataError):
        sv.as_transactions([["a"]], item=["a*"])


def test_one_word_is_the_column_it_always_was(make):
    path = make("a.csv", "person,12-30,b*\np1,x,y\np1,z,y\np2,x,w\n")
    assert list(sv.read(path, record="person", item="12-30")) == [("x", "z"), ("x",)]
    assert list(sv.read(path, record="person", item="b*")) == [("y",), ("w",)]


@pytest.mark.parametrize("kind", ["pandas", "polars", "parquet"])
def test_tables_in_memory_and_parquet_files_have_options_too(tmp_path, kind):
    rows, ticked = _survey(None, "")
    columns = dict(zip(NAMES, zip(*rows, strict=True), strict=True))
    library = pytest.importorskip("polars" if kind == "parquet" else kind)
    frame = library.DataFrame({name: list(cells) for name, cells in columns.items()})
    if kind == "parquet":
        frame.write_parquet(tmp_path / "a.parquet")
        assert list(sv.read(tmp_path / "a.parquet", item=["Uses *"])) == ticked
        return
    assert list(sv.as_transactions(frame, item=["Uses *"])) == ticked
    made = sv.anonymize(frame, item=["3-6"], k=2, m=1, method="disassociation", seed=1)
    assert SECRET not in str(made.release.to_dict() if hasattr(made.release, "to_dict") else made)


CELLS = st.sampled_from(["", "x", "0", "R", "SQL", "my text", "own", "7"])


@given(
    st.lists(st.tuples(CELLS, CELLS, CELLS), max_size=12),
    st.sets(st.sampled_from(["R", "Q1", "Q2"])),
    st.booleans(),
)
def test_options_are_those_of_the_plain_reader(rows, alone, only_own):
    names = ["R", "Q1", "Q2"]
    ticks = find_ticks(names, alone, rows, only_own=only_own)
    found, left = readers.ticked(names, alone, rows, only_own=only_own)
    assert (list(ticks.left_out), len(ticks.columns)) == (left, 3 - len(left))
    places = [names.index(name) for name in ticks.columns]
    assert [sorted(ticks.items([row[at] for at in places])) for row in rows] == found


def test_only_a_star_is_special_in_a_pattern():
    names = ["Use? [a]", "Use? [b]", "Used", "12-30"]
    assert chosen_columns(names, ["Use? [*"])[0] == names[:2]
    assert chosen_columns(names, ["12-30", "*ed"]) == (["Used", "12-30"], {"12-30"})
