"""`setveil querylog` and `setveil generate querylog` as a person uses them."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

import setveil
from setveil.cli import answer

LOG = """\
AnonID\tQuery\tQueryTime\tItemRank\tClickURL
4417749\tred wine\t2006-03-01 07:17:12\t1\thttp://a.b
4417749\tred wine\t2006-03-01 07:17:12\t2\thttp://c.d
4417749\twine\t2006-03-01 09:17:12\t\t
711391\twhite wine\t2006-03-02 10:00:00\t\t
711391\tsecret
"""


@pytest.fixture
def log(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.tsv").write_text(LOG, encoding="utf-8")
    return "log.tsv"


def querylog(*words: str) -> int:
    return answer(["querylog", *words, "--wordnet", "none"])


def test_vocabularies_hold_no_user_and_no_time(log, capfd):
    assert querylog(log, "-o", "vocab.csv") == 0
    text = Path("vocab.csv").read_text(encoding="utf-8")
    assert text.startswith("record,item,count\n")
    assert "4417749" not in text
    assert "2006" not in text
    assert "http" not in text
    assert sorted(map(sorted, setveil.read("vocab.csv"))) == [["red", "wine"], ["white", "wine"]]
    out = capfd.readouterr().out
    assert "line 6" in out
    assert "private" in out
    assert "4417749" not in out
    assert "secret" not in out


def test_only_the_user_can_read_what_is_not_anonymous_yet(log):
    assert querylog(log, "-o", "terms.csv") == 0
    assert Path("terms.csv").stat().st_mode & 0o777 == 0o600


def test_json_is_one_object(log, capfd):
    assert querylog(log, "-o", "vocab.csv", "--gap", "30m", "--json") == 0
    found = json.loads(capfd.readouterr().out)
    assert (found["private"], found["rows"], found["bad_rows"], found["merged_clicks"]) == (
        True,
        5,
        1,
        1,
    )
    assert (found["vocabularies"], found["users"], found["bad_lines"][0]["line"]) == (3, 2, 6)


def test_queries_are_sets(log):
    assert querylog(log, "-o", "queries.jsonl", "--terms", "queries") == 0
    assert sorted(map(sorted, setveil.read("queries.jsonl"))) == [
        ["red wine", "wine"],
        ["white wine"],
    ]


def test_the_report_does_not_mix_with_data_on_standard_output(log, capfd):
    assert querylog(log, "-o", "-", "--seed", "1") == 0
    out, err = capfd.readouterr()
    assert out.splitlines()[0] == "record,item,count"
    assert len(out.splitlines()) == 5
    assert "Query log" in err


def test_options_from_files(log):
    for name, words in (("stop.txt", "Red\nwhite\n"), ("known.txt", "wine\n")):
        with open(name, "w", encoding="utf-8") as stream:
            stream.write(words)
    assert querylog(log, "-o", "one.csv", "--stop-words", "stop.txt") == 0
    assert (
        querylog(log, "-o", "two.csv", "--stop-words", "none", "--known", "known.txt", "--force")
        == 0
    )
    assert (
        list(setveil.read("one.csv").vocabulary)
        == list(setveil.read("two.csv").vocabulary)
        == ["wine"]
    )


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["log.tsv", "-o", "log.tsv"], 2, "exists already"),
        (["log.tsv", "-o", "./log.tsv", "--force"], 2, "this file is an input"),
        (["log.tsv", "-o", "vocab.xyz"], 2, "does not show the format"),
        (["log.tsv", "-o", "vocab.csv", "--gap", "soon"], 2, "--gap soon is not allowed"),
        (["log.tsv", "-o", "vocab.csv", "--terms", "nouns"], 2, "WordNet"),
        (["log.tsv", "-o", "vocab.csv", "--user", "who"], 3, "there is no column 'who'"),
        (
            ["log.tsv", "-o", "vocab.csv", "--min-users", "3"],
            3,
            "none of 5 terms in 3 queries is left",
        ),
        (["log.tsv", "-o", "vocab.csv", "--known", "gone.txt"], 3, "no such file"),
        (["gone.tsv", "-o", "vocab.csv"], 3, "no such file"),
        (["log.tsv"], 2, "--output"),
    ],
)
def test_what_is_wrong_is_said_in_one_line_and_nothing_is_written(log, capfd, words, code, said):
    assert querylog(*words) == code
    err = capfd.readouterr().err
    assert said in err
    assert err.count("\n") == 1
    assert os.listdir() == ["log.tsv"]


HEADERLESS = "".join(
    f"u{user}\t97091610{minute:02d}00\tred wine{user}\n"
    for user in range(3)
    for minute in range(12)
)


def test_a_log_without_a_header_says_how_it_was_understood(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    Path("log.txt").write_text(HEADERLESS, encoding="utf-8")
    assert querylog("log.txt", "-o", "terms.csv", "--gap", "30m") == 0
    out = capfd.readouterr().out
    assert "user: 1, text: 3, time: 2  no header; times: yymmddhhmmss" in out
    words = ("--no-header", "--user", "1", "--text", "3", "--time", "2", "--force")
    assert querylog("log.txt", "-o", "terms.csv", "--gap", "30m", "--json", *words) == 0
    found = json.loads(capfd.readouterr().out)
    assert (found["has_header"], found["columns"]["time"]) == (False, "2")
    assert (found["time_format"], found["vocabularies"]) == ("yymmddhhmmss", 3)
    assert querylog("log.txt", "-o", "terms.csv", "--force", "--time-format", "soon") == 2
    assert "--time-format soon is not allowed: choose one of iso, " in capfd.readouterr().err


@pytest.mark.parametrize("command", ["inspect", "anonymize"])
@pytest.mark.parametrize("text", [HEADERLESS, LOG, LOG.replace("\t", ";")])
def test_other_commands_point_to_querylog(tmp_path, monkeypatch, capfd, command, text):
    monkeypatch.chdir(tmp_path)
    Path("log.txt").write_text(text, encoding="utf-8")
    more = ["-o", "release", "-k", "2", "--hierarchy", "balanced:2"] * (command == "anonymize")
    assert answer([command, "log.txt", *more]) == 3
    out, err = capfd.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert "this is a query log" in err
    assert "setveil querylog" in err
    assert "wine" not in err


def test_sessions_need_times_and_the_option_is_named(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    Path("log.csv").write_text("user,query\n1,red wine\n2,beer\n", encoding="utf-8")
    assert querylog("log.csv", "-o", "terms.csv", "--gap", "30m") == 3
    assert "name it with --time, or leave out --gap" in capfd.readouterr().err
    assert querylog("log.csv", "-o", "terms.csv") == 0
    assert "no times, so every row is a query of its own" in capfd.readouterr().out


def test_a_missing_column_is_asked_for_by_its_option(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    Path("log.csv").write_text("who,query,time\n1,wine,2006-03-01\n", encoding="utf-8")
    assert querylog("log.csv", "-o", "vocab.csv") == 3
    assert (
        "no column is obviously the user (the columns are 'who', 'query', 'time'); name it with "
        "--user" in capfd.readouterr().err
    )


def test_the_report_says_what_is_lost_because_it_is_rare(log, capfd):
    assert querylog(log, "-o", "vocab.csv", "--min-users", "2") == 0
    lines = [" ".join(line.split()) for line in capfd.readouterr().out.splitlines()]
    place = lines.index(
        "lost as rare 40.00 % of the remaining occurrences, used by fewer than 2 users"
    )
    assert lines[place + 1] == "66.67 % of the distinct terms"


def test_a_generated_log_is_repeatable_and_says_where_its_words_are_from(
    tmp_path, monkeypatch, capfd
):
    monkeypatch.chdir(tmp_path)
    made = ["generate", "querylog", "--users", "200", "--topics", "catalogue"]
    assert (
        answer([*made, "-o", "a.tsv", "--seed", "3"])
        == answer([*made, "-o", "b.tsv", "--seed", "3"])
        == 0
    )
    assert answer([*made, "-o", "c.tsv.gz", "--seed", "4"]) == 0
    assert "words from the built-in catalogue" in capfd.readouterr().out
    assert Path("a.tsv").read_bytes() == Path("b.tsv").read_bytes()
    assert querylog("a.tsv", "-o", "a.csv") == querylog("c.tsv.gz", "-o", "c.csv") == 0
    assert answer([*made, "-o", "a.tsv"]) == 2
    assert answer(["generate", "querylog", "-o", "d.tsv", "--topics", "novels"]) == 2
    assert not os.path.exists("d.tsv")


INTERRUPTED = """
import os, pathlib, signal, sys, threading, time
from setveil.cli import main

