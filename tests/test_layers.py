"""Who may import whom: the table of the design, held by reading every import of `src`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from setveil import METHODS, PROMISES
from setveil.io.releases.folder import FORMS

SOURCE = Path(__file__).resolve().parents[1] / "src" / "setveil"

ROOT = {"children", "errors", "words", "parameters", "disk", "showing", "threads"}
"""Small modules that every folder but the kernels may use."""
THEORY = ROOT | {"data", "hierarchy", "promises", "published"}
MAY_IMPORT = {
    "errors": set(),
    "words": set(),
    "children": {"errors"},
    "parameters": {"errors"},
    "disk": {"errors"},
    "threads": set(),
    "showing": {"setveil"},  # what is shown is asked of the front door, which knows `report`
    "data": ROOT,
    "promises": ROOT,
    "hierarchy": ROOT | {"data"},
    "published": ROOT | {"data", "hierarchy", "promises"},
    "alignment": ROOT | {"data", "hierarchy", "published"},
    "kernels": set(),
    "engines": ROOT | {"data"},
    "methods": THEORY | {"kernels", "engines"},
    "audit": THEORY | {"alignment"},
    "metrics": ROOT | {"data", "hierarchy", "published", "alignment", "kernels"},
    "io": THEORY,
    "pipeline": THEORY | {"alignment", "kernels", "engines", "methods", "audit", "metrics", "io"},
    "report": THEORY | {"alignment", "audit", "metrics", "pipeline"},
    "cli": THEORY | {"engines", "methods", "metrics", "io", "pipeline", "report", "web", "setveil"},
    "web": THEORY | {"methods", "metrics", "io", "pipeline", "report"},
    "__main__": {"cli"},
}
"""Folder or module -> what it may import of ours; `setveil` is the front door itself."""

OPTIONAL = {
    *("altair", "opendp", "pandas", "polars", "pyarrow", "pyspark", "scipy", "vl_convert"),
}
KERNEL_LIBRARIES = {"numpy", "numba"}
STANDARD = {
    *("__future__", "collections", "contextlib", "contextvars", "fcntl", "functools", "gc"),
    *("hashlib", "inspect", "os", "pickle", "sys", "time", "types", "typing", "setveil"),
}
"""What kernels import besides."""


@cache
def rooms() -> dict[str, list[Path]]:
    """The files of every folder, and every module next to the folders."""
    found: dict[str, list[Path]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE).parts
        found.setdefault(parts[0].removesuffix(".py"), []).append(path)
    del found["__init__"]
    return found


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    """Every node of the syntax tree of a file; each file is parsed once for all tests."""
    return tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def imports(path: Path, *, at_start: bool = False) -> Iterator[str]:
    """The dotted name of every module a file imports; `at_start`: only when the file itself is."""
    nodes = nodes_of(path)
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
    test = node.test if isinstance(node, ast.If) else None
    typing_only = isinstance(test, ast.Name) and test.id == "TYPE_CHECKING"
    return typing_only or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)


def our_rooms(path: Path) -> set[str]:
    """The folders and modules of ours that a file imports."""
    ours = [name.split(".") for name in imports(path) if name.split(".")[0] == "setveil"]
    ours = [parts for parts in ours if parts != ["setveil", "__version__"]]
    known = set(rooms())
    return {parts[1] if len(parts) > 1 and parts[1] in known else "setveil" for parts in ours}


@pytest.mark.parametrize("room", sorted(rooms()))
def test_a_room_imports_only_what_the_table_allows(room):
    assert room in MAY_IMPORT, f"{room} is new: give it a line in the table"
    for path in rooms()[room]:
        foreign = our_rooms(path) - MAY_IMPORT[room] - {room}
        assert not foreign, f"{path.relative_to(SOURCE)} imports {sorted(foreign)}"


def test_the_table_names_no_room_that_does_not_exist():
    assert set(MAY_IMPORT) <= set(rooms())


def test_kernels_know_only_numpy_and_numba():
    for path in rooms()["kernels"]:
        libraries = {name.split(".")[0] for name in imports(path)} - STANDARD
        assert libraries <= KERNEL_LIBRARIES, f"{path.name} imports {sorted(libraries)}"


SHARED = {
    "data.account": {"Account"},
    "data.arrays": None,  # arithmetic on arrays; knows no records
    "data.columns": {"Column", "Table"},
    "data.people": {"PEOPLE", "RECORDS", "People"},
    "data.tables.exchange": {"as_transactions"},
    "data.tables.kinds": {"counted_as"},
    "data.transactions": {"Bags", "Transactions"},
    "data.vocabulary": {"Vocabulary"},
    "hierarchy.build": {"rebuild"},
    "hierarchy.neighbours": {"Neighbours"},
    "hierarchy.tree": {"Hierarchy", "Origin"},
    "hierarchy.unknown": {"lacking", "rooted"},
    "promises.coherence": {"Coherence"},
    "promises.kanonymity": None,
    "promises.promise": {"Promise"},
    "published.disassociated.placing": {"draw_places"},
    "published.disassociated.forest": {"Forest", "preorder_of"},
    "published.disassociated.form": {"Disassociated"},
    "published.disassociated.supports": {"NOWHERE", "TERM", "Group", "Query", "SupportIndex"},
    "published.generalized": {"Generalized"},
    "published.grouped.cells": {"Cell", "Node", "PublishedColumn", "Span"},
    "published.grouped.form": {"Grouped"},
    "published.ledger": {"Expense", "exact"},
    "published.release": {"RecordRelease", "Release", "Support"},
    "published.suppressed": {"Suppressed"},
    "published.synthetic": {"NoisySupport", "Synthetic"},
    "published.typical_bags": {"Matches", "TypicalBags"},
}
"""What the audit takes from modules that a maker can reach too: types, their parts, and arithmetic
on arrays and trees; None if the whole module is such."""
OF_THE_AUDIT_ALONE = {"draw_places", "preorder_of", "SupportIndex", "Group", "Query"}
"""Functions over records among them; no method has them."""
COUNTING = {
    *("merged", "of_rows", "supports", "support_of", "supports_of", "term_totals", "estimates"),
    *("counting", "without_rare"),
}
"""Members of the shared types that merge, count or estimate over records: the audit has its own."""


def module_of(name: str) -> Path | None:
    """The file of a dotted name of ours, or of what it is a part of."""
    parts = name.split(".")[1:]
    for length in (len(parts), len(parts) - 1):
        place = SOURCE.joinpath(*parts[:length])
        for path in (place.with_suffix(".py"), place / "__init__.py"):
            if length and path.is_file():
                return path
    return None


def reachable(room: str) -> set[Path]:
    """Every file of ours that a room imports, directly or not, also inside functions; packages on
    the way run too."""
    found, left = set[Path](), list(rooms()[room])
    while left:
        path = left.pop()
        if path in found:
            continue
        found.add(path)
        ours = [name for name in imports(path) if name.startswith("setveil.")]
        for name in ours:
            parts = name.split(".")
            steps = [".".join(parts[:length]) for length in range(2, len(parts) + 1)]
            left += [each for each in map(module_of, steps) if each is not None]
    return found


def test_the_audit_reaches_no_maker_however_far_one_follows_its_imports():
    makers = {"methods", "kernels", "engines", "io", "metrics", "pipeline", "report", "cli", "web"}
    far = {path.relative_to(SOURCE) for path in reachable("audit")}
    assert {path.parts[0] for path in far} & makers == set()
    assert {path.parts[0] for path in far} >= {"audit", "alignment", "published", "data"}


def test_the_audit_shares_only_types_and_arithmetic_with_the_makers():
    shared = reachable("audit") & reachable("methods")
    for path in [*rooms()["audit"], *rooms()["alignment"]]:
        for name in imports(path):
            module = module_of(name)
            if not name.startswith("setveil.") or module not in shared:
                continue
            known, _, part = name.removeprefix("setveil.").rpartition(".")
            if known.split(".")[0] in ROOT:
                continue
            assert known in SHARED, f"{path.relative_to(SOURCE)} imports {name}"
            allowed = SHARED[known]
            assert allowed is None or part in allowed, f"{path.relative_to(SOURCE)}: {name}"


def test_what_only_the_audit_may_count_with_is_in_no_method():
    for path in [*rooms()["methods"], *rooms()["engines"]]:
        taken = {name.rsplit(".", 1)[-1] for name in imports(path)}
        assert not taken & OF_THE_AUDIT_ALONE, f"{path.relative_to(SOURCE)}"


def test_the_audit_merges_and_counts_records_by_itself():
    for path in [*rooms()["audit"], *rooms()["alignment"]]:
        calls = [node.func for node in nodes_of(path) if isinstance(node, ast.Call)]
        called = {each.attr: each.lineno for each in calls if isinstance(each, ast.Attribute)}
        wrong = called.keys() & COUNTING
        assert not wrong, f"{path.relative_to(SOURCE)}:{[called[name] for name in wrong]} {wrong}"


def test_optional_libraries_are_never_imported_with_a_module():
    for path in SOURCE.rglob("*.py"):
        early = {name.split(".")[0] for name in imports(path, at_start=True)} & OPTIONAL
        assert not early, f"{path.relative_to(SOURCE)} imports {sorted(early)} at the start"


def test_numba_is_imported_by_kernels_alone():
    for room, paths in rooms().items():
        for path in paths:
            libraries = {name.split(".")[0] for name in imports(path)}
            assert room == "kernels" or "numba" not in libraries, f"{path} imports numba"


def test_the_reader_of_imports_sees_those_inside_functions(tmp_path):
    file = tmp_path / "sample.py"
    text = "import a\ndef f():\n    from b.c import d\nif TYPE_CHECKING:\n    import e\n"
    file.write_text(text, encoding="utf-8")
    assert set(imports(file)) == {"a", "b.c.d", "e"}
    assert set(imports(file, at_start=True)) == {"a"}


FORM_CLASSES = {
    *("Generalized", "Suppressed", "TypicalBags", "Disassociated", "Synthetic", "Grouped"),
}
PROMISE_CLASSES = {kind.__name__ for kind in PROMISES.values()}


def class_tests(path: Path) -> Iterator[tuple[int, str]]:
    """The line and the class of every `isinstance` and `case` that asks for a form or a promise."""
    for node in nodes_of(path):
        asked: ast.AST | None = None
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            asked = node.args[1] if node.func.id == "isinstance" else None
        elif isinstance(node, ast.MatchClass):
            asked = node.cls
        for name in [] if asked is None else ast.walk(asked):
            found = getattr(name, "attr", None) or getattr(name, "id", None)
            if found in FORM_CLASSES | PROMISE_CLASSES:
                yield name.lineno, found


def test_nothing_outside_its_folder_asks_which_form_or_promise_it_has():
    found = [
        f"{path.relative_to(SOURCE)}:{line} {name}"
        for room, paths in rooms().items()
        for path in paths
        for line, name in class_tests(path)
        if room not in ("published", "promises")
    ]
    assert found == []


def test_there_is_a_form_class_for_every_form():
    assert len(FORM_CLASSES) == len(FORMS)


def test_no_check_metric_or_file_reads_the_provenance_of_a_release():
    """`release.method` is for display; a method's parameter is read from the release's own
    fields."""
    for room in ("audit", "metrics", "io", "alignment", "published"):
        for path in rooms()[room]:
            for node in nodes_of(path):
                value = getattr(node, "value", None)
                read = isinstance(node, ast.Subscript | ast.Attribute) and (
                    isinstance(value, ast.Attribute) and value.attr == "method"
                )
                assert not read, f"{path.relative_to(SOURCE)}:{node.lineno} reads a method's string"


@pytest.mark.parametrize("room", ["cli", "web", "report", "pipeline"])
def test_no_door_imports_a_method_by_name(room):
    classes = {kind.__name__ for kind in METHODS.values()}
    for path in rooms()[room]:
        named = {name.rsplit(".", 1)[-1] for name in imports(path)} & classes
        assert not named, f"{path.relative_to(SOURCE)} imports {sorted(named)}"
