"""Comparisons: which cells there are, that a killed run continues, and what is written."""

from __future__ import annotations

import csv
import errno
import importlib
import json
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

import setveil as sv
from setveil.errors import FileFormatError, OutputError, ParameterError
from setveil.pipeline import compare
from setveil.pipeline.compare import job_from, metric_of, run
from setveil.pipeline.comparing import results
from setveil.pipeline.comparing.cells import cells_of
from setveil.pipeline.comparing.results import read_cell
from setveil.pipeline.comparing.running import Clock, Task, run_cells
from setveil.pipeline.comparing.spec import load_source

BASKETS = [["wine", "beer"], ["wine", "beer"], ["milk"], ["milk", "tea"], ["beer", "milk"]] * 4
TIMES = {"seconds", "cpu_seconds", "peak_mb"}
WORDS = {"k": [2, 3], "m": 2, "hierarchy": "balanced:2", "workers": 0}


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "baskets.dat"
    path.write_text("\n".join(" ".join(record) for record in BASKETS) + "\n", encoding="utf-8")
    return path


def timeless(found):
    return [{name: row[name] for name in row if name not in TIMES} for row in found]


def test_each_method_gets_the_words_that_it_can_use():
    words = {"methods": ["partition", "suppression", "disassociation"], "k": "2,5", "m": "2"}
    words |= {"arrangement": [10, "safe"], "h": 0.8, "score": "mm"}
    cells = [str(cell) for cell in cells_of({**words, "data": "d"})]
    assert cells == [
        "partition k=2 m=2",
        "partition k=5 m=2",
        "suppression k=2 m=2 h=0.8 score=mm",
        "suppression k=5 m=2 h=0.8 score=mm",
        "disassociation k=2 m=2 arrangement=10",
        "disassociation k=2 m=2 arrangement=safe",
        "disassociation k=5 m=2 arrangement=10",
        "disassociation k=5 m=2 arrangement=safe",
    ]


def test_only_methods_that_generalize_are_repeated_for_each_tree():
    words = {"methods": "apriori,disassociation", "k": 2, "m": 2, "data": "d"}
    cells = cells_of({**words, "hierarchy": ["balanced:2", "balanced:3"]})
    assert [cell.method for cell in cells] == ["apriori", "apriori", "disassociation"]


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ({"k": 5}, "name the methods to compare"),
        ({"methods": "partition,magic", "k": 5}, "choose from partition"),
        ({"methods": "partition", "k": "2,one"}, "k = 'one' is not allowed"),
        ({"methods": "partition", "k": "1"}, "k = 1 is not allowed"),
        ({"methods": "partition", "k": 5, "metrics": ["beauty"]}, "must be one of columns"),
        ({"methods": "partition", "kk": 5}, "no such parameter"),
    ],
)
def test_words_that_make_no_sense_are_refused_before_any_work(words, text):
    with pytest.raises(ParameterError, match=text):
        sv.compare(BASKETS, **words)


def test_all_methods_share_the_common_measures():
    found = sv.compare(BASKETS, ["partition", "disassociation", "suppression", "mhghs"], **WORDS)
    assert len(found) == len(found.measured) == 8
    for row in found:
        assert row["holds"] is True
        assert all(row[name] >= 0 for name, one in sv.METRICS.items() if one.on_request)
    assert {row["form"] for row in found} == {"generalized", "disassociated", "suppressed"}
    assert found.frame.shape == (8, len(found.columns))
    assert found.to_polars().columns == found.columns


def test_the_figures_are_those_of_anonymize_and_measure():
    found = sv.compare(BASKETS, "partition", k=3, hierarchy="balanced:2", workers=0)
    done = sv.anonymize(BASKETS, method="partition", k=3, hierarchy="balanced:2", seed=0)
    (row,) = found
    assert row["ncp"] == done.losses["ncp"]
    assert row["are"] == done.losses["are"]
    assert row["class_sizes_min"] == done.losses["class_sizes"]["min"]
    names = ["tkd", "pair_error", "item_error"]
    expected = sv.measure(done.release, BASKETS, names)
    assert {name: row[name] for name in names} == expected


def test_a_cell_that_is_refused_is_a_row_with_its_reason():
    found = sv.compare(BASKETS, "partition,apriori", k=[2, 21], hierarchy="balanced:2", workers=0)
    status = [(row["method"], row["k"], row["status"]) for row in found]
    assert status == [
        ("partition", 2, "ok"),
        ("partition", 21, "refused"),
        ("apriori", 2, "refused"),
        ("apriori", 21, "refused"),
    ]
    assert "only 20 records" in found.rows[1]["reason"]
    assert "m" in found.rows[2]["reason"]


