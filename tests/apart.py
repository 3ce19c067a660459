"""Which tests start other processes: `make test-fast` leaves them out.

A test is marked `apart` if it, a fixture of it or a helper in the tests names a way to start a
process, and if it is a torture test. What starts one inside setveil (a comparison, blocks on several cores) is marked by hand. A
guard sees every start, so a test without its mark fails."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any

import pytest

_WAYS = {"subprocess", "fork", "ProcessPoolExecutor"}
_FIXTURES = {"browser", "spark"}
_EVENTS = ("subprocess.Popen", "os.fork", "os.posix_spawn", "os.system")
_COMPILING = "setveil.pipeline.warmup"
"""The first run on a machine compiles in another process, whatever the test is about."""
_started: list[str] = []


def mark_apart(item: pytest.Item) -> None:
    """Mark a test that starts processes."""
    test = getattr(item, "obj", None)
    info = getattr(item, "_fixtureinfo", None)
    fixtures = info.name2fixturedefs.values() if info else ()
    roots = [getattr(getattr(test, "hypothesis", None), "inner_test", test)]
    roots += [each.func for several in fixtures for each in several]
    if (
        _FIXTURES & set(getattr(item, "fixturenames", ()))
        or "torture" in item.path.parts
        or any(_starts(root, set()) for root in roots)
    ):
        item.add_marker("apart")


def watch_starts() -> None:
    """See every process that starts from now on."""

    def note(event: str, given: tuple[Any, ...]) -> None:
        if event in _EVENTS and _COMPILING not in str(given):
            _started.append(event)

    sys.addaudithook(note)


def forget_starts() -> None:
    """A new test begins."""
    _started.clear()


def refuse_starts(item: pytest.Item) -> None:
    """Fail if a test that is not marked has started a process."""
    if _started and item.get_closest_marker("apart") is None:
        pytest.fail("it starts a process: mark it with @pytest.mark.apart", pytrace=False)


def _starts(thing: Any, seen: set[int]) -> bool:
    """Whether a function or class of the tests names a way to start a process, or calls one that
    does."""
    thing = inspect.unwrap(thing) if callable(thing) else thing
    module = getattr(thing, "__module__", None) or ""
    ours = isinstance(thing, (FunctionType, type)) and module.split(".")[0] in ("tests", "torture")
    if id(thing) in seen or not ours:
        return False
    seen.add(id(thing))
    if isinstance(thing, type):
        members = [getattr(each, "fget", None) or each for each in vars(thing).values()]
        return any(_starts(each, seen) for each in members)
    names = set(_names(thing.__code__))
    return bool(names & _WAYS) or any(_starts(thing.__globals__.get(name), seen) for name in names)


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _names(inner)
