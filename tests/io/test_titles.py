"""Tables as people export them: a title, a date and blank rows above the header, sums below."""

from __future__ import annotations

import gzip
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import setveil as sv
from setveil.data.tables.headers import find_header, joined_names
from setveil.errors import FileFormatError, ParameterError
from setveil.io.files import read_with_account

PRODUCTS = ["bread", "beer", "milk", "red wine", "soap"]
NAMES = ["Order", "Client", "Item", "Price"]


def _orders() -> tuple[list[list[str]], list[tuple[str, ...]]]:
    """The rows of 100 orders with ids and prices, and the baskets that they are."""
    draw, rows, baskets = random.Random(4), [], []
    for number in range(100):
        basket = sorted(draw.sample(PRODUCTS, draw.randint(1, 4)))
        client = f"C{draw.randint(1000, 9999)}"
        rows += [[f"{536000 + number}", client, item, f"{draw.random():.2f}"] for item in basket]
        baskets.append(tuple(basket))
    return rows, baskets


ROWS, BASKETS = _orders()
TITLES = [
    ["Orders of March 2024", ""],
    ["Orders of March 2024"],
    ["Orders, by number, of March", "exported 2024-04-01, by A. Smith", "", ""],
    ["Orders of March 2024,,,", ",,,"],
    ["", '"Orders\nof March"', ""],
    ["From,2024-03-01", "To,2024-03-31", ""],
    ['Orders of "March"', "Filter:,all clients", "Rows:,255"],
]


def _text(titles: list[str], mark: str = ",", names: list[str] = NAMES) -> str:
    return "\n".join([*titles, *(mark.join(row) for row in [names, *ROWS])]) + "\n"


@pytest.mark.parametrize("titles", TITLES)
@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_the_header_is_found_below_title_lines_and_named(make, titles, mark):
    data, account = read_with_account(make("a.csv", _text(titles, mark)))
    assert list(data) == BASKETS
    row = len(titles) + 1
    assert account.header_row == row
    assert account.notes[0].startswith(f"Row {row} names the columns; the ")
    assert account.notes[0].endswith("If another row does, header=... says which.")


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.txt", "a.csv.gz", "a.csv.zip", "a.dat"])
def test_title_lines_are_left_out_whatever_the_file_is_called(tmp_path, name):
    import zipfile

    text, path = _text(TITLES[0], "\t" if "tsv" in name else ",").encode(), tmp_path / name
    path.write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    if name.endswith(".zip"):
        with zipfile.ZipFile(path, "w") as packed:
            packed.writestr("a.csv", text)
    assert list(sv.read(path)) == BASKETS


def test_a_separator_line_and_windows_line_ends_are_no_trouble(make):
    text = _text(["sep=;", "Orders; all", ""], ";").replace("\n", "\r\n")
    assert list(sv.read(make("a.csv", "\ufeff" + text))) == BASKETS


def test_a_one_hot_table_and_a_set_column_are_found_below_titles_too(make):
    text = "Diagnoses of the ward\n\npatient,age,flu,asthma\np7,41,1,0\np9,12,0,0\np3,60,1,1\n"
    assert list(sv.read(make("a.csv", text))) == [("flu",), (), ("asthma", "flu")]
    text = "Sales\n\nid;age;products\n1;41;beer|wine\n2;41;beer\n3;50;milk|milk\n"
    assert list(sv.read(make("b.csv", text))) == [("beer", "wine"), ("beer",), ("milk",)]


@pytest.mark.parametrize("empty", [",,,", "   ,,,", ",,,\n,,,", ",,,\n", '"","","",""'])
def test_rows_of_empty_cells_above_the_header_are_no_names(make, empty):
    titles = empty.split("\n")
    path = make("a.csv", _text(titles))
    assert list(sv.read(path)) == BASKETS
    assert list(sv.read(path, header=len(titles) + 1)) == BASKETS
    with pytest.raises(FileFormatError, match=r"a.csv: its first line names no columns"):
        sv.read(path, header=True, record="Order", item="Item")


def test_a_row_may_be_named_and_the_rest_is_not_searched(make):
    path = make("a.csv", _text(["Orders", "", "Order,Client,Item,Price", ""]))
    data, account = read_with_account(path, header=5)
    assert list(data) == BASKETS
    assert (account.header_row, account.notes) == (5, [])
    with pytest.raises(FileFormatError, match="the columns are 'Orders'"):
        sv.read(path, header=1)
    with pytest.raises(FileFormatError, match=r"a.csv: row 3,000 cannot .* has 254 rows"):
        sv.read(path, header=3000)
    with pytest.raises(FileFormatError, match=r"b.csv: the file is empty"):
        sv.read(make("b.csv", ""), header=1)
    for wrong in (0, -1, "x", "3-2", 2.5):
        with pytest.raises(ParameterError, match="the number of the row that names the columns"):
            sv.read(path, header=wrong)


