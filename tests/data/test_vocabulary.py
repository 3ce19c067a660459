"""Vocabularies: items in a fixed order that is never the order of the data."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from setveil.data.vocabulary import Vocabulary, natural_order, sort_labels
from setveil.errors import DataError, UnknownItemError


def test_whole_numbers_are_sorted_by_value_and_kept_as_text():
    assert Vocabulary.of([10, 9, "-3", "+4", "09"]).labels == ("-3", "+4", "09", "9", "10")


def test_other_items_are_sorted_alphabetically():
    assert Vocabulary.of(["wine", "10", "9", "Beer"]).labels == ("10", "9", "Beer", "wine")


@given(st.lists(st.text(max_size=3) | st.integers(-20, 20).map(str)))
def test_the_order_of_the_data_does_not_show(items):
    assert Vocabulary.of(items) == Vocabulary.of(items[::-1])
    assert sorted(Vocabulary.of(items)) == sorted(set(items))


def test_a_row_of_very_many_digits_is_text():
    labels = ["9" * 5000, "10"]
    assert natural_order(labels) == "alphabetical"
    assert sort_labels(labels) == ["10", "9" * 5000]


@pytest.mark.parametrize("label", ["1.5", "1e3", "", " 1", "1\n", "١", "²"])
def test_anything_but_a_plain_whole_number_is_text(label):
    assert natural_order(["1", label]) == "alphabetical"


def test_items_and_numbers_lead_to_each_other():
    words = Vocabulary.of(["b", "a", "c"])
    assert [words[number] for number in words.encode(["c", "a"])] == ["c", "a"]
    assert words.number("b") == 1
    assert "b" in words
    assert "x" not in words
    assert len(words) == 3


def test_an_unknown_item_is_named():
    words = Vocabulary.of("abc")
    with pytest.raises(UnknownItemError) as error:
        words.number("x")
    assert str(error.value) == "the vocabulary does not contain 'x'"
    with pytest.raises(UnknownItemError) as error:
        words.encode(["a", "v", "w", "x", "y"])
    assert str(error.value) == "the vocabulary does not contain 'v', 'w', 'x' and 1 more"


def test_an_item_occurs_once():
    with pytest.raises(DataError) as error:
        _ = Vocabulary(["a", "a"]).numbers
    assert str(error.value) == "an item occurs twice in this vocabulary"


def test_vocabularies_are_equal_when_their_labels_are():
    assert Vocabulary(["a", "b"]) == Vocabulary.of("ba")
    assert Vocabulary(["b", "a"]) != Vocabulary.of("ba")
    assert hash(Vocabulary(["a"])) == hash(Vocabulary.of("a"))
    assert repr(Vocabulary.of("abcd")) == "Vocabulary(4 items: a, b, c, ...)"


def test_a_vocabulary_does_not_change():
    words = Vocabulary(["a"])
    with pytest.raises(AttributeError, match="a vocabulary cannot be changed"):
        words.labels = ("b",)


def test_bytes_become_their_text():
    words = Vocabulary([b"beer", "wine"])
    assert words == Vocabulary.of(["wine", b"beer"])
    assert words.number(b"wine") == words.encode([b"wine"])[0] == 1
    assert b"beer" in words


def test_numbers_become_their_text():
    words = Vocabulary([1, 20])
    assert words.labels == ("1", "20")
    assert words.number(20) == words.number("20") == 1
    assert words.encode([20, 1]).tolist() == words.encode(iter(["20", "1"])).tolist() == [1, 0]
    assert 20 in words
    assert 3 not in words
