"""Interruptions (Ctrl-C, or a request to end), raised only where it is safe for native code."""

from __future__ import annotations

import math
import signal
import sys
import threading
import time
from importlib.machinery import ExtensionFileLoader
from types import CodeType, FrameType
from typing import NoReturn

PATIENCE = 10.0
"""Seconds after an interruption in which no other is raised. A closed terminal sends two, and an
impatient user more; one in the middle of cleaning up would leave private data behind."""

_LOADERS = (ExtensionFileLoader.create_module.__code__, ExtensionFileLoader.exec_module.__code__)
"""The loaders of native modules, which may call Python while they load and expect no error."""

_CALLED_BACK = (
    "_numba_unpickle",
    "_raw_object_cache_notify",
    "_raw_object_cache_getbuffer",
    "__del__",
)
"""What kernels call to build an answer, what LLVM calls to cache machine code, and finalizers."""


def listen() -> None:
    """Let interruptions and requests to end raise `KeyboardInterrupt`, so that work is cleaned up.

    A closing terminal counts too, because temporary files are private. A signal that the process
    ignores stays ignored, as in the background. Outside the main thread nothing changes, because
    signals only reach the main thread.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    interruption = _Interruption()
    for number in _signals():
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, interruption)


def listen_no_more() -> None:
    """The work is done: an interruption ends the process at once."""
    for number in _signals():
        if isinstance(signal.getsignal(number), _Interruption):
            signal.signal(number, signal.SIG_DFL)


def _signals() -> list[signal.Signals]:
    """Ctrl-C, a request to end, and a closing terminal, on systems that signal it."""
    return [
        signal.Signals[name]
        for name in ("SIGINT", "SIGTERM", "SIGHUP")
        if name in signal.Signals.__members__
    ]


class _Interruption:
    """Raises `KeyboardInterrupt` where it is safe, and not again while work is cleaned up.

    Compiled kernels and some modules call Python code, to build a named tuple or to cache machine
    code. An error there would be lost or crash the process, so it is raised in their caller.
    """

    def __init__(self) -> None:
        self._raised = -math.inf

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if time.monotonic() < self._raised + PATIENCE:
            return
        place = _after_native_code(frame)
        if place is None:
            self._raise()
        else:
            place.f_trace = self._raise
            sys.settrace(lambda *event: None)

    def _raise(self, *event: object) -> NoReturn:
        sys.settrace(None)
        self._raised = time.monotonic()
        raise KeyboardInterrupt


def _after_native_code(frame: FrameType | None) -> FrameType | None:
    """The frame that called native code which called this one; None if only Python did."""
    place = None
    while frame is not None:
        if frame.f_code in _LOADERS:
            place = frame
        elif _is_called_back(frame.f_code):
            place = frame.f_back
        frame = frame.f_back
    return place


def _is_called_back(code: CodeType) -> bool:
    """Whether native code calls this; a named tuple is built by a lambda without a source file."""
    return code.co_name in _CALLED_BACK or (code.co_filename, code.co_name) == (
        "<string>",
        "<lambda>",
    )
