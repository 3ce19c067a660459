"""`setveil inspect`: what a data set contains, and how exposed the people in it are."""

import shlex
from typing import Any

import click

from setveil.cli.options import engine_options, json_option, reading_options
from setveil.cli.show import progress_bar, show


@click.command("inspect")
@click.argument("data", metavar="DATA")
@click.option(
    "-k",
    "k",
    type=int,
    help="Fewer records than this single a person out.  [default: 2, and a table for 5 and 10]",
)
@reading_options
@engine_options
@json_option
def inspect(data: str, as_json: bool, **options: Any) -> None:
    """What a data set contains, how exposed the people in it are, and which promises may help.

    DATA may be `-` for standard input. The figures are about the original, so they are private.

    \b
    setveil inspect baskets.csv
    setveil inspect baskets.csv -k 10 --json
    setveil inspect 'log/*.parquet' --engine blocks --memory 3GB"""
    from setveil.cli.complain import as_option
    from setveil.pipeline.inspect import inspect
    from setveil.report.inspection import report_inspection

    with progress_bar() as progress:
        found = inspect(data, progress=progress, **options)
    name = "DATA" if data == "-" else shlex.quote(data)
    show(report_inspection(found, name, as_option(click.get_current_context().command)), as_json)
