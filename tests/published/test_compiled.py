"""The compiled loops for large releases write and read the same text as plain Python does."""

from __future__ import annotations

import hashlib
import json
import random
from dataclasses import fields, replace

import numpy as np
import pytest

from setveil.data.transactions import Transactions
from setveil.errors import DataError, FileFormatError
from setveil.io import read_release, write
from setveil.io.compiled import clustertext as compiled
from setveil.io.compiled.clustertext import read_text, write_text
from setveil.io.releases import disassociated as files
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
def test_both_write_the_same_text_in_the_same_order(batch):
    for seed in range(batch * 50, batch * 50 + 50):
        release = random_release(seed, LABELS + ODD * (seed % 2))
        lines, order = canonical(release)
        text, found = write_text(release, few=0)
        assert bytes(text) == "".join(f"{line}\n" for line in lines).encode()
        assert found.digest == order.digest
        for name in ("nodes", "chunks", "subrecords"):
            assert np.array_equal(getattr(found, name), getattr(order, name)), (seed, name)


@pytest.mark.parametrize("batch", range(6))
def test_both_read_the_same_arrays(batch):
    for seed in range(batch * 50, batch * 50 + 50):
        text = bytes(write_text(random_release(seed), few=0)[0])
        plain = read_cluster_lines(text.splitlines(keepends=True), "data.jsonl")
        assert same(Disassociated(*plain, PROMISE), read_text(text, short=0)[0]), seed


def test_what_is_escaped_is_left_to_plain_python():
    text = bytes(write_text(random_release(3, ODD), few=0)[0])
    assert b"\\" in text
    assert read_text(text, short=0) is None


def test_an_item_that_is_not_unicode_is_left_to_plain_python():
    release = Disassociated.of_clusters([SimpleCluster(2, [{("\ud800",): 2}])], PROMISE)
    assert write_text(release, few=0) is None


def test_a_text_that_was_changed_is_never_read_as_another_one():
    """Whatever one byte becomes, the text is refused, or it is the text of what was read."""
    chance = random.Random(1)
    for seed in range(60):
        text = bytearray(write_text(random_release(seed, LABELS[:8]), few=0)[0])
        for _ in range(30 * bool(text)):
            at, byte = chance.randrange(len(text)), chance.choice(b'[]{},"\\ 0129a\n\xff')
            kind = chance.randrange(3)
            other = text[:at] + bytes([byte] * (kind < 2)) + text[at + (kind > 0) :]
            found = read_text(bytes(other), short=0)
            if found is None:
                continue
            arrays, order = found
            again, wanted = write_text(Disassociated(*arrays, PROMISE), few=0)
            assert bytes(again) == other
            assert order.digest == wanted.digest
            plain = read_cluster_lines(bytes(other).splitlines(keepends=True), "data.jsonl")
            assert same(Disassociated(*plain, PROMISE), arrays)


@pytest.mark.parametrize("batch", range(4))
def test_a_text_in_another_order_is_left_to_plain_python(batch):
    """Swap two pieces of a text that are both whole lists or clusters, at any depth."""
    accepted = refused = 0
    for seed in range(batch * 50, batch * 50 + 50):
        release = random_release(seed)
        chance, lines = random.Random(seed), [json.loads(line) for line in release.lines()]
        for _ in range(10 * bool(lines)):
            text = "".join(
                json.dumps(each, ensure_ascii=False, separators=(",", ":")) + "\n"
                for each in shuffled(lines, chance)
            ).encode()
            found = read_text(text, short=0)
            wanted = "".join(f"{line}\n" for line in release.lines()).encode()
            assert (found is not None) == (text == wanted)
            accepted, refused = accepted + (text == wanted), refused + (text != wanted)
    assert accepted
    assert refused


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


def test_what_was_read_is_in_its_own_order():
    """Equal clusters may change places, which changes no array."""
    for seed in range(100):
        arrays, order = read_text(bytes(write_text(random_release(seed), few=0)[0]), short=0)
        release = Disassociated(*arrays, PROMISE)
        wanted = canonical(release)[1]
        assert order.digest == wanted.digest
        assert same(release, flat(arranged(release, order)))
        assert same(release, flat(arranged(release, wanted)))


@pytest.fixture
def nothing_is_small(monkeypatch):
    monkeypatch.setattr(compiled, "FEW", 0)
    for module in (compiled, files):
        monkeypatch.setattr(module, "SHORT", 0)


def test_a_release_folder_is_the_same_either_way(tmp_path, monkeypatch, nothing_is_small):
    data = [[f"i{n % 3}", f"j{n % 4}", f"k{n % 7}"] for n in range(200)]
    release = Disassociation().anonymize(data, PROMISE)
    write(release, tmp_path / "compiled")
    read = read_release(tmp_path / "compiled")
    monkeypatch.undo()
    write(replace(release), tmp_path / "plain")
    texts = [(tmp_path / name / "data.jsonl").read_bytes() for name in ("compiled", "plain")]
    assert texts[0] == texts[1]
    assert read == read_release(tmp_path / "plain")


@pytest.mark.parametrize(
    "change", [(b'"i0"', b'"i0" '), (b'"size":', b'"size" :'), (b"]}\n", b"]}")]
)
def test_a_file_with_a_blank_or_without_its_last_line_end_is_refused(
    tmp_path, change, nothing_is_small
):
    release = Disassociation(refine=False).anonymize([["i0", "i1"]] * 20, PROMISE)
    write(release, tmp_path / "release")
    path, about = tmp_path / "release" / "data.jsonl", tmp_path / "release" / "release.json"
    path.write_bytes(path.read_bytes().replace(*change))
    said = json.loads(about.read_text())
    said["files"]["data.jsonl"] = hashlib.sha256(path.read_bytes()).hexdigest()
    about.write_text(json.dumps(said))
    with pytest.raises((DataError, FileFormatError)):
        read_release(tmp_path / "release")


def test_more_words_than_there_is_room_for_at_first(monkeypatch):
    monkeypatch.setattr(compiled, "_WORDS", 2)
    chunks = [{(f"w{n}",): 2} for n in range(100)]
    release = Disassociated.of_clusters([SimpleCluster(9, chunks)], PROMISE)
    text = bytes(write_text(release, few=0)[0])
    assert same(release.arranged, read_text(text, short=0)[0])


def test_trusted_records_are_what_checked_ones_are():
    data = Transactions.of([["a", "b"], [], ["c"]])
    made = Transactions.trusted(data.indptr.copy(), data.items.copy(), data.vocabulary)
    assert made == data
    assert not made.items.flags.writeable
    assert not made.indptr.flags.writeable
