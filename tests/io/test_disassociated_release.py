"""Release folders of disassociated data: their content, reading them, and damaged ones."""

from __future__ import annotations

import hashlib
import json
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setveil.audit.verify import verify
from setveil.data.transactions import Transactions
from setveil.errors import DataError, InfeasibleError, MisfitError, ParameterError, ReleaseError
from setveil.io import read_release, write
from setveil.io.releases.alignment import with_alignment, write_alignment
from setveil.io.releases.disassociated import DISASSOCIATED, read_bare
from setveil.io.releases.folder import fill_release, staged_release
from setveil.methods.disassociation import Disassociation
from setveil.promises import KmAnonymity, LDiversity
from setveil.published.disassociated.clusters import JointCluster, SimpleCluster
from setveil.published.disassociated.form import Disassociated
from tests.strategies import transactions

PROMISE = KmAnonymity(k=2, m=2)
LINES = [
    '{"shared":[[[["ikea"],1],[["ikea","ruby"],3]]],"parts":['
    '{"size":5,"chunks":[[[["camera"],4]]],"terms":[]},{"size":5,"chunks":[[[["flu"],1],[["flu","itunes"],3]],[[["sony"],3]]],"terms":["viagra"]}]}',
    '{"size":2,"chunks":[],"terms":[]}',
]
TABLES = ["clusters.parquet", "subrecords.parquet", "terms.parquet"]


@pytest.fixture
def release():
    first = SimpleCluster(5, [{("sony",): 3}, {("itunes", "flu"): 3, ("flu",): 1}], ["viagra"])
    second = SimpleCluster(5, [{("camera",): 4}])
    joint = JointCluster([{("ruby", "ikea"): 3, ("ikea",): 1}], [first, second])
    return Disassociated.of_clusters(
        [SimpleCluster(2), joint], PROMISE, {"name": "disassociation", "refine": True}
    )


def about(folder):
    return json.loads((folder / "release.json").read_text(encoding="utf-8"))


def chunks():
    """Distinct non-empty subrecords with their counts; a chunk without any is allowed too."""
    labels = st.sampled_from(
        ["a", "b", "10", "9", "日本", 'the "best"', "tab\there", "\\", "\u2028"]
    )
    return st.dictionaries(
        st.frozensets(labels, min_size=1, max_size=3).map(lambda items: tuple(sorted(items))),
        st.integers(1, 9),
        max_size=4,
    )


def clusters():
    labels = st.lists(st.sampled_from(["a", "b", "x y", "12", "3", "é"]), unique=True, max_size=4)
    simple = st.builds(SimpleCluster, st.integers(1, 20), st.lists(chunks(), max_size=3), labels)
    return st.recursive(
        simple,
        lambda inner: st.builds(
            JointCluster, st.lists(chunks(), max_size=2), st.lists(inner, min_size=1, max_size=3)
        ),
        max_leaves=6,
    )


