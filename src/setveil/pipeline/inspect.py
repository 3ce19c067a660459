"""Inspect: what a data set contains, and how exposed the people in it are."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from setveil.audit.exposure import Exposure, exposure
from setveil.data.account import Account
from setveil.data.identifiers import some_of
from setveil.data.summary import Summary, summarize
from setveil.data.transactions import Transactions
from setveil.engines.base import Progress, Read, Where
from setveil.pipeline.beside import ColumnFound, columns_found, columns_note, exposed_note
from setveil.pipeline.inputs import KEEP, identifier_note, load_with_account, notes_on, people_of
from setveil.pipeline.loading import count_distinct
from setveil.pipeline.names import USUAL, Words, fields_from, reading_from
from setveil.pipeline.notes import names_note
from setveil.pipeline.owners import nested_note
from setveil.pipeline.stages import Stages

FIRST = 8  # records that are shown as they were read
COMMON = (2, USUAL["k"], 10)  # choices of k; 2 says who is unique


@dataclass(frozen=True, kw_only=True)
class InspectJob:
    """Which data to inspect, and for which k."""

    data: object = field(repr=False)
    """A path (`-` is standard input), or any object that `as_transactions` takes."""
    k: int | None = None
    """Fewer records than this single a person out; by default 2, 5 and 10."""
    reading: Mapping[str, Any] = field(default_factory=dict)
    engine: str = "local"
    """Where the data is read and its distinct records are counted: `local`, `blocks`, `spark`."""
    memory: str | None = None
    """For the engines `blocks` and `spark`: the memory for the distinct records. For all of them:
    the memory for reading, see `setveil.read`."""
    master: str | None = None
    """For the engine `spark`: the cluster."""


@dataclass(frozen=True, kw_only=True)
class Inspection:
    """What was found. All of it is about the original: private."""

    summary: Summary
    exposures: tuple[Exposure, ...]  # for each k
    k: int
    """What is proposed, here and by `advise`, where none is given."""
    account: Account | None = None
    """How the file was read; None if the data did not come from a file."""
    notes: tuple[str, ...] = ()
    """What the user should check."""
    beside: tuple[ColumnFound, ...] = ()
    """The columns that are, or could be, published beside the items."""
    doubtful: bool = False
    """Whether some items look like identifiers."""
    first: tuple[tuple[str, ...], ...] = ()
    """The items of the first records; empty if another engine than `local` read them."""

    def __str__(self) -> str:
        return "\n".join(self.exposures[0].sentences)


def inspect(data: object, *, progress: Progress | None = None, **words: Any) -> Inspection:
    """What a data set contains, and how exposed the people in it are.

    Args:
        data: A path (`-` is standard input), or any object that `as_transactions` takes.
        progress: Is called with how far the work is.
        words: The options of `setveil inspect`: `k`, how to read a file (`record`, `item` ...), and
            `engine`, `memory` and `master`.

    Example:
        >>> found = inspect([["beer", "wine"], ["beer", "milk"], ["beer"], ["beer"]], k=2)
        >>> found.summary.unique_records, found.exposures[0].whole
        (2, 0.5)
    """
    return run(job_from(data, words), progress)


def job_from(data: object, words: Words) -> InspectJob:
    """The job that these words describe; None means not given."""
    return InspectJob(data=data, **fields_from("inspect", InspectJob, words, made=("data",)))


def run(job: InspectJob, progress: Progress | None = None) -> Inspection:
    """Read the data, summarize it, and count how many people are exposed."""
    stages = Stages(progress)
    where = Where(job.engine, job.memory, job.master)
    where.check()
    sizes, read, owners, beside = None, None, list[str](), tuple[ColumnFound, ...]()
    if job.engine == "local":
        with stages("reading"):
            data, account = load_with_account(job.data, job.reading)
            owners = nested_note(job.data, job.reading, account)
            beside = columns_found(job.data, job.reading, account)
    else:
        data, sizes, read = count_distinct(job.data, job.reading, where, stages)
        account = read.account
    with stages("inspecting"):
        chosen, k = (COMMON, USUAL["k"]) if job.k is None else ((job.k,), job.k)
        people = people_of(account) if sizes is None else None
        exposures = tuple(exposure(data, k=k, sizes=sizes, people=people) for k in chosen)
        doubt = _identifiers(job, data, read, account)
        summary = summarize(data, sizes=sizes, people=people)
        size = summary.items, summary.records
        names = names_note(summary.rare_words, *size, k, people)
        about_columns = columns_note(job.data, job.reading, beside)
        exposed = exposed_note(data, k)
        return Inspection(
            summary=summary,
            exposures=exposures,
            k=k,
            account=account,
            notes=(*owners, *notes_on(data, account), *doubt, *names, *about_columns, *exposed),
            beside=beside,
            doubtful=bool(doubt),
            first=() if read is not None else _first(data),
        )


def first_records(data: object, words: Words) -> tuple[tuple[str, ...], ...]:
    """The items of the first records, if the data is read as these words say."""
    return _first(load_with_account(data, reading_from(words))[0])


def _first(data: Transactions) -> tuple[tuple[str, ...], ...]:
    """The first records; of bags with how often each item occurs."""
    return tuple(map(data.take(range(min(len(data), FIRST))).shown, range(min(len(data), FIRST))))


def _identifiers(
    job: InspectJob, data: Transactions, read: Read | None, account: Account | None
) -> tuple[str, ...]:
    """A note on items that look like identifiers, unless the user says that they are meant."""
    if job.reading.get(KEEP):
        return ()
    some = some_of(data)
    if read is not None:  # these are the distinct records
        some = some._replace(supports=read.data.supports(), records=read.records)
    return identifier_note(some, account)
