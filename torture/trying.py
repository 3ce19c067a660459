"""Tries a reader on a damaged file, and says what is wrong with how it takes it."""

from __future__ import annotations

import contextlib
import io
import signal
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from setveil.data.transactions import Bags, Transactions
from setveil.errors import LeftoverWarning, SetveilError

LONGEST_MESSAGE = 500
LIMITS = {
    signal.SIGPROF: (signal.ITIMER_PROF, 30.0, "of CPU time"),
    signal.SIGALRM: (signal.ITIMER_REAL, 1800.0, "in all"),
}
"""The most seconds for one small file. One that needs more CPU time does not end on any machine.
The second limit is for a reader that waits for ever without using CPU time; other work on the
machine never makes a small file take that long."""


def tried(
    place: Path,
    attempt: Callable[[], object],
    oracle: Callable[[], object] | None = None,
) -> str | None:
    """What is wrong with how a reader treats a file; None if nothing."""
    output, found, refused = io.StringIO(), None, None
    try:
        with _watched(output):
            found = attempt()
    except SetveilError as error:
        refused = str(error)
    except _TookLong as limit:
        return f"it took more than {limit}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:300]
    if output.getvalue():
        return f"printed {output.getvalue()[:200]!r}"
    if refused is not None:
        return _wrong_message(refused, place)
    return _wrong_data(found, oracle) if oracle is not None else None


class _TookLong(BaseException):
    """The time is over. It is not an `Exception`, so that no reader takes it for its own."""


@contextlib.contextmanager
def _watched(output: io.StringIO) -> Iterator[None]:
    """Collect what is printed, make errors of warnings, and stop what does not end."""

    def stop(number: int, frame: object) -> None:
        _, seconds, what = LIMITS[signal.Signals(number)]
        raise _TookLong(f"{seconds:g} seconds {what}")

    before = {number: signal.signal(number, stop) for number in LIMITS}
    for clock, seconds, _ in LIMITS.values():
        signal.setitimer(clock, seconds)
    try:
        with (
            warnings.catch_warnings(),
            contextlib.redirect_stderr(output),
            contextlib.redirect_stdout(output),
        ):
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", LeftoverWarning)  # of other runs on this machine
            yield
    finally:
        for number, (clock, *_) in LIMITS.items():
            signal.setitimer(clock, 0)
            signal.signal(number, before[number])


def _wrong_message(text: str, place: Path) -> str | None:
    if len(text) >= LONGEST_MESSAGE:
        return f"a message of {len(text):,} characters: {text[:200]}"
    if "\n" in text or not text.isprintable():
        return f"a message with odd characters: {text[:200]!r}"
    return None if place.name in text else f"a message that does not name the file: {text}"


def _wrong_data(found: object, oracle: Callable[[], object]) -> str | None:
    try:
        known = oracle()
    except ValueError as error:
        return f"accepted, but {error}: {str(found)[:200]}"
    return None if found == known else f"read {str(found)[:150]} and not {str(known)[:150]}"


def written(path: Path, content: bytes) -> Path:
    """The path, after the content was written there."""
    path.write_bytes(content)
    return path


def contents(data: Transactions) -> Counter[frozenset[tuple[str, int]]]:
    """The records with their counts, in no order."""
    bags = data if isinstance(data, Bags) else Bags.of(data)
    return Counter(map(_frozen, map(dict, _records(bags))))


def _records(bags: Bags) -> Iterator[dict[str, int]]:
    for number, record in enumerate(bags):
        start, stop = bags.indptr[number], bags.indptr[number + 1]
        yield dict(zip(record, bags.counts[start:stop].tolist(), strict=True))


def _frozen(record: dict[str, int]) -> frozenset[tuple[str, int]]:
    return frozenset(record.items())


def known_by(
    oracle: Callable[[bytes], list[dict[str, int]]], content: bytes, bags: bool
) -> Callable[[], object]:
    """What a plain reader finds in the content."""

    def known() -> object:
        records = oracle(content)
        return Counter(_frozen(each if bags else dict.fromkeys(each, 1)) for each in records)

    return known
