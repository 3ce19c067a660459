"""What a job reads: the user's own files, where they are, and lists of items that were typed.

The files are opened for reading alone. Nothing is ever written next to them, over them, or through
a link to them. A list that was typed becomes a file for the command line and Python: there a word
may be a file, and must be an item of the data; a file may list more than that."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from setveil.errors import FileFormatError
from setveil.io.namelists import UNDER, is_pattern
from setveil.io.releases.folder import sha256
from setveil.pipeline.names import promise_words

About = dict[str, Any]
"""Where a file is (`path`), and its `size`, `modified`, `changed` and `sha256` if it is the user's;
`log` is the SHA-256 of the query log that it was made from. `changed` is when the system last saw
the file change, which no program can set back, unlike `modified`."""
PUBLIC_LIST = "public-items.csv"
REGISTER = "register/releases.toml"
"""The register of all releases of the page, in its folder."""


def about_of(known: Mapping[str, Any]) -> About:
    """What is known of a file, without what else a project keeps with it."""
    names = ("path", "size", "modified", "changed", "sha256")
    return {name: known[name] for name in names if known.get(name) is not None}


def about_file(path: str | Path) -> About:
    """Where a file is, its size and its time: what a job must find again."""
    try:
        found = os.stat(path)
    except OSError as error:
        raise FileFormatError(Path(path).name, error.strerror or str(error)) from None
    times = {"modified": found.st_mtime_ns, "changed": found.st_ctime_ns}
    return {"path": str(path), "size": found.st_size, **times}


def digest_of(path: str | Path) -> str:
    """The SHA-256 of a file; nothing for a folder."""
    return "" if os.path.isdir(path) else sha256(Path(path))


def check_unchanged(name: str, about: Mapping[str, Any]) -> None:
    """Refuse a file that is not what it was when it was loaded.

    A file of the same size and times is the same. If only a time differs, its content decides."""
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


def list_files() -> dict[str, str]:
    """The parameter of each list by the name of its file."""
    held = (name for name, word in promise_words().items() if word.parameter.holds_items)
    return {f"{name}-items.txt": name for name in held}


def with_files(words: Mapping[str, Any]) -> dict[str, Any]:
    """The words of a job with names of files where items were typed.

    Example:
        >>> with_files({"k": 5, "private": ["E11.9", "dx:*"]})
        {'k': 5, 'private': ['private-items.txt', 'dx:*']}
    """
    files = {name: file for file, name in list_files().items() if _plain(words.get(name, ()))}
    others = {name: [w for w in words[name] if not _is_plain(w)] for name in files}
    return {**words, **{name: [file, *others[name]] for name, file in files.items()}}


def texts_of(words: Mapping[str, Any]) -> dict[str, str]:
    """What is in these files: one item per line."""
    lists = {file: _plain(words.get(name, ())) for file, name in list_files().items()}
    return {file: "".join(f"{item}\n" for item in items) for file, items in lists.items() if items}


def _plain(words: Any) -> list[str]:
    return [word for word in words if _is_plain(word)]


def _is_plain(word: str) -> bool:
    """Whether a word is an item, not one of the ways to name several."""
    return not word.startswith(UNDER) and not is_pattern(word)
