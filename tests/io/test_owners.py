"""Which record a row belongs to: rows are joined if the user asks for it, and doubt is refused."""

from __future__ import annotations

import json

import pytest

from setveil.errors import FileFormatError
from setveil.io import read

VISITS = [("ann", ["beer", "wine"]), ("bob", ["milk"]), ("ann", ["beer", "tea"]), ("cy", [])]
JOINED = [("beer", "tea", "wine"), ("milk",), ()]


def write_lists(path, names=("customer", "items"), rows=VISITS):
    if path.suffix == ".jsonl":
        path.write_text(
            "".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows),
            encoding="utf-8",
        )
        return path
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    parquet.write_table(pyarrow.table(columns), path)
    return path


@pytest.mark.parametrize("name", ["visits.jsonl", "visits.parquet"])
class TestLists:
    def test_rows_of_one_owner_are_joined_where_the_column_is_named(self, name, tmp_path):
        data = read(write_lists(tmp_path / name), record="customer")
        assert [tuple(sorted(record)) for record in data] == JOINED
        assert read(write_lists(tmp_path / name), record="customer", bags=True).counts.tolist() == [
            2,
            1,
            1,
            1,
        ]

    def test_a_column_that_repeats_is_not_passed_over_in_silence(self, name, tmp_path):
        with pytest.raises(
            FileFormatError,
            match="the column 'customer' repeats, so a record may span several rows; join them "
            "with record='customer'",
        ):
            read(write_lists(tmp_path / name))

    def test_each_row_is_a_record_where_nothing_says_otherwise(self, name, tmp_path):
        assert len(read(write_lists(tmp_path / name, names=("shop", "items")))) == 4
        assert len(read(write_lists(tmp_path / name, rows=[("1", ["a"]), ("2", ["a"])]))) == 2

    def test_a_column_that_is_not_there_is_refused(self, name, tmp_path):
        with pytest.raises(FileFormatError, match="there is no column 'buyer' for the record"):
            read(write_lists(tmp_path / name), record="buyer")


def test_a_line_that_does_not_say_whose_it_is_gets_a_message(tmp_path):
    path = write_lists(tmp_path / "visits.jsonl", rows=[("ann", ["a"]), (None, ["b"])])
    with pytest.raises(
        FileFormatError, match="row 2: 'customer' is missing: it must be a text or a number"
    ):
        read(path, record="customer")


def test_lists_without_names_have_no_owner(tmp_path):
    (tmp_path / "bare.jsonl").write_text('["a"]\n["b"]\n', encoding="utf-8")
    with pytest.raises(
        FileFormatError, match="there is no column 'customer' for the record: each line is a list"
    ):
        read(tmp_path / "bare.jsonl", record="customer")


class TestLongTables:
    ROWS = "id,buyer,product\n1,ann,beer\n2,bob,milk\n3,ann,wine\n"

    def test_a_guessed_column_that_numbers_the_rows_is_refused(self, tmp_path):
        (tmp_path / "rows.csv").write_text(self.ROWS, encoding="utf-8")
        with pytest.raises(
            FileFormatError,
            match="every row has a different 'id', so it may only number the rows; use record='id'",
        ) as caught:
            read(tmp_path / "rows.csv")
        assert "for example record='buyer'" in str(caught.value)
        assert len(read(tmp_path / "rows.csv", record="buyer")) == 2
        assert len(read(tmp_path / "rows.csv", record="id")) == 3

    def test_json_lines_likewise(self, tmp_path):
        names, *rows = [line.split(",") for line in self.ROWS.splitlines()]
        lines = [json.dumps(dict(zip(names, row, strict=True))) for row in rows]
        (tmp_path / "rows.jsonl").write_text("\n".join(lines), encoding="utf-8")
        with pytest.raises(FileFormatError, match="every row has a different 'id'"):
            read(tmp_path / "rows.jsonl")

    @pytest.mark.parametrize(
        "text",
        [
            "record,item\n1,a\n2,b\n",
            "record,item,count\n1,a,2\n2,b,1\n",
            "record,item,time\n1,a,9\n2,b,8\n",
            "id,item,shop\n1,a,x\n",
        ],
    )
    def test_records_of_one_item_are_read_where_there_is_no_doubt(self, text, tmp_path):
        (tmp_path / "rows.csv").write_text(text, encoding="utf-8")
        assert len(read(tmp_path / "rows.csv")) == text.count("\n") - 1
