"""The engine on Spark: the same releases as on this machine, and failures that leave nothing."""

from __future__ import annotations

from collections import Counter

import pytest

import setveil as sv
from setveil.data.transactions import Transactions
from setveil.engines import spark as onspark
from setveil.engines.sparksession import _reason
from setveil.errors import DataError, EngineError, FileFormatError, InfeasibleError, ParameterError
from setveil.report.outcome import report_outcome
from tests.engines.test_parts import words


def test_disassociation_on_spark_gives_the_release_of_the_local_engine(spark, tmp_path):
    records = words(2, 150)
    (tmp_path / "data.dat").write_text("\n".join(" ".join(each) or " " for each in records) + "\n")
    how = {"k": 5, "m": 2, "max_part": 60, "method": "disassociation"}
    wanted = sv.Disassociation(max_part=60).anonymize(
        Transactions.of(records), sv.KmAnonymity(k=5, m=2)
    )
    done = sv.anonymize(
        str(tmp_path / "data.dat"), engine="spark", output=tmp_path / "release", **how
    )
    assert done.verdict.holds
    found = sv.read_release(tmp_path / "release")
    assert found == wanted
    assert (tmp_path / "release" / "data-00001.jsonl").exists()
    assert sv.verify(found, Transactions.of(records)).holds


def test_partition_of_a_dataframe_gives_the_release_of_the_local_engine(
    spark, tmp_path, monkeypatch
):
    monkeypatch.setattr(onspark, "USUAL_PART", 40)
    records = [*words(4, 118), [], []]
    rows = [(at, item) for at, record in enumerate(records) for item in record or [None]]
    frame = spark.createDataFrame(rows, "record int, item string")
    data = Transactions.of(records)
    tree = sv.Hierarchy.balanced(data.vocabulary, fanout=3)
    wanted = sv.Partition().anonymize(data, sv.KAnonymity(k=4), tree)
    done = sv.anonymize(frame, k=4, method="partition", hierarchy=tree, public_items=True)
    assert done.verdict.holds
    published: dict[int, list[str]] = {}
    for record, item in done.release.frame.collect():
        published.setdefault(record, []).append(item)
    full = Counter(tuple(sorted(each)) for each in published.values())
    same = Counter(tuple(sorted(each)) for each in wanted.records(0) if each)
    assert full == same
    assert len(done.release) == len(records)


def test_groups_of_a_dataframe_are_those_of_the_local_engine(spark, tmp_path):
    records = [sorted(set(each)) for each in words(4, 60)]
    born = [1930 + 7 * len(each) % 31 for each in records]
    rows = [(at, year, each) for at, (year, each) in enumerate(zip(born, records, strict=True))]
    frame = spark.createDataFrame(rows, "id int, born int, items array<string>")
    how = {"record": "id", "columns": ["born"], "k": 4, "m": 2, "columns_matter": 0.9, "seed": 1}
    here = sv.anonymize(frame.toPandas(), output=tmp_path / "here", **how)
    assert here.verdict.holds
    assert len(here.release.groups) > 1
    sv.anonymize(frame.repartition(3), output=tmp_path / "there", engine="spark", **how)
    for file in (tmp_path / "here").iterdir():
        assert file.read_bytes() == (tmp_path / "there" / file.name).read_bytes()


def test_what_a_task_refuses_and_what_fails_is_one_line(spark, tmp_path):
    (tmp_path / "data.dat").write_text("1 2\n" * 3 + " \n" * 30)
    where = {"engine": "spark", "output": tmp_path / "release"}
    with pytest.raises(InfeasibleError, match="only 3 records have items"):
        sv.anonymize(str(tmp_path / "data.dat"), k=5, m=2, **where)
    with pytest.raises(EngineError, match=r"^Spark failed: [^\n]*$"):
        sv.anonymize(str(tmp_path / "nothing.parquet"), k=5, m=2, **where)
    with pytest.raises(ParameterError, match="is active"):
        sv.anonymize(str(tmp_path / "data.dat"), k=2, m=2, master="local[7]", **where)
    assert [path.name for path in tmp_path.iterdir()] == ["data.dat"]


def test_the_last_cause_of_an_error_in_java_is_named():
    message = """An error occurred while calling o917.getResult.
: org.apache.spark.SparkException: Exception thrown in awaitResult:
\tat org.apache.spark.util.SparkThreadUtils$.awaitResult(SparkThreadUtils.scala:70)
Caused by: org.apache.spark.SparkException: Exception thrown in awaitResult:
\tat org.apache.spark.util.SparkThreadUtils$.awaitResult(SparkThreadUtils.scala:70)
Caused by: org.apache.spark.SparkException: Job aborted: TaskResultLost
\tat org.apache.spark.scheduler.DAGScheduler.abortStage(DAGScheduler.scala:4560)
"""
    assert _reason(Exception(message)) == "Job aborted: TaskResultLost"
    python = f"{message}PythonException: a line of Java\nValueError: no such item\n"
    assert _reason(Exception(python)) == "ValueError: no such item"


