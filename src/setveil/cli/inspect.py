"""`setveil inspect`: what a data set holds, and how exposed the people in it are."""

from __future__ import annotations

import shlex
from typing import Any

import click

from setveil.cli.options import json_option, reading, reading_options
from setveil.cli.show import show, working

USUAL = (2, 5, 10)
"""The numbers that k is most often chosen from, and 2, which says who stands alone."""


@click.command("inspect")
@click.argument("data", metavar="DATA")
@click.option(
    "-k",
    "k",
    type=int,
    help="Fewer records than this pick a person out.  [default: 2, with a table for 5 and 10]",
)
@reading_options
@json_option
def command(data: str, k: int | None, as_json: bool, **options: Any) -> None:
    """What a data set holds, how exposed the people in it are, and which promises may help.

    DATA may be `-` for standard input. The figures are about the original: private.

    \b
    setveil inspect baskets.csv
    setveil inspect baskets.csv -k 10 --json
    """
    import setveil
    from setveil.report.inspection import report_inspection

    with working("reading"):
        records = setveil.read(data, **reading(options))
    with working("examining"):
        found = (
            setveil.summarize(records),
            [setveil.exposure(records, k=each) for each in (USUAL if k is None else [k])],
        )
    show(report_inspection(*found, "DATA" if data == "-" else shlex.quote(data)), as_json)
