"""A release folder in which something is hidden, its sha256 sums corrected: it is not read."""

from __future__ import annotations

import json

import duckdb
import pytest

from setveil import verify
from setveil.data.transactions import Bags, Transactions
from setveil.errors import ReleaseError
from setveil.hierarchy.build import balanced
from setveil.io import read_release, write
from setveil.promises import KAnonymity, KmAnonymity, LDiversity, VocabularyKAnonymity
from setveil.published.disassociated.clusters import JointCluster, SimpleCluster
from setveil.published.disassociated.form import Disassociated
from setveil.published.generalized import Generalized
from setveil.published.typical_bags import TypicalBags
from tests.io.test_forged_releases import RELEASES, TREE, about, folder, forge, refusal

__all__ = ["folder"]

SPELLED = "it has blanks, blank lines, quotes or a byte order mark that setveil does not write"
AWKWARD = ["a", 'b"c', " d", "e,f", "g\nh", "\ufeffi", "j\rk", "é", "1.0", "l|m"]


@pytest.mark.parametrize("name", RELEASES)
def test_an_unknown_key_of_release_json_is_refused(folder, name):
    place, form = folder(name), RELEASES[name].form
    forge(place, people={"1": "Ann"})
    known = f"release.json has a key 'people', which a {form} release does not have"
    assert refusal(place) == known


@pytest.mark.parametrize("name", RELEASES)
def test_an_unknown_key_of_the_promise_is_refused(folder, name):
    place = folder(name)
    forge(place, promise=about(place)["promise"] | {"people": ["Ann"]})
    assert refusal(place) == "its promise has 'people', which this version does not know"


@pytest.mark.parametrize("name", RELEASES)
def test_a_forged_meaning_is_refused(folder, name):
    place = folder(name)
    forge(place, promise=about(place)["promise"] | {"meaning": "Record 1 is Ann."})
    assert refusal(place) == (
        "its promise does not mean what it says; no setveil of its version wrote these words"
    )
    promise = about(place)["promise"]
    del promise["meaning"]
    forge(place, promise=promise)
    assert refusal(place) == "its promise lacks meaning"


def test_a_forged_meaning_within_a_promise_is_refused(tmp_path):
    diversity = LDiversity(l=2, sensitive=["hiv", "flu"])
    release = Disassociated.of_clusters(
        [SimpleCluster(3, [{("a",): 2}], ["hiv"])], KmAnonymity(k=2, m=2, diversity=diversity)
    )
    place = tmp_path / "r"
    write(release, place)
    assert read_release(place).promise == release.promise
    said = about(place)["promise"]
    forge(place, promise=said | {"diversity": said["diversity"] | {"meaning": "Ann has hiv."}})
    assert refusal(place).startswith("its promise does not mean what it says")
    forge(place, promise=said | {"diversity": said["diversity"] | {"note": "Ann"}})
    assert refusal(place) == "its promise has 'note', which this version does not know"
    forge(place, promise=said | {"diversity": said["diversity"] | {"sensitive": ["hiv", "flu"]}})
    assert refusal(place) == "the sensitive of its promise is not written as setveil does"


@pytest.mark.parametrize(
    ("facts", "problem"),
    [
        ({"setveil": "0.1.0 with love from Ann"}, "release.json lacks setveil"),
        ({"verified": "by Ann"}, "release.json lacks verified"),
        ({"method": {"name": "x", "Ann Smith": 1}}, "its method has a parameter 'Ann Smith'"),
        ({"method": {"name": ["Ann"]}}, "its method says name, which must be a number or a word"),
        ({"method": {"name": "x" * 50}}, "its method says name, which must be a number or a word"),
        (
            {"hierarchy": {"kind": "given", "names": ["Ann"]}},
            "in release.json, hierarchy must be an object, the recipe of a tree",
        ),
        (
            {"hierarchy": {"kind": "balanced", "fanout": 2, "order": "Ann"}},
            "in release.json, hierarchy must be an object, the recipe of a tree",
        ),
    ],
)
def test_free_text_in_release_json_is_refused(folder, facts, problem):
    place = folder("generalized")
    forge(place, **facts)
    assert refusal(place) == problem


@pytest.mark.parametrize(
    ("method", "problem"),
    [
        ({"name": "Ann"}, "this version does not know its method 'Ann'"),
        ({"name": "partition", "note": "Ann"}, "its method partition cannot have note = 'Ann'"),
        (
            {"name": "disassociation", "order": "Ann"},
            "its method disassociation cannot have order = 'Ann'",
        ),
    ],
)
def test_verify_refuses_a_method_that_setveil_does_not_have(folder, method, problem):
    place = folder("generalized")
    forge(place, method=method)
    with pytest.raises(ReleaseError, match=problem):
        verify(str(place))


