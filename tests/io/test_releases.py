"""Release folders: what they contain, what they do not, and how they are replaced."""

from __future__ import annotations

import hashlib
import json
import stat
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setveil.alignment.align import over
from setveil.data.transactions import Bags, Transactions
from setveil.errors import DataError, OutputError, ParameterError, ReleaseError
from setveil.hierarchy.tree import Hierarchy
from setveil.io import read, read_release, write
from setveil.io.releases.alignment import write_alignment
from setveil.io.releases.folder import fill_release, staged_release
from setveil.io.releases.recordfiles import _ranked
from setveil.io.releases.recordforms import GENERALIZED
from setveil.promises import KAnonymity, KmAnonymity
from setveil.published.generalized import Generalized
from setveil.published.rows import relabeled
from tests.strategies import data_with_tree

BASKETS = [["red wine", "beer"], ["red wine", "beer"], [], ["milk"], ["milk"], []]
TREE = [
    ("red wine", "Drink", "ALL"),
    ("beer", "Drink", "ALL"),
    ("milk", "Dairy, eggs", "ALL"),
    ("salt", "ALL"),
]


def published(data, tree, *, up=1, promise=None, method=None):
    """A release in which every item went up by so many steps (or to the root)."""
    nodes = tree.leaf_numbers(data.vocabulary)
    for _ in range(up):
        nodes = np.where(tree.parent[nodes] < 0, nodes, tree.parent[nodes]).astype(np.int32)
    method = method or {"name": "partition"}
    rows = relabeled(data, nodes, tree.nodes)
    return Generalized.of_rows(
        rows, tree, promise or KAnonymity(k=2), method, alignment=np.arange(len(data))
    )


@pytest.fixture
def release():
    return published(Transactions.of(BASKETS), Hierarchy.from_paths(TREE))


