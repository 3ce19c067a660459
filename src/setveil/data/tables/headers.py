"""Which row of a table names its columns, what separates them, and what blank lines mean: the rules
of all readers.

People export tables with a title, a date or a remark above the header. Such rows have fewer cells
than the table; the row below them is taken as the header only if nothing else is likely, because a
row that is taken for one is not published, and a header that is not found makes everything below it
look like baskets."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from io import StringIO

from setveil.data.tables.cells import PRESENCE
from setveil.data.tables.columns import ATTRIBUTE_NAMES, ITEM_NAMES, RECORD_NAMES, plain_name

Rows = Sequence[Sequence[str]]

DELIMITERS = ",;|\t"
CUT_OFF = 1 << 15
"""A sample of this length may end within a line."""
SEPARATOR = re.compile(r'\A"?sep=([^"\n])"?[ ,;\t]*\n', re.IGNORECASE)
"""The first line that Excel reads and writes to name the delimiter."""
_OPENED = re.compile(r'"(?:[^"]|"")*"?')
_MOST_TITLES = 40
_NEARLY_ALL = 0.9
_LEAST = 3
"""So many rows of one width are a table, whatever is above them."""
_ENOUGH = 500
"""So many rows below a header are compared with it."""
_KNOWN = RECORD_NAMES | ITEM_NAMES | ATTRIBUTE_NAMES
_IMPORTED = re.compile(r'\{"ImportId"')
_DIGIT = re.compile(r"\d")
VALUE = re.compile(r"[\d.,:/ -]+\Z")
"""A cell that is a number or a time, and no name."""


@dataclass(frozen=True)
class TextRow:
    """The cells of a row of a text, and where it is."""

    cells: list[str]
    first: int
    """How many lines are before it."""
    last: int
    """How many lines are before the next row."""


class CsvRows:
    """The cells of each row; blanks before a quoted cell are not part of it.

    Without that, `wine, "cheese, hard"` would have three items, two of them with one quote each.

    Raises:
        csv.Error: as `csv.reader` does.

    Example:
        >>> list(CsvRows(['wine, "cheese, hard"', '7" pipe, 8" pipe'], ","))
        [['wine', 'cheese, hard'], ['7" pipe', ' 8" pipe']]
    """

    def __init__(self, lines: Iterable[str], delimiter: str, *, strict: bool = False) -> None:
        mark = re.escape(delimiter)
        self._cell = re.compile(rf'(?:^|(?<={mark}))(?: *("(?:[^"]|"")*"?)|[^{mark}"][^{mark}]*)')
        self._begins = True
        """Whether the next line begins a row; else it goes on with a cell in quotes."""
        self._rows = csv.reader(self._given(lines), delimiter=delimiter, strict=strict)

    @property
    def line_num(self) -> int:
        """How many lines were read."""
        return self._rows.line_num

    def __iter__(self) -> CsvRows:
        return self

    def __next__(self) -> list[str]:
        self._begins = True
        return next(self._rows)

    def _given(self, lines: Iterable[str]) -> Iterator[str]:
        for line in lines:
            opened, self._begins = "" if self._begins else '"', False
            if ' "' in line:
                line = self._cell.sub(_joined, opened + line)[len(opened) :]
            yield line


def _joined(cell: re.Match[str]) -> str:
    return cell[1] or cell[0]


def guess_delimiter(text: str, candidates: str = DELIMITERS) -> str:
    """The candidate that occurs most often outside quotes; the first if none does."""
    bare = _OPENED.sub("", text)
    return max(candidates, key=lambda mark: (bare.count(mark), -candidates.index(mark)))


def text_rows(text: str, delimiter: str) -> list[TextRow]:
    """The rows of a text, with the line that names the delimiter as one."""
    reader = CsvRows(StringIO(text, newline=""), delimiter)
    rows, before = list[TextRow](), 0
    with suppress(csv.Error):
        for cells in reader:
            cells = [] if SEPARATOR.match(delimiter.join(cells) + "\n") and not rows else cells
            rows.append(TextRow(cells, before, reader.line_num))
            before = reader.line_num
    return rows[:-1] if len(rows) > 2 and len(text) >= CUT_OFF else rows


def sample_rows(text: str, delimiter: str) -> list[list[str]]:
    """The cells of the rows of a text; of a long one without the last, which may be cut off."""
    return [row.cells for row in text_rows(text, delimiter)]


def find_header(rows: Rows) -> int | None:
    """The place of the row that beyond doubt names the columns; None if none does.

    Args:
        rows: The cells of the first rows; a blank line has none.

    Example:
        >>> find_header([["customer", "product"], ["c1", "beer"], ["c2", "beer"]])
        0
        >>> find_header([["Sales, March"], [], ["no", "what"], ["1", "beer"], ["2", "wine"]])
        2
        >>> find_header([["beer"], ["milk", "beer"], ["wine", "beer"], ["milk", "beer"]])
    """
    width = _width(rows)
    first = next((n for n, row in enumerate(rows) if any(row) and not _is_title(row, width)), None)
    after_blank = next((n + 1 for n, row in enumerate(rows[:-1]) if n and not any(row)), None)
    for place in (first, after_blank):
        if place is not None and place <= _MOST_TITLES and _names(rows[place], rows[place + 1 :]):
            return place
    return None


def find_lower_header(rows: Rows, least: int = 0) -> int | None:
    """The place of a row below the first that seems to name the columns, although what is above it
    is as wide as the table: a question, not an answer. It has at least so many known names.

    Example:
        >>> titled = [["Orders", "March"], ["customer", "product"], ["c1", "beer"], ["c2", "beer"]]
        >>> find_header(titled), find_lower_header(titled)
        (None, 1)
    """
    first = next((n for n, row in enumerate(rows) if any(row)), 0)
    places = range(first + 1, min(len(rows), first + _MOST_TITLES))
    others = (place for place in places if rows[place] != rows[first])  # files put together
    likely = (place for place in others if _known(rows[place]) >= least)
    return next((place for place in likely if _names(rows[place], rows[place + 1 :])), None)


def last_of_header(rows: Rows) -> int:
    """The place of the last row that continues the names of the first; 0 if none does.

    Some surveys name the question in one row and its options in the next (SurveyMonkey), or repeat
    the names in other words and then as identifiers (Qualtrics).

    Example:
        >>> last_of_header([["id", "Uses", "", ""], ["", "R", "SQL", "No"], ["7", "R", "", ""]])
        1
    """
    if len(rows) < 3 or len(rows[0]) < 3 or {len(rows[0])} != {*map(len, rows[:3])}:
        return 0
    if any(_IMPORTED.match(cell) for cell in rows[2]):
        return 2
    unnamed = [bool(below) for name, below in zip(rows[0], rows[1], strict=True) if not name]
    named = all(_is_name(cell) for cell in (*rows[0], *rows[1]) if cell)
    return int(len(unnamed) > 1 and all(unnamed) and named and not all(rows[1]))


def has_second_row(rows: Rows, place: int) -> bool:
    """Whether the row below the header seems to go on with it, as a row of units or of other names:
    it has names too, and in two columns or more it differs from the values below it.

    Example:
        >>> rows = [["id", "what"], ["nr.", "pc."], ["1", "2"], ["2", "3"]]
        >>> has_second_row(rows, 0), has_second_row(rows, 1)
        (True, False)
    """
    row, below = rows[place + 1 : place + 2], rows[place + 2 :]
    if not row or not _names(row[0], below):
        return False
    columns = [[each[at].strip() for each in below if at < len(each)] for at in range(len(row[0]))]
    return sum(map(_differs, row[0], columns)) > 1


def joined_names(rows: Rows) -> list[str]:
    """The names of columns that several rows name together; a name above goes on to the right.

    Example:
        >>> joined_names([["id", "Uses", "", ""], ["", "R", "SQL", "No"]])
        ['id', 'Uses: R', 'Uses: SQL', 'Uses: No']
    """
    parts: list[list[str]] = [[] for _ in range(max(map(len, rows)))]
    for row in rows:
        name = ""
        for at, own in enumerate(parts):
            cell = row[at].strip() if at < len(row) else ""
            name = cell or (name if row is not rows[-1] else "")
            own += [name] if name and name not in own and not _IMPORTED.match(name) else []
    return [": ".join(own) for own in parts]


def looks_even(rows: Rows) -> bool:
    """Whether nearly all rows have the same number of cells, two or more, apart from title rows."""
    filled, width = [row for row in rows if any(row)], _width(rows)
    if width < 2:
        return False
    first = next(n for n, row in enumerate(filled) if len(row) == width)
    body = filled[first:] if first <= min(_MOST_TITLES, len(filled) // 2) else filled
    even = sum(len(row) == width for row in body)
    return even >= max(_LEAST, _NEARLY_ALL * len(body))


def is_apart(rows: Rows) -> bool:
    """Whether no cell of the first row occurs again in the rows below it."""
    head = {cell for cell in rows[0] if cell}
    return len(rows) > 1 and all(head.isdisjoint(row) for row in rows[1:])


def is_surely_header(names: Sequence[str], cells: Sequence[str]) -> bool:
    """Whether a first line can be quoted: it names columns and is nobody's row."""
    are_names = all(re.fullmatch(r"[^\W\d][\w .-]*", name) for name in names)
    return are_names and len(set(names)) == len(names) and is_apart([names, cells])