@pytest.mark.parametrize("format", DISASSOCIATED.formats)
@settings(max_examples=settings.default.max_examples // 3)
@given(drawn=st.lists(clusters(), max_size=4))
def test_whatever_clusters_are_written_are_read_again(format, drawn):
    """Also such as no method makes and no verifier would accept."""
    release = Disassociated.of_clusters(drawn, PROMISE, {"name": "by hand"})
    with tempfile.TemporaryDirectory() as folder:
        write(release, Path(folder) / "r", format=format)
        again = read_release(Path(folder) / "r")
    assert again == release
    assert len(again) == len(release)
    assert (again.promise, again.method, again.alignment) == (PROMISE, {"name": "by hand"}, None)


@given(drawn=st.lists(clusters(), max_size=4))
def test_the_lines_are_those_of_the_nested_clusters(drawn):
    release = Disassociated.of_clusters(drawn, PROMISE)
    plain = sorted(
        json.dumps(cluster.to_json(), ensure_ascii=False, separators=(",", ":"))
        for cluster in release.clusters()
    )
    assert release.lines() == plain
    assert Disassociated.of_clusters([json.loads(line) for line in plain], PROMISE) == release


@pytest.mark.parametrize("format", DISASSOCIATED.formats)
@settings(max_examples=settings.default.max_examples // 6)
@given(data=transactions(max_records=30, max_items=8), drawn=st.data())
def test_the_order_of_the_input_leaves_no_trace(format, data, drawn):
    shuffled = data.take(drawn.draw(st.permutations(range(len(data)))))
    try:
        releases = [Disassociation().anonymize(given, PROMISE) for given in (data, shuffled)]
    except InfeasibleError:
        return
    with tempfile.TemporaryDirectory() as folder:
        for name, release in zip("ab", releases, strict=True):
            write(release, Path(folder) / name, format=format)
        first, second = (
            {path.name: path.read_bytes() for path in (Path(folder) / name).iterdir()}
            for name in "ab"
        )
    assert first == second


def test_the_folder_holds_lines_and_the_promise(release, tmp_path):
    with staged_release(tmp_path / "r") as stage:
        fill_release(release, stage, verified=True)
    assert sorted(path.name for path in (tmp_path / "r").iterdir()) == [
        "data.jsonl",
        "release.json",
    ]
    assert (tmp_path / "r" / "data.jsonl").read_text(encoding="utf-8").splitlines() == LINES
    facts = about(tmp_path / "r")
    assert list(facts) == [
        "format",
        "setveil",
        "form",
        "promise",
        "method",
        "records",
        "files",
        "verified",
    ]
    assert facts["promise"] == {
        "model": "km-anonymity",
        "k": 2,
        "m": 2,
        "meaning": PROMISE.describe(possible=True),
        "not_promised": release.limits(),
    }
    assert (facts["form"], facts["records"], facts["verified"]) == ("disassociated", 12, True)
    assert facts["method"] == {"name": "disassociation", "refine": True}
    assert list(facts["files"]) == ["data.jsonl"]


def test_the_tables_carry_the_same(release, tmp_path):
    import duckdb

    write(release, tmp_path / "r", format="parquet")
    assert sorted(path.name for path in (tmp_path / "r").iterdir()) == sorted(
        [*TABLES, "release.json"]
    )

    def rows(name):
        return duckdb.sql(f"SELECT * FROM '{tmp_path / 'r' / name}'").fetchall()

    assert rows("clusters.parquet") == [
        (1, None, 10, 1),
        (2, 1, 5, 1),
        (3, 1, 5, 2),
        (4, None, 2, 0),
    ]
    assert rows("subrecords.parquet") == [
        (1, 1, 1, 1, "ikea"),
        (1, 1, 2, 3, "ikea"),
        (1, 1, 2, 3, "ruby"),
        (2, 1, 1, 4, "camera"),
        (3, 1, 1, 1, "flu"),
        (3, 1, 2, 3, "flu"),
        (3, 1, 2, 3, "itunes"),
        (3, 2, 1, 3, "sony"),
    ]
    assert rows("terms.parquet") == [(3, "viagra")]


def test_the_promise_comes_back_with_its_diversity(tmp_path):
    promise = KmAnonymity(k=2, m=2, diversity=LDiversity(l=3, sensitive=["flu", "hiv"]))
    release = Disassociation().anonymize(
        Transactions.of([["flu", "milk"], ["milk"], ["milk", "tea"]]), promise
    )
    write(release, tmp_path / "r")
    assert about(tmp_path / "r")["promise"]["diversity"]["sensitive"] == ["flu", "hiv"]
    assert read_release(tmp_path / "r").promise == promise
    assert read_release(tmp_path / "r") == release


def test_no_trace_of_who_is_in_which_cluster_is_written(tmp_path):
    release = Disassociation().anonymize(
        Transactions.of([["a", "b"], ["a"], ["b"], ["a", "b"]] * 5), PROMISE
    )
    assert release.alignment is not None
    for format in DISASSOCIATED.formats:
        write(release, tmp_path / format, format=format)
        assert read_release(tmp_path / format).alignment is None
    for name, place in (("one", release), ("two", release.without_alignment())):
        write(place, tmp_path / name)
    assert (tmp_path / "one" / "data.jsonl").read_bytes() == (
        tmp_path / "two" / "data.jsonl"
    ).read_bytes()


@pytest.mark.parametrize("format", DISASSOCIATED.formats)
def test_an_alignment_says_the_cluster_of_each_original(tmp_path, format):
    words = ["a b", "a", "b", "a b c", "", "c d", "c d e", "e", "d", "c d"]
    for repeats in (1, 3, 7):
        data = Transactions.of([word.split() for word in words] * repeats)
        release = Disassociation(arrangement=5).anonymize(data, PROMISE)
        write_alignment(release, data, tmp_path / "a.csv", force=True)
        write(release, tmp_path / format, format=format, force=True)
        again = with_alignment(read_release(tmp_path / format), tmp_path / "a.csv")
        verdict = verify(again, data)
        assert verdict.holds
        assert verdict.checks[-1].name == "world"
        lines = (tmp_path / "a.csv").read_text().splitlines()
        assert len(lines) == len(data)
        (tmp_path / "a.csv").write_text("\n".join([*lines[::-1], ""]))
        turned = with_alignment(read_release(tmp_path / format), tmp_path / "a.csv")
        assert not verify(turned, data).holds


@pytest.mark.parametrize("line", ["0", "-1", "x", "", "1.0", "99", "1 1", "9" * 30])
def test_a_line_of_an_alignment_that_is_no_cluster_is_refused(release, tmp_path, line):
    (tmp_path / "a.csv").write_text(f"1\n{line}\n1\n")
    with pytest.raises(MisfitError, match=r"line 2 of .* is not a cluster of the release"):
        with_alignment(release, tmp_path / "a.csv")
    (tmp_path / "a.csv").write_text("")
    with pytest.raises(DataError, match="the file is empty"):
        with_alignment(release, tmp_path / "a.csv")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"format": "csv"},
            "format = 'csv' is not allowed: choose one of jsonl, parquet for a disassociated "
            "release",
        ),
        (
            {"public_items": True},
            "public_items = True is not allowed: a disassociated release has no hierarchy to "
            "publish",
        ),
    ],
)
def test_what_this_form_has_not_is_refused(release, tmp_path, options, message):
    with pytest.raises(ParameterError) as error:
        write(release, tmp_path / "r", **options)
    assert str(error.value) == message
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("format", DISASSOCIATED.formats)
def test_half_of_a_character_cannot_be_written(tmp_path, format):
    release = Disassociated.of_clusters([SimpleCluster(3, [], ["\ud800"])], PROMISE)
    with pytest.raises(DataError, match="which is not Unicode text and cannot be written"):
        write(release, tmp_path / "r", format=format)
    assert list(tmp_path.iterdir()) == []


