"""Distinct records on disk, and what `verify` and `inspect` make of them on the engine blocks."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import setveil as sv
from setveil.engines import blocks
from setveil.engines.blocks import Shelf
from setveil.engines.local import Local
from setveil.errors import EngineError, ParameterError
from tests.engines.test_parts import block, words

RECORDS = st.lists(st.frozensets(st.integers(0, 6), max_size=3), max_size=60)


@given(records=RECORDS, most=st.integers(1, 50))
def test_distinct_records_on_a_shelf_are_counted(records, most):
    before, blocks.ITEMS_AT_ONCE = blocks.ITEMS_AT_ONCE, most  # so there are several heaps
    try:
        with tempfile.TemporaryDirectory() as folder:
            shelf = Shelf(Path(folder), Local(1))
            shelf.append(0, block(records))
            found, sizes = blocks.distinct_on_shelf(shelf, 10**9, "1GB")
            assert list(Path(folder).iterdir()) == []
    finally:
        blocks.ITEMS_AT_ONCE = before
    counted = {found.record(at): int(size) for at, size in enumerate(sizes)}
    assert len(counted) == len(sizes)
    assert counted == Counter(tuple(sorted(record)) for record in records)


@pytest.fixture
def path(tmp_path):
    lines = "\n".join(" ".join(sorted(set(each))) or " " for each in words(2, 150)) + "\n"
    (tmp_path / "data.dat").write_text(lines)
    return str(tmp_path / "data.dat")


def test_inspect_on_blocks_finds_what_it_finds_in_memory(path):
    here, there = sv.inspect(path), sv.inspect(path, engine="blocks", memory="1GB")
    assert here.summary == there.summary
    assert here.exposures == there.exposures
    assert here.notes == there.notes


@pytest.mark.parametrize(
    "promise", [{"k": 2}, {"k": 2, "m": 3}, {"k": 3, "p": 2, "h": 0.8, "private": ["i1", "i2"]}]
)
def test_a_file_is_verified_on_blocks_as_in_memory(path, promise):
    here = sv.verify(path, limit=500, **promise)
    there = sv.verify(path, limit=500, engine="blocks", bags=False, **promise)
    assert [check.text for check in here.checks] == [check.text for check in there.checks]
    assert _shown(here) == _shown(there)
    assert all(witness.private for check in there.checks for witness in check.witnesses)


def _shown(verdict):
    return {witness.text for check in verdict.checks for witness in check.witnesses}


@pytest.mark.parametrize("method", ["mhghs", "suppression", "partition", "disassociation"])
def test_every_form_is_verified_on_blocks(path, method, tmp_path):
    how = {"k": 3, "m": 2} if method in ("mhghs", "disassociation") else {"k": 3}
    how |= {"p": 2, "h": 0.9, "private": ["i1"]} if method == "suppression" else {}
    how |= {"hierarchy": "balanced:3"} if method in ("mhghs", "partition") else {}
    sv.anonymize(path, method=method, output=tmp_path / "release", **how)
    verdict = sv.verify(tmp_path / "release", path, engine="blocks")
    assert verdict.holds
    assert {"records", "items", "supports"} <= {check.name for check in verdict.checks}
    (tmp_path / "other.dat").write_text("i1\n" * 150)
    assert not sv.verify(tmp_path / "release", str(tmp_path / "other.dat"), engine="blocks").holds


def test_what_does_not_fit_or_cannot_be_done_is_refused(path, tmp_path):
    with pytest.raises(EngineError, match=r"distinct records with .* more than the memory of 1KB"):
        sv.inspect(path, engine="blocks", memory="1KB")
    with pytest.raises(ParameterError, match="repeats in a record"):
        sv.verify(path, k=2, engine="blocks")
    with pytest.raises(ParameterError, match="compared record by record"):
        sv.verify(path, path, k=2, engine="blocks", bags=False)
    with pytest.raises(ParameterError, match="without a promise"):
        sv.verify(path, engine="blocks", bags=False)
    with pytest.raises(ParameterError, match="only the engine spark has it"):
        sv.inspect(path, engine="blocks", master="local[2]")
    with pytest.raises(ParameterError, match="choose one of"):
        sv.inspect(path, engine="cloud")
    with pytest.raises(ParameterError, match="runs on local"):
        sv.anonymize(path, k=2, method="ssc", hierarchy="balanced:2", engine="spark", output="x")
