"""`setveil inspect`: what the data holds, for people and for programs."""

from __future__ import annotations

import io
import json
import subprocess
import sys

import pytest


def test_text_has_numbers_and_the_exposure(call, folder):
    result = call("inspect", "baskets.csv")
    assert (result.code, result.err) == (0, "")
    assert "records" in result.out
    assert "2 known items single out" in result.out
    assert "private" in result.out


def test_json_has_summary_and_exposure(call, folder):
    result = call("inspect", "baskets.csv", "--json")
    assert result.json["summary"]["records"] == 6
    assert result.json["exposure"]["whole"] == pytest.approx(2 / 6)
    assert result.out.count("\n") == 1


def test_k_says_what_picks_a_person_out(call, folder):
    assert call("inspect", "baskets.csv", "-k", 3, "--json").json["exposure"][
        "whole"
    ] == pytest.approx(1)


def test_several_k_are_compared_unless_one_is_given(call, folder):
    result = call("inspect", "baskets.csv")
    assert [line.split()[:3] for line in result.out.splitlines() if line.startswith("  k = ")] == [
        ["k", "=", f"{k},"] for k in (2, 2, 5, 5, 10, 10)
    ]
    assert [entry["k"] for entry in call("inspect", "baskets.csv", "--json").json["exposures"]] == [
        2,
        5,
        10,
    ]
    assert "  k = " not in call("inspect", "baskets.csv", "-k", 3).out


def test_ways_to_anonymize_are_shown_and_those_of_bags_where_there_are_counts(call, folder):
    result = call("inspect", "baskets.csv")
    assert "Next: setveil anonymize baskets.csv -o release, with one of" in result.out
    assert "-k 5 --hierarchy TREE" in result.out
    assert "-k 3 --hierarchy TREE" in call("inspect", "baskets.csv", "-k", 3).out
    assert "--method ssc" not in result.out
    (folder / "my bags.csv").write_text("record,item,count\n1,a,2\n2,a,1\n", encoding="utf-8")
    result = call("inspect", "my bags.csv")
    assert "Next: setveil anonymize 'my bags.csv' -o release, with one of" in result.out
    assert "--method ssc" in result.out
    (folder / "none.csv").write_text("record,item\n", encoding="utf-8")
    assert "Next:" not in call("inspect", "none.csv").out


def test_large_numbers_have_separators(call, folder):
    (folder / "many.dat").write_text("1 2 3\n" * 12_345, encoding="utf-8")
    assert "12,345" in call("inspect", "many.dat").out


def test_a_pipe_gets_plain_text_without_colour(folder):
    done = subprocess.run(
        [sys.executable, "-m", "setveil", "inspect", "baskets.csv"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "\x1b" not in done.stdout
    assert done.stderr == ""
    assert all(line == line.rstrip() for line in done.stdout.splitlines())


def test_standard_input_is_read(folder):
    command = [sys.executable, "-m", "setveil", "inspect", "-", "--input-format", "fimi", "--json"]
    done = subprocess.run(command, input=b"1 2\n3\n", capture_output=True, check=True)
    assert json.loads(done.stdout)["summary"]["records"] == 2


def test_an_item_cannot_steer_the_terminal(call, folder):
    (folder / "odd.csv").write_text("record,item\n1,\x1b[31mred\n1,b\n2,b\n", encoding="utf-8")
    result = call("verify", "odd.csv", "-k", 2)
    assert result.code == 1
    assert "\x1b" not in result.out + result.err
    assert "\\x1b[31mred" in result.err


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.csv", "", "empty.csv"),
        ("wrong.csv", "a,b\n1,2\n", "wrong.csv"),
        ("latin.dat", None, "UTF-8"),
    ],
)
def test_a_file_that_cannot_be_used_gets_one_line(call, folder, name, content, message):
    if content is None:
        (folder / name).write_bytes("молоко хлеб\n".encode("cp1251"))
    else:
        (folder / name).write_text(content, encoding="utf-8")
    result = call("inspect", name)
    if result.code == 0:
        assert content == "a,b\n1,2\n", "only the two-column file may be read as baskets"
        return
    assert (result.code, result.out) == (3, "")
    assert message in result.err
    assert result.err.count("\n") == 1


def test_a_terminal_gets_colour(monkeypatch, folder):
    from setveil.report import Report, Section
    from setveil.report.terminal import print_report

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    stream = Terminal()
    print_report(Report((Section("It holds", holds=True),)), stream)
    assert "\x1b[" in stream.getvalue()


def test_the_encoding_of_a_file_can_be_named(call, folder):
    (folder / "old.csv").write_bytes("record,item\n1,Käse\n2,Käse\n".encode("cp1252"))
    assert "it was read as cp1252. If letters look wrong" in call("inspect", "old.csv").out
    (folder / "odd.csv").write_bytes("record,item\n1,молоко\n".encode("cp1251"))
    assert "name its encoding, such as --encoding cp1252" in call("inspect", "odd.csv").err
    assert "Käse (2)" in call("inspect", "old.csv", "--encoding", "cp1252").out


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet", "xlsx"])
def test_a_column_nested_in_another_is_named_with_the_option(call, tmp_path, kind):
    pandas = pytest.importorskip("pandas")
    rows = [(f"c{n // 4}", f"b{n // 2}", "abcde"[n % 5]) for n in range(80)]
    table = pandas.DataFrame(rows, columns=["customer_id", "order_id", "item"])
    path = tmp_path / f"long.{kind}"
    if kind == "parquet":
        table.to_parquet(path)
    elif kind == "xlsx":
        table.to_excel(path, index=False)
    else:
        table.to_csv(path, index=False, sep="\t" if kind == "tsv" else ",")
    refused = call("inspect", path)
    assert refused.code == 3
    assert "each 'order_id' belongs to just one 'customer_id'" in refused.err
    assert "--person customer_id" in refused.err
    read = call("inspect", path, "--record", "order_id")
    assert "with --person customer_id" in " ".join(read.out.split())
