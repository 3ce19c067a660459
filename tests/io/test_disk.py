"""Files and folders appear whole or not at all, and a full disk is named."""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections import namedtuple
from pathlib import Path

import pytest

from setveil.data.transactions import Transactions
from setveil.disk import naming, new_file, new_folder, private_folder
from setveil.errors import OutputError
from setveil.io import write, writing

MARK = "mark.txt"
FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of ours that may be replaced."""
    place = tmp_path / "here"
    place.mkdir()
    (place / MARK).write_text("old", encoding="utf-8")
    return place


def replace(folder: Path) -> None:
    with new_folder(folder, force=True, is_ours=MARK) as stage:
        (stage / MARK).write_text("new", encoding="utf-8")


def held(folder: Path) -> tuple[str, list[str]]:
    """What the mark in a folder says, and what is next to the folder."""
    return (folder / MARK).read_text(encoding="utf-8"), os.listdir(folder.parent)


def test_a_folder_is_replaced_and_nothing_else_is_left(folder):
    replace(folder)
    assert held(folder) == ("new", ["here"])


@pytest.mark.parametrize("step", [1, 2])
@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(5, "Input/output error")])
@pytest.mark.parametrize("done", [False, True])
def test_the_old_folder_stays_when_either_step_of_replacing_it_fails(
    folder, monkeypatch, step, error, done
):
    rename, calls = Path.rename, []

    def fail(self, target):
        calls.append(target)
        if len(calls) != step:
            return rename(self, target)
        if done and step == 1:
            rename(self, target)
        raise error

    monkeypatch.setattr(Path, "rename", fail)
    with pytest.raises((KeyboardInterrupt, OutputError)):
        replace(folder)
    assert held(folder) == ("old", ["here"])


def test_a_folder_that_another_run_has_put_there_meanwhile_is_left_alone(folder):
    (folder / MARK).unlink()
    with (
        pytest.raises(OutputError, match="a release exists there already"),
        new_folder(folder, is_ours=MARK),
    ):
        (folder / MARK).write_text("of another run", encoding="utf-8")
    assert held(folder) == ("of another run", ["here"])


def test_nobody_else_can_look_into_a_folder_that_is_not_yet_in_its_place(folder):
    with new_folder(folder, force=True, is_ours=MARK) as stage:
        (stage / MARK).write_text("new", encoding="utf-8")
        assert stat.S_IMODE(stage.parent.stat().st_mode) == 0o700


@pytest.fixture
def usual_permissions():
    """New files may be read by everybody."""
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.mark.skipif(os.name == "nt", reason="permissions in the manner of POSIX")
@pytest.mark.parametrize(
    ("before", "after"),
    [(None, 0o644), (0o600, 0o600), (0o640, 0o640), (0o666, 0o644), (0o400, 0o600)],
)
def test_a_file_that_is_replaced_can_be_read_by_nobody_new(
    tmp_path, usual_permissions, before, after
):
    place = tmp_path / "data.csv"
    if before is not None:
        place.touch()
        place.chmod(before)
    with new_file(place, force=True) as temporary:
        temporary.write_text("record,item\n", encoding="utf-8")
    assert stat.S_IMODE(place.stat().st_mode) == after
    assert os.listdir(tmp_path) == ["data.csv"]


def test_a_file_that_does_not_fit_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object) -> None:
        raise FULL

    monkeypatch.setattr(writing, "write_lines", fail)
    with pytest.raises(OutputError) as error:
        write(Transactions.of([["1"]]), tmp_path / "a.dat")
    assert str(error.value) == f"cannot write {tmp_path / 'a.dat'}: No space left on device"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "error", [OSError(errno.EIO, "Input/output error"), OutputError("there", "it exists")]
)
def test_other_errors_stay_what_they_are(error: OSError) -> None:
    with pytest.raises(OSError, match=error.strerror or "exists") as raised, naming(Path("here")):
        raise error
    assert raised.value is error


def test_a_full_temporary_folder_is_named_with_a_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = namedtuple("usage", "free")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(OSError, match="No space left") as error, private_folder():
        raise FULL
    assert error.value is FULL
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage(free=0))
    with pytest.raises(OutputError) as named, private_folder():
        raise FULL
    message = "No space left on device; set TMPDIR to another folder for temporary files"
    assert str(named.value) == f"cannot write {tmp_path}: {message}"
    assert list(tmp_path.iterdir()) == []
