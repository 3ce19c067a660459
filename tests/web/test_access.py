"""How one gets in: tickets that work once, cookies of one server, and what is said without them."""

from __future__ import annotations

import asyncio
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from urllib.parse import urlencode

import psutil
import pytest

from setveil.errors import DataError, OutputError
from setveil.web import server
from setveil.web.incoming import _keep, _Limit
from setveil.web.jobs import _CRASHED, _NO_MEMORY, MOST_WAITING, _reason
from setveil.web.security import MOST_TICKETS, Secrets
from setveil.web.store import Store
from setveil.web.worker import CANNOT_WRITE
from tests.web.serving import BASKETS, served, start, stop
from tests.web.visiting import catch_worker

FORM = "application/x-www-form-urlencoded"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    with served(tmp_path_factory.mktemp("access")) as page:
        yield page


def test_a_ticket_signs_in_once(page):
    used = page.ticket
    assert page.ask("GET", f"/?token={used}").status == 200
    assert page.ask("GET", f"/?token={used}").status == 403
    assert page.ticket != used


def test_a_browser_that_is_signed_in_may_load_its_first_address_again(page):
    used = page.ticket
    cookie = page.ask("GET", f"/?token={used}").headers["set-cookie"].split(";")[0]
    assert page.ask("GET", f"/?token={used}", headers={"Cookie": cookie}).status == 200


def test_the_token_of_scripts_is_no_ticket(page):
    assert page.ask("GET", f"/?token={page.token}").status == 403


def test_what_leads_to_the_page_is_readable_by_the_user_alone(page):
    for name in ("access.json", "open.html"):
        place = page.folder / "data" / name
        assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert page.ticket in (page.folder / "data" / "open.html").read_text()


def test_the_browser_is_started_without_any_secret(page, monkeypatch):
    opened = []
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr(server.webbrowser, "open", opened.append)
    server.open_browser(page.folder / "data" / "open.html")
    while not opened:
        time.sleep(0.01)
    assert opened[0].startswith("file://")
    assert "token" not in opened[0]


def test_a_second_serve_gives_the_address_of_the_first(page):
    command = [sys.executable, "-m", "setveil", "serve", "--no-browser"]
    command += ["--data-dir", str(page.folder / "data")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"Open {page.url}/?token=")
    assert "running already" in done.stdout
    ticket = done.stdout.split("token=")[1].split(" ")[0]
    assert page.ask("GET", f"/?token={ticket}").status == 200
    done = subprocess.run([*command, "--port", "0"], capture_output=True, text=True)
    assert done.returncode == 2
    assert page.url in done.stderr


def test_a_cookie_of_one_server_is_worth_nothing_to_another_and_after_a_restart(tmp_path):
    first = start(tmp_path)
    cookie = first.signed_in().split("=")[1]
    assert stop(first) == 0
    assert not (tmp_path / "data" / "access.json").exists()
    again = start(tmp_path)
    try:
        name = again.signed_in().split("=")[0]
        assert again.ask("GET", "/", headers={"Cookie": f"{name}={cookie}"}).status == 403
    finally:
        stop(again)


def test_deleting_everything_signs_other_browsers_out(tmp_path):
    with served(tmp_path) as page:
        mine, other = page.signed_in(), page.signed_in()
        headers = {"Cookie": mine, "Origin": page.url, "Content-Type": FORM}
        form = urlencode({"csrf": page.csrf()})
        answer = page.ask("POST", "/wipe", form, headers)
        assert answer.status == 303
        renewed = answer.headers["set-cookie"].split(";")[0]
        assert page.ask("GET", "/", headers={"Cookie": other}).status == 403
        assert page.ask("GET", "/", headers={"Cookie": renewed}).status == 200


def test_without_the_cookie_a_person_reads_what_to_do(page):
    answer = page.ask("GET", "/", headers={"Accept": "text/html"})
    assert answer.status == 403
    assert "<h1>Please open this page from the terminal</h1>" in answer.text
    assert "setveil serve" in answer.text


@pytest.mark.parametrize("value", ["Basic eDp5", "Bearer", "x", "Digest username=x"])
def test_no_authorization_header_replaces_the_check_value(page, value):
    headers = {"Cookie": page.signed_in(), "Origin": page.url, "Content-Type": FORM}
    headers["Authorization"] = value
    assert page.ask("POST", "/projects", "name=x", headers).status == 403


def test_only_a_few_tickets_are_kept():
    secrets = Secrets()
    made = [secrets.new_ticket() for _ in range(MOST_TICKETS + 3)]
    assert [ticket for ticket in made if secrets.uses(ticket)] == made[-MOST_TICKETS:]


@pytest.mark.long  # it waits for the server's patience to end
def test_a_request_that_is_begun_and_never_ended_is_closed(page):
    host, port = page.host.split(":")
    with socket.create_connection((host, int(port)), timeout=3 * server._HURRY) as half:
        half.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ")
        assert half.recv(1) == b""  # closed by the server, not by us


