"""The engine Spark: the same shares, tasks and sums as on blocks, where the records are."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, cast

from setveil.data.account import Account
from setveil.data.arrays import Int32s
from setveil.data.identifiers import Some
from setveil.data.summary import Tally
from setveil.engines.base import Made, PartsSource, Progress, Read, Reader, Shares, Source, Where
from setveil.engines.parts import USUAL_PART, Answer, Block, Distinct
from setveil.engines.sparkdata import (
    SparkRecords,
    numbered,
    published_rows,
    read_frame,
    some_of_frame,
)
from setveil.engines.sparkparts import Shared, SparkParts, on_spark
from setveil.engines.sparksession import plain_errors, session
from setveil.errors import EngineError, FileFormatError, SetveilError


@contextmanager
def open_spark(where: Where, work: Path, progress: Progress | None) -> Iterator[Source]:
    """Keeps the records on a cluster; says that it starts a session, because that takes a while."""
    if progress is not None:
        progress(0, 0, "starting Spark")
    with session(where.master, work) as spark:
        yield SparkSource(spark, where)


class SparkSource(PartsSource):
    """Records on a cluster."""

    records: SparkRecords
    parts: SparkParts
    made: Shared

    def __init__(self, spark: Any, where: Where) -> None:
        self.spark, self.where = spark, where

    def read(self, data: object, reading: Mapping[str, Any], reader: Reader) -> Read:
        """Spark reads files by itself: each of its workers a part of them."""
        name = str(data) if isinstance(data, str | Path) else data
        self.records = read_frame(self.spark, name, reading)
        if not self.records.records:
            shown = name if isinstance(name, str) else "the DataFrame"
            raise FileFormatError(shown, "it has no records")
        tally = Tally.of_supports(self.records.vocabulary, self.records.supports)
        people = self.records.people
        account = Account(format="spark") if isinstance(name, str) or people else None
        if account is not None:
            account.skip_blanks(self.records.blanks)
        if account is not None and people is not None:
            account.columns["person"], account.holdings = people
        return Read(tally, self.records.records, account)

    def read_table(self, data: object, reading: Mapping[str, Any], reader: Reader) -> Read:
        """A DataFrame is collected here; a file is read by this machine."""
        if isinstance(data, str | Path):
            return super().read_table(data, reading, reader)
        with plain_errors():
            table = cast(Any, data).toArrow()
        return super().read_table(table, reading, reader)

    def some(self, read: Read) -> Some:
        block = some_of_frame(self.records)
        return Some(*block, read.data.vocabulary, read.data.supports(), read.records)

    def recode(self, numbers: Int32s, size: int) -> None:
        self.parts = SparkParts(self.spark, numbered(self.records, numbers))
        self.records.frame.unpersist()

    def map(self, work: Callable[[int], Answer], tasks: int) -> Iterator[Answer]:
        return on_spark(self.spark, work, tasks)

    def gathered(self) -> Block:
        return self.parts.gathered()

    def distinct(self) -> Distinct:
        return self.parts.distinct(self.where.room, self.where.allowed)

    def most(self, cost: int, length: float) -> int:
        return USUAL_PART

    def publish(self, work: Shares[Made]) -> Iterator[Made]:
        assert work.folder is not None
        self.made = self.parts.each(work.parts, partial(_made, work))
        answers = self.made.summaries()
        for answer in answers:
            if isinstance(answer, SetveilError):
                raise answer
        if len(answers) != len(work.parts):
            raise EngineError(f"Spark gave {len(answers)} parts instead of {len(work.parts)}")
        if not all(each.holds for each in answers):
            yield from answers
            return
        for each in self.made.write({each.number: each.name for each in answers}, work.folder):
            with (work.folder / each.name).open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            if digest != each.digest:
                raise EngineError(f"{each.name} is not what the cluster wrote and verified")
            yield each

    def frame(self, file: str) -> Any:
        return published_rows(self.made.lines(), file)


def _made(
    work: Shares[Made], number: int, blocks: list[Block], folder: Path
) -> Made | SetveilError:
    """A share in a Python worker; what the library refuses is an answer, not a failure."""
    try:
        return work.make(number, blocks, folder)
    except SetveilError as error:
        return error
