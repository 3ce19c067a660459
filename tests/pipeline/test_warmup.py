"""Compiling: a first run lets another process compile what is needed late, and `warmup` leaves
nothing to compile."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import setveil as sv
from setveil.pipeline import warmup
from setveil.threads import thread_limit

BASKETS = [[f"a{i % 3}", f"b{i % 4}", f"c{i % 5}"] for i in range(60)]
FIRST = """
import pathlib
import tempfile
import setveil as sv
from setveil.kernels.jit import watch_compiling
from setveil.pipeline import warmup

count = []
warmup.run()
bags = sv.Bags.of([["a", "a", "b"], ["a", "b"], ["b", "c"], ["a", "b", "c"]] * 5)
baskets = [[f"a{i % 3}", f"b{i % 4}", f"c{i % 5}"] for i in range(60)]
with watch_compiling(lambda: count.append(1), lambda: None):
    for method, words in (
        ("partition", {"k": 5}),
        ("apriori", {"k": 5, "m": 2}),
        ("mhghs", {"k": 5, "m": 2}),
        ("disassociation", {"k": 2, "m": 2}),
    ):
        sv.anonymize(baskets, method=method, hierarchy="balanced:3", **words)
    sv.anonymize(bags, method="ssc", k=2, hierarchy="balanced:3")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "baskets.dat"
        path.write_text("1 2 3\\n2 3\\n" * 30)
        for number, words in enumerate(({"hierarchy": "balanced:3"}, {"m": 2})):
            done = sv.anonymize(path, k=5, output=path.with_name(f"release {number}"), **words)
            assert done.verdict.holds
print(len(count))
"""


class Child:
    """A process that was started, and what with."""

    def __init__(self, started):
        self.started = started

    def kill(self):
        self.started.append("killed")

    def wait(self):
        self.started.append("gone")


@pytest.fixture
def started(monkeypatch):
    """The arguments of processes that are started instead of those that compile."""
    found = []

    def start(module, *arguments):
        found.append((module, *arguments))
        return Child(found)

    monkeypatch.setattr(warmup, "start_child", start)
    return found


@pytest.mark.parametrize(("method", "measures"), [("disassociation", "itemsets"), ("ssc", "bags")])
def test_a_first_run_lets_another_process_compile_what_is_needed_late(
    started, monkeypatch, method, measures
):
    monkeypatch.setattr(warmup, "is_compiled", lambda module, kernel: False)
    with thread_limit(2), warmup.first_run(sv.methods.METHODS[method]()):
        assert len(started) == 1
    name = "setveil.pipeline.warmup"
    assert started == [(name, f"late {method}", f"measures of {measures}"), "killed", "gone"]


def test_a_run_whose_kernels_are_compiled_starts_no_process(started):
    warmup.run()
    started.clear()
    with thread_limit(2):
        sv.anonymize(BASKETS, k=2, m=2, method="disassociation")
    assert started == []


def test_with_one_thread_there_is_no_other_process(started, monkeypatch):
    monkeypatch.setattr(warmup, "is_compiled", lambda module, kernel: False)
    sv.anonymize(BASKETS, k=2, m=2, method="disassociation", threads=1)
    assert started == []


@pytest.mark.long
def test_after_warmup_the_usual_runs_compile_nothing(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", FIRST],
        env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(done.stdout.splitlines()[-1]) == 0
