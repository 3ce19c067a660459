"""The terms of query logs, how they are kept or dropped, and the report of reading a log."""

import re
import unicodedata
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import timedelta
from enum import IntEnum
from typing import Literal, get_args

from setveil.data.people import People
from setveil.errors import ParameterError

TermKind = Literal["words", "nouns", "queries"]
TERM_KINDS: tuple[str, ...] = get_args(TermKind)

Lemma = Callable[[str], str | None]
"""Returns the base form of a word, or None if the word is unknown."""

WORD = r"[\p{L}\p{N}][\p{L}\p{N}\p{M}]*(?:['’][\p{L}\p{N}][\p{L}\p{N}\p{M}]*)*"
"""A word as a DuckDB regular expression: letters, digits and their marks, apostrophes inside."""

_LETTER_OR_DIGIT = re.compile(r"[^\W_]")

_STOP_WORDS = """
    a about above after again against all also am an and any are aren't as at be because been before
    being below between both but by can can't cannot could couldn't did didn't do does doesn't doing
    don't down during each every few for from further get gets had hadn't has hasn't have haven't
    having he her here hers herself him himself his how how's i i'm i've if in into is isn't it it's
    its itself just let me more most much my myself no nor not of off on once one only or other our
    ours ourselves out over own per same she should shouldn't so some such than that that's the
    their theirs them themselves then there there's these they this those through to too under until
    up upon us very vs was wasn't we were weren't what what's when where where's which while who
    who's whom whose why will with without won't would wouldn't you your yours yourself yourselves
    com edu gov htm html http https net org www
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())
"""English words without a topic, and the parts that web addresses share."""


def as_written(word: str) -> None:
    """A lemma function that knows no words, so that all stay unchanged."""


class Fate(IntEnum):
    """What happens to a word or a query text."""

    KEPT = 0
    EMPTY = 1  # it has no letters or digits
    STOPPED = 2
    UNKNOWN = 3


@dataclass(frozen=True, kw_only=True)
class TermRules:
    """How the terms of a query log are written and which of them are kept.

    Example:
        >>> rules = TermRules(lemma={"boots": "boot"}.get, stop_words=STOP_WORDS)
        >>> rules.judge("Boots"), rules.judge("The"), rules.judge("Woman’s")
        ((<Fate.KEPT: 0>, 'boot'), (<Fate.STOPPED: 2>, 'the'), (<Fate.KEPT: 0>, 'woman'))
    """

    kind: TermKind = "words"
    lemma: Lemma | None = None
    """Makes base forms; unknown words stay unchanged, unless `only_lemmas` is set."""
    only_lemmas: bool = False  # whether words that `lemma` does not know are dropped
    known: frozenset[str] | None = None  # the only words to keep, as written or as base forms
    stop_words: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if self.kind not in TERM_KINDS:
            raise ParameterError("terms", self.kind, f"choose one of {', '.join(TERM_KINDS)}")
        if self.only_lemmas and self.lemma is None:
            allowed = "to keep only known words, give a source of words, such as WordNet"
            raise ParameterError("lemma", None, allowed)
        for name in ("known", "stop_words"):
            words: Collection[str] | None = getattr(self, name)
            if words is not None:
                object.__setattr__(self, name, frozenset(map(fold, words)))

    def judge(self, text: str) -> tuple[Fate, str]:
        """What happens to a word (or a whole query, for the kind `queries`), and its spelling."""
        if self.kind == "queries":
            return _query(text)
        word = fold(text)
        if word in self.stop_words:
            return Fate.STOPPED, word
        word = word.removesuffix("'s")
        if word in self.stop_words:
            return Fate.STOPPED, word
        lemma = self.lemma(word) if self.lemma is not None else None
        term = word if lemma is None else lemma
        if (lemma is None and self.only_lemmas) or (
            self.known is not None and not self.known & {word, term}
        ):
            return Fate.UNKNOWN, term
        return Fate.KEPT, term


def fold(text: str) -> str:
    """The text in one case and one Unicode form, with plain apostrophes.

    Example:
        >>> fold("Straße") == fold("STRASSE"), fold("Cafe\\u0301") == fold("CAFÉ")
        (True, True)
    """
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFC", text).replace("’", "'").casefold()
    return unicodedata.normalize("NFC", folded)


def _query(text: str) -> tuple[Fate, str]:
    """A query in lower case with single blanks; without letters and digits it is empty."""
    if not _LETTER_OR_DIGIT.search(text):
        return Fate.EMPTY, ""
    return Fate.KEPT, " ".join(fold(text).split())


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
