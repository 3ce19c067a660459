"""How many people are behind what a release shows, counted by DuckDB on files alone: the original,
the release folder and the private alignment. Nothing of setveil is used.

The original is a table with a row for each record: its person, and its items with a bar between
them. Line i of the alignment says what was published of record i; an empty one, that nothing was.
Disassociated releases are read from their Parquet tables, all others from `data.csv`."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

SETS = """
SELECT [a.item] AS items, a.record, a.person FROM {0} a
UNION ALL SELECT [a.item, b.item], a.record, a.person
FROM {0} a JOIN {0} b ON a.record = b.record AND a.item < b.item WHERE {1} > 1
UNION ALL SELECT [a.item, b.item, c.item], a.record, a.person
FROM {0} a JOIN {0} b ON a.record = b.record AND a.item < b.item
JOIN {0} c ON a.record = c.record AND b.item < c.item WHERE {1} > 2
"""
"""Each set of up to three items of each record of a table."""


class Crowd(NamedTuple):
    """Of one kind of thing that a release shows: how many there are, and the fewest people of
    one."""

    shown: int
    fewest: int


def opened(original: Path, alignment: Path) -> Any:
    """A database of the records of which something was published, with their line of the
    alignment, and of the items that each of them held."""
    import duckdb

    base = duckdb.connect()
    with original.open(encoding="utf-8", newline="") as stream:
        rows = [(n, row["person"], row["items"]) for n, row in enumerate(csv.DictReader(stream))]
    lines = alignment.read_text(encoding="utf-8").split("\n")[:-1]
    assert len(lines) == len(rows)
    base.execute("CREATE TABLE records (record INT, person TEXT, items TEXT, line TEXT)")
    found = [(*row, line) for row, line in zip(rows, lines, strict=True) if line]
    base.executemany("INSERT INTO records VALUES (?, ?, ?, ?)", found)
    base.execute("""CREATE TABLE held AS SELECT DISTINCT record, person, item FROM (
        SELECT record, person, unnest(string_split(items, '|')) AS item FROM records)""")
    return base


def most_records(base: Any) -> int:
    """The most published records of one person."""
    each = "SELECT count(*) AS n FROM records GROUP BY person"
    return int(base.execute(f"SELECT coalesce(max(n), 0) FROM ({each})").fetchone()[0])


def shown(base: Any, release: Path) -> None:
    """A table `shown` of the published items of each record, and `rows` of whole records."""
    lines = base.execute("SELECT record, person, line FROM records").fetchall()
    cells = [next(csv.reader([line])) for _, _, line in lines]
    base.execute("CREATE TABLE shown (record INT, person TEXT, item TEXT)")
    found = [(r, p, i) for (r, p, _), row in zip(lines, cells, strict=True) for i in row if i]
    if found:
        base.executemany("INSERT INTO shown VALUES (?, ?, ?)", found)
    about = json.loads((release / "release.json").read_text(encoding="utf-8"))
    rows: dict[str, set[str]] = {}
    with (release / "data.csv").open(encoding="utf-8", newline="") as stream:
        for record, item, *_ in list(csv.reader(stream))[1:]:
            rows.setdefault(record, set()).update([item] if item else [])
    published = Counter(map(frozenset, rows.values()))
    published[frozenset()] += about["records"] - len(rows)
    assert +published == Counter(frozenset(filter(None, row)) for row in cells)


def sets_shown(base: Any, most: int) -> Crowd:
    """Of the sets of up to so many items that records show."""
    return _crowd(base, f"SELECT items AS thing, person FROM ({SETS.format('shown', most)})")


def rows_shown(base: Any) -> Crowd:
    """Of the records that are published alike."""
    return _crowd(base, "SELECT line AS thing, person FROM records")


def private_share(base: Any, private: set[str], most: int) -> float:
    """The largest share of the people with some public items, up to so many, whose records with
    them show one private item too."""
    names = ", ".join(f"'{item}'" for item in sorted(private))
    base.execute(f"CREATE VIEW open AS SELECT * FROM shown WHERE item NOT IN ({names})")
    known = f"""{SETS.format("open", most)}
        UNION ALL SELECT [], record, person FROM records"""
    found = base.execute(f"""WITH known AS ({known}),
        people AS (SELECT items, count(DISTINCT person) AS n FROM known GROUP BY items),
        those AS (SELECT k.items, s.item, count(DISTINCT k.person) AS n FROM known k
                  JOIN shown s ON s.record = k.record AND s.item IN ({names})
                  GROUP BY k.items, s.item)
        SELECT max(those.n / people.n) FROM those JOIN people ON those.items = people.items""")
    return float(found.fetchone()[0] or 0)


def chunks_shown(base: Any, release: Path, most: int) -> Crowd:
    """Of the sets of up to so many items that occur in a chunk with counts.

    The records of a chunk are those of the simple clusters below its cluster, each with the items
    of the chunk that neither its simple cluster nor another on the way up lists. As often as each
    set occurs in them it must be published, or the alignment is not that of the release."""
    for name in ("clusters", "subrecords", "terms"):
        file = str(release / f"{name}.parquet").replace("'", "''")
        base.execute(f"CREATE TABLE {name} AS SELECT * FROM '{file}'")
    base.execute("""CREATE TABLE listed AS
        SELECT DISTINCT cluster, chunk, item FROM subrecords
        UNION ALL SELECT cluster, NULL, item FROM terms""")
    base.execute("""CREATE TABLE above AS WITH RECURSIVE up(leaf, node, far) AS (
        SELECT DISTINCT line::INT, line::INT, 0 FROM records
        UNION ALL SELECT leaf, parent, far + 1 FROM up JOIN clusters ON cluster = node
        WHERE parent IS NOT NULL) SELECT * FROM up""")
    base.execute("""CREATE TABLE parts AS
        SELECT l.cluster, l.chunk, l.cluster || '.' || l.chunk || '.' || h.record AS record,
               h.person, h.item
        FROM held h JOIN records r ON r.record = h.record
        JOIN above a ON a.leaf = r.line::INT
        JOIN listed l ON l.cluster = a.node AND l.item = h.item AND l.chunk IS NOT NULL
        WHERE NOT EXISTS (SELECT 1 FROM above b JOIN listed o ON o.cluster = b.node
                          WHERE b.leaf = a.leaf AND b.far < a.far AND o.item = h.item)""")
    base.execute("""CREATE TABLE pieces AS SELECT cluster, chunk, item, count,
        cluster || '.' || chunk || '.' || subrecord AS record, '' AS person FROM subrecords""")
    found = f"""SELECT p.cluster, p.chunk, s.items, s.record, s.person
        FROM ({SETS.format("parts", most)}) s
        JOIN (SELECT DISTINCT record, cluster, chunk FROM parts) p ON p.record = s.record"""
    said = f"""SELECT p.cluster, p.chunk, s.items, sum(p.count) AS n
        FROM ({SETS.format("pieces", most)}) s
        JOIN (SELECT DISTINCT record, cluster, chunk, count FROM pieces) p ON p.record = s.record
        GROUP BY ALL"""
    counted = f"SELECT cluster, chunk, items, count(*) AS n FROM ({found}) GROUP BY ALL"
    wrong = f"(({said}) EXCEPT ({counted})) UNION ALL (({counted}) EXCEPT ({said}))"
    assert base.execute(f"SELECT count(*) FROM ({wrong})").fetchone()[0] == 0
    return _crowd(base, f"SELECT (cluster, chunk, items) AS thing, person FROM ({found})")


def clusters_shown(base: Any, listing: set[str] | None = None) -> Crowd:
    """Of the simple clusters that list some of these items as terms, or of all that list
    anything; after `chunks_shown`."""
    names = ", ".join(f"'{item}'" for item in sorted(listing or ()))
    only = "" if listing is None else f"AND item IN ({names})"
    return _crowd(
        base,
        f"""SELECT line AS thing, person FROM records
        WHERE line::INT IN (SELECT cluster FROM listed WHERE TRUE {only})""",
    )


def _crowd(base: Any, things: str) -> Crowd:
    """The fewest people of a query of things and people."""
    each = f"SELECT count(DISTINCT person) AS n FROM ({things}) GROUP BY thing"
    many, fewest = base.execute(f"SELECT count(*), coalesce(min(n), 0) FROM ({each})").fetchone()
    return Crowd(int(many), int(fewest))
