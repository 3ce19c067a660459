"""What makes a first run slow, checked without a clock: variants, and slow array functions."""

from __future__ import annotations

import ast
import inspect
import json
import pkgutil
import subprocess
import sys
from importlib import import_module

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import setveil.kernels
from setveil.kernels import jit, steps

SLOW = {"sort", "argsort", "unique", "concatenate", "diff"}
MODULES = [
    found.name
    for found in pkgutil.walk_packages(setveil.kernels.__path__, "setveil.kernels.")
    if not found.ispkg
]
RUN = """
import json, sys
import setveil as sv
from setveil.methods import METHODS

for kind in METHODS.values():
    kind.warmup()
rows = [["a", "b", "c"], ["a", "b"], ["b", "c", "d"], ["a", "d", "e"]] * 5
sv.Disassociation().anonymize(
    rows, sv.KmAnonymity(k=2, m=2, diversity=sv.LDiversity(l=2, sensitive=["e"]))
)
found = {}
for name, module in list(sys.modules.items()):
    if name.startswith("setveil.kernels."):
        for each in vars(module).values():
            each = getattr(each, "kernel", each)
            if hasattr(each, "signatures") and type(each._cache).__name__ == "_KernelCache":
                found[f"{each.__module__}.{each.__name__}"] = len(each.signatures)
print(json.dumps(found))
"""


@pytest.mark.long
def test_no_method_compiles_two_variants_of_a_kernel():
    done = subprocess.run([sys.executable, "-c", RUN], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout.splitlines()[-1])
    assert found
    assert {name: count for name, count in found.items() if count > 1} == {}


@pytest.mark.parametrize("module", MODULES)
def test_kernels_use_loops_where_numba_compiles_array_functions_slowly(module):
    tree = ast.parse(inspect.getsource(import_module(module)))
    assert [slow for each in compiled(tree) for slow in slow_places(each)] == []


def compiled(tree):
    """The functions that Numba compiles."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            names = {each.id for each in node.decorator_list if isinstance(each, ast.Name)}
            if names & {"kernel", "step"}:
                yield node


def slow_places(function):
    """Where a function sorts by NumPy, or copies to a slice, which compiles an error message."""
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in SLOW:
                yield f"{function.name}: {ast.unparse(node)}"
        elif isinstance(node, ast.Assign) and not isinstance(node.value, ast.Constant):
            for target in node.targets:
                if isinstance(target, ast.Subscript) and has_slice(target.slice):
                    yield f"{function.name}: {ast.unparse(node)}"


def has_slice(index):
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return any(isinstance(part, ast.Slice) for part in parts)


@jit.kernel
def sort(values, start, stop):
    steps.sort_slice(values, start, stop)


@given(st.lists(st.integers(-5, 60), max_size=200), st.data())
def test_a_slice_is_sorted_and_the_rest_stays(values, data):
    start = data.draw(st.integers(0, len(values)))
    stop = data.draw(st.integers(start, len(values)))
    found = np.array(values, dtype=np.int64)
    sort(found, start, stop)
    assert found.tolist() == [*values[:start], *sorted(values[start:stop]), *values[stop:]]


@pytest.mark.parametrize("shape", ["ascending", "descending", "equal", "organ pipe", "random"])
def test_long_slices_of_any_shape_are_sorted(shape):
    count = 5_000
    up = np.arange(count)
    shapes = {
        "ascending": up,
        "descending": up[::-1],
        "equal": np.zeros(count),
        "organ pipe": np.minimum(up, count - up),
        "random": np.random.default_rng(3).integers(0, 1_000, count),
    }
    found = shapes[shape].astype(np.int64)
    truth = np.sort(found)
    sort(found, 0, count)
    assert np.array_equal(found, truth)
