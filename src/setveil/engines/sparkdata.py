"""Data for the engine on Spark: DataFrames and anything that Spark reads, as numbered records, in
blocks: one row has thousands of records of one part.

So what Spark does for each row (copy, compress, send) costs next to nothing for each record."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from setveil.data.arrays import Int32s, Int64s
from setveil.data.people import check_most
from setveil.data.tables.columns import (
    Wanted,
    find_columns,
    find_list_column,
    named_column,
    of_person,
)
from setveil.data.tables.headers import are_separators
from setveil.data.tables.shapes import item_words, with_names
from setveil.data.vocabulary import Vocabulary
from setveil.engines.parts import Block, block_of, copies_of, joined, renumbered, some_of_block
from setveil.engines.sparkrows import bounded, check_rows
from setveil.engines.sparksession import plain_errors
from setveil.errors import DataError, FileFormatError, ParameterError

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame, SparkSession


ROWS = "part int, size int, copies int, lengths binary, items binary"
"""How many records a row has, and the lengths and items of those that are written once for
`copies` equal ones."""
ITEMS_IN_ROW = 1 << 19
"""About how many items a row has, unless one record has more."""
ROWS_AT_ONCE = 16
"""How many rows go to a Python worker together."""
RECORDS_AT_ONCE = 20_000
"""How many records go to a Python worker together before they are in blocks."""
MOST_COPIES = 100_000
_HELD = 1 << 23
"""How many items of all parts wait to be put together."""
_BATCH = "spark.sql.execution.arrow.maxRecordsPerBatch"

Batches = Iterator["pa.RecordBatch"]


@contextmanager
def rows_at_once(spark: SparkSession, rows: int) -> Iterator[None]:
    """Send this number of rows to Python together in what is run in this block."""
    before = spark.conf.get(_BATCH, None)
    spark.conf.set(_BATCH, str(rows))
    try:
        yield
    finally:
        with suppress(Exception):  # Java may have died, and its settings with it
            spark.conf.unset(_BATCH) if before is None else spark.conf.set(_BATCH, before)


def arrow_schema() -> pa.Schema:
    """The types of `ROWS` in Arrow."""
    import pyarrow as pa

    kinds = {"part": pa.int32(), "size": pa.int32(), "copies": pa.int32()}
    return pa.schema({**kinds, "lengths": pa.binary(), "items": pa.binary()})


def row_of(part: int, block: Block, copies: int = 1) -> dict[str, object]:
    """A block of a part as a row."""
    return {
        "part": part,
        "size": len(block) * copies,
        "copies": copies,
        "lengths": block.lengths.astype(np.int32).tobytes(),
        "items": np.ascontiguousarray(block.items, dtype=np.int32).tobytes(),
    }


def to_rows(blocks: Iterable[tuple[int, Block]]) -> Batches:
    """Blocks of parts as Arrow rows, each about as large as is good for Spark."""
    import pyarrow as pa

    schema = arrow_schema()
    for part, block in gathered(blocks, ITEMS_IN_ROW):
        yield pa.RecordBatch.from_pylist([row_of(part, block)], schema)


def from_rows(batches: Batches) -> Iterator[tuple[int, Block]]:
    """The blocks in Arrow rows, each with its part."""
    for batch in batches:
        columns = [batch[name] for name in ("part", "copies", "lengths", "items")]
        for part, copies, lengths, items in zip(*columns, strict=True):
            block = block_of(_numbers(lengths).astype(np.int64), _numbers(items))
            if copies.as_py() > 1:
                block = copies_of(block.record(0), copies.as_py())
            yield part.as_py(), block


def gathered(blocks: Iterable[tuple[int, Block]], most: int) -> Iterator[tuple[int, Block]]:
    """The records of each part, many at a time; of few parts, blocks of more than `most` items."""
    held: dict[int, list[Block]] = {}
    weights: dict[int, int] = {}
    total = 0
    for part, block in blocks:
        weight = len(block.items) + len(block)
        held.setdefault(part, []).append(block)
        weights[part] = weights.get(part, 0) + weight
        total += weight
        if weights[part] > most:
            total -= weights.pop(part)
            yield part, joined(held.pop(part))
        elif total > _HELD:
            yield from ((each, joined(some)) for each, some in held.items())
            held, weights, total = {}, {}, 0
    yield from ((each, joined(some)) for each, some in held.items())


def in_arrow(work: Callable[[Iterator[tuple[int, Block]]], Iterator[tuple[int, Block]]]) -> Any:
    """For `mapInArrow`: blocks to blocks."""

    def run(batches: Any) -> Any:
        return to_rows(work(from_rows(batches)))

    return run


def _numbers(binary: Any) -> Any:
    return np.frombuffer(binary.as_buffer(), dtype=np.int32)


def merged(
    answers: Iterable[tuple[int, Any]], merge: Callable[[Any, Any], Any]
) -> Mapping[int, Any]:
    """One answer for each part."""
    found: dict[int, Any] = {}
    for part, answer in answers:
        found[part] = merge(found[part], answer) if part in found else answer
    return found


_READERS = {".dat": "fimi", ".fimi": "fimi", ".csv": "csv", ".tsv": "tsv", ".tab": "tsv"}
_READERS |= {".parquet": "parquet", ".pq": "parquet", ".jsonl": "jsonl", ".ndjson": "jsonl"}
_PACKED = (".gz", ".zst", ".bz2")
_AS_HERE = {"split": ("none",), "encoding": ("utf-8", "utf8", "UTF-8")}
"""What may be named, since Spark reads so."""
_READ = "fimi, csv, tsv, parquet and jsonl"
_SOME = 1_000  # lines that show whether blank ones only separate the records
_CODED = "size int, lengths binary, items binary, labels array<string>, counts array<bigint>"
"""A block with its own numbers: item i has the label `labels[i]`, which `counts[i]` records
have."""


Held = tuple[str, dict[int, int]] | None
"""The column of the person, and how many people have 1, 2, ... records, if they stay apart."""


class SparkRecords(NamedTuple):
    """Records in blocks that each have their own list of labels, and what is known of all."""

    frame: DataFrame
    """A row for each block, see `_CODED`."""
    vocabulary: Vocabulary
    supports: Int64s
    """How many records have each item."""
    records: int
    blanks: int
    """How many blank lines were skipped because they only separate the records."""
    people: Held = None


def read_frame(spark: SparkSession, data: Any, reading: Mapping[str, Any]) -> SparkRecords:
    """The records of a DataFrame, or of a path that Spark reads."""
    _refuse_unread(reading)
    with plain_errors(), rows_at_once(spark, RECORDS_AT_ONCE):
        if not isinstance(data, str):
            records, people = _records(data, "the DataFrame", reading)
            return _counted(records, people=people)
        records, people = _records(_opened(spark, data, reading), data, reading)
        is_text = records.columns == ["value"]
        if is_text and are_separators(not row[0] for row in records.head(_SOME)):
            written = records.where("value != ''")
            return _counted(written, blanks=records.count() - written.count())
        return _counted(records, people=people)


def _refuse_unread(reading: Mapping[str, Any]) -> None:
    """Refuse options that would change what is read, but not here."""
    for name in ("drop_column", "split", "onehot", "sheet", "encoding"):
        value = reading.get(name)
        if value and value not in _AS_HERE.get(name, ()):
            raise ParameterError(
                name, value, "the engine spark cannot do that; use {engine=blocks}"
            )


def numbered(records: SparkRecords, numbers: Int32s) -> DataFrame:
    """The records in part 0, item i of the vocabulary as `numbers[i]`; -1 leaves it out."""
    labels = records.vocabulary.labels

    def encode(batches: Any) -> Any:
        return to_rows((0, block) for block in _renumbered(labels, numbers, batches))

    return records.frame.select("lengths", "items", "labels").mapInArrow(encode, ROWS)


def some_of_frame(records: SparkRecords) -> Block:
    """A random sample of the records, here; all if they are few."""
    labels, supports = records.vocabulary.labels, records.supports
    numbers, of = np.arange(len(labels), dtype=np.int32), (records.records, int(supports.sum()))

    def choose(batches: Any) -> Any:
        found = _renumbered(labels, numbers, batches)
        return to_rows((0, some_of_block(*of, block)) for block in found)

    frame = records.frame.select("lengths", "items", "labels").mapInArrow(choose, ROWS)
    with plain_errors():
        table = frame.toArrow()
    return joined([block for _, block in from_rows(table.to_batches())])


def published_rows(lines: DataFrame, file: str) -> DataFrame:
    """The rows of a release from the lines of its files: `record` and `item`, or `value`."""
    from pyspark.sql import functions as F

    if not file.endswith(".csv"):
        return lines
    row = F.from_csv("value", "record bigint, item string", {"escape": '"'})
    return lines.where("value != 'record,item'").select(row.alias("row")).select("row.*")


def _opened(spark: SparkSession, path: str, reading: Mapping[str, Any]) -> DataFrame:
    name = path.rstrip("/*").lower()
    for packed in _PACKED:
        name = name.removesuffix(packed)
    kind = reading.get("format") or next((_READERS[e] for e in _READERS if name.endswith(e)), None)
    if kind is None:
        kind = _kind_inside(spark, path)
    if kind == "fimi":
        return _lines(spark, path)
    if kind == "parquet":
        return spark.read.parquet(path)
    if kind == "jsonl":
        _lines(spark, path)
        return spark.read.json(path)
    if kind in ("csv", "tsv"):
        mark = "," if kind == "csv" else "\t"
        header = reading.get("header")
        if header not in (None, True, False):
            allowed = "the engine spark reads tables from their first row; use {engine=blocks}"
            raise ParameterError("header", header, allowed)
        odd = "(length(value) - length(replace(value, '\"', ''))) % 2 = 1"  # a cell goes on below
        goes_on = not _lines(spark, path).where(odd).isEmpty()
        how: Any = {"header": header is not False, "sep": mark, "multiLine": goes_on}
        return spark.read.csv(path, escape='"', **how)
    allowed = f"the engine spark reads {_READ}; use {{engine=blocks}}"
    raise ParameterError("input_format", kind, allowed)


def _lines(spark: SparkSession, path: str) -> DataFrame:
    """The lines of a text, which must be UTF-8: Spark puts a mark in the place of other bytes."""
    lines = spark.read.text(path)
    if not lines.where("NOT is_valid_utf8(value)").isEmpty():
        remedy = "use {engine=blocks}, which can read other texts with {encoding}"
        raise FileFormatError(path, "the text is not UTF-8", remedy=remedy)
    return lines


def _kind_inside(spark: SparkSession, path: str) -> str:
    """The format of the files in a folder, by their names."""
    names = [name.lower() for name in spark.read.format("binaryFile").load(path).inputFiles()[:50]]
    for name in names:
        for packed in _PACKED:
            name = name.removesuffix(packed)
        for suffix, kind in _READERS.items():
            if name.endswith(suffix):
                return kind
    problem = f"its name shows none of the formats that the engine spark reads: {_READ}"
    raise FileFormatError(
        path, problem, remedy="name {input_format} if it has one of them, or use {engine=blocks}"
    )


def _records(frame: DataFrame, name: str, reading: Mapping[str, Any]) -> tuple[DataFrame, Held]:
    """One row per record: a line of items in `value`, or a list of texts in `items`; and whose they
    are."""
    from pyspark.sql import functions as F

    def fail(problem: str, *, remedy: str = "") -> FileFormatError:
        return FileFormatError(name, problem, remedy=remedy)

    owner = None if reading.get("record") is None else str(reading["record"])
    person = None if reading.get("person") is None else str(reading["person"])
    check_most(reading)
    given: dict[str, Any] = {**of_person(owner, person), **item_words(reading.get("item"))}
    wanted = Wanted(**given, count=reading.get("count"), bags=reading.get("bags"))
    wanted = with_names(wanted, frame.columns)
    if wanted.items:
        allowed = "the engine spark takes one column of items; use {engine=blocks}"
        raise ParameterError("item", list(wanted.items), allowed)
    types = dict(frame.dtypes)
    if list(types) == ["value"] and types["value"] == "string":
        if person is not None:
            raise ParameterError(
                "person", person, "each line is a record, and there are no columns"
            )
        return frame, None
    lists = [each for each, kind in types.items() if kind.startswith("array<")]
    holder = find_list_column(lists, wanted, fail)
    if holder is not None:
        if wanted.person is not None:
            allowed = (
                "the engine spark joins lists of a person, but keeps no {record} of them apart"
            )
            raise ParameterError("person", person, allowed)
        if wanted.record is None:
            return frame.select(_texts(_named(holder)).alias("items")), None
        own = _named(named_column(list(types), wanted.role, wanted.record, fail))
        gathered = F.flatten(F.collect_list(F.coalesce(_named(holder), F.array())))
        return frame.groupBy(own).agg(_texts(gathered).alias("items")).select("items"), None
    columns = find_columns(list(types), wanted, fail)
    if columns.person is not None and wanted.person is None:
        problem = "it says which person each record belongs to, and this engine counts records"
        raise fail(problem, remedy="leave that column out, or use {engine=local}")
    if columns.count is not None and reading.get("bags") is not False:
        problem = "the data has counts, and this engine works on sets"
        raise DataError(problem, remedy="ignore the counts with {bags=False}")
    rows = frame.select([_named(each).alias(role) for role, each in columns.roles.items()])
    dropped = reading.get("drop_record") or ()
    if dropped:
        values = [dropped] if isinstance(dropped, str) else list(dropped)
        rows = rows.where(~F.coalesce(F.col("record").cast("string"), F.lit("")).isin(values))
    check_rows(rows, (columns.record, columns.item), fail)
    people = None
    if columns.person is not None:
        rows, holdings = bounded(rows, columns.person, reading, fail)
        people = columns.person, holdings
    items = F.collect_set(F.col("item").cast("string"))
    return rows.groupBy("record").agg(items.alias("items")).select("items"), people


def _named(column: str) -> Column:
    from pyspark.sql import functions as F

    return F.col("`" + column.replace("`", "``") + "`")


def _texts(items: Column) -> Column:
    from pyspark.sql import functions as F

    return F.coalesce(items, F.array()).cast("array<string>")


def _counted(records: DataFrame, blanks: int = 0, people: Held = None) -> SparkRecords:
    """Put the records in blocks, and collect the vocabulary and its counts."""
    from pyspark import StorageLevel
    from pyspark.sql import functions as F

    frame = records.mapInArrow(_coded_rows, _CODED).persist(StorageLevel.DISK_ONLY)
    size = frame.agg(F.sum("size")).collect()[0][0] or 0
    pairs = frame.select(F.explode(F.arrays_zip("labels", "counts")).alias("pair"))
    counts = pairs.groupBy("pair.labels").sum("pair.counts").toArrow()
    found = dict(zip(*(column.to_pylist() for column in counts.columns), strict=True))
    vocabulary = Vocabulary.of(found)
    supports = np.array([found[label] for label in vocabulary], dtype=np.int64)
    return SparkRecords(frame, vocabulary, supports, size, blanks, people)


def _coded_rows(batches: Batches) -> Batches:
    """For `mapInArrow`: lines with blanks between items, or lists of texts, as blocks."""
    import pyarrow.compute as pc

    for batch in batches:
        if batch.schema.names == ["value"]:
            yield _coded(pc.ascii_split_whitespace(batch["value"]), nothing="")
        else:
            yield _coded(batch["items"], nothing=None)


def _coded(lists: Any, nothing: str | None) -> pa.RecordBatch:
    """Records as one block with its labels; `nothing` is no item."""
    import pyarrow as pa

    bounds = np.asarray(lists.offsets, dtype=np.int64)
    words = lists.values.slice(bounds[0], bounds[-1] - bounds[0]).dictionary_encode()
    labels = words.dictionary.to_pylist()
    numbers = np.arange(-1, len(labels), dtype=np.int32)  # a missing item has the number -1
    if nothing in labels:
        numbers[labels.index(nothing) + 1] = -1
    codes = np.asarray(words.indices.fill_null(-1), dtype=np.int32) + np.int32(1)
    block = renumbered(numbers, Block(bounds - bounds[0], codes))
    counts = np.bincount(block.items, minlength=len(labels))
    used = np.flatnonzero(counts)
    place = np.cumsum(counts > 0, dtype=np.int32) - np.int32(1)
    row = {
        "size": len(block),
        "lengths": block.lengths.astype(np.int32).tobytes(),
        "items": place[block.items].tobytes() if len(block.items) else b"",
        "labels": [labels[number] for number in used.tolist()],
        "counts": counts[used].tolist(),
    }
    kinds = {"size": pa.int32(), "lengths": pa.binary(), "items": pa.binary()}
    kinds |= {"labels": pa.list_(pa.string()), "counts": pa.list_(pa.int64())}
    return pa.RecordBatch.from_pylist([row], pa.schema(kinds))


def _renumbered(labels: tuple[str, ...], numbers: Int32s, batches: Batches) -> Iterator[Block]:
    """Blocks in the numbers of all records, ascending in each."""
    import pyarrow as pa
    import pyarrow.compute as pc

    known = pa.array(labels, pa.string())
    for batch in batches:
        for lengths, items, own in zip(*(batch[name] for name in batch.schema.names), strict=True):
            places = np.asarray(pc.index_in(own.values, value_set=known), dtype=np.int64)
            sizes = np.frombuffer(lengths.as_buffer(), dtype=np.int32).astype(np.int64)
            block = block_of(sizes, np.frombuffer(items.as_buffer(), dtype=np.int32))
            yield renumbered(numbers[places], block)
