"""Methods that search all records at once, on the engine blocks: reading is bounded, and the
encoded records must fit in memory."""

from __future__ import annotations

from dataclasses import replace

from setveil.data.transactions import Transactions
from setveil.disk import private_folder
from setveil.engines.blocks import Blocks, Shelf, read_part
from setveil.errors import EngineError
from setveil.pipeline.job import Job, Outcome
from setveil.pipeline.parts.reading import Read, read_to
from setveil.pipeline.stages import Stages
from setveil.words import plural


def run_compact(job: Job, engine: Blocks, stages: Stages) -> Outcome:
    """Read the data within bounds, and do the rest as the local engine does.

    Raises:
        EngineError: if the records do not fit in the memory; it says how much is needed.
    """
    from setveil.pipeline.anonymize import run

    with stages("reading"), private_folder() as work:
        shelf = Shelf(work, engine)
        read = read_to(shelf, job.data, job.reading)
        _check_room(job, engine, read, shelf.occurrences[0])
        block = read_part(work, 0)
        data = Transactions(block.indptr, block.items, read.tally.vocabulary)
    here = replace(job, data=data, reading={}, engine="local", memory=None)
    outcome = run(here, stages.progress)
    notes = outcome.notes if read.account is None else (*read.account.notes, *outcome.notes)
    seconds = {**outcome.seconds, "reading": stages.seconds["reading"]}
    return replace(outcome, account=read.account, notes=notes, seconds=seconds)


def _check_room(job: Job, engine: Blocks, read: Read, occurrences: int) -> None:
    need = job.method.bytes_per_occurrence * occurrences + 8 * read.records
    if need > engine.room:
        problem = (
            f"the method {job.method.name} needs all {plural(occurrences, 'occurrence')} in memory "
            f"at once, about {need / 1e9:,.1f} GB, and may take {engine.memory}"
        )
        remedy = "allow more {memory}, or use {method=disassociation} or {method=partition}"
        raise EngineError(problem, remedy=remedy)
