"""All campaigns, one line each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from torture import fuzzing, packed, processes, registers, releases, tampering, texts
from torture.campaign import Campaign, Dice
from torture.trying import Trial, fuzzed

INPUTS = 100_000
"""So many damaged files are tried for each reader."""


def _fuzz(make: Callable[[Dice, Path], Trial], what: str) -> Campaign:
    return Campaign(fuzzed(make), INPUTS, 15, f"damaged {what}")


CAMPAIGNS: dict[str, Campaign] = {
    "kill": Campaign(
        processes.killed,
        cases=100,
        few=1,
        about="KILL, TERM, INT or HUP at a random moment of a command",
    ),
    "kill while renaming": Campaign(
        processes.killed_while_renaming,
        cases=60,
        few=1,
        about="kill -9 between any two system calls that change folders",
        skip=processes.without_strace,
    ),
    "two writers": Campaign(
        processes.two_writers, cases=30, few=1, about="two commands write to the same place"
    ),
    "no room": Campaign(
        processes.no_room, cases=50, few=1, about="files may not grow past a random size"
    ),
    "full disk": Campaign(
        processes.full_disk,
        cases=50,
        few=1,
        about="the output or the temporary folder is on a small disk",
        skip=processes.without_mount,
    ),
    "little memory": Campaign(
        processes.little_memory, cases=30, few=0, about="1.5 to 4 GB of address space"
    ),
    "damaged kernel cache": Campaign(
        processes.damaged_cache, cases=5, few=0, about="flipped, cut and empty cache files"
    ),
    "register": Campaign(
        registers.killed_while_booking,
        cases=200,
        few=1,
        about="kill -9 while releases are booked: spent is never less than released",
    ),
    "random releases": Campaign(
        releases.any_release,
        cases=600,
        few=12,
        about="every method on random data, through files, against plain oracles",
    ),
    "another order": Campaign(
        releases.any_order, cases=4_000, few=12, about="the same records in another order"
    ),
    "fuzz fimi": _fuzz(texts.fimi, "FIMI files"),
    "fuzz csv": _fuzz(texts.csv_table, "long tables in CSV"),
    "fuzz tsv": _fuzz(texts.tsv_table, "long tables in TSV"),
    "fuzz baskets": _fuzz(texts.baskets, "baskets"),
    "fuzz jsonl": _fuzz(texts.jsonl, "JSON lines"),
    "fuzz arff": _fuzz(texts.arff_file, "ARFF files"),
    "fuzz set column": _fuzz(texts.set_column, "columns of sets"),
    "fuzz one-hot": _fuzz(texts.one_hot, "tables with a column per item"),
    "fuzz xlsx": _fuzz(packed.xlsx_file, "spreadsheets"),
    "fuzz parquet": _fuzz(packed.parquet_file, "Parquet files"),
    "fuzz gz": _fuzz(packed.gz, "gzip files"),
    "fuzz zip": _fuzz(packed.zipped, "zip files"),
    "fuzz zst": _fuzz(packed.zst, "zstd files"),
    "fuzz query log": _fuzz(fuzzing.query_log, "query logs"),
    "fuzz hierarchy": _fuzz(fuzzing.hierarchy, "hierarchies"),
    "fuzz release": _fuzz(fuzzing.release, "release folders"),
    "fuzz item list": _fuzz(fuzzing.item_list, "item lists"),
    "fuzz job": _fuzz(fuzzing.job, "job files"),
    "tampered releases": Campaign(
        tampering.tampered,
        cases=200,
        few=4,
        about="6 changes each of what a release says, written again; judged by oracles",
    ),
}
"""The name of each campaign and what it does."""
