"""ARFF files: dense and sparse, and what is asked before anything becomes an item."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import setveil as sv
from setveil.data.transactions import Bags, Transactions
from setveil.errors import DataError, FileFormatError
from setveil.io import read, write
from setveil.io.files import read_with_account
from setveil.pipeline.preview import PreviewJob
from setveil.pipeline.preview import run as preview
from tests.oracle.arff import arff
from tests.strategies import SEEDS

MARKET = r"""% a market
@RELATION 'super market'
@attribute 'bread and cake' {t}
@attribute milk {t, f}   % f says no
@ATTRIBUTE 'it\'s' {0,1}
@attribute "50 %" {no, yes}
@attribute colour {red, 'dark blue', light green}

@data
t,?,1,yes,red
?, t ,0,'no',"dark blue"  % a comment, with commas
?,f,0,no,?
{2 1, 1 f, 0 ?, 4 light green}
"""
RECORDS = [
    ("50 %", "bread and cake", "colour=red", "it's"),
    ("colour=dark blue", "milk"),
    (),
    ("colour=light green", "it's"),
]


def test_nominal_attributes_are_items(make):
    for name in ("a.arff", "a.csv", "a.dat", "a.txt", "a"):
        data, account = read_with_account(make(name, MARKET))
        assert list(data) == RECORDS
        assert (account.format, account.ignored) == ("arff", ())
        assert account.layout == "one row per record, and its items are in 5 attributes"
    assert list(read(make("a.arff", MARKET.replace("\n", "\r\n")))) == RECORDS
    assert [set(record) for record in RECORDS] == arff(MARKET.encode())


def test_one_attribute_of_items_is_said_to_be_one(make):
    text = "@relation r\n@attribute beer {t}\n@data\nt\n?\n"
    _, account = read_with_account(make("a.arff", text))
    assert account.layout == "one row per record, and its items are in 1 attribute"


def test_it_is_never_read_as_anything_else(make):
    for format in ("baskets", "csv", "tsv", "fimi", "jsonl"):
        with pytest.raises(FileFormatError, match="this is an ARFF file, not"):
            read(make("a.txt", MARKET), format=format)


IDS = "@relation r\n{}\n@attribute a {{t}}\n@attribute b {{t}}\n@data\n1,t,?\n1,?,t\n2,t,t\n"


@pytest.mark.parametrize("kind", ["numeric", "real", "integer", "string", "date yyyy", "{1,2}"])
def test_what_may_identify_people_is_asked_about(make, kind):
    path = make("a.arff", IDS.format(f"@attribute ID {kind}"))
    for door in (
        lambda: read(path),
        lambda: sv.inspect(path),
        lambda: sv.anonymize(path, k=2, m=2),
    ):
        with pytest.raises(FileFormatError) as refused:
            door()
        assert str(refused.value) == (
            f"{path}: 'ID' may identify people, so it is not read as items; name the one that says "
            "whose row it is with record=..., or those that are items with item=...; "
            "onehot=True leaves others out"
        )
    assert list(read(path, record="ID")) == [("a", "b"), ("a", "b")]
    data, account = read_with_account(path, onehot=True)
    assert list(data) == [("a",), ("b",), ("a", "b")]
    assert account.ignored == ("ID",)
    assert list(read(path, record="ID", drop_record="2")) == [("a", "b")]


def test_a_nominal_attribute_with_a_value_for_each_row_is_asked_about(make):
    values = ",".join(f"p{number}" for number in range(30))
    rows = "".join(f"p{number},t\n" for number in range(30))
    head = f"@relation r\n@attribute who {{{values}}}\n@attribute a {{t}}\n@data\n"
    with pytest.raises(FileFormatError, match="'who' may identify people"):
        read(make("a.arff", head + rows))
    assert len(read(make("b.arff", head + rows * 11))) == 330
    data, account = read_with_account(make("a.arff", head + rows), onehot=True)
    assert (set(data), account.ignored) == ({("a",)}, ("who",))
    assert list(read(make("a.arff", head + rows), item=["who", "a"]))[3] == ("a", "who=p3")
    words = r"are they identifiers\? leave them out of the file, or name others with item"
    with pytest.raises(FileFormatError, match=words):
        sv.anonymize(make("a.arff", head + rows), k=2, m=2, item=["who", "a"])


@pytest.mark.parametrize("words", [["colour", "a*"], ["2-3"], ["3", "Colour"], ["*"]])
def test_attributes_of_items_can_be_named(make, words):
    head = (
        "@relation r\n@attribute id {p,q}\n@attribute colour {red,blue}\n@attribute a {t}\n@data\n"
    )
    path = make("a.arff", head + "p,red,?\nq,blue,t\n")
    assert list(read(path, record="id", item=words)) == [("colour=red",), ("a", "colour=blue")]


def test_an_attribute_without_a_list_of_values_is_no_item(make):
    path = make("a.arff", IDS.format("@attribute ID numeric"))
    with pytest.raises(FileFormatError, match=r"'ID' has no list of values; name attributes that"):
        read(path, item=["ID", "a"])
    assert list(read(path, item=["a", "b"])) == [("a",), ("b",), ("a", "b")]


def test_a_long_relation_and_a_column_of_sets_are_read_as_such(make):
    long = "@relation r\n@attribute {} string\n@attribute {} string\n@data\n1,a\n1,'b c'\n2,a\n"
    assert list(read(make("a.arff", long.format("customer", "product")))) == [("a", "b c"), ("a",)]
    sets = "@relation r\n@attribute who numeric\n@attribute what string\n@data\n1,'a|b'\n2,a\n"
    how = {"record": "who", "item": "what", "split": "|"}
    assert list(read(make("b.arff", sets), **how)) == [("a", "b"), ("a",)]
    counts = "@relation r\n@attribute a numeric\n@attribute b numeric\n@data\n{0 2}\n{1 1}\n"
    bags = read(make("c.arff", counts), onehot=True, bags=True)
    assert isinstance(bags, Bags)
    assert (list(bags), bags.counts.tolist()) == ([("a",), ("b",)], [2, 1])


def test_a_sparse_row_means_first_values(make):
    head = "@relation r\n@attribute a {0,1}\n@attribute size {S,M}\n@data\n"
    assert list(read(make("a.arff", head + "{}\n{0 1,1 M}\n{1 ?}\n"))) == [
        ("size=S",),
        ("a", "size=M"),
        (),
    ]
    yes = head.replace("{0,1}", "{1,0}")
    with pytest.raises(FileFormatError, match=r"line 5: this row leaves out 'a'.*says yes"):
        read(make("b.arff", yes + "{1 M}\n"))
    assert list(read(make("c.arff", yes + "{0 1,1 M}\n"))) == [("a", "size=M")]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("t,?,1,yes,red", "t,?,1,yes", "line 10: expected 5 values, found 4"),
        ("t,?,1,yes,red", "t,?,1,yes,red,{5}", "line 10: expected 5 values, and one is empty"),
        ("t,?,1,yes,red", "t,,1,yes,red", "line 10: expected 5 values, and one is empty"),
        ("t,?,1,yes,red", "t,?,1,yes,pink", "line 10: 'pink' is not a declared value of 'colour'"),
        ("t,?,1,yes,red", "t,?,1,yes,'red", "line 10: expected 5 values, and one is empty"),
        ("{2 1,", "{2 1, 2 0,", "line 13: the row must be"),
        ("{2 1,", "{7 1,", "line 13: there is no attribute 7"),
        ("@data", "data", "line 9: expected @attribute or @data"),
        ("@attribute milk", "@attribute 'it\\'s'", "line 5: an attribute above has the same name"),
        ("{t, f}", "relational", "line 4: the attribute must have a name and be"),
        ("{t, f}", "{t, f", "line 4: the attribute must have a name and be"),
    ],
)
def test_a_damaged_relation_gets_one_clear_line(make, old, new, said):
    with pytest.raises(FileFormatError) as refused:
        read(make("a.arff", MARKET.replace(old, new, 1)))
    assert f"a.arff, {said}" in str(refused.value)


def test_a_relation_that_is_cut_off_is_refused(make):
    for end in range(20, MARKET.index("@data")):
        with pytest.raises(FileFormatError):
            read(make("a.arff", MARKET[:end]))


TEXT = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), min_size=1)


@given(st.lists(st.lists(TEXT, max_size=4), max_size=5).map(Transactions.of))
def test_what_is_written_is_read_again(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("arff") / "a.arff"
    write(data, path)
    assert read(path) == data
    assert [set(record) for record in data] == arff(path.read_bytes())


def test_counts_are_not_written(tmp_path):
    with pytest.raises(DataError, match="an ARFF file has no counts; choose a format with counts"):
        write(Bags.of([["a", "a"]]), tmp_path / "a.arff")
    assert list(tmp_path.iterdir()) == []


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])  # one file for all
@given(seed=SEEDS)
def test_random_relations_are_read_as_the_plain_reader_does(make, seed):
    rng = random.Random(seed)
    words = ["red", "'dark blue'", "light green", '"x,y"', "'50 %'", r"'it\'s'", "7"]
    kinds = ["{t}", "{f,t}", "{0,1}", "{no, yes}", None, None]
    attributes = []
    for number in range(rng.randint(1, 5)):
        values = rng.choice(kinds) or "{" + ",".join(rng.sample(words, rng.randint(1, 4))) + "}"
        attributes.append((rng.choice([f"a{number}", f"'a {number}'", f'"{number},"']), values))
    lines = ["@relation r", *(f"@attribute {name} {values}" for name, values in attributes)]
    lines += ["@data", *(_row(rng, [values for _, values in attributes]) for _ in range(8))]
    content = "\n".join(lines).encode()
    path = make("a.arff", content)
    try:
        known = arff(content)
    except ValueError:
        with pytest.raises(FileFormatError):
            read(path)
        return
    assert [set(record) for record in read(path)] == known


def _row(rng, kinds):
    cells = [rng.choice([*values.strip("{}").split(","), "?"]).strip() for values in kinds]
    if any("'" in cell and cell.count("'") < 2 for cell in cells):
        cells = ["?" for _ in cells]
    if rng.random() < 0.5:
        return rng.choice((",", " , ", ", ")).join(cells)
    some = sorted(rng.sample(range(len(cells)), rng.randint(0, len(cells))))
    return "{" + ", ".join(f"{at} {cells[at]}" for at in some) + "}"


def test_the_page_shows_attributes_and_rows(make):
    found = preview(PreviewJob(data=str(make("a.arff", MARKET))))
    assert found.format == "arff"
    assert found.columns == ("bread and cake", "milk", "it's", "50 %", "colour")
    assert found.rows[0] == ("t", "?", "1", "yes", "red")


@pytest.mark.parametrize(
    ("head", "row", "line"),
    [
        (r"'a\ud800' {t}", "t", 2),
        (r"a {'\ud800', t}", "t", 2),
        (r"a {t}", r"'\ud800'", 4),
        (r"a {t}", r"{0 '\ud800'}", 4),
    ],
)
def test_an_escape_that_is_no_character_is_refused_with_its_line(make, head, row, line):
    path = make("a.arff", f"@relation r\n@attribute {head}\n@data\n{row}\n")
    with pytest.raises(FileFormatError, match=f"a.arff, line {line}: half of a surrogate pair"):
        read(path)
