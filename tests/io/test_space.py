"""A full disk is told by its place."""

from __future__ import annotations

import errno
import os
import shutil
from collections import namedtuple
from pathlib import Path

import pytest

from setveil.data.transactions import Transactions
from setveil.errors import OutputError
from setveil.io import write, writing
from setveil.io.space import naming, private_folder

FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_the_file_that_finds_no_room_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object) -> None:
        raise FULL

    monkeypatch.setattr(writing, "write_lines", fail)
    with pytest.raises(OutputError) as error:
        write(Transactions.of([["1"]]), tmp_path / "a.dat")
    assert str(error.value) == f"cannot write {tmp_path / 'a.dat'}: No space left on device"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "error", [OSError(errno.EIO, "Input/output error"), OutputError("there", "it is taken")]
)
def test_other_errors_stay_what_they_are(error: OSError) -> None:
    with pytest.raises(OSError, match=error.strerror or "taken") as raised, naming(Path("here")):
        raise error
    assert raised.value is error


def test_a_full_temporary_folder_is_told_with_a_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = namedtuple("usage", "free")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(OSError, match="No space left") as error, private_folder():
        raise FULL
    assert error.value is FULL
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage(free=0))
    with pytest.raises(OutputError) as told, private_folder():
        raise FULL
    message = "No space left on device; TMPDIR may name another place for what is temporary"
    assert str(told.value) == f"cannot write {tmp_path}: {message}"
    assert list(tmp_path.iterdir()) == []
