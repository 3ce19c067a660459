"""The running example of [Liu2010a], on a database that fits every figure of its text."""

from __future__ import annotations

import numpy as np
import pytest

from setveil.audit import verify
from setveil.data.transactions import Transactions
from setveil.hierarchy.tree import Hierarchy
from setveil.methods.recoding.frame import Frame
from setveil.methods.recoding.onecut import Apriori, HgHs, MHgHs
from setveil.methods.recoding.paper import hghs_steps, minimal_threats
from setveil.promises import KmAnonymity
from tests.oracle import recoding as oracle
from tests.oracle.partition import Tree

FAMILIES = {
    "T": "P Q e i",
    "P": "H K",
    "H": "a b",
    "K": "c d",
    "Q": "J M",
    "J": "f g",
    "M": "x y z",
}
PARENTS = {child: parent for parent, children in FAMILIES.items() for child in children.split()}
RECORDS = [set(record) for record in ("abcdz", "e", "ei", "ad", "bfg", "dfgy", "cdfgx", "i")]
PUBLISHED = ["MP", "e", "e", "P", "Pfg", "MPfg", "MPfg", ""]
K, M = 2, 5

STEPS = [("T", "", 23), ("PQei", "i", 8.6), ("JMPei", "i", 6.2), ("MPefgi", "i", 5.6)]


@pytest.fixture
def data():
    return Transactions.of(RECORDS)


@pytest.fixture
def tree():
    return Hierarchy.from_edges(PARENTS.items())


def word(nodes):
    return "".join(sorted(nodes))


def shown(release):
    return [word(record) for record in release.classes.take(release.alignment)]


class TestTheOracle:
    def test_there_are_25_minimal_threats(self):
        threats = oracle.minimal_threats(RECORDS, K, M, Tree(PARENTS))
        assert len(threats) == 25
        cut = set("HKQei")
        assert {word(threat) for threat in threats if threat <= cut} == {"HKQ", "ei"}

    def test_it_visits_the_cuts_of_the_figure(self):
        steps = list(oracle.hghs_steps(RECORDS, K, M, Tree(PARENTS)))
        assert [(word(cut), word(gone), cost) for (cut, gone, cost), *_ in steps] == [
            (cut, gone, pytest.approx(cost)) for cut, gone, cost in STEPS
        ]
        tried = {word(cut): (word(gone), float(cost)) for step in steps for cut, gone, cost in step}
        assert tried["HKQei"] == ("Hi", pytest.approx(10.2))

    def test_the_rounds_of_mhghs(self):
        rounds = oracle.mhghs_rounds(RECORDS, K, M, Tree(PARENTS))
        assert [(word(cut), word(gone)) for cut, gone in rounds] == [("Mabcdefgi", "")] + [
            ("MPefgi", "i")
        ] * 4

    def test_apriori_generalizes_all_items_to_the_top(self):
        assert oracle.apriori(RECORDS, K, M, Tree(PARENTS)) == {"T"}


class TestTheMethods:
    def test_there_are_25_minimal_threats(self, data, tree):
        frame = Frame.of(data, tree, M)
        threats = {
            frozenset(tree.labels[frame.nodes[node]] for node in row)
            for row in minimal_threats(frame, K, M).tolist()
        }
        assert threats == oracle.minimal_threats(RECORDS, K, M, Tree(PARENTS))

    def test_hghs_visits_the_cuts_of_the_figure_at_their_costs(self, data, tree):
        frame = Frame.of(data, tree, M)
        steps = [
            (
                *(
                    word(tree.labels[frame.nodes[node]] for node in nodes)
                    for nodes in (step.cut, step.suppressed)
                ),
                step.cost / 10,
            )
            for step in hghs_steps(frame, K, M)
        ]
        assert steps == [(cut, gone, pytest.approx(cost)) for cut, gone, cost in STEPS]

    def test_the_rounds_of_mhghs(self, data, tree):
        frame = Frame.of(data, tree, M)
        floor, rounds = np.arange(0), []
        for size in range(1, M + 1):
            *_, last = hghs_steps(frame, K, size, floor)
            floor = last.cut
            rounds.append(
                tuple(
                    word(tree.labels[frame.nodes[node]] for node in nodes)
                    for nodes in (last.cut, last.suppressed)
                )
            )
        assert rounds == [("Mabcdefgi", "")] + [("MPefgi", "i")] * 4

    @pytest.mark.parametrize("variant", ["paper", "best"])
    @pytest.mark.parametrize("method", [HgHs, MHgHs])
    def test_the_last_column_of_the_figure(self, data, tree, method, variant):
        release = method(variant=variant).anonymize(data, KmAnonymity(k=K, m=M), tree)
        assert shown(release) == PUBLISHED
        assert release.suppressed_items(data) == ("i",)
        assert verify(release, data).holds

    @pytest.mark.parametrize("variant", ["paper", "best"])
    def test_apriori_generalizes_all_items_to_the_top(self, data, tree, variant):
        assert shown(Apriori(variant=variant).anonymize(data, KmAnonymity(k=K, m=M), tree)) == [
            "T"
        ] * len(RECORDS)
