"""A synthetic query log in the format of the AOL log."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

from setveil.data.arrays import Flags, Int64s
from setveil.data.generate import draw
from setveil.data.generate.shop import read_catalogue
from setveil.data.logterms import STOP_WORDS
from setveil.errors import ParameterError


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


Texts = npt.NDArray[Any]

HEADER = "AnonID\tQuery\tQueryTime\tItemRank\tClickURL"

_USERS_AT_ONCE = 10_000
_DAYS = [
    (datetime.date(2006, 3, 1) + datetime.timedelta(days=day)).isoformat() for day in range(94)
]
_SESSION_DAYS = 92
_HOURS = (12, 7, 4, 3, 2, 3, 6, 11, 18, 24, 28, 30, 31, 31, 31, 32, 33, 35, 38, 42, 44, 40, 31, 20)
"""How busy each hour of the day is."""

_PAUSE = 150
"""Average seconds between the queries of a session; one in twenty pauses is ten times as long."""
_FORMS = np.array([84, 15, 1])  # in percent: words unchanged, in the plural, misspelled
_CLICKS = np.array([46, 43, 7, 3, 1])  # in percent: queries with no click, one, two, three and four
_SITES, _RANKS = 2_000, 20
_EXTRA_WORDS = 'cheap|free|new|best|how to|what is|in|for|the|online|"|2006|my|near me|and'
_EXTRAS = _EXTRA_WORDS.split("|")


def querylog(
    users: int = 20_000,
    seed: int = 0,
    *,
    topics: Sequence[Sequence[str]] | None = None,
    queries: float | None = None,
    shape: str = "topics",
) -> Iterator[str]:
    """The lines of a synthetic query log, in blocks without the last newline, the header first.

    `shape="long-tail"` has the proportions of a real log: short sessions, few queries that very
    many people repeat, and many nouns that hardly anybody uses (`shapes.py` has the numbers). The
    rest of this text is about `shape="topics"`, in which people ask about related things.

    Topics are groups of related words. Few topics are popular (Zipf), and few of their words are. A
    user has three interests, each a topic with favourite words, so people of one interest use
    different but related words: the data is sparse, and most terms have few users. Queries have one
    to four terms; some have an extra word, a misspelling or a plural; one in ten is a web address,
    and nearly a quarter repeat an earlier query of the user. They come in sessions over three
    months. A query has a row for each click, or one row without a click. The number of queries per
    user is log-normal: most users issue a few, some hundreds.

    Args:
        users: The number of users.
        seed: The seed; the same arguments and seed give the same bytes on any machine.
        topics: Lists of related words, the most common first; by default words of a shop.
        queries: The average number of queries per user; by default that of the shape, 13.5 for
            `topics` (about 25 terms per user) and 78 for `long-tail` (about 110).
        shape: `topics` or `long-tail`.

    Cost:
        Linear, a few seconds for a million rows; memory for 10,000 users at a time.

    Example:
        >>> lines = "\\n".join(querylog(50, seed=1)).split("\\n")
        >>> lines[0].split("\\t")
        ['AnonID', 'Query', 'QueryTime', 'ItemRank', 'ClickURL']
    """
    draw.whole("users", users, 0)
    if shape not in SHAPES:
        raise ParameterError("shape", shape, f"it is one of {', '.join(SHAPES)}")
    form = SHAPES[shape]
    average = draw.between("queries", form.queries if queries is None else queries, 1, 10_000)
    random = draw.source(seed)
    world = _world(random, _checked(topics) if topics is not None else catalogue_topics(), form)
    steps, normal = 65_536, NormalDist(0, form.spread)
    raw = np.array([math.exp(normal.inv_cdf((step + 0.5) / steps)) for step in range(steps)])
    counts: Int64s = np.maximum(np.round(raw * (average / raw.mean())), 1).astype(np.int64)
    return _blocks(random, world, users, counts)


def catalogue_topics() -> list[list[str]]:
    """The words of the built-in catalogue, by families of products."""
    topics: dict[str, dict[str, None]] = {}
    seen: set[str] = set()
    for product in read_catalogue():
        for word in product.name.lower().split():
            if word.isalpha() and len(word) > 2 and word not in STOP_WORDS | seen:
                topics.setdefault(product.family, {})[word] = None
                seen.add(word)
    return [list(words) for words in topics.values()]


def _checked(topics: Sequence[Sequence[str]]) -> list[list[str]]:
    words = [list(topic) for topic in topics]
    if not words or not all(words):
        allowed = "there must be one or more, each with one or more words"
        raise ParameterError("topics", f"{len(words)} lists", allowed)
    for word in chain.from_iterable(words):
        if not word.strip() or re.search(r"[\t\n\r]", word):
            allowed = "a word must not be blank, nor contain a tab or a line break"
            raise ParameterError("topics", word, allowed)
    return words


@dataclass(frozen=True)
class _World:
    """The words, sites and popular queries that all users share, and how they search."""

    shape: Shape
    forms: Texts
    """Each word unchanged, in the plural and misspelled: word w has places 3w to 3w + 2."""
    starts: Int64s
    """Where the words of each topic begin."""
    sizes: Int64s
    topic_weights: Int64s
    word_weights: Int64s
    addresses: Texts
    clicks: Texts
    """The last two columns: first those without a click, then site by site, rank by rank."""
    popular: Int64s
    """The words of each popular query, the most popular first."""


def _world(random: np.random.Generator, topics: list[list[str]], shape: Shape) -> _World:
    sizes = np.array([len(topic) for topic in topics])
    words = [word for topic in topics for word in topic]
    rank = random.permutation(len(topics))
    topic_weights = 1_000_000_000_000 // (rank + 10)
    starts = np.cumsum(sizes) - sizes
    places = np.arange(len(words)) - np.repeat(starts, sizes)
    forms = [form for word in words for form in (word, _plural(word), _misspelled(word))]
    pairs = random.integers(len(words), size=(_SITES, 2)).tolist()
    sites = [(words[one] + words[two]).replace(" ", "").replace("_", "") for one, two in pairs]
    ranks = range(1, _RANKS + 1)
    weights = np.repeat(topic_weights, sizes) // (places + 3)
    if shape.word_offset:
        weights = _by_rank(len(words), shape.word_offset)[random.permutation(len(words))]
    return _World(
        shape=shape,
        forms=np.array(forms, dtype=object),
        starts=starts,
        sizes=sizes,
        topic_weights=topic_weights,
        word_weights=weights,
        popular=draw.weighted(random, weights, (shape.pool, len(shape.lengths)))
        if shape.pool
        else np.empty((0, len(shape.lengths)), dtype=np.int64),
        addresses=np.array(
            [address for site in sites for address in (f"www.{site}.com", f"{site}.com", site)],
            dtype=object,
        ),
        clicks=np.array(
            ["\t\t", *(f"\t{rank}\thttp://www.{site}.com" for site in sites for rank in ranks)],
            dtype=object,
        ),
    )


def _by_rank(count: int, offset: int) -> Int64s:
    """Weights that fall with the rank (Zipf)."""
    weights: Int64s = 1_000_000_000_000 // (np.arange(count) + offset)
    return weights


def _plural(word: str) -> str:
    if word.endswith("s") and not word.endswith("ss"):
        return word
    if word.endswith(("ss", "x", "z", "ch", "sh")):
        return word + "es"
    is_consonant = word[-2:-1] not in tuple("aeiou")
    return word[:-1] + "ies" if word.endswith("y") and is_consonant else word + "s"


def _misspelled(word: str) -> str:
    middle = len(word) // 2
    return word[:middle] + word[middle + 1 :] if len(word) > 3 else word + word[-1]


def _blocks(
    random: np.random.Generator, world: _World, users: int, activity: Int64s
) -> Iterator[str]:
    yield HEADER
    last = 0
    for start in range(0, users, _USERS_AT_ONCE):
        numbers = last + np.cumsum(1 + random.integers(40, size=min(_USERS_AT_ONCE, users - start)))
        last = int(numbers[-1])
        yield "\n".join(_rows(random, world, numbers, activity))


def _rows(
    random: np.random.Generator, world: _World, numbers: Int64s, activity: Int64s
) -> list[str]:
    """All rows of these users, by user and time."""
    counts = activity[random.integers(len(activity), size=len(numbers))]
    owners = np.repeat(np.arange(len(numbers)), counts)
    firsts = np.repeat(np.cumsum(counts) - counts, counts)
    begins = draw.chance(random, world.shape.new_session, len(owners))
    begins[np.cumsum(counts) - counts] = True
    sessions = np.cumsum(begins) - 1
    times = _times(random, owners, begins, sessions)
    asked = _asked(random, firsts, begins, world.shape)
    texts = _texts(random, world, owners, sessions, len(numbers))[asked]
    order = np.lexsort((np.arange(len(owners)), times, owners))
    users = np.array([f"{number}\t" for number in numbers.tolist()], dtype=object)
    days = np.array([f"\t{day}" for day in _DAYS], dtype=object)[times // 86_400]
    clocks = np.array(_clocks(), dtype=object)[times % 86_400]
    events = (users[owners] + texts + days + clocks)[order]
    return _with_clicks(random, world, events)


@cache
def _clocks() -> list[str]:
    """The time of each second of a day."""
    return [f" {s // 3600:02d}:{s // 60 % 60:02d}:{s % 60:02d}" for s in range(86_400)]


def _times(random: np.random.Generator, owners: Int64s, begins: Flags, sessions: Int64s) -> Int64s:
    """Seconds since the log began, ascending within a session; a user's sessions are in order."""
    heads = np.flatnonzero(begins)
    hours = draw.weighted(random, np.array(_HOURS), len(heads))
    starts = random.integers(_SESSION_DAYS, size=len(heads)) * 86_400 + hours * 3_600
    starts += random.integers(3_600, size=len(heads))
    starts = starts[np.lexsort((starts, owners[heads]))]
    pauses = 1 + (draw.exponential(random, len(owners)) * _PAUSE >> 16)
    pauses = np.where(draw.chance(random, 0.05, len(owners)), 10 * pauses, pauses)
    passed = np.cumsum(np.where(begins, 0, pauses))
    times = starts[sessions] + np.minimum(passed - passed[heads][sessions], 86_400)
    latest: Int64s = np.minimum(times, len(_DAYS) * 86_400 - 1)
    return latest


