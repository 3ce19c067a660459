"""The engine on a Spark cluster: records in a DataFrame, work in Arrow batches.

Nothing is collected but counts, the vocabulary and small summaries. Every move of records depends
on their content alone, so a task that is run again after a failure gives the same."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import reduce
from os import environ
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from setveil.engines.parts import (
    NOWHERE,
    Answer,
    Block,
    Distinct,
    Merge,
    Parts,
    Record,
    Work,
    block_of,
    check_room,
    copies_of,
    distinct_of,
    joined,
    of_keys,
)
from setveil.engines.sparkdata import (
    MOST_COPIES,
    ROWS,
    ROWS_AT_ONCE,
    arrow_schema,
    from_rows,
    gathered,
    in_arrow,
    merged,
    row_of,
    rows_at_once,
)
from setveil.engines.sparksession import plain_errors

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ITEMS_AT_ONCE = 1 << 22
"""About how many items of a part are counted together."""
MOST_ANSWERS = 1_000
"""If tasks give more answers than this, other tasks put them together before they are collected."""
PIECE = 1 << 22
"""The bytes of a file that one row holds."""
FETCHED = 4
"""About how many pieces are fetched at the same time: Java has little memory by default."""
_SUMMARY = -1
_ANSWERS = "part int, answer binary"
_FILES = "share int, place int, content binary"
_EMPTY = block_of(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int32))
Made = Callable[[int, list[Block], Path], Any]


class _Held(NamedTuple):
    """A DataFrame of blocks, and which of its parts have not been moved on."""

    frame: DataFrame
    parts: set[int]


class SparkParts(Parts):
    """Parts as rows of DataFrames; a move writes new rows for what is moved, and nothing else."""

    def __init__(self, spark: SparkSession, frame: DataFrame) -> None:
        self.spark, self.sizes, self._added = spark, {}, []
        self._held: list[_Held] = []
        self._keep(frame)
        with plain_errors():
            self.tasks = int(self._held[0].frame.rdd.getNumPartitions()) if self._held else 1

    sizes: dict[int, int]
    _added: list[dict[str, object]]

    def fold(
        self, works: Mapping[int, Work[Answer]], merge: Merge[Answer] | None = None
    ) -> Iterator[tuple[int, Answer]]:
        frame = self._of(works)
        if frame is None:
            return
        with plain_errors(), rows_at_once(self.spark, ROWS_AT_ONCE):
            found = frame.mapInArrow(_folding(works, merge), _ANSWERS)
            if merge is not None and self.tasks * len(works) > MOST_ANSWERS:
                found = found.groupBy("part").applyInArrow(_merging(merge), _ANSWERS)
            rows = found.collect()
        for part, answer in rows:
            yield part, pickle.loads(bytes(answer))

    def scatter(self, works: Mapping[int, Work[Any]]) -> None:
        frame = self._of(works)
        for part in works:
            self.sizes.pop(part, None)
        if frame is None:
            return
        self._keep(frame.mapInArrow(_scattering(works), ROWS))
        for _, parts in self._held[:-1]:
            parts.difference_update(works)
        for held, parts in self._held:
            if not parts:
                held.unpersist()
        self._held = [each for each in self._held if each.parts]

    def add(self, part: int, record: Record, copies: int) -> None:
        while copies > 0:
            some = min(copies, MOST_COPIES)
            self.sizes[part] = self.sizes.get(part, 0) + some
            self._added.append(row_of(part, copies_of(record, 1), some))
            copies -= some

    def each(self, shares: Sequence[tuple[int, ...]], make: Made) -> Shared:
        """Call `make` with the number of each share, the records of its parts and a folder; it
        writes one file there and gives a summary."""
        from pyspark import StorageLevel
        from pyspark.sql import functions as F

        share_of = {part: number for number, parts in enumerate(shares) for part in parts}
        frame = self._of(share_of)
        assert frame is not None
        table = F.create_map(*(F.lit(each) for pair in share_of.items() for each in pair))
        placed = _placed(frame.withColumn("share", table[F.col("part")]), len(shares))
        with plain_errors(), rows_at_once(self.spark, ROWS_AT_ONCE):
            made = placed.mapInArrow(_making(shares, make), _FILES)
            shared = Shared(made.persist(StorageLevel.DISK_ONLY))
            shared.frame.where(f"place = {_SUMMARY}").count()  # all shares, at the same time
        return shared

    def gathered(self) -> Block:
        """All records of part 0, here; the caller has checked that they fit."""
        frame = self._of({0})
        with plain_errors(), rows_at_once(self.spark, ROWS_AT_ONCE):
            table = None if frame is None else frame.toArrow()
        blocks = [] if table is None else [block for _, block in from_rows(table.to_batches())]
        return joined(blocks or [_EMPTY])

    def distinct(self, room: int, memory: str) -> Distinct:
        """The distinct records of part 0, here, if they fit in the memory.

        Raises:
            EngineError: if they do not.
        """
        from pyspark import StorageLevel
        from pyspark.sql import functions as F

        frame = self._of({0})
        if frame is None:
            return Distinct(_EMPTY, np.zeros(0, dtype=np.int64))
        with plain_errors(), rows_at_once(self.spark, ROWS_AT_ONCE):
            some = frame.mapInArrow(_counting, "record binary, size bigint").groupBy("record")
            found = some.agg(F.sum("size").alias("size")).persist(StorageLevel.DISK_ONLY)
            records, length = found.agg(F.count("size"), F.sum(F.length("record"))).collect()[0]
            check_room(records, (length or 0) // 4, room, memory)
            table = found.toArrow()
            found.unpersist()
        keys, sizes = (column.to_pylist() for column in table.columns)
        pairs = sorted(zip(keys, sizes, strict=True))
        return of_keys((key for key, _ in pairs), (size for _, size in pairs))

    def close(self) -> None:
        """Let Spark forget the records."""
        for frame, _ in self._held:
            with suppress(Exception):
                frame.unpersist()

    def _of(self, parts: Iterable[int]) -> DataFrame | None:
        """The rows of some parts; None if they have none."""
        self._flush()
        wanted = set(parts)
        some = [(frame, sorted(wanted & live)) for frame, live in self._held if wanted & live]
        frames = [frame.where(frame["part"].isin(those)) for frame, those in some]
        if not frames:
            return None
        whole = reduce(lambda one, other: one.unionByName(other), frames)
        return whole if len(frames) == 1 else whole.coalesce(self.tasks)

    def _flush(self) -> None:
        """Keep the records that were added."""
        if not self._added:
            return
        import pyarrow as pa

        rows, self._added = self._added, []
        with plain_errors():  # as an Arrow table: lists of rows would need other Python workers
            table = pa.Table.from_pylist(rows, arrow_schema())
            frame = self.spark.createDataFrame(table)
        self._held.append(_Held(frame, set(table["part"].to_pylist())))

    def _keep(self, frame: DataFrame) -> None:
        """Keep a DataFrame on the disks of the cluster, and count its records."""
        from pyspark import StorageLevel

        with plain_errors(), rows_at_once(self.spark, ROWS_AT_ONCE):
            kept = frame.persist(StorageLevel.DISK_ONLY)
            counts = kept.groupBy("part").sum("size").collect()
        self._held.append(_Held(kept, {row[0] for row in counts}))
        for part, size in counts:
            self.sizes[part] = self.sizes.get(part, 0) + size


class Shared:
    """What was made of all shares: summaries first, then their files."""

    def __init__(self, frame: DataFrame) -> None:
        self.frame = frame

    def summaries(self) -> list[Any]:
        """The summary of each share, or the error that it ended with."""
        with plain_errors():
            rows = self.frame.where(f"place = {_SUMMARY}").select("content").collect()
        return [pickle.loads(bytes(content)) for (content,) in rows]

    def write(self, names: Mapping[int, str], folder: Path) -> list[Any]:
        """Write the files of the shares in turn; gives the summaries that belong to
        them: a share that was lost meanwhile and made again may be in another order."""
        summaries = []
        with plain_errors():
            count = self.frame.count()
            some = self.frame.repartitionByRange(-(-count // FETCHED), "share", "place")
            ordered = some.sortWithinPartitions("share", "place")
            for share, place, content in ordered.toLocalIterator():
                if place == _SUMMARY:
                    summaries.append(pickle.loads(bytes(content)))
                    continue
                with (folder / names[share]).open("ab" if place else "wb") as stream:
                    stream.write(bytes(content))
        return summaries

    def lines(self) -> DataFrame:
        """The lines of all files, in the column `value`."""
        from pyspark.sql import functions as F

        text = F.split(F.decode("content", "utf-8"), "\n")
        rows = self.frame.where(f"place > {_SUMMARY}").select(F.explode(text).alias("value"))
        return rows.where("value != ''")


def on_spark(spark: SparkSession, work: Callable[[int], Answer], tasks: int) -> Iterator[Answer]:
    """The answers of a function to the numbers below `tasks`, each from a task of its own."""

    def answer(batches: Any) -> Any:
        for batch in batches:
            for number in batch["id"].to_pylist():
                yield _answer_row(number, work(number))

    with plain_errors():
        rows = spark.range(0, tasks, 1, tasks).mapInArrow(answer, _ANSWERS).collect()
    return (pickle.loads(bytes(row[1])) for row in sorted(rows))


def _placed(frame: DataFrame, shares: int) -> DataFrame:
    """Each share in a task of its own; before Spark 4.1 a task may have several."""
    from pyspark.sql import functions as F

    if hasattr(frame, "repartitionById"):
        return frame.repartitionById(shares, F.col("share"))
    return frame.repartition(2 * shares, "share")


def _folding(works: Mapping[int, Work[Any]], merge: Merge[Any] | None) -> Any:
    """For `mapInArrow`: the answers of the records of some parts."""

    def fold(batches: Any) -> Any:
        blocks = gathered(from_rows(batches), ITEMS_AT_ONCE)
        answers: Any = ((part, works[part](block)) for part, block in blocks)
        if merge is not None:
            answers = merged(answers, merge).items()
        return (_answer_row(part, answer) for part, answer in answers)

    return fold


def _merging(merge: Merge[Any]) -> Any:
    """For `applyInArrow`: the answers of one part as one."""

    def merging(table: Any) -> Any:
        import pyarrow as pa

        answers = [pickle.loads(each.as_py()) for each in table["answer"]]
        row = _answer_row(table["part"][0].as_py(), reduce(merge, answers))
        return pa.Table.from_batches([row])

    return merging


def _answer_row(part: int, answer: object) -> Any:
    import pyarrow as pa

    columns = [pa.array([part], pa.int32()), pa.array([pickle.dumps(answer)], pa.binary())]
    return pa.RecordBatch.from_arrays(columns, ["part", "answer"])


def _counting(batches: Any) -> Any:
    """For `mapInArrow`: the distinct records of each block, and how often each occurs."""
    import pyarrow as pa

    for _, block in gathered(from_rows(batches), ITEMS_AT_ONCE):
        some, sizes = distinct_of(block)
        items, bounds = some.items.tobytes(), 4 * some.indptr
        buffers = [None, pa.py_buffer(bounds.astype(np.int32)), pa.py_buffer(items)]
        records = pa.BinaryArray.from_buffers(pa.binary(), len(some), buffers)
        yield pa.RecordBatch.from_arrays([records, pa.array(sizes)], ["record", "size"])


def _scattering(works: Mapping[int, Work[Any]]) -> Any:
    """For `mapInArrow`: the records in their new parts."""

    def scatter(blocks: Iterator[tuple[int, Block]]) -> Iterator[tuple[int, Block]]:
        for part, block in blocks:
            places = works[part](block)
            order = np.argsort(places, kind="stable")
            news, starts = np.unique(places[order], return_index=True)
            for new, rows in zip(news.tolist(), np.split(order, starts[1:]), strict=True):
                if new != NOWHERE:
                    yield new, block.take(rows)

    return in_arrow(scatter)


def _making(shares: Sequence[tuple[int, ...]], make: Made) -> Any:
    """For `mapInArrow`: the summary of a share, and its file in pieces."""

    def made(batches: Any) -> Any:
        import tempfile

        # where Spark itself removes what a task that was killed leaves
        own = next(filter(None, environ.get("SPARK_LOCAL_DIRS", "").split(",")), None)
        found: dict[int, dict[int, list[Block]]] = {}
        share_of = {part: number for number, parts in enumerate(shares) for part in parts}
        for part, block in from_rows(batches):
            found.setdefault(share_of[part], {}).setdefault(part, []).append(block)
        for number in sorted(found):
            parts = found.pop(number)
            blocks = [joined(parts.pop(part, [_EMPTY])) for part in shares[number]]
            with tempfile.TemporaryDirectory(dir=own) as folder:
                summary = make(number, blocks, Path(folder))
                files = [path.read_bytes() for path in Path(folder).iterdir()]
            yield from _file_rows(number, summary, files)

    return made


def _file_rows(number: int, summary: object, files: list[bytes]) -> Iterator[Any]:
    import pyarrow as pa

    pieces = [piece for file in files for piece in _pieces(file)]
    for place, content in enumerate([pickle.dumps(summary), *pieces], start=_SUMMARY):
        columns = [
            pa.array([number], pa.int32()),
            pa.array([place], pa.int32()),
            pa.array([content], pa.binary()),
        ]
        yield pa.RecordBatch.from_arrays(columns, ["share", "place", "content"])


def _pieces(content: bytes) -> Iterator[bytes]:
    """A file in pieces that end with a line, if it is text."""
    start = 0
    while start < len(content) or not start:
        stop = start + PIECE
        if stop < len(content):
            stop = (content.rfind(b"\n", start, stop) + 1) or stop
        yield content[start:stop]
        start = max(stop, 1)
