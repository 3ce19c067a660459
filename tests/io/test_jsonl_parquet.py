"""JSON lines and Parquet: lists in rows, and long tables."""

from __future__ import annotations

import duckdb
import pytest

from setveil.data.transactions import Bags, Transactions
from setveil.errors import FileFormatError, OutputError
from setveil.io import read, write

EXPECTED = [("beer", "wine"), (), ("7",)]


@pytest.mark.parametrize(
    "content",
    [
        '["wine", "beer"]\n[]\n[7]\n',
        '{"items": ["wine", "beer"]}\r\n\r\n{"items": []}\r\n{"items": ["7"]}',
        '{"who": 1, "Products": ["wine", "beer"]}\n{"who": 2, "Products": null}\n{"who": 3, '
        '"Products": [7]}\n',
        '{"record": 1, "item": "wine"}\n{"record": 1, "item": "beer"}\n{"record": 2}\n\n'
        '{"record": 3, "item": 7}\n',
        '{"Customer": "x", "price": 2.5, "Item": "wine"}\n{"Customer": "x", "Item": "beer"}\n'
        '{"Customer": 9, "Item": null}\n'
        '{"Customer": 3, "Item": 7}',
        '\ufeff["wine", "beer"]\n[]\n[7]\n',
    ],
)
def test_json_lines_are_read_in_each_shape(make, content):
    assert list(read(make("a.jsonl", content))) == list(read(make("a.txt", content))) == EXPECTED


def test_a_mapping_to_counts_makes_bags(make):
    path = make("a.jsonl", '{"items": {"wine": 2}}\n{"items": {}}\n')
    data = read(path)
    assert isinstance(data, Bags)
    assert (len(data), data.counts.tolist()) == (2, [2])
    assert type(read(path, bags=False)) is Transactions


def test_a_count_key_makes_bags(make):
    assert read(make("a.jsonl", '{"record": 1, "item": "a", "count": 3}\n')).counts.tolist() == [3]


def test_any_text_is_kept_in_json_lines(make):
    assert read(make("a.jsonl", '["007", "a\\nb", "", "\\u0000", "é"]\n')).record(0) == (
        "",
        "\0",
        "007",
        "a\nb",
        "é",
    )


def test_an_empty_file_of_json_lines_holds_no_records(make):
    assert len(read(make("a.jsonl", ""))) == 0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            '["a"]\n["b"\n',
            ", line 2: this line is not JSON (Expecting ',' delimiter: line 2 column 1 (char 5))",
        ),
        ('["a"]\n"b"\n', ": row 2 has no list of items, unlike the first row"),
        ('["a"]\n{"items": ["b"]}\n', ": row 2 has no list of items, unlike the first row"),
        ("5\n", ": row 1 has no list of items"),
        ('["a", ["b"]]\n', ": row 1: an item is a list: it must be a text or a number"),
        ('["a", null]\n', ": row 1: an item is missing: it must be a text or a number"),
        ("[true]\n", ": row 1: an item is true or false: it must be a text or a number"),
        (
            '{"items": {"a": 0}}\n',
            ": row 1: the count of 'a' is 0: it must be a whole number of 1 or more",
        ),
        (
            '{"items": {"a": 1.5}}\n',
            ": row 1: the count of 'a' is 1.5: it must be a whole number of 1 or more",
        ),
        (
            '{"record": 1, "item": "a"}\n{"item": "b"}\n',
            ": data row 2 has no record: every row must belong to one; leave such rows out with "
            "drop_record=''",
        ),
        (
            '{"record": 1, "item": "a"}\n{"record": 1, "item": ["b"]}\n',
            ": a value is a list, an object or true/false instead of a text or a number",
        ),
        (
            '{"tags": ["a"], "words": ["b"]}\n',
            ": the list columns 'tags', 'words' could each be the items; choose one with item=...",
        ),
        (
            '{"a": 1, "b": 2, "c": 3}\n',
            ": no column is obviously the record (the columns are 'a', 'b', 'c'); name it with "
            "record=...",
        ),
        (
            b'["w\x81in"]\n',
            ", line 1: byte 4 of the line (0x81) is not UTF-8; name its encoding, such as "
            "encoding='latin-1', which can read all of it",
        ),
    ],
)
def test_bad_json_lines_get_one_clear_line(make, content, message):
    path = make("a.jsonl", content)
    with pytest.raises(FileFormatError) as error:
        read(path)
    assert str(error.value) == f"{path}{message}"


