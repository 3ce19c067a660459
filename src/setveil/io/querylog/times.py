"""The times of a query log: which forms are understood, and which form a column is in."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from setveil.errors import ParameterError
from setveil.io.source.database import quoted
from setveil.io.source.source import Source

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_DATE = r"\d{4}[-/]\d{1,2}[-/]\d{1,2}"
_DAY_OR_MONTH = r"\d{1,2}[./-]\d{1,2}[./-]\d{4}"
_CLOCK = r"[ T]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?"
_ZONED = f"{_DATE}{_CLOCK} ?(Z|UTC|[+-]\\d{{2}}(:?\\d{{2}})?)"
_SAMPLE = 10_000
_ENOUGH = 10  # so many different times that all fit a form are no accident
_NEARLY_ALL = 0.99

_MONTH, _DAY, _HOUR = "(0[1-9]|1[0-2])", r"(0[1-9]|[12]\d|3[01])", r"([01]\d|2[0-3])"
_LOOKS_TIMED = re.compile(
    rf"{_DATE}(?!\d)|{_DAY_OR_MONTH}(?!\d)"
    rf"|\d\d{_MONTH}{_DAY}{_HOUR}[0-5]\d[0-5]\d\Z"
    rf"|(19|20)\d\d{_MONTH}{_DAY}({_HOUR}[0-5]\d([0-5]\d)?)?\Z"
    r"|([6-9]\d{8}|[1-3]\d{9})((\d{3}){1,3}|\.\d+)?\Z",  # seconds since 1970, and parts of them
    re.ASCII,
)


class TimeForm(NamedTuple):
    """A way to write times."""

    shape: str
    """What such a text looks like, as a regular expression."""
    moment: str
    """SQL for its microseconds since 1970; `{}` is the text."""


class TimeFormat(NamedTuple):
    """How the times of a log are read."""

    name: str
    """The form that most of them have; empty if that is unknown, and does not matter."""
    forms: tuple[TimeForm, ...]
    """All forms that are understood."""

    def moment(self, time: str) -> str:
        """SQL for the microseconds since 1970 of a text; NULL if it is not a time."""
        cases = (
            f"WHEN regexp_full_match({time}, {quoted(form.shape)}) THEN {form.moment.format(time)}"
            for form in self.forms
        )
        return f"CASE {' '.join(cases)} END"


def _number(digits: str, factor: float) -> TimeForm:
    return TimeForm(digits, f"TRY_CAST(round({factor:g} * TRY_CAST({{}} AS DOUBLE)) AS BIGINT)")


def _parsed(shape: str, pattern: str) -> TimeForm:
    return TimeForm(shape, f"epoch_us(try_strptime({{}}, {quoted(pattern)}))")


def _turned(order: str) -> TimeForm:
    """A date with the year at its end, turned round."""
    date = f"regexp_replace({{}}, '^(\\d+)[./-](\\d+)[./-](\\d{{{{4}}}})', '{order}')"
    return TimeForm(f"{_DAY_OR_MONTH}({_CLOCK})?", f"epoch_us(TRY_CAST({date} AS TIMESTAMP))")


_CLOSED_UP = "regexp_replace(replace({}, 'UTC', 'Z'), ' (Z|[+-][0-9:]+)$', '\\1')"
_ISO = TimeForm(f"{_DATE}({_CLOCK})?", "epoch_us(TRY_CAST({} AS TIMESTAMP))")
_WITH_ZONE = TimeForm(_ZONED, f"epoch_us(TRY_CAST({_CLOSED_UP} AS TIMESTAMPTZ))")

_CLEAR: dict[str, tuple[TimeForm, ...]] = {
    "iso": (_ISO, _WITH_ZONE),
    "yyyymmdd": (_parsed(r"\d{8}", "%Y%m%d"),),
    "yyyymmddhhmmss": (_parsed(r"\d{14}", "%Y%m%d%H%M%S"),),
    "seconds": (_number(r"\d{9,11}(\.\d+)?", 1e6),),
    "milliseconds": (TimeForm(r"\d{13}", "1000 * TRY_CAST({} AS BIGINT)"),),
    "microseconds": (TimeForm(r"\d{15,16}", "TRY_CAST({} AS BIGINT)"),),
    "nanoseconds": (TimeForm(r"\d{18,19}", "TRY_CAST({} AS BIGINT) // 1000"),),
}
"""Forms that can mean nothing else. Fourteen digits are a date and a clock: as milliseconds they
would be far in the future."""
_DOUBTFUL: dict[str, tuple[TimeForm, ...]] = {
    "yymmddhhmmss": (_parsed(r"\d{12}", "%y%m%d%H%M%S"),),
    "yyyymmddhhmm": (_parsed(r"(19|20)\d{10}", "%Y%m%d%H%M"),),
    "milliseconds": (TimeForm(r"[6-9]\d{11}", "1000 * TRY_CAST({} AS BIGINT)"),),  # before 2001
    "dd/mm/yyyy": (_turned(r"\3-\2-\1"),),
    "mm/dd/yyyy": (_turned(r"\3-\1-\2"),),
}
"""Forms that look like another one: only the times together say which it is, or the user."""
_DOUBTS = (
    (r"\d{12}", ("yymmddhhmmss", "yyyymmddhhmm", "milliseconds"), "its times of 12 digits"),
    (f"{_DAY_OR_MONTH}({_CLOCK})?", ("dd/mm/yyyy", "mm/dd/yyyy"), "its days and months"),
)
"""What such times look like, how they can be read, and what cannot be told apart."""
_SINCE_1970: dict[str, tuple[TimeForm, ...]] = {
    "seconds": (_number(r"\d{1,12}(\.\d+)?", 1e6),),
    "milliseconds": (_number(r"\d{1,15}(\.\d+)?", 1e3),),
    "microseconds": (_number(r"\d{1,18}(\.\d+)?", 1),),
}
"""If the unit is named, numbers of any length are understood."""

_NAMED = _CLEAR | _DOUBTFUL | _SINCE_1970
TIME_FORMATS = tuple(_NAMED)
"""The names of time formats; a pattern with `%` is one too."""


def looks_timed(text: str) -> bool:
    """Whether a text is probably a time.

    Example:
        >>> [looks_timed(text) for text in ("2006-03-01 07:17", "970916001949", "1141171800", "42")]
        [True, True, True, False]
    """
    return _LOOKS_TIMED.match(text.strip()) is not None


def check_time_format(name: str | None) -> None:
    """Refuse a time format that is neither a name nor a pattern."""
    if name is not None and "%" not in name and name not in _NAMED:
        allowed = f"choose one of {', '.join(TIME_FORMATS)}, or give a pattern such as %d.%m.%y"
        raise ParameterError("time_format", name, allowed)


def named_format(connection: DuckDBPyConnection, name: str) -> TimeFormat:
    """The format that the user named."""
    import duckdb

    if "%" not in name:
        return TimeFormat(name, _NAMED[name])
    try:
        connection.execute(f"SELECT try_strptime('', {quoted(name)})").fetchall()
    except duckdb.Error:
        allowed = "it is not a pattern of strptime, such as %d.%m.%y %H:%M"
        raise ParameterError("time_format", name, allowed) from None
    pattern = quoted(name).replace("{", "{{").replace("}", "}}")
    return TimeFormat(name, (TimeForm("(?s).+", f"epoch_us(try_strptime({{}}, {pattern}))"),))


def find_format(
    connection: DuckDBPyConnection, source: Source, rows: str, *, in_order: bool
) -> TimeFormat:
    """The format of the times in the column `time` of these rows.

    Args:
        connection: The database.
        source: The log, for its name in errors.
        rows: SQL for the rows.
        in_order: Whether the order of the times matters; if not, any reading of them will do.
    """
    times = f"SELECT trim(time) AS time FROM ({rows})"
    clear = tuple(form for forms in _CLEAR.values() for form in forms)
    shapes = {name: "|".join(form.shape for form in forms) for name, forms in _CLEAR.items()}
    often = _matches(connection, times, shapes)
    for shape, candidates, what in _DOUBTS:
        if _matches(connection, times, {"": shape})[""] <= sum(often.values()):
            continue  # the odd one among clear times is a bad row
        chosen = _decided(connection, times, shape, candidates)
        if chosen is not None:
            return TimeFormat(chosen, (*_DOUBTFUL[chosen], *clear))
        if in_order:
            problem = f"{what} can be read in more than one way"
            remedy = " or ".join(f"{{time_format={name}}}" for name in candidates)
            raise source.fault(problem, remedy=f"say how, such as {remedy}")
        return TimeFormat("", (TimeForm(shape, _ANY_ORDER), *clear))
    usual = max(often, key=often.__getitem__)
    return TimeFormat(usual if often[usual] else "", clear)


_ANY_ORDER = "TRY_CAST(hash({}) // 4 AS BIGINT)"  # equal times stay equal; that is all that counts


def _matches(
    connection: DuckDBPyConnection, times: str, shapes: Mapping[str, str]
) -> dict[str, int]:
    """How many of the first times have each shape."""
    counts = (f"count(*) FILTER ({_has_shape(shape)})" for shape in shapes.values())
    found = connection.execute(f"SELECT {', '.join(counts)} FROM ({times} LIMIT {_SAMPLE})")
    return dict(zip(shapes, found.fetchall()[0], strict=True))


def _decided(
    connection: DuckDBPyConnection, times: str, shape: str, candidates: Sequence[str]
) -> str | None:
    """The one format in which nearly all times of a shape can be read; None if that is in doubt."""
    good = (
        f"count(*) FILTER ({TimeFormat(name, _DOUBTFUL[name]).moment('time')} IS NOT NULL)"
        for name in candidates
    )
    wanted = f"count(DISTINCT time), count(*), {', '.join(good)}"
    found = connection.execute(f"SELECT {wanted} FROM ({times}) WHERE {_has_shape(shape)}")
    distinct, size, *readable = found.fetchall()[0]
    fits = [name for name, n in zip(candidates, readable, strict=True) if n >= _NEARLY_ALL * size]
    if len(fits) > 1 and fits[-1] == "milliseconds":  # so many dates are no accident
        fits.pop()
    return fits[0] if len(fits) == 1 and distinct >= _ENOUGH else None


def _has_shape(shape: str) -> str:
    return f"regexp_full_match(time, {quoted(shape)})"
