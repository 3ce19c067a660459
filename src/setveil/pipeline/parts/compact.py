"""Methods that search all records at once, on the engines blocks and spark: the data is read there,
and the encoded records must fit in the memory of this machine."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from setveil.data.transactions import Transactions
from setveil.errors import EngineError
from setveil.pipeline.inputs import KEEP
from setveil.pipeline.job import Job, Outcome
from setveil.pipeline.parts.checks import is_frame
from setveil.pipeline.parts.loading import Read, check_read
from setveil.pipeline.parts.sources import Where, open_source
from setveil.pipeline.stages import Stages
from setveil.published.in_parts import InParts
from setveil.words import plural


def run_compact(job: Job, where: Where, stages: Stages) -> Outcome:
    """Read the data on the engine, and do the rest as the local engine does.

    Raises:
        EngineError: if the records do not fit in the memory; it says how much is needed.
    """
    from setveil.pipeline.anonymize import run

    with open_source(where, stages) as source, stages("reading"):
        read = source.read(job.data, job.reading)
        check_read(job, source, read)
        _check_room(job, where, read)
        words = read.tally.vocabulary
        source.recode(np.arange(len(words), dtype=np.int32), len(words))
        data = Transactions(*source.gathered(), words)
    here = replace(job, data=data, reading={KEEP: True}, engine="local", memory=None, master=None)
    outcome = run(here, stages.progress)
    notes = outcome.notes if read.account is None else (*read.account.notes, *outcome.notes)
    seconds = {**outcome.seconds, "reading": stages.seconds["reading"]}
    outcome = replace(outcome, account=read.account, notes=notes, seconds=seconds)
    return _with_frame(outcome, job.data) if is_frame(job.data) else outcome


def _check_room(job: Job, where: Where, read: Read) -> None:
    occurrences = read.tally.occurrences
    need = job.method.bytes_per_occurrence * occurrences + 8 * read.records
    if need > where.room:
        problem = (
            f"the method {job.method.name} needs all {plural(occurrences, 'occurrence')} in memory "
            f"at once, about {need / 1e9:,.1f} GB, and may take {where.allowed}"
        )
        remedy = "allow more {memory}, or use {method=disassociation} or {method=partition}"
        raise EngineError(problem, remedy=remedy)


def _with_frame(outcome: Outcome, given: Any) -> Outcome:
    """The outcome with its release as a DataFrame of records and items."""
    import pyarrow as pa

    release = outcome.release
    rows, sizes = release.certain_rows()
    order = np.random.default_rng().permutation(np.repeat(np.arange(len(rows)), sizes))
    published = rows.take(order)
    labels = pa.array(published.vocabulary.labels, pa.string())
    table = pa.table({"record": published.rows + 1, "item": labels.take(pa.array(published.items))})
    frame = given.sparkSession.createDataFrame(table)
    words = {"meaning": release.describe(), "not_promised": release.limits()}
    held = InParts(
        release.form,
        len(release),
        release.promise,
        release.method,
        lambda: release,
        words,
        frame,
    )
    return replace(outcome, release=held)