def parquet(path, select):
    duckdb.execute(f"COPY ({select}) TO '{path}' (FORMAT parquet)").fetchall()
    return path


def test_a_long_parquet_table_is_read(tmp_path):
    rows = "VALUES ('x', 'wine'), ('x', 'beer'), ('a', NULL), ('b', '7')"
    assert (
        list(
            read(parquet(tmp_path / "a.parquet", f"SELECT * FROM ({rows}) AS t(Customer, Product)"))
        )
        == EXPECTED
    )


def test_a_parquet_table_with_a_list_column_is_read(tmp_path):
    rows = "VALUES (1, ['wine', 'beer']), (2, []), (3, ['7'])"
    assert (
        list(read(parquet(tmp_path / "a.parquet", f"SELECT * FROM ({rows}) AS t(id, items)")))
        == EXPECTED
    )


def test_numbers_in_parquet_become_text(tmp_path):
    path = parquet(
        tmp_path / "a.parquet", "SELECT 5 AS record, unnest([10, 9]) AS item, 2 AS count"
    )
    data = read(path)
    assert (list(data), data.counts.tolist()) == ([("9", "10")], [2, 2])


def test_parquet_is_known_by_its_content(tmp_path):
    path = parquet(tmp_path / "a.bin", "SELECT 1 AS record, 'x' AS item")
    assert list(read(path)) == [("x",)]


def test_a_null_list_is_an_empty_record(tmp_path):
    assert list(
        read(parquet(tmp_path / "a.parquet", "SELECT unnest([['a', NULL], NULL]) AS items"))
    ) == [("a",), ()]


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"no parquet", "this is not a Parquet file"), (b"", "this is not a Parquet file")],
)
def test_what_is_no_parquet_file_is_refused(make, content, message):
    path = make("a.parquet", content)
    with pytest.raises(FileFormatError) as error:
        read(path)
    assert str(error.value) == f"{path}: {message}"


def test_a_truncated_parquet_file_is_refused(tmp_path):
    path = parquet(tmp_path / "a.parquet", "SELECT 1 AS record, 'x' AS item")
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(FileFormatError) as error:
        read(path)
    assert str(error.value).startswith(f"{path}: ")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("end", [".gz", ".zst"])
def test_parquet_is_not_packed_again(tmp_path, end):
    with pytest.raises(OutputError) as error:
        write(Transactions.of([["a"]]), tmp_path / f"a.parquet{end}")
    assert (
        str(error.value)
        == f"cannot write {tmp_path / 'a.parquet'}{end}: a parquet file is compressed inside "
        "already; leave out .gz or .zst"
    )


def test_the_json_lines_written_are_as_documented(tmp_path):
    write(Transactions.of([["b", "é"], []]), tmp_path / "a.jsonl")
    assert (tmp_path / "a.jsonl").read_text(
        encoding="utf-8"
    ) == '{"items": ["b", "é"]}\n{"items": []}\n'
    write(Bags.of([["b", "b"]]), tmp_path / "b.jsonl")
    assert (tmp_path / "b.jsonl").read_text(encoding="utf-8") == '{"items": {"b": 2}}\n'


def test_the_parquet_written_has_list_columns(tmp_path):
    write(Bags.of([["b", "b", "a"], []]), tmp_path / "a.parquet")
    assert duckdb.execute(f"SELECT items, counts FROM '{tmp_path / 'a.parquet'}'").fetchall() == [
        (["a", "b"], [1, 2]),
        ([], []),
    ]


@pytest.mark.parametrize(
    "line",
    [
        '{"items": ["a"], "items": ["b"]}',
        '{"items": {"a": 1, "a": 2}}',
        '{"record": 1, "record": 2, "item": "a"}',
    ],
)
def test_an_object_with_the_same_key_twice_is_refused(make, line):
    first = '{"record": 1, "item": "b"}' if "record" in line else '{"items": []}'
    with pytest.raises(FileFormatError) as raised:
        read(make("twice.jsonl", f"{first}\n{line}\n"))
    assert ", line 2: " in str(raised.value)
    assert "an object has the same key twice" in str(raised.value)
