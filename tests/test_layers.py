"""Who may import whom: the table of the design, held by reading every import of `src`, also those inside functions."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[1] / "src" / "setveil"

MAY_IMPORT = {
    "errors": set(),
    "words": set(),
    "parameters": {"errors"},
    "disk": {"errors"},
    "data": {"errors", "words"},
    "promises": {"errors", "words", "parameters"},
    "hierarchy": {"errors", "words", "disk", "data"},
    "published": {"errors", "words", "data", "hierarchy", "promises"},
    "kernels": set(),
    "engines": {"errors", "data"},
    "methods": {
        "errors",
        "words",
        "parameters",
        "data",
        "hierarchy",
        "promises",
        "published",
        "kernels",
        "engines",
    },
    "alignment": {"errors", "words", "data", "hierarchy", "published"},
    "audit": {"errors", "words", "data", "hierarchy", "promises", "published", "alignment"},
    "metrics": {"errors", "words", "data", "hierarchy", "published", "alignment", "kernels"},
    "io": {"errors", "words", "disk", "data", "hierarchy", "promises", "published"},
    "pipeline": {
        "errors",
        "words",
        "parameters",
        "disk",
        "data",
        "hierarchy",
        "promises",
        "published",
        "methods",
        "engines",
        "alignment",
        "audit",
        "metrics",
        "io",
    },
    "report": {"errors", "words", "data", "hierarchy", "published", "audit", "metrics", "pipeline"},
    "cli": {
        "errors",
        "words",
        "parameters",
        "disk",
        "data",
        "hierarchy",
        "promises",
        "methods",
        "io",
        "pipeline",
        "report",
        "setveil",
    },
    "__main__": {"cli"},
}
"""Folder or module -> the folders and modules of ours that it may import; `setveil` is the front door itself."""

OPTIONAL = {"pandas", "polars", "pyarrow", "scipy", "pyspark", "zstandard"}
KERNEL_LIBRARIES = {"numpy", "numba"}


def rooms() -> dict[str, list[Path]]:
    """The files of every folder, and every module that lies beside the folders."""
    found: dict[str, list[Path]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE).parts
        found.setdefault(parts[0].removesuffix(".py"), []).append(path)
    del found["__init__"]
    return found


def imports(path: Path, *, at_start: bool = False) -> Iterator[str]:
    """The dotted name of every module that a file imports; `at_start`: only of those imported when the file itself is."""
    nodes: list[ast.AST] = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    late = {id(inner) for node in nodes if at_start and _is_late(node) for inner in ast.walk(node)}
    for node in nodes:
        if id(node) in late:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} has a relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _is_late(node: ast.AST) -> bool:
    typing_only = (
        isinstance(node, ast.If)
        and isinstance(node.test, ast.Name)
        and node.test.id == "TYPE_CHECKING"
    )
    return typing_only or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)


def our_rooms(path: Path) -> set[str]:
    """The folders and modules of ours that a file imports."""
    ours = [
        name.split(".")
        for name in imports(path)
        if name.split(".")[0] == "setveil" and name != "setveil.__version__"
    ]
    known = set(rooms())
    return {parts[1] if len(parts) > 1 and parts[1] in known else "setveil" for parts in ours}


@pytest.mark.parametrize("room", sorted(rooms()))
def test_a_room_imports_only_what_the_table_allows(room):
    assert room in MAY_IMPORT, f"{room} is new: give it a line in the table"
    for path in rooms()[room]:
        foreign = our_rooms(path) - MAY_IMPORT[room] - {room}
        assert not foreign, f"{path.relative_to(SOURCE)} imports {sorted(foreign)}"


def test_the_table_names_no_room_that_is_not_there():
    assert set(MAY_IMPORT) <= set(rooms())


def test_kernels_know_only_numpy_and_numba():
    for path in rooms()["kernels"]:
        libraries = {name.split(".")[0] for name in imports(path)} - {
            "__future__",
            "collections",
            "inspect",
            "sys",
            "typing",
            "setveil",
        }
        assert libraries <= KERNEL_LIBRARIES, f"{path.name} imports {sorted(libraries)}"


def test_optional_libraries_are_never_imported_with_a_module():
    for path in SOURCE.rglob("*.py"):
        early = {name.split(".")[0] for name in imports(path, at_start=True)} & OPTIONAL
        assert not early, f"{path.relative_to(SOURCE)} imports {sorted(early)} when it is imported"


def test_numba_is_imported_by_kernels_alone():
    for room, paths in rooms().items():
        for path in paths:
            assert room == "kernels" or "numba" not in {
                name.split(".")[0] for name in imports(path)
            }, f"{path} imports numba"


def test_the_reader_of_imports_sees_those_inside_functions(tmp_path):
    file = tmp_path / "sample.py"
    file.write_text(
        "import a\ndef f():\n    from b.c import d\nif TYPE_CHECKING:\n    import e\n",
        encoding="utf-8",
    )
    assert set(imports(file)) == {"a", "b.c.d", "e"}
    assert set(imports(file, at_start=True)) == {"a"}
