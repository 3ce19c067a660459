"""`setveil run`: what a job file says, as `anonymize` does it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.conftest import BASKETS


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("baskets.csv").write_text(BASKETS, encoding="utf-8")


def job(text: str = "") -> str:
    lines = 'data = "baskets.csv"', "k = 2", 'hierarchy = "balanced:2"', text
    Path("job.toml").write_text("\n".join(lines), encoding="utf-8")
    return "job.toml"


def test_it_prints_what_anonymize_prints(call):
    words = ("-o", "release", "-k", "2", "--hierarchy", "balanced:2", "--method", "partition")
    first = call("anonymize", "baskets.csv", *words, "--seed", "1", "--save-job", "job.toml")
    again = call("run", "job.toml", "--force")
    assert (first.code, again.code) == (0, 0)
    seconds = r"[\d.]+ s"
    assert re.sub(seconds, "", first.out) == re.sub(seconds, "", again.out)


def test_the_release_folder_can_be_another_one(call):
    done = call("run", job('output = "release"'), "-o", "other", "--json")
    assert done.json["release"] == "other"
    assert not Path("release").exists()


def test_a_release_that_exists_is_replaced_only_on_request(call):
    assert call("run", job('output = "release"')).code == 0
    refused = call("run", "job.toml")
    assert refused.code == 2
    assert "allow overwriting with --force" in refused.err
    assert call("run", "job.toml", "--force").code == 0


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", "job.toml: the key output is missing; name the release folder in the file"),
        ('format = "x"\noutput = "r"', "job.toml: format = 'x' is not allowed"),
        ('private = ["nope"]\nh = 0.5\np = 1\noutput = "r"', "job.toml: private = 'nope' is not"),
        ("kk = 2", "job.toml: a job has no key 'kk'; did you mean 'k'?"),
    ],
)
def test_what_is_wrong_with_a_job_file_is_one_line_that_names_it(call, text, line):
    done = call("run", job(text))
    assert (done.code, done.out) == (3, "")
    assert done.err.startswith(f"setveil: {line}")
    assert done.err.count("\n") == 1


def test_advice_names_keys_of_the_job_file(call):
    Path("baskets.csv").write_text("a,b,c\n1,2,3\n", encoding="utf-8")
    done = call("run", job('output = "release"\nrecord = "a"\ninput-format = "csv"'))
    assert done.code == 3
    assert "--item" not in done.err
