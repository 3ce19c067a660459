"""Blank lines between records: empty records, or only a pattern that separates the others."""

from __future__ import annotations

import re
from collections.abc import Iterable

_LEAST, _LEAST_REGULAR = 3, 5
"""So many gaps with blank lines show a pattern."""
_NEARLY_ALL = 0.9
_RUN = re.compile(rb"\n{2,}")


def are_separators(blank: Iterable[bool]) -> bool:
    """Whether blank lines separate records, by which of the first lines are blank.

    They do if nearly all neighbours have some between them, or if they come after every n records.

    Example:
        >>> are_separators([False, True] * 4), are_separators([False, False, True] * 6)
        (True, True)
        >>> are_separators([False, True, False, False, False, True, True, False, True, False])
        False
    """
    text = "".join(" x"[not each] for each in blank).strip()
    runs = [len(run) for run in text.split()]  # of records without a blank line between them
    gaps = len(runs) - 1
    if gaps >= _LEAST_REGULAR and len(set(runs[:-1])) == 1:
        return True
    return gaps >= max(_LEAST, _NEARLY_ALL * (sum(runs) - 1))


class Squeezed:
    """Blocks of lines without the blank ones; counts those before the last line that is not."""

    def __init__(self) -> None:
        self._removed = self._last = 0
        self._ended = True

    @property
    def removed(self) -> int:
        return self._removed - self._last

    def __call__(self, block: bytes) -> bytes:
        text = b"\n" + block if self._ended else block
        kept = _RUN.sub(b"\n", text)
        gone = len(text) - len(kept)
        written = len(text.rstrip(b"\n"))
        self._last = max(0, len(text) - written - 1) if written else self._last + gone
        self._removed += gone
        kept = kept[1:] if self._ended else kept
        self._ended = block.endswith(b"\n") if block else self._ended
        return kept
