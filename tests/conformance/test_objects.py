"""Methods and releases as objects: shown, compared, pickled, and used by several threads."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from setveil.audit import verify
from setveil.data.generate import quest
from setveil.data.transactions import Transactions
from setveil.errors import ParameterError
from setveil.hierarchy.tree import Hierarchy
from setveil.methods import METHODS
from setveil.metrics import measure
from tests.conformance.test_methods import each_method, each_method_by_tree, promise_of

DATA = quest(200, items=30, average_length=4, patterns=20, seed=3)
TREE = Hierarchy.balanced(DATA.vocabulary, 4)


def anonymized(method, k):
    return METHODS[method]().anonymize(DATA, promise_of(METHODS[method], k), TREE)


@each_method
def test_a_method_is_a_value(method):
    for twin in (
        pickle.loads(pickle.dumps(method())),
        copy.copy(method()),
        copy.deepcopy(method()),
    ):
        assert twin == method()


@each_method
def test_a_release_comes_whole_out_of_another_process(method):
    with ProcessPoolExecutor(1) as pool:
        release = pool.submit(anonymized, method.name, 4).result(timeout=300)
    here = anonymized(method.name, 4)
    assert release == here
    assert release.promise == here.promise
    assert dict(release.method) == dict(here.method)
    assert measure(release, DATA) == measure(here, DATA)
    assert verify(release, DATA).holds


@each_method
def test_two_threads_at_once_give_what_one_gives(method):
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(anonymized, [method.name] * 4, [3, 5, 3, 5]))
    assert found[0] == found[2] == anonymized(method.name, 3)
    assert found[1] == found[3] == anonymized(method.name, 5)


@each_method
def test_a_release_is_shown_in_one_short_line(method):
    assert len(repr(anonymized(method.name, 4)).splitlines()) == 1
    assert len(repr(anonymized(method.name, 4))) < 120


@each_method_by_tree
@pytest.mark.parametrize("tree", ["balanced:5", Path("tree.csv"), {"a": "ALL"}], ids=repr)
def test_a_value_that_is_not_a_tree_is_refused(method, tree):
    with pytest.raises(ParameterError, match="it must be a Hierarchy"):
        method().anonymize(Transactions.of([["a"]] * 3), promise_of(method, 3), tree)


@each_method
@pytest.mark.parametrize("promise", [5, None, "k-anonymity"], ids=repr)
def test_a_value_that_is_not_a_promise_is_refused(method, promise):
    with pytest.raises(ParameterError, match=f"the method {method.name} keeps"):
        method().anonymize(Transactions.of([["a"]] * 3), promise, TREE)


@each_method
def test_the_class_of_its_promise_is_not_a_promise(method):
    with pytest.raises(ParameterError, match=f"the method {method.name} keeps"):
        method().anonymize(Transactions.of([["a"]] * 3), method.promises[0], TREE)


def test_parameters_of_numpy_are_written_as_plain_numbers():
    assert type(METHODS["hghs"](restarts=np.int64(2)).to_dict()["restarts"]) is int
