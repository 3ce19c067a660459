"""A new promise, method, form, metric, engine or format is its own file and a line in each table, no
more."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from setveil.audit.disassociated.check import PARTS
from setveil.audit.verify import PROMISE_CHECKS
from setveil.io.releases.disassociated import DISASSOCIATED
from setveil.promises import PROMISES

TOP = Path(__file__).resolve().parents[1]
RECORDS = [["beer", "wine"], ["beer"], ["beer", "wine"], ["milk"], ["wine", "tea"], ["beer"]]
FILE = "#pipes\n" + "".join("|".join(record) + "\n" for record in RECORDS)
COMMANDS = """
import json, sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from tests.toys.register import register
from setveil.cli import answer

register()
found = []
for arguments in json.loads(sys.argv[1]):
    with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as err:
        code = answer(arguments)
    found.append((code, out.getvalue() + err.getvalue()))
print(json.dumps(found))
"""


def run(*commands: str, code: int = 0) -> list[str]:
    """What each command prints, also what is private, when the toys are in the tables.

    One process runs them all, as it takes a second to start; the last one ends with `code`."""
    path = os.pathsep.join([str(TOP), str(TOP / "src"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", COMMANDS, json.dumps([shlex.split(each) for each in commands])],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    codes, shown = zip(*json.loads(done.stdout), strict=True)
    assert codes == (*[0] * (len(commands) - 1), code), shown
    return list(shown)


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "shop.pipes"
    path.write_text(FILE, encoding="utf-8")
    return path


def test_help_shows_the_new_method_promise_number_parameter_and_format():
    text, measures = (
        re.sub(r"\s+", " ", each) for each in run("anonymize --help", "measure --help")
    )
    for words in ("tally", "quorum", "--q", "--margin", "pipes"):
        assert words in text
    assert "Publish only items that this many people have." in text
    assert "Leave out items this close to q." in text
    assert "forgotten" in measures


def test_a_file_of_the_new_format_becomes_a_verified_folder_of_the_new_form(data, tmp_path):
    release = tmp_path / "release"
    shown, verified, refuted = run(
        f"anonymize {data} -o {release} --method tally --q 3",
        f"verify {release} --original {data} --json",
        f"verify {release} --q 4 --json",
        code=1,
    )
    assert "quorum (q = 3)" in shown
    assert "share of the items that are not published" in shown
    about = json.loads((release / "release.json").read_text(encoding="utf-8"))
    assert about["form"] == "tallies"
    assert about["promise"]["q"] == 3
    assert (release / "data.summary").read_text(encoding="utf-8") == "beer\t4\nwine\t3\n"
    assert json.loads(verified)["holds"]
    assert not json.loads(refuted)["holds"]


def test_a_new_promise_on_a_form_that_exists_is_written_read_and_verified(data, tmp_path):
    release = tmp_path / "release"
    shown, verified, refuted = run(
        f"anonymize {data} -o {release} --method prune --q 3",
        f"verify {release} --original {data} --json",
        f"verify {release} --q 5 --json",
        code=1,
    )
    assert "quorum (q = 3)" in shown
    about = json.loads((release / "release.json").read_text(encoding="utf-8"))
    assert (about["form"], about["promise"]["model"]) == ("suppressed", "quorum")
    found = json.loads(verified)
    assert (found["holds"], found["origin"]) == (True, "exact")
    assert not json.loads(refuted)["holds"]


def test_a_release_of_the_new_form_can_be_measured_asked_and_reconstructed(data, tmp_path):
    release = tmp_path / "release"
    measure = f"measure {release} --original {data} --json"
    _, *shown = run(
        f"anonymize {data} -o {release} --method tally --q 3",
        measure,
        f"{measure} --metric are --metric tkd --metric re",
        f"support {release} beer wine --json",
    )
    measured, others, asked = map(json.loads, shown)
    assert measured == {"forgotten": 0.5}
    assert set(others) == {"are", "tkd", "re"}
    assert (asked["lower"], asked["upper"]) == (1, 3)


@pytest.mark.parametrize("engine", ["blocks", "spark", "crumbs"])
def test_the_new_metric_is_measured_on_every_engine_the_new_one_too(engine, tmp_path, request):
    if engine == "spark":
        request.getfixturevalue("spark")
    records, rows = tmp_path / "shop.csv", enumerate(RECORDS * 3)
    pairs = (f"{number},{item}" for number, record in rows for item in record)
    records.write_text("\n".join(["record,item", *pairs]) + "\n", encoding="utf-8")
    how = f"anonymize {records} --method partition -k 6 --hierarchy balanced:2 --json"
    here, there = run(f"{how} -o {tmp_path / 'a'}", f"{how} -o {tmp_path / 'b'} --engine {engine}")
    losses = [json.loads(shown)["losses"] for shown in (here, there)]
    assert losses[0]["forgotten"] == losses[1]["forgotten"] > 0
    assert losses[0]["ncp"] == pytest.approx(losses[1]["ncp"])


def test_the_new_engine_makes_verifies_and_inspects_parts(data, tmp_path):
    records, release = tmp_path / "shop.dat", tmp_path / "release"
    records.write_text("1 2\n1 3\n2 3\n" * 10, encoding="utf-8")
    shown, verified, exposed, gathered = run(
        f"anonymize {records} -o {release} -k 2 -m 2 --max-part 8 --engine crumbs --json",
        f"verify {release} --original {records} --engine crumbs --json",
        f"inspect {records} --engine crumbs --json",
        f"anonymize {data} -o {tmp_path / 'other'} --method mhghs -k 2 -m 1"
        " --hierarchy balanced:2 --engine crumbs --json",
    )
    parts = json.loads((release / "release.json").read_text(encoding="utf-8"))["parts"]
    assert (len(parts) > 1, sum(parts)) == (True, 30)
    assert json.loads(shown)["verdict"]["holds"]
    assert json.loads(verified)["holds"]
    assert json.loads(exposed)["summary"]["records"] == 30
    assert json.loads(gathered)["verdict"]["holds"]


def test_the_new_promise_can_be_verified_on_plain_data(data):
    (refuted,) = run(f"verify {data} --q 2 --json", code=1)
    assert json.loads(refuted)["holds"] is False


def test_the_new_format_is_known_by_suffix_content_and_option(data, tmp_path):
    unnamed = tmp_path / "shop.txt"
    unnamed.write_text(FILE, encoding="utf-8")
    by_suffix, by_content, by_option = run(
        f"inspect {data} --json",
        f"inspect {unnamed} --json",
        f"inspect {unnamed} --input-format pipes --json",
    )
    assert json.loads(by_suffix)["summary"]["records"] == len(RECORDS)
    assert by_suffix == by_content == by_option


def test_the_conformance_suite_takes_in_the_toys():
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "tests.toys.register",
        "-k",
        "tally or prune or pipes",
    ]
    done = subprocess.run(
        [*command, "-p", "no:cacheprovider", "tests/conformance"],
        cwd=TOP,
        env={**os.environ, "PYTHONPATH": str(TOP / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    passed = int(re.search(r"(\d+) passed", done.stdout)[1])
    assert passed > 20


def test_exactly_the_promises_of_records_have_a_check_of_records():
    counted = {name for name, kind in PROMISES.items() if kind.of_records}
    assert counted == set(PROMISE_CHECKS)
    assert set(PARTS) == set(DISASSOCIATED.promises)
