"""Tables as people export them, on the command line: no id and no price is ever published."""

from __future__ import annotations

import pytest

from tests.io.test_ticks import NAMES as SURVEY
from tests.io.test_ticks import SECRET, _csv, _survey
from tests.io.test_titles import NAMES, ROWS, TITLES, _text, _workbook


@pytest.fixture
def titled(folder):
    (folder / "orders.csv").write_text(_text(TITLES[0]))
    rows = [[int(a), b, c, float(d)] for a, b, c, d in ROWS]
    _workbook(folder / "orders.xlsx", ("Orders", [["Orders of March"], [], NAMES, *rows]))
    return folder


@pytest.mark.parametrize("name", ["orders.csv", "orders.xlsx"])
@pytest.mark.parametrize("words", [(), ("--engine", "blocks")])
def test_a_release_of_a_table_below_a_title_has_no_ids_and_no_prices(call, titled, name, words):
    asked = ("-k", 2, "-m", 1, "--method", "disassociation", "--seed", 1)
    result = call("anonymize", name, "-o", "release", *asked, *words)
    assert result.code == 0
    assert "Row 3 names the columns; the 2 rows above it were left out." in result.shown
    files = [file for file in (titled / "release").iterdir() if file.name != "release.json"]
    published = "".join(file.read_text() for file in files)
    assert "bread" in published
    for order, client, _, price in ROWS:
        assert not {order, client, price} & set(published.replace('"', " ").split())


def test_a_row_may_be_given_and_a_doubt_says_so(call, titled):
    assert "header   row 3" in call("inspect", "orders.csv", "--header", 3).out
    assert "not the number of a row" in call("inspect", "orders.csv", "--header", "x").err
    (titled / "odd.csv").write_text("Report\n\na,b\n" + "c,d\ne,f\n" * 20)
    result = call("anonymize", "odd.csv", "-o", "release", "-k", 2, "-m", 1)
    assert (result.code, (titled / "release").exists()) == (3, False)
    assert result.err == (
        "setveil: odd.csv: it may be a table below title lines, but no row clearly names the "
        "columns; say which row names the columns with --header, or --no-header if none does; "
        "--input-format baskets if each line is a basket\n"
    )


def test_a_job_file_and_the_command_again_have_the_row(call, titled):
    asked = ("-k", 2, "-m", 1, "--method", "disassociation", "--header", 3)
    assert (
        call("anonymize", "orders.csv", "-o", "release", *asked, "--save-job", "job.toml").code == 0
    )
    assert "header = 3" in (titled / "job.toml").read_text()


def test_the_options_of_a_survey_are_published_and_what_people_wrote_is_not(call, folder):
    rows, _ = _survey(None, "")
    (folder / "survey.csv").write_text(_csv(SURVEY, rows))
    asked = ("-k", 2, "-m", 1, "--method", "disassociation", "--seed", 1)
    result = call("anonymize", "survey.csv", "-o", "release", *asked)
    assert (result.code, result.out) == (3, "")
    assert "if they are the items, name them with --item: --item 3-5" in result.err
    words = ("--item", "Uses *", "--item", "3-4", "--save-job", "job.toml")
    result = call("anonymize", "survey.csv", "-o", "release", *asked, *words)
    assert result.code == 0
    assert "hold texts rather than ticks: 'Uses [Other]'" in result.shown
    published = "".join(file.read_text() for file in (folder / "release").iterdir())
    assert "Uses [SQL]" in published
    assert SECRET not in published
    assert call("run", "job.toml", "--force").code == 0
