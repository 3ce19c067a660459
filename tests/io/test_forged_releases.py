"""Release folders that were changed, with their sha256 corrected: nothing unchecked is accepted."""

from __future__ import annotations

import hashlib
import json
import stat

import duckdb
import pytest

from setveil.audit.records import check_written
from setveil.data.transactions import Bags, Transactions
from setveil.errors import DataError, OutputError, ReleaseError
from setveil.hierarchy.tree import Hierarchy
from setveil.io import read_release, write
from setveil.io.releases.alignment import write_alignment
from setveil.io.releases.folder import fill_release, staged_release
from setveil.promises import Coherence, KAnonymity, KmAnonymity, VocabularyKAnonymity
from setveil.published.disassociated.clusters import SimpleCluster
from setveil.published.disassociated.form import Disassociated
from setveil.published.generalized import Generalized
from setveil.published.suppressed import Suppressed
from setveil.published.typical_bags import TypicalBags

TREE = Hierarchy.from_paths([("beer", "Drink", "ALL"), ("wine", "Drink", "ALL"), ("milk", "ALL")])
RECORDS = [["Drink"], ["Drink"], ["milk"], ["milk"], [], []]

RELEASES = {
    "generalized": Generalized.of(RECORDS, TREE, KAnonymity(k=2)),
    "bags": Generalized.of(
        [["Drink", "Drink"]] * 2 + [["milk"]] * 2, TREE, KAnonymity(k=2), counted=True
    ),
    "suppressed": Suppressed.of([["beer"], ["beer"], ["milk"], ["milk"]], Coherence(h=1, k=2, p=1)),
    "typical-bags": TypicalBags.of(
        [["beer", "beer"]] * 2 + [["milk"]] * 2, VocabularyKAnonymity(k=2)
    ),
    "slots": TypicalBags.of_rows(
        Bags.of([["1"], ["1"]]), VocabularyKAnonymity(k=2), {}, slots=Bags.of([["beer", "wine"]])
    ),
    "disassociated": Disassociated.of_clusters(
        [SimpleCluster(2, [{("beer",): 2}], ["milk"])], KmAnonymity(k=2, m=2)
    ),
}


def about(folder):
    return json.loads((folder / "release.json").read_text(encoding="utf-8"))


def forge(folder, name=None, content=None, **facts):
    """Change a file and what release.json says, and put the sums right."""
    if name is not None:
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    said = about(folder) | facts
    said["files"] = {
        file: hashlib.sha256((folder / file).read_bytes()).hexdigest()
        for file in said["files"]
        if (folder / file).is_file()
    }
    (folder / "release.json").write_text(json.dumps(said), encoding="utf-8")


def refusal(folder):
    with pytest.raises(ReleaseError) as error:
        read_release(folder)
    return str(error.value).removeprefix(f"{folder} is not a usable release: ")


@pytest.fixture
def folder(tmp_path):
    def written(name, format=None):
        write(RELEASES[name], tmp_path / "r", format=format)
        assert read_release(tmp_path / "r") == RELEASES[name]
        return tmp_path / "r"

    return written


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (
            "record,item,name\n1,milk,Ann\n2,milk,Bob\n",
            "data.csv: its first line must be record,item and nothing else",
        ),
        (
            "record,item,count\n1,milk,1\n2,milk,7\n",
            "data.csv: its first line must be record,item and nothing else",
        ),
        ("record;item\n1;milk\n", "data.csv: its first line must be record,item and nothing else"),
        (
            "record,item\nAnn,milk\nBob,milk\n",
            "data.csv: the record of data row 1 is 'Ann': records are numbered from 1",
        ),
        (
            "record,item\n1,milk\n1.0,milk\n",
            "data.csv: the record of data row 2 is '1.0': records are numbered from 1",
        ),
        (
            "record,item\n1,milk\n07,milk\n",
            "data.csv: the record of data row 2 is '07': records are numbered from 1",
        ),
        (
            "record,item\n1,milk\n1,milk\n2,milk\n",
            "data.csv has an item twice in one record; list it once, in bags with its count",
        ),
        ("record,item\n1,milk\n2,\n", "data.csv: the item of data row 2 is empty"),
        (
            "record,item\n1,milk\n7,milk\n",
            "data.csv has a record 7, but records are numbered 1 to 6",
        ),
        ("", "data.csv: its first line must be record,item and nothing else"),
    ],
)
def test_a_data_file_that_says_more_than_records_and_items_is_refused(folder, content, problem):
    place = folder("generalized")
    forge(place, "data.csv", content)
    assert refusal(place) == problem