@pytest.mark.apart
def test_processes_of_their_own_give_the_same_table(data, tmp_path):
    here = sv.compare(data, "partition,disassociation", **WORDS)
    apart = sv.compare(
        data, "partition,disassociation", **{**WORDS, "k": 2, "workers": 2}, output=tmp_path / "c"
    )
    assert timeless(apart) == [row for row in timeless(here) if row["k"] == 2]
    assert all(row["peak_mb"] > 10 for row in apart)


def test_an_interrupted_comparison_continues_where_it_stopped(data, tmp_path):
    whole = sv.compare(data, "partition,disassociation", **WORDS)
    calls = []

    def stop(done, total, stage):
        calls.append((done, total, stage))
        if done == 3:
            raise KeyboardInterrupt

    place = {"output": tmp_path / "c"}
    with pytest.raises(KeyboardInterrupt):
        sv.compare(data, "partition,disassociation", **WORDS, **place, progress=stop)
    assert not (tmp_path / "c" / "results.csv").exists()
    assert (0, 4, "comparing") in calls
    assert calls[-1][2].startswith("comparing: about ")
    again = sv.compare(data, "partition,disassociation", **WORDS, **place)
    assert again.resumed == 3
    assert timeless(again) == timeless(whole)
    third = sv.compare(data, "partition,disassociation", **WORDS, **place)
    assert third.resumed == 4
    assert third.rows == again.rows
    assert sv.compare(data, "partition", **WORDS, **place, force=True).resumed == 0


def test_a_killed_comparison_continues_where_it_stopped(data, tmp_path):
    arguments = ["compare", str(data), "-o", "c", "--methods", "partition,disassociation"]
    arguments += ["-k", "2,3", "-m", "2", "--hierarchy", "balanced:2", "--workers", "1"]
    process = subprocess.Popen([sys.executable, "-m", "setveil", *arguments], cwd=tmp_path)
    cells = tmp_path / "c" / "cells"
    while process.poll() is None and not (cells.is_dir() and any(cells.glob("*.json"))):
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    finished = {path: path.stat().st_mtime_ns for path in cells.glob("*.json")}
    assert finished
    found = sv.compare(data, "partition,disassociation", **WORDS, output=tmp_path / "c")
    assert found.resumed >= len(finished)
    assert timeless(found) == timeless(sv.compare(data, "partition,disassociation", **WORDS))
    assert all(path.stat().st_mtime_ns == finished[path] for path in finished)


def shown(place):
    """What is in each file of a comparison, except for the cells."""
    return {path.name: path.read_bytes() for path in place.iterdir() if path.is_file()}


def test_an_old_comparison_stays_until_a_forced_one_is_whole(data, tmp_path):
    def stop(done, total, stage):
        if done == 3:
            raise KeyboardInterrupt

    place, methods = tmp_path / "c", "partition,disassociation"
    sv.compare(data, methods, **WORDS, output=place)
    before = shown(place)
    with pytest.raises(KeyboardInterrupt):
        sv.compare(data, methods, **WORDS, output=place, force=True, progress=stop)
    assert shown(place) == before
    assert sv.compare(data, methods, **WORDS, output=place).resumed == 4
    other = {**WORDS, "k": [4]}
    assert sv.compare(data, methods, **other, output=place, force=True).resumed == 0
    assert len(list((place / "cells").iterdir())) == 2


def test_a_comparison_says_which_version_made_its_results(data, tmp_path, monkeypatch):
    place = tmp_path / "c"
    sv.compare(data, "partition", **WORDS, output=place)
    monkeypatch.setattr(results, "__version__", "9.9.9")
    sv.compare(data, "partition", **WORDS, output=place)
    assert json.loads((place / "compare.json").read_bytes())["setveil"] == "9.9.9"


def test_a_full_disk_leaves_all_files_of_the_old_comparison(data, tmp_path, monkeypatch):
    def full(*given):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    place = tmp_path / "c"
    sv.compare(data, "partition", **WORDS, output=place)
    before = shown(place)
    monkeypatch.setattr(results, "_write_parquet", full)
    with pytest.raises(OutputError, match="No space left"):
        sv.compare(data, "partition", **{**WORDS, "k": [4]}, output=place)
    assert shown(place) == before


