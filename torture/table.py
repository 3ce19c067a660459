"""All campaigns, one line each."""

from __future__ import annotations

from torture import fuzzing, processes, releases, sheets, tampering
from torture.campaign import Campaign, Tally, attempt

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
    "random releases": Campaign(
        releases.any_release,
        cases=600,
        few=12,
        about="every method on random data, through files, against plain oracles",
    ),
    "another order": Campaign(
        releases.any_order, cases=4_000, few=12, about="the same records in another order"
    ),
    "fuzz fimi": Campaign(fuzzing.fuzz_fimi, 2_000, 20, "damaged FIMI files, with an oracle"),
    "fuzz csv": Campaign(fuzzing.fuzz_csv, 2_000, 20, "damaged CSV, with an oracle"),
    "fuzz tsv": Campaign(fuzzing.fuzz_tsv, 2_000, 15, "damaged TSV, with an oracle"),
    "fuzz baskets": Campaign(fuzzing.fuzz_baskets, 2_000, 20, "damaged baskets, with an oracle"),
    "fuzz jsonl": Campaign(fuzzing.fuzz_jsonl, 2_000, 20, "damaged JSON lines, with an oracle"),
    "fuzz parquet": Campaign(fuzzing.fuzz_parquet, 2_000, 12, "damaged Parquet files"),
    "fuzz set column": Campaign(sheets.fuzz_set_column, 2_000, 15, "damaged columns of sets"),
    "fuzz one-hot": Campaign(
        sheets.fuzz_onehot, 2_000, 15, "damaged tables with a column per item"
    ),
    "fuzz xlsx": Campaign(sheets.fuzz_xlsx, 2_000, 12, "damaged .xlsx files"),
    "fuzz gz": Campaign(fuzzing.fuzz_gz, 2_000, 15, "damaged gzip files, with an oracle"),
    "fuzz zst": Campaign(fuzzing.fuzz_zst, 2_000, 12, "damaged zstd files"),
    "fuzz hierarchy": Campaign(
        fuzzing.fuzz_hierarchy, 2_000, 20, "damaged hierarchies, with an oracle"
    ),
    "fuzz release": Campaign(fuzzing.fuzz_release, 2_000, 15, "damaged release folders"),
    "fuzz query log": Campaign(fuzzing.fuzz_querylog, 2_000, 8, "damaged query logs"),
    "fuzz item list": Campaign(
        fuzzing.fuzz_item_list, 2_000, 20, "damaged item lists, with an oracle"
    ),
    "fuzz job": Campaign(fuzzing.fuzz_job, 2_000, 20, "damaged job files, written and read again"),
    "tampered releases": Campaign(
        tampering.tampered,
        cases=200,
        few=4,
        about="6 changes each of what a release says, written again; judged by oracles",
    ),
}
"""The name of each campaign and what it does."""


def attempt_named(name: str, cases: range, seed: int) -> Tally:
    """Try cases of a campaign, in a process that knows only its name."""
    return attempt(CAMPAIGNS[name], cases, seed)
