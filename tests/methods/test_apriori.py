"""Apriori against the oracle, against all cuts of small trees, and on real data."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from setveil.audit import verify
from setveil.data.transactions import Bags, Transactions
from setveil.errors import ParameterError
from setveil.hierarchy.tree import Hierarchy
from setveil.io import read
from setveil.methods.recoding.onecut import Apriori
from setveil.metrics import measure
from setveil.promises import KmAnonymity
from setveil.promises.kanonymity import LDiversity
from tests.methods.recodings import penalty, plain_tree, published, records_of, small
from tests.oracle import recoding as oracle


@given(small())
def test_the_papers_search_gives_the_cut_of_the_oracle(case):
    (data, tree), k, m = case
    plain = plain_tree(tree)
    cut = oracle.apriori(records_of(data), k, m, plain)
    release = Apriori(variant="paper").anonymize(data, KmAnonymity(k=k, m=m), tree)
    assert published(release) == oracle.generalized(records_of(data), cut or set(), set(), plain)


@given(small(max_leaves=6))
def test_it_is_never_cheaper_than_the_best_cut_and_never_dearer_than_the_papers(case):
    (data, tree), k, m = case
    plain, promise = plain_tree(tree), KmAnonymity(k=k, m=m)
    releases = [
        Apriori(variant=variant).anonymize(data, promise, tree) for variant in ("best", "paper")
    ]
    best, paper = (penalty(data, release, plain) for release in releases)
    least = oracle.optimal(records_of(data), k, m, plain, suppress=False)
    assert all(verify(release, data).holds for release in releases)
    assert best <= paper
    assert least is None or least <= best


@given(small(chains=True))
def test_chains_of_single_children_are_no_obstacle(case):
    (data, tree), k, m = case
    release = Apriori().anonymize(data, KmAnonymity(k=k, m=m), tree)
    assert verify(release, data).holds


@given(small())
def test_the_order_of_the_records_does_not_matter(case):
    (data, tree), k, m = case
    promise = KmAnonymity(k=k, m=m)
    turned = data.take(np.arange(len(data))[::-1])
    assert Apriori().anonymize(data, promise, tree) == Apriori().anonymize(turned, promise, tree)


def test_a_root_in_too_few_records_is_suppressed():
    data = Transactions.of([["a"], [], [], []])
    release = Apriori().anonymize(
        data, KmAnonymity(k=2, m=2), Hierarchy.balanced(data.vocabulary, 2)
    )
    assert published(release) == [frozenset()] * 4
    assert verify(release, data).holds


def test_of_bags_the_counts_are_not_published():
    data = Bags.of([["a", "a"], ["a"], ["b"], ["b"]])
    release = Apriori().anonymize(
        data, KmAnonymity(k=2, m=2), Hierarchy.balanced(data.vocabulary, 2)
    )
    assert not isinstance(release.classes, Bags)
    assert measure(release, data, ["ncp"])["ncp"] == 0


def test_diversity_is_refused():
    data = Transactions.of([["a"], ["a"]])
    promise = KmAnonymity(k=2, m=2, diversity=LDiversity(l=2, sensitive=("a",)))
    with pytest.raises(
        ParameterError, match="does not keep l-diversity; disassociation and groups do"
    ):
        Apriori().anonymize(data, promise, Hierarchy.balanced(data.vocabulary, 2))


@pytest.mark.parametrize(
    ("parameters", "named"),
    [
        ({"variant": "fast"}, "variant"),
        ({"restarts": -1}, "restarts"),
        ({"restarts": 1.5}, "restarts"),
    ],
)
def test_wrong_parameters_are_named(parameters, named):
    with pytest.raises(ParameterError, match=named):
        Apriori(**parameters)


REAL = [
    ("bms-webview-1", 2, 0.0349),
    ("bms-webview-2", 2, 0.0225),
    ("bms-webview-1", 3, 0.1082),
    ("bms-webview-2", 3, 0.0386),
]


@pytest.mark.parametrize(("name", "m", "most"), REAL)
def test_real_data_loses_no_more_than_the_known_figures(shared_data, name, m, most):
    data = read(shared_data / f"{name}.dat.gz")
    release = Apriori().anonymize(
        data, KmAnonymity(k=10, m=m), Hierarchy.balanced(data.vocabulary, 5)
    )
    assert verify(release, data).holds
    assert measure(release, data, ["ncp"])["ncp"] <= most
    assert verify(release.without_alignment(), data).holds


@pytest.mark.parametrize(("m", "most"), [(2, 0.07605), (3, 0.13745)])
def test_a_natural_tree_loses_no_more_than_the_known_figures(shared_data, m, most):
    data, tree = (
        read(shared_data / "groceries.csv.gz"),
        Hierarchy.read(shared_data / "groceries.hierarchy.csv"),
    )
    release = Apriori().anonymize(data, KmAnonymity(k=10, m=m), tree)
    assert verify(release, data).holds
    assert measure(release, data, ["ncp"])["ncp"] <= most