def test_repeats_in_a_fimi_file_are_refused_where_they_do_not_count(folder):
    place = folder("generalized", "fimi")
    forge(place, "data.dat", "milk\nmilk milk\nmilk\nmilk\n \n \n")
    assert (
        refusal(place)
        == "data.dat has an item twice in one record; list it once, in bags with its count"
    )
    forge(place, "data.dat", "milk\nmilk\n")
    assert refusal(place) == "data.dat has 2 records, but release.json says 6"


@pytest.mark.parametrize(
    ("select", "problem"),
    [
        (
            "SELECT *, 'Ann' AS name FROM t",
            "data.parquet: it has a column 'name', which a release does not have",
        ),
        ("SELECT record FROM t", "data.parquet: it has no column 'item'"),
        (
            "SELECT record + 0.5 AS record, item FROM t",
            "data.parquet: the column record must contain whole numbers, not DECIMAL",
        ),
        ("SELECT -record AS record, item FROM t", "data.parquet: the record of data row 1 is '-"),
        (
            "SELECT * FROM t UNION ALL SELECT * FROM t",
            "data.parquet has an item twice in one record",
        ),
    ],
)
def test_a_parquet_file_that_says_more_is_refused(folder, select, problem):
    place = folder("generalized", "parquet")
    path = place / "data.parquet"
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE t AS SELECT * FROM '{path}'").fetchall()
        connection.execute(f"COPY ({select}) TO '{path}' (FORMAT parquet)").fetchall()
    forge(place)
    assert refusal(place).startswith(problem)


@pytest.mark.parametrize("count", ["0", "-1", "1.5", "", "x", "1e3", "99999999999999999999"])
def test_a_count_is_a_whole_number_of_one_or_more(folder, count):
    place = folder("bags")
    forge(place, "data.csv", f"record,item,count\n1,milk,1\n2,milk,{count}\n")
    assert "it must be a whole number of 1 or more" in refusal(place)


def test_counts_cannot_be_hidden_by_taking_back_that_there_are_any(folder):
    place = folder("bags")
    forge(place, bags=False)
    assert refusal(place) == "data.csv: its first line must be record,item and nothing else"


@pytest.mark.parametrize("name", RELEASES)
def test_a_file_that_is_no_part_of_the_form_is_refused(folder, name):
    place = folder(name)
    first = next(iter(about(place)["files"]))
    (place / "extra.csv").write_text("private\n")
    forge(place, files=about(place)["files"] | {"extra.csv": ""})
    assert (
        refusal(place)
        == f"release.json names 'extra.csv', which is not part of a {RELEASES[name].form} "
        f"release with {first}"
    )


def test_only_one_data_file_may_be_named(folder):
    place = folder("generalized")
    (place / "data.dat").write_text("wine\n")
    forge(place, files=about(place)["files"] | {"data.dat": ""})
    assert (
        refusal(place)
        == "release.json names 'data.dat', which is not part of a generalized release with data.csv"
    )


@pytest.mark.parametrize(
    ("facts", "problem"),
    [
        ({"records": True}, "release.json lacks records"),
        ({"records": -1}, "release.json has an impossible number of records"),
        ({"records": 10**400}, "release.json has an impossible number of records"),
        ({"records": 3}, "data.csv has 4 records, but release.json says 3"),
        (
            {"hierarchy": "balanced"},
            "in release.json, hierarchy must be an object, the recipe of a tree",
        ),
        ({"hierarchy": [1]}, "in release.json, hierarchy must be an object, the recipe of a tree"),
        ({"bags": "no"}, "in release.json, bags must be true or false"),
        (
            {"form": "suppressed"},
            "release.json names 'hierarchy.csv', which is not part of a suppressed release "
            "with data.csv",
        ),
        (
            {"promise": {"model": "l-diversity", "l": 2, "sensitive": []}},
            "a generalized release cannot keep l-diversity",
        ),
        (
            {
                "promise": {
                    "model": "km-anonymity",
                    "k": 2,
                    "m": 1,
                    "diversity": {"model": "l-diversity", "l": 2, "sensitive": []},
                }
            },
            "a generalized release cannot keep l-diversity",
        ),
    ],
)
def test_facts_that_cannot_be_are_refused(folder, facts, problem):
    place = folder("generalized")
    forge(place, **facts)
    assert refusal(place) == problem


