"""The suppressed form: what it holds, and what it does not reveal."""

from __future__ import annotations

from setveil.data.transactions import Transactions
from setveil.data.vocabulary import Vocabulary
from setveil.io import read_release, write
from setveil.promises import Coherence
from setveil.published.suppressed import Suppressed

PROMISE = Coherence(h=0.9, k=2, p=1, private=["flu"])
RECORDS = [["beer", "flu"], [], ["wine", "beer"], ["beer", "flu"], []]


def test_equal_records_are_one_class_and_empty_ones_are_kept():
    release = Suppressed.of(RECORDS, PROMISE)
    assert dict(zip(release.classes, release.sizes.tolist(), strict=True)) == {
        ("beer", "flu"): 2,
        (): 2,
        ("beer", "wine"): 1,
    }
    assert len(release) == 5
    assert [set(record) for record in release.classes.take(release.alignment)] == [
        set(record) for record in RECORDS
    ]


def test_items_that_do_not_occur_are_not_in_the_vocabulary():
    rows = Transactions.from_pairs(
        Transactions.of(RECORDS).rows,
        Transactions.of(RECORDS).items,
        Vocabulary(["beer", "flu", "wine", "gone"]),
    )
    release = Suppressed.of_rows(rows, PROMISE, {})
    assert list(release.items) == ["beer", "flu", "wine"]
    assert release.suppressed_items(Transactions.of([["gone", "beer"]])) == ("gone",)


def test_the_order_of_the_originals_does_not_matter():
    assert Suppressed.of(RECORDS, PROMISE) == Suppressed.of(RECORDS[::-1], PROMISE)
    assert list(Suppressed.of(RECORDS, PROMISE).classes) == list(
        Suppressed.of(RECORDS[::-1], PROMISE).classes
    )
    assert Suppressed.of(RECORDS, PROMISE) != Suppressed.of(RECORDS[1:], PROMISE)


def test_all_records_come_in_an_order_that_a_seed_fixes():
    release = Suppressed.of(RECORDS * 20, PROMISE)
    assert list(release.records(seed=3)) == list(release.records(seed=3))
    assert list(release.records(seed=3)) != list(release.records(seed=4))
    assert sorted(release.records()) == sorted(tuple(sorted(record)) for record in RECORDS * 20)


def test_what_was_written_is_read_again(tmp_path):
    release = Suppressed.of(RECORDS, PROMISE, method={"name": "suppression"})
    for format in ("csv", "fimi", "parquet"):
        numbered = (
            Suppressed.of([["1", "2"], [], ["1"]], Coherence(h=1, k=2, p=1))
            if format == "fimi"
            else release
        )
        write(numbered, tmp_path / format, format=format)
        again = read_release(tmp_path / format)
        assert again == numbered
        assert again.promise == numbered.promise
        assert again.without_alignment().alignment is None
