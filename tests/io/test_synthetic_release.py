"""The folder of a synthetic release: written, read back, and refused if anything else is in it."""

from __future__ import annotations

import hashlib
import json

import pytest

from setveil import Frequent, Hierarchy, read_release, verify, write
from setveil.audit.records import check_written
from setveil.data.transactions import Transactions
from setveil.errors import ReleaseError
from setveil.methods import DiffPart
from setveil.promises import DifferentialPrivacy

DATA = Transactions.of([['the "best"', "b,c"], ["b,c"], [" x"], []] * 500)
TREE = Hierarchy.from_paths([(item, "ALL") for item in (*DATA.vocabulary, "rare")])
PROMISE = DifferentialPrivacy(epsilon=2)


@pytest.fixture
def folder(tmp_path):
    write(Frequent().anonymize(DATA, PROMISE, TREE), tmp_path / "release")
    return tmp_path / "release"


def change(folder, **changes):
    path = folder / "release.json"
    about = json.loads(path.read_text(encoding="utf-8"))
    for key, value in changes.items():
        about[key] = value(about[key]) if callable(value) else value
    path.write_text(json.dumps(about), encoding="utf-8")


def put(folder, name, text):
    (folder / name).write_text(text, encoding="utf-8", newline="")
    digest = hashlib.sha256(text.encode()).hexdigest()
    change(folder, files=lambda files: {**files, name: digest})


@pytest.mark.parametrize("format", ["csv", "fimi", "parquet"])
@pytest.mark.parametrize("method", [Frequent(), DiffPart()], ids=["frequent", "diffpart"])
def test_a_release_is_read_back_as_it_was_written(tmp_path, format, method):
    plain = Transactions.of([["a", "b"], ["b"], [], ["c"]] * 400)
    tree = Hierarchy.from_paths([(item, "ALL") for item in plain.vocabulary])
    made = method.anonymize(plain, PROMISE, tree)
    write(made, tmp_path / "release", format=format)
    again = read_release(tmp_path / "release")
    assert check_written(again, made).holds
    assert again.ledger == made.ledger
    assert again.people == made.people


def test_items_of_any_kind_come_back(folder):
    again = read_release(folder)
    assert {one.items[0] for one in again.supports} <= {*DATA.vocabulary, "rare"}
    assert ("b,c",) in {one.items for one in again.supports}


@pytest.mark.parametrize(
    "line",
    [
        "a,,1,0,1,0,0",
        "a,,1,2.0",
        "a,,1,2.0,1,0",
        "a,,-1,2.0,1,0,0",
        "a,,01,2.0,1,0,0",
        ",,1,2.0,1,0,0",
        "a,,1,nan,1,0,0",
        "a,,1.5,2.0,1,0,0",
        "a,b,c,1,2.0,1,0,0",
        "a,,1,2.0 ,1,0,0",
        "a,,1,2.00,1,0,0",
        "a,,1,2.0,x,0,0",
        "a,,1,2.0,1,-0,0",
    ],
)
def test_a_support_that_setveil_does_not_write_is_refused(folder, line):
    text = (folder / "supports.csv").read_text(encoding="utf-8")
    put(folder, "supports.csv", f"{text}{line}\n")
    with pytest.raises(ReleaseError, match=r"supports\.csv"):
        read_release(folder)


@pytest.mark.parametrize(
    ("column", "cell"), [(-1, "17"), (-1, "-1"), (-1, "1" + 17 * "0"), (-4, "1e+300")]
)
def test_noise_that_no_setveil_drew_is_refused_before_anything_is_computed(folder, column, cell):
    first, *lines = (folder / "supports.csv").read_text(encoding="utf-8").splitlines()
    rows = [line.split(",") for line in lines]
    for row in rows:
        row[column] = cell
    put(folder, "supports.csv", "\n".join([first, *map(",".join, rows), ""]))
    with pytest.raises(ReleaseError, match="not one or two items and their noisy counts"):
        read_release(folder)


def test_other_words_in_the_supports_are_refused(folder):
    text = (folder / "supports.csv").read_text(encoding="utf-8")
    put(folder, "supports.csv", text.replace("item,other", "item,note", 1))
    with pytest.raises(ReleaseError, match="must begin with the line"):
        read_release(folder)


@pytest.mark.parametrize(
    "ledger",
    [
        [],
        {},
        "all",
        [{}],
        [{"counts": "items"}],
        lambda found: [{**found[0], "note": "7"}, *found[1:]],
        lambda found: [{**found[0], "epsilon": "2/200"}, *found[1:]],
        lambda found: [{**found[0], "epsilon": 0.01}, *found[1:]],
        lambda found: [{**found[0], "epsilon": "1/0"}, *found[1:]],
        lambda found: [{**found[0], "counts": "names"}, *found[1:]],
        lambda found: [{**found[0], "noise": "none"}, *found[1:]],
        lambda found: [{**found[0], "scale": float("inf")}, *found[1:]],
        lambda found: [{**found[0], "scale": 1e300}, *found[1:]],
        lambda found: [{**found[0], "scale": -1.0}, *found[1:]],
        lambda found: [{**found[0], "sensitivity": True}, *found[1:]],
        lambda found: [{**found[0], "threshold": "x"}, *found[1:]],
    ],
)
def test_a_ledger_that_setveil_does_not_write_is_refused(folder, ledger):
    change(folder, ledger=ledger)
    with pytest.raises(ReleaseError, match=r"ledger|cannot be read"):
        read_release(folder)


def test_a_threshold_far_above_all_counts_does_not_hold_and_counts_are_at_least_0(folder):
    change(folder, ledger=lambda found: [{**one, "threshold": 10**17} for one in found])
    assert "ledger" in {check.name for check in verify(folder).failed}
    release = read_release(folder)
    assert {release.support(one.items).lower for one in release.supports} == {0}


@pytest.mark.parametrize("fact", ["ledger", "people"])
def test_a_release_without_a_ledger_or_a_number_of_people_is_refused(folder, fact):
    path = folder / "release.json"
    about = json.loads(path.read_text(encoding="utf-8"))
    del about[fact]
    path.write_text(json.dumps(about), encoding="utf-8")
    with pytest.raises(ReleaseError, match=f"has no {fact}"):
        read_release(folder)


def test_other_keys_files_and_promises_are_refused(folder):
    change(folder, mean_age=41)
    with pytest.raises(ReleaseError, match="mean_age"):
        read_release(folder)


def test_a_file_that_is_not_part_of_the_form_is_refused(folder):
    put(folder, "lengths.csv", "length,records\n1,20\n")
    with pytest.raises(ReleaseError, match=r"lengths\.csv"):
        read_release(folder)


def test_a_synthetic_release_cannot_promise_anything_else(folder):
    change(folder, promise={"model": "k-anonymity", "k": 2})
    with pytest.raises(ReleaseError, match="cannot keep k-anonymity"):
        read_release(folder)
