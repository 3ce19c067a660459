"""Hierarchy files: one line per leaf, pairs of child and parent, or level columns with a header.

The delimiter is `;`, `,` or a tab; a label that contains it is in double quotes; `.gz` is unpacked.
There are three layouts:

`paths`
    `leaf;parent;...;root`, one line per leaf, of any depth. We write this layout, and ARX reads and
    writes it. A label right after itself (`milk;milk;Dairy;ALL`, `milk;Dairy;*;*`) and empty cells
    at the end are padding and ignored.
`pairs`
    `child,parent`, one line per node except the root, in any order. The header is optional, and may
    name the columns in reverse order.
`levels`
    A header such as `item,group,department`, then one line per leaf. The leaves are the first or
    the last column, whichever has more distinct labels. Empty cells are skipped. If the lines do
    not end in the same label, a root `ALL` is added.

The layout is detected unless it is given. `pairs` and `levels` are recognized by their header
(`child`, `item` or `node` next to `parent`; `item`, `product`, `code` or `level0` first or last; or
a first line in any language whose cells occur nowhere below it, which cannot be a path, because all
paths end in the same root); two columns without a header are `pairs` if a label of the second also
occurs in the first. Blank lines, a byte order mark and any line ends are allowed; comments are not.
Blanks before an unquoted label are dropped.
"""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Literal, TextIO, Unpack

from setveil.disk import new_file, read_text
from setveil.errors import DataError, FileFormatError, OutputError, ParameterError, brief
from setveil.hierarchy.check import tree_of_outline
from setveil.hierarchy.layouts import ReadingWords, Row, TreeOptions, outline_of
from setveil.hierarchy.outline import Outline
from setveil.hierarchy.tree import Hierarchy, Origin

DELIMITERS = (";", "\t", ",")

_SAMPLE = 1_000


def read_hierarchy(
    path: str | Path,
    *,
    delimiter: str | None = None,
    origin: Origin | None = None,
    **options: Unpack[ReadingWords],
) -> Hierarchy:
    """The tree of a hierarchy file.

    Args:
        path: The file, plain or `.gz`.
        delimiter: `;`, `,` or a tab; detected by default.
        origin: Where the tree comes from; by default the user gave it.
        options: The fields of `TreeOptions`: `layout` (`paths`, `pairs` or `levels`; detected by
            default), `levels` (the columns of a level table, from the items up), `qualify` and
            `memory` (its text may have a twentieth of it; 3GB by default).

    Raises:
        FileFormatError: if the file does not exist, is not text or is empty.
        HierarchyError: if its content is not a tree; it lists every fault.
    """
    outline = read_outline(path, TreeOptions(**options), delimiter)
    return tree_of_outline(outline, origin, str(path))


def read_outline(
    path: str | Path, options: TreeOptions | None = None, delimiter: str | None = None
) -> Outline:
    """The content of a hierarchy file, which may not be a tree: `find_faults` checks it."""
    if delimiter is not None:
        _check_delimiter(delimiter)
    remedy = "if it is the right file, allow more {memory}"
    text = read_text(Path(path), options.memory if options else None, remedy=remedy)
    rows = list(_rows(path, text, delimiter or _guess_delimiter(text)))
    if not rows:
        remedy = "write a line for each item, such as `leaf;parent;root`"
        raise FileFormatError(path, "the file is empty", remedy=remedy)
    return outline_of(path, rows, options or TreeOptions())


def write_hierarchy(
    tree: Hierarchy,
    target: str | Path | TextIO,
    *,
    layout: Literal["paths", "pairs"] = "paths",
    delimiter: str = ";",
    force: bool = False,
) -> None:
    """Write a tree to an open text stream or atomically to a file, packed if it ends in `.gz`.

    The lines are in the order of the tree, so equal trees give equal files.

    Raises:
        OutputError: if the file exists and `force` is not set, or cannot be written.
    """
    _check_delimiter(delimiter)
    if layout not in ("paths", "pairs"):
        raise ParameterError("layout", layout, "a tree can be written as paths or as pairs")
    paths = (delimiter.join(map(_quoted, path)) + "\n" for path in tree.paths())
    lines = paths if layout == "paths" else _pair_lines(tree, delimiter)
    if isinstance(target, str | Path):
        _write_file(Path(target), lines, force)
    else:
        target.writelines(lines)


def _check_delimiter(delimiter: str) -> None:
    if delimiter not in DELIMITERS:
        raise ParameterError("delimiter", delimiter, "it must be a semicolon, a comma or a tab")


def _rows(path: str | Path, text: str, delimiter: str) -> Iterator[Row]:
    """The cells of each row that is not blank, with the number of its first line."""
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True, strict=True
    )
    line = 1
    try:
        for cells in reader:
            if any(cells):
                yield line, cells
            line = reader.line_num + 1
    except csv.Error as error:
        remedy = "a label in double quotes must end with one, and quotes inside are doubled"
        problem = f"the quoting is wrong ({error})"
        raise FileFormatError(path, problem, line=line, remedy=remedy) from None


def _guess_delimiter(text: str) -> str:
    """The delimiter that splits most lines; among equals the one that gives fewest roots."""
    end = 0
    for _ in range(_SAMPLE):
        end = text.find("\n", end) + 1
        if not end:
            break
    sample = text[:end] if end else text

    def fit(delimiter: str) -> tuple[int, int]:
        split: list[str] = []
        with suppress(FileFormatError):
            split.extend(cells[-1] for _, cells in _rows("", sample, delimiter) if len(cells) > 1)
        return -len(split), len(set(split))

    return min(DELIMITERS, key=fit)


def _pair_lines(tree: Hierarchy, delimiter: str) -> Iterator[str]:
    """A header, and the edges in depth-first order."""
    yield f"child{delimiter}parent\n"
    if len(tree) == 1:
        yield f"{_quoted(tree.labels[0])}{delimiter}\n"
    pending = tree.children(tree.root).tolist()[::-1]
    while pending:
        node = pending.pop()
        yield f"{_quoted(tree.labels[node])}{delimiter}{_quoted(tree.labels[tree.parent[node]])}\n"
        pending.extend(tree.children(node).tolist()[::-1])


def _quoted(label: str) -> str:
    """A label as a cell; in quotes if it has any delimiter, so that the right one is detected."""
    if label.isalnum():
        return label
    if "\0" in label:
        raise DataError("a label contains a NUL character, which a text file cannot hold")
    if label[0] in " \ufeff" or any(character in label for character in ';,\t"\r\n'):
        return '"' + label.replace('"', '""') + '"'
    return label


def _write_file(path: Path, lines: Iterable[str], force: bool) -> None:
    """Write lines; a packed file has no name and no time, so that equal trees give equal files."""
    with new_file(path, force=force) as draft, draft.open("wb") as file:
        packed = path.suffix == ".gz"
        binary = gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) if packed else file
        try:
            with io.TextIOWrapper(binary, encoding="utf-8", newline="") as stream:
                stream.writelines(lines)
        except DataError as error:
            raise FileFormatError(path.name, error.problem) from None
        except UnicodeEncodeError as error:
            problem = f"the label {brief(error.object.strip())} cannot be written as UTF-8"
            raise OutputError(path, problem) from None
