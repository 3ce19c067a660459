"""Releases of every older format are read and verified, in the words of their own version."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

import setveil
from setveil import (
    Coherence,
    Columns,
    DifferentialPrivacy,
    KAnonymity,
    KmAnonymity,
    LDiversity,
    VocabularyKAnonymity,
    read,
    read_release,
    verify,
)
from setveil.errors import ReleaseError
from setveil.io.releases.folder import FORMS, about_release
from setveil.io.releases.versions import FIRST_STATED, FORMAT, VERSIONS, in_words_of
from tests.releases.make import HERE, RELEASES, original_of

TOP = Path(__file__).parents[1]
AGES = sorted(path.name for path in HERE.iterdir() if path.name[0].isdigit())
NEWEST = next(age for age in AGES if age.startswith(f"{FORMAT}-"))
TREE = str(HERE / "original" / "tree.csv")
DIVERSITY = LDiversity(l=3, sensitive=["flu"])
PROMISES = {
    "generalized-k": [KAnonymity(k) for k in (2, 3, 1500)]
    + [KmAnonymity(k, m) for k in (2, 3, 1500) for m in (1, 2, "all")],
    "generalized-bags": [VocabularyKAnonymity(k) for k in (2, 3, 1500)],
    "disassociated": [
        KmAnonymity(k, m, diversity)
        for k in (2, 3, 1500)
        for m in (1, 2, "all")
        for diversity in (None, DIVERSITY)
    ],
    "disassociated-safe": [KmAnonymity(k, m) for k in (2, 1500) for m in (1, 2, "all")],
    "suppressed": [
        Coherence(h, k, p, private)
        for k in (2, 3, 1500)
        for p in (1, 2)
        for h in (0.8, 1)
        for private in ((), ("flu",))
    ],
    "typical-slots": [VocabularyKAnonymity(k) for k in (2, 3, 1500)],
    "grouped": [Columns(k, m) for k in (2, 3, 1500) for m in (1, 2, "all")],
    "synthetic-delta": [DifferentialPrivacy(1), DifferentialPrivacy(0.5, 1e-6)],
}
"""Promises of every model and form, so that all words are said."""
WORDS = {
    "generalized-k": "fc302d ffebf0 ffebf0 fc4fd3 fc4fd3 3b9447 3b9447 3b9447 3b9447",
    "generalized-bags": "537763 537763 537763 2f1ad5 2f1ad5 8273c5 8273c5 8273c5 8273c5",
    "disassociated": "af4984 c5f1eb 36ede4 0aaff5 d5726d 9416a0 9416a0 9416a0 9416a0",
    "disassociated-safe": "8acff3 2434df 7f7fe2 24dd8b 24dd8b 74c3d4 68df76 68df76 abaed4",
    "suppressed": "009f21 163222 163222 756be5 756be5 34187c 34187c ef9666 ef9666",
    "typical-slots": "537763 537763 537763 2f1ad5 2f1ad5 8273c5 8273c5 8273c5 8273c5",
    "grouped": "224f50 224f50 224f50 6d11f0 6d11f0 72f2e9 72f2e9 72f2e9 72f2e9",
    "synthetic-delta": "29f892 29f892 29f892 29f892 29f892 7fad1a 7fad1a ca1222 ca1222",
}
"""What these promises say in each version, as hashes. If one differs, the words changed: see
"Change what a release says" in CONTRIBUTING."""


@pytest.mark.parametrize("age", AGES)
def test_a_release_of_every_age_is_read_and_verified_with_its_original(age):
    for place in sorted((HERE / age).iterdir()):
        assert verify(str(place), original(place.name)).holds, place.name


@pytest.mark.parametrize("name", ["typical-majority", "typical-paper", "typical-slots"])
@pytest.mark.parametrize("age", AGES)
def test_typical_bags_of_every_age_are_compared_by_a_given_tree(age, name):
    place = HERE / age / name
    if place.exists():
        assert verify(str(place), original(name), hierarchy=TREE).holds


def test_typical_bags_that_do_not_say_how_similar_items_are_fail_if_a_tree_is_given(tmp_path):
    place = copied(tmp_path, NEWEST, "typical-majority")
    said = about(place)
    write(place, said | {"same_branch": False})
    data = original("typical-majority")
    assert verify(str(place), data).holds
    (failed,) = verify(str(place), data, hierarchy=TREE).failed
    assert failed.name == "containment"
    assert "does not say how similar" in failed.text
    del said["same_branch"]
    write(place, said)
    with pytest.raises(ReleaseError, match="has no same_branch"):
        verify(str(place), data)


def test_typical_bags_of_an_age_without_that_fact_hold_and_say_what_was_not_checked():
    place = HERE / "5-c675bb7" / "typical-majority"
    assert "epsilon" in about(place)
    place = HERE / "3-14f8975" / "typical-majority"
    verdict = verify(str(place), original("typical-majority"), hierarchy=TREE)
    assert verdict.holds
    assert "was not checked, because releases of its age do not say" in verdict.checks[-1].text


def test_every_version_form_and_promise_has_an_old_release():
    models = {part.model for each in PROMISES.values() for one in each for part in one.parts}
    assert models == set(setveil.PROMISES)
    assert {int(age.split("-")[0]) for age in AGES} == set(VERSIONS)
    assert {about(HERE / NEWEST / name)["form"] for name in RELEASES} == set(FORMS)
    assert all(about(HERE / NEWEST / name)["format"] == FORMAT for name in RELEASES)


@pytest.mark.parametrize("name", PROMISES)
def test_the_words_of_no_version_ever_change(name):
    release = read_release(HERE / NEWEST / name)
    now = [about_release(replace(release, promise=each))["promise"] for each in PROMISES[name]]
    said = ([in_words_of(version, each) for each in now] for version in VERSIONS)
    texts = (json.dumps(each, sort_keys=True).encode() for each in said)
    assert " ".join(hashlib.sha256(text).hexdigest()[:6] for text in texts) == WORDS[name]


def test_each_format_belongs_to_a_version_of_setveil_and_the_changelog_names_the_last():
    numbers = [numbered(each.setveil) for each in VERSIONS.values()]
    stated = numbers[FIRST_STATED - 1 :]
    assert numbers == sorted(numbers)
    assert len(set(stated)) == len(stated)
    assert numbers[-1] <= numbered(setveil.__version__)
    changes = (TOP / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"This is setveil {setveil.__version__}, which writes format {FORMAT}" in changes
    page = (TOP / "docs" / "formats" / "release.md").read_text(encoding="utf-8")
    assert f'"format": {FORMAT},\n  "setveil": "{setveil.__version__}",' in page


@pytest.mark.parametrize("age", AGES)
def test_words_of_a_release_of_any_age_that_were_never_written_are_refused(age, tmp_path):
    for name in ("generalized-k", "disassociated-diverse", "suppressed", "typical-majority"):
        said = about(HERE / age / name)["promise"]
        forged = said | {"meaning": said["meaning"].replace("at least 3", "at least 4", 1)}
        assert "no setveil of its version wrote" in refusal(tmp_path, age, name, promise=forged)
        forged = said | {"not_promised": "Nothing."}
        assert "its promise" in refusal(tmp_path, age, name, promise=forged)


def test_the_words_of_two_versions_are_not_mixed(tmp_path):
    old = about(HERE / "3-14f8975" / "generalized-k")["promise"]
    new = about(HERE / "7-8352a97" / "generalized-k")["promise"]
    mixed = old | {"not_promised": new["not_promised"]}
    assert "its promise" in refusal(tmp_path, "3-14f8975", "generalized-k", promise=mixed)
    assert "its promise" in refusal(tmp_path, NEWEST, "generalized-k", promise=old)


@pytest.mark.parametrize("key", ["meaning", "not_promised"])
def test_a_release_that_states_its_version_must_have_its_words(key, tmp_path):
    said = about(HERE / NEWEST / "suppressed")["promise"]
    said.pop(key)
    assert f"its promise lacks {key}" in refusal(tmp_path, NEWEST, "suppressed", promise=said)


@pytest.mark.parametrize("stated", [FIRST_STATED - 1, 0, -1, True, 8.0, "8", None])
def test_a_version_that_was_never_stated_is_refused(stated, tmp_path):
    assert "release.json lacks format" in refusal(tmp_path, NEWEST, "generalized-k", format=stated)


def test_a_release_of_a_newer_format_says_to_install_a_newer_setveil(tmp_path):
    problem = refusal(tmp_path, NEWEST, "generalized-k", format=FORMAT + 1)
    assert f"its format {FORMAT + 1} is newer than {FORMAT}" in problem
    assert "install a newer setveil" in problem


def test_a_release_without_its_version_does_not_pass_as_an_older_one_in_new_keys(tmp_path):
    place = copied(tmp_path, NEWEST, "typical-majority")
    said = about(place)
    for left_out in ({"format"}, {"format", "same_branch"}, {"format", "setveil"}):
        write(place, {key: said[key] for key in said.keys() - left_out})
        with pytest.raises(ReleaseError, match="lacks format"):
            read_release(place)
    for name in ("vocabularies", "typical-sets"):
        write(place, {**said, "format": FORMAT, "form": name})
        with pytest.raises(ReleaseError, match="does not know its form"):
            read_release(place)


@cache
def original(name):
    """The data that a release was made from, if it is compared with it."""
    found = original_of(name)
    columns = ("age", "sex") if name.startswith("grouped") else None
    return None if found is None else read(HERE / "original" / found, columns=columns)


def numbered(version):
    return tuple(map(int, re.findall(r"\d+", version)))


def about(place):
    return json.loads((place / "release.json").read_text(encoding="utf-8"))


def write(place, said):
    (place / "release.json").write_text(json.dumps(said), encoding="utf-8")


def copied(tmp_path, age, name):
    place = tmp_path / "forged"
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(HERE / age / name, place)
    return place


def refusal(tmp_path, age, name, **facts):
    """Why a release with other facts is not read."""
    place = copied(tmp_path, age, name)
    write(place, about(place) | facts)
    with pytest.raises(ReleaseError) as error:
        read_release(place)
    return str(error.value)
