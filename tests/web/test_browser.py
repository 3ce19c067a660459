"""The whole path in a browser, as a person goes it."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import zipfile
from contextlib import chdir

import psutil
import pytest

import setveil as sv
from setveil.audit.records import check_written
from tests.web.doors import runs_the_same
from tests.web.serving import BASKETS, TREE, served, start, stop
from tests.web.visiting import Tab, catch_worker

LOG = "AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n" + "".join(
    f"{user}\t{word} {other}\t2006-03-01 10:00:0{user % 10}\t\t\n"
    for user in range(30)
    for word, other in [
        (("wine", "beer", "cider")[user % 3], ("cheese", "ham")[user % 2]),
        (("bread", "rolls", "rusk", "toast")[user % 4], "butter"),
    ]
)
STEPS = ("load", "exposure", "goal", "hierarchy", "run", "result", "compare", "download")


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("browser")
    (folder / "baskets.csv").write_text(BASKETS, encoding="utf-8")
    (folder / "tree.csv").write_text(TREE, encoding="utf-8")
    (folder / "log.tsv").write_text(LOG, encoding="utf-8")
    with served(folder) as page:
        yield page


@pytest.fixture(scope="module")
def loaded(page):
    """A project with data that was read."""
    return page.loaded()


@pytest.fixture
def tab(browser, page):
    tab = Tab(browser, page)
    yield tab
    tab.close()


def test_the_file_that_serve_opens_leads_to_the_page(browser, page):
    context = browser.new_context()
    visit = context.new_page()
    visit.goto((page.folder / "data" / "open.html").as_uri())
    visit.get_by_role("heading", name="Release data, keep people hidden").wait_for()
    assert visit.url == f"{page.url}/"
    context.close()


def load(tab, name="baskets.csv"):
    """A project with data; its address."""
    place = tab.new_project()
    tab.upload(tab.served.folder / name)
    tab.page.get_by_role("heading", name="Read:").wait_for()
    tab.rests()
    return place


def choose(tab, place, model, method="", **numbers):
    """Say what is feared, and how it is kept."""
    tab.go(f"{place}/goal")
    tab.page.locator(f'input[name="promise"][value="{model}"]').check()
    tab.click("Use this", exact=True)
    tab.page.get_by_role("heading", name=f"The promise: {model}", exact=True).wait_for()
    for name, value in numbers.items():
        tab.page.locator(f'[name="{name}"]').fill(str(value))
    radio = tab.page.locator(f'input[name="method"][value="{method}"]')
    if not radio.is_visible():
        tab.page.get_by_text("Choose the method yourself").click()
    radio.check()
    seed = tab.page.get_by_label("Seed", exact=True)
    if not seed.is_visible():
        tab.page.get_by_text("What is published", exact=True).click()
    seed.fill("7")
    tab.click("Save and go on")
    tab.page.wait_for_url("**/hierarchy")


def run(tab, place):
    """Anonymize; the address of the run."""
    tab.go(f"{place}/run")
    tab.click("Anonymize now")
    tab.page.wait_for_url("**/runs/*")
    tab.page.locator(".verdict").first.wait_for()
    tab.rests()
    return tab.page.url.removeprefix(tab.served.url)


def released(tab, place, target):
    """The release of the newest run, downloaded and unpacked."""
    target.mkdir(exist_ok=True)
    tab.go(f"{place}/download")
    packed = tab.saved("Download the release", target / "release.zip")
    with zipfile.ZipFile(packed) as inside:
        names = inside.namelist()
        inside.extractall(target)
    assert all(name.startswith("release/") for name in names)
    return sv.read_release(target / "release")


def same_elsewhere(tab, place, target, **files):
    """The command line and Python make the release of the newest run from the files of the user."""
    files |= {name: (tab.served.folder / name).read_bytes() for name in ("baskets.csv", "tree.csv")}
    for name, content in files.items():
        (target / name).write_bytes(content)
    with chdir(target):
        runs_the_same(tab.served.get(f"{place}/result").json, target / "release", target)


def test_the_path_to_disassociated_generalized_and_suppressed_releases(tab, tmp_path):
    place = load(tab)
    for step in STEPS:
        tab.go(f"{place}/{step}")
        tab.accessible()
    tab.go(f"{place}/exposure")
    tab.sees("known items single out")
    tab.page.locator("figure svg").wait_for()

    choose(tab, place, "km-anonymity", k=3, m=2)
    run(tab, place)
    tab.accessible()
    tab.sees("Records before and after")
    assert released(tab, place, tmp_path / "d").form == "disassociated"
    same_elsewhere(tab, place, tmp_path / "d")

    choose(tab, place, "k-anonymity", k=3)
    tab.sees("it needs a hierarchy")
    tab.upload(tab.served.folder / "tree.csv", "Choose a hierarchy file")
    tab.page.locator(".tree-row").first.wait_for()
    tab.rests()
    tab.accessible()
    run(tab, place)
    tab.accessible()
    assert released(tab, place, tmp_path / "g").form == "generalized"
    same_elsewhere(tab, place, tmp_path / "g")

    choose(tab, place, "km-anonymity", method="suppression", k=3, m=2)
    tab.click("Use no hierarchy")
    run(tab, place)
    release = released(tab, place, tmp_path / "s")
    assert release.form == "suppressed"
    same_elsewhere(tab, place, tmp_path / "s")

    tab.go(f"{place}/compare")
    tab.sees("Your releases side by side")
    assert tab.page.locator("table").first.locator("thead th").count() == 4
    tab.accessible()
    tab.go(f"{place}/download")
    tab.accessible()
    job = tab.saved("Job file", tmp_path / "job.toml")
    (tmp_path / "baskets.csv").write_text(BASKETS, encoding="utf-8")
    again = sv.run(sv.Job.read(job))
    assert check_written(again.release, release).holds


@pytest.mark.parametrize(
    "form",
    [
        {"promise": "k-anonymity", "k": 10},
        {"promise": "km-anonymity", "k": 3, "m": 2, "method": "suppression", "seed": 7},
        {"promise": "km-anonymity", "k": 5, "m": 2, "method": "disassociation", "seed": 7},
        {"promise": "coherence", "k": 3, "p": 2, "h": 0.8, "private": "d1\nE11.9"},
        {"promise": "differential-privacy", "epsilon": 1, "public_items": "yes"},
    ],
)
def test_a_result_fits_on_three_screens_of_a_phone(browser, page, loaded, form):
    page.post(f"{loaded}/goal/choose", promise=form["promise"])
    run = page.run(loaded, **form)
    assert run["status"] == "done", run["error"]
    tab = Tab(browser, page, viewport={"width": 390, "height": 844})
    tab.go(run["place"])
    tab.accessible()
    assert tab.page.evaluate("document.documentElement.scrollHeight") <= 3 * 844
    for address in (run["place"], f"{run['place']}/report", f"{loaded}/compare"):
        tab.go(address)
        assert tab.page.evaluate("document.documentElement.scrollWidth") <= 390
    tab.close()


def test_a_list_is_taken_from_a_file(tab, loaded, tmp_path):
    place = loaded
    (tmp_path / "codes.txt").write_text("d1\nE11.9\n", encoding="utf-8")
    tab.served.post(f"{place}/goal/choose", promise="coherence")
    tab.go(f"{place}/goal")
    tab.page.get_by_label("Or take the lines of a file").set_input_files(
        str(tmp_path / "codes.txt")
    )
    field = tab.page.get_by_label("Private items", exact=True)
    tab.page.wait_for_function("() => document.getElementById('f-private').value.includes('E11')")
    assert field.input_value() == "d1\nE11.9\n"
    tab.accessible()
    tab.click("Save and go on")
    tab.page.wait_for_url("**/hierarchy")
    assert tab.served.get(f"{place}/goal").json["words"]["private"] == ["d1", "E11.9"]
    tab.served.post(f"{place}/goal/choose", promise="km-anonymity")


def test_the_sentence_of_a_promise_follows_the_typing(tab, loaded):
    tab.go(f"{loaded}/goal")
    tab.page.get_by_label("Size of the crowd (k)").fill("23")
    tab.page.locator("[data-shows=meaning]").get_by_text("fewer than 23 records").wait_for()


def test_a_hierarchy_is_edited_and_used(tab, tmp_path):
    place = load(tab)
    choose(tab, place, "k-anonymity", k=3)
    tab.upload(tab.served.folder / "tree.csv", "Choose a hierarchy file")
    tab.page.locator('.tree-row[data-label="d"] .tree-name').click()
    tab.page.wait_for_function("() => document.activeElement.dataset.label === 'd'")
    tab.accessible()
    tab.page.keyboard.press("F2")
    tab.page.locator(".tree-dialog input").fill("rare things")
    tab.page.keyboard.press("Enter")
    tab.page.locator(".tree-message").get_by_text("Renamed").wait_for()
    run(tab, place)
    release = released(tab, place, tmp_path)
    assert "rare things" in release.tree.labels
    assert "d" not in release.tree.labels
    saved = tab.served.get(f"{place}/tree/download").body
    same_elsewhere(tab, place, tmp_path, **{"edited-tree.csv": saved})
    tab.go(f"{place}/hierarchy")
    tab.page.locator('.tree-row[data-label="rare things"]').wait_for()


@pytest.mark.long
def test_what_can_be_asked_about_a_release_and_other_settings(tab):
    place = load(tab)
    choose(tab, place, "km-anonymity", k=3, m=2)
    here = run(tab, place)
    tab.page.get_by_text("Attack it").click()
    tab.click("Attack", exact=True)
    tab.page.get_by_role("heading", name="Singling out").wait_for()
    tab.rests()
    tab.page.get_by_text("Count in it").click()
    tab.page.get_by_label("Items", exact=True).fill("a0, b0")
    tab.click("Count", exact=True)
    tab.sees("Records that contain")
    tab.rests()
    tab.page.get_by_text("Draw whole records").click()
    tab.click("Draw records", exact=True)
    tab.sees("1 reconstruction of 60 records")
    tab.rests()
    tab.accessible()
    values = tab.served.get(here).json
    assert values["attack"]["result"]["holds"] is True
    assert values["support"]["result"]["items"] == ["a0", "b0"]
    tab.go(f"{place}/compare")
    for name in ("suppression", "disassociation"):
        tab.page.get_by_label(name, exact=True).set_checked(name == "disassociation")
    tab.page.get_by_label("Size of the crowd (k)").fill("2,4")
    tab.click("Compare", exact=True)
    tab.page.get_by_role("heading", name="Methods and numbers compared").wait_for()
    tab.accessible()
    found = tab.served.get(f"{place}/compare").json["comparison"]
    assert [row["k"] for row in found["rows"]] == [2, 4]


@pytest.mark.long
def test_the_path_from_a_query_log_to_typical_bags(tab, tmp_path):
    place = tab.new_project()
    tab.upload(tab.served.folder / "log.tsv")
    tab.sees("This is a query log")
    tab.accessible()
    tab.click("Make records from the log")
    tab.page.get_by_role("heading", name="Read: 30 records").wait_for()
    tab.rests()
    tab.go(f"{place}/goal")
    checked = tab.page.locator('input[name="promise"]:checked')
    assert checked.get_attribute("value") == "vocabulary-k-anonymity"
    choose(tab, place, "vocabulary-k-anonymity", method="ssc", k=3)
    tab.click("Build and check it")
    tab.page.locator(".tree-row").first.wait_for()
    tab.rests()
    run(tab, place)
    tab.accessible()
    assert released(tab, place, tmp_path).form == "typical-bags"


@pytest.mark.long
def test_the_path_without_scripts(browser, page):
    tab = Tab(browser, page, java_script_enabled=False)
    tab.new_project()
    tab.upload(page.folder / "baskets.csv")
    tab.page.get_by_role("heading", name="Read: 60 records").wait_for()
    tab.click("No, one each")
    tab.click("Next: see who is exposed", role="link")
    tab.sees("known items single out")
    tab.close()


def test_a_bad_file_gets_the_line_of_the_command_line(tab):
    bad = tab.served.folder / "bad.csv"
    bad.write_text("record,item\n1,beer\n,wine\n", encoding="utf-8")
    command = [sys.executable, "-m", "setveil", "inspect", "bad.csv"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tab.served.folder)
    assert done.returncode == 3
    line = done.stderr.removeprefix("setveil: ").split(";")[0].strip()
    assert "bad.csv: data row 2 has no record" in line
    tab.new_project()
    tab.upload(bad)
    tab.sees(line.removeprefix("bad.csv: "))
    tab.accessible()
    assert "/data/projects" not in tab.page.content()


@pytest.mark.long
def test_a_dropped_file_is_loaded(tab):
    tab.new_project()
    tab.page.evaluate(
        """(content) => {
          const data = new DataTransfer();
          data.items.add(new File([content], "dropped.csv", {type: "text/csv"}));
          const drop = document.querySelector(".drop");
          drop.dispatchEvent(new DragEvent("dragover", {dataTransfer: data, bubbles: true, cancelable: true}));
          drop.dispatchEvent(new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true}));
        }""",
        BASKETS,
    )
    tab.page.get_by_role("heading", name="dropped.csv").wait_for()


@pytest.mark.long
def test_a_job_can_be_cancelled_and_another_killed(tab, loaded):
    place = loaded

    caught = catch_worker(tab.served, lambda: tab.begin_run(place))
    tab.page.locator("[data-events]").wait_for()
    tab.accessible()
    tab.click("Cancel")
    tab.sees("Anonymizing was cancelled")
    assert not caught.is_running() or caught.status() == psutil.STATUS_ZOMBIE
    here = tab.page.url.removeprefix(tab.served.url)
    folder = tab.served.folder / "data" / here.removeprefix("/").replace("/runs/", "/jobs/")
    assert {path.name for path in folder.iterdir()} <= {"task.json", "log.txt", "error.json"}

    caught = catch_worker(tab.served, lambda: tab.begin_run(place))
    tab.page.locator("[data-events]").wait_for()
    caught.kill()
    tab.sees("was ended from outside")
    tab.accessible()
    tab.go("/")
    tab.sees("Your projects")


@pytest.mark.long
def test_a_restart_in_the_middle(browser, tmp_path):
    (tmp_path / "baskets.csv").write_text(BASKETS, encoding="utf-8")
    page = start(tmp_path)
    port = int(page.host.split(":")[1])
    try:
        tab = Tab(browser, page)
        place = load(tab)

        caught = catch_worker(page, lambda: tab.begin_run(place))
        here = tab.page.url
        tab.check()
        stop(page, signal.SIGKILL)
        caught.resume()
        caught.wait()
    finally:
        if page.process.poll() is None:
            stop(page)
    page = start(tmp_path, port=port)
    try:
        tab.page.goto(here)
        tab.sees("Please open this page from the terminal")  # the cookie of before is of no use
        tab = Tab(browser, page)
        tab.page.goto(here)
        tab.sees("was interrupted")
        tab.click("Start it again")
        tab.page.locator(".verdict").first.wait_for()
        assert stop(page) == 0
    finally:
        if page.process.poll() is None:
            stop(page)
    tab.context.close()


@pytest.mark.long
def test_two_tabs_at_once(browser, page):
    first = Tab(browser, page)
    second = Tab(browser, page, context=first.context)
    place = page.loaded()
    second.go(f"{place}/run")
    choose(first, place, "km-anonymity", k=4, m=2)
    second.click("Anonymize now")  # with what the other tab has saved
    first.go(f"{place}/run")
    first.click("Anonymize now")
    for tab in (first, second):
        tab.page.wait_for_url("**/runs/*")
        tab.page.locator(".verdict").first.wait_for()
        tab.sees("km-anonymity (k = 4, m = 2)")
        tab.check()
    assert first.page.url != second.page.url
    runs = page.get(f"{place}/run").json["runs"]
    assert [run["status"] for run in runs] == ["done", "done"]
    first.context.close()


@pytest.mark.parametrize(
    "how", [{"color_scheme": "dark"}, {"viewport": {"width": 360, "height": 700}}]
)
def test_dark_colours_and_a_phone_are_as_readable(browser, page, loaded, how):
    place = next(
        (f"/projects/{each['id']}" for each in page.get("/").json["projects"]
         if page.get(f"/projects/{each['id']}/download").json["runs"]), None,
    ) or loaded  # fmt: skip
    tab = Tab(browser, page, **how)
    for step in STEPS:
        tab.go(f"{place}/{step}")
        tab.accessible()
    tab.go("/")
    tab.accessible()
    tab.close()


def test_a_command_can_be_copied_and_runs(tab, loaded):
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    place = loaded
    tab.go(f"{place}/exposure")
    tab.click("Copy: Command line")
    tab.page.get_by_text("Copied").wait_for()
    command = tab.page.evaluate("navigator.clipboard.readText()")
    assert command == "setveil inspect baskets.csv"
    twin = tab.page.request.get(f"{tab.page.url}?format=json").json()
    line = [sys.executable, "-m", *command.split(), "--json"]
    done = subprocess.run(line, capture_output=True, text=True, cwd=tab.served.folder)
    assert json.loads(done.stdout)["exposures"] == twin["exposures"]
    assert re.search(r'sv\.inspect\("baskets\.csv"\)', twin["python"])
