"""Files and folders appear whole or not at all, and a full disk is named."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import sys
import warnings
from collections import namedtuple
from pathlib import Path

import pytest

from setveil.data.transactions import Transactions
from setveil.disk import naming, new_file, new_folder, output, private_folder, workplace
from setveil.disk.workplace import remove_leftovers, working_folder
from setveil.errors import LeftoverWarning, OutputError
from setveil.io import read, read_release, write, writing
from setveil.methods import Disassociation, Suppression
from setveil.promises import Coherence, KmAnonymity

MARK = "mark.txt"
FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of ours that may be replaced."""
    place = tmp_path / "here"
    place.mkdir()
    (place / MARK).write_text("old", encoding="utf-8")
    return place


def parts(folder: Path) -> set[str] | None:
    return {MARK} if (folder / MARK).is_file() else None


def replace(folder: Path) -> None:
    with new_folder(folder, force=True, parts=parts) as stage:
        (stage / MARK).write_text("new", encoding="utf-8")


def held(folder: Path) -> tuple[str, list[str]]:
    """What the mark in a folder says, and what is next to the folder."""
    return (folder / MARK).read_text(encoding="utf-8"), os.listdir(folder.parent)


def test_a_folder_is_replaced_and_nothing_else_is_left(folder):
    replace(folder)
    assert held(folder) == ("new", ["here"])


@pytest.fixture
def no_exchange(monkeypatch: pytest.MonkeyPatch) -> None:
    """The system cannot exchange two names in one step."""
    monkeypatch.setattr(output, "_rename", lambda *arguments: False)


def test_without_an_exchange_of_names_a_folder_is_replaced_in_two_steps(folder, no_exchange):
    replace(folder)
    assert held(folder) == ("new", ["here"])


@pytest.mark.parametrize("step", [1, 2])
@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(5, "Input/output error")])
@pytest.mark.parametrize("done", [False, True])
def test_the_old_folder_stays_when_either_step_of_replacing_it_fails(
    folder, monkeypatch, no_exchange, step, error, done
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
        new_folder(folder, parts=parts),
    ):
        (folder / MARK).write_text("of another run", encoding="utf-8")
    assert held(folder) == ("of another run", ["here"])


def test_nobody_else_can_look_into_a_folder_that_is_not_yet_in_its_place(folder):
    with new_folder(folder, force=True, parts=parts) as stage:
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


@pytest.mark.skipif(os.name == "nt", reason="permissions in the manner of POSIX")
@pytest.mark.parametrize("suffix", [".csv", ".csv.zst", ".csv.gz", ".parquet", ".dat", ".jsonl"])
def test_a_private_file_stays_private_in_every_format(tmp_path, usual_permissions, suffix):
    place = tmp_path / f"data{suffix}"
    place.touch(0o600)
    write(Transactions.of([["1"]]), place, force=True)
    assert stat.S_IMODE(place.stat().st_mode) == 0o600


@pytest.mark.skipif(os.name == "nt", reason="permissions in the manner of POSIX")
def test_nobody_else_can_read_a_file_that_is_not_yet_in_its_place(tmp_path, usual_permissions):
    with new_file(tmp_path / "data.csv") as temporary:
        assert stat.S_IMODE(temporary.parent.stat().st_mode) == 0o700
        assert os.listdir(tmp_path) == [temporary.parent.name]


