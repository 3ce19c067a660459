"""The terms of a query: how its text is split into words, normalized, and kept or dropped."""

import re
import unicodedata
from collections.abc import Callable, Collection
from dataclasses import dataclass
from enum import IntEnum
from typing import Literal, get_args

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