def put(folder, content, **facts):
    """Replace the lines of a release as somebody would who also knows how to make the digest."""
    (folder / "data.jsonl").write_bytes(content)
    digest = hashlib.sha256(content).hexdigest()
    (folder / "release.json").write_text(
        json.dumps(about(folder) | {"files": {"data.jsonl": digest}} | facts), encoding="utf-8"
    )


DAMAGED = [
    (
        b'{"size":2,"chunks":[],"terms":[]}\n{"size":',
        "data.jsonl, line 2: this line is not JSON (Expecting value: line 1 column 9 (char 8))",
    ),
    (
        b"[1]\n",
        "data.jsonl, line 1: a cluster must be an object with size, chunks and terms, or with "
        "shared and a list of parts",
    ),
    (
        b'{"shared":[],"parts":[]}\n',
        "data.jsonl, line 1: a cluster must be an object with size, chunks and terms, or with "
        "shared and a list of parts",
    ),
    (
        b'{"size":0,"chunks":[],"terms":[]}',
        "data.jsonl, line 1: the size of a cluster must be a whole number of 1 or more, not 0",
    ),
    (
        b'{"size":true,"chunks":[],"terms":[]}',
        "data.jsonl, line 1: the size of a cluster must be a whole number of 1 or more, not true",
    ),
    (
        b'{"size":99999999999999999999,"chunks":[],"terms":[]}',
        "data.jsonl, line 1: the size of a cluster must be a whole number of 1 or more, not "
        "99999999999999999999",
    ),
    (
        b'\n{"size":2,"chunks":[],"terms":["a","a"]}',
        "data.jsonl, line 2: the terms of a cluster must be a list of distinct texts",
    ),
    (
        b'{"size":2,"chunks":[],"terms":[1]}',
        "data.jsonl, line 1: the terms of a cluster must be a list of distinct texts",
    ),
    (
        b'{"size":2,"chunks":{},"terms":[]}',
        "data.jsonl, line 1: the chunks of a cluster must be a list of lists",
    ),
    (
        b'{"size":2,"chunks":[[[["a"],0]]],"terms":[]}',
        "data.jsonl, line 1: a chunk must list [items, count] of its distinct non-empty "
        'subrecords, not [["a"], 0]',
    ),
    (
        b'{"size":2,"chunks":[[[["a"],true]]],"terms":[]}',
        "data.jsonl, line 1: a chunk must list [items, count] of its distinct non-empty "
        'subrecords, not [["a"], true]',
    ),
    (
        b'{"size":2,"chunks":[[[[],1]]],"terms":[]}',
        "data.jsonl, line 1: a chunk must list [items, count] of its distinct non-empty "
        "subrecords, not [[], 1]",
    ),
    (
        b'{"size":2,"chunks":[[[["a","b"],1],[["b","a"],1]]],"terms":[]}',
        "data.jsonl, line 1: a subrecord occurs twice in a chunk; list it once, with its count",
    ),
    (
        b'{"size":NaN,"chunks":[],"terms":[]}',
        "data.jsonl, line 1: this line is not JSON (NaN is not a JSON value)",
    ),
    (
        b'{"size":2,"chunks":[],"terms":["\xff"]}',
        "data.jsonl, line 1: the text is not UTF-8; convert it, for example with iconv -f "
        "latin1 -t utf-8",
    ),
    (b'{"shared":[],"parts":[' * 100_000, "data.jsonl, line 1: this line is nested too deeply"),
    (b'{"size":3,"chunks":[],"terms":[]}', "data.jsonl has 3 records, but release.json says 12"),
    (b"", "data.jsonl has 0 records, but release.json says 12"),
]


