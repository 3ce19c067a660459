"""What the page remembers: projects, their files and their jobs, in a private folder of the user.

    DATA-DIR/page.db           the table of projects and jobs (SQLite)
    DATA-DIR/access.json       while the page runs: its address, a ticket that opens it once, and
                               the token of scripts
    DATA-DIR/open.html         leads a browser to that address
    DATA-DIR/projects/ID/      input/ (uploads), jobs/ID/ (one folder for each job)

Every folder can be opened by the user alone, and every file read by the user alone."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import sqlite3
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from setveil.disk.output import writable
from setveil.errors import OutputError
from setveil.web.ownfiles import REGISTER
from setveil.web.project import Project
from setveil.web.security import Address, Secrets

Status = Literal["queued", "running", "done", "failed", "cancelled", "interrupted"]
LIVE: tuple[Status, ...] = ("queued", "running")

_TABLES = """
PRAGMA secure_delete = ON;
CREATE TABLE IF NOT EXISTS projects (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, created REAL NOT NULL, state TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS jobs (
    id TEXT PRIMARY KEY, number INTEGER NOT NULL, project TEXT NOT NULL, verb TEXT NOT NULL,
    task TEXT NOT NULL, status TEXT NOT NULL, error TEXT NOT NULL DEFAULT '',
    created REAL NOT NULL, ended REAL
);
"""
ACCESS, OPEN = "access.json", "open.html"
_OURS = {"page.db", "page.db-journal", "page.db-wal", "page.db-shm", "lock", "projects", "register"}
_OURS |= {ACCESS, OPEN, "key"}  # earlier versions kept the key of cookies
_OPENING = (
    '<!doctype html><meta charset="utf-8"><title>setveil</title>'
    '<meta http-equiv="refresh" content="0; url={url}"><p><a href="{url}">Open setveil</a></p>'
)
_PRIVATE_FOLDER, _PRIVATE_FILE = 0o700, 0o600


@dataclass(frozen=True)
class StoredJob:
    """A verb that runs, waits, or has run."""

    id: str
    number: int
    """Jobs of the page are counted from 1 on."""
    project: str
    verb: str
    task: dict[str, Any]
    status: Status
    error: str
    created: float
    ended: float | None
    folder: Path

    @property
    def is_live(self) -> bool:
        return self.status in LIVE

    @property
    def result(self) -> dict[str, Any]:
        """What the job has found; empty unless it is done."""
        place = self.folder / "result.json"
        if self.status != "done" or not place.is_file():
            return {}
        found: dict[str, Any] = json.loads(place.read_text(encoding="utf-8"))
        return found

    @property
    def failure(self) -> dict[str, Any]:
        """What was wrong, as the job has left it: a `line`, and what the page can ask."""
        with suppress(OSError, ValueError):
            found: dict[str, Any] = json.loads((self.folder / "error.json").read_bytes())
            return found
        return {}


class FolderInUseError(OutputError):
    """Another page has the folder open."""


class Store:
    """The folder of the page. One process at a time may have it open."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._marks: dict[str, dict[str, Any]] = {}  # of jobs, as long as they are not written
        _open_folder(folder)
        with _writing(folder):
            self._lock = _locked(folder)
            self._database = folder / "page.db"
            if not self._database.exists():
                os.close(os.open(self._database, os.O_CREAT | os.O_WRONLY, _PRIVATE_FILE))
            self._connection = sqlite3.connect(self._database, check_same_thread=False)
            self._connection.row_factory = sqlite3.Row
            self._connection.executescript(_TABLES)
            (folder / "key").unlink(missing_ok=True)
            for begun in (folder / "projects").glob("*/incoming"):  # uploads that never ended
                shutil.rmtree(begun, ignore_errors=True)

    def close(self) -> None:
        """Let another process open the folder."""
        self._connection.close()
        os.close(self._lock)

    def give_access(self, address: Address, secrets: Secrets) -> None:
        """Write how to open the page, with a new ticket, for the user alone."""
        url = f"{address.url}/?token={secrets.new_ticket()}"
        known = {"address": address.url, "open": url, "token": secrets.token}
        with _writing(self.folder):
            _write_private(self.folder / ACCESS, json.dumps(known, indent=1))
            _write_private(self.folder / OPEN, _OPENING.format(url=url))

    def take_access(self) -> None:
        """The page ends: nothing leads to it any more."""
        for name in (ACCESS, OPEN):
            (self.folder / name).unlink(missing_ok=True)

    def projects(self) -> list[Project]:
        """All projects, the newest first."""
        return [
            self._project(row) for row in self._rows("SELECT * FROM projects ORDER BY created DESC")
        ]

    def project(self, id: str) -> Project | None:
        """The project with this id."""
        rows = self._rows("SELECT * FROM projects WHERE id = ?", id)
        return self._project(rows[0]) if rows else None

    def new_project(self, name: str) -> Project:
        """A new project with a folder of its own."""
        made = Project(_new_id(), name, time.time(), Path())
        made.folder = self.folder / "projects" / made.id
        with _writing(self.folder):
            for place in (made.folder, made.folder / "input", made.folder / "jobs"):
                place.mkdir(mode=_PRIVATE_FOLDER)
        row = (made.id, name, made.created, "{}")
        self._write("INSERT INTO projects VALUES (?, ?, ?, ?)", *row)
        return made

    def save(self, project: Project) -> None:
        """Keep the name and the state of a project."""
        state = json.dumps(project.state)
        words = "UPDATE projects SET name = ?, state = ? WHERE id = ?"
        self._write(words, project.name, state, project.id)

    def delete(self, project: Project) -> None:
        """Forget a project and remove all its files."""
        self._write("DELETE FROM jobs WHERE project = ?", project.id)
        self._write("DELETE FROM projects WHERE id = ?", project.id)
        shutil.rmtree(project.folder, ignore_errors=True)

    def wipe(self) -> None:
        """Forget everything and remove all files; the folder stays."""
        for project in self.projects():
            self.delete(project)
        shutil.rmtree(self.folder / "projects", ignore_errors=True)
        (self.folder / "projects").mkdir(mode=_PRIVATE_FOLDER)
        shutil.rmtree((self.folder / REGISTER).parent, ignore_errors=True)
        self._connection.execute("VACUUM")

    def new_job(self, project: Project, verb: str, task: dict[str, Any]) -> StoredJob:
        """A job that waits for its turn."""
        id = _new_id()
        with _writing(self.folder):
            (project.folder / "jobs" / id).mkdir(mode=_PRIVATE_FOLDER)
        last = self._rows("SELECT coalesce(max(number), 0) AS last FROM jobs")[0]["last"]
        row = (id, last + 1, project.id, verb, json.dumps(task), "queued", time.time())
        words = "INSERT INTO jobs (id, number, project, verb, task, status, created)"
        self._write(f"{words} VALUES (?, ?, ?, ?, ?, ?, ?)", *row)
        made = self.job(id)
        assert made is not None
        return made

    def job(self, id: str) -> StoredJob | None:
        """The job with this id."""
        rows = self._rows("SELECT * FROM jobs WHERE id = ?", id)
        return self._job(rows[0]) if rows else None

    def jobs(self, project: Project | None = None, *verbs: str) -> list[StoredJob]:
        """The jobs of a project (or of all), the newest first; with verbs only those."""
        tests = [] if project is None else ["project = ?"]
        tests += [f"verb IN ({', '.join('?' * len(verbs))})"] if verbs else []
        where = f"WHERE {' AND '.join(tests)}" if tests else ""
        values = [*([] if project is None else [project.id]), *verbs]
        rows = self._rows(f"SELECT * FROM jobs {where} ORDER BY number DESC", *values)
        return [self._job(row) for row in rows]

    def latest(self, project: Project, *verbs: str) -> StoredJob | None:
        """The newest job of a project with one of these verbs."""
        return next(iter(self.jobs(project, *verbs)), None)

    def mark(self, id: str, status: Status, error: str = "") -> None:
        """Say what became of a job. If the disk is full, it is written with a later mark."""
        ended = None if status in LIVE else time.time()
        self._marks[id] = {"status": status, "error": error, "ended": ended}
        words = "UPDATE jobs SET status = ?, error = ?, ended = ? WHERE id = ?"
        with suppress(OutputError):
            for job, mark in list(self._marks.items()):
                self._write(words, *mark.values(), job)
                del self._marks[job]

    def forget(self, job: StoredJob) -> None:
        """Remove a job and its files."""
        self._write("DELETE FROM jobs WHERE id = ?", job.id)
        shutil.rmtree(job.folder, ignore_errors=True)

    def _project(self, row: sqlite3.Row) -> Project:
        folder = self.folder / "projects" / row["id"]
        return Project(row["id"], row["name"], row["created"], folder, json.loads(row["state"]))

    def _job(self, row: sqlite3.Row) -> StoredJob:
        marks = self._marks.get(row["id"], {})
        values = {**dict(row), **marks, "task": json.loads(row["task"])}
        folder = self.folder / "projects" / row["project"] / "jobs" / row["id"]
        return StoredJob(**values, folder=folder)

    def _rows(self, words: str, *values: Any) -> list[sqlite3.Row]:
        return self._connection.execute(words, values).fetchall()

    def _write(self, words: str, *values: Any) -> None:
        with _writing(self.folder), self._connection:
            self._connection.execute(words, values)


def running_at(folder: Path) -> str:
    """The address that opens the page that has this folder open, once; empty if it is unknown."""
    try:
        return str(json.loads((folder / ACCESS).read_text(encoding="utf-8"))["open"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def usual_folder() -> Path:
    """Where the page keeps its data if no folder is named: the user's data folder."""
    home = Path.home()
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = home / "Library" / "Application Support"
    else:
        base = Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    return base / "setveil"


def _write_private(place: Path, text: str) -> None:
    """Write a file for the user alone, whole or not at all."""
    temporary = place.with_name(f"{place.name}.{_new_id()}.new")
    with os.fdopen(
        os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, _PRIVATE_FILE), "w"
    ) as file:
        file.write(text)
    temporary.replace(place)


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """Say that the folder cannot be written to, such as on a full disk."""
    with writable(folder, remedy="choose another {data_dir}", kinds=(OSError, sqlite3.Error)):
        yield


def _new_id() -> str:
    return secrets.token_hex(6)


def _open_folder(folder: Path) -> None:
    """Make the folder, or take one that is ours or empty; nobody else may open it."""
    with writable(folder):
        folder.mkdir(mode=_PRIVATE_FOLDER, parents=True, exist_ok=True)
        inside = {entry.name for entry in os.scandir(folder)}
        if {name for name in inside - _OURS if not name.endswith(".new")}:
            problem = "the folder has files that are not the page's"
            raise OutputError(folder, problem, remedy="choose an empty folder with {data_dir}")
        folder.chmod(_PRIVATE_FOLDER)
        (folder / "projects").mkdir(mode=_PRIVATE_FOLDER, exist_ok=True)


def _locked(folder: Path) -> int:
    """Hold the folder, so that two pages do not run the same jobs."""
    lock = os.open(folder / "lock", os.O_CREAT | os.O_RDWR, _PRIVATE_FILE)
    try:
        import fcntl

        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ImportError:  # not on Windows
        return lock
    except OSError:
        os.close(lock)
        where = running_at(folder)
        problem = f"another `setveil serve` uses this folder{where and f'; open {where}'}"
        remedy = "stop it first, or choose another folder with {data_dir}"
        raise FolderInUseError(folder, problem, remedy=remedy) from None
    return lock