def interrupt():
    while not any(pathlib.Path(os.environ["TMPDIR"]).glob("setveil-*/*.duckdb")):
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=interrupt, daemon=True).start()
main(["querylog", sys.argv[1], "-o", sys.argv[2], "--wordnet", "none"])
"""


def test_an_interruption_leaves_nothing(tmp_path):
    """The command interrupts itself once its database exists, however slow the machine is."""
    log = tmp_path / "log.tsv"
    log.write_text(
        "".join(f"{n}\tword{n} and{n}\t2006-03-01 00:00:00\n" for n in range(300_000)),
        encoding="utf-8",
    )
    program = [sys.executable, "-c", INTERRUPTED, str(log), str(tmp_path / "vocab.csv")]
    running = subprocess.run(
        program,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        timeout=600,
    )
    assert running.returncode == 130
    assert "interrupted" in running.stderr
    assert os.listdir(tmp_path) == ["log.tsv"]


@pytest.mark.long
def test_a_large_log_takes_little_memory(tmp_path):
    """200 MB here; the log of 1 GB is among the benchmarks."""
    log, vocabularies = tmp_path / "log.tsv", tmp_path / "vocab.csv"
    made = [
        sys.executable,
        "-m",
        "setveil",
        "generate",
        "querylog",
        "-o",
        log,
        "--users",
        "180000",
        "--topics",
        "catalogue",
    ]
    subprocess.run(made, check=True, capture_output=True)
    assert log.stat().st_size > 150_000_000
    command = [
        sys.executable,
        "-m",
        "setveil",
        "querylog",
        log,
        "-o",
        vocabularies,
        "--wordnet",
        "none",
        "--memory-limit",
        "300MB",
    ]
    subprocess.run(command, check=True, capture_output=True)
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 < 900_000_000
