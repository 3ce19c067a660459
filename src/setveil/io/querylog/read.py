"""From a query log to records: the terms, or the queries, of each user or each session of a user.

All rows stay in a private database on disk that keeps to a memory limit; only distinct words and
the result come to Python.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

import numpy as np

from setveil.data.arrays import Int32s, Int64s
from setveil.data.logterms import (
    STOP_WORDS,
    Fate,
    Lemma,
    LogReport,
    TermKind,
    TermRules,
    as_written,
    parse_gap,
)
from setveil.data.people import People
from setveil.data.transactions import Bags, Transactions
from setveil.data.vocabulary import Vocabulary, natural_order, sort_labels
from setveil.disk import unpacked_limit
from setveil.errors import ParameterError
from setveil.hierarchy.wordnet.network import WordNet
from setveil.io.querylog import logsteps
from setveil.io.querylog.logcolumns import LogColumns
from setveil.io.querylog.tables import bad_lines, load_log
from setveil.io.querylog.times import check_time_format
from setveil.io.source.database import database, number, run, translated
from setveil.io.source.packed import unpacked
from setveil.io.source.source import Source, open_source

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Progress = Callable[[int, int, str], None]

_MEMORY = "800MB"
ENOUGH_USERS = 10
"""A report names a dropped term only if this many users issued it."""
_NAMED = 10
_ROWS_AT_ONCE = 1 << 20


def read_querylog(
    path: str | os.PathLike[str] | BinaryIO,
    *,
    gap: timedelta | str | None = None,
    terms: TermKind = "words",
    lemma: Lemma | None = None,
    known: Collection[str] | Literal["wordnet"] | None = None,
    stop_words: Collection[str] = STOP_WORDS,
    min_users: int = 1,
    keep_empty: bool = False,
    user: str | None = None,
    text: str | None = None,
    time: str | None = None,
    no_header: bool = False,
    time_format: str | None = None,
    seed: int | None = None,
    memory: str | None = None,
    memory_limit: str | None = None,
    progress: Progress | None = None,
) -> tuple[Transactions, LogReport]:
    """The records of a query log in random order, and a report of what was merged and dropped.

    Rows with the same user, text and time are one query with several clicks. A record has the terms
    of all queries of one user, or of one session; a session ends where the pause to the user's next
    query is longer than `gap` ([Liu2010b] definition 1). The result contains neither users nor
    times, nor the order of the log. With sessions, `people` of the report has the user of each
    record, as a number.

    Args:
        path: An AOL-style log, or a CSV, TSV or Parquet file with columns for user, text and time;
            plain, `.gz` or `.zst`; `-` for standard input; or an open binary stream.
        gap: The longest pause inside a session, as `30m` or a timedelta; None or `inf` for one
            record per user.
        terms: `words`; `nouns` (words that WordNet knows as nouns); or `queries`, whole queries as
            the items of sets.
        lemma: Gives the base form of a word, or None for a word it does not know, which is then
            kept as it is. By default the noun lemmas of WordNet, if it is installed.
        known: The only words to keep; `wordnet` for those that `lemma` knows.
        stop_words: Words to drop; an empty list keeps all.
        min_users: Drop terms that fewer users issued ([He2009] section 6, the removal of rare
            queries).
        keep_empty: Whether to keep records without any terms left.
        user: The column of the user, by name or position (from 1 on); found if obvious.
        text: The column of the query text, likewise.
        time: The column of the time, likewise. A log without times gives one record per user.
        no_header: The first line is a row, not the names of the columns; found if obvious.
        time_format: How times are written: one of `TIME_FORMATS`, or a pattern of strptime such as
            `%d.%m.%y %H:%M`; found if obvious.
        seed: Makes the order of the records repeatable, which otherwise is random.
        memory: Memory of the database, such as `500MB` (800MB by default); the rest goes to
            temporary files. A compressed log may unpack to ten times as much (30GB by default).
        memory_limit: The former name of `memory`.
        progress: Called with what is being done.

    Raises:
        FileFormatError: if no row of the file can be used.
        ParameterError: if an option has a value that is not allowed.

    Example:
        >>> import io
        >>> rows = b"1\\tWine\\t2006-01-01 01:00:00\\n1\\tRed wine!\\t2006-01-01 01:15:00\\n"
        >>> log = io.BytesIO(rows)
        >>> data, report = read_querylog(log, lemma=str)
        >>> list(data), data.counts.tolist(), report.queries
        ([('red', 'wine')], [1, 2], 2)
    """
    memory = memory or memory_limit
    most = unpacked_limit(memory)
    pause = parse_gap(gap)
    if not isinstance(min_users, int) or isinstance(min_users, bool) or min_users < 1:
        raise ParameterError("min_users", min_users, "it must be a whole number of 1 or more")
    rules, lemmas = _rules(terms, lemma, known, stop_words)
    check_time_format(time_format)
    columns = LogColumns(user, text, time, no_header, time_format, pause is not None)
    wanted = _Wanted(columns, rules, pause, min_users)
    report = progress or (lambda done, total, stage: None)
    with open_source(path, most=most) as opened:
        source = unpacked(opened)[0]
        small = source.is_small and memory is None
        room = None if small else memory or _MEMORY
        with (
            database(source.work, room, small=small) as connection,
            translated(source.name, private=True),
        ):
            figures = _extract(connection, source, wanted, report)
            report(0, 0, "assembling the records")
            bags, size = rules.kind != "queries", figures["sessions"]
            data, kept = _assembled(connection, size, bags=bags, keep_empty=keep_empty)
            users = None if pause is None else logsteps.users_of_sessions(connection)[kept]
    order = np.random.default_rng(seed).permutation(len(data))
    found = LogReport(
        **figures,
        empty_vocabularies=figures["sessions"] - int((data.lengths > 0).sum()),
        vocabularies=len(data),
        min_users=min_users,
        lemmas=lemmas,
        people=None if users is None else People.of(users[order]),
    )
    return data.take(order), found


@dataclass(frozen=True)
class _Wanted:
    """How to extract records."""

    columns: LogColumns
    rules: TermRules
    gap: timedelta | None
    min_users: int


def _rules(
    kind: TermKind,
    lemma: Lemma | None,
    known: Collection[str] | Literal["wordnet"] | None,
    stop_words: Collection[str],
) -> tuple[TermRules, str]:
    """The rules, and where base forms come from."""
    if isinstance(stop_words, str):
        raise ParameterError("stop_words", "a text", "it must be a list of words")
    if isinstance(known, str) and known != "wordnet":
        raise ParameterError("known", "a text", "it must be a list of words")
    if kind == "queries":
        if known is not None:
            allowed = "leave it out: it selects words, but the terms are whole queries"
            raise ParameterError("known", known, allowed)
        return TermRules(kind=kind), "none"
    source = "none" if lemma is as_written else "given"
    only_lemmas = kind == "nouns" or known == "wordnet"
    if lemma is None and (only_lemmas or WordNet.find() is not None):
        lemma, source = WordNet.read().lemma, "WordNet"
    words = None if known is None or isinstance(known, str) else frozenset(known)
    return TermRules(
        kind=kind,
        lemma=lemma,
        only_lemmas=only_lemmas,
        known=words,
        stop_words=frozenset(stop_words),
    ), source


def _extract(
    connection: DuckDBPyConnection, source: Source, wanted: _Wanted, report: Progress
) -> dict[str, Any]:
    """Make all tables up to `pairs`; gives the figures of the report."""
    report(0, 0, "reading the log")
    understood = load_log(connection, source, wanted.columns)
    figures = _read_figures(connection, source, wanted.columns.time_format)
    figures |= understood._asdict()
    report(0, 0, "merging clicks")
    logsteps.merge_clicks(connection)
    figures["users"] = number(connection, "SELECT count(*) FROM users")
    figures["queries"] = number(connection, "SELECT count(*) FROM queries")
    figures["merged_clicks"] = figures["rows"] - figures["bad_rows"] - figures["queries"]
    report(0, 0, "finding terms")
    logsteps.find_terms(connection, wanted.rules)
    logsteps.drop_rare(connection, wanted.min_users)
    report(0, 0, "finding sessions")
    figures["sessions"] = logsteps.find_sessions(connection, wanted.gap)
    report(0, 0, "counting terms")
    logsteps.count_pairs(connection)
    return figures | _term_figures(connection, figures["queries"])


def _read_figures(
    connection: DuckDBPyConnection, source: Source, time_format: str | None
) -> dict[str, Any]:
    bad, shown = bad_lines(connection, time_format)
    usable = number(connection, "SELECT count(*) FROM log WHERE fault IS NULL")
    if not usable and not bad:
        raise source.fault("the log has a header and no rows")
    if not usable:
        first = f"line {shown[0].line}: {shown[0].reason}"
        raise source.fault(f"none of its rows can be used ({first})")
    return {"rows": usable + bad, "bad_rows": bad, "bad_lines": shown}


def _term_figures(connection: DuckDBPyConnection, queries: int) -> dict[str, Any]:
    every, kept = logsteps.occurrences(connection), logsteps.occurrences(connection, Fate.KEPT)
    empty, stopped, unknown = (
        logsteps.occurrences(connection, fate) for fate in (Fate.EMPTY, Fate.STOPPED, Fate.UNKNOWN)
    )
    terms = number(connection, "SELECT count(*) FROM terms")
    kept_terms = number(connection, "SELECT count(DISTINCT term) FROM kept")
    answered = number(
        connection, "SELECT sum(times) FROM uses WHERE text IN (SELECT text FROM kept)"
    )
    return {
        "queries_without_terms": queries - answered,
        "occurrences": every - empty,
        "stopped_occurrences": stopped,
        "unknown_occurrences": unknown,
        "rare_occurrences": every - empty - stopped - unknown - kept,
        "kept_occurrences": kept,
        "kept_terms": kept_terms,
        "rare_terms": terms - kept_terms,
        "often_unknown": logsteps.often_unknown(connection, ENOUGH_USERS, _NAMED)
        if unknown
        else (),
    }


def _assembled(
    connection: DuckDBPyConnection, size: int, *, bags: bool, keep_empty: bool
) -> tuple[Transactions, Int64s]:
    """The records, still in the order of users, and their numbers if those without a term count."""
    labels = _labels(connection)
    is_sorted = natural_order(labels) == "alphabetical"
    vocabulary = Vocabulary(labels if is_sorted else sort_labels(labels))
    records, items, counts = _pairs(connection, size)
    if vocabulary.labels != tuple(labels):
        items = vocabulary.encode(labels)[items]
    kept = np.arange(size)
    if not keep_empty:
        kept = np.unique(records)
        records, size = np.searchsorted(kept, records).astype(np.int32), len(kept)
    if bags:
        return Bags.from_pairs(records, items, vocabulary, size=size, counts=counts), kept
    return Transactions.from_pairs(records, items, vocabulary, size=size), kept


def _labels(connection: DuckDBPyConnection) -> list[str]:
    """Make the table `labels` of the terms that are kept, numbered anew; gives them sorted."""
    run(
        connection,
        """CREATE TABLE labels AS SELECT term, number,
               CAST(row_number() OVER (ORDER BY number) - 1 AS INTEGER) AS place
           FROM terms WHERE number IN (SELECT term FROM kept)""",
    )
    labels: list[str] = []
    for start in range(0, number(connection, "SELECT count(*) FROM labels"), _ROWS_AT_ONCE):
        block = f"place >= {start} AND place < {start + _ROWS_AT_ONCE}"
        rows = connection.execute(f"SELECT term FROM labels WHERE {block} ORDER BY place")
        labels.extend(term for (term,) in rows.fetchall())
    return labels


def _pairs(connection: DuckDBPyConnection, size: int) -> tuple[Int32s, Int32s, Int32s]:
    """Record, item and count of every pair, sorted; fetched some records at a time."""
    total = number(connection, "SELECT count(*) FROM pairs")
    parts: list[tuple[Int32s, Int32s, Int32s]] = [(np.zeros(0, dtype=np.int32),) * 3]
    step = max(1, size * _ROWS_AT_ONCE // max(1, total))
    for start in range(0, size, step):
        chosen = f"""SELECT record, place, pairs.times AS times
            FROM pairs JOIN labels ON labels.number = pairs.term
            WHERE record >= {start} AND record < {start + step} ORDER BY record, place"""
        found = connection.execute(chosen).fetchnumpy()
        record, place, times = (
            np.asarray(found[name], dtype=np.int32) for name in ("record", "place", "times")
        )
        parts.append((record, place, times))
    records, items, counts = (np.concatenate(column) for column in zip(*parts, strict=True))
    return records, items, counts
