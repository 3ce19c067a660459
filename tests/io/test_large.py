"""Large files: correct to the last row, within the memory limit."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from setveil.data.transactions import Bags, Transactions
from setveil.data.vocabulary import Vocabulary
from setveil.io import read, write

AWKWARD = [
    "two\nlines",
    "Windows\r\nlines",
    'say "hi"',
    '"',
    "a,b",
    "plain",
    "crème",
    "  edges  ",
    "007",
    *map(str, range(500)),
]
READ = """
import resource, sys, setveil.io
data = setveil.io.read(sys.argv[1], memory_limit="500MB")
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
print(len(data), data.occurrences, peak)
"""


def random_data(records, *, bags=False):
    random = np.random.default_rng(7)
    lengths = random.integers(0, 20, records)
    vocabulary = Vocabulary.of(AWKWARD)
    owners = np.repeat(np.arange(records), lengths)
    items = random.integers(0, len(vocabulary), len(owners))
    return (Bags if bags else Transactions).from_pairs(owners, items, vocabulary, size=records)


@pytest.mark.long
@pytest.mark.parametrize(
    "name", ["a.csv", "a.tsv.gz", "a.csv.zst", "a.baskets", "a.parquet", "a.jsonl"]
)
def test_a_million_awkward_rows_are_read_again(tmp_path, name):
    data = random_data(120_000, bags=name == "a.csv")
    write(data, tmp_path / name)
    assert read(tmp_path / name) == data


@pytest.mark.long
def test_twenty_million_rows_are_read_within_the_memory_limit_and_a_gigabyte(tmp_path):
    path, random = tmp_path / "a.csv", np.random.default_rng(1)
    with path.open("w") as stream:
        stream.write("customer,product\n")
        for start in range(0, 2_000_000, 100_000):
            owners = np.repeat(np.arange(start, start + 100_000), 10).tolist()
            items = random.integers(0, 10_000, len(owners)).tolist()
            stream.writelines(map("c%d,item%d\n".__mod__, zip(owners, items, strict=True)))
    done = subprocess.run(
        [sys.executable, "-c", READ, str(path)], capture_output=True, text=True, check=True
    )
    assert len(done.stdout.splitlines()) == 1, "reading is silent"
    records, occurrences, megabytes = map(float, done.stdout.split())
    assert records == 2_000_000
    assert 19_900_000 < occurrences <= 20_000_000
    assert megabytes < 1_500
