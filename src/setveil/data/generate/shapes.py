"""The shapes of generated query logs: how people search, in numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Shape:
    """How the users of a log search."""

    queries: float
    """The average number of queries per user."""
    spread: float
    """The standard deviation of the logarithm of that number."""
    new_session: float
    """The chance that a query starts a session."""
    same_again: float
    """The chance that a query repeats the one before it."""
    old_again: float
    """The chance that a query repeats any earlier one of the user."""
    lengths: tuple[int, ...]
    """In percent: queries of one term, two terms, and so on."""
    interests: tuple[int, ...]
    """In percent: the share of a user's sessions for each interest."""
    own_words: float
    """The chance that a word is one of the user's favourites."""
    anything: float
    """The chance that a query is off-topic: of words from all topics."""
    address: float
    """The chance that a query is the address of a site."""
    extra: float
    """The chance that a query has an extra word."""
    word_offset: int = 0
    """Off-topic words are drawn by rank: the word at rank r has weight 1 / (r + this), whatever its
    topic. 0: by the weights of topics and of the words in them."""
    popular: float = 0
    """The chance that a query is one of a pool of popular ones."""
    pool: int = 0
    """How many popular queries there are."""
    pool_offset: int = 1
    """The popular query at rank r has weight 1 / (r + this)."""


SHAPES: Mapping[str, Shape] = {
    "topics": Shape(
        queries=13.5,
        spread=1.2,
        new_session=0.4,
        same_again=0.14,
        old_again=0.14,
        lengths=(35, 35, 20, 10),
        interests=(55, 25, 20),
        own_words=0.6,
        anything=0.15,
        address=0.1,
        extra=0.2,
    ),
    "long-tail": Shape(
        queries=78,
        spread=1.3,
        new_session=0.45,
        same_again=0.22,
        old_again=0.2,
        lengths=(55, 30, 11, 4),
        interests=(30, 20, 15, 10, 10, 5, 5, 5),
        own_words=0.6,
        anything=0.6,
        address=0.15,
        extra=0.2,
        word_offset=3,
        popular=0.25,
        pool=5_000,
        pool_offset=5,
    ),
}
