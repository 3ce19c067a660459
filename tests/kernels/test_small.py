"""Kernels that small data does not compile: the same answers, and never for long."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest

import setveil as sv
from setveil.engines.local import Local
from setveil.kernels import jit
from setveil.kernels.small import Patient, plain, plain_if_small

TEXT = """
from setveil.kernels.jit import kernel, patient, step


@step
def larger(number):
    return number * 2


@patient
@kernel
def {0}(numbers):
    total = numbers[0] * numbers[0]
    for i in range(len(numbers)):
        total += larger(numbers[i])
    return total
"""


@pytest.fixture
def fresh(tmp_path, monkeypatch):
    """Makes a kernel in a new file, which no run before can have compiled."""

    def make(name):
        (tmp_path / f"{name}.py").write_text(TEXT.format(name))
        monkeypatch.syspath_prepend(tmp_path)
        return getattr(import_module(name), name)

    return make


def test_small_data_does_not_compile_a_kernel_where_it_may_wait(fresh):
    adds = fresh("adds_small")
    with plain_if_small():
        assert adds(np.arange(1, 4)) == 13
    assert not adds.kernel.signatures
    assert adds(np.arange(1, 4)) == 13
    assert adds.kernel.signatures


def test_large_data_compiles_it(fresh):
    adds = fresh("adds_large")
    with plain_if_small():
        adds(np.ones(500_000, np.int64))
    assert adds.kernel.signatures


def test_a_plain_kernel_that_takes_too_long_is_compiled(fresh):
    adds = fresh("adds_slowly")
    adds.left = 1e-12
    with plain_if_small():
        assert adds(np.arange(1, 4)) == 13
    assert adds.kernel.signatures
    assert adds.left == 0


def test_a_number_that_numpy_cannot_hold_compiles_it_because_numba_can(fresh):
    adds = fresh("adds_more")
    with plain_if_small():
        assert adds(np.array([100_000], np.int32)) == 100_000**2 + 200_000
    assert adds.kernel.signatures


def test_where_only_compiled_kernels_may_run_it_does_not_run_plain_either(fresh):
    adds = fresh("adds_never")
    with plain_if_small(), jit.compiled_only(), pytest.raises(jit.NotCompiledError):
        adds(np.arange(3))


def test_tasks_on_threads_may_wait_too(fresh):
    adds = fresh("adds_in_tasks")
    with plain_if_small():
        found = list(Local(threads=2).map(adds, [np.arange(1, 4)] * 3))
    assert found == [13] * 3
    assert not adds.kernel.signatures


PROMISES = [
    sv.KmAnonymity(k=3, m=1),
    sv.KmAnonymity(k=2, m=2),
    sv.KmAnonymity(k=4, m=3),
]


@pytest.mark.parametrize("promise", PROMISES)
@pytest.mark.parametrize("options", [{}, {"max_subrecord": 2}, {"arrangement": 12}])
def test_plain_and_compiled_kernels_of_disassociation_agree(promise, options, monkeypatch):
    """On records of very different lengths; no kernel writes into what it is given."""
    seen = set()

    def both(self, *given):
        before = [each.copy() for each in arrays(given)]
        found, expected = plain(self.py_func)(*given), self.kernel(*given)
        same = [*map(np.array_equal, arrays(found), arrays(expected))]
        assert all(same)
        assert all(map(np.array_equal, before, arrays(given)))
        assert len(same) == len(list(arrays(expected))) > 0
        seen.add(self.py_func.__name__)
        return expected

    random = np.random.default_rng(promise.k)
    rows = [
        {f"item {i}" for i in random.zipf(1.6, size) if i < 60}
        for size in random.integers(1, 9, 400)
    ]
    monkeypatch.setattr(Patient, "__call__", both)
    release = sv.Disassociation(**options).anonymize(rows, promise)
    assert sv.verify(release, sv.Transactions.of(rows)).holds
    assert {"refine", "list_open", "split_horizontally", "split_vertically"} <= seen


def arrays(given):
    """All arrays in arguments or answers."""
    if isinstance(given, tuple):
        for each in given:
            yield from arrays(each)
    elif isinstance(given, np.ndarray):
        yield given
