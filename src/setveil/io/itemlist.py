"""Lists of items: a text file with one item on each line."""

from __future__ import annotations

import os
from pathlib import Path

from setveil.errors import FileFormatError
from setveil.io.source.database import not_utf8
from setveil.io.source.source import BOM


def read_items(path: str | os.PathLike[str]) -> list[str]:
    """The items of a file, one on each line, blanks around them dropped; empty lines are skipped.

    Raises:
        FileFormatError: when the file is not there, is no text, or names no item.
    """
    place = Path(path)
    try:
        text = place.read_bytes().removeprefix(BOM).decode("utf-8")
    except FileNotFoundError:
        raise FileFormatError(place, "there is no such file") from None
    except UnicodeDecodeError:
        raise not_utf8(str(place)) from None
    except OSError as error:
        raise FileFormatError(place, f"the file cannot be read ({error.strerror})") from None
    items = list(dict.fromkeys(line.strip() for line in text.split("\n") if line.strip()))
    if not items:
        raise FileFormatError(place, "the file names no item; it must have one on each line")
    return items
