"""The engine on a Spark cluster: records in a DataFrame, work in Arrow batches.

Nothing is collected but counts, the vocabulary and small summaries. Every move of records depends
on their content alone, so a task that is run again after a failure gives the same."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.engines.parts import NOWHERE, Answer, Block, Parts, Record, Work, block_of, joined
from setveil.engines.sparksession import plain_errors

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

ITEMS_AT_ONCE = 1 << 22
"""So many items of a part are worked on together, about."""
MOST_COPIES = 100_000
PIECE = 1 << 22
"""The bytes of a file that one row holds."""
_SUMMARY = -1
_ROWS = "part int, items array<int>"


class SparkParts(Parts):
    """Parts as a column of a DataFrame."""

    def __init__(self, spark: SparkSession, frame: DataFrame) -> None:
        self.spark, self.sizes, self._added = spark, {}, []
        self._keep(frame)

    sizes: dict[int, int]
    _added: list[tuple[int, list[int], int]]

    def fold(self, works: Mapping[int, Work[Answer]]) -> Iterator[tuple[int, Answer]]:
        if not works:
            return
        self._flush()
        with plain_errors():
            found = self._of(works).mapInArrow(_folding(works), "part int, answer binary")
            rows = found.collect()
        for part, answer in rows:
            yield part, pickle.loads(bytes(answer))

    def scatter(self, works: Mapping[int, Work[Any]]) -> None:
        if not works:
            return
        self._flush()
        self._keep(self.frame.mapInArrow(_scattering(works), _ROWS))

    def add(self, part: int, record: Record, copies: int) -> None:
        self.sizes[part] = self.sizes.get(part, 0) + copies
        while copies > 0:
            self._added.append((part, list(record), min(copies, MOST_COPIES)))
            copies -= MOST_COPIES

    def each(
        self, shares: Sequence[tuple[int, ...]], make: Callable[[int, list[Block], Path], Any]
    ) -> Shared:
        """Call `make` with the number of each share, the records of its parts and a folder; it
        writes one file there and gives a summary."""
        from pyspark import StorageLevel
        from pyspark.sql import functions as F

        self._flush()
        share_of = {part: number for number, parts in enumerate(shares) for part in parts}
        table = F.create_map(*(F.lit(each) for pair in share_of.items() for each in pair))
        frame = self._of(share_of).withColumn("share", table[F.col("part")])
        with plain_errors():
            self.spark.conf.set("spark.sql.shuffle.partitions", str(2 * len(shares)))
            made = frame.groupBy("share").applyInArrow(
                _making(shares, make), "share int, place int, content binary"
            )
            return Shared(made.persist(StorageLevel.DISK_ONLY))

    def close(self) -> None:
        """Let Spark forget the records."""
        with suppress(Exception):
            self.frame.unpersist()

    def _of(self, parts: Mapping[int, object]) -> DataFrame:
        return self.frame.where(self.frame["part"].isin(list(parts)))

    def _flush(self) -> None:
        """Make the records that were added part of the DataFrame."""
        if not self._added:
            return
        from pyspark.sql import functions as F

        rows, self._added = self._added, []
        some = self.spark.createDataFrame(rows, "part int, items array<int>, copies int")
        copies = F.explode(F.sequence(F.lit(1), F.col("copies")))
        more = some.select("part", "items", copies.alias("copy")).select("part", "items")
        self._keep(self.frame.unionByName(more))

    def _keep(self, frame: DataFrame) -> None:
        """Keep a DataFrame on the disks of the cluster instead of the one before."""
        from pyspark import StorageLevel

        before: DataFrame | None = getattr(self, "frame", None)
        with plain_errors():
            self.frame = frame.persist(StorageLevel.DISK_ONLY)
            counts = self.frame.groupBy("part").count().collect()
        self.sizes = {row[0]: row[1] for row in counts}
        if before is not None:
            before.unpersist()


class Shared:
    """What was made of all shares: summaries first, then their files."""

    def __init__(self, frame: DataFrame) -> None:
        self.frame = frame

    def summaries(self) -> list[Any]:
        """The summary of each share, or the error that it ended with."""
        with plain_errors():
            rows = self.frame.where(f"place = {_SUMMARY}").select("content").collect()
        return [pickle.loads(bytes(content)) for (content,) in rows]

    def write(self, names: Mapping[int, str], folder: Path) -> None:
        """Write the file of each share."""
        with plain_errors():
            rows = self.frame.where(f"place > {_SUMMARY}").toLocalIterator()
            for share, place, content in rows:
                with (folder / names[share]).open("ab" if place else "wb") as stream:
                    stream.write(bytes(content))

    def lines(self) -> DataFrame:
        """The lines of all files, in the column `value`."""
        from pyspark.sql import functions as F

        text = F.split(F.decode("content", "utf-8"), "\n")
        rows = self.frame.where(f"place > {_SUMMARY}").select(F.explode(text).alias("value"))
        return rows.where("value != ''")


def _folding(works: Mapping[int, Work[Any]]) -> Any:
    """For `mapInArrow`: the answers of the records of some parts."""

    def fold(batches: Any) -> Any:
        import pyarrow as pa

        for part, block in _gathered(batches):
            answer = pickle.dumps(works[part](block))
            columns = [pa.array([part], pa.int32()), pa.array([answer], pa.binary())]
            yield pa.RecordBatch.from_arrays(columns, ["part", "answer"])

    return fold


def _scattering(works: Mapping[int, Work[Any]]) -> Any:
    """For `mapInArrow`: the records, those of some parts in others."""

    def scatter(batches: Any) -> Any:
        for batch in batches:
            for part, block in _by_part(batch):
                if part not in works:
                    yield rows_of(np.full(len(block), part), block)
                    continue
                places = works[part](block)
                kept = np.flatnonzero(places != NOWHERE)
                yield rows_of(places[kept], block.take(kept))

    return scatter


def _making(
    shares: Sequence[tuple[int, ...]], make: Callable[[int, list[Block], Path], Any]
) -> Any:
    """For `applyInArrow`: the summary of a share, and its file in pieces."""

    def made(table: Any) -> Any:
        import tempfile

        number = int(table["share"][0].as_py())
        found: dict[int, list[Block]] = {}
        for batch in table.select(["part", "items"]).to_batches():
            for part, block in _by_part(batch):
                found.setdefault(part, []).append(block)
        empty = block_of(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int32))
        blocks = [joined(found.pop(part, [empty])) for part in shares[number]]
        with tempfile.TemporaryDirectory() as folder:
            summary = make(number, blocks, Path(folder))
            files = [path.read_bytes() for path in Path(folder).iterdir()]
        return _file_rows(number, summary, files)

    return made


def _file_rows(number: int, summary: object, files: list[bytes]) -> Any:
    import pyarrow as pa

    pieces = [piece for file in files for piece in _pieces(file)]
    columns = [
        pa.array([number] * (len(pieces) + 1), pa.int32()),
        pa.array([_SUMMARY, *range(len(pieces))], pa.int32()),
        pa.array([pickle.dumps(summary), *pieces], pa.binary()),
    ]
    return pa.Table.from_arrays(columns, ["share", "place", "content"])


def _pieces(content: bytes) -> Iterator[bytes]:
    """A file in pieces that end with a line, if it is text."""
    start = 0
    while start < len(content) or not start:
        stop = start + PIECE
        if stop < len(content):
            stop = (content.rfind(b"\n", start, stop) + 1) or stop
        yield content[start:stop]
        start = max(stop, 1)


def rows_of(parts: Any, block: Block) -> pa.RecordBatch:
    """Records as Arrow rows."""
    import pyarrow as pa

    items = pa.ListArray.from_arrays(
        pa.array(block.indptr, pa.int32()), pa.array(block.items, pa.int32())
    )
    return pa.RecordBatch.from_arrays(
        [pa.array(np.asarray(parts, dtype=np.int32)), items], ["part", "items"]
    )


def block_of_lists(lists: Any) -> Block:
    """An Arrow array of lists of whole numbers as records."""
    offsets = np.asarray(lists.offsets, dtype=np.int64)
    items = np.asarray(lists.values, dtype=np.int32)[offsets[0] : offsets[-1]]
    return Block(offsets - offsets[0], items)


def _by_part(batch: pa.RecordBatch) -> Iterator[tuple[int, Block]]:
    """The records of each part in a batch."""
    if not batch.num_rows:
        return
    parts, block = np.asarray(batch["part"]), block_of_lists(batch["items"])
    if parts[0] == parts[-1] and (parts == parts[0]).all():
        yield int(parts[0]), block
        return
    for part in np.unique(parts).tolist():
        yield part, block.take(np.flatnonzero(parts == part))


def _gathered(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, Block]]:
    """The records of each part, many at a time."""
    held: dict[int, list[Block]] = {}
    for batch in batches:
        for part, block in _by_part(batch):
            held.setdefault(part, []).append(block)
            if sum(len(each.items) + len(each) for each in held[part]) > ITEMS_AT_ONCE:
                yield part, joined(held.pop(part))
    for part, blocks in held.items():
        yield part, joined(blocks)
