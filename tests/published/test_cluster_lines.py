"""The lines of clusters are in one order and one spelling, and no other is read."""

from __future__ import annotations

import hashlib
import json
import random
from contextlib import nullcontext
from dataclasses import fields

import numpy as np
import pytest

from setveil.data.transactions import Transactions
from setveil.errors import DataError, FileFormatError, ReleaseError
from setveil.io import read_release, write
from setveil.io.releases.disassociated import read_cluster_lines
from setveil.methods import Disassociation
from setveil.promises import KmAnonymity
from setveil.published.disassociated.canonical import arranged, canonical
from setveil.published.disassociated.clusters import JointCluster, SimpleCluster
from setveil.published.disassociated.form import Disassociated

PROMISE = KmAnonymity(k=2, m=2)
LABELS = ["a", "b", "ab", "B", "1", "10", "2", "a b", "ä", "日本", "\U0001f600", "!", "", "a!"]
ODD = ['"', "\\", "tab\t", "line\nend", "\x7f", "\x01"]


def clusters(chance: random.Random, labels: list[str], depth: int = 3):
    """A cluster with random chunks; it need not make sense, only be of the form."""

    def chunk() -> dict[tuple[str, ...], int]:
        rows = [chance.sample(labels, chance.randint(1, 3)) for _ in range(chance.randint(1, 4))]
        return {tuple(sorted(row)): chance.choice([1, 2, 9, 10, 12, 101]) for row in rows}

    chunks = [chunk() for _ in range(chance.randint(0, 3))]
    if depth and chance.random() < 0.5:
        parts = [clusters(chance, labels, depth - 1) for _ in range(chance.randint(1, 4))]
        parts += [chance.choice(parts)] * chance.randint(0, 2)  # some are equal
        return JointCluster(chunks, parts)
    terms = chance.sample(labels, chance.randint(0, 3))
    return SimpleCluster(chance.choice([1, 5, 10, 99, 100]), chunks, terms)


def random_release(seed: int, labels: list[str] = LABELS) -> Disassociated:
    chance = random.Random(seed)
    made = [clusters(chance, labels) for _ in range(chance.randint(0, 6))]
    return Disassociated.of_clusters(made, PROMISE)


def same(one: Disassociated, arrays: tuple[object, ...]) -> bool:
    other = Disassociated(*arrays, PROMISE)  # type: ignore[arg-type]
    pairs = zip(one._arrays, other._arrays, strict=True)
    return one.items == other.items and all(np.array_equal(*pair) for pair in pairs)


def flat(release: Disassociated) -> tuple[object, ...]:
    """The arrays that a release is made of."""
    return tuple(getattr(release, field.name) for field in fields(release))[:7]


@pytest.mark.parametrize("batch", range(6))
def test_what_is_written_is_read_again(batch):
    for seed in range(batch * 50, batch * 50 + 50):
        release = random_release(seed, LABELS + ODD * (seed % 2))
        lines, order = canonical(release)
        plain = read_cluster_lines([f"{line}\n".encode() for line in lines], "data.jsonl")
        again = Disassociated(*plain, PROMISE)
        assert same(again, flat(arranged(release, order))), seed
        assert canonical(again)[0] == lines, seed


@pytest.mark.parametrize("batch", range(4))
def test_a_text_in_another_order_is_refused(batch, tmp_path):
    """Swap two pieces of a text that are both whole lists or clusters, at any depth."""
    accepted = refused = 0
    for seed in range(batch * 8, batch * 8 + 8):
        release = random_release(seed)
        if not len(release):
            continue
        write(release, tmp_path / str(seed))
        chance, lines = random.Random(seed), [json.loads(line) for line in release.lines()]
        for _ in range(5):
            text = "".join(
                json.dumps(each, ensure_ascii=False, separators=(",", ":")) + "\n"
                for each in shuffled(lines, chance)
            )
            is_same = text == "".join(f"{line}\n" for line in release.lines())
            put(tmp_path / str(seed), text.encode())
            with nullcontext() if is_same else pytest.raises(ReleaseError):
                read_release(tmp_path / str(seed))
            accepted, refused = accepted + is_same, refused + (not is_same)
    assert accepted
    assert refused


def put(folder, text):
    """Replace the clusters of a release, and the hash of their file."""
    about = folder / "release.json"
    (folder / "data.jsonl").write_bytes(text)
    said = json.loads(about.read_text())
    said["files"]["data.jsonl"] = hashlib.sha256(text).hexdigest()
    about.write_text(json.dumps(said))


def shuffled(value, chance):
    """The same JSON value with the members of some lists in another order."""
    if isinstance(value, dict):
        return {key: shuffled(each, chance) for key, each in value.items()}
    if not isinstance(value, list):
        return value
    members = [shuffled(each, chance) for each in value]
    if chance.random() < 0.1 and not any(isinstance(each, int) for each in members):
        chance.shuffle(members)
    return members


@pytest.mark.parametrize(
    "change",
    [
        (b'"i0"', b'"i0" '),
        (b'"size":', b'"size" :'),
        (b"]}\n", b"]}"),
        (b'{"size":', b'{"size":1,"size":'),
    ],
)
def test_a_file_that_says_the_same_in_another_text_is_refused(tmp_path, change):
    release = Disassociation(refine=False).anonymize([["i0", "i1"]] * 20, PROMISE)
    write(release, tmp_path / "release")
    path = tmp_path / "release" / "data.jsonl"
    put(tmp_path / "release", path.read_bytes().replace(*change))
    with pytest.raises((DataError, FileFormatError)):
        read_release(tmp_path / "release")


def test_trusted_records_are_what_checked_ones_are():
    data = Transactions.of([["a", "b"], [], ["c"]])
    made = Transactions.trusted(data.indptr.copy(), data.items.copy(), data.vocabulary)
    assert made == data
    assert not made.items.flags.writeable
    assert not made.indptr.flags.writeable