def test_disassociated_data_cannot_promise_what_is_said_of_records(folder):
    place = folder("disassociated")
    forge(place, promise={"model": "k-anonymity", "k": 2})
    assert refusal(place) == "a disassociated release cannot keep k-anonymity"


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"a":' * 100_000,
        '{"records": 1, "records": 2}',
        '{"k": NaN}',
        '{"k": ' + "9" * 5000 + "}",
    ],
)
def test_a_release_json_that_two_readers_could_read_differently_is_refused(folder, text):
    place = folder("generalized")
    (place / "release.json").write_text(text)
    assert refusal(place) == "release.json cannot be read"


def test_a_name_that_occurs_twice_in_a_cluster_is_refused(folder):
    place = folder("disassociated")
    forge(place, "data.jsonl", '{"size":3,"chunks":[],"terms":["a"],"size":2}\n', records=2)
    assert (
        refusal(place)
        == "data.jsonl, line 1: this line is not JSON (an object has the same key twice)"
    )


def test_more_empty_records_than_fit_into_memory_are_a_number_like_any_other(folder):
    place = folder("generalized")
    forge(place, records=10**12)
    release = read_release(place)
    assert len(release) == 10**12
    assert release.sizes.tolist() == [10**12 - 4, 2, 2]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (
            "slot,item,count\n1,beer,1\n1,wine,1\n9,secret,2\n",
            "slots.csv has a slot '9' that is in no bag",
        ),
        (
            "slot,item,count\n1,beer,1\n1,beer,1\n",
            "slots.csv, line 3: an item occurs twice in a slot",
        ),
        (
            "slot,item,count\n1,beer,\u0662\n",
            "slots.csv, line 2: this is not a slot, an item and a count",
        ),
        (
            "slot,item,count\n1,beer,0\n",
            "slots.csv, line 2: this is not a slot, an item and a count",
        ),
        (
            f"slot,item,count\n1,beer,{10**30}\n",
            "slots.csv, line 2: this is not a slot, an item and a count",
        ),
        ("slot,item,count\n", "slots.csv does not say what slot '1' contains"),
        (
            "slot,item,count,name\n1,beer,2,Ann\n",
            "slots.csv must begin with the line slot,item,count",
        ),
        (
            b"slot,item,count\n1,\xff,2\n",
            "slots.csv: the text is not UTF-8; convert it, for example with iconv -f latin1 -t "
            "utf-8",
        ),
        (
            'slot,item,count\n1,"beer\n',
            "slots.csv, line 2: this line is not CSV (unexpected end of data)",
        ),
    ],
)
def test_slots_that_say_more_or_less_are_refused(folder, content, problem):
    place = folder("slots")
    forge(place, "slots.csv", content)
    assert refusal(place) == problem


@pytest.mark.parametrize("format", ["fimi", "baskets"])
def test_counts_that_no_line_can_hold_are_refused_before_memory_ends(tmp_path, format):
    with pytest.raises(
        DataError,
        match="a record has 1,000,000,000,000 items with repeats, too many to write one by one",
    ):
        write(Bags.of([{"beer": 10**12}]), tmp_path / "data", format=format)
    assert not list(tmp_path.iterdir())


def test_a_release_is_still_read_as_it_was_written_when_all_records_are_empty(tmp_path):
    for format in ("csv", "fimi", "parquet"):
        release = Generalized.of_rows(
            Transactions.from_pairs([], [], TREE.nodes, size=3), TREE, KAnonymity(k=2), {}
        )
        write(release, tmp_path / format, format=format)
        assert read_release(tmp_path / format) == release


