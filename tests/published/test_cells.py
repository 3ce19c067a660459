"""The generalized values of a column: what they say, and which are refused."""

from __future__ import annotations

import pytest

from setveil import Hierarchy, Node, PublishedColumn, Span
from setveil.errors import DataError

YEARS = (Span(None, "1931"), Span("1931", "1941"), Span("1941", "1942"), Span("1971", None))


def texts(name, kind, *cells, **more):
    return PublishedColumn(name, kind, cells, **more).texts


def test_whole_numbers_say_their_last_value():
    assert texts("age", "number", Span(None, "18"), Span("18", "65"), Span("65", None)) == (
        "17 or less",
        "18 to 64",
        "65 or more",
    )


def test_years_are_earlier_and_later():
    said = ("1930 or earlier", "1931 to 1940", "1941", "1971 or later")
    assert texts("birth_year", "number", *YEARS) == said


def test_an_income_per_year_is_no_year():
    assert texts("income a year", "number", Span("30000", None)) == ("30000 or more",)


def test_other_numbers_say_that_the_end_is_not_in_it():
    cells = (Span(None, "1.5"), Span("1.5", "2"), Span("2", None))
    said = ("below 1.5", "1.5 to below 2", "2 or more")
    assert texts("dose", "number", *cells, is_whole=False) == said


def test_dates_end_on_the_day_before():
    cells = (Span(None, "2024-03-01"), Span("2024-03-01", "2024-03-02"), Span("2024-03-02"))
    said = ("2024-02-29 or earlier", "2024-03-01", "2024-03-02 or later")
    assert texts("seen", "date", *cells) == said


def test_the_missing_value_is_an_empty_text_and_the_word_missing():
    column = PublishedColumn("age", "number", (Node(""), Span("65", None, True), Span()))
    assert column.texts == ("", "65 or more, or missing", "any")
    assert column.shown(0) == "missing"


def test_words_are_nodes_of_their_tree():
    tree = Hierarchy.from_paths([("F", "any"), ("M", "any")])
    assert texts("sex", "word", Node("F"), Node("any"), tree=tree) == ("F", "any")


@pytest.mark.parametrize(
    ("kind", "cells", "problem"),
    [
        ("number", (Span("5", "5"),), "ends before it begins"),
        ("number", (Span("a", None),), "no number"),
        ("number", (Span("1.5", None),), "end between them"),
        ("date", (Span("2024-02-30", None),), "no date"),
        ("number", (Span(), Span()), "there twice"),
        ("number", (Span("5", None), Span("5.0", None)), "read the same"),
        ("number", (Span(None, None, True),), "already"),
        ("number", (Node("old"),), "not in its tree"),
        ("word", (Node("F"),), "has a tree"),
    ],
)
def test_other_cells_are_refused(kind, cells, problem):
    with pytest.raises(DataError, match=problem):
        PublishedColumn("x", kind, cells)
