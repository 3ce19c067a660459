"""How kernels are compiled: the cache must never answer with what a step was before it changed."""

from __future__ import annotations

import ast
import fcntl
import inspect
import os
import pkgutil
import subprocess
import sys
from importlib import import_module

import pytest

import setveil.kernels
from setveil.kernels import jit, numba_inside

STEPS = "from setveil.kernels.jit import step\n\n@step\ndef number():\n    return {}\n"
MIDDLE = (
    "from {0}.steps import number\nfrom setveil.kernels.jit import step\n\n"
    "@step\ndef twice():\n    return 2 * number()\n"
)
KERNEL = (
    "from {0}.inner.middle import twice\nfrom setveil.kernels.jit import kernel\n\n"
    "@kernel\ndef answer():\n    return twice()\n"
)

KERNELS = [
    found.name
    for found in pkgutil.walk_packages(setveil.kernels.__path__, "setveil.kernels.")
    if not found.name.endswith((".jit", ".numba_inside"))
]


def answer_of(folder, name):
    """What the kernel says in a new process, with the cache of the processes before."""
    run = [
        sys.executable,
        "-c",
        f"from {name}.inner.kernels import answer; print(answer(), len(answer.stats.cache_hits))",
    ]
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(folder), *sys.path])}
    env |= {"PYTHONDONTWRITEBYTECODE": "1"}  # which may be stale if a file changes within a second
    env.pop("NUMBA_CACHE_DIR", None)  # the cache is next to the files
    found = subprocess.run(
        run,
        env=env,
        capture_output=True,
        text=True,
        check=True,
    )
    return [int(number) for number in found.stdout.split()]


def test_a_step_of_another_file_or_folder_that_changes_is_compiled_anew(tmp_path):
    folder = tmp_path / "changing"
    (folder / "inner").mkdir(parents=True)
    files = {
        "__init__": "",
        "inner/__init__": "",
        "steps": STEPS.format(1),
        "inner/middle": MIDDLE,
        "inner/kernels": KERNEL,
    }
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text.format("changing"))
    assert answer_of(tmp_path, "changing") == [2, 0]
    assert answer_of(tmp_path, "changing") == [2, 1]
    (folder / "steps.py").write_text(STEPS.format(30))
    assert answer_of(tmp_path, "changing") == [60, 0]


def damaged(text: bytes, how: str) -> bytes:
    middle = len(text) // 2
    changed = bytes([text[middle] ^ 1])
    kinds = {"empty": b"", "cut": text[:middle]}
    return kinds.get(how, text[:middle] + changed + text[middle + 1 :])


@pytest.mark.parametrize(
    ("suffix", "how"), [("nbi", "flipped"), ("nbi", "empty"), ("nbc", "flipped"), ("nbc", "cut")]
)
def test_a_damaged_cache_is_compiled_anew_and_repaired(tmp_path, suffix, how):
    folder = tmp_path / "damaging"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "inner").mkdir()
    (folder / "inner" / "__init__.py").write_text("")
    (folder / "inner" / "kernels.py").write_text(
        "from setveil.kernels.jit import kernel\n\n@kernel\ndef answer():\n    return 7\n"
    )
    assert answer_of(tmp_path, "damaging") == [7, 0]
    (kept,) = folder.rglob(f"*.{suffix}")
    kept.write_bytes(damaged(kept.read_bytes(), how))
    assert answer_of(tmp_path, "damaging") == [7, 0]
    assert answer_of(tmp_path, "damaging") == [7, 1]


def test_a_cache_that_cannot_be_written_is_not_an_error(monkeypatch):
    def fail(*arguments):
        raise OSError(28, "No space left on device")

    @jit.kernel
    def seven():
        return 7

    monkeypatch.setattr(numba_inside.IndexDataCacheFile, "_open_for_write", fail)
    assert seven() == 7


def test_a_cache_that_names_a_type_which_is_gone_is_not_read(tmp_path):
    folder = tmp_path / "renaming"
    (folder / "inner").mkdir(parents=True)
    text = (
        "from typing import NamedTuple\nfrom setveil.kernels.jit import kernel\n\n"
        "class {0}(NamedTuple):\n    number: int\n\n"
        "@kernel\ndef number_of(held):\n    return held.number\n\n"
        "class Answer:\n    stats = number_of.stats\n\n"
        "    def __call__(self):\n        return number_of({0}(7))\n\nanswer = Answer()\n"
    )
    for name in ("Old", "New"):
        for file in ("__init__", "inner/__init__"):
            (folder / f"{file}.py").write_text("")
        (folder / "inner/kernels.py").write_text(text.format(name))
        assert answer_of(tmp_path, "renaming")[0] == 7


