"""What every method must do on every engine that it runs on: the same as on the local engine."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import setveil as sv
from setveil.data.tables.beside import column_of
from setveil.engines import spark as onspark
from setveil.engines.blocks import BlocksSource
from setveil.errors import DataError, EngineError, ParameterError, SetveilError
from setveil.methods import METHODS
from setveil.promises import Coherence, KAnonymity, KmAnonymity
from tests.conformance.test_methods import AWKWARD

COHERENT = Coherence(h=0.8, k=10, p=2)
CASES = {
    **AWKWARD,
    "one very long record": [[str(i) for i in range(60)]] + [[str(i)] for i in range(30)],
    "one record": [["a", "b"]],
    "equal items in a record": [["a", "a", "b"], ["b", "a", "b"], ["a", "b"], ["c"]] * 3,
    "labels that look alike": [["é", "e\u0301"], ["é"], ["e\u0301", "\u200bx"], ["🍎", "x"]] * 4,
}
on_blocks = {name: kind for name, kind in METHODS.items() if kind.runs_anywhere}
each_method = pytest.mark.parametrize("method", on_blocks.values(), ids=on_blocks)
K = 3


@each_method
@pytest.mark.parametrize("case", CASES)
def test_the_release_or_the_refusal_on_blocks_is_that_of_the_local_engine(
    case, method, tmp_path, monkeypatch
):
    monkeypatch.setattr(BlocksSource, "most", lambda *_: 2 * K)
    data = _data(CASES[case], method)
    here = _answer(data, method, tmp_path / "here")
    there = _answer(data, method, tmp_path / "there", engine="blocks")
    assert here == there


@pytest.mark.long
@each_method
@pytest.mark.parametrize("case", [case for case in CASES if CASES[case]])
@pytest.mark.parametrize("spread", ["one task", "more tasks than records"])
def test_the_release_or_the_refusal_on_spark_is_that_of_the_local_engine(
    spark, case, method, spread, tmp_path, monkeypatch
):
    monkeypatch.setattr(onspark, "USUAL_PART", 2 * K)
    records = CASES[case]
    tasks = 1 if spread == "one task" else len(records) + 3
    here = _answer(_data(records, method), method, tmp_path / "here")
    beside = method.reads == "tables"
    frame = _frame(spark, records, tasks, **({"column": _words(records)} if beside else {}))
    more = {"reading": {"columns": ["column"]}} if beside else {}
    there = _answer(frame, method, tmp_path / "there", engine="spark", **more)
    assert here == there


SOME = [*CASES["one empty record"], *CASES["labels that look alike"][:6], ["a", "a", "b"], []]


def test_inspect_on_spark_sees_empty_parts_repeats_labels_and_every_record(spark):
    here, there = sv.inspect(_sets(SOME)), sv.inspect(_frame(spark, SOME, 20), engine="spark")
    assert here.summary == there.summary
    assert here.exposures == there.exposures


@pytest.mark.long
def test_what_is_read_searched_written_and_verified_on_spark_is_what_is_done_here(spark, tmp_path):
    path, promise = tmp_path / "records", replace(COHERENT, k=K)
    _frame(spark, SOME, 3).write.parquet(str(path))
    job = sv.Job(
        data=str(path),
        promise=promise,
        method=sv.Suppression(),
        engine="spark",
        output=tmp_path / "there",
    )
    assert sv.run(job).verdict.holds
    wanted = sv.Suppression().anonymize(_sets(SOME), promise)
    assert sv.read_release(tmp_path / "there") == wanted
    assert sv.verify(tmp_path / "there", str(path), engine="spark").holds
    found = sv.verify(str(path), engine="spark", k=K, bags=False)
    same = sv.verify(_sets(SOME), k=K)
    assert [check.text for check in found.checks] == [check.text for check in same.checks]
    with pytest.raises(EngineError, match="more than the memory of 1KB"):
        sv.inspect(str(path), engine="spark", memory="1KB")
    done = sv.anonymize(_frame(spark, SOME, 2), k=K, p=2, h=0.8, method="suppression")
    published = sorted((row["record"], row["item"]) for row in done.release.frame.collect())
    assert (
        len(published)
        == wanted.certain_rows()[0]
        .take(np.repeat(np.arange(len(wanted.sizes)), wanted.sizes))
        .occurrences
    )


def test_counts_are_refused_by_engines_that_work_on_sets(spark, tmp_path):
    frame = spark.sql("select '1' record, 'a' item, 2 count")
    with pytest.raises(DataError, match="works on sets; ignore the counts"):
        sv.anonymize(frame, k=2, method="partition", hierarchy="balanced:2")
    with pytest.raises(ParameterError, match="does not see whether an item repeats"):
        sv.verify(str(tmp_path / "data.csv"), k=2, engine="blocks")


def _frame(spark, records, tasks, **columns):
    """A DataFrame with a list in each row, made of Arrow: that is quicker."""
    import pyarrow as pa

    table = pa.table({"items": pa.array(records, pa.list_(pa.string())), **columns})
    return spark.createDataFrame(table).repartition(tasks)


def _data(records, method):
    """The records as sets; beside a column, if the method needs columns."""
    if method.reads != "tables":
        return _sets(records)
    column = column_of("column", _words(records))
    return sv.Table.beside(sv.Transactions.of(records), [column])


def _words(records):
    """One of two words for each record: it depends on the record alone."""
    return ["long" if len(record) > 1 else "short" for record in records]


def _sets(records):
    return [sorted(set(record)) for record in records]


def _answer(data, method, output, **more):
    """The release that was written, or why there is none."""
    chosen = method() if method.name != "disassociation" else method(max_part=2 * K)
    promise = method.trial
    job = sv.Job(
        data=data,
        promise=replace(promise, k=K),
        method=chosen,
        hierarchy="balanced:2" if method.needs_hierarchy else None,
        output=output,
        **more,
    )
    try:
        assert sv.run(job).verdict.holds
    except SetveilError as error:
        return str(error)
    return sv.read_release(output)


@pytest.mark.long
@each_method
@pytest.mark.parametrize("engine", ["blocks", "spark"])
@pytest.mark.parametrize("name", ["bms-webview-2", "retail"])
def test_the_release_of_real_data_is_that_of_the_local_engine(
    shared_data, request, name, engine, method, tmp_path
):
    path = shared_data / f"{name}.dat.gz"
    divided = {"max_part": 20_000} if method.name == "disassociation" else {}
    promise = next(kind for kind in (KAnonymity(k=10), KmAnonymity(k=10, m=2), COHERENT)
                   if isinstance(kind, method.promises))  # fmt: skip
    job = sv.Job(
        data=str(path),
        promise=promise,
        method=method(**divided),
        hierarchy="balanced:5" if method.needs_hierarchy else None,
        output=tmp_path / "here",
    )
    if engine == "spark":
        request.getfixturevalue("spark")
    there = replace(job, output=tmp_path / "there", engine=engine)
    assert sv.run(job).verdict.holds
    assert sv.run(there).verdict.holds
    assert sv.read_release(tmp_path / "here") == sv.read_release(tmp_path / "there")