@pytest.mark.long
def test_a_note_about_the_original_does_not_change_what_spark_shows_in_public(spark, tmp_path):
    shown = []
    for last in (["b"], ["b", "q"]):  # q is left out, with a note
        records = [*[["a"]] * 6, *[["b"]] * 2, last]
        how = {"k": 3, "m": 2, "min_people": 2, "method": "disassociation", "engine": "spark"}
        file = tmp_path / "data.dat"
        file.write_text("\n".join(map(" ".join, records)) + "\n")
        done = sv.anonymize(str(file), output=tmp_path / "release", force=True, **how)
        shown.append(report_outcome(done).part(private=False).sections)
    assert shown[0] == shown[1]


def test_spark_asks_about_identifiers_and_skips_blank_lines_as_the_local_engine_does(
    spark, tmp_path
):
    how = {"k": 3, "m": 1, "method": "disassociation", "engine": "spark"}
    baskets = [["a", "b"][: 1 + number % 2] for number in range(40)]
    marked = tmp_path / "marked.dat"
    marked.write_text(
        "".join(f"{90_000 + at} {' '.join(each)}\n" for at, each in enumerate(baskets))
    )
    with pytest.raises(DataError, match="numbers of 5 digits"):
        sv.anonymize(str(marked), output=tmp_path / "release", **how)
    assert not (tmp_path / "release").exists()
    spaced = tmp_path / "spaced.dat"
    spaced.write_text("\n\n".join(map(" ".join, baskets)) + "\n")
    done = sv.anonymize(str(spaced), output=tmp_path / "release", **how)
    assert len(sv.read_release(tmp_path / "release")) == 40
    assert any("39 blank lines were skipped" in note for note in done.notes)


def test_spark_refuses_tables_that_it_would_read_otherwise_than_the_local_engine(spark, tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("Sales of May\n\nid,tea,milk\n1,yes,no\n2,yes,yes\n")
    how = {"k": 2, "m": 1, "engine": "spark", "output": tmp_path / "release"}
    with pytest.raises(FileFormatError):  # a title is no header
        sv.anonymize(str(table), **how)
    with pytest.raises(ParameterError, match="first row"):
        sv.anonymize(str(table), header=3, **how)
    table.write_text("id,tea,milk\n1,yes,no\n2,yes,yes\n")
    (tmp_path / "market.arff").write_text("@relation r\n@attribute a {t}\n@data\nt\n")
    with pytest.raises(FileFormatError, match=r"none of the formats .* or use engine='blocks'"):
        sv.inspect(str(tmp_path / "market.arff"), engine="spark")
    with pytest.raises(ParameterError, match="one column of items"):
        sv.anonymize(str(table), item=["tea", "milk"], **how)
    for rows, problem in {
        "1,tea\nid,item\n2,tea\n": "1 row repeats the names of the columns",
        "1,tea\nSubtotal 1,\n2,tea\nSubtotal 2,\n": "2 records are lines of sums, not people",
        "1,tea\n,milk\n": "a row has no record",
    }.items():
        table.write_text(f"id,item\n{rows}")
        with pytest.raises(FileFormatError, match=problem):
            sv.anonymize(str(table), **how)
    assert not (tmp_path / "release").exists()


def test_spark_refuses_bytes_and_options_that_it_would_pass_over(spark, tmp_path):
    for name, text in {
        "a.csv": b"id,item\n1,caf\xe9\n2,tea\n",
        "a.dat": b"tea caf\xe9\nmilk\n",
        "a.jsonl": b'{"id": 1, "items": ["caf\xe9"]}\n',
    }.items():
        (tmp_path / name).write_bytes(text)
        with pytest.raises(FileFormatError, match=r"the text is not UTF-8; use engine='blocks'"):
            sv.inspect(str(tmp_path / name), engine="spark")
    (tmp_path / "b.dat").write_text("caf\u00e9 tea\n\ufffd tea\n")
    options = {"drop_column": 1, "split": "|", "onehot": True, "encoding": "latin-1"}
    for name, value in options.items():
        with pytest.raises(ParameterError, match="cannot do that; use engine='blocks'"):
            sv.anonymize(
                str(tmp_path / "b.dat"), engine="spark", output="x", k=2, m=1, **{name: value}
            )
    assert sv.inspect(str(tmp_path / "b.dat"), engine="spark").summary.items == 3


def test_spark_reads_cells_that_go_on_in_the_next_line_as_the_local_engine_does(spark, tmp_path):
    table = tmp_path / "table.csv"
    rows = [f'{number},"red\nwine"\n{number},5" nails\n' for number in range(30)]
    table.write_text("record,item\n" + "".join(rows))
    how = {"k": 3, "m": 1, "seed": 1}
    found = [
        sv.anonymize(str(table), engine=engine, output=tmp_path / engine, **how)
        for engine in ("local", "spark")
    ]
    assert [(done.records, done.items, done.occurrences) for done in found] == [(30, 2, 60)] * 2
