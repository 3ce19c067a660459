"""Lists of items that a user typed, as the files that the command line and Python read.

There a word may be a file, and must be an item of the data; a file may list more than that."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setveil.io.namelists import UNDER, is_pattern
from setveil.pipeline.names import promise_words

PUBLIC_LIST = "public-items.csv"


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
