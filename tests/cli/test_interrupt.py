"""An interruption is raised only where native code can take it."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from importlib.machinery import ExtensionFileLoader

import pytest

from setveil.cli import interrupt

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@pytest.fixture(autouse=True)
def signals():
    """Sets handlers and the trace function back."""
    before, trace = {number: signal.getsignal(number) for number in SIGNALS}, sys.gettrace()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    sys.settrace(trace)
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", SIGNALS)
def test_python_code_is_interrupted_at_once(number):
    interrupt.listen()
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(number)


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


def test_the_loading_of_a_native_module_is_interrupted_in_the_loader_itself(monkeypatch):
    interrupt.listen()
    seen = []

    def create_module(loader, spec):
        signal.raise_signal(signal.SIGINT)
        seen.append(spec)

    monkeypatch.setattr(
        interrupt, "_LOADERS", (create_module.__code__, ExtensionFileLoader.exec_module.__code__)
    )
    with pytest.raises(KeyboardInterrupt):
        create_module(None, "module")
    assert seen == []


def test_what_a_native_module_calls_while_it_is_loaded_runs_to_its_end(monkeypatch):
    interrupt.listen()
    seen = []

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


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_that_is_ignored_stays_ignored(number):
    signal.signal(number, signal.SIG_IGN)
    interrupt.listen()
    signal.raise_signal(number)
    interrupt.listen_no_more()
    assert signal.getsignal(number) is signal.SIG_IGN


def test_after_the_work_an_interruption_ends_the_process_at_once():
    interrupt.listen()
    interrupt.listen_no_more()
    assert [signal.getsignal(number) for number in SIGNALS] == [signal.SIG_DFL] * 3


@pytest.mark.parametrize("second", SIGNALS)
def test_clearing_away_is_not_interrupted_by_a_second_signal_but_by_one_much_later(
    monkeypatch, second
):
    interrupt.listen()
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    signal.raise_signal(second)
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now + interrupt.PATIENCE + 1)
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(second)


def test_a_thread_other_than_the_main_one_changes_no_handler():
    before = [signal.getsignal(number) for number in SIGNALS]
    failed = []
    thread = threading.Thread(target=lambda: failed.append(interrupt.listen()))
    thread.start()
    thread.join()
    assert failed == [None]
    assert [signal.getsignal(number) for number in SIGNALS] == before


def test_the_library_leaves_signals_alone():
    program = "import signal; before = signal.getsignal(2), signal.getsignal(15); import setveil; from setveil.pipeline import Job, run; "
    program += "run(Job(data=[['a']] * 4, promise=setveil.KAnonymity(k=2), method=setveil.Partition(), hierarchy='balanced:2')); "
    program += "assert (signal.getsignal(2), signal.getsignal(15)) == before"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


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
try:
    threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
    for _ in range(50):
        work(200_000_000)
    print("not interrupted")
except KeyboardInterrupt:
    print("interrupted")
"""


def test_a_kernel_that_gives_a_named_tuple_is_interrupted_without_a_crash():
    done = subprocess.run(
        [sys.executable, "-c", KERNEL], capture_output=True, text=True, timeout=600
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "interrupted\n", "")
