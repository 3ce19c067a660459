"""The page without a browser: every screen as HTML and as JSON, files, jobs and what is deleted."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import zipfile
from io import BytesIO

import pytest

import setveil as sv
from setveil.methods import METHODS
from setveil.parameters import parameters
from setveil.pipeline.names import words_of
from setveil.web.project import promise_kinds
from setveil.web.screens import STEPS
from tests.web.serving import BASKETS, TREE, ended, served, start, stop
from tests.web.visiting import catch_worker

SECRET = "remedy-against-shame"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    (folder / "baskets.csv").write_text(ROWS, encoding="utf-8")
    with served(folder) as page:
        yield page


HOSTILE = "<script>alert(1)</script>"
ROWS = BASKETS.replace("a1", HOSTILE) + f"60,{SECRET}\n60,a0\n"


@pytest.fixture(scope="module")
def place(page):
    """A project with data that was read."""
    return page.loaded(ROWS)


@pytest.fixture(scope="module")
def run(page, place):
    """A suppressed release of this data, without the rare item."""
    return page.run(place, k=3, m=2, method="suppression", seed=5) | {"project": place}


def test_every_step_has_a_page_and_a_json_twin(page, place):
    for step in STEPS:
        shown, values = page.page(f"{place}/{step}"), page.get(f"{place}/{step}")
        assert (shown.status, values.status) == (200, 200)
        assert shown.headers["content-type"].startswith("text/html")
        assert values.json["step"] == step
        assert values.json["title"] in shown.text
        for words in ("command", "python"):
            if values.json[words]:
                assert values.json[words].split()[0] in shown.text
        assert page.page(f"{place}/{step}?format=json").json == values.json


def test_items_and_names_that_are_html_are_only_text(page, place, run):
    shown = [page.page(f"{place}/{step}").text for step in STEPS]
    shown += [page.page(run["place"]).text, page.page(f"{run['place']}/private-report.html").text]
    assert not any(HOSTILE in text for text in shown)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in shown[0]
    project = page.project(HOSTILE)
    page.put(
        f"{project}/hierarchy/file?name=<img src=x onerror=alert(1)>.csv".replace(" ", "%20"),
        b"a;b",
    )
    for path in ("/", f"{project}/load", f"{project}/hierarchy"):
        text = page.page(path).text
        assert HOSTILE not in text
        assert "<img" not in text


def test_the_page_shows_what_inspect_finds(page, place):
    found = page.get(f"{place}/exposure").json
    expected = sv.inspect(str(page.folder / "baskets.csv"))
    assert found["summary"]["records"] == expected.summary.records
    assert found["exposures"][1]["whole"] == expected.exposures[1].whole


def test_a_project_that_is_not_there_is_not_found(page, place):
    for path in (
        "/projects/abc/load",
        f"{place}/nowhere",
        f"{place}/runs/abc",
        f"{place}/jobs/abc",
    ):
        answer = page.get(path)
        assert answer.status == 404
        assert set(answer.json) == {"error"}
        assert page.page(path).text.startswith("<!doctype html>")


@pytest.mark.parametrize("model", promise_kinds())
def test_every_parameter_of_promises_and_methods_has_a_field(page, place, model):
    page.post(f"{place}/goal/choose", promise=model)
    text = page.page(f"{place}/goal").text
    for name in words_of(promise_kinds()[model]):
        assert f'name="{name}"' in text
    for method, kind in METHODS.items():
        if promise_kinds()[model] in kind.promises:
            assert f'value="{method}"' in text
            for name in parameters(kind):
                assert f'name="{method}.{name}"' in text
    page.post(f"{place}/goal/choose", promise="km-anonymity")


def test_the_numbers_of_another_promise_are_shown_before_the_path_goes_on(page, place):
    form = {"k": 9, "m": 2, "go": "on"}
    answer = page.post(f"{place}/goal/settle", promise="k-anonymity", **form)
    assert answer.json["next"] == f"{place}/goal?changed=1#promise"
    assert "You chose another promise" in page.page(f"{place}/goal?changed=1").text
    assert "You chose another promise" not in page.page(f"{place}/goal").text
    assert page.get(f"{place}/goal").json["promise"] == "k-anonymity"
    answer = page.post(f"{place}/goal/settle", promise="k-anonymity", **form)
    assert answer.json["next"] == f"{place}/hierarchy"
    assert page.get(f"{place}/goal").json["words"]["k"] == 9
    page.post(f"{place}/goal/choose", promise="km-anonymity")


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ({"k": "1", "m": "2"}, "“Size of the crowd (k)” = 1 is not allowed"),
        ({"k": "many", "m": "2"}, "it must be a whole number"),
        ({"k": "5", "m": "x"}, "it must be a whole number"),
        ({"k": "5", "m": "2", "seed": "-1"}, "it must be a whole number of 0 or more"),
        ({"k": "5", "m": "2", "method": "hghs", "l": "2", "sensitive": "a0"}, ""),
    ],
)
def test_numbers_that_are_not_allowed_are_refused_in_one_line(page, place, form, words):
    before = page.get(f"{place}/goal").json["words"]
    refused = page.post(f"{place}/goal/settle", **form)
    if refused.status == 200:  # the words are fine, and the method refuses them when it runs
        assert page.post(f"{place}/run").status == 400
        page.post(f"{place}/goal/settle", k=5, m=2)
        return
    assert refused.status == 400
    assert words in refused.json["error"]
    assert "\n" not in refused.json["error"]
    assert page.get(f"{place}/goal").json["words"] == before


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "the file is empty"),
        (b"\x00\x01\x02" * 50, "binary file"),
        (b"id,age\n1,41\n2,42\n3,43\n", "no column is obviously the item"),
    ],
)
def test_a_bad_file_is_named_and_the_page_asks_how_to_read_it(page, content, words):
    project = page.project("bad")
    page.put(f"{project}/load/file?name=bad.csv", content)
    found = page.until(
        f"{project}/load", lambda now: any(job["error"] for job in now["jobs"].values())
    )
    (error,) = [job["error"] for job in found["jobs"].values() if job["error"]]
    assert words in error
    assert error.startswith("bad.csv: ")
    assert "/data/" not in error
    assert "Read it differently" in page.page(f"{project}/load").text


def test_skipped_blank_lines_are_on_the_load_and_the_exposure_screens(page):
    place = page.loaded("a,b\n\nc\n\na\n\na,b,c\n\nb\n", "spaced.csv")
    said = "4 blank lines were skipped: they only separate the records."
    assert said in page.page(f"{place}/load").text
    exposure = page.page(f"{place}/exposure").text
    assert said in exposure
    assert "of 5 records are unique" in exposure


def test_a_table_below_a_title_is_read_and_the_row_is_a_field(page):
    rows = "".join(f"{5000 + n},c{n % 7},9.{n}0\n" for n in range(30) for _ in range(2))
    titled = f"Orders of March\n\norder,item,price\n{rows}"
    place = page.loaded(titled, "orders.csv")
    found = page.ask_json(f"{place}/load")
    assert found["inspect"]["summary"]["items"] == 7
    assert found["preview"]["columns"] == ["order", "item", "price"]
    screen = page.page(f"{place}/load").text
    assert "Row 3 names the columns; the 2 rows above it were left out." in screen
    assert "Row 3: order, item, price" in screen
    page.post(f"{place}/load/reading", header="4", record="1", item="2")
    read = page.until(f"{place}/load", lambda now: now.get("inspect"))
    assert read["reading"]["header"] == "4"
    assert read["inspect"]["summary"]["items"] == 7
    assert "Row 4 names the columns" in page.page(f"{place}/load").text
    assert "names the columns" not in page.page(f"{place}/exposure").text  # it is about people


def test_the_options_of_a_survey_are_a_field(page):
    rows = "".join(
        f"{n},{'R' * (n % 2)},{'SQL' if n % 3 else ''},text {n},{20 + n}\n" for n in range(40)
    )
    text = f"id,Uses [R],Uses [SQL],Uses [Other],Age\n{rows}"
    place = page.project("survey")
    page.put(f"{place}/load/file?name=survey.csv", text.encode())
    page.until(
        f"{place}/load",
        lambda now: now.get("jobs", {}).get("inspect", {}).get("error") or now.get("inspect"),
    )
    page.post(f"{place}/load/reading", item_columns="Uses *; 2-3")
    read = page.until(f"{place}/load", lambda now: now.get("inspect"))
    assert read["reading"]["item"] == ["Uses *", "2-3"]
    assert read["inspect"]["summary"]["items"] == 2
    screen = page.page(f"{place}/load").text
    assert "hold texts rather than ticks: &#x27;Uses [Other]&#x27;" in screen.replace(
        "&#39;", "&#x27;"
    )
    assert "--item 'Uses *' --item 2-3" in page.get(f"{place}/load").json["command"]
    assert 'value="Uses *; 2-3"' in screen


def test_nothing_private_is_in_the_download(page, run):
    assert run["holds"] is True
    assert run["outcome"]["suppressed"][-1] == SECRET or SECRET in run["outcome"]["suppressed"]
    answer = page.get(f"{run['place']}/release.zip")
    assert answer.headers["content-type"] == "application/zip"
    with zipfile.ZipFile(BytesIO(answer.body)) as inside:
        names = inside.namelist()
        content = b"".join(inside.read(name) for name in names)
        about = json.loads(inside.read("release/release.json"))
        assert {info.date_time for info in inside.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    assert sorted(names) == sorted(
        ["release/release.json", *(f"release/{n}" for n in about["files"])]
    )
    assert SECRET.encode() not in content
    assert b"baskets.csv" not in content
    assert "Private." in page.get(f"{run['place']}/private-report.html").text


def test_only_the_files_of_a_run_can_be_downloaded(page, run):
    for name in ("job.toml", "private-report.html", "private-alignment.csv", "release.zip"):
        assert page.get(f"{run['place']}/{name}").status == 200
    for name in (
        "task.json",
        "result.json",
        "log.txt",
        "baskets.csv",
        "..%2f..%2fkey",
        "reconstructions.zip",
    ):
        assert page.get(f"{run['place']}/{name}").status == 404


def test_the_job_file_does_the_same_again(page, run):
    text = page.get(f"{run['place']}/job.toml").text
    assert 'data = "baskets.csv"' in text
    assert 'output = "release"' in text
    assert str(page.folder) not in text


def test_no_screen_shows_a_path_of_the_page(page, run):
    for path in (run["place"], f"{run['place']}/private-report.html", f"{run['project']}/load"):
        assert str(page.folder / "data") not in page.page(path).text


def test_progress_comes_as_events(page):
    project = page.project()
    page.post(f"{project}/load/sample", sample="shop")
    job = page.get(f"{project}/load").json["jobs"]["sample"]["id"]
    answer = page.get(f"{project}/jobs/{job}/events")
    assert answer.headers["content-type"].startswith("text/event-stream")
    lines = [json.loads(line[6:]) for line in answer.text.split("\n\n") if line]
    assert lines[-1]["status"] == "done"
    assert all(line["words"] for line in lines)
    assert page.get(f"{project}/jobs/{job}").json["status"] == "done"
    page.post(f"{project}/delete")


def test_jobs_wait_for_each_other_and_can_be_cancelled_while_they_wait(page, place):
    for _ in range(4):
        page.post(f"{place}/run")
    runs = [run for run in page.get(f"{place}/run").json["runs"] if not ended(run["status"])]
    for run in runs:
        page.post(f"{place}/jobs/{run['id']}/cancel")
    runs = page.get(f"{place}/run").json["runs"]
    assert all(ended(run["status"]) for run in runs)


def begin_sample(page, project, name):
    """Make a sample in a project; the address that shows its job."""
    return page.post(f"{project}/load/sample", sample=name).json["next"]


def test_the_page_ends_cleanly_with_its_jobs(tmp_path):
    page = start(tmp_path)
    project = page.project()
    caught = catch_worker(page, lambda: begin_sample(page, project, "shop"))
    assert stop(page, signal.SIGINT) == 0
    assert not caught.is_running()
    assert list((tmp_path / "data").rglob("temporary")) == []


def test_jobs_that_wait_are_taken_up_after_a_restart(tmp_path):
    page = start(tmp_path)
    project = page.project()
    caught = [catch_worker(page, lambda: begin_sample(page, project, "shop"))]
    other = page.project()
    caught.append(catch_worker(page, lambda: begin_sample(page, other, "log")))
    third = page.project()
    page.post(f"{third}/load/sample", sample="shop")
    assert page.get(f"{third}/load").json["jobs"]["sample"]["status"] == "queued"
    stop(page, signal.SIGTERM)
    with served(tmp_path) as again:
        found = again.until(f"{third}/load", lambda now: ended(now["jobs"]["sample"]["status"]))
        assert found["jobs"]["sample"]["status"] == "done"
        assert again.get(f"{project}/load").json["jobs"]["sample"]["status"] == "interrupted"


def test_the_port_that_is_taken_is_named(page):
    port = page.host.split(":")[1]
    command = [sys.executable, "-m", "setveil", "serve", "--no-browser", "--port", port]
    command += ["--data-dir", str(page.folder / "other")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(r"setveil: cannot write to 127\.0\.0\.1 port \d+: .*--port\n", done.stderr)


def test_a_hierarchy_is_checked_against_the_data(page, place):
    page.put(
        f"{place}/hierarchy/file?name=tree.csv", f"{TREE}\n{SECRET};d;all\n{HOSTILE};a;all".encode()
    )
    found = page.until(f"{place}/hierarchy", lambda now: ended(now["job"]["status"]))
    assert (found["usable"], found["tree"]["leaves"]) == (True, 77)
    page.put(f"{place}/hierarchy/file?name=tree.csv", b"a0;A\nb0;B\n")
    found = page.until(f"{place}/hierarchy", lambda now: ended(now["job"]["status"]))
    assert found["usable"] is False
    assert "two roots" in json.dumps(found) or found["faults"]
    assert page.post(f"{place}/hierarchy/choose", kind="recipe", own="nonsense").status == 400
    page.post(f"{place}/hierarchy/choose", kind="none")
    assert page.get(f"{place}/hierarchy").json["hierarchy"] is None


def test_deleting_a_project_and_wiping_leave_nothing(page):
    projects = [page.project(f"gone {SECRET}") for _ in range(2)]
    for project in projects:
        page.put(f"{project}/hierarchy/file?name=gone.csv", f"{SECRET};all".encode())
    assert page.post(f"{projects[0]}/delete").status == 200
    assert page.get(f"{projects[0]}/load").status == 404
    assert not (page.folder / "data" / projects[0].removeprefix("/")).exists()
    assert page.post("/wipe").status == 200
    assert page.get("/").json["projects"] == []
    data = page.folder / "data"
    ours = {"page.db", "lock", "projects", "access.json", "open.html"}
    assert {path.name for path in data.iterdir()} == ours
    assert list((data / "projects").iterdir()) == []
    for path in data.iterdir():
        if path.is_file():
            assert SECRET.encode() not in path.read_bytes()
            assert b"gone.csv" not in path.read_bytes()


@pytest.mark.long
def test_a_file_of_a_gigabyte_goes_to_the_disk_and_not_to_memory(page):
    import psutil

    project, block = page.project(), b"0123456789abcdef" * 65_536
    process = psutil.Process(page.process.pid)
    before, seen = process.memory_info().rss, []

    def blocks():
        for _ in range(1_024):
            seen.append(process.memory_info().rss)
            yield block

    headers = {"Authorization": f"Bearer {page.token}", "Accept": "application/json"}
    sent = page.ask("PUT", f"{project}/hierarchy/file?name=big.csv", blocks(), headers)
    assert sent.status == 200
    (file,) = (page.folder / "data" / project.removeprefix("/") / "input").iterdir()
    assert file.stat().st_size == 1 << 30
    assert max(seen) - before < 100_000_000
    page.post(f"{project}/delete")
    assert not file.exists()
