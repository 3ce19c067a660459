"""Counts the files and lines of each package of setveil: `python -m tools.lines [COMMIT]`.

Code lines are all but blank lines, comments and docstrings. With a commit, its counts are those
before, and those of the working tree are those after. `--without WORD ...` leaves out the files
that the commit does not have and whose path has one of the words: those of a later feature."""

from __future__ import annotations

import argparse
import ast
import io
import subprocess
import sys
import tarfile
import tokenize
from collections.abc import Container, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

TOP = Path(__file__).resolve().parents[1]
SOURCE = "src/setveil"
LAYOUT = {
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.COMMENT,
    tokenize.ENDMARKER,
}


class Count(NamedTuple):
    """The size of some files."""

    files: int = 0
    lines: int = 0
    code: int = 0

    def plus(self, other: Count) -> Count:
        """Both together."""
        return Count(*(one + two for one, two in zip(self, other, strict=True)))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m tools.lines", description=__doc__)
    parser.add_argument("commit", nargs="?", help="compare the working tree with this commit")
    parser.add_argument("--without", nargs="+", default=[], help="words in paths of new files")
    options = parser.parse_args()
    commit = options.commit
    columns = [counts(here())]
    titles = ["files", "lines", "code"]
    if commit is not None:
        before = dict(at(commit))
        columns = [counts(before.items()), counts(earlier(before, options.without))]
        titles = [f"{title} {when}" for title in titles for when in ("before", "after")]
    names = sorted(set().union(*columns))
    totals = [_total(column) for column in columns]
    rows = [(name, [column.get(name, Count()) for column in columns]) for name in names]
    table = [_line("package", titles)]
    for name, found in [*rows, ("all", totals)]:
        table.append(
            _line(name, [f"{each:,}" for pair in zip(*found, strict=True) for each in pair])
        )
    sys.stdout.write("\n".join([*table, ""]))


def earlier(before: Container[str], words: list[str]) -> Iterator[tuple[str, str]]:
    """The files of the working tree but the new ones that have one of the words in their path."""
    for path, text in here():
        if path in before or not any(word in path for word in words):
            yield path, text


def counts(texts: Iterable[tuple[str, str]]) -> dict[str, Count]:
    """The size of each package: the first folder below `src/setveil`, or `.` for files in it."""
    found = dict[str, Count]()
    for path, text in texts:
        _, _, below = path.partition(f"{SOURCE}/")
        package = below.split("/")[0] if "/" in below else "."
        lines = Count(1, len(text.splitlines()), len(code_lines(text)))
        found[package] = found.get(package, Count()).plus(lines)
    return found


def code_lines(text: str) -> set[int]:
    """The numbers of the lines that have code."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    used = (range(one.start[0], one.end[0] + 1) for one in tokens if one.type not in LAYOUT)
    return {line for lines in used for line in lines} - docstring_lines(text)


def docstring_lines(text: str) -> set[int]:
    """The numbers of the lines of strings that stand alone, which document what is near them."""
    alone = (
        node.value
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
    return {line for one in alone for line in range(one.lineno, (one.end_lineno or 0) + 1)}


def here() -> Iterator[tuple[str, str]]:
    """The path and the text of each Python file of the working tree."""
    for path in sorted((TOP / SOURCE).rglob("*.py")):
        yield path.relative_to(TOP).as_posix(), path.read_text(encoding="utf-8")


def at(commit: str) -> Iterator[tuple[str, str]]:
    """The path and the text of each Python file of a commit."""
    words = ["git", "archive", "--format=tar", commit, SOURCE]
    done = subprocess.run(words, cwd=TOP, capture_output=True, check=False)
    if done.returncode:
        sys.exit(done.stderr.decode().strip())
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        for member in archive:
            file = archive.extractfile(member) if member.name.endswith(".py") else None
            if file is not None:
                yield member.name, file.read().decode()


def _total(column: dict[str, Count]) -> Count:
    found = Count()
    for each in column.values():
        found = found.plus(each)
    return found


def _line(name: str, cells: list[str]) -> str:
    return "  ".join([f"{name:12}", *(f"{cell:>12}" for cell in cells)])


if __name__ == "__main__":
    main()
