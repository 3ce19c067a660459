"""`setveil attack`: what an adversary with known items can do with a release."""

from typing import Any

import click

from setveil.cli.options import ITEMS, json_option, reading_options, seed_option
from setveil.cli.show import progress_bar, show


@click.command("attack")
@click.argument("release", metavar="RELEASE")
@click.option(
    "--original", required=True, metavar="DATA", help="The data that the release was made from."
)
@click.option(
    "--knows",
    metavar="N,N,...",
    help="How many items of a person the adversary knows.  [default: 1,2,3]",
)
@click.option(
    "--trials",
    type=click.IntRange(min=100),
    metavar="N",
    help="How many records and sets of their items to draw.  [default: 10000]",
)
@click.option(
    "--private",
    metavar=ITEMS,
    multiple=True,
    help="Items whose inference is reported on its own; repeatable.",
)
@click.option("--other", metavar="RELEASE", help="Another release of the same people.")
@click.option(
    "--alignment", metavar="FILE", help="The private alignment of the release, for --other."
)
@click.option(
    "--other-alignment", metavar="FILE", help="The private alignment of the other release."
)
@reading_options
@seed_option
@json_option
def command(release: str, as_json: bool, **options: Any) -> None:
    """What an adversary who knows some items of a person can do with a release.

    Known items are drawn from real records, and the release is searched for them. The figures are
    computed from the original, so they are private: do not publish them. The exit code is 1 if
    fewer candidates are left than the release promises.

    \b
    setveil attack release --original baskets.csv
    setveil attack release --original baskets.csv --knows 1,2,3,4 --seed 1 --json
    setveil attack release --original visits.csv --private 'dx:*'
    setveil attack release --original baskets.csv --other last-year"""
    from setveil.pipeline.attack import job_from, run
    from setveil.report.attack import report_attack

    options["private"] = options["private"] or None
    with progress_bar() as progress:
        found = run(job_from(release, options), progress)
    show(report_attack(found), as_json)
    if not found.holds:
        raise click.exceptions.Exit(1)
