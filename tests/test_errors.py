"""Errors as objects: they get from one process to another with their message and their facts."""

from __future__ import annotations

import ast
import copy
import pickle
import re
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

import setveil
from setveil import KAnonymity, errors

ERRORS = [
    errors.SetveilError("a line"),
    errors.ParameterError("k", 1, "it must be more"),
    errors.MissingExtraError("pandas", "a table"),
    errors.OutputError("release", "it exists already"),
    errors.EngineError("a task failed"),
    errors.DataError("no records"),
    errors.FileFormatError("data.csv", "no columns", line=3),
    errors.HierarchyError(["two roots", "a cycle"], "tree.csv"),
    errors.UnknownItemError(["a", "b", "c", "d"], remedy="add them"),
    errors.MisfitError("a record is gone", record=["a"], published=["b"]),
    errors.ReleaseError("release", "a file is missing"),
    errors.InfeasibleError("too few records"),
]


def test_there_is_an_example_of_every_error():
    kinds = {
        kind
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, errors.SetveilError)
    }
    assert {type(error) for error in ERRORS} == kinds


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_an_error_survives_the_way_to_another_process(error):
    for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(twin) is type(error)
        assert str(twin) == str(error)
        assert vars(twin) == vars(error)
        assert twin.exit_code == error.exit_code


def refuse(k: int) -> KAnonymity:
    return KAnonymity(k=k)


def test_an_error_of_a_worker_is_raised_where_the_result_is_asked_for():
    with (
        ProcessPoolExecutor(1) as pool,
        pytest.raises(errors.ParameterError, match="k = 1 is not allowed") as raised,
    ):
        pool.submit(refuse, 1).result(timeout=600)
    assert raised.value.name == "k"


def test_a_hierarchy_error_counts_the_faults_that_it_does_not_show():
    assert str(errors.HierarchyError(["two roots"])).endswith("two roots")
    assert str(errors.HierarchyError(["two roots", "a cycle"])).endswith("(and 1 more fault)")
    assert str(errors.HierarchyError(["two roots", "a", "b"])).endswith("(and 2 more faults)")


def test_the_library_never_speaks_of_options():
    """Texts outside the doors name parameters in braces; each door spells them in its own way."""
    package = Path(setveil.__file__).parent
    doors = {package / "cli", package / "report", package / "web"}
    written_commands = package / "pipeline" / "commands.py"
    option = re.compile(r"(?<![\w-])(--[a-z][a-z-]+|-[a-z] [0-9N])")
    found = []
    for path in package.rglob("*.py"):
        if doors.isdisjoint(path.parents) and path != written_commands:
            tree = ast.parse(path.read_text(encoding="utf-8"))
            docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
            for node in ast.walk(tree):
                text = node.value if isinstance(node, ast.Constant) else ""
                if isinstance(text, str) and id(node) not in docs and option.search(text):
                    found.append(f"{path.relative_to(package)}:{node.lineno}: {text}")
    assert found == []
