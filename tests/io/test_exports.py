"""Files as people have them: sets in one column, one-hot tables, spreadsheets, odd exports."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

import setveil as sv
from setveil.data.account import far_too_long
from setveil.data.tables.cells import guess_mark, splitter
from setveil.errors import DataError, FileFormatError, MissingExtraError, ParameterError
from setveil.io.files import read_with_account
from setveil.io.source.database import database, run

SETS = [("beer", "wine"), ("beer",), ("milk",)]


@pytest.mark.parametrize(
    "text",
    [
        "id;age;products\n1;41;beer|wine\n2;41;beer\n3;50;milk|milk\n",
        "id,age,products\n1,41,beer; wine\n2,41,beer;\n3,50,milk;milk\n",
        "id,age,products\n1,41,\"['beer', 'wine']\"\n2,41,['beer']\n3,50,['milk']\n",
        'id,age,products\n1,41,"[""beer"", ""wine""]"\n2,41,"[""beer""]"\n3,50,"[""milk""]"\n',
        "id,age,products\n1,41,{beer;wine}\n2,41,{beer}\n3,50,{milk}\n",
        "age\tproducts\n41\tbeer|wine\n41\tbeer\n50\tmilk|milk\n",
        "products\nbeer|wine\nbeer\nmilk|milk\n",
        "kunde_nr;age;einkauf\n1;41;beer|wine\n2;41;beer|beer\n3;50;milk\n",
    ],
)
def test_a_column_of_sets_is_split_with_a_note(make, text):
    data, account = read_with_account(make("a.csv", text))
    assert list(data) == SETS
    assert "was split" in account.notes[0]
    assert "split='none'" in account.notes[0]
    assert "age" not in account.columns.values()


def test_a_column_that_may_hold_sets_is_asked_about_and_ages_never_become_people(make):
    path = make("a.csv", 'age,products\n41,"beer, wine"\n41,beer\n50,"milk, milk"\n')
    with pytest.raises(FileFormatError) as error:
        sv.read(path)
    assert str(error.value) == (
        f"{path}: the cells of 'products' seem to hold several items each; split=',' splits them, "
        "split='none' keeps each as one item"
    )
    assert list(sv.read(path, split=",")) == SETS
    with pytest.raises(FileFormatError, match="no column is obviously the record"):
        sv.read(make("b.csv", "age,product\n41,beer\n50,wine\n"))


def test_a_record_with_several_rows_of_sets_is_joined_only_when_named(make):
    path = make("a.csv", 'customer,items\n1,[a]\n1,"[b, c]"\n2,[a]\n')
    with pytest.raises(FileFormatError, match="'customer' repeats"):
        sv.read(path)
    assert list(sv.read(path, record="customer")) == [("a", "b", "c"), ("a",)]


def test_a_long_table_whose_items_have_bars_is_not_split(make):
    text = "customer,product\n1,food|milk\n1,food|bread\n2,food|milk\n"
    data, account = read_with_account(make("a.csv", text))
    assert list(data) == [("food|bread", "food|milk"), ("food|milk",)]
    assert "split='|'" in account.notes[0]


ITEMS = st.lists(st.text(min_size=1).filter(lambda text: text.strip() == text), max_size=4)


@given(ITEMS)
def test_python_and_json_lists_are_read_as_they_are(items):
    import json

    listed = splitter("list")
    plain = [item for item in items if item.isprintable()]
    assert listed(repr(plain)) == plain
    assert listed(json.dumps(plain)) == plain
    assert listed(json.dumps(plain, ensure_ascii=False)) == plain


@pytest.mark.parametrize(
    ("cell", "items"),
    [
        ("['a' 'b'\n 'c d']", ["a", "b", "c d"]),
        ("{'x', \"it's\"}", ["x", "it's"]),
        ("frozenset({'a'})", ["a"]),
        ("set()", []),
        ("[1 2 3]", ["1", "2", "3"]),
        ("[1, 2.5, None, nan]", ["1", "2.5"]),
        ('{"a b",c}', ["a b", "c"]),
        (r'["caf\u00e9 \ud83d\ude00", "a\/b", "q\"x"]', ["café 😀", "a/b", 'q"x']),
    ],
)
def test_lists_of_other_programs_are_understood(cell, items):
    assert splitter("list")(cell) == items


@pytest.mark.parametrize("cell", ["['a', ['b']]", "['a", "{'a': 2}", r"['\ud83d']", "['a'"])
def test_damaged_lists_are_refused_with_their_row(make, cell):
    with pytest.raises(FileFormatError, match="data row 1, column 'items': "):
        sv.read(make("a.tsv", f"id\titems\n1\t{cell}\n"), split="list")


@pytest.mark.parametrize(
    ("mark", "cell", "items"),
    [
        (",", 'milk,"butter, salted"', ["milk", "butter, salted"]),
        (",", ' "butter, salted" , milk,', ["butter, salted", "milk"]),
        (";", '"a;b";"c";', ["a;b", "c"]),
        (" ", 'milk "butter salted"  x', ["milk", "butter salted", "x"]),
        ("\t", '"a\tb"\tc', ["a\tb", "c"]),
        (", ", '"a, b", c,d', ["a, b", "c,d"]),
        (",", '"say ""x, y""",z', ['say "x, y"', "z"]),
        (",", '7" pipe, 9" pipe', ['7" pipe', '9" pipe']),
        (",", '"best of" albums, "x', ['"best of" albums', '"x']),
        (",", '"",a', ["a"]),
        ('"', 'a"b"c', ["a", "b", "c"]),
    ],
)
def test_a_mark_inside_a_quoted_item_does_not_split_it(mark, cell, items):
    assert splitter(mark)(cell) == items


