"""Long tables are written, by array functions, as one would write them row by row."""

from __future__ import annotations

import random

import numpy as np
import pytest

from setveil.data.transactions import Bags, Transactions
from setveil.errors import DataError
from setveil.io.formats import csvlines
from setveil.io.formats.csvlines import write_csv, write_release_rows, write_tsv
from setveil.io.releases.form import PartFile
from setveil.io.releases.recordfiles import _read_table, write_records
from tests.oracle.csvlines import long_table

PLAIN = ["a", "b", "ab", "B", "1", "10", "2", "a b", "ä", "日本", "*1.2", "sevenxx", "eightxxx"]
LONG = ["a name of many letters", "a name of many letters more", "back\\slash", "\U0001f600" * 5]
ODD = ["a,b", '"', " a", "tab\t", "line\nend", "\x01", "\x7f", "a;b", "\\", "\ud800", "\0"]


def random_records(seed: int, labels: list[str]) -> Transactions:
    chance = random.Random(seed)
    longest = chance.choice([1, 3, 8])
    return Transactions.of(
        [
            chance.sample(labels, min(chance.randint(0, longest), len(labels)))
            for _ in range(chance.choice([0, 1, 5, 40, 150]))
        ]
    )


def joined(lines) -> str:
    return "".join(f"{line}\n" for line in lines)


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(csvlines, "_ROWS_AT_ONCE", 7)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("before", [0, 7, 98, 999_999])
def test_records_are_written_row_by_row(before):
    for seed in range(30):
        data = random_records(seed, PLAIN + LONG + ODD * (seed % 2))
        rows = [dict.fromkeys(record, 1) for record in data]
        found = joined(write_release_rows(data, before))
        assert found == long_table(rows, empty_rows=False, before=before), seed
        people = np.arange(len(data))[::-1] // 2
        assert joined(write_csv(data)) == long_table(rows), seed
        assert joined(write_tsv(data, people)) == long_table(rows, mark="\t", people=people), seed


@pytest.mark.usefixtures("small_blocks")
def test_bags_are_written_with_their_counts():
    for seed in range(30):
        sets, chance = random_records(seed, PLAIN + ODD), random.Random(seed)
        rows = [{item: chance.choice([1, 2, 10, 10**12]) for item in record} for record in sets]
        data = Bags.of(rows)
        people = np.arange(len(data)) * 10
        assert joined(write_csv(data)) == long_table(rows, counted=True)
        assert joined(write_csv(data, people)) == long_table(rows, counted=True, people=people)
        assert joined(write_release_rows(data)) == long_table(rows, counted=True, empty_rows=False)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("before", [0, 98])
def test_what_is_written_is_read_again(tmp_path, before):
    for seed in range(20):
        data = random_records(seed, PLAIN + LONG + ODD[:-2])
        part = PartFile(tmp_path / "data.csv", before, len(data))
        write_records(data, part.path, before)
        filled = data.keeping(data.supports() > 0).take(np.flatnonzero(data.lengths))
        assert list(_read_table(part, False)) == list(filled), seed


@pytest.mark.parametrize(
    "text",
    [
        "record,item\n1,a\n1,a\n",
        "record,item\n1,a\n3,b\n",
        "record,item\n1,a\n2,b",
        "record,item\n1,a\n02,b\n",
        "record,item\n1,a\n0,b\n",
        "record,item\n1,a\n2,\n",
        'record,item\n1,a\n2,"b"\n',
        "record,item\n1,a\n\n2,b\n",
        "record,item\n1,a\n2,b\r\n",
        "\ufeffrecord,item\n1,a\n",
        "record,item,count\n1,a,1\n",
        "",
    ],
)
def test_what_setveil_does_not_write_is_refused(make, text):
    with pytest.raises(DataError):
        _read_table(PartFile(make("data.csv", text), 0, 2), False)


def test_what_cannot_be_written_is_refused(tmp_path):
    for item in ("\ud800", "\0", ""):
        with pytest.raises(DataError):
            write_records(Transactions.of([[item]]), tmp_path / "data.csv")
