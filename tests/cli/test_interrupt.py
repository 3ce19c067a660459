"""An interruption is raised at a moment that native code can stand."""

from __future__ import annotations

import signal
import subprocess
import sys
from importlib.machinery import ExtensionFileLoader

import pytest

from setveil.cli import interrupt


@pytest.fixture(autouse=True)
def signals():
    """Sets handlers and the trace function back."""
    before, trace = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}, sys.gettrace()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    sys.settrace(trace)
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_python_code_is_interrupted_at_once(number):
    interrupt.listen()
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(number)


def test_a_process_that_outlives_its_terminal_goes_on_doing_so():
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    interrupt.listen()
    signal.raise_signal(signal.SIGHUP)
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN


def test_what_native_code_calls_back_is_not_interrupted_but_its_caller_is():
    interrupt.listen()
    seen = []

    def look(number: int) -> int:
        signal.raise_signal(signal.SIGINT)
        seen.append(number)
        return number

    called_back = eval("lambda number: look(number)", {"look": look})

    def call_native_code() -> None:
        sorted([2, 1], key=called_back)
        seen.append(0)

    with pytest.raises(KeyboardInterrupt):
        call_native_code()
    assert seen == [2, 1]


def test_a_native_module_is_loaded_to_its_end(monkeypatch):
    interrupt.listen()
    seen = []

    def create_module(loader, spec):
        signal.raise_signal(signal.SIGINT)
        seen.append(spec)

    monkeypatch.setattr(interrupt, "_LOADERS", (create_module.__code__, ExtensionFileLoader.exec_module.__code__))
    with pytest.raises(KeyboardInterrupt):
        create_module(None, "module")
    assert seen == []

    def nested():
        signal.raise_signal(signal.SIGINT)
        seen.append("nested")

    def exec_module():
        nested()
        seen.append("after")

    monkeypatch.setattr(interrupt, "_LOADERS", (exec_module.__code__,))
    with pytest.raises(KeyboardInterrupt):
        exec_module()
    assert seen == ["nested"]


def test_who_ignores_interruptions_goes_on_doing_so():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    interrupt.listen()
    interrupt.listen_no_more()
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_after_the_work_an_interruption_ends_the_process_at_once():
    interrupt.listen()
    interrupt.listen_no_more()
    assert signal.getsignal(signal.SIGINT) is signal.SIG_DFL


KERNEL = """
import os, signal, sys, threading, time
from typing import NamedTuple
import numba
from setveil.cli import interrupt

class Answer(NamedTuple):
    total: int

@numba.njit(nogil=True)
def work(rounds):
    total = 0
    for number in range(rounds):
        total += total ^ number
    return Answer(total)

work(1)
interrupt.listen()
threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    for _ in range(50):
        work(200_000_000)
    print("not interrupted")
except KeyboardInterrupt:
    print("interrupted")
"""


def test_a_kernel_that_gives_a_named_tuple_is_interrupted_without_a_crash():
    done = subprocess.run([sys.executable, "-c", KERNEL], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "interrupted\n", "")
