"""A release in its canonical order: equal releases give equal worlds, whatever order they are
held in, before and after writing."""

from __future__ import annotations

import numpy as np
import pytest

from setveil.audit import verify
from setveil.data.generate import quest
from setveil.data.transactions import Transactions
from setveil.data.vocabulary import Vocabulary
from setveil.io import read_release, write
from setveil.methods import Disassociation
from setveil.metrics import measure
from setveil.metrics.state import draw_worlds
from setveil.promises import KmAnonymity, LDiversity
from setveil.published.disassociated.clusters import JointCluster, SimpleCluster
from setveil.published.disassociated.form import Disassociated
from setveil.published.disassociated.reconstruct import reconstruct

DATA = quest(600, items=40, average_length=5, patterns=30, seed=5)
PROMISE = KmAnonymity(k=4, m=2)


@pytest.fixture(scope="module", params=["plain", "with sensitive items", "not refined"])
def release(request):
    promise = (
        PROMISE
        if request.param != "with sensitive items"
        else KmAnonymity(k=4, m=2, diversity=LDiversity(l=5, sensitive=["3", "7"]))
    )
    return Disassociation(refine=request.param != "not refined").anonymize(DATA, promise)


@pytest.mark.parametrize("format", ["jsonl", "parquet"])
def test_a_release_gives_the_same_worlds_and_losses_after_writing(release, tmp_path, format):
    write(release, tmp_path / "release", format=format)
    again = read_release(tmp_path / "release")
    assert again == release
    assert reconstruct(again, seed=3) == reconstruct(release, seed=3)
    assert draw_worlds(again, seed=3, reconstructions=3) == draw_worlds(
        release, seed=3, reconstructions=3
    )
    assert measure(again, DATA) == measure(release, DATA)


def test_an_arranged_release_is_the_same_release(release):
    arranged = release.arranged
    assert arranged == release
    assert list(arranged.clusters()) == list(arranged.arranged.clusters())
    assert verify(arranged, DATA).holds
    assert np.bincount(arranged.alignment).max() == np.bincount(release.alignment).max()
    for item in DATA.vocabulary:
        found, expected = arranged.support([item]), release.support([item])
        assert (found.lower, found.upper, found.guess) == (
            expected.lower,
            expected.upper,
            pytest.approx(expected.guess),
        )


def test_the_order_of_clusters_chunks_and_items_does_not_matter():
    one = SimpleCluster(4, [{("a", "b"): 3, ("a",): 1}, {("x",): 2}], ["t", "u"])
    two = SimpleCluster(3, [{("c",): 2}], ["t"])
    turned = SimpleCluster(4, [{("x",): 2}, {("a",): 1, ("b", "a"): 3}], ["u", "t"])
    forwards = Disassociated.of_clusters([JointCluster([{("s",): 3}], [one, two]), two], PROMISE)
    backwards = Disassociated.of_clusters(
        [two, JointCluster([{("s",): 3}], [two, turned])], PROMISE
    )
    for seed in range(5):
        assert reconstruct(forwards, seed) == reconstruct(backwards, seed)


def test_items_that_are_not_in_a_release_are_dropped():
    rows = Transactions(DATA.indptr, DATA.items, Vocabulary([*DATA.vocabulary, "nobody"]))
    release = Disassociation().anonymize(rows, PROMISE)
    assert reconstruct(release, 1) == reconstruct(Disassociation().anonymize(DATA, PROMISE), 1)


def test_a_release_of_nothing_is_arranged():
    empty = Disassociated.of_clusters([], PROMISE)
    assert empty.arranged == empty
    assert len(reconstruct(empty, 1)) == 0
