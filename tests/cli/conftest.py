"""How the tests call the command line, and small files to call it with."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from setveil.cli import answer

BASKETS = """customer,product
ann,beer
ann,wine
bob,beer
bob,wine
cem,milk
cem,tea
dee,milk
dee,tea
eve,beer
eve,tea
fay,wine
fay,tea
"""
TREE = """beer;Alcohol;ALL
wine;Alcohol;ALL
milk;Soft;ALL
tea;Soft;ALL
"""


@dataclass(frozen=True)
class Result:
    """What a command has answered."""

    code: int
    out: str
    err: str

    @property
    def shown(self) -> str:
        return self.out + self.err

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Call = Callable[..., Result]


@pytest.fixture
def call(capfd: pytest.CaptureFixture[str]) -> Call:
    """Runs a command in this process; its arguments may be of any type."""

    def run(*arguments: object) -> Result:
        capfd.readouterr()
        code = answer([str(argument) for argument in arguments])
        return Result(code, *capfd.readouterr())

    return run


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder in which the command runs, with six baskets and the tree over their items."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "baskets.csv").write_text(BASKETS, encoding="utf-8")
    (tmp_path / "tree.csv").write_text(TREE, encoding="utf-8")
    return tmp_path


@pytest.fixture
def nothing_new(folder: Path) -> Callable[[], None]:
    """Asserts that the folder holds what it held when the test began, hidden files included."""
    before = {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}

    def check() -> None:
        assert {
            path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
        } == before
        assert not [path for path in folder.rglob("*") if path.is_dir()]

    return check