def test_cells_that_other_code_has_made_are_computed_anew(data, tmp_path, monkeypatch):
    place = {"output": tmp_path / "c"}
    sv.compare(data, "partition", **WORDS, **place)
    assert sv.compare(data, "partition", **WORDS, **place).resumed == 2
    monkeypatch.setattr(compare, "code_of", lambda things: "other")
    assert sv.compare(data, "partition", **WORDS, **place).resumed == 0


def test_code_is_known_by_all_files_that_make_figures_and_those_of_plugins(tmp_path, monkeypatch):
    files = ("home/methods/one.py", "home/kernels/two.py", "home/web/three.py", "strange_plugin.py")
    package = ("strange/__init__.py", "strange/methods/four.py", "strange/kernels/five.py")
    for name in (*files, *package):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("def made(): ...\n", encoding="utf-8")
    home = SimpleNamespace(__file__=str(tmp_path / "home" / "__init__.py"))
    monkeypatch.setattr(results, "import_module", lambda name: home)
    monkeypatch.syspath_prepend(tmp_path)
    names = ("strange_plugin", "strange.methods.four")
    things = [importlib.import_module(name).made for name in names]
    before = results.code_of(things)
    (tmp_path / "home" / "web" / "three.py").write_text("", encoding="utf-8")
    assert results.code_of(things) == before
    for name in ({*files} - {"home/web/three.py"}) | {*package}:
        (tmp_path / name).write_text("def made(): return 1\n", encoding="utf-8")
        after = results.code_of(things)
        assert after != before
        before = after


def test_other_data_or_another_tree_is_computed_anew(data, tmp_path):
    place = {"output": tmp_path / "c"}
    sv.compare(data, "partition", **WORDS, **place)
    data.write_text(data.read_text(encoding="utf-8") + "tea\n", encoding="utf-8")
    assert sv.compare(data, "partition", **WORDS, **place).resumed == 0
    tree = tmp_path / "tree.csv"
    lines = "wine;drink;all\nbeer;drink;all\nmilk;food;all\ntea;food;all\n"
    tree.write_text(lines, encoding="utf-8")
    words = {**WORDS, **place, "hierarchy": tree}
    assert sv.compare(data, "partition", **words).resumed == 0
    assert sv.compare(data, "partition", **words).resumed == 2
    tree.write_text(lines.replace("food", "white"), encoding="utf-8")
    assert sv.compare(data, "partition", **words).resumed == 0


@pytest.mark.apart
def test_methods_that_draw_noise_are_compared_without_a_seed():
    words = {"methods": ["frequent", "disassociation"], "k": [2], "m": [1], "epsilon": [5.0]}
    found = sv.compare([["a", "b"], ["a", "b"], ["b", "c"]] * 20, **words)
    assert [(row["method"], row["status"]) for row in found.rows] == [
        ("frequent", "ok"),
        ("disassociation", "ok"),
    ]


def test_cells_with_noise_are_means_of_draws_and_never_one_of_them(monkeypatch):
    from setveil.report.comparison import report_comparison
    from setveil.showing import page_of

    figures = iter([0.9, 0.1, 0.8, 0.2, 0.5])
    monkeypatch.setattr(
        "setveil.pipeline.comparing.running.measure",
        lambda *given, **how: {"are": next(figures)},
    )
    found = sv.compare([["a", "b"], ["b", "c"]] * 9, "frequent", epsilon=5.0, workers=0)
    assert [(row["are"], row["draws"]) for row in found.rows] == [(pytest.approx(0.5), 5)]
    report = "\n".join(section.text for section in report_comparison(found).sections)
    assert "means of 5 draws. None of these is kept: a release draws new noise" in report
    assert "means of 5 draws" in page_of(found)


@pytest.mark.apart
def test_a_process_that_fails_is_a_row_with_the_reason(tmp_path):
    (tmp_path / "cells").mkdir()
    task = Task(key="a", words={"method": "partition"}, data=tmp_path / "none", store=tmp_path)
    rows = []
    run_cells([task], 1, tmp_path, lambda place, row, took: rows.append(row))
    assert rows[0]["status"] == "failed"
    assert "No such file" in rows[0]["reason"]
    assert read_cell(tmp_path, "a") is None


