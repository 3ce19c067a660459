"""What once ended as a bug (exit code 70) is refused in one line that says what is wrong."""

from __future__ import annotations

import io
import json
import os
import resource
import subprocess
import sys
import zipfile

import pytest

from setveil.hierarchy.editing import TreeDraft
from setveil.hierarchy.files import read_hierarchy


@pytest.mark.parametrize("op", [["x"], {"x": 1}, None, 3, "turn"])
def test_an_edit_of_any_type_is_refused(call, tmp_path, op):
    tree, log = tmp_path / "tree.csv", tmp_path / "edits.json"
    tree.write_text("a;G;ALL\nb;G;ALL\n")
    begun = TreeDraft(read_hierarchy(tree)).log()
    log.write_text(json.dumps(begun | {"edits": [{"op": op}], "done": 1}))
    done = call("hierarchy", "edit", tree, "--edits", log)
    assert (done.code, done.err) == (
        3,
        f"setveil: {log}: an edit is one of move, rename, group, ungroup, add, remove\n",
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ("--epsilon", "5e-324"),
            "--epsilon 4.94066e-324 is not allowed: it must be from 0.000001",
        ),
        (("--epsilon", "1e-7"), "--epsilon 1e-07 is not allowed: it must be from 0.000001 to 100"),
        (("--epsilon", "nan"), "--epsilon nan is not allowed"),
        (("--epsilon", "1", "--delta", "1e-320"), "is not allowed: it must be 0, or from 1e-30 to"),
        (("--epsilon", "1", "--delta", "-1"), "--delta -1 is not allowed: it must be 0, or"),
    ],
)
def test_an_epsilon_or_delta_that_is_too_small_is_refused(call, tmp_path, options, said):
    (tmp_path / "a.csv").write_text("record,item\n1,a\n2,b\n")
    done = call("anonymize", tmp_path / "a.csv", "-o", tmp_path / "r", "--public-items", *options)
    assert done.code == 2
    assert said in done.err


def test_a_damaged_member_of_a_zip_file_names_the_file(call, tmp_path):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_BZIP2) as file:
        file.writestr("a.csv", "record,item\n1,a\n" * 50)
    content = bytearray(packed.getvalue())
    content[40:48] = bytes(8)
    (tmp_path / "a.zip").write_bytes(content)
    done = call("inspect", tmp_path / "a.zip")
    assert done.code == 3
    assert done.err.startswith(f"setveil: {tmp_path / 'a.zip'}: the zip file is damaged")


def test_the_page_does_not_start_where_nothing_can_be_written(tmp_path):
    def little() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, 1_000))

    command = [sys.executable, "-m", "setveil", "serve", "--no-browser", "--port", "0"]
    done = subprocess.run(
        [*command, "--data-dir", str(tmp_path / "page")],
        preexec_fn=little,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},  # it would be cut off, for all
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith(f"setveil: cannot write {tmp_path / 'page'}: ")
    assert "choose another --data-dir" in done.stderr


@pytest.mark.parametrize("command", ["inspect", "verify", "run"])
def test_a_path_that_is_far_too_long_is_named_without_its_middle(call, command):
    done = call(command, f"{'x' * 4_000}/end-of-path.csv")
    assert done.code in (2, 3)
    assert "end-of-path.csv" in done.err
    assert len(done.err) < 500
