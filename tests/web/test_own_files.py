"""The user's own files: read where they are, never written to, whatever their names are."""

from __future__ import annotations

import hashlib
import json
import os
import zipfile

import pytest

from setveil.errors import FileFormatError
from setveil.web.ownfiles import about_file
from setveil.web.tasks import TASKS, Task, perform
from tests.web.serving import BASKETS, TREE, ended, served


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("own")
    with served(folder) as page:
        yield page


def by_path(page, content, name):
    """A project whose data is a file of the user, named by its path."""
    own = page.folder / "own"
    own.mkdir(exist_ok=True)
    (own / name).write_text(content, encoding="utf-8")
    place = page.project(name)
    assert page.post(f"{place}/load/path", path=str(own / name)).status == 200
    found = page.until(f"{place}/load", lambda now: _is_over(now["jobs"]))
    return place, own / name, found


def _is_over(jobs):
    over = {"done", "failed", "cancelled", "interrupted"}
    if not all(job["status"] in over for job in jobs.values()):
        return False
    return "inspect" in jobs or any(job["status"] != "done" for job in jobs.values())


def worked(folder, own, verb, **options):
    """What the process of a job does, in a folder of its own."""
    folder.mkdir()
    files = {own.name: about_file(own)}
    words = {"verb": verb, "data": own.name, "files": files, "options": options}
    (folder / "task.json").write_text(json.dumps(words), encoding="utf-8")
    task = Task(folder=folder, words=words, progress=lambda done, total, stage: None)
    result = TASKS[verb](task)
    (folder / "result.json").write_text(json.dumps(result, default=str), encoding="utf-8")


VERBS = {
    "preview": {},
    "inspect": {},
    "tree": {"tree": "balanced:5"},
    "anonymize": {"k": 3, "m": 2, "method": "suppression"},
}
FEW = "record,item\n" + "".join(
    f"{at},tea\n{at},{'milk' if at % 3 else 'beer'}\n" for at in range(9)
)


def _write_baskets(path):
    """Baskets, in a zip file where the name says so."""
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("baskets.csv", FEW)
    else:
        path.write_text(FEW, encoding="utf-8")


