"""Long tables and basket lines, as CSV and TSV."""

from __future__ import annotations

import pytest

from setveil.data.transactions import Bags, Transactions
from setveil.errors import DataError, FileFormatError, ParameterError
from setveil.io import read, write
from setveil.io.source.database import RAGGED

EXPECTED = [("beer", "wine"), ("milk",)]


@pytest.mark.parametrize(
    "content",
    [
        "record,item\n1,wine\n1,beer\n2,milk\n",
        "record,item\r\n1,wine\r\n1,beer\r\n2,milk\r\n",
        "\ufeffrecord,item\n1,wine\n1,beer\n2,milk",
        "RECORD_ID,Item\nx,wine\nx,beer\ny,milk\n",
        "Customer ID;Product\nb;wine\nb;beer\na;milk\n",
        "user|time|term\nb|3|wine\nb|4|beer\na|1|milk\n",
        "\n\ntid,sku\n1,wine\n\n1,beer\n2,milk\n\n",
        "item,record\nwine,1\nbeer,1\nmilk,2\n",
        "record,item\n1,wine\n2,milk\n1,beer\n1,wine\n",
        '"record","item"\n"1","wine"\n"1",beer\n2,"milk"\n',
        "person,what\n1,wine\n1,beer\n2,milk\n",
    ],
)
def test_a_long_table_is_read_whatever_its_dress(make, content):
    assert list(read(make("a.csv", content))) == EXPECTED


def test_a_long_table_with_tabs_is_read(make):
    content = "record\titem\n1\twine\n1\tbeer\n2\tmilk\n"
    assert (
        list(read(make("a.tsv", content)))
        == list(read(make("a.csv", content)))
        == list(read(make("a.txt", content)))
        == EXPECTED
    )


def test_records_come_in_the_order_of_first_appearance(make):
    rows = "".join(f"{number % 1000},i{number}\n" for number in range(5000, 0, -1))
    data = read(make("a.csv", "record,item\n" + rows))
    assert data.record(0) == ("i1000", "i2000", "i3000", "i4000", "i5000")
    assert data.record(1) == ("i1999", "i2999", "i3999", "i4999", "i999")


def test_items_stay_the_texts_they_are(make):
    content = 'record,item\n1,007\n1,NULL\n1,NA\n1,"a,b"\n1,"say ""hi"""\n'
    content += '1,"two\nlines"\n1, 7\n1,1e3\n1,true\n1,crème\n1,#x\n'
    items = read(make("a.csv", content)).record(0)
    assert set(items) == {
        "007",
        "NULL",
        "NA",
        "a,b",
        'say "hi"',
        "two\nlines",
        " 7",
        "1e3",
        "true",
        "crème",
        "#x",
    }


def test_an_empty_item_cell_says_that_the_record_exists(make):
    assert list(read(make("a.csv", 'record,item\n1,\n2,wine\n2,\n3,""\n'))) == [(), ("wine",), ()]


def test_a_count_column_makes_bags(make):
    path = make("a.csv", "record,item,Quantity\n1,wine,2\n1,wine,1\n2,beer,1.0\n3,,\n")
    data = read(path)
    assert isinstance(data, Bags)
    assert data.counts.tolist() == [3, 1]
    assert len(data) == 3
    assert type(read(path, bags=False)) is Transactions


def test_without_a_count_column_rows_count_in_bags(make):
    assert read(make("a.csv", "record,item\n1,a\n1,a\n"), bags=True).counts.tolist() == [2]


def test_columns_may_be_named(make):
    path = make("a.csv", "who,when,what,how many\n1,9,wine,3\n")
    data = read(path, record="WHO", item="what", count="how many")
    assert (list(data), data.counts.tolist()) == ([("wine",)], [3])


