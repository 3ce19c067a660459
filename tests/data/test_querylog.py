"""The rules for terms, gaps, and the generator of query logs."""

from __future__ import annotations

from collections import Counter, defaultdict
from datetime import datetime, timedelta

import pytest

from setveil.data.generate import querylog
from setveil.data.generate.querylog import HEADER, catalogue_topics
from setveil.data.logterms import STOP_WORDS, Fate, TermRules, parse_gap
from setveil.errors import ParameterError


@pytest.mark.parametrize(
    ("gap", "seconds"),
    [
        ("45s", 45),
        ("30m", 1800),
        ("1.5h", 5400),
        ("1d", 86_400),
        ("0s", 0),
        (" 2H ", 7200),
        (timedelta(minutes=1), 60),
    ],
)
def test_gaps_are_times(gap, seconds):
    assert parse_gap(gap) == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    "gap", ["", "30", "m", "-1m", "1w", "1e3s", "nan", "99999999d", timedelta(-1), 30]
)
def test_anything_else_is_not_a_gap(gap):
    with pytest.raises(ParameterError, match="gap"):
        parse_gap(gap)


def test_a_word_that_the_lemmas_do_not_know_stays_or_goes():
    known = {"boots": "boot"}.get
    assert TermRules(lemma=known).judge("Shoes") == (Fate.KEPT, "shoes")
    assert TermRules(lemma=known, only_lemmas=True).judge("Shoes") == (Fate.UNKNOWN, "shoes")
    assert TermRules(lemma=known, stop_words=frozenset(["BOOTS"])).judge("boots") == (
        Fate.STOPPED,
        "boots",
    )


def test_keeping_known_words_only_needs_somebody_who_knows():
    with pytest.raises(ParameterError, match="WordNet"):
        TermRules(only_lemmas=True)


def test_stop_words_are_written_as_terms_are():
    assert all(
        TermRules(stop_words=STOP_WORDS).judge(word)[0] is Fate.STOPPED for word in STOP_WORDS
    )


def rows_of(users: int, seed: int, **options) -> list[list[str]]:
    lines = "\n".join(querylog(users, seed, **options)).split("\n")
    assert lines[0] == HEADER
    return [line.split("\t") for line in lines[1:]]


def test_a_generated_log_has_the_shape_of_a_real_one():
    rows = rows_of(2_000, 1)
    assert all(len(row) == 5 and row[1].strip() for row in rows)
    queries = defaultdict(set)
    for user, text, time, rank, url in rows:
        queries[int(user)].add((datetime.strptime(time, "%Y-%m-%d %H:%M:%S"), text))
        assert (rank == "") == (url == "")
    sizes = sorted(map(len, queries.values()))
    assert len(queries) == 2_000
    assert sizes[0] == 1
    assert sizes[-1] > 20 * sizes[1_000]
    assert 11 < sum(sizes) / len(sizes) < 16
    assert len(rows) > 1.1 * sum(sizes)
    pauses = [
        later - sooner
        for asked in queries.values()
        for (sooner, _), (later, _) in zip(sorted(asked), sorted(asked)[1:], strict=False)
    ]
    assert 0.5 < sum(pause < timedelta(minutes=30) for pause in pauses) / len(pauses) < 0.75
    assert all(
        datetime(2006, 3, 1) <= time < datetime(2006, 6, 3)
        for asked in queries.values()
        for time, _ in asked
    )


def test_rows_are_sorted_by_user_and_time():
    keys = [(int(row[0]), row[2]) for row in rows_of(300, 2)]
    assert keys == sorted(keys)


def test_the_terms_of_a_generated_log_have_a_long_tail():
    words = Counter(word for row in rows_of(3_000, 1) for word in row[1].split())
    ordered = [count for _, count in words.most_common()]
    assert ordered[0] > 20 * ordered[len(ordered) // 2]
    assert sum(count <= 5 for count in ordered) > 0.3 * len(ordered)


def test_a_log_with_a_long_tail_has_short_sessions_popular_queries_and_many_rare_words():
    topics = [[f"word{start + place}" for place in range(12)] for start in range(0, 6_000, 12)]
    sessions, last = defaultdict(set), {}
    for user, text, time, *_ in rows_of(300, 1, shape="long-tail", topics=topics):
        now = datetime.strptime(time, "%Y-%m-%d %H:%M:%S")
        if user not in last or now - last[user][0] > timedelta(minutes=30):
            last[user] = now, (user, now)
        last[user] = now, last[user][1]
        sessions[last[user][1]].add((text, now))
    sizes = sorted(map(len, sessions.values()))
    texts = Counter(text for asked in sessions.values() for text in {text for text, _ in asked})
    words = Counter()
    for asked in sessions.values():
        words.update({word for text, _ in asked for word in text.split()})
    assert sizes[len(sizes) // 2] <= 2 < sum(sizes) / len(sizes) < 3
    assert texts.most_common(1)[0][1] > len(sessions) / 100
    assert 0.5 < sum(count < 5 for count in words.values()) / len(words) < 0.9


def test_the_same_seed_gives_the_same_log_and_another_one_another():
    assert rows_of(50, 1) == rows_of(50, 1) != rows_of(50, 2)


def test_topics_may_be_given():
    words = {
        word
        for row in rows_of(50, 1, topics=[["gin"], ["cod", "eel"]], queries=3)
        for word in row[1].split()
    }
    assert {"gin", "cod", "eel"} <= words
    assert "milk" not in words


def test_without_users_there_is_only_the_header():
    assert list(querylog(0)) == [HEADER]


@pytest.mark.parametrize(
    "options",
    [
        {"topics": []},
        {"topics": [[]]},
        {"topics": [["a\tb"]]},
        {"users": -1},
        {"queries": 0.5},
        {"seed": -1},
        {"shape": "round"},
    ],
)
def test_what_cannot_be_generated_is_refused(options):
    with pytest.raises(ParameterError):
        querylog(**options)


def test_the_catalogue_gives_topics_of_distinct_words():
    topics = catalogue_topics()
    words = [word for topic in topics for word in topic]
    assert len(topics) > 50
    assert len(words) == len(set(words)) > 500
