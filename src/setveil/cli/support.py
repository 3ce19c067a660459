"""`setveil support`: how many records contain some items, computed from a release alone."""

from typing import Any

import click

from setveil.cli.options import json_option
from setveil.cli.show import progress_bar, show


@click.command("support")
@click.argument("release", metavar="RELEASE")
@click.argument("items", metavar="[ITEM]...", nargs=-1)
@click.option(
    "--top",
    type=click.IntRange(min=1),
    metavar="N",
    help="The N itemsets that most records certainly contain.",
)
@click.option(
    "--least-size",
    type=click.IntRange(min=1),
    metavar="N",
    help="How many items each of these has at least.  [default: 1]",
)
@json_option
def command(as_json: bool, **options: Any) -> None:
    """How many original records contain some items, computed from the release alone.

    The bounds are certain; with differential privacy, 95 % sure. The expected number is an estimate
    between them, given with the largest error that the bounds allow. If that is as large as the
    number itself, there is no estimate.

    \b
    setveil support release wine cheese
    setveil support release --top 20 --least-size 2"""
    from setveil.pipeline.support import SupportJob, run
    from setveil.report.supports import report_supports

    if bool(options["items"]) == (options["top"] is not None):
        raise click.UsageError("Give the items to ask for, or --top with a number")
    if options["least_size"] is not None and options["top"] is None:
        raise click.UsageError("--least-size is only used with --top")
    with progress_bar() as progress:
        found = run(SupportJob(**options), progress)
    show(report_supports(found), as_json)
