"""Query logs: parse AOL-style lines, merge clicks, cut sessions, count words. Plain Python."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from datetime import datetime, timedelta

from tests.oracle.readers import Unsure

HEADER = "AnonID\tQuery\tQueryTime\tItemRank\tClickURL"


def parse(text: str) -> tuple[set[tuple[str, str, datetime]], int, list[int]]:
    """The queries of a log, how many rows gave them, and the numbers of its bad lines."""
    queries, rows, bad = set(), 0, []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip(" ") or line == HEADER:
            continue
        cells = [cell.strip(" ") for cell in line.split("\t")]
        try:
            user, query = cells[0], cells[1]
            time = datetime.strptime(cells[2], "%Y-%m-%d %H:%M:%S")
            if not user or len(cells) > 5:
                raise ValueError(line)
        except (IndexError, ValueError):
            bad.append(number)
            continue
        queries.add((user, query, time))
        rows += 1
    return queries, rows, bad


_TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", re.ASCII)
_SPACES = "".join(chr(code) for code in range(0x3001) if unicodedata.category(chr(code)) == "Zs")


def rows(content: bytes, mark: str) -> tuple[Counter[tuple[str, str]], Counter[tuple[str, str]]]:
    """The user and the text of each good row of a log with a header, and of the rows whose time may
    be one of another form, or that have far too many cells, or a control character in a cell that
    is not used. Beyond the last column of a table cells may be empty, but not blank. Cells in quotes
    are beyond this reader."""
    if mark != "\t" and b'"' in content:
        raise Unsure("quotes")
    lines = list(map(_clean, content.removeprefix(b"\xef\xbb\xbf").split(b"\n")))
    while lines and (lines[0] is None or not lines[0]):
        lines.pop(0)
    head = [cell.strip() for cell in (lines[0] or "").split(mark)] if lines else []
    if head != HEADER.split("\t") or len({line.count(mark) for line in lines if line}) > 3:
        raise Unsure("another header, or perhaps another delimiter")
    good, perhaps = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for line in lines[1:]:
        cells = (line or "").split(mark)
        while mark != "\t" and len(cells) > 5 and not cells[-1]:
            cells.pop()
        cells = [cell.strip(_SPACES) for cell in cells]
        is_row = line is not None and line.strip(_SPACES) and line != lines[0]
        is_odd = (line or "").count(mark) >= 50 or "\x1a" in "".join(cells[3:])
        width = range(3, 6) if mark == "\t" else range(5, 6)
        if not is_row or not cells[0] or len(cells) not in width or "\x1a" in "".join(cells[:3]):
            continue
        try:
            datetime.strptime(cells[2], "%Y-%m-%d %H:%M:%S")
            is_time = _TIME.fullmatch(cells[2]) is not None
        except ValueError:
            is_time = False
        (good if is_time and not is_odd else perhaps)[cells[0], cells[1]] += 1
    return good, perhaps


def _clean(line: bytes) -> str | None:
    """A line as text; None if it cannot be read."""
    line = line.removesuffix(b"\r")
    try:
        text = line.replace(b"\0", b" ").replace(b"\r", b" ").decode("utf-8")
    except UnicodeDecodeError:
        return None
    return text if len(line) < 1 << 20 else None


def sessions(queries: set[tuple[str, str, datetime]], gap: timedelta | None) -> list[list[str]]:
    """The query texts of each session (of each user, without a gap)."""
    found: list[list[str]] = []
    last: tuple[str, datetime] | None = None
    for user, text, time in sorted(queries, key=lambda query: (query[0], query[2])):
        if last is None or last[0] != user or (gap is not None and time - last[1] > gap):
            found.append([])
        found[-1].append(text)
        last = (user, time)
    return found


def written(time: datetime, form: str) -> str:
    """A time as a log may write it; `%s` is the seconds since 1970, taken as UTC."""
    seconds = int((time - datetime(1970, 1, 1)).total_seconds())
    return time.strftime(form.replace("%s", str(seconds)))


def tokens(text: str) -> list[str]:
    """Words in lower case: letters, digits, their marks, inner apostrophes; no 's at the end."""
    words, word = [], ""
    for place, letter in enumerate(text):
        kind = unicodedata.category(letter)[0]
        after = text[place + 1 : place + 2]
        inside = letter in "'’" and word and after and unicodedata.category(after)[0] in "LN"
        if kind in "LN" or (kind == "M" and word) or inside:
            word += letter
        elif word:
            words.append(word)
            word = ""
    words += [word] if word else []
    return [fold(word).removesuffix("'s") for word in words]


def fold(text: str) -> str:
    folded = unicodedata.normalize("NFC", text).replace("’", "'").casefold()
    return unicodedata.normalize("NFC", folded)


def bags(
    text: str, gap: timedelta | None, stop: frozenset[str], least_users: int = 1
) -> list[Counter[str]]:
    """The vocabularies of a log that are not empty, in any order."""
    queries, _, _ = parse(text)
    issued: dict[str, set[str]] = {}
    for user, query, _ in queries:
        for word in tokens(query):
            issued.setdefault(word, set()).add(user)
    kept = {
        word for word, users in issued.items() if len(users) >= least_users and word not in stop
    }
    made = [
        Counter(word for query in session for word in tokens(query) if word in kept)
        for session in sessions(queries, gap)
    ]
    return [bag for bag in made if bag]


def query_sets(text: str, gap: timedelta | None) -> list[frozenset[str]]:
    """The sets of queries of a log that are not empty, in any order."""
    queries, _, _ = parse(text)
    made = [
        frozenset(
            " ".join(fold(query).split())
            for query in session
            if any(letter.isalnum() for letter in query)
        )
        for session in sessions(queries, gap)
    ]
    return [queries for queries in made if queries]
