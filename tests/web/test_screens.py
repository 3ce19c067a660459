"""Screens are made of stored values: their words, which release is which, and what they offer."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from html import unescape
from importlib import import_module
from pkgutil import iter_modules
from types import SimpleNamespace

import pytest

from setveil.report.fragments import attack_figure, losses_table
from setveil.web import pages
from setveil.web.screens import STEPS, Screen
from tests.web.serving import BASKETS, TREE, ended, served
from tests.web.test_own_files import outside_details

SECRET = "remedy-against-shame"
ROWS = BASKETS + f"60,{SECRET}\n60,a0\n"
WRONG = "item,area,kind\n" + "".join(
    f"{name},{'food' if name[0] in 'ab' else 'home'},{name[0]}\n"
    for name in [*(f"{letter}{number}" for letter in "abc" for number in range(5)), SECRET]
    + [f"d{number}" for number in range(60)]
)
"""A table of levels whose order is wrong: a kind is below an area."""
TWICE = "item;kind;area\n" + "".join(
    f"{letter}{number};{'other' if number % 2 else letter};{letter.upper()}\n"
    for letter in "abcd"
    for number in range(60)
)
"""A table in which one label, `other`, names a group of each area."""
BOX = re.compile(r'<(section|details) class="same">.*?</\1>', re.DOTALL)
TAG = re.compile(r"<(script|style).*?</\1>|<[^>]+>", re.DOTALL)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    with served(tmp_path_factory.mktemp("screens")) as page:
        yield page


@pytest.fixture(scope="module")
def place(page):
    """A project with data that was read."""
    return page.loaded(ROWS)


@pytest.fixture(scope="module")
def spare(page):
    """Another, for trees."""
    return page.loaded(ROWS)


@pytest.fixture(scope="module")
def runs(page, place):
    """Two releases with the same numbers; the second leaves rare items out."""
    how = {"k": 3, "m": 2, "method": "suppression", "seed": 5}
    return [page.run(place, **how), page.run(place, **how, min_people=2)]


@pytest.fixture(scope="module")
def noisy(page):
    """A synthetic release."""
    place = page.loaded(ROWS)
    page.post(f"{place}/goal/choose", promise="differential-privacy")
    return page.run(place, epsilon=2, public_items="yes")


def shown(text):
    """The words of a page outside the box for other doors."""
    return " ".join(unescape(TAG.sub(" ", BOX.sub(" ", text))).split())


def with_tree(page, place, content):
    page.put(f"{place}/hierarchy/file?name=tree.csv", content.encode())
    return page.until(f"{place}/hierarchy", lambda now: ended(now["job"]["status"]))


def job_folders(page):
    return [path.parent for path in (page.folder / "data").rglob("result.json")]


def words_of_the_command_line(page, addresses):
    """What looks like an option outside the box, by address."""
    answers = {address: page.page(address) for address in addresses}
    assert {answer.status for answer in answers.values()} == {200}
    found = {
        address: re.findall(r".{0,30}(?<!\S)--\w.{0,20}", shown(answer.text))
        for address, answer in answers.items()
    }
    return {address: words for address, words in found.items() if words}


def test_words_of_the_command_line_are_only_in_their_box(page, place, runs, spare):
    with_tree(page, spare, TREE)  # lacks an item
    addresses = ["/", *(f"{each}/{step}" for each in (place, spare) for step in STEPS)]
    addresses += [address for run in runs for address in (run["place"], f"{run['place']}/report")]
    assert words_of_the_command_line(page, addresses) == {}


@pytest.mark.long
def test_words_of_the_command_line_are_not_in_trials_either(page, place, runs, noisy):
    page.post(f"{place}/goal/advise")
    page.post(f"{place}/compare", **{"method.disassociation": "yes", "k": "2,4", "m": "2"})
    for step in ("goal", "compare"):
        page.until(f"{place}/{step}", lambda now: ended(now["job"]["status"]))
    addresses = [f"{place}/goal", f"{place}/compare", noisy["place"], f"{noisy['place']}/report"]
    assert words_of_the_command_line(page, addresses) == {}


def test_what_jobs_have_found_is_stored_without_html(page, runs):
    folders = job_folders(page)
    assert len(folders) > 3
    for folder in folders:
        text = (folder / "result.json").read_text(encoding="utf-8")
        assert not re.search(r"</?(p|div|table|section|svg|h2|li)\b", text)


def test_all_that_a_template_shows_is_in_the_json_twin_but_what_is_drawn_from_it():
    drawn = {"Report", "CheckedTree", "Released", "TreeDraft", "StoredJob"}
    names = [each.name for each in iter_modules(pages.__path__, "setveil.web.pages.")]
    modules = [import_module(name) for name in names]
    screens = {kind for module in modules for kind in _screens(module)}
    assert len(screens) > 10
    for kind in screens:
        for each in fields(kind):
            if each.metadata and each.name != "answers":  # which `attack` and so on are made of
                assert drawn & set(re.findall(r"\w+", str(each.type))), (kind, each.name)


def _screens(module):
    found = [each for each in vars(module).values() if isinstance(each, type)]
    return {each for each in found if issubclass(each, Screen)}


def test_forms_and_marks_are_in_the_json_twin(page, place):
    found = page.get(f"{place}/goal").json
    assert {one["name"] for one in found["numbers"]} >= {"k", "m"}
    assert found["fears"]
    assert "load" in found["done"]
    wrong = page.post(f"{place}/goal/settle", k=1, m=2).json
    assert list(wrong["marked"]) == ["k"]
    assert page.get(f"{place}/load").json["rows"]


def test_a_run_of_another_version_says_so_and_its_files_stay(page, place, runs):
    id = runs[0]["place"].rsplit("/", 1)[1]
    (folder,) = [each for each in job_folders(page) if each.name == id]
    kept = (folder / "result.json").read_bytes()
    for old in ({"values": {}, "holds": True, "parts": ["<p>"]}, {"version": 2, "found": {}}):
        (folder / "result.json").write_text(json.dumps(old), encoding="utf-8")
        text = shown(page.page(runs[0]["place"]).text)
        assert "From another version" in text
        assert "Start it again" in text
        for step in STEPS:
            assert page.page(f"{place}/{step}").status == 200
        assert page.get(f"{runs[0]['place']}/release.zip").status == 200
        assert page.get(f"{runs[0]['place']}/report.html").status == 404
    (folder / "result.json").write_bytes(kept)
    assert "The promise holds" in shown(page.page(runs[0]["place"]).text)


def test_the_public_report_has_nothing_of_the_original(page, runs):
    public = page.get(f"{runs[0]['place']}/report.html")
    private = page.get(f"{runs[0]['place']}/private-report.html")
    assert public.headers["content-type"].startswith("text/html")
    assert "attachment" in public.headers["content-disposition"]
    assert "It may be handed over with the release" in public.text
    assert "baskets.csv" in private.text
    for words in ("baskets.csv", SECRET, "private", "--seed", "lost", "d17"):
        assert words not in public.text


def test_names_say_in_what_runs_differ_and_can_be_changed(page, place, runs):
    first, second = (run["name"] for run in page.get(f"{place}/run").json["runs"][::-1])
    assert "suppression (k = 3, m = 2), rare items left out: none, " in first
    assert "rare items left out: below 2, " in second
    page.post(f"{runs[0]['place']}/name", name="for the ministry")
    assert page.get(runs[0]["place"]).json["name"] == "for the ministry"
    assert "for the ministry" in page.page(f"{place}/download").text
    page.post(f"{runs[0]['place']}/name", name="")
    assert page.get(runs[0]["place"]).json["name"] == first


@pytest.mark.long
def test_no_two_releases_have_the_same_name(page):
    place = page.loaded(ROWS)
    page.post(f"{place}/goal/choose", promise="coherence")
    for private in ("a0\na1", "a0\na2"):  # as many, but others
        page.run(place, k=3, p=1, h=0.8, private=private)
    both = [page.post(f"{place}/run").json["next"] for _ in range(2)]  # a double click
    for run in both:
        page.until(run, lambda now: ended(now["status"]))
    names = [run["name"] for run in page.get(f"{place}/run").json["runs"]]
    assert len(set(names)) == 4
    assert "private items: 2, with a1, " in names[-1]
    assert "private items: 2, with a2, " in names[-2]
    page.post(f"{place}/goal/choose", promise="k-anonymity")
    for tree in (f"{TREE}\n{SECRET};d;all", f"{TREE}\n{SECRET};a;all"):  # of the same name
        with_tree(page, place, tree)
        page.run(place, k=3)
    second, first = (run["name"] for run in page.get(f"{place}/run").json["runs"][:2])
    assert "hierarchy: tree.csv (file 1), " in first
    assert "hierarchy: tree.csv (file 2), " in second
    for run in both:
        page.post(f"{run}/name", name="mine")
    for step in ("run", "compare", "download"):
        names = [run["name"] for run in page.get(f"{place}/{step}").json["runs"]]
        assert {"mine", "mine (2)", first, second} <= set(names), step


def test_a_release_has_the_same_name_on_every_screen(page):
    place = page.loaded(ROWS)
    page.post(f"{place}/goal/choose", promise="coherence")
    for private in ("a0", "not in the data"):
        page.run(place, k=3, p=1, h=0.8, private=private)
    runs = page.get(f"{place}/run").json["runs"]
    assert [run["status"] for run in runs] == ["failed", "done"]
    for step in ("compare", "download"):
        (found,) = page.get(f"{place}/{step}").json["runs"]
        assert found["name"] == runs[1]["name"]


def test_one_release_is_the_one_to_hand_over(page, place, runs):
    assert "Not the one to hand over" not in page.page(f"{place}/download").text
    page.post(f"{runs[0]['place']}/final")
    listed = page.get(f"{place}/download").json["runs"]
    assert [run["is_final"] for run in listed] == [True, False]
    assert listed[0]["id"] in runs[0]["place"]
    text = shown(page.page(f"{place}/download").text)
    assert text.index("The one to hand over") < text.index("Not the one to hand over")


@pytest.mark.long
def test_a_release_of_an_older_reading_is_marked(page):
    place = page.loaded(ROWS)
    run = page.run(place, k=3, m=2, method="suppression")
    assert run["is_older"] is False
    page.post(f"{place}/load/reading", record="record", item="item", bags="no")
    page.until(f"{place}/load", lambda now: now["inspect"])
    assert page.get(run["place"]).json["is_older"] is True
    for address in (run["place"], f"{place}/run", f"{place}/download"):
        assert "made from an older reading of the data" in shown(page.page(address).text)
    page.put(f"{place}/load/file?name=baskets.csv", BASKETS.encode())
    page.until(f"{place}/load", lambda now: now["inspect"])
    assert page.get(run["place"]).json["is_older"] is True


def test_home_renames_projects_and_opens_them_where_they_were_left(page):
    place = page.project("first name")
    page.page(f"{place}/goal")
    page.post(f"{place}/name", name=" second   name ")
    (listed,) = [one for one in page.get("/").json["projects"] if one["id"] in place]
    assert (listed["name"], listed["place"]) == ("second name", f"{place}/goal")
    assert listed["running"] == []
    page.post(f"{place}/name", name=" ")
    assert "second name" in page.page("/").text


def test_home_shows_what_runs(page):
    place = page.project()
    page.post(f"{place}/load/sample", sample="shop")
    (listed,) = [one for one in page.get("/").json["projects"] if one["id"] in place]
    assert listed["running"] == [{"doing": "Generating a sample", "place": f"{place}/load"}]
    page.post(f"{place}/delete")


def test_a_chart_without_draws_is_not_drawn():
    rows = [SimpleNamespace(kind="items", draws=0)]
    assert attack_figure(SimpleNamespace(rows=rows)) == ""


@pytest.mark.long
def test_an_attack_is_offered_only_where_it_can_run(page, runs, noisy):
    assert "Attack it" in page.page(runs[0]["place"]).text
    assert "Attack it" not in page.page(noisy["place"]).text
    assert page.post(f"{noisy['place']}/attack", knows="1").status == 400


@pytest.mark.long
@pytest.mark.parametrize(
    "form",
    [
        {"promise": "km-anonymity", "k": 5, "m": 2, "method": "disassociation"},
        {"promise": "km-anonymity", "k": 5, "m": 2, "l": 2, "sensitive": "a1"},
        {"promise": "coherence", "k": 5, "p": 2, "h": 0.8, "private": f"{SECRET}\nE11.9"},
        {"promise": "differential-privacy", "epsilon": 2, "public_items": "yes"},
    ],
)
def test_the_promise_is_shown_in_the_sentence_that_is_published(page, form):
    place = page.loaded(ROWS)
    page.post(f"{place}/goal/choose", promise=form["promise"])
    assert page.post(f"{place}/goal/settle", **form).status == 200
    meaning = page.get(f"{place}/goal").json["meaning"]
    done = page.run(place, **form)
    assert done["status"] == "done", done["error"]
    folder = (page.folder / "data").rglob(f"jobs/{done['id']}/release/release.json")
    about = json.loads(next(folder).read_text(encoding="utf-8"))
    assert about["promise"]["meaning"] == meaning
    assert meaning in shown(page.page(f"{place}/goal").text)


def test_every_loss_on_the_result_is_described_without_naming_another(page):
    losses = {"tkd": 0.1, "tkd_2": 0.2, "tkd_a": 0.3, "blm": 0.4, "recall": 0.5, "distortion": 0.6}
    text = shown(losses_table(losses))
    assert re.findall(r"\d0(?=\.00)", text) == ["10", "40", "60"]
    assert "tkd" not in text
    assert "the same" not in text


def test_an_option_of_the_command_is_never_torn_apart(page, place):
    text = page.page(f"{place}/goal").text
    assert '<span class="whole">--method</span>' in text


def test_methods_beyond_the_usual_one_are_folded(page, spare):
    place = spare
    page.post(f"{place}/goal/settle", promise="km-anonymity", k=5, m=2, method="")
    text = page.page(f"{place}/goal").text
    assert text.index("What suits best") < text.index("<summary>Choose the method yourself")
    assert text.index("<summary>Choose the method yourself") < text.index('value="suppression"')
    assert "<details><summary>Choose the method yourself" in text
    page.post(f"{place}/goal/settle", k=5, m=2, method="suppression")
    assert "<details open><summary>Choose the method yourself" in page.page(f"{place}/goal").text


def test_the_command_has_every_option_of_a_tree(page, spare):
    place = spare
    with_tree(page, place, TREE)
    page.post(f"{place}/goal/choose", promise="k-anonymity")
    page.post(f"{place}/hierarchy/options", qualify="yes", unknown="root")
    for step in ("hierarchy", "run"):
        command = page.get(f"{place}/{step}").json["command"]
        assert "--qualify" in command
        assert "--unknown root" in command


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (WRONG, {"levels": "item,kind,area"}),
        (TWICE, {"levels": "item,kind,area", "qualify": "yes"}),
    ],
)
def test_another_way_to_read_a_tree_is_proposed_with_a_preview(page, spare, content, expected):
    place = spare
    found = with_tree(page, place, content)
    assert found["usable"] is False
    assert found["proposed"] == expected
    text = page.page(f"{place}/hierarchy").text
    assert "Read in another way it is one" in text
    assert "<summary>What is wrong with it now" in text
    page.post(f"{place}/hierarchy/options", unknown="root", **found["proposed"])
    found = page.until(f"{place}/hierarchy", lambda now: ended(now["job"]["status"]))
    assert (found["usable"], found["proposed"]) == (True, {})


def test_an_order_of_levels_that_only_new_names_make_usable_is_found(page, spare):
    place = spare
    with_tree(page, place, WRONG)
    page.post(f"{place}/hierarchy/options", levels="item,area,kind", qualify="yes", unknown="root")
    found = page.until(f"{place}/hierarchy", lambda now: ended(now["job"]["status"]))
    assert (found["usable"], found["proposed"]["levels"]) == (True, "item,kind,area")
    assert "This order of the levels looks wrong" in page.page(f"{place}/hierarchy").text


COUNTED = "record,item,count\n" + "".join(
    f"{record},{item},{1 + record % 3}\n"
    for record in range(60)
    for item in (f"a{record % 3}", f"b{record % 2}", f"c{record % 5}")
)


@pytest.fixture(scope="module")
def counted(page):
    """A project whose records say how often they have an item."""
    return page.loaded(COUNTED, "counted.csv")


def test_originals_are_shown_with_their_counts_beside_what_was_published(page, counted):
    page.post(f"{counted}/goal/choose", promise="k-anonymity")
    run = page.run(counted, k=2, method="partition", hierarchy="balanced:5", seed=1)
    beside = re.search(r'<div class="beside">.*?</div>', page.page(run["place"]).text, re.DOTALL)
    originals = re.findall(r"<tr><td>(.*?)</td>", beside[0])
    assert originals
    assert any(re.search(r"a2 x3, b\d x3, c\d x3", each) for each in originals)


def test_a_result_says_that_counts_were_ignored(page, counted):
    said = "How often a record has an item was ignored: only which items it has is published."
    page.post(f"{counted}/goal/choose", promise="differential-privacy")
    noisy = page.run(counted, epsilon=5, public_items="yes")
    assert said in shown(outside_details(page.page(noisy["place"]).text))
    page.post(f"{counted}/goal/choose", promise="k-anonymity")
    kept = page.run(counted, k=2, method="partition", hierarchy="balanced:5", seed=1)
    assert said not in page.page(kept["place"]).text
