"""Interruptions (Ctrl-C, or a request to end), raised at moments that native code can stand."""

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
"""For how many seconds after an interruption no other is raised: a closed terminal sends two, an
impatient user more, and one in the middle of clearing away would leave private data behind."""

_LOADERS = (ExtensionFileLoader.create_module.__code__, ExtensionFileLoader.exec_module.__code__)
"""What calls native code that may call Python again and does not expect an error: modules that
are being loaded."""

_CALLED_BACK = (
    "_numba_unpickle",
    "_raw_object_cache_notify",
    "_raw_object_cache_getbuffer",
    "__del__",
)
"""What compiled kernels call to make their answer, what LLVM calls to keep machine code, and
what nobody calls."""


def listen() -> None:
    """Let an interruption, and a request to end, raise `KeyboardInterrupt`, so that what is half
    done is cleared away.

    A terminal that is closed asks to end too: what lies in temporary files is private. A process
    that ignores such a signal, as one in the background may, goes on doing so; a thread other than
    the main one, which signals never reach, changes nothing."""
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
    """Ctrl-C, a request to end, and, where there is such a signal, a terminal that is closed."""
    return [
        signal.Signals[name]
        for name in ("SIGINT", "SIGTERM", "SIGHUP")
        if name in signal.Signals.__members__
    ]


class _Interruption:
    """Raises `KeyboardInterrupt` where native code can stand it, and no other one while what is
    half done is being cleared away.

    Compiled kernels and some modules call Python code: to make a named tuple of an answer, to keep
    machine code. An error in there would be lost or would crash the process, so it is raised where
    the native code returns to."""

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
    """The frame that called the native code from which this one was called; None when it was
    called from Python all along."""
    place = None
    while frame is not None:
        if frame.f_code in _LOADERS:
            place = frame
        elif _is_called_back(frame.f_code):
            place = frame.f_back
        frame = frame.f_back
    return place


def _is_called_back(code: CodeType) -> bool:
    """Whether native code calls this; a named tuple is made by a lambda whose source is a mere
    text."""
    return code.co_name in _CALLED_BACK or (code.co_filename, code.co_name) == (
        "<string>",
        "<lambda>",
    )