@given(ITEMS, st.sampled_from([",", ";", "|", " ", "\t", ", "]))
def test_items_in_quotes_are_read_as_they_are(items, mark):
    plain = [item for item in items if item.isprintable()]
    quoted = ['"' + item.replace('"', '""') + '"' for item in plain]
    assert splitter(mark)(mark.join(quoted)) == plain


def test_a_set_column_with_quoted_items_is_read(make):
    text = 'id;products\n1;milk,"butter, salted"\n2;"milk,""butter, salted"""\n3;milk\n'
    both = ("butter, salted", "milk")
    assert list(sv.read(make("a.csv", text), split=",")) == [both, both, ("milk",)]


def test_names_and_numbers_are_not_sets():
    assert guess_mark(["whole milk", "12", "a;"]) is None
    assert guess_mark([]) is None


ONE_HOT = [("flu",), (), ("asthma", "flu")]


@pytest.mark.parametrize(
    ("yes", "no"),
    [("1", "0"), ("True", "false"), ("yes", "NO"), ("y", "n"), ("x", ""), ("1,0", "0,0")],
)
@pytest.mark.parametrize("owner", [True, False])
def test_a_one_hot_table_is_read_as_one(make, yes, no, owner):
    rows = [["patient", "flu", "asthma"], ["p1", yes, no], ["p2", no, no], ["p3", yes, yes]]
    text = "".join(";".join(row[not owner :]) + "\n" for row in rows)
    data, account = read_with_account(make("a.csv", text))
    assert list(data) == ONE_HOT
    assert account.layout == "one-hot: one row per record, and 2 columns are items"
    with pytest.raises(FileFormatError, match="this is a one-hot table"):
        sv.read(make("a.csv", text), format="baskets")


def test_one_column_of_items_is_said_to_be_one(make):
    _, account = read_with_account(make("a.csv", "id,beer\n1,yes\n2,no\n"), onehot=True)
    assert account.layout == "one-hot: one row per record, and 1 column is items"


def test_other_columns_of_a_one_hot_table_are_never_items(make):
    text = ",nr,age,flu,asthma,hiv\n0,812,41,1,0,0\n1,813,12,0,0,1\n"
    data, account = read_with_account(make("a.csv", text))
    assert list(data) == [("flu",), ("hiv",)]
    assert account.ignored == ("nr", "age")
    with pytest.raises(FileFormatError, match=r"data row 5003, column 'flu': the cell is neither"):
        sv.read(make("b.csv", text + "2,814,50,1,0,0\n" * 5000 + "3,815,5,maybe,0,0\n"))