def test_uploads_at_the_same_time_leave_one_of_the_files_in_use(page):
    place = page.project("three at once")
    answers = []

    def upload(number):
        path = f"{place}/load/file?name=file{number}.csv"
        answers.append(page.put(path, BASKETS.encode()))

    threads = [threading.Thread(target=upload, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [answer.status for answer in answers] == [200, 200, 200]
    folder = page.folder / "data" / "projects" / place.split("/")[2]
    kept = [entry.name for entry in (folder / "input").iterdir()]
    assert len(kept) == 1
    now = page.until(f"{place}/load", lambda now: "inspect" in now["jobs"])
    assert kept[0].endswith(now["file"])


def test_the_queue_has_an_end():
    from starlette.exceptions import HTTPException

    from setveil.web.jobs import MOST_WAITING, Queue

    queue = Queue(store=None)
    queue._waiting = ["x"] * MOST_WAITING
    with pytest.raises(HTTPException) as caught:
        queue.add(None, "inspect", {}).send(None)
    assert caught.value.status_code == 429


def test_memory_is_only_blamed_if_it_ran_out():
    assert _reason(-9, True) == _NO_MEMORY
    assert "memory" not in _reason(-9, False)
    assert "SIGKILL" in _reason(-9, False)
    assert _reason(1, True) == _CRASHED.format("exit code 1")


def test_stopping_in_the_middle_of_a_job_says_so(tmp_path):
    page = start(tmp_path)
    place = page.loaded()
    page.post(f"{place}/goal/settle", k=3, m=2)
    page.post(f"{place}/run")
    page.process.send_signal(2)
    said = page.process.communicate()[1]
    assert said == "Stopped. 1 job had not ended, so nothing of it was published.\n"
    assert page.process.returncode == 0


def test_stopping_during_an_upload_prints_no_traceback(tmp_path):
    page = start(tmp_path)
    with half_sent(page, page.project()):
        page.process.send_signal(2)
        said = page.process.communicate()[1]
    assert (page.process.returncode, said) == (0, "")


def test_an_upload_that_never_ended_is_gone_after_a_restart(tmp_path):
    page = start(tmp_path)
    with half_sent(page, page.project()):
        stop(page, signal.SIGKILL)
    assert len(incoming(page)) == 1
    with served(tmp_path) as page:
        assert incoming(page) == []


def incoming(page):
    """Uploads that have not ended."""
    return list((page.folder / "data").glob("projects/*/incoming/*"))


@contextmanager
def half_sent(page, place):
    """A connection with half of an upload, which has arrived."""
    with socket.create_connection(page.host.split(":")) as raw:
        head = f"PUT {place}/load/file?name=a.csv HTTP/1.1\r\nHost: {page.host}\r\n"
        head += f"Authorization: Bearer {page.token}\r\nContent-Length: 1000\r\n\r\nonly this"
        raw.sendall(head.encode())
        page.until("/", lambda now: incoming(page))
        yield


def test_a_stalled_upload_is_not_blamed_on_the_disk(tmp_path):
    async def stalls():
        yield b"only this"
        raise TimeoutError

    with pytest.raises(DataError, match="the upload was interrupted"):
        asyncio.run(_keep(stalls(), tmp_path, "a.csv", _Limit(100, None)))
    assert list(tmp_path.iterdir()) == []


def test_an_upload_that_must_wait_for_too_many_jobs_changes_nothing(tmp_path):
    with served(tmp_path) as page:
        place = page.loaded()
        page.post(f"{place}/goal/settle", k=3, m=2)
        suspended = catch_worker(page, lambda: page.post(f"{place}/run").json["next"])
        answers = []
        while not answers or answers[-1].status == 200:
            answers.append(page.post(f"{place}/run"))
        assert answers[-1].status == 429
        assert len(answers) <= 2 + MOST_WAITING + 1
        other = page.project()
        assert page.put(f"{other}/load/file?name=a.csv", BASKETS.encode()).status == 429
        assert page.post(f"{other}/load/sample", sample="shop").status == 429
        found = page.get(f"{other}/load").json
        assert (found["file"], found["jobs"]) == (None, {})
        folder = page.folder / "data" / other.strip("/")
        assert [*(folder / "input").iterdir(), *incoming(page)] == []
        assert page.post(f"{place}/load/reading", bags="yes").status == 429
        assert page.get(f"{place}/load").json["reading"] == {}
        suspended.kill()


def test_forms_that_need_data_say_so(page):
    place = page.project()
    for form in ("load/reading", "load/answer", "load/log", "exposure", "goal/advise", "run"):
        answer = page.post(f"{place}/{form}")
        assert answer.status == 400
        assert "oad the data first" in answer.json["error"]
    assert page.post(f"{place}/compare", **{"method.suppression": "yes"}).status == 400


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such limit")
def test_a_full_disk_is_said_and_pages_can_still_be_read(tmp_path):
    with served(tmp_path) as page:
        place = page.loaded()
        page.page(f"{place}/load")
        process = psutil.Process(page.process.pid)
        process.rlimit(psutil.RLIMIT_FSIZE, (0, psutil.RLIM_INFINITY))
        answer = page.post("/projects", name="x")
        assert answer.status == 507
        assert "cannot be written to" in answer.json["error"]
        assert "bug" not in answer.text
        assert page.page(f"{place}/goal").status == 200
        process.rlimit(psutil.RLIMIT_FSIZE, (psutil.RLIM_INFINITY, psutil.RLIM_INFINITY))
        assert page.post("/projects", name="x").status == 200


def test_what_became_of_a_job_is_known_though_the_disk_is_full(tmp_path, monkeypatch):
    store = Store(tmp_path / "data")
    project = store.new_project("x")
    first, second = (store.new_job(project, "inspect", {}).id for _ in range(2))

    def full(words, *values):
        raise OutputError(tmp_path, "the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(store, "_write", full)
        store.mark(first, "failed", "no room")
    assert (store.job(first).status, store.job(first).error) == ("failed", "no room")
    store.mark(second, "cancelled")
    store.close()
    again = Store(tmp_path / "data")
    assert [again.job(id).status for id in (first, second)] == ["failed", "cancelled"]
    again.close()


def test_a_job_that_cannot_write_its_error_says_so():
    assert "could not write to its folder" in _reason(CANNOT_WRITE, False)
