"""Hierarchy files: one line per leaf, pairs of child and parent, or level columns with a header.

Layouts (the delimiter is `;`, `,` or a tab; a label that holds it stands in double quotes; `.gz` is unpacked):

`paths`
    `leaf;parent;...;root`, one line per leaf, of any depth. This is what is written, and what ARX reads and writes. A label
    repeated right after itself (`milk;milk;Dairy;ALL`, `milk;Dairy;*;*`) and empty cells at the end are padding and say nothing.
`pairs`
    `child,parent`, one line per node but the root, in any order. The header may be left out, or name the columns the other way round.
`levels`
    A header such as `item,group,department`, then one line per leaf. The column with more distinct labels at either end is taken for the
    leaves. Empty cells are skipped. When the lines do not end in one common label, a root `ALL` is put above them.

Which one it is, is told by the content, or said with `layout=`: `pairs` and `levels` are known by the names in their header (`child`
or `item` or `node`, and `parent`; `item` or `product` or `code` or `level0` first or last), and two columns without a header are
`pairs` when a label of the second stands in the first as well. Blank lines, a byte order mark and any line ends are fine; there are no
comments. Blanks before an unquoted label are dropped.
"""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal, TextIO

from setveil.disk import new_file
from setveil.errors import FileFormatError, OutputError, ParameterError
from setveil.hierarchy.check import Outline, tree_of_outline
from setveil.hierarchy.tree import Hierarchy, Origin

Layout = Literal["paths", "pairs", "levels"]
LAYOUTS: tuple[Layout, ...] = ("paths", "pairs", "levels")
DELIMITERS = (";", "\t", ",")

_CHILD_NAMES = frozenset({"child", "item", "leaf", "node", "label", "code", "name"})
_LEVEL_NAMES = frozenset(
    {
        "item",
        "items",
        "leaf",
        "product",
        "article",
        "term",
        "code",
        "label",
        "name",
        "level0",
        "level1",
    }
)
_SAMPLE = 1_000

Row = tuple[int, list[str]]


def read_hierarchy(
    path: str | Path,
    *,
    layout: Layout | None = None,
    delimiter: str | None = None,
    origin: Origin | None = None,
) -> Hierarchy:
    """The tree of a hierarchy file.

    Args:
        path: The file, plain or `.gz`.
        layout: `paths`, `pairs` or `levels`; told from the content when not given.
        delimiter: `;`, `,` or a tab; told from the content when not given.
        origin: Where the tree comes from; the user's own (`given`) when not said.

    Raises:
        FileFormatError: when the file is not there, is no text or is empty.
        HierarchyError: when its content is no tree; it lists every fault.
    """
    return tree_of_outline(
        read_outline(path, layout=layout, delimiter=delimiter), origin, str(path)
    )


def read_outline(
    path: str | Path, *, layout: Layout | None = None, delimiter: str | None = None
) -> Outline:
    """What a hierarchy file says, whether or not it is a tree; `setveil.hierarchy.check.find_faults` looks at it."""
    if layout is not None and layout not in LAYOUTS:
        raise ParameterError("layout", layout, f"it must be one of {', '.join(LAYOUTS)}")
    if delimiter is not None and delimiter not in DELIMITERS:
        raise ParameterError("delimiter", delimiter, "it must be a semicolon, a comma or a tab")
    text = _text_of(Path(path))
    rows = list(_rows(path, text, delimiter or _guess_delimiter(text)))
    if not rows:
        raise FileFormatError(
            path,
            "the file is empty; a hierarchy has a line for each item, such as `leaf;parent;root`",
        )
    return _OUTLINES[layout or _guess_layout([cells for _, cells in rows])](path, rows)


def write_hierarchy(
    tree: Hierarchy,
    target: str | Path | TextIO,
    *,
    layout: Literal["paths", "pairs"] = "paths",
    delimiter: str = ";",
    force: bool = False,
) -> None:
    """Write a tree to a file (whole or not at all; packed when its name ends in `.gz`) or to an open text stream.

    The lines stand in the order of the tree, so equal trees give equal files.

    Raises:
        OutputError: when the file is there already and `force` is not given, or cannot be written.
    """
    if delimiter not in DELIMITERS:
        raise ParameterError("delimiter", delimiter, "it must be a semicolon, a comma or a tab")
    if layout not in ("paths", "pairs"):
        raise ParameterError("layout", layout, "a tree is written as paths or as pairs")
    lines = _path_lines(tree, delimiter) if layout == "paths" else _pair_lines(tree, delimiter)
    if isinstance(target, str | Path):
        _write_file(Path(target), lines, force)
    else:
        target.writelines(lines)


def _text_of(path: Path) -> str:
    try:
        content = path.read_bytes()
        if content[:2] == b"\x1f\x8b":
            content = gzip.decompress(content)
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise FileFormatError(
            path, "this is no UTF-8 text; save the file as UTF-8", line=line
        ) from None
    except FileNotFoundError:
        raise FileFormatError(path, "there is no such file") from None
    except (OSError, EOFError, zlib.error) as error:
        raise FileFormatError(path, f"the file cannot be read ({error})") from None


def _rows(path: str | Path, text: str, delimiter: str) -> Iterator[Row]:
    """The cells of each line that has any, with the number of its first line."""
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
        raise FileFormatError(
            path,
            f"bad quoting ({error}); a label that starts with a double quote must end with one, and double those inside",
            line=line,
        ) from None