def test_a_one_hot_table_may_be_named_and_may_count(make):
    path = make("a.csv", "a,b\n2,0\n0,3\n")
    data = sv.read(path, onehot=True, bags=True)
    assert (list(data), data.counts.tolist()) == ([("a",), ("b",)], [2, 3])
    with pytest.raises(FileFormatError, match=r"says yes or no.*, or keep counts with bags=True"):
        sv.read(path, onehot=True)
    with pytest.raises(ParameterError, match="name several with item="):
        sv.read(path, onehot=True, item="a")


def test_baskets_and_tables_of_other_things_are_not_one_hot(make):
    assert list(sv.read(make("a.csv", "a,b\n1\n0,1\n"))) == [("a", "b"), ("1",), ("0", "1")]
    assert list(sv.read(make("b.csv", "record,item\n1,0\n1,1\n"))) == [("0", "1")]


@pytest.mark.parametrize("kind", ["BOOLEAN", "TINYINT", "DOUBLE", "VARCHAR"])
def test_a_one_hot_parquet_file_is_read_as_one(tmp_path, kind):
    rows = "('p1', 1, 0), ('p2', 0, 0), ('p3', 1, 1)"
    chosen = f"id AS patient, flu::INT::{kind} AS flu, asthma::INT::{kind} AS asthma"
    path = parquet(tmp_path, f"SELECT {chosen} FROM (VALUES {rows}) AS t(id, flu, asthma)")
    assert list(sv.read(path)) == ONE_HOT


def test_a_parquet_file_with_a_column_of_sets_is_split(tmp_path):
    rows = "(1, 'beer|wine'), (2, 'beer'), (3, 'milk|milk')"
    path = parquet(tmp_path, f"SELECT * FROM (VALUES {rows}) AS t(id, products)")
    assert list(sv.read(path)) == SETS
    assert len(sv.read(path, split="none").vocabulary) == 3


def parquet(folder, select):
    path = folder / "a.parquet"
    with database(folder) as connection:
        run(connection, f"COPY ({select}) TO '{path}' (FORMAT parquet)")
    return path


def test_excel_names_the_delimiter_in_the_first_line(make):
    assert list(sv.read(make("a.csv", "sep=;\r\nrecord;item\r\n1;a,b\r\n"))) == [("a,b",)]
    assert list(sv.read(make("b.csv", "sep=,\nbeer,wine\nmilk\n"))) == [("beer", "wine"), ("milk",)]
    sets = make("c.csv", "\ufeffsep=^\nid^products\n1^beer|wine\n2^beer\n3^milk|milk\n")
    assert list(sv.read(sets)) == SETS


def test_columns_are_named_by_number_where_no_column_has_that_name(make):
    path = make("a.csv", "1,beer\n1,wine\n2,beer\n")
    expected = [("beer", "wine"), ("beer",)]
    assert list(sv.read(path, header=False, record=1, item="2")) == expected
    named = make("b.csv", "2,x,1\nbeer,0,1\nwine,0,1\nbeer,0,2\n")
    assert list(sv.read(named, record="1", item="2")) == expected
    assert (
        list(sv.read(make("c.csv", "k,a\n1,beer\n1,wine\n2,beer\n"), record=1, item=2)) == expected
    )
    with pytest.raises(FileFormatError, match="there is no column '3' for the item"):
        sv.read(path, header=False, record=1, item=3)


def test_counts_may_have_a_decimal_comma(make):
    data = sv.read(make("a.csv", "customer;product;qty\n1;a;2,0\n1;b;1,00\n"))
    assert data.counts.tolist() == [2, 1]
    with pytest.raises(FileFormatError, match="ignore all counts with bags=False"):
        sv.read(make("b.csv", "customer;product;qty\n1;a;1,000\n"))


