"""The worked examples of [He2009]: Tables 1 and 2."""

from __future__ import annotations

from fractions import Fraction

import pytest

from setveil.data.transactions import Transactions
from setveil.hierarchy.tree import Hierarchy
from setveil.methods.partition import Partition
from setveil.methods.recoding.onecut import Apriori
from setveil.promises import KAnonymity, KmAnonymity
from tests.oracle import partition as oracle

SHOP = {
    "Beer": "Alcohol",
    "Wine": "Alcohol",
    "Diapers": "Health Care",
    "Pregnancy Test": "Health Care",
    "Alcohol": "ALL",
    "Health Care": "ALL",
}
LETTERS = {"a1": "A", "a2": "A", "b1": "B", "b2": "B", "A": "ALL", "B": "ALL"}

TABLE_1A = [
    {"Beer", "Diapers"},
    {"Wine", "Diapers", "Pregnancy Test"},
    {"Beer", "Wine", "Pregnancy Test"},
    {"Beer", "Wine", "Diapers", "Pregnancy Test"},
]
TABLE_1B = [{"Alcohol", "Health Care"}] * 2 + [{"Beer", "Wine", "Health Care"}] * 2

TABLE_2 = [
    {"a1"},
    {"a1", "a2"},
    {"b1", "b2"},
    {"b1", "b2"},
    {"a1", "a2", "b2"},
    {"a1", "a2", "b2"},
    {"a1", "a2", "b1", "b2"},
]
TABLE_2_GLOBAL = [
    {"a1"},
    {"a1", "a2"},
    {"B"},
    {"B"},
    {"a1", "a2", "B"},
    {"a1", "a2", "B"},
    {"a1", "a2", "B"},
]
TABLE_2_LOCAL = [{"A"}] * 2 + [{"b1", "b2"}] * 2 + [{"a1", "a2", "B"}] * 3


@pytest.mark.parametrize(
    ("records", "parents", "expected", "loss"),
    [
        pytest.param(TABLE_1A, SHOP, TABLE_1B, Fraction(1, 3), id="table 1"),
        pytest.param(
            TABLE_2, LETTERS, TABLE_2_LOCAL, Fraction(7, 34), id="table 2, local recoding"
        ),
    ],
)
class TestTables:
    def test_the_oracle_gives_the_table(self, records, parents, expected, loss):
        tree = oracle.Tree(parents)
        published = oracle.partition(records, 2, tree)
        assert published == [frozenset(record) for record in expected]
        assert oracle.ncp(records, published, tree) == loss

    def test_partition_gives_the_table(self, records, parents, expected, loss):
        tree = Hierarchy.from_edges(parents.items())
        release = Partition().anonymize(Transactions.of(records), KAnonymity(k=2), tree)
        published = list(release.classes.take(release.alignment))
        assert [set(record) for record in published] == expected


@pytest.mark.parametrize("variant", ["paper", "best"])
def test_apriori_gives_the_global_recoding_for_2_2_anonymity_of_table_2(variant):
    release = Apriori(variant=variant).anonymize(
        Transactions.of(TABLE_2), KmAnonymity(k=2, m=2), Hierarchy.from_edges(LETTERS.items())
    )
    assert [set(record) for record in release.classes.take(release.alignment)] == TABLE_2_GLOBAL