@pytest.mark.parametrize(
    "change",
    [
        lambda text: b"\xef\xbb\xbf" + text,
        lambda text: text + b"\n",
        lambda text: text.replace(b"\n", b"\n\n", 1),
        lambda text: text.replace(b"\n", b"\r\n"),
        lambda text: text.replace(b"milk", b'"milk"', 1),
        lambda text: text.replace(b"\n", b"\n\n", 1).removesuffix(b"\n"),
        lambda text: text.removesuffix(b"\n"),
        lambda text: text + b"   \n",
    ],
)
@pytest.mark.parametrize("name", ["generalized", "bags"])
def test_a_data_csv_that_is_spelled_differently_is_refused(folder, name, change):
    place = folder(name)
    forge(place, "data.csv", change((place / "data.csv").read_bytes()))
    assert refusal(place).startswith("data.csv")


def test_the_refusal_of_a_spelling_says_what_is_wrong(folder):
    place = folder("generalized")
    forge(place, "data.csv", (place / "data.csv").read_bytes() + b"\n")
    assert refusal(place) == f"data.csv: {SPELLED}"


@pytest.mark.parametrize(
    "change",
    [
        lambda text: b"\xef\xbb\xbf" + text,
        lambda text: text + b"\n",
        lambda text: text.replace(b"milk", b"milk ", 1),
        lambda text: text.replace(b"milk", b"\tmilk", 1),
        lambda text: text.replace(b"\n", b"\r\n"),
        lambda text: text.replace(b" \n", b"\n", 1),
        lambda text: text.replace(b" \n", b"\t\n", 1),
        lambda text: text.removesuffix(b"\n"),
    ],
)
def test_a_data_dat_that_is_spelled_differently_is_refused(folder, change):
    place = folder("generalized", "fimi")
    text = (place / "data.dat").read_bytes()
    assert change(text) != text
    forge(place, "data.dat", change(text))
    assert refusal(place).startswith("data.dat")


@pytest.mark.parametrize("format", ["csv", "parquet"])
@pytest.mark.parametrize("counted", [False, True])
def test_awkward_labels_are_still_read_back(tmp_path, format, counted):
    paths = [(label, "ALL") for label in AWKWARD]
    tree = type(TREE).from_paths(paths)
    records = [AWKWARD[:3] * 2, AWKWARD[:3] * 2, AWKWARD[3:], AWKWARD[3:], [], []]
    release = Generalized.of(
        records if counted else [sorted(set(record)) for record in records],
        tree,
        KAnonymity(k=2),
        counted=counted,
    )
    write(release, tmp_path / "r", format=format, seed=1)
    assert read_release(tmp_path / "r") == release


def test_an_item_that_begins_with_a_byte_order_mark_is_still_read_from_a_fimi_file(tmp_path):
    labels = ["\ufeffa", "b"]
    tree = type(TREE).from_paths([(label, "ALL") for label in labels])
    release = Generalized.of([labels] * 2 + [[]] * 2, tree, KAnonymity(k=2))
    for seed in range(6):
        write(release, tmp_path / "r", format="fimi", seed=seed, force=True)
        assert read_release(tmp_path / "r") == release


@pytest.mark.parametrize("name", ["generalized", "disassociated"])
def test_metadata_of_a_parquet_file_is_refused(folder, name):
    place = folder(name, "parquet")
    for path in sorted(place.glob("*.parquet")):
        whole = path.read_bytes()
        with duckdb.connect() as connection:
            connection.execute(f"CREATE TABLE t AS SELECT * FROM '{path}'").fetchall()
            noted = "(FORMAT parquet, KV_METADATA {names: 'Ann, Bob'})"
            connection.execute(f"COPY t TO '{path}' {noted}").fetchall()
        forge(place)
        problem = f"{path.name}: it has key-value metadata, which a release does not have"
        assert refusal(place) == problem
        path.write_bytes(whole)
    forge(place)
    assert read_release(place) == RELEASES[name]


def test_bytes_between_the_pages_of_a_parquet_file_are_refused(folder):
    place = folder("generalized", "parquet")
    whole = (place / "data.parquet").read_bytes()
    footer = int.from_bytes(whole[-8:-4], "little")
    at = len(whole) - 8 - footer
    forge(place, "data.parquet", whole[:at] + b"Ann, Bob" + whole[at:])
    assert refusal(place) == "data.parquet: it has bytes that belong to no column"


def test_a_parquet_file_of_another_program_is_refused(folder, tmp_path):
    arrow = pytest.importorskip("pyarrow.parquet")
    place = folder("generalized", "parquet")
    table = arrow.read_table(place / "data.parquet")
    arrow.write_table(table, place / "data.parquet")
    forge(place)
    assert refusal(place).startswith("data.parquet: it ")


LINES = [
    '{"size":4,"chunks":[[[["a"],4]]],"terms":["b","c"]}',
    '{"size":4,"chunks":[[[["d"],4]]],"terms":[]}',
]