def test_no_job_writes_to_a_file_of_the_user_whatever_it_is_called(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first, own = tmp_path / "first", tmp_path / "own"
    own.mkdir()
    (own / "data.csv").write_text(FEW, encoding="utf-8")
    first.mkdir()
    for verb, options in VERBS.items():
        worked(first / verb, own / "data.csv", verb, input_format="csv", **options)
    written = {verb: {entry.name for entry in (first / verb).iterdir()} for verb in VERBS}
    names = set().union(*written.values())
    assert {"result.json", "items.json", "job.toml", "release.zip", "task.json"} <= names
    for name in sorted(names):
        place, mine = tmp_path / f"job-{name}", own / name
        place.mkdir()
        _write_baskets(mine)
        before = mine.read_bytes()
        by = [verb for verb in VERBS if name in written[verb]]
        for verb in by if len(by) < len(VERBS) else ["preview", "tree"]:  # what every verb writes
            worked(place / verb, mine, verb, input_format="csv", **VERBS[verb])
        assert mine.read_bytes() == before, name
        links = [entry for entry in place.rglob("*") if entry.is_symlink()]
        assert not links, (name, links)


def test_a_tree_of_the_user_is_never_written_to(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.csv").write_text(BASKETS, encoding="utf-8")
    for name in ("built.hierarchy.csv", "hierarchy.csv", "items.json", "result.json"):
        own = tmp_path / name
        own.write_text(TREE, encoding="utf-8")
        folder = tmp_path / f"job-{name}"
        folder.mkdir()
        files = {"data.csv": about_file(tmp_path / "data.csv"), name: about_file(own)}
        words = {"data": "data.csv", "files": files, "options": {"tree": name}}
        made = TASKS["tree"](Task(folder=folder, words=words, progress=lambda *now: None))
        assert made.checked.is_usable
        assert own.read_text(encoding="utf-8") == TREE, name


def test_what_the_page_shows_has_the_name_of_a_file_and_not_its_path(page):
    place, own, _ = by_path(page, BASKETS, "known name.csv")
    done = page.run(place, k=3, m=2)
    for name in ("job.toml", "private-report.html"):
        text = page.get(f"{done['place']}/{name}").text
        assert "known name.csv" in text
        assert str(own.parent) not in text
    assert str(own.parent) not in page.page(done["place"]).text
    assert str(page.folder / "data") not in page.page(done["place"]).text


def test_a_file_that_changed_since_it_was_loaded_is_not_used(page):
    place, own, found = by_path(page, BASKETS, "changing.csv")
    assert all(job["status"] == "done" for job in found["jobs"].values())
    own.write_text(BASKETS + "x,y\n", encoding="utf-8")
    done = page.run(place, k=3, m=2)
    assert done["status"] == "failed"
    assert "changing.csv: the file has changed since it was loaded" in done["error"]
    os.remove(own)
    done = page.run(place, k=3, m=2)
    assert "changing.csv: the file is gone" in done["error"]


def test_a_file_that_changed_is_found_though_its_size_and_time_were_kept(page):
    place, own, _ = by_path(page, BASKETS, "swapped.csv")
    before = own.stat()
    own.write_text(BASKETS.replace("a1", "a9"), encoding="utf-8")
    os.utime(own, ns=(before.st_atime_ns, before.st_mtime_ns))
    done = page.run(place, k=3, m=2)
    assert "swapped.csv: the file has changed since it was loaded" in done["error"]


def test_a_file_that_changes_while_a_job_reads_it_is_said(tmp_path, monkeypatch):
    own, folder = tmp_path / "data.csv", tmp_path / "job"
    own.write_text(FEW, encoding="utf-8")
    folder.mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(TASKS, "inspect", lambda task: own.write_text(f"{FEW}9,gin\n"))
    words = {"verb": "inspect", "data": own.name, "files": {own.name: about_file(own)}}
    with pytest.raises(FileFormatError, match="the file has changed since it was loaded"):
        perform(Task(folder=folder, words=words, progress=lambda *now: None))


def test_a_file_called_release_is_attacked_like_any_other(page):
    place, _, _ = by_path(page, BASKETS, "release")
    run = page.run(place, k=3, m=2)["place"]
    page.post(f"{run}/attack", knows="1", trials=100)
    done = page.until(run, lambda now: now["attack"] and ended(now["attack"]["status"]))
    assert (done["attack"]["status"], done["attack"]["error"]) == ("done", None)


def test_a_dossier_is_written_with_what_was_stated_and_can_be_downloaded(page):
    place, _, _ = by_path(page, BASKETS, "approved.csv")
    run = page.run(place, k=3, m=2)["place"]
    assert page.post(f"{run}/approval", very_small="often").status == 400
    page.post(f"{run}/approval", purpose="Teaching", sign="Ann, Bob", very_small="0.05")
    done = page.until(run, lambda now: now["approval"] and ended(now["approval"]["status"]))
    found = done["approval"]
    assert (found["status"], found["error"]) == ("done", None)
    assert 1 in [each["number"] for each in found["result"]["open"]]
    base = f"{run.rpartition('/')[0]}/{found['id']}"
    assert "Dossier for approval" in page.get(f"{base}/dossier.html").text
    twin = page.get(f"{base}/dossier.json").json
    assert twin["context"]["purpose"] == "Teaching"
    assert [row["role"] for row in twin["signatures"]["signatures"]] == ["Ann", "Bob"]
    assert twin["made"]["command"].startswith("setveil report release --original approved.csv")


def test_what_is_asked_about_a_release_alone_needs_no_original(page):
    place, own, _ = by_path(page, BASKETS, "gone.csv")
    run = page.run(place, k=3, m=2)["place"]
    own.unlink()
    page.post(f"{run}/support", items="a0")
    page.post(f"{run}/reconstruct", n=1)
    for verb in ("support", "reconstruct"):
        done = page.until(run, lambda now, verb=verb: ended(now[verb]["status"]))
        assert (done[verb]["status"], done[verb]["error"]) == ("done", None)


def test_a_file_that_was_only_touched_is_still_the_same(page):
    place, own, _ = by_path(page, BASKETS, "touched.csv")
    os.utime(own, (1, 1))
    done = page.run(place, k=3, m=2)
    assert done["status"] == "done", done


def test_items_that_are_typed_are_never_read_as_files(page):
    secret = page.folder / "secret.txt"
    secret.write_text("do-not-show\n", encoding="utf-8")
    before = hashlib.sha256(secret.read_bytes()).hexdigest()
    place, _, _ = by_path(page, BASKETS, "items.csv")
    up = "/".join([".."] * 12)
    page.post(f"{place}/goal/choose", promise="coherence")
    for word in (f"x/{up}{secret}", "result.json", "task.json", f"a0/{up}/etc/group"):
        answer = page.post(
            f"{place}/goal/settle", promise="coherence", k=3, p=1, h=0.8, private=word
        )
        if answer.status == 200:
            done = page.until(page.post(f"{place}/run").json["next"], _has_ended)
            assert done["status"] == "failed"
            text = str(done) + page.page(f"{place}/result").text
        else:
            text = answer.text
        assert "do-not-show" not in text
        assert "root:" not in text
        assert "daemon" not in text
    assert hashlib.sha256(secret.read_bytes()).hexdigest() == before


@pytest.mark.parametrize("content", [b"", b"\xe9 hidden-words\n", b"hidden-words\n"])
def test_an_item_may_be_called_like_a_file_next_to_the_page(page, content):
    (page.folder / "a0").write_bytes(content)
    place, _, _ = by_path(page, BASKETS, "called.csv")
    page.post(f"{place}/goal/choose", promise="coherence")
    done = page.run(place, k=3, p=1, h=0.8, private="a0")
    (page.folder / "a0").unlink()
    assert (done["status"], done["error"]) == ("done", None)
    assert "hidden-words" not in str(done)


@pytest.mark.parametrize("item", ["/index.html", ".net", "~me", "a\\b"])
def test_an_item_may_look_like_a_path_if_the_data_has_it(page, item):
    place, _, _ = by_path(page, BASKETS.replace("a0", item), "pages.csv")
    page.post(f"{place}/goal/choose", promise="coherence")
    done = page.run(place, k=3, p=1, h=0.8, private=item)
    assert (done["status"], done["error"]) == ("done", None)
    done = page.run(place, k=3, p=1, h=0.8, private=f"{item}\n/list.txt")
    assert "/list.txt is not allowed: the data has no such item" in done["error"]


def test_no_recipe_of_the_page_names_a_folder(page):
    place = page.project()
    for own in ("wordnet:..", "wordnet+unknown:release", "prefix:/etc", "balanced:/etc"):
        page.post(f"{place}/hierarchy/choose", kind="recipe", own=own)
        job = page.get(f"{place}/hierarchy").json
        assert job["hierarchy"] is None or "wordnet" not in job["hierarchy"]


def _has_ended(values):
    return values["status"] not in ("queued", "running")


def test_a_pasted_list_may_have_codes_that_do_not_occur_in_the_data(page):
    place, _, _ = by_path(page, BASKETS, "list.csv")
    page.post(f"{place}/goal/choose", promise="coherence")
    empty = page.post(f"{place}/goal/settle", k=3, p=1, h=0.8, private="")
    assert "promises nothing" in empty.text
    assert 'name="private"' in outside_details(page.page(f"{place}/goal").text)
    done = page.run(place, k=3, p=1, h=0.8, private="a0\nE11.9\nZ99")
    assert done["status"] == "done", done
    assert "2 of 3 private items do not occur in the data" in page.page(done["place"]).text


def test_the_list_of_items_is_asked_for_with_the_numbers_of_differential_privacy(page):
    place, _, _ = by_path(page, BASKETS, "noise.csv")
    page.post(f"{place}/goal/choose", promise="differential-privacy")
    assert 'name="public_items"' in outside_details(page.page(f"{place}/goal").text)


def outside_details(text):
    """What a page shows without opening anything."""
    return "".join(part.split("</details>")[-1] for part in text.split("<details"))


def test_the_page_asks_before_items_that_look_like_identifiers_are_published(page):
    lines = [f"{100_000 + n} milk {'tea' if n % 2 else 'beer wine'}" for n in range(40)]
    place = page.loaded("\n".join(lines) + "\n", "orders.dat")
    shown = page.page(f"{place}/load").text
    assert "are they identifiers?" in shown
    assert 'name="answer" value="drop_column=1"' in shown
    assert "Publish items that look like identifiers" in shown
    assert "100007" not in shown.split("are they identifiers?", 1)[1].split("<details", 1)[0]
    assert "identifiers" in page.run(place, k=3, m=2)["error"]
    page.post(f"{place}/load/reading", keep_unique="yes")
    page.until(f"{place}/load", lambda now: _is_over(now["jobs"]))
    assert page.run(place, k=3, m=2)["status"] == "done"
    page.post(f"{place}/load/reading", drop_column="1")
    page.until(f"{place}/load", lambda now: _is_over(now["jobs"]))
    assert "identifiers?" not in page.page(f"{place}/load").text
