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


STAYS = "stay,patient,code\n" + "".join(
    f"{stay},p{stay // 2},{code}\n"
    for stay in range(12)
    for code in ("flu", "cold" if stay % 2 else "cough")
)


@pytest.fixture
def patients(call, folder):
    (folder / "stays.csv").write_text(STAYS)
    made = ("anonymize", "stays.csv", "-o", "people", "--person", "patient", "--item", "code")
    assert call(*made, "-k", 2, "-m", 1, "--seed", 1).code == 0
    return ("attack", "people", "--original", "stays.csv", "--person", "patient", "--item", "code")


def test_one_stay_a_file_and_a_population_are_further_knowledge(call, folder, patients):
    (folder / "friends.csv").write_text("patient,code\np0,flu\np0,cough\nnobody,flu\np1,plague\n")
    more = ("--knows", "1,2", "--knows", "friends.csv", "--occasion", "stay")
    found = call(*patients, *more, "--population-data", "stays.csv", "--seed", 1, "--json").json
    rows = {row["knowledge"]: row for row in found["rows"]}
    assert rows["all items of one stay"]["draws"] == 12
    heard = rows["what friends.csv says"]
    assert (heard["people"], heard["within"]) == (2, False)
    assert heard["risk"]["population"] == 6
    assert "true in 50.0 %" in found["attacks"]["outside, what friends.csv says"]["text"]
    assert rows["1 item"]["risk"]["prosecutor"]["average"] == rows["1 item"]["success"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--knows", "nowhere.csv"), "--knows"),
        (("--knows", "strangers.csv"), "names nobody of the original"),
        (("--occasion", "code"), "cannot be both"),
        (("--population-data", "strangers.csv"), "must contain everybody in the data"),
    ],
)
def test_knowledge_that_does_not_fit_is_refused_in_one_line(call, folder, patients, options, said):
    (folder / "strangers.csv").write_text("patient,code\nx,flu\ny,flu\n")
    result = call(*patients, *options)
    assert result.code in (2, 3)
    assert said in result.err
    assert len(result.err.strip().splitlines()) == 1
