"""The layouts of hierarchy files and tables: paths, pairs of child and parent, level columns."""

from collections.abc import Callable, Sequence
from csv import reader
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Literal, TypedDict

from setveil.data.tables.headers import is_apart
from setveil.errors import FileFormatError, ParameterError, brief_list
from setveil.hierarchy.outline import Outline, free_label, qualified

Layout = Literal["paths", "pairs", "levels"]
LAYOUTS: tuple[Layout, ...] = ("paths", "pairs", "levels")
Unknown = Literal["refuse", "root", "drop"]

_CHILD_NAMES = frozenset({"child", "item", "leaf", "node", "label", "code", "name"})
_LEVELS = "item items leaf product article term code label name level0 level1"
_LEVEL_NAMES = frozenset(_LEVELS.split())

Row = tuple[int, list[str]]  # the number of a line, and its cells


@dataclass(frozen=True, kw_only=True)
class TreeOptions:
    """How a hierarchy file is read, and what becomes of items that it lacks."""

    layout: Layout | None = None
    """The layout of a hierarchy file: `paths`, `pairs` or `levels`; detected if not given."""
    levels: Sequence[str] | str | None = None
    """The columns of a level table, from the items up: their names, or their positions from 1."""
    qualify: bool = False
    """Name groups with their parent where one label names several: `VEGETABLES/CARROTS`."""
    memory: str | None = None
    """Memory for reading, such as `3GB`: it also limits what compressed files may unpack to."""
    unknown: Unknown = "refuse"
    """What becomes of items that a hierarchy lacks: `root` puts them directly below its root,
    `drop` leaves them out of all records, `refuse` is an error."""


class ReadingWords(TypedDict, total=False):
    """The options of a hierarchy file under their names in `TreeOptions`."""

    layout: Layout | None
    levels: Sequence[str] | str | None
    qualify: bool
    memory: str | None


def outline_of(path: str | Path, rows: Sequence[Row], options: TreeOptions) -> Outline:
    """What the rows of a file or a table describe; `path` is for errors."""
    if options.layout is not None and options.layout not in LAYOUTS:
        raise ParameterError("layout", options.layout, f"it must be one of {', '.join(LAYOUTS)}")
    layout = options.layout or guess_layout([cells for _, cells in rows])
    if options.levels:
        if options.layout not in (None, "levels"):
            allowed = f"a file of {options.layout} has no level columns"
            raise ParameterError("levels", options.levels, allowed)
        layout, rows = "levels", _chosen_columns(path, rows, options.levels)
    outline = _OUTLINES[layout](path, rows)
    return qualified(outline) if options.qualify else outline


def guess_layout(rows: Sequence[Sequence[str]]) -> Layout:
    """The layout of these rows; `setveil.hierarchy.files` has the rules."""
    if _has_pair_header(rows) or _has_foreign_pair_header(rows):
        return "pairs"
    if _has_level_header(rows):
        return "levels"
    return "pairs" if _are_pairs(rows) else "paths"


def _are_pairs(rows: Sequence[Sequence[str]]) -> bool:
    """Whether a label of the second of two columns, or an empty one, occurs in the first too."""
    if any(len(row) > 2 for row in rows):
        return False
    pairs = [(row[0], row[1]) for row in rows if len(row) == 2 and row[0] != row[1]]
    children = {child for child, _ in pairs}
    return any(not parent or parent in children for _, parent in pairs)