def test_a_header_alone_holds_no_records(make):
    assert len(read(make("a.csv", "record,item\n"))) == 0


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("", {}, ": the file is empty: its first line must name the columns"),
        ("", {"format": "csv"}, ": the file is empty: its first line must name the columns"),
        ("record,item\n1\n", {}, f", line 2: expected 2 columns, found 1; {RAGGED}"),
        ("record,item\n1,a,b\n", {}, f", line 2: expected 2 columns, found 3; {RAGGED}"),
        ('record,item\n1,"a\n2,b\n', {}, ", line 2: a quote is opened and never closed"),
        (
            b"record,item\n1,w\x81in\n",
            {},
            ", line 2: byte 4 of the line (0x81) is not UTF-8; name its encoding, such as "
            "encoding='latin-1', which can read all of it",
        ),
        (
            "record,item\r\n1,a\n2,b\r\n",
            {},
            ": the file mixes Windows and Unix line ends, or has a broken quote; correct it "
            "and try again",
        ),
        (
            "record,item\n1,a\n,b\n",
            {},
            ": data row 2 has no record: every row must belong to one; leave such rows out with "
            "drop_record=''",
        ),
        (
            "record,item,count\n1,a,-1\n",
            {},
            ": the count of data row 1 is '-1': it must be a whole number of 1 or more; "
            "correct it, or ignore all counts with bags=False",
        ),
        (
            "record,item,count\n1,a,1\n1,b,0\n",
            {},
            ": the count of data row 2 is '0': it must be a whole number of 1 or more; "
            "correct it, or ignore all counts with bags=False",
        ),
        (
            "record,item,count\n1,a,2.5\n",
            {},
            ": the count of data row 1 is '2.5': it must be a whole number of 1 or more; "
            "correct it, or ignore all counts with bags=False",
        ),
        (
            "record,item,count\n1,a,many\n",
            {},
            ": the count of data row 1 is 'many': it must be a whole number of 1 or more; "
            "correct it, or ignore all counts with bags=False",
        ),
        (
            "record,item,count\n1,a,\n",
            {},
            ": the count of data row 1 is empty: it must be a whole number of 1 or more; "
            "correct it, or ignore all counts with bags=False",
        ),
        (
            "record,item\n1,a\n",
            {"record": "who"},
            ": there is no column 'who' for the record: the columns are 'record', 'item'",
        ),
        (
            "record,item\n1,a\n",
            {"count": "n"},
            ": there is no column 'n' for the count: the columns are 'record', 'item'",
        ),
        (
            "record,item\n1,a\n",
            {"record": "item"},
            ": the column 'item' cannot be both the record and the item",
        ),
        (
            "customer,order,item\n1,2,a\n",
            {},
            ": the columns 'customer', 'order' could each be the record; choose one with "
            "record=...",
        ),
        (
            "a,b,c\n1,2,3\n",
            {"record": "a"},
            ": no column is obviously the item (the columns are 'a', 'b', 'c'); name it with "
            "item=...",
        ),
        (
            "a,b\n1,2\n",
            {},
            ": is each line a whole basket, or one record-item pair? name the columns with "
            "record=... "
            "and item=...; or say onehot=True if each column is an item, or format='baskets'",
        ),
        (
            "1,milk\n1,beer\n2,milk\n",
            {},
            ": is each line a whole basket, or one record-item pair? name the columns with "
            "record=... and item=... (if there is no header: header=False, and their numbers); "
            "or say onehot=True if each column is an item, or format='baskets'",
        ),
    ],
)
def test_a_bad_long_table_gets_one_clear_line(make, content, options, message):
    path = make("a.csv", content)
    with pytest.raises(FileFormatError) as error:
        read(path, **options)
    assert str(error.value) == f"{path}{message}"


@pytest.mark.parametrize(
    ("limit", "works"),
    [("1GB", True), ("500 mb", True), ("lots", False), ("-1GB", False), ("5", False)],
)
def test_the_memory_limit_is_a_size(make, limit, works):
    path = make("a.csv", "record,item\n1,a\n")
    if works:
        assert list(read(path, memory_limit=limit)) == [("a",)]
        return
    with pytest.raises(ParameterError) as error:
        read(path, memory_limit=limit)
    assert (
        str(error.value)
        == f"memory = {limit!r} is not allowed: it must be a size such as 500MB or 3GB"
    )


