"""How this process asks the system for memory."""

from __future__ import annotations

import os

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8  # the names of glibc's mallopt
_KEPT = 1 << 30
"""Bytes: arrays below this size are taken from, and go back to, memory that the process keeps."""
_OBJECTS = 50_000
"""Python looks for cycles after so many new objects; it usually does after 700."""


def reuse_memory() -> None:
    """Let large arrays use the memory of those before them, instead of asking the system anew.

    New memory must be cleared before its first use, which takes longer than most array functions
    take to fill it. For programs that end with their work; a user's own `MALLOC_...` settings
    stay. Systems without glibc are left as they are.

    Most memory is in arrays, which need no search for cycles: these become rare too."""
    import ctypes
    import gc

    gc.set_threshold(_OBJECTS)
    if any(name.startswith("MALLOC_") for name in os.environ):
        return
    setting = getattr(ctypes.CDLL(None), "mallopt", None) if os.name == "posix" else None
    if setting is None:
        return
    for name, value in ((_ARENA_MAX, 1), (_MMAP_THRESHOLD, _KEPT), (_TRIM_THRESHOLD, _KEPT)):
        setting(name, value)