def _has_pair_header(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row names two columns; if it were a path, all rows would end like it."""
    names = [_name(cell) for cell in rows[0]]
    named = len(names) == 2 and "parent" in names and bool(set(names) & _CHILD_NAMES)
    return named and any(_last(row) != rows[0][1] for row in rows[1:])


def _last(row: Sequence[str]) -> str:
    """The last label of a row, which may be padded with empty cells."""
    return next(filter(None, reversed(row)), "")


def has_parent_first(names: Sequence[str]) -> bool:
    """Whether the columns of pairs have these names, in reverse order."""
    return len(names) == 2 and _name(names[0]) == "parent" and _name(names[1]) in _CHILD_NAMES


def _has_foreign_pair_header(rows: Sequence[Sequence[str]]) -> bool:
    """Whether pairs follow a first row of two labels that no pair has."""
    if len(rows[0]) != 2 or not is_apart(rows) or _LEVEL_NAMES & set(map(_name, rows[0])):
        return False
    return all(rows[0]) and _are_pairs([row for row in rows[1:] if all(row)])


def _has_level_header(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row names the columns of levels, in whatever language.

    If its cells occur nowhere below it, it cannot be a path: all paths end in the same root. Of two
    rows, only a name that we know shows that the first is a header."""
    head = rows[0]
    names = [_name(cell) for cell in head]
    is_named = names[0] in _LEVEL_NAMES or names[-1] in _LEVEL_NAMES
    is_full = all(head) and len(head) >= max(map(len, rows))
    return len(head) > 1 and is_apart(rows) and (is_named or (is_full and len(rows) > 2))


def _name(cell: str) -> str:
    return "".join(character for character in cell.lower() if character.isalnum())


def _chosen_columns(
    path: str | Path, rows: Sequence[Row], levels: Sequence[str] | str
) -> list[Row]:
    """The rows with the columns of these levels only, in their order."""
    wanted = next(reader([levels], skipinitialspace=True)) if isinstance(levels, str) else levels
    names = [cell.strip() for cell in rows[0][1]]
    places = [_column(path, str(name).strip(), names) for name in wanted]
    if len(set(places)) < len(places):
        raise ParameterError("levels", levels, "a column is named twice")
    return [(line, [cells[at] if at < len(cells) else "" for at in places]) for line, cells in rows]


def _column(path: str | Path, wanted: str, names: Sequence[str]) -> int:
    """The place of a column with this name, in any case, or of this position."""
    lower = [name.casefold() for name in names]
    if wanted in names:
        return names.index(wanted)
    if wanted.casefold() in lower:
        return lower.index(wanted.casefold())
    if wanted.isdecimal() and 0 < int(wanted[:9]) <= len(names):
        return int(wanted) - 1
    near = get_close_matches(wanted.casefold(), lower, 1)
    guess = f"; did you mean {names[lower.index(near[0])]}?" if near else ""
    allowed = f"{path} has the columns {brief_list(names)}{guess}"
    raise ParameterError("levels", wanted, allowed)


def _path_outline(_: str | Path, rows: Sequence[Row]) -> Outline:
    lines = [line for line, _ in rows]
    return Outline([tuple(cells) for _, cells in rows], from_leaves=True, lines=lines)


def _pair_outline(path: str | Path, rows: Sequence[Row]) -> Outline:
    cells = [cells for _, cells in rows]
    has_header = _has_pair_header(cells)
    is_foreign = not has_header and _has_foreign_pair_header(cells)
    body = rows[1:] if has_header or is_foreign else rows
    for line, found in body:
        if len(found) > 2 and any(found[2:]):
            problem = f"there are {len(found)} cells, but a pair is a child and its parent"
            raise FileFormatError(path, problem, line=line)
    pairs = [tuple(found[:2]) for _, found in body]
    if (has_header and has_parent_first(cells[0])) or (is_foreign and _are_reversed(pairs)):
        pairs = [pair[::-1] for pair in pairs]
    return Outline(pairs, lines=[line for line, _ in body])


def _are_reversed(pairs: Sequence[Sequence[str]]) -> bool:
    """Whether labels repeat in the first column and not in the second: a child has one parent."""
    first, second = [pair[0] for pair in pairs], [pair[-1] for pair in pairs]
    return len(set(first)) < len(first) and len(set(second)) == len(second)


def _level_outline(path: str | Path, rows: Sequence[Row]) -> Outline:
    names, body = rows[0][1], rows[1:]
    for line, cells in body:
        if len(cells) > len(names):
            problem = f"there are {len(cells)} cells, but the header has {len(names)} columns"
            raise FileFormatError(path, problem, line=line)
    table = [[*cells, *[""] * (len(names) - len(cells))] for _, cells in body]
    if len({row[0] for row in table} - {""}) < len({row[-1] for row in table} - {""}):
        table, names = [row[::-1] for row in table], names[::-1]
    paths = [[row[0], *filter(None, row[1:])] for row in table]
    if len({labels[-1] for labels in paths}) > 1:
        root = free_label("ALL", {label for labels in paths for label in labels})
        paths = [[*labels, root] for labels in paths]
    chains, lines = [tuple(labels) for labels in paths], [line for line, _ in body]
    return Outline(chains, from_leaves=True, lines=lines, columns=tuple(names))


_OUTLINES: dict[Layout, Callable[[str | Path, Sequence[Row]], Outline]] = {
    "paths": _path_outline,
    "pairs": _pair_outline,
    "levels": _level_outline,
}