def _guess_delimiter(text: str) -> str:
    """The delimiter that splits most lines; of equals the one under which the lines end in fewest different labels (one root)."""
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


def _guess_layout(rows: Sequence[Sequence[str]]) -> Layout:
    """The layout of a file that did not say; see above."""
    if _has_pair_header(rows):
        return "pairs"
    head = [_name(cell) for cell in rows[0]]
    if (
        len(head) > 1
        and (head[0] in _LEVEL_NAMES or head[-1] in _LEVEL_NAMES)
        and _stands_alone(rows)
    ):
        return "levels"
    if all(len(row) <= 2 for row in rows):
        pairs = [(row[0], row[1]) for row in rows if len(row) == 2 and row[0] != row[1]]
        children = {child for child, _ in pairs}
        if any(not parent or parent in children for _, parent in pairs):
            return "pairs"
    return "paths"


def _has_pair_header(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first of two columns' lines names them; were it a path, all lines would end as it does."""
    names = [_name(cell) for cell in rows[0]]
    named = len(names) == 2 and "parent" in names and bool(set(names) & _CHILD_NAMES)
    return named and any(row[1:] != rows[0][1:] for row in rows[1:])


def _name(cell: str) -> str:
    return "".join(character for character in cell.lower() if character.isalnum())


def _stands_alone(rows: Sequence[Sequence[str]]) -> bool:
    """Whether there are lines below the first and none of its cells stands in one of them."""
    head = {cell for cell in rows[0] if cell}
    return len(rows) > 1 and all(head.isdisjoint(row) for row in rows[1:])


def _path_outline(_: str | Path, rows: Sequence[Row]) -> Outline:
    return Outline(
        [tuple(cells) for _, cells in rows], from_leaves=True, lines=[line for line, _ in rows]
    )


def _pair_outline(path: str | Path, rows: Sequence[Row]) -> Outline:
    has_header = _has_pair_header([cells for _, cells in rows])
    turned = has_header and _name(rows[0][1][0]) == "parent"
    body = rows[1:] if has_header else rows
    for line, cells in body:
        if len(cells) > 2 and any(cells[2:]):
            raise FileFormatError(
                path,
                f"{len(cells)} cells, but a line of pairs holds a child and its parent",
                line=line,
            )
    pairs = [tuple(reversed(cells[:2])) if turned else tuple(cells[:2]) for _, cells in body]
    return Outline(pairs, lines=[line for line, _ in body])


def _level_outline(path: str | Path, rows: Sequence[Row]) -> Outline:
    names, body = rows[0][1], rows[1:]
    for line, cells in body:
        if len(cells) > len(names):
            raise FileFormatError(
                path, f"{len(cells)} cells, but the header names {len(names)} columns", line=line
            )
    table = [[*cells, *[""] * (len(names) - len(cells))] for _, cells in body]
    if len({row[0] for row in table}) < len({row[-1] for row in table}):
        table = [row[::-1] for row in table]
    paths = [[row[0], *filter(None, row[1:])] for row in table]
    if len({labels[-1] for labels in paths}) > 1:
        root = _free_label("ALL", {label for labels in paths for label in labels})
        paths = [[*labels, root] for labels in paths]
    return Outline(
        [tuple(labels) for labels in paths], from_leaves=True, lines=[line for line, _ in body]
    )


_OUTLINES: dict[Layout, Callable[[str | Path, Sequence[Row]], Outline]] = {
    "paths": _path_outline,
    "pairs": _pair_outline,
    "levels": _level_outline,
}


def _free_label(label: str, taken: set[str]) -> str:
    while label in taken:
        label += "*"
    return label


def _path_lines(tree: Hierarchy, delimiter: str) -> Iterator[str]:
    for path in tree.paths():
        yield delimiter.join(map(_quoted, path)) + "\n"


def _pair_lines(tree: Hierarchy, delimiter: str) -> Iterator[str]:
    """The edges in depth-first order below a header."""
    yield f"child{delimiter}parent\n"
    if len(tree) == 1:
        yield f"{_quoted(tree.labels[0])}{delimiter}\n"
    pending = tree.children(tree.root).tolist()[::-1]
    while pending:
        node = pending.pop()
        yield f"{_quoted(tree.labels[node])}{delimiter}{_quoted(tree.labels[tree.parent[node]])}\n"
        pending.extend(tree.children(node).tolist()[::-1])


def _quoted(label: str) -> str:
    """A label as a cell; in quotes when it holds any delimiter, so that the right one can be told from the content."""
    if label.isalnum():
        return label
    if label[0] in " \ufeff" or any(character in label for character in ';,\t"\r\n'):
        return '"' + label.replace('"', '""') + '"'
    return label


def _write_file(path: Path, lines: Iterable[str], force: bool) -> None:
    """Write lines; a packed file holds neither name nor time, so that equal trees give equal files."""
    with new_file(path, force=force) as draft, draft.open("wb") as file:
        packed = path.suffix == ".gz"
        binary = gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) if packed else file
        try:
            with io.TextIOWrapper(binary, encoding="utf-8", newline="") as stream:
                stream.writelines(lines)
        except UnicodeEncodeError as error:
            problem = f"the label {error.object.strip()!r} cannot be written as UTF-8"
            raise OutputError(path, problem) from None