def has_known_names(cells: Sequence[str], known: Collection[frozenset[str]]) -> bool:
    """Whether a line has two or more names that are known, each of its own kind, and no values."""
    plain = {plain_name(cell) for cell in cells}
    found = sum(bool(names & plain) for names in known)
    return found > 1 and not any(map(VALUE.match, cells))


def differs_at(rows: Rows, place: int, is_value: Callable[[str], bool]) -> bool | None:
    """Whether the first row has a name where nearly all others have a value; None if in doubt."""
    first, body = rows[0], rows[1:]
    if place < len(first) and is_value(first[place]):
        return False
    usual = sum(is_value(row[place]) for row in body) >= 0.95 * len(body) > 0
    return True if usual and place < len(first) and not any(map(VALUE.match, first)) else None


def _width(rows: Rows) -> int:
    """How many cells most rows have."""
    widths = Counter(len(row) for row in rows if any(row))
    return max(widths, key=lambda width: (widths[width], width), default=0)


def _is_title(row: Sequence[str], width: int) -> bool:
    """Whether a row has too few cells to belong to the table."""
    filled = sum(map(bool, row))
    return filled < width if len(row) != width else filled <= width // 2


def _names(row: Sequence[str], below: Rows) -> bool:
    """Whether a row has names, and the rows below it have values that no name looks like."""
    names, width = [cell.strip() for cell in row], len(row)
    filled = [each for each in below if any(each)]
    body = [each for each in filled if len(each) <= width][:_ENOUGH]
    given = [name for name in names if name]
    if width < 2 or len(given) < max(2, _NEARLY_ALL * width - 1):
        return False
    if not body or sum(len(each) <= width for each in filled) < _NEARLY_ALL * len(filled):
        return False
    columns = [[each[at].strip() for each in body if at < len(each)] for at in range(width)]
    if not all(map(_is_name, given)) or any(
        name in column for name, column in zip(names, columns, strict=True) if name
    ):
        return False
    if sum(name in PRESENCE for name in given) > len(given) // 2:  # a row of yes and no
        return False
    return _known(names) > 1 or any(map(_differs, names, columns))


