"""Items with a NUL character or a line end are refused where a file could not hold them."""

from __future__ import annotations

import pytest

import setveil as sv
from setveil.audit.records import check_written
from setveil.data.transactions import Bags, Transactions
from setveil.errors import DataError, SetveilError
from setveil.hierarchy.files import write_hierarchy
from setveil.io import FORMATS, read, read_release, write
from setveil.io.releases.folder import FORMS
from setveil.pipeline.notes import formula_note
from setveil.published.disassociated.clusters import SimpleCluster

ODD = (
    "a\0b",
    "\0",
    "a\nb",
    "a\rb",
    "a\r\nb",
    "\r",
    "a\x0bb",
    "a\u2028b",
    "\x1a",
    "\ufeffa",
    '"\n"',
)


@pytest.mark.parametrize("end", ["", ".gz", ".zst"])
@pytest.mark.parametrize("format", FORMATS)
def test_an_item_is_read_as_it_was_written_or_not_written(tmp_path, format, end):
    if end and not FORMATS[format].is_text:
        return
    path = tmp_path / f"a{FORMATS[format].suffixes[0]}{end}"
    for item in ODD:
        data = Transactions.of([[item, "zz"], ["b"]])
        try:
            write(data, path, force=True)
        except DataError:
            assert not path.exists() or "\0" in item or format in ("fimi", "baskets")
            continue
        assert read(path) == data, item


def test_a_text_file_never_has_a_nul_character(tmp_path):
    data = Transactions.of([["a\0b"]])
    for format in ("csv", "tsv", "baskets", "fimi", "arff"):
        path = tmp_path / f"a{FORMATS[format].suffixes[0]}"
        with pytest.raises(DataError) as refused:
            write(data, path)
        assert str(refused.value) == (
            "an item contains a NUL character, which a text file cannot hold; choose a format that "
            "can, such as parquet"
        )
        assert not path.exists()
    tree = sv.Hierarchy.from_paths([("a\0", "ALL"), ("b", "ALL")])
    with pytest.raises(DataError, match=r"tree.csv: a label contains a NUL character"):
        write_hierarchy(tree, tmp_path / "tree.csv")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("item", ODD, ids=ascii)
def test_a_release_is_read_as_it_was_written_or_not_written(tmp_path, item):
    tree = sv.Hierarchy.from_paths([(item, "ALL"), ("b", "ALL")])
    releases = (
        sv.Suppressed.of([[item]] * 2, sv.Coherence(h=1, k=2, p=1)),
        sv.Generalized.of([[item]] * 2, tree, sv.KAnonymity(k=2)),
        sv.TypicalBags.of([[item]] * 2, sv.VocabularyKAnonymity(k=2)),
        sv.Disassociated.of_clusters([SimpleCluster(2, [{(item,): 2}])], sv.KmAnonymity(k=2, m=2)),
    )
    for release in releases:
        for format in FORMS[release.form].formats:
            place = tmp_path / f"{release.form}-{format}"
            try:
                write(release, place, format=format)
            except SetveilError:
                assert not place.exists()
                continue
            assert check_written(read_release(place), release).holds


def test_rows_with_a_nul_character_are_refused(tmp_path):
    release = sv.Suppressed.of([["a\0"]] * 2, sv.Coherence(h=1, k=2, p=1))
    with pytest.raises(DataError, match="NUL"):
        write(release, tmp_path / "release", format="csv")
    write(release, tmp_path / "release", format="parquet")
    assert check_written(read_release(tmp_path / "release"), release).holds


@pytest.mark.parametrize("engine", ["local", "blocks"])
@pytest.mark.parametrize("format", ["csv", "parquet", None])
def test_a_release_with_a_tree_refuses_a_nul_character_once(tmp_path, format, engine):
    """The advice was once another format, which led to a second refusal by the tree."""
    path = tmp_path / "data.jsonl"
    path.write_text('["a\\u0000","b"]\n["b"]\n["a\\u0000"]\n' * 9, encoding="utf-8")
    how = {"k": 2, "hierarchy": "balanced:2", "format": format, "engine": engine}
    with pytest.raises(DataError) as refused:
        sv.anonymize(path, output=tmp_path / "release", **how)
    assert str(refused.value) == (
        "an item contains a NUL character, which hierarchy.csv of the release cannot hold; remove "
        "it from the items of the data"
    )
    assert [each.name for each in tmp_path.iterdir()] == ["data.jsonl"]


def test_items_that_look_like_formulas_are_noted(tmp_path):
    items = ["=1+1", "@SUM(A1)", "+x", "-y", "-5", "+1.5", "beer"]
    how = {"k": 2, "m": 2, "hierarchy": "balanced:9:alphabetical", "output": tmp_path / "release"}
    notes = sv.anonymize([items] * 4, **how).notes
    said = [note for note in notes if "formula" in note]
    assert said == [
        "4 published items begin with =, +, - or @: a spreadsheet that opens data.csv may take "
        "them for formulas. Say so to the receivers, or write format='parquet'."
    ]
    notes = sv.anonymize([items] * 4, **how, force=True, format="parquet").notes
    assert not [note for note in notes if "formula" in note]
    assert formula_note(["-5", "beer"], ["data.csv"]) == ()


def test_bags_with_odd_items_are_read_again_or_refused(tmp_path):
    for item in ODD:
        data = Bags.of([[item, item], ["b"]])
        try:
            write(data, tmp_path / "a.csv", force=True)
        except DataError:
            assert "\0" in item
            continue
        assert read(tmp_path / "a.csv") == data
