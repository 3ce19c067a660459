"""The command line: a thin door over the library, one file per verb."""

from __future__ import annotations

import atexit
import os
import sys

TYPE_CHECKING = False  # as in `typing`, which an interruption could hit before `main` is there
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, NoReturn, TextIO

INTERRUPTED = 130
PIPE_CLOSED = 141
DEFECT = 70
LEAST_SPACE = 1536 << 20
"""Bytes of address space below which numerical libraries may crash while they are loaded."""
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8  # the names of glibc's mallopt
_KEPT = 1 << 30
"""Bytes: arrays below this size are taken from, and go back to, memory that the process keeps."""
_OBJECTS = 50_000
"""After this number of new objects Python looks for cycles; it usually does after 700."""


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Run a command and leave with its exit code.

    Nearly everything is imported here, so that an early interruption is reported in one line too.
    After the work is done, an interruption has no effect."""
    ended: list[int] = []
    if args is None:
        atexit.register(_end, ended)  # before all others, so it is called after them
    try:
        from setveil.cli.interrupt import listen, listen_no_more

        listen()
        reuse_memory()
        _prepare_streams()
        _prepare_warnings()
        code = _short_of_memory() or answer(sys.argv[1:] if args is None else args)
        listen_no_more()
    except KeyboardInterrupt:
        code = _interrupted()
    if code == INTERRUPTED:
        os._exit(code)  # at once, whatever other threads do, and with this code
    ended.append(code)
    sys.exit(code)


def reuse_memory() -> None:
    """Let large arrays use the memory of those before them, instead of asking the system anew.

    New memory must be cleared before its first use, which takes longer than most array functions
    take to fill it. For programs that end with their work; a user's own `MALLOC_...` settings
    stay. Systems without glibc are left as they are.

    Most memory is in arrays, which need no search for cycles: these become rare too."""
    import ctypes
    import gc

    gc.set_threshold(_OBJECTS)
    if any(name.startswith("MALLOC_") for name in os.environ):
        return
    setting = getattr(ctypes.CDLL(None), "mallopt", None) if os.name == "posix" else None
    if setting is None:
        return
    for name, value in ((_ARENA_MAX, 1), (_MMAP_THRESHOLD, _KEPT), (_TRIM_THRESHOLD, _KEPT)):
        setting(name, value)


def _end(codes: Sequence[int]) -> None:
    """End the process at once if the command has ended: Python would take a third of a second to
    free what the system frees anyway, above all compiled code."""
    for code in codes:
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (OSError, ValueError):  # a full disk or a closed stream: `answer` has said so
                continue
        os._exit(code)


def answer(args: Sequence[str]) -> int:
    """The exit code of a command: 0 fine or the promise holds, 1 it does not hold, 2 usage, 3 data.

    130 after an interruption, 141 if the reader of the output is gone, 70 for a bug in setveil."""
    args, debug = _without_debug(args)
    try:
        code = _invoke(args)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        drop(sys.stdout)
        return PIPE_CLOSED
    except KeyboardInterrupt:
        return _interrupted()
    except Exception as error:
        if debug:
            import traceback

            _say(traceback.format_exc())
        try:
            from setveil.cli.complain import explain

            line, code = explain(error, args)
        except MemoryError:
            line, code = "setveil: there is not enough memory to go on\n", 3
        _say(line)
        return code


def _invoke(args: list[str]) -> int:
    import click

    from setveil.cli.root import root

    if "_SETVEIL_COMPLETE" in os.environ:
        from click.shell_completion import shell_complete

        return shell_complete(
            root, {}, "setveil", "_SETVEIL_COMPLETE", os.environ["_SETVEIL_COMPLETE"]
        )
    try:
        with root.make_context("setveil", args) as context:
            root.invoke(context)
    except click.exceptions.Exit as leave:
        return leave.exit_code
    return 0


def _without_debug(args: Sequence[str]) -> tuple[list[str], bool]:
    """The arguments without `--debug`, which may be anywhere, and whether it was given."""
    end = args.index("--") if "--" in args else len(args)
    kept = [argument for place, argument in enumerate(args) if argument != "--debug" or place > end]
    return kept, len(kept) < len(args) or bool(os.environ.get("SETVEIL_DEBUG"))


def _prepare_streams() -> None:
    """Spell out text that the terminal cannot show, and replace closed streams."""
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _short_of_memory() -> int:
    """Refuse to start where libraries could not be loaded: some end the process without a word."""
    try:
        import resource
    except ImportError:  # not on Windows
        return 0
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY or limit >= LEAST_SPACE:
        return 0
    _say(
        f"setveil: the address space is limited to {limit >> 20:,} MB (ulimit -v), and at least "
        f"{LEAST_SPACE >> 20:,} MB are needed\n"
    )
    return 3


def _prepare_warnings() -> None:
    """Show what was cleaned up after an interrupted run as one line."""
    import warnings

    from setveil.errors import LeftoverWarning

    usual = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
        if issubclass(category, LeftoverWarning):
            _say(f"setveil: {message}\n")
        else:
            usual(message, category, *place, **more)

    warnings.simplefilter("always", LeftoverWarning)
    warnings.showwarning = show


def _interrupted() -> int:
    _say("setveil: interrupted, nothing half-written is left\n")
    return INTERRUPTED


def _say(text: str) -> None:
    """Print on standard error; if that fails (a closed terminal, a full disk), give up."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except OSError:
        drop(sys.stderr)


def drop(stream: TextIO) -> None:
    """Discard what is still to be printed: there is no reader."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