@pytest.mark.parametrize(
    "lines",
    [
        LINES[::-1],
        [LINES[0], "", LINES[1]],
        [LINES[0] + " ", LINES[1]],
        [LINES[0].replace(":", ": "), LINES[1]],
        [LINES[0].replace('"a"', '"\\u0061"'), LINES[1]],
        [LINES[0].replace('"b","c"', '"c","b"'), LINES[1]],
        ['{"chunks":[[[["a"],4]]],"size":4,"terms":["b","c"]}', LINES[1]],
        [*LINES, ""],
    ],
)
def test_clusters_that_are_spelled_or_ordered_differently_are_refused(tmp_path, lines):
    place, promise = tmp_path / "r", KmAnonymity(k=2, m=2)
    write(Disassociated.of_clusters(map(json.loads, LINES), promise), place)
    assert (place / "data.jsonl").read_text() == "\n".join([*LINES, ""])
    forge(place, "data.jsonl", "\n".join([*lines, ""]))
    assert "this is not what setveil writes for this release" in refusal(place)


def test_an_empty_chunk_is_refused(folder):
    place = folder("disassociated")
    forge(place, "data.jsonl", '{"size":2,"chunks":[[]],"terms":["milk"]}\n')
    assert refusal(place) == "data.jsonl, line 1: a chunk must have at least one subrecord"


@pytest.mark.parametrize(
    ("table", "select", "problem"),
    [
        (
            "clusters",
            "SELECT cluster, parent, size, chunks + 1 AS chunks FROM t",
            "a chunk of clusters.parquet has no subrecord",
        ),
        (
            "subrecords",
            "SELECT * REPLACE (subrecord * 7 AS subrecord) FROM t",
            "the subrecords of a chunk must be numbered from 1",
        ),
        (
            "subrecords",
            "SELECT * REPLACE (3 - chunk AS chunk) FROM t",
            "clusters, chunks and subrecords must be numbered in the order of their text",
        ),
    ],
)
def test_cluster_tables_cannot_hide_anything_in_their_numbers(tmp_path, table, select, problem):
    place = tmp_path / "r"
    simple = [SimpleCluster(4, [{("a",): 2, ("b",): 2}, {("c",): 4}], [name]) for name in "xy"]
    joint = JointCluster([{("s",): 2}], simple)
    write(Disassociated.of_clusters([joint], KmAnonymity(k=2, m=2)), place, format="parquet")
    path = place / f"{table}.parquet"
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE t AS SELECT * FROM '{path}'").fetchall()
        if "3 - chunk" in select:
            select += " WHERE cluster > 1 UNION ALL SELECT * FROM t WHERE cluster = 1"
        connection.execute(f"COPY ({select}) TO '{path}' (FORMAT parquet)").fetchall()
    forge(place)
    assert problem in refusal(place)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: b"\xef\xbb\xbf" + text,
        lambda text: text + b"\n",
        lambda text: text.replace(b";ALL", b";ALL;ALL", 1),
        lambda text: text.replace(b"beer", b'"beer"', 1),
        lambda text: text.replace(b";ALL", b"; ALL", 1),
    ],
)
def test_a_hierarchy_that_is_spelled_differently_is_refused(folder, change):
    place = folder("generalized")
    forge(place, "hierarchy.csv", change((place / "hierarchy.csv").read_bytes()))
    assert "this is not what setveil writes for this release" in refusal(place)


def test_a_pruned_hierarchy_has_only_what_the_records_show(tmp_path):
    data = Transactions.of([["a", "b"], ["a", "b"], ["c"], ["c"]])
    tree = balanced(data.vocabulary, 2)
    release = Generalized.of([["a", "b"]] * 2 + [["c"]] * 2, tree, KAnonymity(k=2))
    place = tmp_path / "r"
    write(release, place)
    path = place / "hierarchy.csv"
    root = path.read_text().splitlines()[0].rsplit(";", 1)[1]
    forge(place, "hierarchy.csv", path.read_text() + f"Ann Smith;{root}\n")
    assert (
        refusal(place) == "hierarchy.csv has more than the records show, but is said to be pruned"
    )


@pytest.mark.parametrize(
    "content",
    [
        "slot,item,count\n1,wine,1\n1,beer,1\n",
        'slot,item,count\n1,"beer",1\n1,wine,1\n',
        "slot,item,count\r\n1,beer,1\r\n1,wine,1\r\n",
    ],
)
def test_slots_that_are_spelled_differently_are_refused(folder, content):
    place = folder("slots")
    forge(place, "slots.csv", content)
    assert "this is not what setveil writes for this release" in refusal(place)


def test_slots_of_several_bags_are_still_read_back(tmp_path):
    labels = [str(number) for number in range(1, 13)]
    slots = Bags.of([{f"item {12 - at}": 2, "wine": at + 1} for at in range(12)])
    release = TypicalBags.of_rows(
        Bags.of([labels, labels, labels[:5], labels[:5]]),
        VocabularyKAnonymity(k=2),
        {},
        slots=slots,
    )
    write(release, tmp_path / "r")
    assert read_release(tmp_path / "r") == release
