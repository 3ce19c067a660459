"""Records in parts: how they are divided, and that releases made in parts are those made at once."""

from __future__ import annotations

import os
import signal
import stat
import tempfile
from collections import Counter
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import setveil as sv
from setveil.data.transactions import Transactions
from setveil.data.vocabulary import Vocabulary
from setveil.disk import bytes_of
from setveil.engines import blocks as onblocks
from setveil.engines.base import Shares, Where
from setveil.engines.blocks import Shelf, read_part
from setveil.engines.local import Local
from setveil.engines.parts import Block, InMemory, block_of
from setveil.errors import EngineError, ParameterError
from setveil.methods.disassociation.parts import Limits, divide
from setveil.methods.dividing import Whole
from setveil.methods.partition.parts import divide as divide_partition
from setveil.metrics.usefulness import usefulness
from tests.oracle.parts import divided

ITEMS = 9
RECORDS = st.lists(st.frozensets(st.integers(0, ITEMS - 1), max_size=4), max_size=60)
SKEWED = st.lists(
    st.sampled_from(
        [frozenset({0}), frozenset({0, 1}), frozenset({1}), frozenset(), frozenset({2})]
    ),
    max_size=80,
)


def block(records) -> Block:
    lengths = np.array([len(record) for record in records], dtype=np.int64)
    items = [item for record in records for item in sorted(record)]
    return block_of(lengths, np.array(items, dtype=np.int32))


def words(number: int, size: int, *, shortest: int = 0) -> list[list[str]]:
    """Random records, a few of them equal, some empty."""
    random = np.random.default_rng(number)
    top = int(random.integers(3, 40))
    lengths = random.integers(shortest, 7, size)
    return [[f"i{min(int(x), top)}" for x in random.zipf(1.5, n)] for n in lengths]


@given(records=RECORDS | SKEWED, least=st.integers(1, 4), factor=st.integers(2, 4))
def test_records_are_divided_as_the_oracle_does(records, least, factor):
    limits = Limits(least, least * factor)
    parts = InMemory(block(records))
    order = divide(parts, ITEMS, limits)
    found = [[frozenset(block(records).record(row)) for row in parts.rows(part)] for part in order]
    wanted = divided(records, limits.least, limits.most)
    assert list(map(Counter, found)) == list(map(Counter, wanted))


@settings(max_examples=50, deadline=None)
@given(records=RECORDS | SKEWED, least=st.integers(1, 4))
def test_parts_on_disk_are_those_in_memory(records, least):
    limits, here = Limits(least, 3 * least), InMemory(block(records))
    with tempfile.TemporaryDirectory() as folder:
        shelf = Shelf(Path(folder), Local(1))
        for record in records:
            shelf.append(0, block([record]))
        shelf.sizes.setdefault(0, 0)
        order, again = divide(shelf, ITEMS, limits), divide(here, ITEMS, limits)
        assert order == again
        for part in order:
            on_disk = read_part(Path(folder), part)
            one = Counter(on_disk.record(row) for row in range(len(on_disk)))
            assert one == Counter(block(records).record(row) for row in here.rows(part))


@pytest.mark.parametrize("number", range(6))
@pytest.mark.parametrize("most", [20, 60, 1000])
def test_disassociation_on_blocks_gives_the_release_of_the_local_engine(number, most, tmp_path):
    data, promise = Transactions.of(words(number, 150)), sv.KmAnonymity(k=5, m=2)
    wanted = sv.Disassociation(max_part=most).anonymize(data, promise)
    done = sv.anonymize(
        words(number, 150), k=5, m=2, engine="blocks", max_part=most, output=tmp_path / "release"
    )
    assert done.verdict.holds
    found = sv.read_release(tmp_path / "release")
    assert found == wanted
    assert dict(found.method) == dict(wanted.method)
    assert sv.verify(found, data).holds
    same = sv.measure(wanted, data, list(done.losses))
    assert done.losses == pytest.approx(same)
    assert done.usefulness == usefulness(wanted, data)


def test_items_that_are_rare_only_in_a_part_are_published_and_verified(tmp_path):
    (tmp_path / "data.dat").write_text("\n".join(map(" ".join, words(3, 150, shortest=1))) + "\n")
    data, place = str(tmp_path / "data.dat"), tmp_path / "release"
    how = {"k": 3, "m": 2, "max_part": 25, "min_people": 12, "method": "disassociation"}
    wanted = sv.anonymize(data, **how).release
    done = sv.anonymize(data, engine="blocks", output=place, **how)
    assert done.verdict.holds, done.verdict.text
    assert any("were left out" in note for note in done.notes)
    assert sv.read_release(place) == wanted
    assert sv.verify(str(place), data).holds
    assert sv.verify(str(place), data, engine="blocks").holds


@pytest.mark.parametrize("number", range(8))
@pytest.mark.parametrize("most", [1, 40])
def test_partition_on_blocks_gives_the_release_of_the_local_engine(
    number, most, tmp_path, monkeypatch
):
    monkeypatch.setattr(onblocks.BlocksSource, "most", lambda *_: most)
    records = words(number, 120, shortest=number % 2)
    data, k = Transactions.of(records), 2 + number % 5
    tree = sv.Hierarchy.balanced(data.vocabulary, fanout=2 + number % 4)
    wanted = sv.Partition().anonymize(data, sv.KAnonymity(k=k), tree)
    done = sv.anonymize(
        records,
        k=k,
        method="partition",
        hierarchy=tree,
        public_items=True,
        engine="blocks",
        output=tmp_path / "release",
    )
    assert done.verdict.holds
    assert sv.read_release(tmp_path / "release") == wanted
    same = sv.measure(wanted, data, ["ncp", "lm", "distortion"])
    assert {name: done.losses[name] for name in same} == pytest.approx(same)
    assert done.usefulness == usefulness(wanted, data)


