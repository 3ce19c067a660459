"""TOML files: what we read from them, and how we write values."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from setveil.disk import read_text
from setveil.errors import FileFormatError, ParameterError

_LONGEST = 200


def toml_table(path: Path) -> dict[str, Any]:
    """What a file says.

    Raises:
        FileFormatError: if it cannot be read, or is not TOML.
    """
    try:
        return tomllib.loads(read_text(path))
    except FileFormatError:
        raise
    except RecursionError:
        raise FileFormatError(path, "the file is not TOML: it is nested too deeply") from None
    except ValueError as error:
        raise FileFormatError(path, f"the file is not TOML: {str(error)[:_LONGEST]}") from None


def toml_value(name: str, value: Any) -> str:
    """A value as TOML.

    Example:
        >>> toml_value("name", {"a": [1, "b"], "c": True})
        '{ "a" = [1, "b"], "c" = true }'
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, Mapping):
        pairs = (
            f"{toml_value(name, key)} = {toml_value(name, inner)}" for key, inner in value.items()
        )
        return f"{{ {', '.join(pairs)} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(toml_value(name, inner) for inner in value)}]"
    text = str(value)
    if not text.isprintable() and text != text.encode("utf-8", "ignore").decode("utf-8"):
        raise ParameterError(name, text, "it has characters that a text file cannot hold")
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
