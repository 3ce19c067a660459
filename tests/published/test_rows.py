"""Equal records are found and sorted as plain Python does it, and the audit does not rely on it."""

from __future__ import annotations

import random

import numpy as np
import pytest

import setveil as sv
from setveil.alignment.merging import equal_records
from setveil.data.generate.quest import quest
from setveil.data.hashing import hash_records
from setveil.data.transactions import Bags, Transactions
from setveil.data.vocabulary import Vocabulary
from setveil.errors import DataError
from setveil.io.releases.folder import fill_release
from setveil.pipeline.verify import verify
from setveil.published import rows
from setveil.published.rows import distinct_records, relabeled


def keys(data):
    pairs = list(zip(data.items.tolist(), data.times.tolist(), strict=True))
    return [tuple(pairs[a:b]) for a, b in zip(data.indptr, data.indptr[1:], strict=False)]


def random_data(seed):
    chance = random.Random(seed)
    kind = chance.choice([Transactions, Bags])
    labels = "abcdefg"[: chance.randrange(1, 8)]
    return kind.of(
        [chance.choice(labels) for _ in range(chance.randrange(6))]
        for _ in range(chance.randrange(12))
    )


def colliding(data, stream):
    return hash_records(data, stream) * np.uint64(stream > 2)


@pytest.mark.parametrize("collide", [False, True])
def test_distinct_records_are_those_of_plain_python(collide, monkeypatch):
    if collide:  # every two records have the same of the first two hashes
        monkeypatch.setattr(rows, "hash_records", colliding)
    for seed in range(300):
        data = random_data(seed)
        given, wanted = keys(data), sorted(set(keys(data)))
        found, member = distinct_records(data)
        assert keys(found) == wanted
        assert [wanted[number] for number in member] == given
        first, kind = equal_records(data)
        assert keys(data.take(first)) == wanted
        assert kind.tolist() == member.tolist()


def test_records_are_renamed_as_pair_by_pair():
    for seed in range(60):
        data, chance = random_data(seed), random.Random(3)
        vocabulary = Vocabulary.of(["x", "y", "z", "q"])
        numbers = np.array([chance.randrange(4) for _ in data.vocabulary], dtype=np.int32)
        found = relabeled(data, numbers, vocabulary)
        wanted = [{vocabulary[numbers[data.vocabulary.number(i)]] for i in r} for r in data]
        assert [set(record) for record in found] == wanted


def test_an_item_without_a_new_name_is_refused():
    data, numbers = Transactions.of([["a"]]), np.array([-1], dtype=np.int32)
    with pytest.raises(DataError):
        relabeled(data, numbers, Vocabulary.of(["x"]))


def forgetful(data):
    """Distinct records, where every thousandth record is taken for the first one."""
    classes, member = distinct_records(data)
    member = member.copy()
    member[::1000] = member[0]
    return classes, member


@pytest.mark.parametrize("records", [20_000, pytest.param(2_000_000, marks=pytest.mark.long)])
def test_a_fault_in_merging_records_is_found_by_the_audit(records, tmp_path, monkeypatch):
    """The makers and readers merge with one function, and the audit with another."""
    data = quest(records, items=200, average_length=6, patterns=50, seed=1)
    monkeypatch.setattr(rows, "distinct_records", forgetful)
    done = sv.anonymize(data, k=10, method="partition", hierarchy="balanced:5")
    assert not done.verdict.holds
    (tmp_path / "release").mkdir()
    fill_release(done.release, tmp_path / "release")
    assert not verify(tmp_path / "release", data).holds
    monkeypatch.undo()
    assert not verify(tmp_path / "release", data).holds
    assert sv.anonymize(data, k=10, method="partition", hierarchy="balanced:5").verdict.holds
