"""The two lists of pinned dependencies: all of them, and those that the demo needs."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from tools import base_lock

ROOT = Path(__file__).resolve().parents[1]
HEAVY = {"opendp", "pandas", "playwright", "polars", "pyarrow", "pyspark", "scipy"}


@pytest.fixture(scope="module")
def full() -> str:
    return (ROOT / "requirements.lock").read_text("utf-8")


@pytest.fixture(scope="module")
def base() -> str:
    return (ROOT / "requirements-base.lock").read_text("utf-8")


def names(lock: str) -> set[str]:
    return set(re.findall(r"^([a-z0-9-]+)==", lock, re.MULTILINE))


def test_every_line_of_the_base_lock_is_in_the_full_lock(full, base):
    assert set(base.splitlines()) <= set(full.splitlines())
    assert names(base) < names(full)


def test_the_base_lock_is_the_one_that_make_lock_would_write(base):
    assert base == base_lock.base_lock()


def test_the_base_lock_has_all_that_pyproject_asks_for_and_nothing_of_an_extra_alone(base):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    asked = {re.split("[<>=]", wanted)[0] for wanted in project["dependencies"]}
    assert asked | {"hatchling", "editables"} <= names(base)
    assert not (HEAVY - asked) & names(base)


def test_each_dependency_comes_with_what_it_needs(base):
    assert {"llvmlite", "markupsafe", "anyio", "idna", "h11", "mdurl"} <= names(base)


def test_a_lock_that_lacks_a_dependency_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(base_lock, "FULL", tmp_path / "requirements.lock")
    base_lock.FULL.write_text("click==8.5.1 \\\n    --hash=sha256:0\n    # via setveil\n")
    with pytest.raises(SystemExit, match=r"lacks duckdb, .*: run `make lock`"):
        base_lock.base_lock()
