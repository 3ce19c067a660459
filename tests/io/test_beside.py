"""Columns beside the sets of files and tables: which rows they are of, and which kind they have."""

from __future__ import annotations

import pandas as pd
import pytest

from setveil import Table, as_transactions, read
from setveil.data.tables.beside import column_of
from setveil.errors import DataError, ParameterError, SetveilError, UnknownItemError
from setveil.pipeline.inputs import load

PEOPLE = """patient,born,sex,place,codes
1,1931,F,01067,a|b
2,1940.0,M,01099,b
3,,F,80331,
4,1931,M,,a|c
"""


@pytest.fixture
def people(tmp_path):
    def write_it(text=PEOPLE, name="people.csv"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write_it


def test_columns_of_a_table_with_sets_are_kept_beside_them(people):
    data = read(people(), columns=["born", "sex", "place"])
    assert isinstance(data, Table)
    assert list(data) == [("a", "b"), ("b",), (), ("a", "c")]
    born, sex, place = data.columns
    assert (born.kind, born.texts) == ("number", ["1931", "1940", "", "1931"])
    assert (sex.kind, sex.texts) == ("word", ["F", "M", "F", "M"])
    assert (place.kind, place.texts) == ("word", ["01067", "01099", "80331", "missing"])


def test_columns_of_a_long_table_are_those_of_its_records(people):
    rows = "patient,item,born\nx,a,1931\ny,b,1940\nx,b,1931\nz,,1950\n"
    data = read(people(rows), record="patient", columns="born")
    assert list(data) == [("a", "b"), ("b",), ()]
    assert data.columns[0].texts == ["1931", "1940", "1950"]
    dropped = read(people(rows), record="patient", columns="born", drop_record="y")
    assert dropped.columns[0].texts == ["1931", "1950"]


def test_a_parquet_file_and_a_frame_give_the_same_columns_as_a_csv(people, tmp_path):
    frame = pd.read_csv(people(), dtype={"place": str})
    frame["codes"] = [["a", "b"], ["b"], [], ["a", "c"]]
    frame.to_parquet(tmp_path / "people.parquet")
    names = ["born", "sex", "place"]
    expected = read(people(), columns=names).columns
    assert read(tmp_path / "people.parquet", item="codes", columns=names).columns == expected
    assert as_transactions(frame, item="codes", columns=names).columns == expected


def test_columns_that_are_not_named_are_dropped_and_named(people):
    from setveil.io.files import read_with_account

    _, account = read_with_account(people(), columns=["born"])
    assert account.ignored == ("sex", "place")
    assert any(
        note == "Dropped, so not published: 'patient', 'sex', 'place'." for note in account.notes
    )


def test_a_person_has_one_value_in_each_column(people):
    rows = "patient,item,born\nx,a,1931\nx,b,1932\n"
    with pytest.raises(DataError, match="'born' has several values for 1 record"):
        read(people(rows), record="patient", columns=["born"])


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1", "2.50", "-3"], "number"),
        (["1", "NA", "", None], "number"),
        (["007", "12"], "word"),
        (["0", "0.5"], "number"),
        (["1931-02-28", "2001-01-01 10:00"], "date"),
        (["1931-02-30"], "word"),
        (["1e5"], "word"),
        (["", None], "word"),
        (["1,5", "2"], "word"),
    ],
)
def test_the_kind_of_a_column_is_that_of_all_its_cells(cells, kind):
    assert column_of("x", cells).kind == kind


def test_a_hierarchy_makes_words_of_numbers(people, tmp_path):
    trees = {"born": "any", "place": "prefix:2"}
    data = read(people(), columns=["born", "place"], column_hierarchies=trees)
    assert data.columns[0].values == ("1931", "1940", "missing")
    assert data.columns[1].tree.path("01067") == ("01067", "01", "*")
    assert data.columns[1].tree.path("missing") == ("missing", "*")


def test_bad_columns_are_refused_in_one_line(people, tmp_path):
    cases = {
        ("nothing",): "there is no column 'nothing' for the column",
        ("codes",): "cannot be both the item and beside the items",
        ("patient",): "cannot be both the record and beside the items",
    }
    for names, problem in cases.items():
        with pytest.raises(SetveilError, match=problem):
            read(people(), columns=list(names))
    with pytest.raises(ParameterError, match="it is not one of the columns"):
        read(people(), columns=["born"], column_hierarchies={"sex": "any"})
    with pytest.raises(ParameterError, match="name the columns that have a hierarchy"):
        read(people(), column_hierarchies={"sex": "any"})
    mixed = "".join(f"{i},{i},a|b\n" for i in range(9)) + "9,old,a\n"
    with pytest.raises(DataError, match=r"'age' has 9 numbers and 1 others, such as in record 10"):
        read(people("patient,age,codes\n" + mixed), columns=["age"])
    unique = "".join(f"{i},p{i},a|b\n" for i in range(30))
    with pytest.raises(DataError, match="'who' has 30 different values in 30 rows"):
        read(people("patient,who,codes\n" + unique), columns=["who"])
    assert (
        len(read(people("patient,who,codes\n" + unique), columns=["who"], keep_unique=True)) == 30
    )
    tree = tmp_path / "sex.csv"
    tree.write_text("F;*\n")
    with pytest.raises(UnknownItemError, match="the hierarchy of the column 'sex' has no leaf for"):
        read(people(), columns=["sex"], column_hierarchies={"sex": str(tree)})
    baskets = tmp_path / "baskets.dat"
    baskets.write_text("1 2\n2 3\n")
    with pytest.raises(ParameterError, match="have columns, and this is fimi"):
        read(baskets, columns=["x"])
    with pytest.raises(ParameterError, match="only tables have columns"):
        as_transactions([["a"]], columns=["x"])
    with pytest.raises(ParameterError, match="must be a list of names"):
        read(people(), columns=[])


def test_verbs_read_columns_with_their_hierarchies_from_frames_too(people):
    frame = pd.read_csv(people(), dtype={"place": str})
    frame["codes"] = [["a"], ["b"], [], ["a"]]
    reading = {"item": "codes", "columns": ["place"], "column_hierarchies": {"place": "prefix:2"}}
    data = load(frame, reading)
    assert data.columns[0].tree.path("01067") == ("01067", "01", "*")
