"""Job files: what a job says can be written, read and run again."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setveil import (
    SSC,
    Coherence,
    Disassociation,
    Hierarchy,
    Job,
    KAnonymity,
    KmAnonymity,
    LDiversity,
    Partition,
    Suppression,
    VocabularyKAnonymity,
    anonymize,
    run,
)
from setveil.audit.records import check_written
from setveil.errors import FileFormatError, OutputError, ParameterError
from setveil.pipeline.jobfile import job_keys, job_text

PLAIN = 'data = "baskets.csv"\nk = 2\nhierarchy = "balanced:2"\n'
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = ("1,beer", "1,wine", "2,beer", "2,wine", "3,milk", "4,milk", "4,tea", "5,HIV", "6,HIV")
    Path("baskets.csv").write_text("\n".join(("record,item", *rows)) + "\n", encoding="utf-8")
    return tmp_path


def read(text: str, name: str = "job.toml") -> Job:
    Path(name).write_text(text, encoding="utf-8")
    return Job.read(name)


def test_a_job_that_is_saved_runs_again_with_the_same_release(folder):
    words = {"k": 2, "hierarchy": "balanced:2", "seed": 3}
    first = anonymize("baskets.csv", output="release", save_job="job.toml", **words)
    again = run(replace(Job.read("job.toml"), output="again"))
    assert check_written(first.release, again.release).holds
    for name in ("release.json", "data.csv", "hierarchy.csv"):
        assert Path("release", name).read_bytes() == Path("again", name).read_bytes()


@pytest.mark.parametrize(
    ("promise", "method", "more"),
    [
        (KAnonymity(k=3), Partition(), {"hierarchy": "prefix:1,3", "public_items": True}),
        (KmAnonymity(k=3, m="all"), Partition(), {"hierarchy": "wordnet:net"}),
        (
            KmAnonymity(k=3, m=2, diversity=LDiversity(l=2, sensitive=frozenset())),
            Disassociation(arrangement=30, refine=False),
            {"items": {"sensitive": ("HIV", "dx:*", "under:x")}, "alignment": "private.csv"},
        ),
        (
            Coherence(h=0.5, k=2, p=2),
            Suppression(weights={"a b": 2.0, 'c"d': 1.5}, search=True),
            {"items": {"private": ("HIV",)}, "explain": True, "min_people": 4},
        ),
        (
            VocabularyKAnonymity(k=5),
            SSC(variant="paper", term_epsilon=3),
            {"hierarchy": "tree.csv", "layout": "pairs", "format": "parquet", "threads": 2},
        ),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_everything_a_job_says_is_read_back(folder, promise, method, more):
    reading = {"format": "csv", "record": "r", "item": "i", "count": "c", "bags": True}
    job = Job(data="baskets.csv", promise=promise, method=method, reading=reading, seed=1, **more)
    job.write("job.toml")
    again = Job.read("job.toml")
    items = {name: words for name, words in again.items.items() if words}
    assert replace(again, items=items) == job


def test_paths_in_a_job_file_start_at_its_folder(folder):
    Path("jobs").mkdir()
    Path("ill.txt").write_text("HIV\n", encoding="utf-8")
    words = {"h": 0.9, "k": 2, "p": 1, "private": ["ill.txt"], "output": "release"}
    anonymize("baskets.csv", save_job="jobs/job.toml", **words)
    text = Path("jobs/job.toml").read_text(encoding="utf-8")
    assert 'data = "../baskets.csv"' in text
    assert 'private = ["../ill.txt"]' in text
    job = Job.read("jobs/job.toml")
    assert (job.data, job.output) == ("jobs/../baskets.csv", "jobs/../release")
    os.chdir("jobs")
    assert Job.read("job.toml").items == {"private": ("../ill.txt",)}


def test_a_list_of_items_elsewhere_is_not_read_by_mistake(folder):
    Path("jobs").mkdir()
    Path("ill").write_text("beer\n", encoding="utf-8")
    text = 'data = "../baskets.csv"\nh = 0.9\nk = 2\np = 1\nprivate = ["ill"]\n'
    with pytest.raises(ParameterError, match="no file and no item of this name"):
        run(read(text, "jobs/job.toml"))


def test_an_absolute_path_and_standard_input_are_kept(folder):
    tree = str(folder / "tree.csv")
    job = Job(data="-", promise=KAnonymity(k=2), method=Partition(), hierarchy=tree)
    job.write("job.toml")
    assert (Job.read("job.toml").data, Job.read("job.toml").hierarchy) == ("-", tree)


@given(items=st.frozensets(TEXTS, min_size=1, max_size=4), column=TEXTS)
@settings(deadline=None)
def test_items_of_a_promise_are_written_as_words_that_name_only_them(items, column):
    from setveil.data.vocabulary import Vocabulary
    from setveil.pipeline.inputs import with_items

    items = frozenset(item for item in items if not item.startswith("/")) or frozenset({"x"})
    promise = Coherence(h=0.5, k=2, p=2, private=items)
    job = Job(data="a.csv", promise=promise, method=Suppression(), reading={"record": column})
    place = Path("job-of-a-test.toml")
    try:
        place.write_text(job_text(job), encoding="utf-8", newline="")
        again = Job.read(place)
    finally:
        place.unlink(missing_ok=True)
    vocabulary = Vocabulary.of([*items, "other", "*", "abc", "under:"])
    assert again.reading == {"record": column}
    assert with_items(again.promise, again.items, vocabulary).named_items["private"] == items


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (PLAIN + "kk = 3", "a job has no key 'kk'"),
        (PLAIN + "min_people = 3", "a job has no key 'min_people'; did you mean 'min-people'?"),
        (PLAIN + "force = true", "a job has no key 'force'"),
        (PLAIN + "reason = ''", "a job has no key 'reason'"),
        (PLAIN + "seed = -1", "seed = -1 is not allowed: it must be a whole number of 0 or more"),
        (PLAIN + "seed = 1.5", "seed = 1.5 is not allowed: it must be a whole number"),
        (PLAIN + "threads = 0", "threads = 0 is not allowed: it must be a whole number of 1"),
        (PLAIN + 'explain = "no"', "explain = 'no' is not allowed: it must be true or false"),
        (PLAIN + "output = 3", "output = 3 is not allowed: it must be a text"),
        (PLAIN + 'layout = "x"', "layout = 'x' is not allowed: it must be one of paths, pairs"),
        (PLAIN + 'method = "x"', "method = 'x' is not allowed: it must be one of partition"),
        (PLAIN + 'input-format = "x"', "input-format = 'x' is not allowed: it must be one of fimi"),
        (PLAIN + "restarts = 2\nmethod = 'partition'", "restarts = 2 is not allowed: the method"),
        (PLAIN + "private = 3", "private = 3 is not allowed: it must be a list of texts"),
        (PLAIN + "h = nan\np = 1", "h = nan is not allowed"),
        ('data = "baskets.csv"', "the key k is missing: say how many"),
        ("k = 2", "the key data is missing: name the data file"),
        ('data = "a"\nk = 2\nk = 3', "the file is not TOML: Cannot overwrite a value"),
        ("k = " + "[" * 5000, "the file is not TOML"),
        ("k = " + "9" * 5000, "the file is not TOML"),
        (PLAIN + r'output = "a\u0000"', r"output = 'a\x00' is not allowed: a path has no NUL"),
        (r'data = "a\u0000"' + "\nk = 2", r"data = 'a\x00' is not allowed: a path has no NUL"),
        (
            'data = "a"\nk = 2\n' + r'hierarchy = "a\u0000"',
            r"hierarchy = 'a\x00' is not allowed: a path has no NUL",
        ),
        ("k = \udcff", "line 1: byte 5 of the line (0xFF) is not UTF-8"),
    ],
)
def test_a_job_file_that_cannot_be_used_is_refused_in_one_line(folder, text, problem):
    Path("job.toml").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(FileFormatError) as caught:
        Job.read("job.toml")
    assert str(caught.value).replace(", line", ": line").startswith(f"job.toml: {problem}")
    assert caught.value.exit_code == 3
    assert len(str(caught.value)) < 400


def test_a_job_that_is_not_about_files_cannot_be_written(folder):
    promise, method = KAnonymity(k=2), Partition()
    with pytest.raises(ParameterError, match="only a job of a data file is saved"):
        Job(data=[["a"]], promise=promise, method=method).write("job.toml")
    tree = Hierarchy.from_paths([("a", "ALL")])
    with pytest.raises(ParameterError, match="only a job with a hierarchy file is saved"):
        Job(data="a.csv", promise=promise, method=method, hierarchy=tree).write("job.toml")
    assert not Path("job.toml").exists()


def test_a_place_that_is_not_allowed_is_refused_before_the_work(folder):
    words = {"k": 2, "hierarchy": "balanced:2", "output": "release"}
    Path("job.toml").write_text("mine", encoding="utf-8")
    with pytest.raises(OutputError, match="exists"):
        anonymize("baskets.csv", save_job="job.toml", **words)
    with pytest.raises(OutputError, match="must not be in its folder"):
        anonymize("baskets.csv", save_job="release/job.toml", **words)
    assert not Path("release").exists()
    assert Path("job.toml").read_text(encoding="utf-8") == "mine"


def test_the_keys_are_the_options_of_anonymize():
    from setveil.cli.anonymize import anonymize as command

    options = {
        str(each.name)
        for each in command.params
        if each.expose_value and not getattr(each, "hidden", False)
    }
    options -= {"after", "force", "save_job", "as_json"}  # what follows a release is no job
    assert set(job_keys()) == options
