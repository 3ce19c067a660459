"""How kernels are compiled and cached."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any, TypeVar, cast

import numba
from numba import njit
from numba.core import event

from setveil.kernels.small import ELEMENTS, Patient

Function = TypeVar("Function", bound=Callable[..., Any])

OPTIONS: dict[str, Any] = {"nogil": True}
"""Of kernels and steps alike: Numba compiles what both use (`np.zeros`, ...) once per options."""
KNOWN = ("0.61", "0.62", "0.63", "0.64", "0.65", "0.66", "0.67", "0.68")
"""The versions of Numba for which `numba_inside` is used; the first and the last were tried."""


def kernel(function: Function) -> Function:
    """Compile on first call, without the interpreter lock.

    The machine code is cached next to the package or in the user's cache folder. If neither can be
    written, each process compiles the kernel again.
    """
    inside = _inside()
    if inside is None:
        return cast(Function, njit(cache=True, **OPTIONS)(function))
    made: Any = njit(**OPTIONS)(function)
    if made is not function:  # it is if NUMBA_DISABLE_JIT is set
        made._cache = inside.cache_of(function, _refuse_to_compile)
    return cast(Function, made)


def patient(made: Function, elements: int = ELEMENTS) -> Function:
    """A kernel that data of up to `elements` does not compile; see `small.Patient`."""
    if not hasattr(made, "py_func"):  # NUMBA_DISABLE_JIT is set
        return made
    return cast(Function, Patient(made, _IS_COMPILED_ONLY, NotCompiledError, elements))


def step(function: Function) -> Function:
    """Compile as part of the kernels that call it."""
    inside = _inside()
    if inside is None:
        return cast(Function, njit(**OPTIONS)(function))
    return cast(Function, njit(pipeline_class=inside.StepCompiler, **OPTIONS)(function))


@cache
def _inside() -> Any:
    """What rests on the inside of Numba; None if this version of Numba may be different inside.

    Without it, kernels do the same but take longer to compile."""
    if ".".join(numba.__version__.split(".")[:2]) not in KNOWN:
        return None
    try:
        from setveil.kernels import numba_inside

        numba_inside.load_arrays()
    except (ImportError, AttributeError):
        return None
    return numba_inside


_IS_COMPILED_ONLY: ContextVar[bool] = ContextVar("is_compiled_only", default=False)


class NotCompiledError(Exception):
    """A kernel was called that is not compiled yet, where none may be compiled."""


def _refuse_to_compile() -> None:
    if _IS_COMPILED_ONLY.get():
        raise NotCompiledError


@contextmanager
def compiled_only() -> Iterator[None]:
    """A context, for this thread, in which a kernel that would have to be compiled raises
    `NotCompiledError`."""
    token = _IS_COMPILED_ONLY.set(True)
    try:
        yield
    finally:
        _IS_COMPILED_ONLY.reset(token)


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