def _known(names: Sequence[str]) -> int:
    return sum(plain_name(name) in _KNOWN for name in names)


def _is_name(cell: str) -> bool:
    """Whether a cell may name a column: it has a letter, and is no mail address."""
    return any(map(str.isalpha, cell)) and "@" not in cell


def _differs(name: str, cells: Sequence[str]) -> bool:
    """Whether all cells of a column are values of a kind that its name is not of."""
    filled = [cell for cell in cells if cell]
    if len(filled) < 2 or not name:
        return False
    if all(cell in PRESENCE for cell in filled):
        return True
    return not _DIGIT.search(name) and all(_DIGIT.search(cell) or "@" in cell for cell in filled)


_LEAST_GAPS, _LEAST_REGULAR = 3, 5
"""So many gaps with blank lines show a pattern."""
_RUN_OF_ENDS = re.compile(rb"\n{2,}")


def are_separators(blank: Iterable[bool]) -> bool:
    """Whether blank lines separate records, by which of the first lines are blank.

    They do if nearly all neighbours have some between them, or if they come after every n records.

    Example:
        >>> are_separators([False, True] * 4), are_separators([False, False, True] * 6)
        (True, True)
        >>> are_separators([False, True, False, False, False, True, True, False, True, False])
        False
    """
    text = "".join(" x"[not each] for each in blank).strip()
    runs = [len(run) for run in text.split()]  # of records without a blank line between them
    gaps = len(runs) - 1
    if gaps >= _LEAST_REGULAR and len(set(runs[:-1])) == 1:
        return True
    return gaps >= max(_LEAST_GAPS, _NEARLY_ALL * (sum(runs) - 1))


class Squeezed:
    """Blocks of lines without the blank ones; counts those before the last line that is not."""

    def __init__(self) -> None:
        self._removed = self._last = 0
        self._ended = True

    @property
    def removed(self) -> int:
        return self._removed - self._last

    def __call__(self, block: bytes) -> bytes:
        text = b"\n" + block if self._ended else block
        kept = _RUN_OF_ENDS.sub(b"\n", text)
        gone = len(text) - len(kept)
        written = len(text.rstrip(b"\n"))
        self._last = max(0, len(text) - written - 1) if written else self._last + gone
        self._removed += gone
        kept = kept[1:] if self._ended else kept
        self._ended = block.endswith(b"\n") if block else self._ended
        return kept
