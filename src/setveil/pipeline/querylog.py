"""Querylog: from a query log to bags of terms, one per user or session."""

from collections.abc import Collection
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from setveil.data.logterms import STOP_WORDS, Lemma, LogReport, as_written
from setveil.disk import check_place
from setveil.engines.base import Progress
from setveil.errors import DataError, OutputError, ParameterError
from setveil.hierarchy.wordnet.network import WordNet
from setveil.io import write
from setveil.io.files import format_by_name
from setveil.io.formats import FORMATS
from setveil.io.namelists import read_items
from setveil.io.querylog.read import read_querylog

_PASSED_ON = (
    *("gap", "terms", "min_users", "keep_empty", "seed", "memory"),
    *("user", "text", "time", "no_header", "time_format"),
)


@dataclass(frozen=True, kw_only=True)
class QuerylogJob:
    """How to read a query log, and where to write the bags; see `read_querylog`."""

    log: str
    """A log file; `-` is standard input."""
    output: Path
    """The data file to write; `-` is standard output."""
    format: str | None = None
    gap: str = "inf"
    terms: Any = "words"
    user: str | None = None
    text: str | None = None
    time: str | None = None
    no_header: bool = False
    time_format: str | None = None
    wordnet: str | None = None
    """The folder of WordNet; `none` keeps words as they are."""
    stop_words: str = "english"
    """`english`, `none`, or a file with one word per line."""
    known: str | None = None
    """`wordnet`, or a file with the only words to keep."""
    min_users: int = 1
    keep_empty: bool = False
    seed: int | None = None
    memory: str | None = None
    force: bool = False


@dataclass(frozen=True, kw_only=True)
class QuerylogResult:
    """What was found in the log (private), and where the bags were written."""

    found: LogReport
    output: Path
    terms: str
    carries: bool | None = None
    """Whether the file says which records belong to one user; None if each user has one."""


def run(job: QuerylogJob, progress: Progress | None = None) -> QuerylogResult:
    """Read the log and write its bags of terms."""
    if str(job.output) != "-":
        check_place(job.output, force=job.force)
        log = Path(job.log)  # is kept, even if overwriting is allowed
        if job.output.exists() and log.exists() and job.output.samefile(log):
            raise OutputError(job.output, "this file is an input", remedy="choose another name")
    format = job.format or ("csv" if str(job.output) == "-" else format_by_name(job.output))
    named: dict[str, Collection[str]] = {"english": STOP_WORDS, "none": ()}
    stop_words = named[job.stop_words] if job.stop_words in named else read_items(job.stop_words)
    data, found = read_querylog(
        job.log,
        lemma=_lemma(job),
        known=job.known if job.known in (None, "wordnet") else read_items(str(job.known)),
        stop_words=stop_words,
        progress=progress,
        **{each.name: getattr(job, each.name) for each in fields(job) if each.name in _PASSED_ON},
    )
    if not len(data):
        raise DataError(_nothing_left(found))
    people = found.people if FORMATS[format].holds_people else None
    owners = None if people is None else (people.owners + 1).tolist()
    write(data, job.output, format=format, force=job.force, private=True, people=owners)
    return QuerylogResult(
        found=replace(found, people=None),
        output=job.output,
        terms=job.terms,
        carries=None if found.people is None else people is not None,
    )


def _lemma(job: QuerylogJob) -> Lemma | None:
    if job.wordnet is None:
        return None
    if job.wordnet != "none":
        return WordNet.read(job.wordnet).lemma
    if job.terms == "nouns" or job.known == "wordnet":
        allowed = "WordNet decides which words are nouns or known; leave this out"
        raise ParameterError("wordnet", job.wordnet, allowed)
    return as_written


def _nothing_left(found: LogReport) -> str:
    dropped = (
        f"{found.stopped_occurrences:,} stop words, {found.unknown_occurrences:,} unknown, "
        f"{found.rare_occurrences:,} rare"
    )
    return (
        f"none of {found.occurrences:,} terms in {found.queries:,} queries is left ({dropped}); "
        "nothing was written"
    )