@pytest.mark.parametrize(("content", "problem"), DAMAGED, ids=range(len(DAMAGED)))
def test_damaged_lines_are_named(release, tmp_path, content, problem):
    write(release, tmp_path / "r")
    put(tmp_path / "r", content)
    with pytest.raises(ReleaseError) as error:
        read_release(tmp_path / "r")
    assert str(error.value) == f"{tmp_path / 'r'} is not a usable release: {problem}"


def test_a_changed_or_missing_file_is_noticed(release, tmp_path):
    write(release, tmp_path / "r")
    (tmp_path / "r" / "data.jsonl").write_text("{}\n")
    with pytest.raises(
        ReleaseError, match=r"data\.jsonl was changed after the release was written"
    ):
        read_release(tmp_path / "r")
    (tmp_path / "r" / "data.jsonl").unlink()
    with pytest.raises(ReleaseError, match=r"data\.jsonl is missing"):
        read_release(tmp_path / "r")
    put(tmp_path / "r", b"", files={})
    with pytest.raises(ReleaseError, match=r"release\.json names no data file"):
        read_release(tmp_path / "r")


SPOILED = [
    (
        "clusters",
        "SELECT cluster + 1 AS cluster, parent, size, chunks FROM t",
        "clusters.parquet: the clusters must be numbered from 1, each once",
    ),
    (
        "clusters",
        "SELECT cluster, 4 AS parent, size, chunks FROM t",
        "clusters.parquet: each parent must be the number of a cluster before its part",
    ),
    (
        "clusters",
        "SELECT cluster, parent, size - 5 AS size, chunks FROM t",
        "clusters.parquet: the size of a cluster must be a whole number of 1 or more",
    ),
    (
        "clusters",
        "SELECT cluster, parent, size + 1 AS size, chunks FROM t",
        "clusters.parquet: cluster 1 has 11 records, but its parts have 12",
    ),
    (
        "clusters",
        "SELECT cluster, parent, size, -chunks AS chunks FROM t",
        "clusters.parquet: the number of chunks of a cluster must be a whole number",
    ),
    (
        "clusters",
        "SELECT cluster, parent, size, NULL AS chunks FROM t",
        "clusters.parquet: a row has no chunks",
    ),
    (
        "clusters",
        "SELECT cluster, parent, size FROM t",
        "clusters.parquet: it has no column 'chunks'",
    ),
    (
        "clusters",
        "SELECT cluster, parent, 'many' AS size, chunks FROM t",
        "clusters.parquet: the column size must contain whole numbers, not VARCHAR",
    ),
    (
        "clusters",
        "SELECT cluster, parent, size + 0.4 AS size, chunks FROM t",
        "clusters.parquet: the column size must contain whole numbers, not DECIMAL",
    ),
    (
        "terms",
        "SELECT *, 'Ann' AS person FROM t",
        "terms.parquet: it has a column 'person', which a release does not have",
    ),
    (
        "clusters",
        "SELECT cluster, parent, size, chunks FROM t WHERE cluster < 4",
        "clusters.parquet has 10 records, but release.json says 12",
    ),
    (
        "subrecords",
        "SELECT * REPLACE (chunk + 1 AS chunk) FROM t",
        "subrecords.parquet: a row belongs to a chunk that clusters.parquet does not have",
    ),
    (
        "subrecords",
        "SELECT * REPLACE (cluster + 9 AS cluster) FROM t",
        "subrecords.parquet: a row belongs to a chunk that clusters.parquet does not",
    ),
    (
        "subrecords",
        "SELECT * REPLACE (count - 1 AS count) FROM t",
        "subrecords.parquet: each count must be a whole number of 1 or more",
    ),
    (
        "subrecords",
        "SELECT * REPLACE (length(item) AS count) FROM t",
        "subrecords.parquet: the rows of one subrecord have different counts",
    ),
    (
        "subrecords",
        "SELECT * FROM t UNION ALL SELECT * FROM t",
        "subrecords.parquet: an item occurs twice in a subrecord or term chunk",
    ),
    (
        "subrecords",
        "SELECT * REPLACE (NULL AS item) FROM t",
        "subrecords.parquet: a row has no item",
    ),
    (
        "subrecords",
        "SELECT * FROM t UNION ALL SELECT * REPLACE (subrecord + 9 AS subrecord) FROM t",
        "subrecords.parquet: a subrecord occurs twice in a chunk; list it once, with its count",
    ),
    (
        "terms",
        "SELECT 1 AS cluster, item FROM t",
        "terms.parquet: a row does not belong to a simple cluster of clusters.parquet",
    ),
    (
        "terms",
        "SELECT 7 AS cluster, item FROM t",
        "terms.parquet: a row does not belong to a simple cluster of clusters.parquet",
    ),
    (
        "terms",
        "SELECT * FROM t UNION ALL SELECT * FROM t",
        "terms.parquet: an item occurs twice in a subrecord or term chunk",
    ),
]


