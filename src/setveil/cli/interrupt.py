"""Interruptions (Ctrl-C, or a request to end), raised at moments that native code can stand."""

from __future__ import annotations

import signal
import sys
from importlib.machinery import ExtensionFileLoader
from types import CodeType, FrameType

_LOADERS = (ExtensionFileLoader.create_module.__code__, ExtensionFileLoader.exec_module.__code__)
"""What calls native code that may call Python again and does not expect an error: modules that are being loaded."""

_CALLED_BACK = ("_numba_unpickle", "_raw_object_cache_notify", "_raw_object_cache_getbuffer", "__del__")
"""What compiled kernels call to make their answer, what LLVM calls to keep machine code, and what nobody calls."""


def listen() -> None:
    """Let an interruption, and a request to end, raise `KeyboardInterrupt`, so that what is half done is cleared away.

    A terminal that is closed asks to end too: what lies in temporary files is private.

    Compiled kernels and some modules call Python code: to make a named tuple of an answer, to keep machine code. An error in there would
    be lost or would crash the process, so it is raised where the native code returns to. A process that ignores interruptions, as one in
    the background may, goes on doing so.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)
    signal.signal(signal.SIGTERM, _interrupt)
    hangup = getattr(signal, "SIGHUP", None)
    if hangup is not None and signal.getsignal(hangup) is signal.SIG_DFL:
        signal.signal(hangup, _interrupt)


def listen_no_more() -> None:
    """The work is done: an interruption ends the process at once."""
    if signal.getsignal(signal.SIGINT) is _interrupt:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def _interrupt(number: int, frame: FrameType | None) -> None:
    place = _after_native_code(frame)
    if place is None:
        raise KeyboardInterrupt
    place.f_trace = _raise
    sys.settrace(lambda *event: None)


def _after_native_code(frame: FrameType | None) -> FrameType | None:
    """The frame that called the native code from which this one was called; None when it was called from Python all along."""
    place = None
    while frame is not None:
        if frame.f_code in _LOADERS:
            place = frame
        elif _is_called_back(frame.f_code):
            place = frame.f_back
        frame = frame.f_back
    return place


def _is_called_back(code: CodeType) -> bool:
    """Whether native code calls this; a named tuple is made by a lambda whose source is a mere text."""
    return code.co_name in _CALLED_BACK or (code.co_filename, code.co_name) == ("<string>", "<lambda>")


def _raise(*event: object) -> None:
    sys.settrace(None)
    raise KeyboardInterrupt