def test_rows_that_name_the_columns_together_are_asked_about_and_joined(make):
    text = "id,Uses,,,Age\n,R,SQL,None,Response\n7,x,,,41\n9,,x,,35\n8,x,x,,29\n"
    path = make("a.csv", text)
    with pytest.raises(FileFormatError, match="rows 1 to 2 together seem to name the columns"):
        sv.read(path)
    found = sv.read(path, header="1-2", onehot=True)
    assert list(found) == [("Uses: R",), ("Uses: SQL",), ("Uses: R", "Uses: SQL")]
    qualtrics = [["Q1", "Q2"], ["R?", "SQL?"], ['{"ImportId":"1"}', '{"ImportId":"2"}']]
    assert joined_names(qualtrics) == ["Q1: R?", "Q2: SQL?"]


@pytest.mark.parametrize(
    "text",
    [
        "Report\n\na,b\n" + "c,d\ne,f\n" * 20,
        "Report\n1,2,3\n" + "7,8,9\n" * 20,
        "one,two\n" + "a,b,c\n" * 30 + "a\n",
    ],
)
def test_lines_of_one_width_are_never_baskets_without_being_asked_about(make, text):
    path = make("a.csv", text)
    with pytest.raises(FileFormatError) as error:
        sv.read(path)
    assert "'baskets' if each line is a basket" in str(error.value)
    assert "\n" not in str(error.value)
    assert len(sv.read(path, format="baskets")) > 20


def test_rows_that_lack_their_last_cells_are_never_baskets(make):
    """Some programs leave out the commas after the last cell that is not empty."""
    rows = "".join(f"{5000 + n},C{n},beer{',call first' * (n % 3 == 0)}\n" for n in range(60))
    with pytest.raises(FileFormatError, match="expected 4 columns, found 3"):
        sv.read(make("a.csv", f"Orders\n\norder,client,item,comment\n{rows}"))


def test_a_title_in_brackets_is_a_title_and_json_is_json(make):
    assert list(sv.read(make("a.csv", _text(["[Confidential] Orders", ""])))) == BASKETS
    assert list(sv.read(make("b.txt", '["a", "b"]\n["c"]\n'))) == [("a", "b"), ("c",)]


WIDE = ["Orders of March,exported 2024-04-01,for Ann,secret", "by,number,of,order"]


@pytest.mark.parametrize("words", [{}, {"record": "1", "item": "3"}, {"record": "Order"}])
@pytest.mark.parametrize("titles", [WIDE[:1], WIDE, ["", WIDE[0]]])
def test_a_title_as_wide_as_the_table_is_asked_about_with_the_row(make, titles, words):
    """Without the row the question was no help, and named by number the names became items."""
    text = "\n".join([*titles, *map(",".join, [["Order", "Client", "Product", "Price"], *ROWS])])
    row, path = len(titles) + 1, make("a.csv", text + "\n")
    with pytest.raises(FileFormatError) as refused:
        sv.read(path, **words)
    assert str(refused.value) == (
        f"{path}: row {row} seems to name the columns, below rows that are as wide; header={row} "
        "leaves them out, header=1 takes the first row"
    )
    assert list(sv.read(path, header=row, record="Order", item="Product")) == BASKETS
    first = sv.read(path, header=1, record="1", item="3")
    assert "Product" in first.vocabulary  # as it was asked for


def test_a_title_as_wide_as_the_table_is_asked_about_if_no_name_is_known(make):
    text = "\n".join([WIDE[0], *map(",".join, [["Beleg", "Kunde", "Ware", "Preis"], *ROWS])])
    with pytest.raises(FileFormatError, match=r"row 2 seems.*header=2 leaves.*format='baskets'"):
        sv.read(make("a.csv", text + "\n"))


def test_baskets_are_still_baskets(make):
    draw = random.Random(7)
    lines = [",".join(draw.sample(PRODUCTS, draw.randint(1, 5))) for _ in range(200)]
    data, account = read_with_account(make("a.csv", "\n".join(lines)))
    assert (len(data), account.format, account.header_row) == (200, "baskets", 0)


def test_a_footer_is_named_and_a_line_of_sums_can_be_left_out(make):
    path = make("a.csv", _text(TITLES[0]) + "\nTotal: 255 rows\n")
    with pytest.raises(FileFormatError, match=r"line \d+: expected 4 columns, found 1") as error:
        sv.read(path)
    lines = path.read_text().splitlines()
    assert lines[error.value.line - 1] == "Total: 255 rows"
    path = make("b.csv", _text(TITLES[0]) + "Total,,,123.40\n")
    data, account = read_with_account(path)
    assert list(data) == [*BASKETS, ()]
    assert account.notes[-1].endswith("Leave it out with drop_record='Total'.")
    assert list(sv.read(path, drop_record="Total")) == BASKETS


