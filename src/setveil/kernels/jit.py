"""How kernels are compiled: cached where a cache can be kept, without one elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

Function = TypeVar("Function", bound=Callable[..., Any])

_WITHOUT_DOORS: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def kernel(function: Function) -> Function:
    """Compile on first call, without the interpreter lock.

    The machine code is kept beside the package or in the user's cache folder; where neither can be written, Numba refuses to make a
    cached function, and the kernel is compiled anew in each process.
    """
    try:
        return cast(Function, njit(cache=True, nogil=True)(function))
    except RuntimeError:
        return cast(Function, njit(nogil=True)(function))


def step(function: Function) -> Function:
    """Compile as a part of the kernels that call it, in the same file; it has no door of its own, which halves the time to compile."""
    return cast(Function, njit(nogil=True, **_WITHOUT_DOORS)(function))
