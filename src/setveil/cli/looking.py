"""`setveil inspect` and `advise`: what is in the data, and what suits it."""

import shlex
from typing import Any

import click

from setveil.cli.options import (
    Table,
    engine_options,
    json_option,
    reading_options,
    seed_option,
    tree_file_options,
    tree_option,
)
from setveil.cli.parameters import promise_options
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


@click.command("advise")
@click.argument("data", metavar="DATA")
@click.option(
    "--keep",
    type=click.Choice(("items", "counts", "associations")),
    help="What the release is needed for: how many records have each item, have some given items, "
    "or which items occur together.  [default: counts]",
)
@click.option(
    "--fear",
    type=Table("setveil.pipeline.advise", "fears"),
    help="What somebody may know: some items of a person, everything, also counts, or that items "
    "reveal private ones (links).  [default: some; counts if the data has counts]",
)
@promise_options
@tree_option("The tree over the items: a file, or how to build one.")
@tree_file_options
@reading_options
@seed_option
@click.option("--threads", type=click.IntRange(min=1), help="Threads to use.  [default: all]")
@json_option
def advise(data: str, as_json: bool, **options: Any) -> None:
    """Which promise, method and parameters suit DATA and its use, and the command to run.

    All methods that keep the promise are tried on a sample, and those that lose little on a larger
    one. The figures compare with the original, so they are private.

    \b
    setveil advise baskets.csv --hierarchy products.hierarchy.csv
    setveil advise clicks.dat.gz --keep associations -k 10
    setveil advise visits.csv --fear links --private illnesses.txt"""
    from setveil.pipeline.advise import job_from, run
    from setveil.report.advice import report_advice

    with progress_bar() as progress:
        found = run(job_from(data, options), progress)
    name = "DATA" if data == "-" else shlex.quote(data)
    show(report_advice(found, name), as_json)
