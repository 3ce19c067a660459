"""Tries a reader on a damaged file, and says what is wrong with how it takes it.

Errors go through the function that maps them to exit codes, as on the command line, and every
200th file goes through the command line itself."""

from __future__ import annotations

import contextlib
import io
import signal
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from setveil.cli import DEFECT, answer
from setveil.cli.complain import explain
from setveil.data.transactions import Bags, Transactions
from setveil.errors import LeftoverWarning
from tests.oracle.readers import Unsure
from torture.campaign import Case, Dice

EVERY = 200
LONGEST_MESSAGE = 500
LIMITS = {
    signal.SIGPROF: (signal.ITIMER_PROF, 30.0, "of CPU time"),
    signal.SIGALRM: (signal.ITIMER_REAL, 1800.0, "in all"),
}
"""The most seconds for one small file. One that needs more CPU time does not end on any machine.
The second limit is for a reader that waits for ever without using CPU time; other work on the
machine never makes a small file take that long."""


@dataclass(frozen=True)
class Trial:
    """A damaged file, and how it is read."""

    place: Path
    read: Callable[[], object]
    """Reads it with the library."""
    command: Sequence[object] = ()
    """Reads it with the command line."""
    known: Callable[[], object] | None = None
    """What a plain reader finds. It raises ValueError if the file must be refused, and Unsure if
    it cannot say."""


def fuzzed(make: Callable[[Dice, Path], Trial]) -> Case:
    """A case that tries what `make` makes."""

    def case(rng: Dice, folder: Path) -> str | None:
        trial = make(rng, folder)
        if trial.command and rng.number % EVERY == 0:
            return commanded(trial, rng.marks)
        return tried(trial, rng.marks)

    return case


def tried(trial: Trial, marks: list[str]) -> str | None:
    """What is wrong with how a reader treats a file; None if nothing."""
    output, found, refused = io.StringIO(), None, None
    try:
        with _watched(output):
            found = trial.read()
    except _TookLong as limit:
        return f"it took more than {limit}"
    except Exception as error:
        refused = explain(error, ())
    if output.getvalue():
        return f"printed {output.getvalue()[:200]!r}"
    if refused is not None:
        marks.append("refused")
        return _wrong_message(*refused, trial.place)
    return _wrong_data(found, trial.known, marks)


def commanded(trial: Trial, marks: list[str]) -> str | None:
    """The same through the command line, where only the exit code and the message are judged."""
    marks.append("by command")
    output, errors = io.StringIO(), io.StringIO()
    try:
        with _watched(output, errors):
            code = answer([str(word) for word in trial.command])
    except _TookLong as limit:
        return f"it took more than {limit}"
    if code in (0, 1):
        return None
    text = errors.getvalue()
    # about a file that a job file names
    missing = any(words in text for words in ("there is no such file", "File name too long"))
    written = _output_of(trial.command).name in text  # one that cannot hold an item
    other = any(words in text for words in ("standard input: ", "cannot write "))
    return _wrong_message(text, code, Path() if missing or written or other else trial.place)


def _output_of(command: Sequence[object]) -> Path:
    words = list(map(str, command))
    return Path(words[words.index("-o") + 1]) if "-o" in words else Path("no output")


class _TookLong(BaseException):
    """The time is over. It is not an `Exception`, so that no reader takes it for its own."""


@contextlib.contextmanager
def _watched(output: io.StringIO, errors: io.StringIO | None = None) -> Iterator[None]:
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
            contextlib.redirect_stderr(errors or output),
            contextlib.redirect_stdout(output),
        ):
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", LeftoverWarning)  # of other runs on this machine
            yield
    finally:
        for number, (clock, *_) in LIMITS.items():
            signal.setitimer(clock, 0)
            signal.signal(number, before[number])


def _wrong_message(line: str, code: int, place: Path) -> str | None:
    text = line.removesuffix("\n")
    if code not in (2, 3):
        return f"exit {code}{' (a bug)' * (code == DEFECT)}: {text[:300]}"
    if len(text) >= LONGEST_MESSAGE:
        return f"a message of {len(text):,} characters: {text[:200]}"
    if "\n" in text or not text.isprintable():
        return f"a message with odd characters: {text[:200]!r}"
    return None if place.name in text else f"a message that does not name the file: {text}"


def _wrong_data(found: object, judge: Callable[[], object] | None, marks: list[str]) -> str | None:
    try:
        known = judge() if judge is not None else None
    except Unsure:
        judge = None
    except ValueError as error:
        return f"accepted, but {error}: {str(found)[:200]}"
    if judge is None:
        marks.append("accepted, not judged")
        return None
    marks.append("accepted and judged")
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
    oracle: Callable[[bytes], Sequence[dict[str, int]]], content: bytes, bags: bool = False
) -> Callable[[], object]:
    """What a plain reader finds in the content."""

    def known() -> object:
        return as_known(oracle(content), bags)

    return known


def as_known(records: Sequence[dict[str, int]], bags: bool = False) -> object:
    """Records of a plain reader as `contents` gives them."""
    return Counter(_frozen(each if bags else dict.fromkeys(each, 1)) for each in records)
