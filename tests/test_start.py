"""Starting must be cheap: what is imported by the front door and by `setveil --help`."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import setveil

HEAVY = {"numpy", "numba", "duckdb", "rich", "pandas", "polars", "pyarrow", "scipy"}


def modules_after(code: str) -> set[str]:
    """The top-level modules that a fresh interpreter has loaded after some code."""
    tail = "\nimport json, sys; print(json.dumps(sorted({name.split('.')[0] for name in sys.modules})), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code + tail], capture_output=True, text=True, check=True)
    return set(json.loads(done.stderr.splitlines()[-1]))


def test_importing_the_package_loads_nothing_heavy():
    assert not modules_after("import setveil") & HEAVY


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["warmup", "--help"], ["generate", "--help"], ["hierarchy", "--help"]])
def test_help_loads_nothing_heavy(arguments):
    assert not modules_after(f"from setveil.cli import answer; assert answer({arguments!r}) == 0") & HEAVY


def test_the_help_of_anonymize_does_not_load_numba():
    assert "numba" not in modules_after("from setveil.cli import answer; assert answer(['anonymize', '--help']) == 0")


def test_every_name_of_the_front_door_is_there():
    for name in setveil.__all__:
        assert getattr(setveil, name) is not None
    assert dir(setveil) == sorted(setveil.__all__)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        _ = setveil.nonsense


def test_the_package_runs_as_a_module():
    done = subprocess.run([sys.executable, "-m", "setveil", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"setveil {setveil.__version__}\n"
