"""The report of reading a query log, and the pause that ends a session."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import timedelta

from setveil.data.people import People
from setveil.errors import ParameterError

_GAP = re.compile(r"(\d+(?:\.\d+)?)\s*(s|m|h|d)\Z", re.ASCII)
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_LONGEST = timedelta(days=36_500)


@dataclass(frozen=True)
class BadLine:
    """A line that could not be used; its content is private and not repeated here."""

    line: int
    reason: str


@dataclass(frozen=True)
class LogReport:
    """What `read_querylog` found, merged and dropped. It describes the original log: private.

    Occurrences count a term once for each time it is in a query."""

    rows: int  # lines that are not blank, without headers
    bad_rows: int
    bad_lines: tuple[BadLine, ...]  # the first few of them
    merged_clicks: int
    """Rows with the same user, text and time as another: more clicks of the same query."""
    users: int
    queries: int
    queries_without_terms: int  # queries that kept no term
    occurrences: int
    """Of words (or of whole queries, if these are the terms) before any were dropped."""
    stopped_occurrences: int
    unknown_occurrences: int
    rare_occurrences: int  # of terms that fewer than `min_users` users issued
    kept_occurrences: int
    kept_terms: int  # distinct terms
    rare_terms: int
    sessions: int  # vocabularies before empty ones were left out
    empty_vocabularies: int
    vocabularies: int  # vocabularies that were returned
    columns: Mapping[str, str] = field(default_factory=dict)
    """The name or position of the columns of user, text and (if there are times) time."""
    has_header: bool = True
    time_format: str = ""
    """The form that most times have; empty if there are none, or it makes no difference."""
    min_users: int = 1
    lemmas: str = "none"  # where base forms come from
    often_unknown: tuple[tuple[str, int], ...] = ()
    """Unknown terms of many users, with the number of users."""
    people: People | None = field(default=None, repr=False, compare=False)
    """The user of each record, as a number; None if each user has one record."""

    @property
    def rare_share(self) -> float:
        """The share of occurrences that were dropped as rare, of those no other rule dropped."""
        left = self.rare_occurrences + self.kept_occurrences
        return self.rare_occurrences / left if left else 0.0

    @property
    def rare_term_share(self) -> float:
        """The same for distinct terms."""
        left = self.rare_terms + self.kept_terms
        return self.rare_terms / left if left else 0.0

    def to_dict(self) -> dict[str, object]:
        """The report as JSON shows it."""
        fields = asdict(replace(self, people=None)) | {
            "rare_share": round(self.rare_share, 6),
            "rare_term_share": round(self.rare_term_share, 6),
        }
        fields["bad_lines"] = [asdict(bad) for bad in self.bad_lines]
        del fields["people"]
        fields["often_unknown"] = [
            {"term": term, "users": users} for term, users in self.often_unknown
        ]
        return {"private": True, **fields}


def parse_gap(gap: timedelta | str | None) -> timedelta | None:
    """The longest pause within a session; None if there is no limit.

    Example:
        >>> parse_gap("30m"), parse_gap("inf")
        (datetime.timedelta(seconds=1800), None)
    """
    if gap is None or gap == "inf":
        return None
    found = _GAP.match(gap.strip().lower()) if isinstance(gap, str) else None
    if found and float(found[1]) * _SECONDS[found[2]] <= _LONGEST.total_seconds():
        return timedelta(seconds=float(found[1]) * _SECONDS[found[2]])
    if isinstance(gap, timedelta) and timedelta(0) <= gap <= _LONGEST:
        return gap
    allowed = "it must be a time such as 30m, 45s, 2h or 1d, or inf for one vocabulary per user"
    raise ParameterError("gap", gap, allowed)
