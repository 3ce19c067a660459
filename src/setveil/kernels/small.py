"""Small data without compiling: a kernel that is not compiled yet runs as the Python it is."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import update_wrapper
from types import FunctionType
from typing import Any

import numpy as np

ELEMENTS = 400_000
"""A kernel whose arrays have more elements than this is compiled, unless it says otherwise."""
SECONDS = 3.0
"""Time of the processor, for all calls of a kernel: one that has used it up is compiled, which
takes as long or longer."""

_IS_ALLOWED: ContextVar[bool] = ContextVar("is_plain_allowed", default=False)
_DEADLINE: ContextVar[float] = ContextVar("plain_deadline", default=float("inf"))


@contextmanager
def plain_if_small() -> Iterator[None]:
    """A context in which kernels of the class `Patient` may run without being compiled."""
    token = _IS_ALLOWED.set(True)
    try:
        yield
    finally:
        _IS_ALLOWED.reset(token)


class Patient:
    """A kernel that on small data, where `plain_if_small`, waits with its compilation.

    It must not write into its arguments: it starts anew, compiled, if the plain one takes too long,
    or if a number does not fit into 32 bits (Numba adds two of these in 64 bits, NumPy does not).
    """

    def __init__(
        self, kernel: Any, stored: ContextVar[bool], missing: type[Exception], elements: int
    ) -> None:
        """Of a kernel that raises `missing` if it is not compiled yet while `stored` is set."""
        update_wrapper(self, kernel.py_func)
        self.kernel, self.stored, self.missing = kernel, stored, missing
        self.py_func = kernel.py_func
        self.left, self.elements = SECONDS, elements

    def __call__(self, *given: Any) -> Any:
        may_wait = _IS_ALLOWED.get() and not self.stored.get()
        if not may_wait or self.left <= 0 or _elements(given) > self.elements:
            return self.kernel(*given)
        token = self.stored.set(True)
        try:
            return self.kernel(*given)
        except self.missing:
            pass
        finally:
            self.stored.reset(token)
        try:
            return self._plain(given)
        except (_TooSlowError, ArithmeticError):
            self.left = 0.0
            return self.kernel(*given)

    def _plain(self, given: tuple[Any, ...]) -> Any:
        start = time.thread_time()
        token = _DEADLINE.set(start + self.left)
        try:
            with np.errstate(all="raise"):
                return plain(self.py_func)(*given)
        finally:
            _DEADLINE.reset(token)
            self.left -= time.thread_time() - start


def plain(function: Any) -> FunctionType:
    """The function as it was before compilation, which calls its steps in the same way."""
    return _renewed(function, {})


class _TooSlowError(Exception):
    """The plain kernel has taken longer than compiling would."""


def _elements(given: Any) -> int:
    if isinstance(given, tuple):
        return sum(_elements(each) for each in given)
    return int(getattr(given, "size", 1))


def _renewed(function: Any, known: dict[int, dict[str, Any]]) -> FunctionType:
    """The function with plain steps; `known` has the names of each file that were renewed."""
    names, original = known.get(id(function.__globals__)), function.__globals__
    if names is None:
        names = known[id(original)] = dict(original)
        for name, value in original.items():
            if hasattr(value, "py_func"):
                names[name] = _watched(_renewed(value.py_func, known))
    return FunctionType(function.__code__, names, function.__name__, function.__defaults__)


def _watched(step: FunctionType) -> Callable[..., Any]:
    """The step, unless the time is up."""

    def call(*given: Any) -> Any:
        if time.thread_time() > _DEADLINE.get():
            raise _TooSlowError
        return step(*given)

    return call
