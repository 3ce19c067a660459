"""The same job with the same seed gives the same files from the page, the command line and Python.

All methods are long tests; `test_browser.py` compares three forms on its way."""

from __future__ import annotations

import json
import shlex
import zipfile
from io import BytesIO

import pytest

from setveil.cli import answer
from setveil.methods import METHODS
from tests.web.doors import released, runs_the_same
from tests.web.serving import BASKETS, TREE, ended, served

BAGS = "record,item,count\n" + "".join(
    f"{record},{item},{1 + (record + at) % 3}\n"
    for record in range(60)
    for at, item in enumerate((f"a{record % 3}", f"b{record % 4}", f"c{record % 5}"))
)
LOG = "AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n" + "".join(
    f"{user}\t{('wine', 'beer', 'cider')[user % 3]} {('cheese', 'ham')[user % 2]}\t2006-03-01 10:00:0{user % 10}\t\t\n"
    for user in range(30)
)
LEVELS = "item;kind;area\n" + "".join(
    f"{letter}{number};{'other' if number % 2 else letter};{letter.upper()}\n"
    for letter in "abcd"
    for number in range(60)
)
"""A table in which one label, `other`, names a group of each area."""
NUMBERS = {
    "k-anonymity": {"k": 3},
    "km-anonymity": {"k": 3, "m": 2},
    "coherence": {"k": 3, "p": 2, "h": 0.8, "private": "d1"},
    "vocabulary-k-anonymity": {"k": 3},
    "differential-privacy": {"epsilon": 2.0},
}
OF_SETS = {name: method for name, method in METHODS.items() if method.reads != "tables"}
SEEDED = {name: method for name, method in OF_SETS.items() if method.form != "synthetic"}


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    with served(tmp_path_factory.mktemp("same")) as page:
        yield page


@pytest.fixture(scope="module")
def sets(page):
    """A project with sets and a hierarchy."""
    return with_tree(page, page.loaded())


@pytest.fixture(scope="module")
def bags(page):
    """A project with bags and a hierarchy."""
    return with_tree(page, page.loaded(BAGS))


@pytest.mark.long
@pytest.mark.parametrize("name", SEEDED)
def test_every_form_is_the_same_from_page_command_line_and_python(
    page, name, request, tmp_path, monkeypatch
):
    method = METHODS[name]
    place = request.getfixturevalue("bags" if method.reads == "bags" else "sets")
    done = anonymized(page, place, name, seed=5)
    monkeypatch.chdir(tmp_path)
    unpacked(page, done, tmp_path)
    given(tmp_path, BAGS if method.reads == "bags" else BASKETS)
    if "private" in done["words"]:
        content = page.get(f"{done['place']}/private-items.txt").body
        (tmp_path / "private-items.txt").write_bytes(content)
    runs_the_same(done, tmp_path / "page" / "release", tmp_path)
    about = json.loads((tmp_path / "page" / "release" / "release.json").read_text("utf-8"))
    assert (about["form"], about["method"]["name"]) == (method.form, name)
    assert about["records"] == 60


def test_a_tree_with_new_names_and_a_list_with_unknown_codes_are_the_same_elsewhere(
    page, tmp_path, monkeypatch
):
    place = page.loaded()
    page.put(f"{place}/hierarchy/file?name=levels.csv", LEVELS.encode())
    found = page.until(f"{place}/hierarchy", lambda now: ended(now["job"]["status"]))
    page.post(f"{place}/hierarchy/options", **found["proposed"])
    page.until(f"{place}/hierarchy", lambda now: ended(now["job"]["status"]))
    many = "\n".join(f"d{n}" for n in range(9))  # more than a command spells out
    page.post(f"{place}/goal/choose", promise="coherence")
    numbers = {"k": 3, "p": 1, "h": 0.8, "seed": 5}
    done = page.run(place, **numbers, private=f"{many}\nE11.9\nunder:c")
    assert done["status"] == "done", done["error"]
    assert "--qualify" in done["command"]
    assert "--private private-items.txt --private under:c" in done["command"]
    assert f'href="{done["place"]}/private-items.txt"' in page.page(done["place"]).text
    monkeypatch.chdir(tmp_path)
    unpacked(page, done, tmp_path)
    for name, content in (("baskets.csv", BASKETS), ("levels.csv", LEVELS)):
        (tmp_path / name).write_text(content, encoding="utf-8")
    for name in ("private-items.txt", "job.toml"):
        (tmp_path / name).write_bytes(page.get(f"{done['place']}/{name}").body)
    runs_the_same(done, tmp_path / "page" / "release", tmp_path)
    assert answer(["run", "job.toml"]) == 0
    made = {path.name: path.read_bytes() for path in (tmp_path / "release").iterdir()}
    assert made == {
        path.name: path.read_bytes() for path in (tmp_path / "page" / "release").iterdir()
    }


@pytest.mark.long
def test_a_query_log_becomes_the_same_bags_and_the_same_release(page, tmp_path, monkeypatch):
    place = page.project()
    page.put(f"{place}/load/file?name=log.tsv", LOG.encode())
    page.until(f"{place}/load", lambda now: now["contains"] == "log")
    page.post(f"{place}/load/log", terms="words", gap="inf")
    read = page.until(f"{place}/load", lambda now: now["inspect"])
    page.post(f"{place}/hierarchy/choose", kind="recipe", recipe="balanced:5")
    page.until(f"{place}/hierarchy", lambda now: ended(now["job"]["status"]))
    done = anonymized(page, place, "ssc", seed=5)
    monkeypatch.chdir(tmp_path)
    unpacked(page, done, tmp_path)
    (tmp_path / "log.tsv").write_text(LOG, encoding="utf-8")
    assert answer(shlex.split(read["command"])[1:]) == 0
    runs_the_same(done, tmp_path / "page" / "release", tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in OF_SETS if name not in SEEDED])
def test_what_adds_noise_promises_the_same_everywhere(page, sets, name, tmp_path, monkeypatch):
    done = anonymized(page, sets, name, public_items="yes")
    monkeypatch.chdir(tmp_path)
    unpacked(page, done, tmp_path)
    given(tmp_path, BASKETS)
    made = [tmp_path / "page" / "release", *released(done, tmp_path)]
    facts = [json.loads((folder / "release.json").read_text("utf-8")) for folder in made]
    for other in facts[1:]:
        assert (other["promise"], other["method"]) == (facts[0]["promise"], facts[0]["method"])


def with_tree(page, place):
    page.put(f"{place}/hierarchy/file?name=tree.csv", TREE.encode())
    page.until(f"{place}/hierarchy", lambda now: ended(now["job"]["status"]))
    return place


def given(folder, content):
    """The files of the user."""
    (folder / "baskets.csv").write_text(content, encoding="utf-8")
    (folder / "tree.csv").write_text(TREE, encoding="utf-8")


def anonymized(page, place, name, **more):
    """A run of a method on the page; its values."""
    model = METHODS[name].promises[0].model
    page.post(f"{place}/goal/choose", promise=model)
    done = page.run(place, **NUMBERS[model], method=name, **more)
    assert (done["status"], done["holds"]) == ("done", True), done["error"]
    return done


def unpacked(page, done, folder):
    """The release that the page has made, in `page/release`."""
    packed = page.get(f"{done['place']}/release.zip").body
    with zipfile.ZipFile(BytesIO(packed)) as inside:
        inside.extractall(folder / "page")
