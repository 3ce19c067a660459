"""The steps from the rows of a query log to pairs of a record and a term, as database tables.

log -> users, texts, queries -> visits (which record a query belongs to)
             texts -> words -> spellings -> judged -> terms, holds (which terms a text has) -> kept
visits and kept -> pairs
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import numpy as np

from setveil.data.arrays import Int64s
from setveil.data.logterms import WORD, Fate, TermRules
from setveil.io.source.database import number, quoted, run

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_SPELLINGS_AT_ONCE = 1 << 17
_JUDGED = "JOIN spellings USING (spelling) JOIN judged ON judged.number = spellings.number"


def merge_clicks(connection: DuckDBPyConnection) -> None:
    """Number users and texts; rows with the same user, text and time become one query."""
    usable = "FROM log WHERE fault IS NULL"
    run(
        connection,
        f"""CREATE TABLE users AS SELECT user, {_numbered("ORDER BY user")}
            FROM (SELECT DISTINCT user {usable})""",
        f"CREATE TABLE texts AS SELECT text, {_numbered()} FROM (SELECT DISTINCT text {usable})",
        """CREATE TABLE queries AS
           SELECT DISTINCT users.number AS user, texts.number AS text, time
           FROM log JOIN users USING (user) JOIN texts USING (text) WHERE fault IS NULL""",
        "DROP TABLE log",
        """CREATE TABLE uses AS
           SELECT text, CAST(count(*) AS INTEGER) AS times FROM queries GROUP BY text""",
    )


def find_terms(connection: DuckDBPyConnection, rules: TermRules) -> None:
    """Split the texts into words, or use them whole, and find the terms they contain."""
    if rules.kind == "queries":
        run(connection, "CREATE VIEW spellings AS SELECT text AS spelling, number FROM texts")
        found, joined = "judged.number AS text", "judged"
    else:
        cut = f"unnest(regexp_extract_all(text, {quoted(WORD)})) AS spelling"
        run(
            connection,
            f"CREATE TABLE words AS SELECT number AS text, {cut} FROM texts",
            f"""CREATE TABLE spellings AS SELECT spelling, {_numbered()}
                FROM (SELECT DISTINCT spelling FROM words)""",
        )
        found, joined = "words.text AS text", f"words {_JUDGED}"
    _judge(connection, rules)
    kept = f"fate = {int(Fate.KEPT)}"
    run(
        connection,
        f"""CREATE TABLE terms AS SELECT term, {_numbered("ORDER BY term")}
            FROM (SELECT DISTINCT term FROM judged WHERE {kept})""",
        f"""CREATE TABLE holds AS
            SELECT {found}, fate, terms.number AS term, CAST(count(*) AS INTEGER) AS times
            FROM {joined} LEFT JOIN terms ON {kept} AND terms.term = judged.term GROUP BY ALL""",
    )


def _judge(connection: DuckDBPyConnection, rules: TermRules) -> None:
    """Make the table `judged`: the number of a spelling, its fate, and its term."""
    run(connection, "CREATE TABLE judged (number INTEGER, fate TINYINT, term VARCHAR)")
    size = number(connection, "SELECT count(*) FROM spellings")
    for start in range(0, size, _SPELLINGS_AT_ONCE):
        block_of = f"number >= {start} AND number < {start + _SPELLINGS_AT_ONCE}"
        chosen = f"SELECT number, spelling FROM spellings WHERE {block_of}"
        rows = connection.execute(chosen).fetchall()
        fates = [rules.judge(spelling) for _, spelling in rows]
        block = {
            "number": np.array([row[0] for row in rows], dtype=np.int32),
            "fate": np.array([fate for fate, _ in fates], dtype=np.int8),
            "term": np.array([term for _, term in fates], dtype=object),
        }
        connection.register("block", block)
        run(connection, "INSERT INTO judged SELECT number, fate, term FROM block")
        connection.unregister("block")


def drop_rare(connection: DuckDBPyConnection, min_users: int) -> None:
    """Make the table `kept`: the rows of `holds` with terms that are kept and common enough."""
    good = f"FROM holds WHERE fate = {int(Fate.KEPT)}"
    if min_users == 1:
        run(connection, f"CREATE VIEW kept AS SELECT text, term, times {good}")
        return
    pairs = f"""SELECT DISTINCT queries.user AS user, term
        FROM queries JOIN (SELECT text, term {good}) USING (text)"""
    run(
        connection,
        f"""CREATE TABLE common AS
            SELECT term FROM ({pairs}) GROUP BY term HAVING count(*) >= {min_users}""",
        f"""CREATE TABLE kept AS
            SELECT text, term, times {good} AND term IN (SELECT term FROM common)""",
    )


def find_sessions(connection: DuckDBPyConnection, gap: timedelta | None) -> int:
    """Make the table `visits`, with the record of each query; gives how many records there are.

    Records are numbered by user and time, so that their order depends on nothing else.
    """
    if gap is None:
        run(connection, "CREATE VIEW visits AS SELECT user AS record, text FROM queries")
        return number(connection, "SELECT count(*) FROM users")
    longest = round(gap.total_seconds() * 1_000_000)
    by_time = "PARTITION BY user ORDER BY time"
    run(
        connection,
        f"""CREATE TABLE sessions AS
            SELECT user, text,
                CAST(sum(pause) OVER ({by_time} ROWS UNBOUNDED PRECEDING) AS INTEGER) AS session
            FROM (SELECT *, CASE WHEN time - lag(time) OVER ({by_time}) > {longest}
                THEN 1 ELSE 0 END AS pause FROM queries)""",
        """CREATE TABLE firsts AS SELECT user, sum(size) OVER (ORDER BY user) - size AS first, size
           FROM (SELECT user, max(session) + 1 AS size FROM sessions GROUP BY user)""",
        """CREATE TABLE visits AS SELECT CAST(first + session AS INTEGER) AS record, text
           FROM sessions JOIN firsts USING (user)""",
        "DROP TABLE sessions",
    )
    return number(connection, "SELECT sum(size) FROM firsts")


def users_of_sessions(connection: DuckDBPyConnection) -> Int64s:
    """The user of each session, in the order in which sessions are numbered."""
    found = connection.execute("SELECT user, size FROM firsts ORDER BY user").fetchnumpy()
    return np.repeat(np.asarray(found["user"]), np.asarray(found["size"]).astype(np.int64))


def count_pairs(connection: DuckDBPyConnection) -> None:
    """Make the table `pairs`: how often each term occurs in each record, in ascending order."""
    run(
        connection,
        """CREATE TABLE pairs AS SELECT record, term, CAST(sum(times) AS INTEGER) AS times
           FROM visits JOIN kept USING (text) GROUP BY record, term ORDER BY record, term""",
    )


def occurrences(connection: DuckDBPyConnection, fate: Fate | None = None) -> int:
    """How often words of this fate occur in queries; of any fate if none is given."""
    table = "kept" if fate is Fate.KEPT else "holds"
    of_fate = "" if fate in (None, Fate.KEPT) else f"WHERE fate = {int(fate)}"
    return number(
        connection,
        f"SELECT sum(uses.times * {table}.times) FROM {table} JOIN uses USING (text) {of_fate}",
    )


def often_unknown(
    connection: DuckDBPyConnection, least_users: int, most: int
) -> tuple[tuple[str, int], ...]:
    """Unknown terms that enough users issued, most frequent first, with their numbers of users."""
    unknown = f"words {_JUDGED} AND fate = {int(Fate.UNKNOWN)}"
    run(
        connection,
        f"""CREATE TABLE often AS SELECT term FROM {unknown} JOIN uses ON uses.text = words.text
            GROUP BY term ORDER BY sum(uses.times) DESC, term LIMIT {5 * most}""",
    )
    found = connection.execute(
        f"""SELECT term, count(DISTINCT queries.user) AS users
            FROM {unknown} JOIN queries ON queries.text = words.text
            WHERE term IN (SELECT term FROM often)
            GROUP BY term HAVING users >= {least_users} ORDER BY users DESC, term LIMIT {most}"""
    ).fetchall()
    return tuple((str(term), int(users)) for term, users in found)


def _numbered(order: str = "") -> str:
    return f"CAST(row_number() OVER ({order}) - 1 AS INTEGER) AS number"