def test_all_files_agree_and_only_the_user_can_read_them(data, tmp_path):
    import polars

    folder = tmp_path / "c"
    found = sv.compare(data, "partition,apriori", **{**WORDS, "k": [2, 99]}, output=folder)
    with (folder / "results.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["status"] for row in rows] == ["ok", "refused", "ok", "refused"]
    assert list(rows[0]) == found.columns
    table = polars.read_parquet(folder / "results.parquet")
    assert table.columns == found.columns
    assert table["ncp"].to_list() == [row.get("ncp") for row in found]
    assert json.loads((folder / "results.json").read_text(encoding="utf-8"))["rows"] == [
        dict(row) for row in found
    ]
    assert "<title>Comparison</title>" in (folder / "report.html").read_text(encoding="utf-8")
    for path in [folder, *folder.rglob("*")]:
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path


def test_a_folder_with_something_else_is_refused(data, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("words", encoding="utf-8")
    with pytest.raises(OutputError, match="not empty and not a comparison"):
        sv.compare(data, "partition", **WORDS, output=tmp_path / "mine")
    with pytest.raises(OutputError, match="is not a folder"):
        sv.compare(data, "partition", **WORDS, output=data)
    assert os.listdir(tmp_path / "mine") == ["thesis.txt"]


def test_a_specification_has_runs_with_words_of_their_own(data, tmp_path):
    spec = tmp_path / "spec.toml"
    spec.write_text(
        'title = "Two"\ndata = "baskets.dat"\nk = 2\nhierarchy = "balanced:2"\nworkers = 0\n'
        '[[runs]]\nmethods = "apriori"\nm = [1, 2]\n'
        '[[runs]]\nmethods = "partition"\npromise = "k-anonymity"\n',
        encoding="utf-8",
    )
    found = sv.compare(spec=spec)
    assert found.title == "Two"
    assert [(r["method"], r.get("m"), r["status"]) for r in found] == [
        ("apriori", 1, "ok"),
        ("apriori", 2, "ok"),
        ("partition", None, "ok"),
    ]
    other = sv.compare(BASKETS[:10], spec=spec, k=[2, 3])
    assert [row["k"] for row in other] == [2, 2, 3, 3, 2, 3]
    assert {row["records"] for row in other} == {10}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("methodes = 1", "no key 'methodes'; did you mean 'methods'"),
        ("runs = 1", "runs must be tables"),
        ("k = ", "not TOML"),
        ("min_support = 0.1", "no key 'min_support'"),
    ],
)
def test_mistakes_in_a_specification_are_named(tmp_path, text, problem):
    spec = tmp_path / "spec.toml"
    spec.write_text(text + "\n", encoding="utf-8")
    with pytest.raises(FileFormatError, match=problem):
        sv.compare(BASKETS, spec=spec)


def test_data_may_be_generated_and_sampled():
    data, people = load_source("quest:records=40,items=9,seed=2", {})
    assert (len(data), people) == (40, None)
    with pytest.raises(ParameterError, match="quest:records"):
        load_source("quest:records=many", {})
    job, sources = job_from(["quest:records=40,items=9"], {"methods": "disassociation"} | TINY)
    rows = run(job, sources).rows
    assert [row["records"] for row in rows] == [10, 20]


TINY = {"k": 2, "m": 2, "sample": [10, 20], "workers": 0}


def test_a_random_share_of_the_items_is_public():
    words = {"p": 1, "k": 2, "h": 1.0, "public_share": [0.0, 0.5], "workers": 0}
    found = sv.compare(BASKETS, "suppression", **words)
    assert [row["status"] for row in found] == ["ok", "ok"]
    assert next(row["distortion"] for row in found) == 0


def test_the_time_left_is_guessed_by_method():
    cells = cells_of({"methods": "partition,disassociation", "k": [2, 3], "m": 2, "data": "d"})
    clock = Clock(cells, 2)
    assert clock.left is None
    clock.finish(0, 10.0)
    assert clock.left == 15.0
    clock.finish(2, 2.0)
    assert clock.left == 6.0


def test_columns_belong_to_metrics():
    assert metric_of("class_sizes_mean") == "class_sizes"
    assert metric_of("tkd_a_2") == "tkd_a_2"
    assert metric_of("seconds") is None


def test_every_experiment_of_the_papers_is_a_comparison(tmp_path):
    folder = Path(__file__).resolve().parents[2] / "experiments"
    specs = sorted(folder.glob("*.toml"))
    assert len(specs) >= 15
    for spec in specs:
        job, sources = job_from(None, {"spec": spec})
        assert job.cells, spec.name
        assert job.title, spec.name
        assert sources