def _asked(random: np.random.Generator, firsts: Int64s, begins: Flags, shape: Shape) -> Int64s:
    """The query whose text each query has: itself, the previous one, or an older one."""
    places = np.arange(len(firsts))
    kind = random.integers(10_000, size=len(firsts))
    age = places - firsts
    source = np.where((kind < 10_000 * shape.same_again) & ~begins, places - 1, places)
    older = (kind >= 10_000 * (1 - shape.old_again)) & (age > 0)
    source[older] = firsts[older] + random.integers(1 << 32, size=int(older.sum())) % age[older]
    while (source[source] != source).any():
        source = source[source]
    return source


def _texts(
    random: np.random.Generator, world: _World, owners: Int64s, sessions: Int64s, users: int
) -> Texts:
    """A query text for every event."""
    size, shape = len(owners), world.shape
    lengths = 1 + draw.weighted(random, np.array(shape.lengths), size)
    words = _words(random, world, owners, sessions, users)
    if shape.pool:
        shared = np.flatnonzero(draw.chance(random, shape.popular, size))
        ranks = draw.weighted(random, _by_rank(shape.pool, shape.pool_offset), len(shared))
        words[shared] = world.popular[ranks]
        lengths[shared] = 1 + (ranks % 3 == 1)  # one in three popular queries has two words
    forms = 3 * words + draw.weighted(random, _FORMS, (size, words.shape[1]))
    texts: Texts = world.forms[forms[:, 0]]
    for place in range(1, forms.shape[1]):
        longer = lengths > place
        texts[longer] = texts[longer] + " " + world.forms[forms[longer, place]]
    extra = draw.chance(random, shape.extra, size)
    chosen = np.array(_EXTRAS, dtype=object)[random.integers(len(_EXTRAS), size=int(extra.sum()))]
    texts[extra] = chosen + " " + texts[extra]
    address = draw.chance(random, shape.address, size)
    site = draw.weighted(random, 1_000_000_000 // np.arange(5, _SITES + 5), int(address.sum()))
    texts[address] = world.addresses[3 * site + random.integers(3, size=len(site))]
    return texts


def _words(
    random: np.random.Generator, world: _World, owners: Int64s, sessions: Int64s, users: int
) -> Int64s:
    """Four words for every event: of the topic of its session, or off-topic."""
    size, shape = len(owners), world.shape
    width, shares = len(shape.lengths), np.array(shape.interests)
    interests = draw.weighted(random, world.topic_weights, (users, len(shares)))
    liked = random.integers(1 << 32, size=interests.shape)
    which = draw.weighted(random, shares, int(sessions[-1]) + 1)[sessions] if size else sessions
    topics = interests[owners, which]
    room = world.sizes[topics][:, None]
    most = int(world.sizes.max())
    ranks = draw.weighted(random, 1_000_000_000 // np.arange(2, most + 2), (size, width)) % room
    own = draw.chance(random, shape.own_words, (size, width))
    places = (ranks + np.where(own, liked[owners, which][:, None], 0)) % room
    repeated = places[:, 1:] == places[:, :-1]
    places[:, 1:] = (places[:, 1:] + repeated) % room
    words = world.starts[topics][:, None] + places
    anything = draw.chance(random, shape.anything, size)
    words[anything] = draw.weighted(random, world.word_weights, (int(anything.sum()), width))
    return words


def _with_clicks(random: np.random.Generator, world: _World, events: Texts) -> list[str]:
    """One row for each click, in the order drawn, or one row without a click."""
    clicks = draw.weighted(random, _CLICKS, len(events))
    rows = np.repeat(np.arange(len(events)), np.maximum(clicks, 1))
    ranks = draw.weighted(random, 1_000_000_000 // np.arange(1, _RANKS + 1), len(rows))
    sites = random.integers(_SITES, size=len(rows))
    chosen = np.where(clicks[rows] == 0, 0, 1 + sites * _RANKS + ranks)
    lines: list[str] = (events[rows] + world.clicks[chosen]).tolist()
    return lines