@pytest.mark.skipif(os.name == "nt", reason="permissions in the manner of POSIX")
def test_a_private_folder_stays_private(folder):
    folder.chmod(0o700)
    replace(folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a rename that Linux has")
def test_a_file_that_another_run_writes_in_the_last_moment_is_left_alone(tmp_path, monkeypatch):
    place = tmp_path / "data.csv"
    monkeypatch.setattr(output, "sync", lambda temporary: place.write_text("of another run"))
    with pytest.raises(OutputError, match="it exists already"), new_file(place) as temporary:
        temporary.write_text("of this run")
    assert place.read_text() == "of another run"
    assert os.listdir(tmp_path) == ["data.csv"]


def leftover(parent: Path, name: str = ".setveil-0123456789ab") -> Path:
    """What a killed process has left: a folder with a lock that nobody holds."""
    work = parent / name
    work.mkdir(mode=0o700)
    (work / workplace.LOCK).write_text("here")
    (work / "new").write_text("private")
    return work


needs_locks = pytest.mark.skipif(os.name == "nt", reason="locks in the manner of POSIX")


@needs_locks
def test_the_next_run_removes_what_a_killed_one_has_left_and_says_so(tmp_path):
    work = leftover(tmp_path)
    other = tmp_path / ".setveil-thesis"
    other.mkdir()
    with pytest.warns(LeftoverWarning) as said:
        write(Transactions.of([["1"]]), tmp_path / "a.dat")
    told = f"removed {work}, which an interrupted run had left behind"
    assert [str(each.message) for each in said] == [told]
    assert sorted(os.listdir(tmp_path)) == [".setveil-thesis", "a.dat"]


@needs_locks
def test_temporary_folders_of_killed_processes_are_removed_too(tmp_path, monkeypatch):
    leftover(tmp_path, "setveil-0123456789ab")
    (tmp_path / "setveil-0123456789cd").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    place = tmp_path / "out"
    place.mkdir()
    with pytest.warns(LeftoverWarning), new_file(place / "a.dat"):
        assert os.listdir(tmp_path) == ["out"]


@needs_locks
def test_reading_removes_nothing(tmp_path, monkeypatch):
    data = Transactions.of([["a", "b"]] * 3)
    made = (
        Suppression().anonymize(data, Coherence(1, 2, 1)),
        Disassociation().anonymize(data, KmAnonymity(2, 1)),
    )
    for release in made:
        for format in ("parquet", None):
            write(release, tmp_path / f"{release.form}-{format}", format=format)
    write(data, tmp_path / "data.csv")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    left = [leftover(tmp_path), leftover(tmp_path, "setveil-0123456789ab")]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for place in tmp_path.glob("*-*"):
            if (place / "release.json").exists():
                read_release(place)
        assert read(tmp_path / "data.csv") == data
    assert all((work / "new").read_text() == "private" for work in left)


@needs_locks
def test_the_work_of_a_living_process_is_left_alone(tmp_path):
    with working_folder(tmp_path) as one, working_folder(tmp_path) as two:
        remove_leftovers(tmp_path)
        assert one.is_dir()
        assert two.is_dir()
    assert os.listdir(tmp_path) == []


@needs_locks
def test_a_working_folder_that_was_taken_for_a_leftover_is_made_again(tmp_path, monkeypatch):
    """Another run may come between making a folder, making its lock and locking it."""
    locked = workplace.fcntl.flock
    calls = []

    def interfere(lock, how):
        calls.append(how)
        if len(calls) == 1:
            shutil.rmtree(next(tmp_path.iterdir()))
        return locked(lock, how)

    monkeypatch.setattr(workplace.fcntl, "flock", interfere)
    with working_folder(tmp_path) as folder:
        assert (folder / workplace.LOCK).is_file()
    assert len(calls) == 2


@needs_locks
@pytest.mark.parametrize("taken", [False, True])
def test_a_release_that_was_moved_aside_gets_its_name_back(tmp_path, taken):
    work = leftover(tmp_path)
    (work / workplace.OLD).mkdir()
    (work / workplace.OLD / MARK).write_text("old")
    if taken:
        (tmp_path / "here").mkdir()
        (tmp_path / "here" / MARK).write_text("newer")
    with pytest.warns(LeftoverWarning) as said:
        remove_leftovers(tmp_path)
    assert held(tmp_path / "here") == ("newer" if taken else "old", ["here"])
    assert len(said) == (1 if taken else 2)


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
