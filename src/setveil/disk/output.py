"""New files and folders, which appear under their names whole or not at all."""

from __future__ import annotations

import errno
import json
import os
import stat
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from setveil.disk.workplace import OLD, naming, working_folder
from setveil.errors import OutputError, brief_list

Parts = Callable[[Path], Collection[str] | None]
"""The names of the files that make up a folder of some kind; None if it is not of that kind."""

_OVERWRITE = "choose another name or allow overwriting with {force=True}"
_LITTER = {".DS_Store", "Thumbs.db", "desktop.ini"}
"""Files that systems put into folders by themselves."""


@contextmanager
def new_file(path: Path, *, force: bool = False, mode: int | None = None) -> Iterator[Path]:
    """A temporary file that replaces `path` if the block succeeds, and is removed otherwise.

    Until then only the user can read it. A symbolic link is kept: the file it points to is
    replaced. The file gets `mode`, or else the permissions of the file that it replaces.
    """
    check_place(path, force=force)
    place = Path(os.path.realpath(path))
    with ExitStack() as stack:
        with writable(path):
            work = stack.enter_context(working_folder(place.parent, target=place.name))
            temporary = work / "new"
            old = place.stat().st_mode & 0o666 | 0o600 if place.exists() else 0o666
            wanted = old if mode is None else mode
            handle = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, wanted)
            final = stat.S_IMODE(os.fstat(handle).st_mode)
            os.close(handle)
        with naming(path):
            yield temporary
        check_place(path, force=force)
        with writable(path):
            temporary.chmod(final)  # a database may have put another file in its place
            sync(temporary)
            _put(temporary, place, force)
            sync_entry(place)


def check_place(path: Path, *, force: bool) -> None:
    """Refuse a place where no file can be written, or where one exists and may not be replaced."""
    if path.is_dir():
        raise OutputError(path, "it is a folder", remedy="give the name of a file")
    if path.exists() and not path.is_file():
        raise OutputError(path, "it is a device or a pipe", remedy="give the name of a file")
    if path.exists() and not force:
        raise OutputError(path, "it exists already", remedy=_OVERWRITE)
    if not path.parent.is_dir():
        raise OutputError(path, f"the folder {path.parent} does not exist")


@contextmanager
def new_folder(
    folder: Path, *, force: bool = False, parts: Parts, kind: str = "release"
) -> Iterator[Path]:
    """A temporary folder that replaces `folder` if the block succeeds, and is removed otherwise.

    Until then nobody else can open it. With `force` an old folder is replaced, but only if it is
    empty or a `kind`, and contains nothing but the `parts` of one.
    """
    _check_folder(folder, force, parts, kind)
    with ExitStack() as stack:
        with writable(folder):
            work = stack.enter_context(working_folder(folder.parent, target=folder.name))
            stage = work / "new"
            stage.mkdir()
        with naming(folder):
            yield stage
        _check_folder(folder, force, parts, kind)
        with writable(folder):
            sync(stage)
            if folder.exists():
                stage.chmod(stat.S_IMODE(folder.stat().st_mode))
                exchange(stage, folder, work / OLD)
            else:
                stage.rename(folder)
            sync_entry(folder)


def listed_files(about: str) -> Parts:
    """The parts of a folder whose JSON file `about` lists its files under `files`."""

    def parts(folder: Path) -> Collection[str] | None:
        if not (folder / about).is_file():
            return None
        try:
            known = json.loads((folder / about).read_bytes())
        except (OSError, ValueError, RecursionError):
            known = None
        return {about, *(known.get("files", ()) if isinstance(known, dict) else ())}

    return parts


def _put(temporary: Path, place: Path, force: bool) -> None:
    try:
        temporary.replace(place) if force else move(temporary, place)
    except FileExistsError:
        raise OutputError(place, "it exists already", remedy=_OVERWRITE) from None


def names_in(folder: Path) -> set[str]:
    """What is in a folder, nothing if it does not exist yet; refuses a place where none can be."""
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise OutputError(folder, "it exists and is not a folder")
    if not folder.parent.is_dir():
        raise OutputError(folder, f"the folder {folder.parent} does not exist")
    return {path.name for path in folder.iterdir()} if folder.exists() else set()


def _check_folder(folder: Path, force: bool, parts: Parts, kind: str) -> None:
    inside = names_in(folder)
    if not inside:
        return
    ours = parts(folder)
    if ours is None:
        problem = f"the folder is not empty and not a {kind}"
        raise OutputError(folder, problem, remedy="choose another name")
    foreign = sorted(inside - {*ours} - _LITTER)
    if foreign:
        problem = f"the {kind} there also contains {brief_list(foreign)}, which is not part of it"
        raise OutputError(folder, problem, remedy="move that away or choose another name")
    if not force:
        raise OutputError(folder, f"a {kind} exists there already", remedy=_OVERWRITE)


@contextmanager
def writable(
    place: Path | str, *, remedy: str = "", kinds: tuple[type[Exception], ...] = (OSError,)
) -> Iterator[None]:
    """Say which place it was if the system, or another library, refuses to write there."""
    try:
        yield
    except OutputError:
        raise
    except kinds as error:
        problem = getattr(error, "strerror", None) or str(error)
        raise OutputError(place, problem, remedy=remedy) from None


_HERE = -100  # AT_FDCWD
_NO_REPLACE, _EXCHANGE = 1, 2
_UNSUPPORTED = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM)


def sync(place: Path) -> None:
    """Wait until a file, or a folder with all that it contains, is on the disk."""
    if place.is_dir():
        for inner in place.iterdir():
            sync(inner)
    _sync(place)


def sync_entry(place: Path) -> None:
    """Wait until the name of a file or folder is on the disk."""
    _sync(place.parent)


def move(source: Path, target: Path) -> None:
    """Rename a file.

    Raises:
        FileExistsError: if another process has just written a file of this name (on Linux).
    """
    if not _rename(source, target, _NO_REPLACE):
        source.rename(target)


def exchange(new: Path, target: Path, old: Path) -> None:
    """Give `new` the name `target`, and what had that name another one (that of `new` or `old`).

    Where the system cannot exchange names, `target` is renamed to `old` first, and back if that
    fails; `remove_leftovers` does it for a process that was killed between the two steps.
    """
    if _rename(new, target, _EXCHANGE):
        return
    try:
        target.rename(old)
        new.rename(target)
    except BaseException:  # an interruption between the two steps counts too
        if old.exists() and not target.exists():
            old.rename(target)
        raise


def _rename(source: Path, target: Path, flag: int) -> bool:
    """Linux's rename with a flag; False if this system or disk does not have it."""
    if not sys.platform.startswith("linux"):
        return False
    import ctypes

    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:
        return False
    names = os.fsencode(source), os.fsencode(target)
    if rename(_HERE, names[0], _HERE, names[1], ctypes.c_uint(flag)) == 0:
        return True
    code = ctypes.get_errno()
    if code in _UNSUPPORTED:
        return False
    raise OSError(code, os.strerror(code), str(target))


def _sync(place: Path) -> None:
    if os.name == "nt" and place.is_dir():
        return
    handle = os.open(place, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in _UNSUPPORTED:  # some network disks cannot
            raise
    finally:
        os.close(handle)