def test_a_memory_limit_that_is_too_small_is_said(make):
    rows = "".join(f"{number},item {number}\n" for number in range(200_000))
    path = make("a.csv", "record,item\n" + rows)
    with pytest.raises(DataError) as error:
        read(path, memory="1MB")
    assert (
        str(error.value)
        == f"{path} cannot be read within the memory limit; allow more with memory=..."
    )


def test_basket_lines_are_recognized_by_their_different_lengths(make):
    content = 'wine,beer\n\n"milk, fresh"\nwine,,\n'
    assert list(read(make("a.csv", content))) == [("beer", "wine"), (), ("milk, fresh",), ("wine",)]


@pytest.mark.parametrize(
    "content",
    [
        "a,b\r\nc\r\n",
        "\ufeffa,b\nc",
        "a;b\nc\n",
        "a\tb\nc\n",
        "a|b\nc\n",
        "a,b\nc\n\n\n",
        'a,b,""\nc,\n',
    ],
)
def test_basket_lines_are_read_whatever_their_dress(make, content):
    assert list(read(make("a.baskets", content))) == [("a", "b"), ("c",)]


def test_basket_lines_of_one_length_need_the_format(make):
    assert list(read(make("a.csv", "a,b\nc,d\n"), format="baskets")) == [("a", "b"), ("c", "d")]


def test_one_item_in_each_line_of_a_csv_file_is_a_basket(make):
    assert list(read(make("a.csv", "red wine\nbeer\n"))) == [("red wine",), ("beer",)]


def test_repeats_in_basket_lines_count_in_bags(make):
    assert read(make("a.baskets", "a,a,b\n"), bags=True).counts.tolist() == [2, 1]


def test_a_pair_of_quotes_is_an_empty_record(make):
    assert list(read(make("a.baskets", 'a\n""\n'))) == [("a",), ()]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('a,b\n"c\n', ", line 2: this line is not CSV (unexpected end of data)"),
        ('a,b\n"c"d\n', """, line 2: this line is not CSV (',' expected after '"')"""),
        (
            b"a,b\nw\x81in\n",
            ", line 2: byte 2 of the line (0x81) is not UTF-8; name its encoding, such as "
            "encoding='latin-1', which can read all of it",
        ),
    ],
)
def test_a_bad_basket_line_gets_one_clear_line(make, content, message):
    path = make("a.baskets", content)
    with pytest.raises(FileFormatError) as error:
        read(path)
    assert str(error.value) == f"{path}{message}"


def test_the_lines_written_are_as_documented(tmp_path):
    data = Bags.of([{"b": 1, "a,b": 2}, {}])
    for name, text in {
        "a.csv": 'record,item,count\n1,"a,b",2\n1,b,1\n2,,\n',
        "a.tsv": 'record\titem\tcount\n1\t"a,b"\t2\n1\tb\t1\n2\t\t\n',
        "a.baskets": '"a,b","a,b",b\n""\n',
    }.items():
        write(data, tmp_path / name)
        assert (tmp_path / name).read_text(encoding="utf-8") == text


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.baskets"])
def test_the_empty_text_is_not_written_as_an_item(tmp_path, name):
    with pytest.raises(DataError) as error:
        write(Transactions.of([["", "a"]]), tmp_path / name)
    assert (
        str(error.value)
        == "an empty text as an item cannot be written to a CSV file; choose another format, "
        "such as jsonl"
    )
    assert list(tmp_path.iterdir()) == []


def test_real_long_tables_are_read_in_full(shared_data):
    data = read(shared_data / "groceries.csv.gz")
    assert (len(data), len(data.vocabulary), int(data.lengths.max())) == (9_835, 169, 32)


def test_quoted_parts_of_a_cell_with_blanks_between_them_are_one_text(make):
    path = make("a.csv", 'record,item\n1,"a"  "b"\n1,"c" \n')
    assert list(read(path)) == [("a  b", "c")]


def test_one_blank_before_a_quoted_cell_is_dropped_and_more_make_it_plain_text(make):
    path = make("a.csv", 'record,item\n1, "red, wine"\n1,   "beer"\n2, milk\n')
    assert list(read(path)) == [('   "beer"', "red, wine"), (" milk",)]