def test_a_placeholder_among_people_is_noted_and_can_be_left_out(make):
    rows = [("0.0", f"p{n}") for n in range(1500)] + [(c, "p1") for c in "abc"] + [("", "p2")]
    text = "CustomerID,StockCode,Country\n" + "".join(f"{c},{p},UK\n" for c, p in rows)
    path = make("a.csv", text)
    with pytest.raises(FileFormatError, match="leave such rows out with drop_record=''"):
        sv.inspect(path)
    found = sv.inspect(path, drop_record="")
    assert found.notes[0] == "Left out: 1 row whose record is ''."
    assert "Its CustomerID is '0.0', perhaps a placeholder" in found.notes[1]
    assert found.notes[1].endswith("Leave its rows out with drop_record='0.0'.")
    assert len(sv.read(path, drop_record=["", "0.0"])) == 3
    named = sv.inspect(make("b.csv", text.replace("0.0,", "jane,")), drop_record="")
    assert "jane" not in named.notes[1]


@pytest.mark.parametrize(
    ("name", "rows", "noted"),
    [
        ("0.0", 300, True),
        ("unknown", 120, True),
        ("1", 300, False),
        ("c7", 300, False),
        ("0.0", 90, False),
    ],
)
def test_a_placeholder_is_noted_in_a_small_table_too(make, name, rows, noted):
    lines = [f"{name},i{place}" for place in range(rows)] + [f"k{k},i1" for k in range(50)]
    _, account = read_with_account(make("a.csv", "\n".join(["customer,product", *lines])))
    note = f"Leave its rows out with drop_record='{name}'."
    assert [each.endswith(note) for each in account.notes] == [True] * noted


def test_two_of_two_records_are_not_far_too_long():
    assert far_too_long(sv.Transactions.of([range(2000), range(2000)]).lengths) == []


def test_options_that_a_file_has_no_use_for_are_refused(make):
    for name, value in {"split": "|", "onehot": True, "drop_record": "x", "header": False}.items():
        with pytest.raises(ParameterError, match="this jsonl file has no use for it"):
            sv.read(make("a.jsonl", '["a"]\n'), **{name: value})
    with pytest.raises(ParameterError, match=r"only a spreadsheet \(\.xlsx\) has sheets"):
        sv.read(make("a.dat", "1 2\n"), sheet=1)


def workbook(path, **sheets):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


LONG = [["Customer", "Product", "Qty"], [7, "a;b", 2.0], [7, 'say "x"', 1], [], [8, "x\ny", 1]]


def test_a_spreadsheet_is_read_like_a_csv_file(tmp_path):
    path = workbook(tmp_path / "a.xlsx", First=LONG, Second=[["id", "items"], [1, "a|b"], [2, "a"]])
    data, account = read_with_account(path)
    assert list(data) == [("a;b", 'say "x"'), ("x\ny",)]
    assert data.counts.tolist() == [2, 1, 1]
    assert "The sheet 'First' was read, the first of 2" in account.notes[0]
    assert account.to_dict()["format"] == "xlsx"
    assert account.encoding == ""
    assert (
        list(sv.read(path, sheet="Second")) == list(sv.read(path, sheet=2)) == [("a", "b"), ("a",)]
    )
    with pytest.raises(FileFormatError, match="there is no sheet 'x': the sheets are 'First'"):
        sv.read(path, sheet="x")
    flags = workbook(tmp_path / "b.xlsx", S=[["a", "b"], [True, None], [None, True]])
    assert list(sv.read(flags)) == [("a",), ("b",)]


def test_bad_spreadsheets_get_one_clear_line(tmp_path, monkeypatch):
    path = workbook(tmp_path / "a.xlsx", S=LONG)
    content = bytearray(path.read_bytes())
    (tmp_path / "b.xlsx").write_bytes(content.replace(b"<", b"")[: len(content) // 2])
    with pytest.raises(FileFormatError, match="damaged"):
        sv.read(tmp_path / "b.xlsx")
    (tmp_path / "c.xls").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600))
    with pytest.raises(FileFormatError, match=r"save it as \.xlsx or as CSV"):
        sv.read(tmp_path / "c.xls")
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(
        MissingExtraError, match=r"openpyxl .the extra excel of setveil.: pip install"
    ):
        sv.read(path)


