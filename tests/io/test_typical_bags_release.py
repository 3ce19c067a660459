"""The release folder of typical bags: what it contains, what it does not, and reading it back."""

from __future__ import annotations

import csv
import json

import pytest

from setveil.audit import verify
from setveil.data.transactions import Bags
from setveil.errors import MisfitError, ReleaseError
from setveil.hierarchy.tree import Hierarchy
from setveil.io import read_release, write
from setveil.io.releases.alignment import with_alignment, write_alignment
from setveil.methods.ssc import SSC
from setveil.metrics import measure
from setveil.promises import VocabularyKAnonymity
from setveil.published.typical_bags import TypicalBags
from tests.published.groups import GROUPS, ORIGINAL, TREE, publish

TYPICAL = ("majority", "mixed", "slots", "generalized")
FILES = {
    "majority": {"release.json", "data.csv"},
    "mixed": {"release.json", "data.csv", "hierarchy.csv"},
    "slots": {"release.json", "data.csv", "slots.csv"},
    "generalized": {"release.json", "data.csv", "hierarchy.csv"},
}


@pytest.mark.parametrize("typical", TYPICAL)
@pytest.mark.parametrize("format", ["csv", "fimi", "parquet"])
def test_it_reads_back_as_it_was(typical, format, tmp_path):
    release = publish([*GROUPS[:1], ([3, 4], [])], typical)
    write(release, tmp_path / "release", format=format)
    back = read_release(tmp_path / "release")
    assert back == release
    assert back.promise == release.promise
    assert back.method == release.method
    assert back.empty == 2
    assert (back.slots is None, back.hierarchy is None) == (
        release.slots is None,
        release.hierarchy is None,
    )
    assert back.alignment is None
    assert back.matches is None


@pytest.mark.parametrize("typical", TYPICAL)
def test_nothing_but_what_is_published_is_written(typical, tmp_path):
    release = publish(typical=typical)
    write(release, tmp_path / "release")
    assert {path.name for path in (tmp_path / "release").iterdir()} == FILES[typical]
    about = json.loads((tmp_path / "release" / "release.json").read_text(encoding="utf-8"))
    assert about["records"] == 5
    assert about["form"] == "typical-bags"
    assert about["bags"] is True
    assert about.get("by_majority") == (True if typical == "mixed" else None)
    assert set(about) <= {
        "by_majority",
        "same_branch",
        "complete",
        "countable",
        "epsilon",
        "omega",
        "format",
        "setveil",
        "form",
        "promise",
        "method",
        "records",
        "bags",
        "hierarchy",
        "files",
        "verified",
    }


def test_the_files_do_not_depend_on_the_order_of_the_people(tmp_path):
    one, other = publish(typical="slots"), publish(list(reversed(GROUPS)), "slots")
    write(one, tmp_path / "one", seed=1)
    write(other, tmp_path / "other", seed=1)
    for name in ("data.csv", "slots.csv"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "other" / name).read_bytes()