def test_kernels_run_as_plain_functions_where_compiling_is_turned_off():
    run = (
        "from numpy import array; from setveil.kernels.itemsets import rank_rows; "
        "print(rank_rows(*map(array, ([0, 2], [1, 0], [5, 7])))[1])"
    )
    plain = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    assert (
        subprocess.run(
            [sys.executable, "-c", run], env=plain, capture_output=True, text=True, check=True
        ).stdout
        == "[5 7]\n"
    )


@pytest.mark.parametrize("name", KERNELS)
def test_the_sources_of_a_file_of_kernels_are_all_files_it_imports_at_once_or_through_others(name):
    pending = [name]
    for module in pending:
        pending += sorted(imported(module) - {*pending, jit.__name__})
    assert numba_inside.sources(name)[0] == inspect.getsource(import_module(name))
    assert set(numba_inside.sources(name)) == {
        inspect.getsource(import_module(each)) for each in pending
    }


def test_the_kernels_of_ssc_rest_on_those_of_centres_and_of_matching():
    texts = [
        inspect.getsource(import_module(f"setveil.kernels.{name}"))
        for name in ("ssc.centre", "assignment")
    ]
    assert set(texts) < set(numba_inside.sources("setveil.kernels.ssc.grow"))


def imported(module):
    """The files of kernels that a file names in its imports."""
    nodes = ast.walk(ast.parse(inspect.getsource(import_module(module))))
    return {
        node.module
        for node in nodes
        if isinstance(node, ast.ImportFrom) and node.module.startswith("setveil.")
    }


@pytest.mark.parametrize(
    "before",
    [
        ["numba.__version__ = '9.99.0'"],
        ["sys.modules['numba.core.typed_passes'] = types.ModuleType('typed_passes')"],
    ],
)
def test_kernels_work_with_a_numba_that_is_different_inside(before, tmp_path):
    text = (
        "from setveil.kernels import jit\n\n@jit.step\ndef six():\n    return 6\n\n"
        "@jit.kernel\ndef answer():\n    return six() + 1\n"
    )
    (tmp_path / "other.py").write_text(text)
    run = ["import sys, types, numba", *before, "from other import answer"]
    run += ["print(answer(), type(answer._cache).__name__)"]
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(run)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["7", "FunctionCache"]


def test_the_installed_numba_is_known_inside():
    assert jit._inside() is numba_inside


def fresh_kernel(folder, monkeypatch, name, number):
    """A kernel in a new file, which no run before can have compiled."""
    text = (
        f"from setveil.kernels.jit import kernel\n\n@kernel\ndef {name}():\n    return {number}\n"
    )
    (folder / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(folder)
    return getattr(import_module(name), name)


def test_where_only_compiled_kernels_may_run_another_one_raises(tmp_path, monkeypatch):
    eight = fresh_kernel(tmp_path, monkeypatch, "fresh_eight", 8)
    with pytest.raises(jit.NotCompiledError), jit.compiled_only():
        eight()
    assert eight() == 8
    with jit.compiled_only():
        assert eight() == 8


def test_of_two_that_compile_a_kernel_the_second_waits_for_the_first(tmp_path, monkeypatch):
    path = str(tmp_path / "kernel.lock")
    first, second = numba_inside._Turn(path), numba_inside._Turn(path)
    lock, waited = fcntl.flock, []

    def locked(file, how):
        if not how & fcntl.LOCK_NB:
            waited.append(how)
            first.end()
        lock(file, how)

    monkeypatch.setattr(fcntl, "flock", locked)
    assert first.take() is False
    assert second.take() is True
    assert waited == [fcntl.LOCK_EX]
    assert first.take() is False


def test_where_no_lock_can_be_made_a_kernel_is_compiled_all_the_same(tmp_path):
    assert numba_inside._Turn(str(tmp_path / "missing" / "kernel.lock")).take() is False


def test_kernels_run_without_scipys_linear_algebra_and_others_still_have_it():
    code = """
import sys, numpy as np, numba
from setveil.kernels.itemsets import rank_rows
rank_rows(np.array([0, 2]), *np.array([[0, 1], [1, 0]], dtype=np.int32))
assert "scipy.linalg" not in sys.modules
print(numba.njit(lambda a: np.dot(a, a))(np.ones(3)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "3.0\n"
