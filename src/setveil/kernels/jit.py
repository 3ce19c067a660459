"""How kernels are compiled: cached where a cache can be kept, without one elsewhere."""

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

    The machine code is kept beside the package or in the user's cache folder; where neither can be written, Numba refuses to make a
    cached function, and the kernel is compiled anew in each process.
    """
    try:
        made: Any = njit(cache=True, nogil=True)(function)
    except RuntimeError:
        return cast(Function, njit(nogil=True)(function))
    if made is not function:  # as it is where NUMBA_DISABLE_JIT is set
        # Numba asks for the file of the kernel alone, and would keep what was compiled with the old steps of another file.
        kept = made._cache._cache_file
        kept._source_stamp = (kept._source_stamp, *sources(function.__module__))
    return cast(Function, made)


def step(function: Function) -> Function:
    """Compile as a part of the kernels that call it; it has no door of its own, which halves the time to compile."""
    return cast(Function, njit(nogil=True, **_WITHOUT_DOORS)(function))


def sources(module: str) -> tuple[str, ...]:
    """The text of all files of kernels that a file of kernels takes something from, at once or through others."""
    package, found, pending = module.partition(".")[0] + ".", {module, __name__}, [module]
    for name in pending:
        names = {
            getattr(value, "__module__", None) or "" for value in vars(sys.modules[name]).values()
        }
        new = sorted(other for other in names - found if other.startswith(package))
        found.update(new)
        pending += new
    return tuple(inspect.getsource(sys.modules[name]) for name in pending[1:])


def watch_compiling(begins: Callable[[], None], ends: Callable[[], None]) -> Any:
    """A context in which these are called when a kernel begins and ends to be compiled; one that comes from the cache is not."""
    return event.install_listener("numba:compile", _Watch(begins, ends))


class _Watch(event.Listener):  # type: ignore[misc]
    """A kernel is compiled with the steps it calls: only the outermost counts."""

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
