"""The files of a register: a TOML file, and a folder beside it with the tags of people.

Both are for their owner alone. The tags of the people of a release are numbers of 8 bytes in a
file that is named by its own hash, so releases of the same people share one. A change takes a lock
in that folder, writes the tags first and then the TOML file in one rename: whatever is killed and
when, the register is the old one or the new one."""

from __future__ import annotations

import os
import re
import secrets
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, replace
from datetime import datetime
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from setveil.data.tags import TagArray
from setveil.disk import new_file
from setveil.errors import FileFormatError, OutputError, ParameterError, brief
from setveil.io.releases.folder import ABOUT
from setveil.pipeline.registering.book import Budget, Entry, Group, Register
from setveil.pipeline.toml import toml_table, toml_value

try:
    import fcntl
except ImportError:  # pragma: no cover
    fcntl = None  # type: ignore[assignment]

VERSION = 1
PRIVATE_FILE, PRIVATE_FOLDER = 0o600, 0o700
_HEAD = (
    "# What was released about which people. Private: keep it where only you can read it, back it\n"
    "# up, and never hand it over. You may edit the totals, populations and recipients.\n"
)
_TEXTS = ("date", "promise", "meaning", "method", "population", "column", "recipient", "release")
_HASHES = ("tags", "data", "digest")
_HEX = re.compile(r"[0-9a-f]{64}")
_ID = re.compile(r"[0-9a-f]{12}")
_WAIT = 0.02


class Files:
    """A register on disk."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self.folder = self.path.with_name(f"{self.path.name}.people")

    def check(self, output: Path | str | None = None) -> None:
        """Refuse a place where a register cannot be, before any work; `output` is a release that
        does not exist yet."""
        if str(self.path) == "-":
            raise OutputError(self.path, "a register is a file", remedy="give the name of a file")
        for place in (self.path, self.folder):
            if place.is_symlink():
                problem = "it is a link, and a register is never written through one"
                raise OutputError(place, problem, remedy="name the file itself")
        real = self.path.resolve()
        inside = any((parent / ABOUT).is_file() for parent in real.parents)
        if inside or (output is not None and real.is_relative_to(Path(output).resolve())):
            raise OutputError(self.path, "the register is private and must not be in a release")
        if self.path.exists() and not self.path.is_file():
            raise OutputError(self.path, "it is not a file", remedy="give the name of a file")

    def read(self) -> Register:
        """The register.

        Raises:
            OutputError: if there is none: a name with a mistake in it must not begin a new one.
            FileFormatError: if the file is damaged.
        """
        self.check()
        if not self.path.exists():
            remedy = f"begin one with setveil register new {self.path}"
            raise OutputError(self.path, "there is no such register", remedy=remedy)
        return _register(self.path, toml_table(self.path))

    def group(self, entry: Entry) -> Group:
        """Whom a release is about.

        Raises:
            FileFormatError: if the tags of its people are missing or damaged.
        """
        if not entry.tags:
            return Group(entry.population)
        place = self.folder / _tags_name(entry.tags)
        try:
            content = place.read_bytes()
        except OSError:
            content = b""
        if sha256(content).hexdigest() != entry.tags:
            problem = f"the people of release {entry.id} are missing or damaged"
            raise FileFormatError(place, problem, remedy="restore the folder from a backup")
        tags = np.frombuffer(content, dtype="<u8").astype(np.uint64)
        return Group(entry.population, tags, entry.column)

    def begin(self, total: Budget | None) -> Register:
        """A new register, with what each person may spend in all."""
        self.check()
        made = Register(salt=secrets.token_hex(32), total=total)
        with self._locked():
            if self.path.exists():
                raise OutputError(self.path, "it exists already", remedy="name another file")
            self._write(made)
        return made

    @contextmanager
    def changing(self) -> Iterator[Changing]:
        """The register, for a change that nobody else can make at the same time."""
        self.read()  # no folder is made beside what is not there
        with self._locked():
            yield Changing(self, self.read())

    @contextmanager
    def _locked(self) -> Iterator[None]:
        if fcntl is None:
            raise OutputError(self.path, "this system has no locks for files")
        try:
            self.folder.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
            flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW
            lock = os.open(self.folder / "lock", flags, PRIVATE_FILE)
        except OSError as error:
            raise OutputError(self.folder, error.strerror or str(error)) from None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
        except OSError:
            os.close(lock)
            problem = "this disk has no locks for files"
            remedy = "keep the register on a disk of this machine"
            raise OutputError(self.path, problem, remedy=remedy) from None
        try:
            yield
        finally:
            os.close(lock)

    def _write(self, register: Register) -> None:
        with new_file(self.path, force=True, mode=PRIVATE_FILE) as temporary:
            temporary.write_text(_text(register), encoding="utf-8")


class Changing:
    """A register while it is locked."""

    def __init__(self, files: Files, register: Register) -> None:
        self.files, self.register = files, register

    def add(self, entry: Entry, tags: TagArray | None) -> Entry:
        """Book a release; it is on the disk when this returns."""
        if tags is not None:
            content = tags.astype("<u8").tobytes()
            entry = replace(entry, tags=sha256(content).hexdigest(), people=len(tags))
            place = self.files.folder / _tags_name(entry.tags)
            if not place.exists() or sha256(place.read_bytes()).hexdigest() != entry.tags:
                with new_file(place, force=True, mode=PRIVATE_FILE) as temporary:
                    temporary.write_bytes(content)
        self._put((*self.register.entries, entry))
        return entry

    def replace(self, entry: Entry) -> None:
        """Put another entry in the place of the one with its id."""
        old = self.register.entries
        self._put(tuple(entry if each.id == entry.id else each for each in old))

    def remove(self, entry: Entry) -> None:
        """Forget a release that was not made and spent nothing."""
        self._put(tuple(each for each in self.register.entries if each.id != entry.id))

    def _put(self, entries: tuple[Entry, ...]) -> None:
        self.register = replace(self.register, entries=entries)
        self.files._write(self.register)
        used = {_tags_name(entry.tags) for entry in entries if entry.tags}
        for place in self.files.folder.iterdir():
            if place.suffix == _TAGS and _HEX.fullmatch(place.stem) and place.name not in used:
                place.unlink()


_TAGS = ".tags"


def _tags_name(digest: str) -> str:
    return f"{digest}{_TAGS}"


def new_id() -> str:
    """A name for a release that no other has."""
    return secrets.token_hex(6)


def now() -> str:
    """The time as a register writes it."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def others_can_read(path: Path) -> bool:
    """Whether other users of this machine may read a file or folder."""
    return bool(stat.S_IMODE(path.stat().st_mode) & 0o077)