def test_errors_name_the_line_of_the_file_and_not_of_the_table(make):
    path = make("a.csv", 'Sales\n\nid;products\n1;a|b\n2;b|a\n3;"c\n')
    with pytest.raises(FileFormatError, match="line 6"):
        sv.read(path)


def test_several_files_may_each_have_title_lines(tmp_path):
    for number, month in enumerate(("March", "April")):
        rows = "".join(f"{number}{at},beer,2.50\n{number}{at},milk,1.00\n" for at in range(5))
        text = f"Orders of {month}\n\nOrder,Item,Price\n{rows}"
        (tmp_path / f"{number}.csv").write_text(text)
    data, account = read_with_account(tmp_path)
    assert list(data) == [("beer", "milk")] * 10
    assert account.header_row == 3
    assert list(sv.read(tmp_path, header=3)) == list(data)


def _workbook(path, *sheets):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets:
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def test_a_sheet_with_a_sentence_above_its_header_is_read_as_a_table(tmp_path):
    rows = [[int(a), b, c, float(d)] for a, b, c, d in ROWS]
    sheet = [["Orders of March, as the shop exports them"], [], NAMES, *rows]
    path = _workbook(tmp_path / "a.xlsx", ("Orders", sheet))
    data, account = read_with_account(path)
    assert list(data) == BASKETS
    assert account.header_row == 3
    assert list(sv.read(path, header=3)) == BASKETS
    shifted = [[], ["", "Orders"], [], *([None, *row] for row in sheet[2:])]
    path = _workbook(tmp_path / "b.xlsx", ("Orders", shifted))
    assert list(sv.read(path, record="Order", item="Item")) == BASKETS


def test_sheets_that_look_like_tables_are_named(tmp_path):
    table, about = [NAMES, *ROWS], [["About these data"], ["Ask Ann"]]
    path = _workbook(tmp_path / "a.xlsx", ("About", about), ("Orders", table), ("More", table))
    with pytest.raises(FileFormatError) as error:
        sv.read(path)
    assert str(error.value) == (
        f"{path}: the first sheet, 'About', does not look like a table, but 'Orders', 'More' do; "
        "choose with sheet=..."
    )
    assert list(sv.read(path, sheet="Orders")) == BASKETS
    path = _workbook(tmp_path / "b.xlsx", ("Orders", table), ("About", about), ("More", table))
    found = sv.inspect(path)
    assert found.notes[0] == (
        "The sheet 'Orders' was read, the first of 3; sheet=... names another. These look like "
        "tables too: 'More'."
    )


def test_a_sheet_of_baskets_is_one_and_a_sheet_with_gaps_is_asked_about(tmp_path):
    baskets = [list(basket) for basket in BASKETS]
    spaced = [row for basket in baskets for row in (basket, [])]
    data, account = read_with_account(_workbook(tmp_path / "a.xlsx", ("Baskets", spaced)))
    assert list(data) == BASKETS
    assert account.left_out == ["99 blank lines were skipped: they only separate the records."]
    gaps = [[f"name {n}", None if n % 3 else "x", f"town {n}"] for n in range(30)]
    with pytest.raises(FileFormatError):
        sv.read(_workbook(tmp_path / "b.xlsx", ("Other", gaps)))


CELLS = st.sampled_from(["a", "b7", "12", "2024-03-01", "Ann", "", "x y", "yes"])


@given(
    st.lists(st.lists(CELLS, max_size=2), max_size=4),
    st.integers(3, 6),
    st.integers(2, 8),
    st.integers(0, 10**6),
)
def test_whatever_is_above_a_clear_header_it_is_found(titles, width, size, seed):
    draw = random.Random(seed)
    names = [f"name of {letter}" for letter in "klmnop"[:width]]
    rows = [[str(draw.randint(1, 999)) for _ in names] for _ in range(size)]
    above = [title if any(title) else [] for title in titles]
    found = find_header([*above, names, *rows])
    assert found == len(above) or size <= len(above)


@given(st.lists(st.lists(st.sampled_from(PRODUCTS), min_size=1, max_size=5), max_size=12))
def test_no_basket_of_words_is_ever_taken_for_a_header(baskets):
    assert find_header(baskets) is None


@pytest.mark.parametrize(
    "text",
    [
        "1e3 7 1e3 10\nwine 10\n\nNaN a;b\n7\n\n10 wine\n",
        "007 007\ncafe\n007 7 wine 1e3\n\nwine a;b\n7 10\n1e3 7 1e3\n10 10\n",
    ],
)
def test_only_a_table_loses_the_lines_above_its_header(make, text):
    lines = text.split("\n")[:-1]
    assert [set(record) for record in sv.read(make("a.dat", text))] == [
        set(line.split()) for line in lines
    ]
