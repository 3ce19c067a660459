"""What notebooks show: a few lines of HTML, and a chart of everything that has one."""

from __future__ import annotations

import re
import sys
from dataclasses import replace

import altair
import pytest
import vl_convert

import setveil as sv
from setveil.report.charts import comparison_chart

RECORDS = [["wine", "beer"], ["wine", "beer"], ["milk"], ["milk", "<b>tea</b>"]] * 3


@pytest.fixture(scope="module")
def things():
    data = sv.Transactions.of(RECORDS)
    done = sv.anonymize(RECORDS, k=2, hierarchy="balanced:2")
    words = {"k": [2, 3], "m": 2, "hierarchy": "balanced:2", "workers": 0}
    return {
        "data": data,
        "tree": sv.Hierarchy.balanced(data.vocabulary, fanout=2),
        "release": done.release,
        "disassociated": sv.anonymize(RECORDS, k=2, m=2).release,
        "verdict": done.verdict,
        "outcome": done,
        "dossier": sv.write_report(done.release, original=RECORDS),
        "comparison": sv.compare(RECORDS, "partition,disassociation", **words),
    }


EXPECTED = {
    "data": ["12 records of 4 items", "most frequent items"],
    "tree": ["4 leaves", "7 nodes"],
    "release": ["Generalized(12 records", "each published record is identical"],
    "disassociated": ["Disassociated(12 records"],
    "verdict": ["holds: k-anonymity", "yes"],
    "outcome": ["holds: k-anonymity", "ncp", "Generalized"],
    "dossier": ["holds: k-anonymity"],
    "comparison": ["4 cells", "item_error", "disassociation k=3"],
}


@pytest.mark.parametrize("name", EXPECTED)
def test_a_notebook_shows_what_matters(things, name):
    shown = things[name]._repr_html_()
    for words in EXPECTED[name]:
        assert words.lower() in shown.lower()
    assert "<b>" not in shown
    assert ("<svg" in shown) == (name != "verdict")


@pytest.mark.parametrize("name", [name for name in EXPECTED if name != "verdict"])
def test_everything_but_a_verdict_has_a_chart(things, name):
    chart = things[name].plot()
    assert isinstance(chart, altair.TopLevelMixin)
    assert chart.to_dict()["$schema"]


def test_a_verdict_has_no_chart(things):
    with pytest.raises(sv.errors.ParameterError, match="there are charts of"):
        things["verdict"].plot()


@pytest.mark.parametrize("name", EXPECTED)
def test_without_altair_a_notebook_still_shows_the_rest(things, name, monkeypatch):
    monkeypatch.setitem(sys.modules, "altair", None)
    shown = things[name]._repr_html_()
    assert EXPECTED[name][0].lower() in shown.lower()
    assert "<svg" not in shown


def test_what_fails_is_shown_with_its_witness():
    shown = sv.verify([["beer"], ["beer"], ["milk"]], k=2)._repr_html_()
    assert "DOES NOT HOLD" in shown
    assert "milk" in shown


def test_empty_things_are_shown_too():
    empty = sv.Transactions.of([])
    assert "0 records" in empty._repr_html_()
    one = sv.Hierarchy.from_paths([("beer",)])
    assert "1 leaf" in one._repr_html_()


@pytest.mark.parametrize(
    ("numbers", "shown"), [([3, 10], ["3", "10"]), ([1000, 2500], ["1k", "2.5k"])]
)
def test_the_numbers_below_a_comparison_are_spelled_out(things, numbers, shown):
    rows = [
        {**row, "k": number}
        for number in numbers
        for row in things["comparison"].rows
        if row["k"] == 2
    ]
    chart = comparison_chart(replace(things["comparison"], rows=rows), "item_error")
    texts = re.findall(r">([^<>]+)</text>", vl_convert.vegalite_to_svg(chart.to_dict()))
    assert set(shown) <= set(texts)
    assert not any("e+" in text for text in texts)