def about(folder):
    return json.loads((folder / "release.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("format", GENERALIZED.formats)
@pytest.mark.parametrize("kind", [Transactions, Bags])
@settings(max_examples=settings.default.max_examples // 6)
@given(drawn=st.data())
def test_a_release_that_is_written_is_read_again(format, kind, drawn):
    data, tree = drawn.draw(data_with_tree(multiset=kind is Bags))
    release = published(data, tree, up=drawn.draw(st.integers(0, 2)), promise=KmAnonymity(k=3, m=2))
    labels = [release.items[node] for node in release.published_nodes()]
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "release"
        if GENERALIZED.formats[format] == ("data.dat",) and any(
            label.split() != [label] for label in labels
        ):
            with pytest.raises(DataError, match="does not fit in a FIMI file"):
                write(release, place, format=format)
            assert list(Path(folder).iterdir()) == []
            return
        write(release, place, format=format)
        again = read_release(place)
    assert again == release
    assert again.hierarchy == release.hierarchy
    assert (again.promise, again.method, again.alignment) == (release.promise, release.method, None)
    assert len(again) == len(data)


def test_the_folder_holds_three_files_and_says_what_is_promised(release, tmp_path):
    with staged_release(tmp_path / "r") as stage:
        fill_release(release, stage, verified=True)
    assert sorted(path.name for path in (tmp_path / "r").iterdir()) == [
        "data.csv",
        "hierarchy.csv",
        "release.json",
    ]
    facts = about(tmp_path / "r")
    assert list(facts) == [
        "format",
        "setveil",
        "form",
        "promise",
        "method",
        "records",
        "hierarchy",
        "files",
        "verified",
    ]
    assert facts["promise"] == {
        "model": "k-anonymity",
        "k": 2,
        "meaning": KAnonymity(k=2).describe(),
        "not_promised": release.limits(),
    }
    assert (facts["form"], facts["method"], facts["records"], facts["verified"]) == (
        "generalized",
        {"name": "partition"},
        6,
        True,
    )
    assert list(facts["files"]) == ["data.csv", "hierarchy.csv"]


def test_what_nobody_verified_is_not_called_verified(release, tmp_path):
    write(release, tmp_path / "r")
    assert about(tmp_path / "r")["verified"] is False


def test_records_are_numbered_and_empty_ones_have_no_rows(release, tmp_path):
    write(release, tmp_path / "r", seed=1)
    header, *rows = (tmp_path / "r" / "data.csv").read_text(encoding="utf-8").splitlines()
    assert header == "record,item"
    numbers = [int(row.split(",")[0]) for row in rows]
    assert numbers == sorted(numbers)
    assert len(numbers) == 4
    assert set(numbers) < set(range(1, 7))
    assert {row.split(",", 1)[1] for row in rows} == {"Drink", '"Dairy, eggs"'}


def test_bags_have_counts(tmp_path):
    release = published(
        Bags.of([["beer", "beer"], ["beer", "beer"]]), Hierarchy.from_paths(TREE), up=0
    )
    for format in ("csv", "dat", "parquet"):
        write(release, tmp_path / format, format=format)
        assert about(tmp_path / format)["bags"] is True
        assert read_release(tmp_path / format) == release
    assert (tmp_path / "csv" / "data.csv").read_text() == "record,item,count\n1,beer,2\n2,beer,2\n"


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_the_same_seed_gives_the_same_bytes(release, tmp_path, format):
    for name in ("one", "two"):
        write(release, tmp_path / name, seed=5, format=format)
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()


def test_without_a_seed_the_order_is_random(tmp_path):
    data = Transactions.of([["beer"] if number % 2 else ["milk"] for number in range(200)])
    release = published(data, Hierarchy.from_paths(TREE), up=0)
    for name in ("one", "two"):
        write(release, tmp_path / name)
    assert (tmp_path / "one" / "data.csv").read_bytes() != (
        tmp_path / "two" / "data.csv"
    ).read_bytes()


def test_the_order_of_the_input_does_not_show(tmp_path):
    tree = Hierarchy.from_paths(TREE)
    rows = [["beer"], ["milk"], ["red wine", "milk"], [], ["salt"]] * 10
    for name, order in (("one", rows), ("two", rows[::-1])):
        write(published(Transactions.of(order), tree, up=0), tmp_path / name, seed=3)
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()


def test_a_given_tree_is_published_whole(release, tmp_path):
    write(release, tmp_path / "r")
    assert about(tmp_path / "r")["hierarchy"] == {"kind": "given"}
    assert "salt;ALL\n" in (tmp_path / "r" / "hierarchy.csv").read_text(encoding="utf-8")


def test_of_a_built_tree_only_what_the_records_show_is_published(tmp_path):
    data = Transactions.of([["secret", "b"], ["secret", "b"], ["c", "d"], ["c", "d"]])
    release = published(data, Hierarchy.balanced(data.vocabulary, 2))
    write(release, tmp_path / "r")
    assert about(tmp_path / "r")["hierarchy"] == {
        "kind": "balanced",
        "fanout": 2,
        "order": "alphabetical",
        "pruned": True,
    }
    for path in (tmp_path / "r").iterdir():
        assert "secret" not in path.read_text(encoding="utf-8")
    again = read_release(tmp_path / "r")
    assert again == release
    assert again.hierarchy.origin.pruned
    assert over(again, release.hierarchy) == release


def test_a_built_tree_is_published_whole_when_the_items_are_public(tmp_path):
    data = Transactions.of([["a"], ["b"], ["c"]])
    release = published(data, Hierarchy.balanced(data.vocabulary, 2))
    write(release, tmp_path / "r", public_items=True)
    assert about(tmp_path / "r")["hierarchy"] == {
        "kind": "balanced",
        "fanout": 2,
        "order": "alphabetical",
    }
    assert read_release(tmp_path / "r").hierarchy == release.hierarchy


def test_a_release_of_empty_records_and_one_of_none_are_read_again(tmp_path):
    for number, rows in enumerate([[[], []], []]):
        data = Transactions.of(rows)
        release = published(data, Hierarchy.balanced(data.vocabulary))
        write(release, tmp_path / str(number))
        assert read_release(tmp_path / str(number)) == release


def damage(folder, name):
    (folder / name).write_text(
        (folder / name).read_text(encoding="utf-8") + "x\n", encoding="utf-8"
    )


def change(folder, **facts):
    (folder / "release.json").write_text(json.dumps(about(folder) | facts), encoding="utf-8")


@pytest.mark.parametrize(
    ("spoil", "problem"),
    [
        (
            lambda folder: damage(folder, "data.csv"),
            "data.csv was changed after the release was written (its sha256 differs)",
        ),
        (
            lambda folder: damage(folder, "hierarchy.csv"),
            "hierarchy.csv was changed after the release was written (its sha256 differs)",
        ),
        (lambda folder: damage(folder, "release.json"), "release.json cannot be read"),
        (lambda folder: (folder / "data.csv").unlink(), "data.csv is missing"),
        (lambda folder: (folder / "hierarchy.csv").unlink(), "hierarchy.csv is missing"),
        (lambda folder: (folder / "release.json").unlink(), "it has no release.json"),
        (
            lambda folder: (folder / "release.json").write_text("[]"),
            "release.json lacks form, promise, method, records, files",
        ),
        (lambda folder: change(folder, records="6"), "release.json lacks records"),
        (
            lambda folder: change(folder, form="cloud"),
            "this version does not know its form 'cloud'",
        ),
        (
            lambda folder: change(folder, promise={"model": "luck"}),
            "this version does not know its promise 'luck'",
        ),
        (lambda folder: change(folder, promise={"model": "k-anonymity"}), "its promise lacks k"),
        (
            lambda folder: change(folder, promise={"model": "k-anonymity", "k": 1}),
            "its promise is not valid (k = 1 is not allowed: it must be a whole number of 2 or "
            "more)",
        ),
        (
            lambda folder: change(folder, records=2),
            "data.csv has 4 records, but release.json says 2",
        ),
        (lambda folder: change(folder, files={}), "release.json names no data file"),
        (
            lambda folder: change(folder, files={"../data.csv": "0"}),
            "release.json names no data file",
        ),
        (
            lambda folder: change(folder, files={"data.csv": "0"}),
            "data.csv was changed after the release was written (its sha256 differs)",
        ),
        (
            lambda folder: change(folder, files=about(folder)["files"] | {"../data.csv": "0"}),
            "release.json names '../data.csv', which is not part of a generalized release with "
            "data.csv",
        ),
    ],
)
def test_a_damaged_release_is_refused_and_the_fault_named(release, tmp_path, spoil, problem):
    folder = tmp_path / "r"
    write(release, folder)
    spoil(folder)
    with pytest.raises(ReleaseError) as error:
        read_release(folder)
    assert str(error.value) == f"{folder} is not a usable release: {problem}"


def test_a_label_that_the_tree_does_not_hold_is_refused(release, tmp_path):
    folder = tmp_path / "r"
    write(release, folder)
    (folder / "data.csv").write_text("record,item\n1,rum\n")
    digest = hashlib.sha256((folder / "data.csv").read_bytes()).hexdigest()
    change(folder, files=about(folder)["files"] | {"data.csv": digest})
    with pytest.raises(ReleaseError, match="the vocabulary does not contain 'rum'"):
        read_release(folder)


def test_what_is_no_folder_is_no_release(tmp_path):
    (tmp_path / "file").write_text("x")
    for name, problem in (("none", "there is no such folder"), ("file", "it is not a folder")):
        with pytest.raises(ReleaseError) as error:
            read_release(tmp_path / name)
        assert str(error.value) == f"{tmp_path / name} is not a usable release: {problem}"


def test_a_release_is_replaced_only_when_asked(release, tmp_path):
    folder = tmp_path / "r"
    write(release, folder)
    with pytest.raises(OutputError) as error:
        write(release, folder)
    assert (
        str(error.value)
        == f"cannot write {folder}: a release exists there already; choose another name or "
        "allow overwriting with force=True"
    )
    write(release, folder, force=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["r"]


def test_an_empty_folder_is_taken(release, tmp_path):
    (tmp_path / "r").mkdir()
    write(release, tmp_path / "r")
    assert read_release(tmp_path / "r") == release


def test_a_folder_of_something_else_is_never_touched(release, tmp_path):
    (tmp_path / "thesis.txt").write_text("years of work")
    for force in (False, True):
        with pytest.raises(OutputError) as error:
            write(release, tmp_path, force=force)
        assert str(error.value) == (
            f"cannot write {tmp_path}: the folder is not empty and not a release; "
            "choose another name"
        )
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_force_never_deletes_a_file_that_is_not_part_of_the_old_release(release, tmp_path):
    place = tmp_path / "r"
    write(release, place)
    (place / "notes.txt").write_text("years of work")
    with pytest.raises(OutputError) as error:
        write(release, place, force=True)
    assert str(error.value) == (
        f"cannot write {place}: the release there also contains 'notes.txt', which is not part of "
        "it; move that away or choose another name"
    )
    assert (place / "notes.txt").read_text() == "years of work"
    (place / "notes.txt").rename(place / ".DS_Store")
    write(release, place, force=True)
    assert read_release(place) == release


def test_a_file_or_a_link_is_no_place_for_a_release(release, tmp_path):
    (tmp_path / "file").write_text("x")
    (tmp_path / "link").symlink_to(tmp_path)
    for name in ("file", "link"):
        with pytest.raises(OutputError, match="it exists and is not a folder"):
            write(release, tmp_path / name, force=True)
    with pytest.raises(OutputError, match=r"the folder .* does not exist"):
        write(release, tmp_path / "no" / "r")


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_stage_that_fails_leaves_nothing_and_keeps_the_old_release(release, tmp_path, error):
    folder = tmp_path / "r"
    write(release, folder, seed=1)
    before = (folder / "data.csv").read_bytes()

    def fail():
        with staged_release(folder, force=True) as stage:
            fill_release(release, stage, seed=2)
            assert read_release(stage) == release
            raise error

    with pytest.raises(error):
        fail()
    assert [path.name for path in tmp_path.iterdir()] == ["r"]
    assert (folder / "data.csv").read_bytes() == before


def test_a_stage_that_ends_well_takes_its_place(release, tmp_path):
    with staged_release(tmp_path / "r") as stage:
        fill_release(release, stage, verified=True)
        assert not (tmp_path / "r").exists()
    assert read_release(tmp_path / "r") == release


def test_an_unknown_format_of_a_release_is_refused(release, tmp_path):
    with pytest.raises(ParameterError) as error:
        write(release, tmp_path / "r", format="jsonl")
    assert (
        str(error.value)
        == "format = 'jsonl' is not allowed: choose one of csv, fimi, dat, parquet for a "
        "generalized release"
    )
    assert list(tmp_path.iterdir()) == []


def test_the_alignment_has_a_line_for_each_original_record(release, tmp_path):
    data = Transactions.of(BASKETS)
    path = tmp_path / "private.csv"
    write_alignment(release, data, path)
    assert (
        path.read_text(encoding="utf-8") == 'Drink\nDrink\n""\n"Dairy, eggs"\n"Dairy, eggs"\n""\n'
    )
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(read(path, format="baskets")) == [
        ("Drink",),
        ("Drink",),
        (),
        ("Dairy, eggs",),
        ("Dairy, eggs",),
        (),
    ]


def test_the_alignment_never_lies_in_a_release(release, tmp_path):
    data = Transactions.of(BASKETS)
    write(release, tmp_path / "r")
    (tmp_path / "r" / "deep").mkdir()
    for path, folder in (
        (tmp_path / "r" / "deep" / "a.csv", None),
        (tmp_path / "x" / "a.csv", tmp_path / "x"),
    ):
        with pytest.raises(OutputError) as error:
            write_alignment(release, data, path, folder=folder)
        assert (
            str(error.value)
            == f"cannot write {path}: the alignment is private and must not be in a release folder"
        )


def test_only_a_fresh_release_has_an_alignment(release, tmp_path):
    write(release, tmp_path / "r")
    with pytest.raises(
        DataError, match="does not know which original record became which published one"
    ):
        write_alignment(read_release(tmp_path / "r"), Transactions.of(BASKETS), tmp_path / "a.csv")
    with pytest.raises(
        DataError, match="does not know which original record became which published one"
    ):
        write_alignment(release, Transactions.of(BASKETS[:3]), tmp_path / "a.csv")
    assert not (tmp_path / "a.csv").exists()


@given(st.lists(st.one_of(st.integers(1, 30), st.integers(1, 10**18))))
def test_records_are_ranked_by_their_numbers_however_far_apart_these_are(numbers):
    used, ranks = _ranked(np.array(numbers, dtype=np.int64))
    assert used.tolist() == sorted(set(numbers))
    assert used[ranks].tolist() == numbers
