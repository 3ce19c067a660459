"""Which columns of a query log are the user, the text and the time: by option, name or content.

The first line of a file without a header is somebody's query, so no message quotes it unless it is
beyond doubt that it names the columns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from setveil.data.tables.columns import (
    RECORD_NAMES,
    Fail,
    choose_column,
    not_obvious,
    numbered,
    plain_name,
)
from setveil.data.tables.headers import VALUE, differs_at, has_known_names
from setveil.errors import DataError
from setveil.io.querylog.times import looks_timed
from setveil.words import plural

_NOT_USERS = "session record order basket"
_TEXTS = "query querytext querystring q text search searchterm searchterms keyword keywords"
_TIMES = "querytime time timestamp datetime date ts when searchtime eventtime createdat"
NAMES = {
    "user": RECORD_NAMES - numbered(_NOT_USERS),
    "text": frozenset(_TEXTS.split()),
    "time": frozenset(_TIMES.split()),
}
"""The names that leave no doubt, by role."""
ROLES = ("user", "text", "time")
AOL = ("AnonID", "Query", "QueryTime", "ItemRank", "ClickURL")
_LONGEST_USER = 64
_NEARLY_ALL = 0.95
_SOME = 0.1  # texts of several words: one in ten is enough

Rows = Sequence[Sequence[str]]


@dataclass(frozen=True)
class LogColumns:
    """What the user said about the columns."""

    user: str | None = None
    text: str | None = None
    time: str | None = None
    no_header: bool = False
    time_format: str | None = None
    needs_time: bool = False

    @property
    def given(self) -> dict[str, str]:
        """The columns that were named, by role."""
        named = {"user": self.user, "text": self.text, "time": self.time}
        return {role: name for role, name in named.items() if name is not None}


@dataclass(frozen=True)
class Layout:
    """Which column is which."""

    names: tuple[str, ...]
    """As in the header; without one, the positions from 1 on."""
    places: dict[str, int]
    """The place of each role, from 0 on; a log of one record per user needs no time."""
    has_header: bool

    @property
    def described(self) -> dict[str, str]:
        """The name or position of the column of each role."""
        return {role: self.names[self.places[role]] for role in ROLES if role in self.places}


def find_layout(rows: Rows, wanted: LogColumns, fail: Fail = DataError) -> Layout:
    """Find the columns of a log by its first rows, the header included if there is one."""
    first = rows[0]
    is_named = not wanted.no_header and (names_columns(first) or _says_header(first, wanted))
    if is_named:
        return by_name(rows, wanted, fail)
    layout = _by_content(rows, wanted, fail)
    if layout is None:
        width = plural(_width(rows), "column")
        problem = f"its first line does not name the columns of a log, and which of its {width}"
        problem += " is which is not beyond doubt"
        remedy = "name them by position, such as {user=1} {text=2} {time=3}"
        raise fail(problem, remedy=f"{remedy}, with {{no_header=True}} if the first line is a row")
    return layout


def looks_like_log(rows: Rows) -> bool:
    """Whether rows are beyond doubt those of a query log: with users, texts and times."""
    if not rows or len(rows[0]) < 3:
        return False
    plain = {plain_name(cell) for cell in rows[0]}
    if all(names & plain for names in NAMES.values()):
        return True
    found = None if names_columns(rows[0]) else _by_content(rows, LogColumns(), DataError)
    return found is not None and "time" in found.places and _has_texts(rows, found)


def names_columns(cells: Sequence[str]) -> bool:
    """Whether a line names the columns of a log."""
    return has_known_names(cells, NAMES.values())


def _says_header(first: Sequence[str], wanted: LogColumns) -> bool:
    """Whether the user named a column as the first line does."""
    plain = {plain_name(cell) for cell in first}
    return any(not name.isdecimal() and plain_name(name) in plain for name in wanted.given.values())


def by_name(rows: Rows, wanted: LogColumns, fail: Fail = DataError) -> Layout:
    """The layout of rows of which the first names the columns."""
    names, places = tuple(rows[0]), {}
    for role, known in NAMES.items():
        given = _as_name(wanted.given.get(role), names)
        found = choose_column(names, role, given, known, fail)
        if found is not None:
            places[role] = names.index(found)
    places = _completed(rows[1:], places, ("time",))
    for role in ("user", "text", *["time"] * wanted.needs_time):
        if role not in places:
            raise _missing(role, names, fail)
    return _checked(Layout(names, places, has_header=True), fail)


def _as_name(given: str | None, names: Sequence[str]) -> str | None:
    """The name of the column at a position; any other name as it is."""
    if given is None or given in names or not given.isdecimal():
        return given
    return names[int(given) - 1] if 0 < int(given) <= len(names) else given


def _missing(role: str, names: Sequence[str], fail: Fail) -> DataError:
    error = not_obvious(role, names, fail)
    if role == "time":
        error.remedy += ", or leave out {gap}: one record per user needs no times"
    return error


def _by_content(rows: Rows, wanted: LogColumns, fail: Fail) -> Layout | None:
    """The layout of a file whose first line has no known names; None if it is in doubt."""
    width = _width(rows)
    names = [str(number) for number in range(1, width + 1)]
    places = {
        role: names.index(str(choose_column(names, role, given, frozenset(), fail)))
        for role, given in wanted.given.items()
    }
    values = [[*row, *[""] * (width - len(row))] for row in rows if len(row) <= width]
    body = values[1:] or values
    found = _completed(body, places)
    is_whole = {"user", "text", *["time"] * wanted.needs_time} <= set(found)
    has_header = None
    if is_whole and not wanted.no_header:
        is_value = looks_timed if "time" in found else _has_digit
        has_header = differs_at([rows[0], *body], found.get("time", found["user"]), is_value)
    if not wanted.given and not has_header and _is_aol(rows, found):
        return Layout(AOL, {role: place for place, role in enumerate(ROLES)}, has_header=False)
    if not is_whole or (has_header is None and not wanted.no_header):
        return None
    return _checked(Layout(tuple(names), found, bool(has_header)), fail)


def _checked(layout: Layout, fail: Fail) -> Layout:
    if len(set(layout.places.values())) < len(layout.places):
        roles = "user, text and time" if "time" in layout.places else "user and text"
        raise fail(f"{roles} must be different columns")
    return layout


def _width(rows: Rows) -> int:
    """How many columns a log has: the most that at least one row in ten has."""
    widths = Counter(len(row) for row in rows)
    return max(width for width, number in widths.items() if 10 * number >= len(rows))


def _completed(
    rows: Rows, places: dict[str, int], roles: Sequence[str] = ROLES[::-1]
) -> dict[str, int]:
    """The places, with those of other roles that only one column can have."""
    found, width = dict(places), max(map(len, rows), default=0)
    columns = {n: [row[n] for row in rows if n < len(row)] for n in range(width)}
    for role in roles:
        fits = _FITS[role]
        free = [n for n in columns if n not in found.values()]
        likely = [n for n in free if fits(columns[n])]
        if role == "time" and len(likely) > 1:  # a number of ten digits may be a user, too
            likely = [n for n in likely if not any(cell.isdecimal() for cell in columns[n])]
        if role not in found and len(likely) == 1:
            found[role] = likely[0]
    return found


def _are_times(cells: Sequence[str]) -> bool:
    return _share(map(looks_timed, cells), len(cells)) >= _NEARLY_ALL


def _are_texts(cells: Sequence[str]) -> bool:
    """Whether some cells have several words, and they are not times."""
    several = (" " in cell and not VALUE.match(cell) for cell in cells)
    return _share(several, sum(map(bool, cells))) >= _SOME


def _are_users(cells: Sequence[str]) -> bool:
    """Whether all cells are single words with a digit, none of them empty."""
    good = (
        0 < len(cell) <= _LONGEST_USER and len(cell.split()) == 1 and not cell.isalpha()
        for cell in cells
    )
    return _share(good, len(cells)) >= _NEARLY_ALL


def _share(good: Iterable[bool], size: int) -> float:
    return sum(good) / size if size else 0.0


_FITS = {"user": _are_users, "text": _are_texts, "time": _are_times}


def _is_aol(rows: Rows, found: dict[str, int]) -> bool:
    """Whether the times are where AOL logs have them, and nothing speaks against it."""
    is_place = all(found.get(role, place) == place for place, role in enumerate(ROLES))
    return is_place and any(
        3 <= len(row) <= len(AOL) and row[0] and looks_timed(row[2]) for row in rows[:50]
    )


def _has_digit(text: str) -> bool:
    return any(letter.isdigit() for letter in text)


def _has_texts(rows: Rows, layout: Layout) -> bool:
    """Whether the texts have several words: a log of baskets has one item in each row."""
    place = layout.places["text"]
    return _are_texts([row[place] for row in rows if place < len(row)])