def test_nobody_else_can_look_into_a_release_before_it_is_verified(tmp_path):
    with staged_release(tmp_path / "r") as stage:
        (hidden,) = tmp_path.iterdir()
        assert stat.S_IMODE(hidden.stat().st_mode) == 0o700
        assert hidden in stage.parents
        fill_release(RELEASES["generalized"], stage)
    assert [path.name for path in tmp_path.iterdir()] == ["r"]
    plain = tmp_path / "plain"
    plain.mkdir()
    assert (tmp_path / "r").stat().st_mode == plain.stat().st_mode


def test_no_link_leads_an_alignment_into_a_release(folder, tmp_path):
    place = folder("generalized")
    (place / "sub").mkdir()
    (tmp_path / "link").symlink_to(place / "sub")
    for target in (place / "a.csv", place / "sub" / "a.csv", tmp_path / "link" / "a.csv"):
        with pytest.raises(
            OutputError, match="the alignment is private and must not be in a release folder"
        ):
            write_alignment(RELEASES["generalized"], Transactions.of(RECORDS), target)
        assert not target.exists()


FACTS = {
    "recoding": Generalized.of(RECORDS, TREE, KAnonymity(k=2), is_global=True),
    "min_support": Suppressed.of([["beer"]] * 2, Coherence(h=1, k=2, p=1), min_support=0.25),
    "epsilon": TypicalBags.of_rows(
        Bags.of([["beer"]] * 2), VocabularyKAnonymity(k=2), {}, epsilon=0, omega=2.5
    ),
    "same_branch": TypicalBags.of_rows(
        Bags.of([["beer"]] * 2), VocabularyKAnonymity(k=2), {}, same_branch=True
    ),
    "complete": TypicalBags.of_rows(
        Bags.of([["beer"]] * 2), VocabularyKAnonymity(k=2), {}, complete=True
    ),
}


@pytest.mark.parametrize("name", FACTS)
def test_facts_have_their_own_keys_and_come_back(tmp_path, name):
    release = FACTS[name]
    write(release, tmp_path / "r")
    assert release.facts.items() <= about(tmp_path / "r").items()
    assert name in release.facts
    assert check_written(read_release(tmp_path / "r"), release).holds


@pytest.mark.parametrize("name", ["generalized", "suppressed", "typical-bags", "disassociated"])
def test_nothing_is_read_from_what_the_method_says(folder, name):
    place = folder(name)
    claims = {
        "recoding": "global",
        "min_support": 0.5,
        "epsilon": 1,
        "omega": 9,
        "same_branch": True,
        "complete": True,
    }
    forge(place, method={"name": "ssc", **claims})
    facts = {"same_branch": False} if name == "typical-bags" else {}
    assert read_release(place).facts == facts


@pytest.mark.parametrize(
    ("name", "fact", "values", "words"),
    [
        ("generalized", "recoding", ["local", "", True, 1, None, ["global"]], '"global"'),
        (
            "suppressed",
            "min_support",
            [-0.1, 1, 2, "0.5", True, None, []],
            "a share of the records",
        ),
        ("typical-bags", "epsilon", [-1, 1.0, "4", True, None, [4]], "a number of steps"),
        ("typical-bags", "same_branch", [0, 1, "true", None, []], "true or false"),
        ("typical-bags", "complete", [False, 1, "true", None, []], "true"),
        ("typical-bags", "omega", [0, -2, "4", True, None, {}], "above 0"),
    ],
)
def test_facts_with_impossible_values_are_refused(folder, name, fact, values, words):
    place = folder(name)
    for value in values:
        forge(place, **{fact: value})
        assert refusal(place).startswith(f"in release.json, {fact} must be ")
        assert words in refusal(place)


def test_an_endless_number_is_refused(folder):
    place = folder("typical-bags")
    forge(place, omega=12345)
    text = (place / "release.json").read_text(encoding="utf-8").replace("12345", "1e999")
    (place / "release.json").write_text(text, encoding="utf-8")
    assert refusal(place) == "in release.json, omega must be a number above 0"


def test_bags_have_no_global_recoding(folder):
    place = folder("bags")
    forge(place, recoding="global")
    assert refusal(place) == "in release.json, recoding must be left out for bags"
