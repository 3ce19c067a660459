"""How kernels are compiled and cached."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit
from numba.core import event

Function = TypeVar("Function", bound=Callable[..., Any])

_WITHOUT_DOORS: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def kernel(function: Function) -> Function:
    """Compile on first call, without the interpreter lock.

    The machine code is cached next to the package or in the user's cache folder. If neither can be
    written, Numba refuses to cache, and each process compiles the kernel again.
    """
    try:
        made: Any = njit(cache=True, nogil=True)(function)
    except RuntimeError:
        return cast(Function, njit(nogil=True)(function))
    if made is not function:  # it is if NUMBA_DISABLE_JIT is set
        # Numba checks only the kernel's own file, but steps of other files change too; and reading
        # an index fails if it names types that are gone. The version is compared before both.
        kept = made._cache._cache_file
        kept._version = (kept._version, *sources(function.__module__))
    return cast(Function, made)


def step(function: Function) -> Function:
    """Compile as part of the kernels that call it, not for Python: half the compile time."""
    return cast(Function, njit(nogil=True, **_WITHOUT_DOORS)(function))


def sources(module: str) -> tuple[str, ...]:
    """The text of a kernel file and of all that it imports from, directly or through others."""
    start, pending = f"from {module.partition('.')[0]}.", [module]
    texts: list[str] = []
    for name in pending:
        texts.append(inspect.getsource(sys.modules[name]))
        lines = (line for line in texts[-1].splitlines() if line.startswith(start))
        pending += sorted({line.split()[1] for line in lines} - {*pending, __name__})
    return tuple(texts)


def watch_compiling(begins: Callable[[], None], ends: Callable[[], None]) -> Any:
    """A context that calls these before and after a kernel is compiled (not if it is cached)."""
    return event.install_listener("numba:compile", _Watch(begins, ends))


class _Watch(event.Listener):  # type: ignore[misc]
    """Reports the outermost compilation only; a kernel is compiled with the steps that it calls."""

    def __init__(self, begins: Callable[[], None], ends: Callable[[], None]) -> None:
        self.begins, self.ends, self.depth = begins, ends, 0

    def on_start(self, event: Any) -> None:
        self.depth += 1
        if self.depth == 1:
            self.begins()

    def on_end(self, event: Any) -> None:
        self.depth -= 1
        if self.depth == 0:
            self.ends()
