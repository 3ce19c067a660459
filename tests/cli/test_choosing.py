"""`setveil compare`, `advise`, `report` and `anonymize --tune` on the command line."""

from __future__ import annotations

import json
import stat

import pytest


def test_compare_prints_a_table_and_says_where_it_is(call, folder):
    result = call(
        "compare", "baskets.csv", "-o", "c", "--methods", "partition,suppression", "-k", "2,9",
        "-m", 1, "--hierarchy", "tree.csv", "--workers", 0,
    )  # fmt: skip
    assert result.code == 0
    assert "Losses of 2 cells" in result.out
    assert "partition k=9" in result.out
    assert "only 6 records" in result.out
    assert "Written: c/" in result.out
    assert (folder / "c" / "report.html").is_file()


def test_compare_as_json_has_every_row(call, folder):
    words = ["--methods", "partition", "-k", 2, "--hierarchy", "tree.csv", "--workers", 0, "--json"]
    result = call("compare", "baskets.csv", "-o", "c", *words)
    assert [row["k"] for row in result.json["rows"]] == [2]
    assert json.loads((folder / "c" / "results.json").read_text(encoding="utf-8")) == result.json


def test_options_replace_what_a_specification_says(call, folder):
    spec = (
        'methods = "partition"\nk = 2\ndata = "baskets.csv"\nhierarchy = "tree.csv"\nworkers = 0\n'
    )
    (folder / "spec.toml").write_text(spec, encoding="utf-8")
    result = call("compare", "--spec", "spec.toml", "-o", "c", "-k", "2,3", "--json")
    assert [row["k"] for row in result.json["rows"]] == [2, 3]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["baskets.csv", "-o", "c"], 2, "--methods is missing"),
        (["baskets.csv", "-o", "c", "--methods", "magic"], 2, "--methods magic is not allowed"),
        (
            ["baskets.csv", "-o", "c", "--methods", "partition", "-k", "two"],
            2,
            "two is not allowed",
        ),
        (["-o", "c", "--methods", "partition", "-k", "2"], 2, "[DATA] is missing"),
        (["none.csv", "-o", "c", "--methods", "partition", "-k", "2"], 3, "none.csv"),
        (["baskets.csv", "-o", "tree.csv", "--methods", "partition", "-k", "2"], 2, "not a folder"),
        (["-o", "c", "--spec", "none.toml"], 3, "there is no such file"),
    ],
)
def test_what_compare_cannot_do_is_one_clear_line(call, folder, words, code, message):
    result = call("compare", *words)
    assert result.code == code
    assert result.out == ""
    assert result.err.count("\n") == 1
    assert message in result.err


def test_advise_names_a_command_and_its_reasons(call, folder):
    result = call("advise", "baskets.csv", "-k", 2, "--keep", "items", "--hierarchy", "tree.csv")
    assert result.code == 0
    assert "setveil anonymize baskets.csv -o release --method " in result.out
    assert " -k 2 -m 2" in result.out
    assert "item_error" in result.out
    assert " is a common value" in result.out
    values = call("advise", "baskets.csv", "-k", 2, "--fear", "everything", "--json").json
    assert values["method"]["name"] == "partition"
    assert values["command"].endswith("--hierarchy balanced:5")


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--fear", "spiders"], 2, "'spiders' is not one of everything"),
        (["--keep", "beauty"], 2, "'beauty' is not one of"),
        (["-k", 7], 3, "only 6 records"),
        (["-k", 2, "--fear", "links", "--private", "vodka"], 2, "vodka"),
    ],
)
def test_what_advise_cannot_do_is_one_clear_line(call, folder, words, code, message):
    result = call("advise", "baskets.csv", *words)
    assert (result.code, result.out) == (code, "")
    assert message in result.err


def test_a_private_page_and_a_public_one(call, folder):
    call("anonymize", "baskets.csv", "-o", "r", "-k", 2, "--hierarchy", "tree.csv")
    result = call("report", "r", "--original", "baskets.csv", "-o", "private.html")
    assert result.code == 0
    assert "only you can read it" in result.out
    assert stat.S_IMODE((folder / "private.html").stat().st_mode) == 0o600
    result = call("report", "r", "-o", "public.html")
    assert "may be handed over" in result.out
    assert "baskets.csv" not in (folder / "public.html").read_text(encoding="utf-8")
    options = ("--original", "baskets.csv", "--for", "approval", "--knows", "1", "-o", "d.html")
    result = call("report", "r", *options)
    assert "d.html and d.json" in result.out
    page = (folder / "d.html").read_text(encoding="utf-8")
    command = "setveil report r --original baskets.csv --for approval --knows 1 --output d.html"
    assert command in page


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["none", "-o", "p.html"], 3, "none is not a usable release"),
        (["r", "-o", "r/p.html"], 2, "must not be in its folder"),
        (["r", "-o", "baskets.csv"], 2, "a page is an HTML file"),
        (["r"], 2, "Missing option '-o'"),
        (["r", "-o", "p.html", "--knows", "2"], 2, "add --for approval"),
        (["r", "-o", "p.html", "--for", "approval"], 2, "--original is missing"),
    ],
)
def test_what_report_cannot_do_is_one_clear_line(call, folder, words, code, message):
    call("anonymize", "baskets.csv", "-o", "r", "-k", 2, "--hierarchy", "tree.csv")
    result = call("report", *words)
    assert (result.code, result.out) == (code, "")
    assert result.err.count("\n") == 1
    assert message in result.err


def test_anonymize_writes_a_page_and_tunes(call, folder):
    result = call(
        "anonymize", "baskets.csv", "-o", "r", "-k", 2, "-m", 1, "--report", "p.html", "--tune",
        "--save-job", "job.toml",
    )  # fmt: skip
    assert result.code == 0
    assert "Written: the page" in result.err
    assert "Tuned for counts" in result.err
    assert "p.html" not in result.out
    again = call("run", "job.toml", "-o", "again")
    assert again.code == 2
    assert "p.html" in again.err
    (folder / "p.html").unlink()
    assert call("run", "job.toml", "-o", "again").code == 0
    assert (folder / "p.html").is_file()
