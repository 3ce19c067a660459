"""`setveil inspect`: what a data set holds, and how exposed the people in it are."""

from __future__ import annotations

from typing import Any

import click

from setveil.cli.options import json_option, reading, reading_options
from setveil.cli.show import show


@click.command("inspect")
@click.argument("data", metavar="DATA")
@click.option("-k", "k", type=int, default=2, show_default=True, help="Fewer records than this pick a person out.")
@reading_options
@json_option
def command(data: str, k: int, as_json: bool, **options: Any) -> None:
    """What a data set holds, and how exposed the people in it are.

    DATA may be `-` for standard input. The figures are about the original: private.

    \b
    setveil inspect baskets.csv
    setveil inspect baskets.csv -k 10 --json
    """
    import setveil
    from setveil.report.sections import report_inspection

    records = setveil.read(data, **reading(options))
    show(report_inspection(setveil.summarize(records), setveil.exposure(records, k=k)), as_json)
