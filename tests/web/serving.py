"""A page for tests: `setveil serve` as a process of its own, and a plain client for it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

BASKETS = "\n".join(
    f"{record},{item}"
    for record in range(60)
    for item in (
        f"a{record % 3}",
        f"b{record % 4}",
        f"c{record % 5}",
        f"d{record}",
        f"d{59 - record}",
    )
    if record % 2 or item != f"d{59 - record}"  # one of each record would look like an identifier
)
BASKETS = f"record,item\n{BASKETS}\n"
TREE = "\n".join(
    [
        *(f"{letter}{number};{letter};all" for letter in "abc" for number in range(5)),
        *(f"d{number};d;all" for number in range(60)),
    ]
)


@dataclass
class Answer:
    """What the page has answered."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode("utf-8")

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Served:
    """A page that runs, with its token."""

    url: str
    token: str
    folder: Path
    process: subprocess.Popen[str] | None = field(default=None, repr=False)
    cookie: str = ""

    @property
    def host(self) -> str:
        return urlsplit(self.url).netloc

    @property
    def ticket(self) -> str:
        """What signs a browser in, once; the page writes a new one after each use."""
        return self._access()["open"].partition("token=")[2]

    @property
    def full(self) -> str:
        return f"{self.url}/?token={self.ticket}"

    def _access(self) -> dict[str, str]:
        found: dict[str, str] = json.loads((self.folder / "data" / "access.json").read_text())
        return found

    def ask(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> Answer:
        """Ask without any right."""
        connection = HTTPConnection(self.host, timeout=120)
        connection.request(method, path, body, headers or {})
        answer = connection.getresponse()
        found = {name.lower(): value for name, value in answer.getheaders()}
        made = Answer(answer.status, found, answer.read())
        connection.close()
        return made

    def get(self, path: str, /, **headers: str) -> Answer:
        """Ask for JSON, with the token."""
        return self.ask("GET", path, headers={**self._right(), **_headers(headers)})

    def page(self, path: str) -> Answer:
        """Ask for HTML, with the token."""
        return self.ask("GET", path, headers={**self._right(), "Accept": "text/html"})

    def ask_page(self, path: str, /, **query: str) -> Answer:
        """Ask for HTML with a query, with the token."""
        return self.page(f"{path}?{urlencode(query)}")

    def ask_json(self, path: str, /, **query: str) -> Any:
        """The JSON twin of an address with a query."""
        return self.get(f"{path}?{urlencode(query)}").json

    def post(self, path: str, /, **form: Any) -> Answer:
        """Send a form, with the token."""
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        return self.ask("POST", path, urlencode(form), {**self._right(), **kind})

    def put(self, path: str, content: bytes) -> Answer:
        """Send a file, with the token."""
        return self.ask("PUT", path, content, self._right())

    def project(self, name: str = "test") -> str:
        """A new project; its address."""
        place: str = self.post("/projects", name=name).json["next"]
        return place.removesuffix("/load")

    def loaded(self, content: str = BASKETS, name: str = "baskets.csv") -> str:
        """A new project with data that was read; its address."""
        place = self.project(name)
        assert self.put(f"{place}/load/file?name={name}", content.encode()).status == 200
        found = self.until(f"{place}/load", lambda now: _settled(now["jobs"]))
        assert all(job["status"] == "done" for job in found["jobs"].values()), found
        return place

    def run(self, place: str, **form: Any) -> dict[str, Any]:
        """Settle a goal and anonymize; the values of the run when it has ended."""
        answer = self.post(f"{place}/goal/settle", **form)
        assert answer.status == 200, answer.text
        answer = self.post(f"{place}/run")
        assert answer.status == 200, answer.text
        run = answer.json["next"]
        return {**self.until(run, lambda now: ended(now["status"])), "place": run}

    def until(self, path: str, settled: Any) -> Any:
        """The values of a page as soon as they are as wanted; jobs are waited for by their events."""
        for _ in range(1_000):
            found = self.get(path).json
            if settled(found):
                return found
            live = [id for id, status in jobs_in(found) if not ended(status)]
            for id in live:
                project = "/".join(path.split("/")[:3])
                self.get(f"{project}/jobs/{id}/events")
            if not live:
                time.sleep(0.1)  # not for synchronisation: the condition above decides
        raise AssertionError(f"{path} does not settle: {found}")

    def signed_in(self) -> str:
        """The cookie of a browser that has opened the full address."""
        answer = self.ask("GET", f"/?token={self.ticket}")
        return answer.headers["set-cookie"].split(";")[0]

    def csrf(self) -> str:
        found = re.search(r'name="csrf-token" content="(\w+)"', self.page("/").text)
        assert found is not None
        return found[1]

    def _right(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}", "Accept": "application/json"}


def ended(status: str) -> bool:
    """Whether a job has ended."""
    return status not in ("queued", "running")


def jobs_in(values: dict[str, Any]) -> list[tuple[str, str]]:
    """The jobs that a page shows, with their states."""
    found = [values, values.get("job") or {}, *(values.get("jobs") or {}).values()]
    return [(each["id"], each["status"]) for each in found if "id" in each and "status" in each]


def _settled(jobs: dict[str, Any]) -> bool:
    return "inspect" in jobs and all(ended(job["status"]) for job in jobs.values())


def _headers(given: dict[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in given.items()}


@contextmanager
def served(folder: Path, *options: str, port: int = 0) -> Iterator[Served]:
    """A page whose projects are in `folder/data` and that was started in `folder`."""
    page = start(folder, *options, port=port)
    try:
        yield page
    finally:
        stop(page)


def start(folder: Path, *options: str, port: int = 0) -> Served:
    """Start a page."""
    command = [sys.executable, "-m", "setveil", "serve", "--no-browser", "--port", str(port)]
    command += ["--data-dir", str(folder / "data"), *options]
    env = {**os.environ, "HOME": str(folder)}
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder, env=env
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    found = re.fullmatch(r"Open (http://\S+)/\?token=(\S+) \(Ctrl-C ends it\)\n", line)
    assert found is not None, (line, process.communicate())
    token = json.loads((folder / "data" / "access.json").read_text())["token"]
    return Served(found[1], token, folder, process)


def stop(page: Served, number: int = signal.SIGINT) -> int:
    """End a page; its exit code."""
    assert page.process is not None
    page.process.send_signal(number)
    page.process.communicate()
    return page.process.returncode