def test_western_text_is_recognized_and_named(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes("record,item\n1,Crème brûlée\n1,Käse – 5 €\n".encode("cp1252"))
    data, account = read_with_account(path)
    assert list(data) == [("Crème brûlée", "Käse – 5 €")]
    assert account.encoding == "cp1252"
    assert account.notes == [
        "The text is not UTF-8; it was read as cp1252. If letters look wrong, name another "
        "encoding=...."
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Käse".encode() + b" br\xfbl\xe9e", "the other letters are, so correct this one"),
        ("молоко".encode("cp1251"), "name its encoding, such as encoding='cp1252'"),
    ],
)
def test_damaged_and_other_text_is_refused_with_how_to_name_it(tmp_path, text, message):
    (tmp_path / "a.csv").write_bytes(b"record,item\n1," + text + b"\n")
    with pytest.raises(FileFormatError, match=message):
        sv.read(tmp_path / "a.csv")


def test_utf_16_without_its_mark_is_recognized(tmp_path):
    for encoding in ("utf-16-le", "utf-16-be"):
        (tmp_path / "a.csv").write_bytes("record,item\n1,Käse\n".encode(encoding))
        data, account = read_with_account(tmp_path / "a.csv")
        assert (list(data), account.encoding) == ([("Käse",)], encoding)


def test_inspect_names_the_columns(make):
    text = "InvoiceNo,CustomerID,StockCode,Quantity,Country\n1,7,a,2,UK\n1,7,b,1,UK\n"
    found = sv.inspect(make("a.csv", text), record="customerid")
    assert found.account.to_dict() == {
        "format": "csv",
        "encoding": "utf-8",
        "layout": "one row per record and item",
        "person": None,
        "header_row": None,
        "record": "CustomerID",
        "item": "StockCode",
        "count": "Quantity",
        "ignored": ["InvoiceNo", "Country"],
    }


def test_a_job_file_has_the_options_of_reading(make, tmp_path):
    from setveil.pipeline.anonymize import job_from

    words = {
        "split": "|",
        "onehot": False,
        "header": True,
        "drop_record": ("0.0", ""),
        "sheet": "x",
    }
    job = job_from(str(make("a.csv", "id,items\n1,a|b\n")), {"k": 2, "m": 2, **words})
    job.write(tmp_path / "job.toml")
    assert 'drop-record = ["0.0", ""]' in (tmp_path / "job.toml").read_text()
    again = sv.Job.read(tmp_path / "job.toml")
    assert again.reading == {**words, "drop_record": ["0.0", ""]}


def test_a_table_in_memory_is_split_too():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"age": [41, 41, 50], "products": ["beer|wine", "beer", "milk"]})
    assert list(sv.as_transactions(frame, split="|")) == SETS
    assert sv.inspect(frame, split="|").summary.records == 3
    with pytest.raises(DataError, match="the column 'products': a list is not closed"):
        sv.as_transactions(pandas.DataFrame({"products": ["['a'", "[]"]}), split="list")
    with pytest.raises(ParameterError, match="only data in a file needs it"):
        sv.inspect(frame, sheet=1)


def test_rows_of_sets_of_one_record_are_told_from_long_tables_whose_items_have_marks(make):
    """With a repeated record, sets were once read as single items: few records shared them."""
    rows = "1,C07|A1\n1,A1\n2,C07|B2\n3,B2|A1\n3,B2|C07|A1\n"
    for names in ("patient,codes", "patient,product"):
        path = make("a.csv", f"{names}\n{rows}")
        with pytest.raises(FileFormatError, match="'patient' repeats, so a record may span"):
            sv.read(path)
        data, account = read_with_account(path, record="patient")
        assert list(data) == [("A1", "C07"), ("B2", "C07"), ("A1", "B2", "C07")]
        assert account.notes == [
            f"Each cell of {names[8:]!r} was split at '|' into several items; split='none' keeps "
            "it whole."
        ]
    commas = '1,"C, A"\n1,A\n2,"C, B"\n3,"B, A"\n3,"B, C, A"\n'
    with pytest.raises(FileFormatError, match="'codes' seem to hold several items each"):
        sv.read(make("b.csv", f"patient,codes\n{commas}"))
    paths = "1,food|milk\n1,food|bread\n2,food|milk\n2,drink|beer|pale\n2,drink|beer|dark\n"
    data, account = read_with_account(make("c.csv", f"customer,product\n{paths}"))
    assert data[0] == ("food|bread", "food|milk")
    assert "split='|'" in account.notes[0]
