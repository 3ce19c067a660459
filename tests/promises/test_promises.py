"""Promises as objects: their numbers, what is refused, how they are shown, compared, pickled."""

from __future__ import annotations

import copy
import json
import pickle

import numpy as np
import pytest

from setveil.data.transactions import Transactions
from setveil.errors import ParameterError
from setveil.promises import (
    PROMISES,
    Coherence,
    Columns,
    DifferentialPrivacy,
    KAnonymity,
    KmAnonymity,
    LDiversity,
    VocabularyKAnonymity,
)
from setveil.promises.kanonymity import ALL

SOME = [
    KAnonymity(k=5),
    KmAnonymity(k=5, m=2),
    KmAnonymity(k=5, m=2, diversity=LDiversity(l=3, sensitive=["flu"])),
    LDiversity(l=3, sensitive=["flu", "HIV"]),
    Coherence(h=0.8, k=5, p=2, private=["flu"]),
    VocabularyKAnonymity(k=5),
    Columns(k=5, m=2),
    DifferentialPrivacy(epsilon=0.5, delta=1e-6),
]


def test_there_is_an_example_of_every_promise():
    assert {type(promise) for promise in SOME} == set(PROMISES.values())


@pytest.mark.parametrize("promise", SOME, ids=repr)
def test_a_promise_is_a_value(promise):
    for twin in (pickle.loads(pickle.dumps(promise)), copy.copy(promise), copy.deepcopy(promise)):
        assert twin == promise
        assert hash(twin) == hash(promise)


@pytest.mark.parametrize("kind", [np.int64, np.int32, np.uint8])
def test_whole_numbers_of_numpy_become_plain_ones(kind):
    promises = [
        KAnonymity(k=kind(5)),
        KmAnonymity(k=kind(5), m=kind(2), diversity=LDiversity(l=kind(3), sensitive=["flu"])),
        Coherence(h=np.float64(0.5), k=kind(5), p=kind(2)),
        VocabularyKAnonymity(k=kind(5)),
    ]
    for promise in promises:
        assert json.loads(json.dumps(promise.to_dict()))["k"] == 5
        assert type(promise.k) is int
        assert "np." not in repr(promise)


@pytest.mark.parametrize(
    "k",
    [5.0, np.float64(5), True, np.True_, float("nan"), None, "5", 1, -1, [5], np.array(5)],
    ids=repr,
)
def test_what_is_no_number_of_people_is_refused(k):
    for promise in (
        KAnonymity,
        VocabularyKAnonymity,
        lambda k: KmAnonymity(k=k, m=2),
        lambda k: Coherence(h=1, k=k, p=1),
    ):
        with pytest.raises(ParameterError, match="it must be a whole number of 2 or more"):
            promise(k=k)


@pytest.mark.parametrize("m", [0, 2.0, "some", None, np.array([1, 2])], ids=repr)
def test_what_is_no_number_of_items_is_refused(m):
    with pytest.raises(ParameterError, match="it must be a whole number of 1 or more"):
        KmAnonymity(k=2, m=m)


@pytest.mark.parametrize("h", [0, 1.5, True, float("nan"), "0.5", None], ids=repr)
def test_what_is_no_share_is_refused(h):
    with pytest.raises(ParameterError, match="it must be a number above 0 and at most 1"):
        Coherence(h=h, k=2, p=2)


@pytest.mark.parametrize("items", ["flu", b"flu", None, 5], ids=repr)
def test_what_is_no_list_of_items_is_refused(items):
    with pytest.raises(ParameterError, match=r"sensitive = .* it must be a list or set of items"):
        LDiversity(l=2, sensitive=items)
    with pytest.raises(ParameterError, match=r"private = .* it must be a list or set of items"):
        Coherence(h=0.5, k=2, p=2, private=items)


@pytest.mark.parametrize("item", [5.0, np.float32(5), float("nan"), None], ids=repr)
def test_an_item_whose_text_is_uncertain_is_refused(item):
    with pytest.raises(
        ParameterError,
        match=r"sensitive = .* each item must be the text, or the whole number, that it is in",
    ):
        LDiversity(l=2, sensitive=["flu", item])
    with pytest.raises(
        ParameterError,
        match=r"private = .* each item must be the text, or the whole number, that it is in the",
    ):
        Coherence(h=0.5, k=2, p=2, private=["flu", item])


def test_items_have_the_text_that_they_have_in_data():
    items = [b"flu", np.str_("HIV"), np.int64(7), 8]
    assert (
        LDiversity(l=2, sensitive=items).sensitive
        == set(Transactions.of([items]).vocabulary)
        == {"flu", "HIV", "7", "8"}
    )


def test_what_is_promised_besides_is_l_diversity():
    with pytest.raises(ParameterError, match="it must be an LDiversity"):
        KmAnonymity(k=3, m=2, diversity=3)


def test_a_promise_is_shown_by_what_was_asked_for():
    assert [repr(promise) for promise in SOME] == [
        "KAnonymity(k=5)",
        "KmAnonymity(k=5, m=2)",
        "KmAnonymity(k=5, m=2, diversity=LDiversity(l=3, sensitive={'flu'}))",
        "LDiversity(l=3, sensitive={'HIV', 'flu'})",
        "Coherence(h=0.8, k=5, p=2, private={'flu'})",
        "VocabularyKAnonymity(k=5)",
        "Columns(k=5, m=2)",
        "DifferentialPrivacy(epsilon=0.5, delta=1e-06)",
    ]
    assert repr(KmAnonymity(k=5, m="all")) == "KmAnonymity(k=5, m='all')"
    assert KmAnonymity(k=5, m="all").m == ALL


def test_many_items_are_not_all_shown():
    assert (
        repr(LDiversity(l=3, sensitive=range(1000)))
        == "LDiversity(l=3, sensitive={'0', '1', '10', ... 1000 in all})"
    )
