"""`setveil measure`: what a release has lost."""

from typing import Any

import click

from setveil.cli.options import (
    METRIC,
    alignment_option,
    json_option,
    reading_options,
    seed_option,
    tree_file_options,
    tree_option,
)
from setveil.cli.show import progress_bar, show


@click.command("measure")
@click.argument("release", metavar="RELEASE")
@click.option(
    "--original", required=True, metavar="DATA", help="The data that the release was made from."
)
@click.option(
    "--metric",
    "metrics",
    type=METRIC,
    multiple=True,
    help="What to measure; repeatable.  [default: all that apply]",
)
@alignment_option
@click.option(
    "--reconstructions",
    type=click.IntRange(min=1),
    metavar="N",
    help="Average over N reconstructions (disassociated).  [default: 1]",
)
@tree_option("The tree, if the release does not contain all of it.")
@tree_file_options
@reading_options
@seed_option
@json_option
def command(release: str, as_json: bool, **options: Any) -> None:
    """What a release has lost against its original.

    The figures are computed from the original, so they are private: do not publish them.

    \b
    setveil measure release --original baskets.csv
    setveil measure release --original baskets.csv --metric ncp --json
    setveil measure release --original clicks.dat.gz --reconstructions 10"""
    from setveil.cli.complain import as_option
    from setveil.pipeline.measure import job_from, run
    from setveil.report.outcome import report_losses

    options["metrics"] = options["metrics"] or None
    with progress_bar() as progress:
        found = run(job_from(release, options), progress)
    spell = as_option(click.get_current_context().command)
    show(report_losses(found.losses, found.left_out, spell), as_json)