def test_slots_are_in_a_file_that_anybody_can_read(tmp_path):
    write(publish(typical="slots"), tmp_path / "release")
    with (tmp_path / "release" / "slots.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert rows[0] == {"slot": "1", "item": "Boots", "count": "1"}
    assert {row["item"] for row in rows if row["slot"] == "1"} == {"Boots", "Shoes"}
    assert sum(int(row["count"]) for row in rows) == 4 * 3 + 3 * 2


def test_a_tree_that_was_built_from_the_data_is_pruned(tmp_path):
    tree = Hierarchy.balanced(ORIGINAL.vocabulary, fanout=2)
    rows = Bags.of([{tree.labels[tree.root]: 2}])
    release = TypicalBags.of_rows(rows, VocabularyKAnonymity(k=2), {}, hierarchy=tree)
    write(release, tmp_path / "release")
    assert "Wine" not in (tmp_path / "release" / "hierarchy.csv").read_text(encoding="utf-8")
    assert read_release(tmp_path / "release").hierarchy.origin.pruned
    write(release, tmp_path / "whole", public_items=True)
    assert "Wine" in (tmp_path / "whole" / "hierarchy.csv").read_text(encoding="utf-8")


@pytest.mark.parametrize("typical", TYPICAL)
def test_who_has_the_original_needs_no_tree_again_when_it_was_built_by_a_recipe(typical, tmp_path):
    tree = Hierarchy.balanced(ORIGINAL.vocabulary, fanout=2)
    method = SSC(typical=typical, variant="paper")
    release = method.anonymize(ORIGINAL, VocabularyKAnonymity(k=2), tree)
    write(release, tmp_path / "release")
    write_alignment(release, ORIGINAL, tmp_path / "private.csv")
    back = with_alignment(read_release(tmp_path / "release"), tmp_path / "private.csv")
    assert measure(back, ORIGINAL) == measure(back, ORIGINAL, hierarchy=tree)
    assert {"blm", "sdist"} <= set(measure(back, ORIGINAL))
    assert verify(back, ORIGINAL).text == verify(back, ORIGINAL, hierarchy=tree).text
    assert "not compared" not in verify(back, ORIGINAL).text


def test_a_tree_that_was_given_is_not_mentioned(tmp_path):
    write(SSC().anonymize(ORIGINAL, VocabularyKAnonymity(k=2), TREE), tmp_path / "release")
    assert "semantics" not in json.loads(
        (tmp_path / "release" / "release.json").read_text(encoding="utf-8")
    )
    assert "blm" not in measure(read_release(tmp_path / "release"), ORIGINAL)


@pytest.mark.parametrize("typical", TYPICAL)
def test_the_alignment_is_written_apart_and_read_again(typical, tmp_path):
    release = publish(typical=typical)
    write_alignment(release, ORIGINAL, tmp_path / "private.csv")
    back = with_alignment(release.without_alignment(), tmp_path / "private.csv")
    assert back.alignment.tolist() == release.alignment.tolist()


def test_an_alignment_of_other_bags_is_refused(tmp_path):
    (tmp_path / "private.csv").write_text("Wine,Wine\n" * 5, encoding="utf-8")
    with pytest.raises(MisfitError, match="line 1"):
        with_alignment(publish(), tmp_path / "private.csv")


def test_a_changed_file_is_refused(tmp_path):
    write(publish(typical="slots"), tmp_path / "release")
    for name in ("data.csv", "slots.csv"):
        path = tmp_path / "release" / name
        text = path.read_text(encoding="utf-8")
        path.write_text(text + "1,Wine,1\n", encoding="utf-8")
        with pytest.raises(ReleaseError, match=name):
            read_release(tmp_path / "release")
        path.write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("slot,item\n1,Wine\n", "must begin with"),
        ("slot,item,count\n1,Wine,much\n", "line 2"),
        ("slot,item,count\n77,Wine,2\n", "slot '1'"),
    ],
)
def test_slots_that_cannot_be_understood_are_refused(text, problem, tmp_path):
    import hashlib

    write(publish(typical="slots"), tmp_path / "release")
    (tmp_path / "release" / "slots.csv").write_text(text, encoding="utf-8")
    about = tmp_path / "release" / "release.json"
    facts = json.loads(about.read_text(encoding="utf-8"))
    facts["files"]["slots.csv"] = hashlib.sha256(text.encode()).hexdigest()
    about.write_text(json.dumps(facts), encoding="utf-8")
    with pytest.raises(ReleaseError, match=problem):
        read_release(tmp_path / "release")


def test_nodes_that_the_tree_does_not_have_are_refused_when_read(tmp_path):
    release = publish(typical="generalized")
    assert set(release.items) <= set(TREE.labels)
    write(release, tmp_path / "release")
    data = tmp_path / "release" / "data.csv"
    data.write_text(
        data.read_text(encoding="utf-8").replace("Alcohol", "Spirits"), encoding="utf-8"
    )
    about = tmp_path / "release" / "release.json"
    facts = json.loads(about.read_text(encoding="utf-8"))
    del facts["files"]["data.csv"]
    about.write_text(json.dumps(facts), encoding="utf-8")
    with pytest.raises(ReleaseError, match="no data file"):
        read_release(tmp_path / "release")