class TinyBlocks(InMemory):
    """Parts whose first block has two records, and every other block one."""

    def fold(self, works, merge=None):
        for part, found in super().fold(dict.fromkeys(works, tiny)):
            yield from ((part, works[part](each)) for each in found)

    def scatter(self, works):
        super().scatter({part: partial(assigned, work) for part, work in works.items()})


def tiny(records):
    rows = np.arange(len(records))
    return [records.take(some) for some in (rows[:2], *rows[2:, None])]


def assigned(work, records):
    return np.concatenate([work(each) for each in tiny(records)])


@pytest.mark.parametrize("copies", range(7, 40))
def test_no_share_of_partition_has_fewer_than_k_records_however_small_its_blocks_are(copies):
    k, records = 3, [{0, 1}] * copies + [{2}] * 3
    tree = sv.Hierarchy.balanced(Vocabulary.of("abc"), fanout=2)
    parts = TinyBlocks(block(records))
    shares = divide_partition(parts, k, Whole(sv.KAnonymity(k=k), tree, 3, 2 * k))
    rows = [np.concatenate([parts.rows(part) for part in share.parts]) for share in shares]
    assert sorted(np.concatenate(rows)) == list(range(len(records)))
    for share in shares:
        for part in share.parts:
            assert len(parts.rows(part)) >= k


@pytest.mark.apart
def test_workers_give_what_this_process_gives(tmp_path, monkeypatch):
    records = words(1, 300)
    how = {"k": 5, "m": 2, "engine": "blocks", "max_part": 60}
    sv.anonymize(records, output=tmp_path / "here", **how)
    monkeypatch.setattr(onblocks, "FEW", 0)
    sv.anonymize(records, output=tmp_path / "there", threads=2, **how)
    names = {path.name for path in (tmp_path / "here").iterdir()}
    assert "data-00001.jsonl" in names
    for name in names:
        one, other = tmp_path / "here" / name, tmp_path / "there" / name
        assert one.read_bytes() == other.read_bytes()
        assert stat.S_IMODE(one.stat().st_mode) == stat.S_IMODE(other.stat().st_mode)


def deadly(number, blocks, folder):
    """Work that kills its process."""
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.apart
def test_a_worker_that_is_killed_is_one_clear_line(tmp_path, monkeypatch):
    monkeypatch.setattr(onblocks, "FEW", -1)
    source = onblocks.BlocksSource(Where("blocks", threads=1), tmp_path)
    with pytest.raises(EngineError, match=r"killed .SIGKILL.*memory"):
        list(source.publish(Shares(deadly, [(0,), (1,)], 1, tmp_path)))


@pytest.mark.parametrize("stage", ["reading", "dividing", "anonymizing"])
def test_an_interruption_leaves_nothing(stage, tmp_path, monkeypatch):
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    seen: set[int] = set()

    def interrupt(done, total, name):
        for path in (tmp_path / "temporary").rglob("*"):
            seen.add(stat.S_IMODE(path.stat().st_mode) & 0o077 if path.is_dir() else 0)
        if name.startswith(stage):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sv.anonymize(
            words(1, 200),
            k=5,
            m=2,
            engine="blocks",
            max_part=50,
            output=tmp_path / "release",
            progress=interrupt,
        )
    assert seen <= {0}
    assert [path.name for path in tmp_path.iterdir()] == ["temporary"]
    assert not list((tmp_path / "temporary").iterdir())


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"method": "ssc"}, "ssc runs on local"),
        ({"arrangement": "safe"}, "engine='local'"),
        ({"alignment": "a.csv"}, "engine='local'"),
        ({"memory": "lots"}, "a size such as"),
        ({"bags": True}, "sets"),
        ({"format": "parquet"}, "jsonl"),
        ({"max_part": 6}, "at least 10"),
        ({"output": None}, "name its folder"),
    ],
)
def test_what_blocks_cannot_do_is_refused_before_anything_is_read(given, said, tmp_path):
    how = {"k": 5, "m": 2, "engine": "blocks", "output": tmp_path / "release"} | given
    if given.get("method") == "ssc":
        del how["m"]
    with pytest.raises(ParameterError, match=said):
        sv.anonymize(tmp_path / "there is no such file.csv", **how)


def test_parts_that_do_not_fit_in_memory_are_refused_with_numbers(tmp_path):
    with pytest.raises(EngineError, match=r"GB, more than the memory of 300MB; .*max_part"):
        sv.anonymize(
            words(1, 100), k=5, m=2, engine="blocks", memory="300MB", output=tmp_path / "release"
        )
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("method", ["apriori", "suppression"])
def test_other_methods_read_within_bounds_and_give_the_same(method, tmp_path):
    records = words(3, 80, shortest=1)
    how: dict[str, object] = {"k": 3, "method": method, "seed": 1}
    how |= {"m": 2, "hierarchy": "balanced:3"} if method == "apriori" else {"p": 2, "h": 0.9}
    here = sv.anonymize(records, output=tmp_path / "here", **how)
    there = sv.anonymize(records, output=tmp_path / "there", engine="blocks", **how)
    assert here.release == there.release
    with pytest.raises(EngineError, match=r"at once, about .* GB, and may take 1KB"):
        sv.anonymize(records, output=tmp_path / "no", engine="blocks", memory="1KB", **how)


def test_sizes_are_understood():
    assert [bytes_of(size) for size in ("3GB", "1.5 MiB", "10kb", "7B")] == [
        3_000_000_000,
        1_572_864,
        10_000,
        7,
    ]
    assert Where("blocks", "2GB").room == 2_000_000_000
