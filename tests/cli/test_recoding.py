"""The methods of global recoding from file to folder and back."""

from __future__ import annotations

import json

import pytest

from setveil.cli import answer


@pytest.fixture
def baskets(tmp_path):
    path = tmp_path / "baskets.dat"
    path.write_text(
        "\n".join(["1 2 3", "1 2", "1 2 3", "4 5", "4 5", "4 5 6", "1 4", "2 4", "3", "6"]) + "\n",
        encoding="utf-8",
    )
    return path


@pytest.mark.parametrize("method", ["apriori", "hghs", "mhghs"])
@pytest.mark.parametrize("m", ["2", "all"])
def test_a_release_is_written_verified_and_measured(method, m, baskets, tmp_path, capsys):
    folder = tmp_path / "release"
    arguments = [
        "anonymize",
        str(baskets),
        "-o",
        str(folder),
        "--method",
        method,
        "-k",
        "2",
        "-m",
        m,
        "--hierarchy",
        "balanced:2",
        "--json",
    ]
    assert answer(arguments) == 0
    about = json.loads((folder / "release.json").read_text(encoding="utf-8"))
    assert about["method"] == {"name": method, "variant": "best", "restarts": 4}
    assert about["recoding"] == "global"
    assert about["promise"]["m"] == (2 if m == "2" else "all")
    assert answer(["verify", str(folder), "--original", str(baskets)]) == 0
    capsys.readouterr()
    assert answer(["measure", str(folder), "--original", str(baskets), "--json"]) == 0
    assert 0 <= json.loads(capsys.readouterr().out)["ncp"] <= 1


def test_the_papers_search_can_be_asked_for(baskets, tmp_path):
    folder = tmp_path / "release"
    options = ["-k", "2", "-m", "2", "--hierarchy", "balanced:2", "--variant", "paper"]
    assert (
        answer(["anonymize", str(baskets), "-o", str(folder), "--method", "mhghs", *options]) == 0
    )
    assert (
        json.loads((folder / "release.json").read_text(encoding="utf-8"))["method"]["variant"]
        == "paper"
    )


def test_a_number_of_items_that_is_no_number_is_refused(baskets, tmp_path, capsys):
    options = ["-k", "2", "-m", "many", "--hierarchy", "balanced:2"]
    assert (
        answer(
            [
                "anonymize",
                str(baskets),
                "-o",
                str(tmp_path / "release"),
                "--method",
                "apriori",
                *options,
            ]
        )
        == 2
    )
    assert "many" in capsys.readouterr().err
