"""HgHs and mHgHs against the oracle, against all solutions of small trees, and on real data."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from setveil.audit import verify
from setveil.data.transactions import Transactions
from setveil.hierarchy.tree import Hierarchy
from setveil.io import read, read_release, write
from setveil.methods.recoding.frame import Frame
from setveil.methods.recoding.onecut import Apriori, HgHs, MHgHs
from setveil.methods.recoding.paper import minimal_threats
from setveil.metrics import measure
from setveil.promises import KmAnonymity
from setveil.published.generalized import Generalized
from tests.methods.recodings import penalty, plain_tree, published, records_of, small
from tests.oracle import recoding as oracle

each = pytest.mark.parametrize("method", [HgHs, MHgHs])


@given(small())
def test_the_minimal_threats_are_those_of_the_oracle(case):
    (data, tree), k, m = case
    frame = Frame.of(data, tree, m)
    if not len(frame.records.leaves):
        return
    threats = [
        frozenset(tree.labels[frame.nodes[node]] for node in row)
        for row in minimal_threats(frame, k, frame.m).tolist()
    ]
    assert len(set(threats)) == len(threats)
    assert set(threats) == oracle.minimal_threats(records_of(data), k, m, plain_tree(tree))


@given(small())
def test_the_papers_search_gives_the_solution_of_the_oracle(case):
    (data, tree), k, m = case
    plain, promise = plain_tree(tree), KmAnonymity(k=k, m=m)
    cut, gone = oracle.hghs(records_of(data), k, m, plain)
    assert published(HgHs(variant="paper").anonymize(data, promise, tree)) == oracle.generalized(
        records_of(data), cut, gone, plain
    )
    cut, gone = oracle.mhghs_rounds(records_of(data), k, m, plain)[-1]
    assert published(MHgHs(variant="paper").anonymize(data, promise, tree)) == oracle.generalized(
        records_of(data), cut, gone, plain
    )


@given(small(max_leaves=6, max_records=8))
def test_the_best_search_is_never_cheaper_than_the_optimum_nor_dearer_than_apriori(case):
    (data, tree), k, m = case
    plain, promise = plain_tree(tree), KmAnonymity(k=k, m=m)
    least = oracle.optimal(records_of(data), k, m, plain, suppress=True)
    releases = [method().anonymize(data, promise, tree) for method in (HgHs, MHgHs, Apriori)]
    alone, rounds, apriori = (penalty(data, release, plain) for release in releases)
    assert all(verify(release, data).holds for release in releases)
    assert least <= rounds <= min(alone, apriori)


@each
@given(case=small(chains=True))
def test_every_release_verifies_whatever_the_search_and_the_order_of_records(method, case):
    (data, tree), k, m = case
    promise = KmAnonymity(k=k, m=m)
    for variant in ("paper", "best"):
        release = method(variant=variant).anonymize(data, promise, tree)
        assert verify(release, data).holds
        assert release == method(variant=variant).anonymize(
            data.take(np.arange(len(data))[::-1]), promise, tree
        )


@pytest.fixture
def shop():
    tree = Hierarchy.from_paths(
        [(drink, "Drinks", "ALL") for drink in ("beer", "wine", "milk")] + [("caviar", "ALL")]
    )
    data = Transactions.of(
        [["beer", "wine"], ["beer", "wine"], ["milk", "caviar"], ["milk"], ["milk"], ["caviar"], []]
    )
    return data, tree


def forged(release, change):
    """The release with its records changed, as somebody else would read it."""
    records = [set(record) for record in release.classes.take(release.alignment)]
    change(records)
    return Generalized.of(
        records, release.hierarchy, release.promise, is_global=True
    ).without_alignment()


def failing(verdict):
    return [check.name for check in verdict.checks if not check.holds]


def test_a_record_whose_items_all_vanish_stays_as_an_empty_one(shop):
    data, tree = shop
    release = HgHs().anonymize(data, KmAnonymity(k=2, m=2), tree)
    assert published(release)[-2:] == [frozenset(), frozenset()]
    assert len(release) == len(data)


def test_an_item_that_is_suppressed_in_one_record_and_shown_in_another_is_found(shop):
    data, tree = shop
    release = HgHs().anonymize(data, KmAnonymity(k=2, m=2), tree)
    assert "containment" in failing(
        verify(forged(release, lambda records: records[5].add("caviar")), data)
    )


def test_an_item_that_is_missing_in_one_record_only_is_found(shop):
    data, tree = shop
    release = HgHs().anonymize(data, KmAnonymity(k=2, m=2), tree)
    assert failing(verify(forged(release, lambda records: records[4].remove("milk")), data)) == [
        "containment"
    ]


def test_nodes_of_two_cuts_are_found(shop):
    _, tree = shop
    records = [["Drinks"], ["Drinks"], ["milk"], ["milk"]]
    mixed = Generalized.of(records, tree, KmAnonymity(k=2, m=2), is_global=True)
    assert failing(verify(mixed)) == ["structure"]


@each
def test_a_release_verifies_when_it_is_read_back(shop, method, tmp_path):
    data, _ = shop
    release = method().anonymize(
        data, KmAnonymity(k=2, m=2), Hierarchy.balanced(data.vocabulary, 2)
    )
    write(release, tmp_path / "release")
    again = read_release(tmp_path / "release")
    assert again.is_global
    assert verify(again, data).holds
    assert measure(again, data, ["ncp"]) == measure(release, data, ["ncp"])


@pytest.mark.parametrize("m", [2, 3, 7])
def test_suppression_loses_less_than_apriori_on_real_data(shared_data, m):
    data, tree = (
        read(shared_data / "groceries.csv.gz"),
        Hierarchy.read(shared_data / "groceries.hierarchy.csv"),
    )
    promise = KmAnonymity(k=10, m=m)
    releases = [method().anonymize(data, promise, tree) for method in (MHgHs, Apriori)]
    assert all(verify(release, data).holds for release in releases)
    rounds, apriori = (measure(release, data, ["ncp"])["ncp"] for release in releases)
    assert rounds < 0.9 * apriori


def test_all_items_of_a_person_may_be_known(shop, tmp_path):
    data, tree = shop
    promise = KmAnonymity(k=2, m="all")
    release = MHgHs().anonymize(data, promise, tree)
    assert verify(release, data, promise=KmAnonymity(k=2, m=int(data.lengths.max()))).holds
    assert promise.to_dict()["m"] == "all"
    assert "any number of items" in promise.describe()
    assert "more than" not in promise.limits()
    write(release, tmp_path / "release")
    assert read_release(tmp_path / "release").promise == promise
