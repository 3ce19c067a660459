"""`setveil attack`: a private report, one JSON object, and clear refusals."""

from __future__ import annotations

import pytest


@pytest.fixture
def release(call, folder):
    assert (
        call("anonymize", "baskets.csv", "-o", "release", "-k", 2, "--hierarchy", "tree.csv").code
        == 0
    )


@pytest.mark.usefixtures("release")
def test_every_section_is_marked_private(call):
    result = call("attack", "release", "--original", "baskets.csv")
    assert result.code == 0
    titles = [line for line in result.out.splitlines() if line and not line.startswith(" ")]
    assert all("private, not part of the release" in title for title in titles)
    for name in ("Singling out", "Linkability", "Inference", "Homogeneity", "Minimality"):
        assert any(title.startswith(name) for title in titles)


@pytest.mark.usefixtures("release")
def test_json_has_rows_with_intervals_and_charts(call):
    options = ("--original", "baskets.csv", "--knows", "1,2", "--seed", 1, "--json")
    found = call("attack", "release", *options).json
    assert found["holds"] is True
    assert found["bound"] == 0.5
    assert [row["items"] for row in found["rows"] if row["kind"] == "items"] == [1, 2, None]
    for row in found["rows"]:
        assert row["success"]["low"] <= row["success"]["value"] <= row["success"]["high"]
        assert sum(bar["share"] for bar in row["chart"]) == pytest.approx(1)
    assert found == call("attack", "release", *options).json


@pytest.mark.usefixtures("release")
def test_a_second_release_is_compared(call):
    again = ("anonymize", "baskets.csv", "-o", "again", "-k", 3, "--hierarchy", "tree.csv")
    assert call(*again).code == 0
    result = call("attack", "release", "--original", "baskets.csv", "--other", "again", "--json")
    assert "intersection" in result.json["attacks"]


@pytest.mark.usefixtures("release")
@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (("--knows", "x"), 2, "--knows"),
        (("--knows", "0"), 2, "--knows"),
        (("--trials", "5"), 2, "--trials"),
        (("--private", "nothing-like-it"), 2, "--private"),
        (("--other", "nowhere"), 3, "nowhere"),
    ],
)
def test_bad_options_get_one_line(call, options, code, said):
    result = call("attack", "release", "--original", "baskets.csv", *options)
    assert (result.code, result.out) == (code, "")
    assert said in result.err


def test_a_data_file_is_not_a_release(call, folder):
    result = call("attack", "baskets.csv", "--original", "baskets.csv")
    assert result.code == 3
    assert result.out == ""
