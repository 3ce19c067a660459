"""A toy input format: a first line `#pipes`, then one record per line, items separated by bars."""

from __future__ import annotations

from setveil.data.transactions import Transactions


def read_pipes(source, reading):
    """The records of a file."""
    with source.stream() as stream:
        lines = stream.read().decode("utf-8").splitlines()[1:]
    return Transactions.of([line.split("|") if line else [] for line in lines])


def write_pipes(data):
    """The lines of a file."""
    return ["#pipes", *("|".join(record) for record in data)]


def recognize_pipes(sample):
    """Certain if the first line says so."""
    return 4 if sample.head.startswith(b"#pipes\n") else 0
