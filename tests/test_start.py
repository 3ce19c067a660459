"""Starting must be cheap: what is imported by the front door and by `setveil --help`."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import setveil

HEAVY = {"altair", "numpy", "numba", "duckdb", "rich", "pandas", "polars", "pyarrow", "scipy"}
OF_HELP = {
    *("setveil", "setveil.cli", "setveil.cli.interrupt", "setveil.cli.root"),
    "setveil.errors",
}
"""What `setveil --help` loads of setveil; each further module makes every start slower."""
MOST_OF_PYTHON = 20
"""Modules of the standard library that it may load beyond those that click loads."""


def modules_after(code: str) -> set[str]:
    """The modules that some code loads in a fresh interpreter."""
    head = "import sys; before = set(sys.modules)\n"
    tail = "\nimport json; print(json.dumps(sorted(set(sys.modules) - before)), file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", head + code + tail], capture_output=True, text=True, check=True
    )
    return set(json.loads(done.stderr.splitlines()[-1])) - {"json"}


def packages_after(code: str) -> set[str]:
    """The top-level packages that some code loads in a fresh interpreter."""
    return {name.split(".")[0] for name in modules_after(code)}


def test_importing_the_package_loads_nothing_heavy():
    assert not packages_after("import setveil") & HEAVY


def test_help_loads_click_and_little_of_setveil():
    code = "from setveil.cli import main\ntry: main(['--help'])\nexcept SystemExit: pass"
    loaded = modules_after(code)
    assert {name for name in loaded if name.split(".")[0] == "setveil"} == OF_HELP
    foreign = {name.split(".")[0] for name in loaded} - sys.stdlib_module_names
    assert foreign == {"setveil", "click"}
    of_click = modules_after("import click, click._textwrap")
    rest = {name for name in loaded - of_click if name.split(".")[0] in sys.stdlib_module_names}
    assert len(rest) <= MOST_OF_PYTHON, sorted(rest)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["--version"],
        ["warmup", "--help"],
        ["generate", "--help"],
        ["hierarchy", "--help"],
    ],
)
def test_help_loads_nothing_heavy(arguments):
    assert (
        not packages_after(f"from setveil.cli import answer; assert answer({arguments!r}) == 0")
        & HEAVY
    )


def test_the_help_of_anonymize_does_not_load_numba():
    assert "numba" not in packages_after(
        "from setveil.cli import answer; assert answer(['anonymize', '--help']) == 0"
    )


def test_every_name_of_the_front_door_is_there():
    for name in setveil.__all__:
        assert getattr(setveil, name) is not None
    assert dir(setveil) == sorted(setveil.__all__)


def test_type_checkers_see_the_names_that_are_loaded():
    stub = Path(setveil.__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    found = re.findall(r"^from (\S+) import (\S+) as \2$", stub, re.MULTILINE)
    assert {name: home for home, name in found} == setveil._HOMES


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        _ = setveil.nonsense


def test_the_package_runs_as_a_module():
    done = subprocess.run(
        [sys.executable, "-m", "setveil", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"setveil {setveil.__version__}\n"


def test_errors_can_be_named_without_importing_their_module():
    attempt = "import setveil\ntry:\n    setveil.KAnonymity(k=1)\n"
    code = f"{attempt}except setveil.errors.ParameterError as error:\n    print(error.name)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "k\n"


@pytest.mark.long
def test_a_script_of_a_user_passes_strict_type_checking(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT, encoding="utf-8")
    (tmp_path / "mypy.ini").write_text("[mypy]\nstrict = True\n", encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path / "cache"), "script.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "Success: no issues found in 1 source file\n")


SCRIPT = """
import numpy as np
import setveil as sv


def compared(rows: list[list[str]]) -> dict[str, float | dict[str, float]]:
    data = sv.as_transactions(rows)
    first: tuple[str, ...] = data[0]
    some: sv.Transactions = data[np.array([True, False, True, False])]
    tree = sv.Hierarchy.from_edges({"a": "ALL", "b": "ALL"})
    for method in (sv.Apriori(), sv.HgHs(), sv.MHgHs(restarts=2)):
        release = method.anonymize(rows, sv.KmAnonymity(k=2, m="all"), tree)
        assert sv.verify(release, rows), (first, some)
    diverse = sv.KmAnonymity(k=2, m=2, diversity=sv.LDiversity(l=2, sensitive=["a"]))
    pieces = sv.Disassociation().anonymize(rows, diverse)
    found = sv.top_itemsets_with_bounds(pieces, 3)
    bounds: list[int] = [pieces.support(["a"]).lower, *(bound.upper for _, bound in found)]
    coherence = sv.Coherence(h=0.9, k=2, p=2, private=["a"])
    kept: sv.Suppressed = sv.Suppression().anonymize(rows, coherence)
    try:
        sv.read("nofile.csv")
    except sv.errors.DataError as error:
        print(error, bounds, kept.records(seed=1))
    return sv.measure(sv.Partition().anonymize(data[:3], sv.KAnonymity(k=2), tree), data, "ncp")
"""
