"""The engine Spark: the same shares, tasks and sums as on blocks, where the records are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from setveil.data.account import Account
from setveil.data.arrays import Int32s
from setveil.data.summary import Tally
from setveil.engines.distinct import Distinct
from setveil.engines.parts import Answer, Block
from setveil.engines.spark import Shared, SparkParts, on_spark
from setveil.engines.sparkdata import (
    SparkRecords,
    numbered,
    published_rows,
    read_frame,
    some_of_frame,
)
from setveil.engines.sparksession import session
from setveil.errors import EngineError, FileFormatError, SetveilError
from setveil.io.releases.folder import sha256
from setveil.methods.dividing import USUAL_PART, Share
from setveil.pipeline.parts.loading import Loaded, Read
from setveil.pipeline.parts.sources import Where
from setveil.pipeline.parts.task import Done, Place, Spec, collected, places_of, publish_share
from setveil.pipeline.stages import Stages


@contextmanager
def open_spark(where: Where, work: Path, stages: Stages) -> Iterator[SparkSource]:
    """Keeps the records on a cluster; says that it starts a session, because that takes a while."""
    if stages.progress is not None:
        stages.progress(0, 0, "starting Spark")
    with session(where.master, work) as spark:
        yield SparkSource(spark, work)


class SparkSource:
    """Records on a cluster."""

    records: SparkRecords
    parts: SparkParts
    made: Shared

    def __init__(self, spark: Any, work: Path) -> None:
        self.spark, self.work = spark, work

    def read(self, data: object, reading: Mapping[str, Any]) -> Read:
        name = str(data) if isinstance(data, str | Path) else data
        self.records = read_frame(self.spark, name, reading)
        if not self.records.records:
            shown = name if isinstance(name, str) else "the DataFrame"
            raise FileFormatError(shown, "it has no records")
        tally = Tally.of_supports(self.records.vocabulary, self.records.supports)
        account = Account(format="spark") if isinstance(name, str) else None
        if account is not None:
            account.skip_blanks(self.records.blanks)
        return Read(tally, self.records.records, account)

    def map(self, work: Callable[[int], Answer], tasks: int) -> Iterator[Answer]:
        return on_spark(self.spark, work, tasks)

    def some(self, records: int, occurrences: int) -> Block:
        return some_of_frame(self.records)

    def gathered(self) -> Block:
        return self.parts.gathered()

    def distinct(self, room: int, memory: str) -> Distinct:
        return self.parts.distinct(room, memory)

    def recode(self, numbers: Int32s, size: int) -> None:
        self.parts = SparkParts(self.spark, numbered(self.records, numbers))
        self.records.frame.unpersist()

    def most(self, loaded: Loaded) -> int:
        return USUAL_PART

    def publish(
        self, spec: Spec, shares: Sequence[Share], folder: Path, stages: Stages
    ) -> list[Done]:
        sizes = [sum(self.parts.sizes.get(part, 0) for part in each.parts) for each in shares]
        work = partial(publish_on_worker, spec, places_of(shares, sizes))
        self.made = self.parts.each([share.parts for share in shares], work)
        answers = self.made.summaries()
        for answer in answers:
            if isinstance(answer, SetveilError):
                raise answer
        if len(answers) != len(shares):
            raise EngineError(f"Spark gave {len(answers)} parts instead of {len(shares)}")
        found = collected(iter(answers), sizes, stages)
        return self._fetched(found, folder) if all(done.holds for done in found) else found

    def frame(self, spec: Spec) -> Any:
        return published_rows(self.made.lines(), spec.file)

    def _fetched(self, found: Sequence[Done], folder: Path) -> list[Done]:
        """Write the files of the release here, and compare them with what was verified there."""
        written: list[Done] = self.made.write({done.number: done.name for done in found}, folder)
        for done in written:
            if sha256(folder / done.name) != done.digest:
                raise EngineError(f"{done.name} is not what the cluster wrote and verified")
        return sorted(written, key=lambda done: done.number)


def publish_on_worker(
    spec: Spec, places: Sequence[Place], number: int, blocks: list[Block], folder: Path
) -> Done | SetveilError:
    """Make a share in a Python worker; what the library refuses is an answer, not a failure."""
    try:
        return publish_share(spec, places[number], blocks, folder)
    except SetveilError as error:
        return error
