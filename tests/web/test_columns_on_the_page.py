"""Columns beside the items, on the page: a choice for each, the promise, the trade, the result."""

from __future__ import annotations

from html import unescape

import pytest

from tests.web.serving import ended, served

ROWS = "patient,born,sex,town,job,codes\n" + "".join(
    f"{at},{1930 + at % 10},{'FM'[at % 2]},{1 + at % 3}0{at % 4},{'cook' if at % 4 else 'nurse'},"
    f"{'abcdef'[at % 6]}|flu\n"
    for at in range(60)
)
TREE = "".join(f"{one}0{two};{one};any\n" for one in (1, 2, 3) for two in range(4))


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    with served(tmp_path_factory.mktemp("columns")) as page:
        yield page


@pytest.fixture(scope="module")
def place(page):
    """A project whose file was read with three columns, and one as items."""
    place = page.loaded(ROWS, "people.csv")
    page.put(f"{place}/load/column-tree?name=places.csv", TREE.encode())
    choose(page, place, born="known", sex="known", town="file:places.csv", job="keep")
    return place


def choose(page, place, **chosen):
    fields = {each["label"]: each["name"] for each in page.get(f"{place}/load").json["columns"]}
    page.post(f"{place}/load/columns", **{fields[name]: chosen[name] for name in chosen})
    return page.until(
        f"{place}/load", lambda now: all(ended(job["status"]) for job in now["jobs"].values())
    )


def test_each_column_has_a_choice_and_the_dropped_ones_are_named(page):
    place = page.loaded(ROWS, "people.csv")
    found = page.get(f"{place}/load").json
    options = {each["label"]: list(each["options"]) for each in found["columns"]}
    assert options["born"] == ["", "known", "prefix", "keep"]
    assert options["sex"] == ["", "known", "keep"]
    assert not any("Not read: " in each for each in found["remarks"])
    assert any("unless you choose them below: “born”" in each for each in found["understood"])
    found = choose(page, place, sex="known")
    assert any("'patient', 'born', 'town', 'job'" in each for each in found["remarks"])
    found = choose(page, place, sex="")
    assert "--column" not in found["command"]


def test_a_choice_that_cannot_be_is_said_and_can_be_changed(page):
    rows = "patient,code,sex,codes\n" + "".join(f"{at},x{at},F,a|b\n" for at in range(30))
    place = page.loaded(rows, "people.csv")
    found = choose(page, place, code="known")
    (question,) = (each for each in found["questions"] if each["must"] and "code" in each["text"])
    assert "nearly every row has one of its own; below, it can be cut" in question["text"]
    assert question["title"] == "Does this column say who somebody is?"
    assert "Publish it as it was chosen" in str(question["answers"])
    assert [each["value"] for each in found["columns"]] == ["known", ""]
    assert choose(page, place, code="")["inspect"] is not None


def test_columns_are_promised_published_and_weighed(page, place):
    goal = page.get(f"{place}/goal").json
    assert goal["promise"] == "columns"
    assert [each[0] for each in goal["fears"]] == ["columns"]
    assert "--column-hierarchy town places.csv --column-hierarchy job keep" in goal["command"]
    done = page.run(place, k=4, m=2, **{"groups.columns_matter": "0.9"})
    assert done["status"] == "done", done
    assert done["outcome"]["method"]["columns_matter"] == 0.9
    shown = unescape(page.page(done["place"]).text)
    assert "how wide a published value of a column is" in shown
    assert "the same for each column" in shown


def test_the_trade_between_columns_and_items_is_a_curve(page, place):
    assert "Show the trade" in page.page(f"{place}/goal").text
    page.post(f"{place}/goal/trade")
    found = page.until(f"{place}/compare", lambda now: now["job"] and ended(now["job"]["status"]))
    weights = [row["columns_matter"] for row in found["comparison"]["rows"]]
    assert weights == [0, 0.25, 0.5, 0.75, 1]
    assert "Columns or items? Each dot is a setting" in page.page(f"{place}/compare").text
