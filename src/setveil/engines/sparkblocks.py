"""Blocks of records as rows of a DataFrame: one row has thousands of records of one part.

So what Spark does for each row (copy, compress, send) costs next to nothing for each record."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.engines.parts import Block, block_of, copies_of, joined

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

ROWS = "part int, size int, copies int, lengths binary, items binary"
"""How many records a row has, and the lengths and items of those that are written once for
`copies` equal ones."""
ITEMS_IN_ROW = 1 << 19
"""A row has about so many items, unless one record has more."""
ROWS_AT_ONCE = 16
"""So many rows go to a Python worker together."""
RECORDS_AT_ONCE = 20_000
"""So many records go to a Python worker together before they are in blocks."""
MOST_COPIES = 100_000
_HELD = 1 << 23
"""So many items wait to be put together, over all parts."""
_BATCH = "spark.sql.execution.arrow.maxRecordsPerBatch"

Batches = Iterator["pa.RecordBatch"]


@contextmanager
def rows_at_once(spark: SparkSession, rows: int) -> Iterator[None]:
    """Send so many rows to Python together in what is run in this block."""
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


def in_arrow(
    work: Callable[[Iterator[tuple[int, Block]]], Iterator[tuple[int, Block]]],
) -> Any:
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
