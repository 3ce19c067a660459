"""`setveil verify` on what is easy to miss: repeats, other files in the folder, useless numbers."""

from __future__ import annotations

import json

import pytest

REPEATS = {
    "rows.csv": "record,item\n1,tea\n1,tea\n2,tea\n",
    "lines.dat": "tea tea\ntea\n",
    "lists.jsonl": '["tea", "tea"]\n["tea"]\n',
    "cells.baskets": "tea,tea\ntea\n",
    "counts.csv": "record,item,count\n1,tea,2\n2,tea,1\n",
}


@pytest.mark.parametrize("name", REPEATS)
@pytest.mark.parametrize(
    "promise",
    [("-k", 2), ("-k", 2, "-m", 1), ("-k", 2, "-p", 1, "--h", 1)],
    ids=["k", "km", "coherence"],
)
def test_repeats_that_a_reader_of_the_file_sees_count(call, folder, name, promise):
    (folder / name).write_text(REPEATS[name])
    form = ("--input-format", "baskets") if name.endswith("baskets") else ()
    result = call("verify", name, *promise, *form, "--json")
    assert result.code == 1
    assert "--sets ignores repeats" in result.json["notes"][0]
    assert call("verify", name, *promise, *form, "--bags").code == 1
    as_sets = call("verify", name, *promise, *form, "--sets", "--json")
    assert as_sets.code == 0
    assert as_sets.json["notes"] == []


def test_a_file_without_repeats_is_one_of_sets(call, folder):
    (folder / "rows.csv").write_text("record,item\n1,tea\n2,tea\n")
    result = call("verify", "rows.csv", "-k", 2, "--json")
    assert result.code == 0
    assert result.json["notes"] == []


def test_other_files_in_the_folder_are_named(call, folder):
    assert (
        call("anonymize", "baskets.csv", "-o", "release", "-k", 2, "--hierarchy", "tree.csv").code
        == 0
    )
    assert call("verify", "release", "--json").json["notes"] == []
    for name in ("alignment.csv", "b", "c", "d"):
        (folder / "release" / name).write_text("ann\n")
    (note,) = call("verify", "release", "--json").json["notes"]
    assert note.startswith(
        "The folder also contains alignment.csv, b, c and 1 more, not part of the release and "
        "not checked."
    )


def test_a_share_given_for_a_release_is_that_of_its_own_private_items(call, folder):
    method = ("--method", "suppression", "-k", 2, "-p", 1, "--h", 0.9, "--private", "wine")
    assert call("anonymize", "baskets.csv", "-o", "release", *method).code == 0
    assert json.loads((folder / "release" / "release.json").read_text())["promise"]["private"] == [
        "wine"
    ]
    strict = call("verify", "release", "-k", 2, "-p", 1, "--h", 0.1, "--json")
    assert strict.code == 1
    assert "wine" in strict.json["checks"][1]["witnesses"][0]["text"]
    assert call("verify", "release", "-k", 2, "-p", 1, "--h", 0.9, "--json").json["notes"] == []


def test_a_share_without_effect_is_noted(call, folder):
    (folder / "rows.csv").write_text("record,item\n1,tea\n2,tea\n")
    result = call("verify", "rows.csv", "-k", 2, "-p", 1, "--h", 0.1, "--json")
    assert result.code == 0
    assert result.json["notes"] == ["No items are named as private, so h = 0.1 has no effect."]


@pytest.mark.parametrize("number", [10**30, 2**63, 10**400])
def test_numbers_beyond_all_counts_are_refused_in_a_sentence(call, folder, number):
    for promise in (("-k", number), ("-k", number, "-m", 2), ("-k", 2, "-p", number, "--h", 0.5)):
        result = call("verify", "baskets.csv", *promise)
        assert result.code == 2
        assert "to 1,000,000,000,000" in result.err
