"""What every method publishes and every command prints is what it was; see `golden.py`."""

from __future__ import annotations

import json

import pytest

from setveil.methods import METHODS
from tests.conformance.golden import (
    ATTACKED,
    PUBLISHED,
    RULED,
    SEEDED,
    TABLE,
    cases,
    hashes_of,
    needs_spark,
)

WANTED = json.loads(TABLE.read_text(encoding="utf-8"))


@pytest.mark.apart
@pytest.mark.parametrize("name", cases())
def test_all_that_is_published_and_printed_is_unchanged(name, tmp_path, request):
    if needs_spark(name):
        request.getfixturevalue("spark")
    found, wanted = hashes_of(name, tmp_path), WANTED.get(name, {})
    parts = {**wanted, **found}
    if needs_spark(name):  # what it prints differs between sessions of Spark; its files do not
        parts = {part: parts[part] for part in parts if not part.endswith("anonymize")}
    other = [part for part in parts if wanted.get(part) != found.get(part)]
    assert not other, (
        f"{name!r} has changed in: {', '.join(other)}. `python -m tests.conformance.golden --keep "
        f"FOLDER {name!r}` before and after the change shows how; `make golden` renews the table."
    )


def test_the_table_has_every_case_and_no_other():
    assert list(WANTED) == list(cases())
    assert {*ATTACKED, *RULED, *SEEDED} <= PUBLISHED.keys()


@pytest.mark.parametrize(
    "method", [name for name, kind in METHODS.items() if kind.__module__.startswith("setveil.")]
)
def test_every_method_is_in_the_table_on_each_engine_that_can_hold_its_data(method):
    engines = {"local", "blocks"} if METHODS[method].runs_anywhere else {"local"}
    named = [name for name in PUBLISHED if name.split()[0] == method]
    found = {"blocks" if "--engine blocks" in PUBLISHED[name] else "local" for name in named}
    assert found == engines
