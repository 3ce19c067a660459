"""The user's own files, read where they are: which they were when they were loaded.

They are opened for reading alone. Nothing is ever written next to them, over them, or through a
link to them."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from setveil.errors import FileFormatError

About = dict[str, Any]
"""Where a file is (`path`), and its `size`, `modified`, `changed` and `sha256` if it is the user's;
`log` is the SHA-256 of the query log that it was made from. `changed` is when the system last saw
the file change, which no program can set back, unlike `modified`."""


def about_of(known: Mapping[str, Any]) -> About:
    """What is known of a file, without what else a project keeps with it."""
    names = ("path", "size", "modified", "changed", "sha256")
    return {name: known[name] for name in names if known.get(name) is not None}


def about_file(path: str | Path) -> About:
    """Where a file is, its size and its time: what a job must find again.

    Raises:
        FileFormatError: if the file is gone.
    """
    try:
        found = os.stat(path)
    except OSError as error:
        raise FileFormatError(Path(path).name, error.strerror or str(error)) from None
    times = {"modified": found.st_mtime_ns, "changed": found.st_ctime_ns}
    return {"path": str(path), "size": found.st_size, **times}


def digest_of(path: str | Path) -> str:
    """The SHA-256 of a file; nothing for a folder."""
    if os.path.isdir(path):
        return ""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check_unchanged(name: str, about: Mapping[str, Any]) -> None:
    """Refuse a file that is not what it was when it was loaded.

    A file of the same size and times is the same. If only a time differs, its content decides.

    Raises:
        FileFormatError: if it is gone, or has changed.
    """
    place = str(about["path"])
    if not os.path.exists(place):
        raise FileFormatError(name, "the file is gone", remedy="load it again")
    if "size" not in about:  # made by the page itself, such as the folder of a release
        return
    now = about_file(place)
    if all(now[name] == about.get(name) for name in now):
        return
    if now["size"] == about["size"] and about.get("sha256") == digest_of(place):
        return
    problem = "the file has changed since it was loaded, so what this page shows of it is old"
    raise FileFormatError(name, problem, remedy="load it again")