def _text(register: Register) -> str:
    lines = [f"version = {VERSION}", f"salt = {toml_value('salt', register.salt)}"]
    if register.total is not None:
        lines.append(f"total-epsilon = {_number(register.total.epsilon)}")
        lines.append(f"total-delta = {_number(register.total.delta)}")
    return _HEAD + "\n".join([*lines, *map(_entry_text, register.entries)]) + "\n"


def _entry_text(entry: Entry) -> str:
    words: dict[str, Any] = {"id": entry.id} | {name: getattr(entry, name) for name in _TEXTS}
    words |= {"people": entry.people, "tags": entry.tags, "data": entry.data}
    words["digest"] = entry.digest
    lines = [
        f"{name} = {toml_value(name, value)}"
        for name, value in words.items()
        if value not in (None, "")
    ]
    if entry.is_noisy:
        spent = {"epsilon": entry.spent.epsilon, "delta": entry.spent.delta}
        lines += [f"{name} = {_number(value)}" for name, value in spent.items()]
    return "\n".join(["", "[[release]]", *lines])


def _number(value: Fraction) -> str:
    """A number as people write it, or else as a fraction."""
    short = repr(float(value))
    return short if Fraction(short) == value else f'"{value}"'


def _register(path: Path, table: Mapping[str, Any]) -> Register:
    """The register that a file says.

    Raises:
        FileFormatError: if a key is unknown, missing or not allowed.
    """
    if table.get("version") != VERSION:
        raise FileFormatError(path, f"it is not a register of version {VERSION}")
    _check_keys(path, table, {"version", "salt", "total-epsilon", "total-delta", "release"})
    salt, listed = table.get("salt"), table.get("release", [])
    if not isinstance(salt, str) or not _HEX.fullmatch(salt):
        raise FileFormatError(path, "the key salt must be 64 hexadecimal digits")
    if not isinstance(listed, list) or not all(isinstance(each, dict) for each in listed):
        raise FileFormatError(path, "release must be a list of tables, [[release]]")
    total = None
    if "total-epsilon" in table or "total-delta" in table:
        total = Budget(*(_amount(path, table, f"total-{name}") for name in Budget._fields))
    entries = tuple(_entry(path, each) for each in listed)
    if len({entry.id for entry in entries}) < len(entries):
        raise FileFormatError(path, "several releases have the same id")
    return Register(salt=salt, total=total, entries=entries)


def _entry(path: Path, table: Mapping[str, Any]) -> Entry:
    _check_keys(path, table, {each.name for each in fields(Entry)} - {"spent"} | {*Budget._fields})
    texts = {}
    for name in ("id", *_TEXTS, *_HASHES):
        value = table.get(name, "")
        value = value.isoformat() if name == "date" and isinstance(value, datetime) else value
        if not isinstance(value, str):
            raise FileFormatError(path, f"{name} = {brief(value)} is not a text")
        texts[name] = value
    if not _ID.fullmatch(texts["id"]):
        raise FileFormatError(path, "a release has no id of 12 hexadecimal digits")
    if any(texts[name] and not _HEX.fullmatch(texts[name]) for name in _HASHES):
        listed = ", ".join(_HASHES)
        raise FileFormatError(path, f"{listed} of {texts['id']} must be SHA-256 hashes")
    people = table.get("people")
    if people is not None and (type(people) is not int or people < 0):
        raise FileFormatError(path, f"people = {brief(people)} is not a number of people")
    spent = Budget(*(_amount(path, table, name) for name in Budget._fields))
    return Entry(**texts, people=people, spent=spent)


def _check_keys(path: Path, table: Mapping[str, Any], known: set[str]) -> None:
    unknown = sorted(table.keys() - known)
    if unknown:
        raise FileFormatError(path, f"a register has no key {brief(unknown[0])}")


def _amount(path: Path, table: Mapping[str, Any], key: str) -> Fraction:
    """An epsilon or a delta: a number from 0 on, or a fraction as a text; 0 if it is missing."""
    value = table.get(key, 0)
    try:
        if type(value) not in (int, float, str):
            raise ValueError
        found = Fraction(value if isinstance(value, str) else repr(value))
        if found < 0:
            raise ValueError
    except (ValueError, ZeroDivisionError):
        problem = f"{key} = {brief(value)} is not a number from 0 on"
        raise FileFormatError(path, problem) from None
    return found


def budget_given(epsilon: float | None, delta: float | None) -> Budget | None:
    """A total that a user gives; None if there is none."""
    for name, value in (("epsilon", epsilon), ("delta", delta)):
        if value is not None and not 0 <= value < float("inf"):
            raise ParameterError(name, value, "it must be a number from 0 on")
    if epsilon is None:
        if delta is not None:
            raise ParameterError("delta", delta, "it needs a total of {epsilon} beside it")
        return None
    return Budget.of(epsilon, delta or 0)
