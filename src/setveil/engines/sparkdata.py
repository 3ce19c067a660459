"""Data for the engine on Spark: DataFrames and anything that Spark reads, as numbered records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from setveil.data.arrays import Int32s, Int64s
from setveil.data.tables.columns import Wanted, find_columns, find_list_column
from setveil.data.vocabulary import Vocabulary
from setveil.engines.parts import renumbered
from setveil.engines.spark import block_of_lists, rows_of
from setveil.engines.sparksession import plain_errors
from setveil.errors import FileFormatError, ParameterError

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame, SparkSession

_READERS = {".dat": "fimi", ".fimi": "fimi", ".csv": "csv", ".tsv": "tsv", ".tab": "tsv"}
_READERS |= {".parquet": "parquet", ".pq": "parquet", ".jsonl": "jsonl", ".ndjson": "jsonl"}
_PACKED = (".gz", ".zst", ".bz2")


class SparkRecords(NamedTuple):
    """Records with the texts of their items, and how many records have each."""

    frame: DataFrame
    """A column `items` of texts, each once."""
    vocabulary: Vocabulary
    supports: Int64s
    records: int


def read_frame(spark: SparkSession, data: object, reading: Mapping[str, Any]) -> SparkRecords:
    """The records of a DataFrame, or of a path that Spark reads."""
    with plain_errors():
        source: Any = _opened(spark, str(data), reading) if isinstance(data, str) else data
        records = _records(source, str(data) if isinstance(data, str) else "the DataFrame", reading)
        return _counted(records)


def numbered(records: SparkRecords, numbers: Int32s) -> DataFrame:
    """The records in part 0, item i of the vocabulary as `numbers[i]`; -1 leaves it out."""
    labels = records.vocabulary.labels

    def encode(batches: Any) -> Any:
        return _encoded(labels, numbers, batches)

    return records.frame.mapInArrow(encode, "part int, items array<int>")


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
        return spark.read.text(path)
    if kind == "parquet":
        return spark.read.parquet(path)
    if kind == "jsonl":
        return spark.read.json(path)
    if kind in ("csv", "tsv"):
        mark = "," if kind == "csv" else "\t"
        header = reading.get("header") is not False
        return spark.read.csv(path, header=header, sep=mark, escape='"')
    allowed = "the engine spark reads fimi, csv, tsv, parquet and jsonl; use {engine=blocks}"
    raise ParameterError("input_format", kind, allowed)


def _kind_inside(spark: SparkSession, path: str) -> str:
    """The format of the files in a folder, by their names."""
    names = [name.lower() for name in spark.read.format("binaryFile").load(path).inputFiles()[:50]]
    for name in names:
        for packed in _PACKED:
            name = name.removesuffix(packed)
        for suffix, kind in _READERS.items():
            if name.endswith(suffix):
                return kind
    raise FileFormatError(path, "its name does not show the format", remedy="name {input_format}")


def _records(frame: DataFrame, name: str, reading: Mapping[str, Any]) -> DataFrame:
    """One row per record, with its items as distinct texts."""
    from pyspark.sql import functions as F

    def fail(problem: str, *, remedy: str = "") -> FileFormatError:
        return FileFormatError(name, problem, remedy=remedy)

    given = {role: reading[role] for role in ("record", "item", "count") if reading.get(role)}
    wanted = Wanted(**given, bags=reading.get("bags"))
    types = dict(frame.dtypes)
    if list(types) == ["value"] and types["value"] == "string":
        words = F.split(F.trim(F.col("value")), r"\s+")
        return frame.select(_texts(F.filter(words, lambda word: word != "")).alias("items"))
    lists = [each for each, kind in types.items() if kind.startswith("array<")]
    holder = find_list_column(lists, wanted, fail)
    if holder is not None:
        owner = reading.get("record")
        if owner is None:
            return frame.select(_texts(_named(holder)).alias("items"))
        gathered = F.flatten(F.collect_list(F.coalesce(_named(holder), F.array())))
        return (
            frame.groupBy(_named(str(owner))).agg(_texts(gathered).alias("items")).select("items")
        )
    columns = find_columns(list(types), wanted, fail)
    if columns.count is not None and reading.get("bags") is not False:
        allowed = "this engine works on sets: ignore the counts with {bags=False}"
        raise ParameterError("bags", None, allowed)
    rows = frame.select(_named(columns.record).alias("record"), _named(columns.item).alias("item"))
    dropped = reading.get("drop_record") or ()
    if dropped:
        values = [dropped] if isinstance(dropped, str) else list(dropped)
        rows = rows.where(~F.coalesce(F.col("record").cast("string"), F.lit("")).isin(values))
    if rows.where(F.col("record").isNull()).limit(1).count():
        raise fail("a row has no record: every row must belong to one")
    items = F.collect_set(F.col("item").cast("string"))
    return rows.groupBy("record").agg(items.alias("items")).select("items")


def _named(column: str) -> Column:
    from pyspark.sql import functions as F

    return F.col("`" + column.replace("`", "``") + "`")


def _texts(items: Column) -> Column:
    """A list as distinct texts without missing ones."""
    from pyspark.sql import functions as F

    texts = F.coalesce(items, F.array()).cast("array<string>")
    return F.array_distinct(F.filter(texts, lambda item: item.isNotNull()))


def _counted(records: DataFrame) -> SparkRecords:
    """Collect the vocabulary and its counts."""
    from pyspark import StorageLevel
    from pyspark.sql import functions as F

    records = records.persist(StorageLevel.DISK_ONLY)
    size = records.count()
    counts = records.select(F.explode("items").alias("item")).groupBy("item").count().collect()
    found = {row[0]: row[1] for row in counts}
    vocabulary = Vocabulary.of(found)
    supports = np.array([found[label] for label in vocabulary], dtype=np.int64)
    return SparkRecords(records, vocabulary, supports, size)


def _encoded(
    labels: tuple[str, ...], numbers: Int32s, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Texts as numbers, ascending in each record."""
    import pyarrow as pa
    import pyarrow.compute as pc

    known = pa.array(labels, pa.string())
    for batch in batches:
        lists = batch["items"]
        places = pc.index_in(lists.values, value_set=known)
        raw = block_of_lists(pa.ListArray.from_arrays(lists.offsets, places))
        yield rows_of(np.zeros(len(raw)), renumbered(numbers, raw))