@pytest.mark.parametrize(("table", "select", "problem"), SPOILED, ids=range(len(SPOILED)))
def test_damaged_tables_are_named(release, tmp_path, table, select, problem):
    import duckdb

    folder = tmp_path / "r"
    write(release, folder, format="parquet")
    path = folder / f"{table}.parquet"
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE t AS SELECT * FROM '{path}'").fetchall()
        connection.execute(f"COPY ({select}) TO '{path}' (FORMAT parquet)").fetchall()
    files = about(folder)["files"] | {path.name: hashlib.sha256(path.read_bytes()).hexdigest()}
    (folder / "release.json").write_text(
        json.dumps(about(folder) | {"files": files}), encoding="utf-8"
    )
    with pytest.raises(ReleaseError) as error:
        read_release(folder)
    assert str(error.value).startswith(f"{folder} is not a usable release: {problem}")
    assert "\n" not in str(error.value)


def test_a_file_that_is_no_parquet_is_refused(release, tmp_path):
    folder = tmp_path / "r"
    write(release, folder, format="parquet")
    (folder / "terms.parquet").write_text("cluster,item\n")
    files = about(folder)["files"] | {
        "terms.parquet": hashlib.sha256((folder / "terms.parquet").read_bytes()).hexdigest()
    }
    (folder / "release.json").write_text(
        json.dumps(about(folder) | {"files": files}), encoding="utf-8"
    )
    with pytest.raises(ReleaseError, match=r"terms\.parquet"):
        read_release(folder)


def test_a_bare_file_holds_clusters_or_records(tmp_path):
    (tmp_path / "c.jsonl").write_text("\n".join(LINES) + "\n", encoding="utf-8")
    found, _ = read_bare(tmp_path / "c.jsonl", PROMISE)
    assert isinstance(found, Disassociated)
    assert found.lines() == LINES
    (tmp_path / "spaced.jsonl").write_text(
        '  { "size" : 2, "chunks" : [], "terms" : ["a"] }\n', encoding="utf-8"
    )
    assert isinstance(read_bare(tmp_path / "spaced.jsonl", PROMISE)[0], Disassociated)
    (tmp_path / "r.jsonl").write_text('{"items": ["a", "b"]}\n["a"]\n', encoding="utf-8")
    (tmp_path / "l.jsonl").write_text('["size", "chunks"]\n', encoding="utf-8")
    assert list(read_bare(tmp_path / "l.jsonl", PROMISE)[0]) == [("chunks", "size")]


def test_many_and_deep_clusters_are_written_and_read_again(tmp_path):
    parts = [SimpleCluster(9, [{("a", f"b{i}"): 3}], [f"t{i}"]) for i in range(2_000)]
    deep = parts[0]
    for number, part in enumerate(parts[1:100]):
        deep = JointCluster([{(f"s{number}",): 5}], [deep, part])
    release = Disassociated.of_clusters([deep, *parts[100:]], PROMISE)
    for format in DISASSOCIATED.formats:
        write(release, tmp_path / format, format=format)
        assert read_release(tmp_path / format) == release
    assert np.array_equal(np.sort(read_release(tmp_path / "parquet").sizes), np.sort(release.sizes))
