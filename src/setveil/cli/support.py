"""`setveil support`: how many records hold some items, told from a disassociated release alone."""

from __future__ import annotations

import click

from setveil.cli.options import json_option
from setveil.cli.release import read_disassociated
from setveil.cli.show import show, working


@click.command("support")
@click.argument("release", metavar="RELEASE")
@click.argument("items", metavar="[ITEM]...", nargs=-1)
@click.option(
    "--top",
    type=click.IntRange(min=1),
    metavar="N",
    help="The N itemsets that most records are expected to hold.",
)
@click.option(
    "--least-size",
    type=click.IntRange(min=1),
    metavar="N",
    help="How many items each of them has at least.  [default: 1]",
)
@json_option
def command(
    release: str, items: tuple[str, ...], top: int | None, least_size: int | None, as_json: bool
) -> None:
    """How many records hold some items, told from a disassociated release alone.

    The bounds are certain: the original lies between them. What is expected is the average over the possible originals.

    \b
    setveil support release wine cheese
    setveil support release --top 20 --least-size 2
    """
    import setveil
    from setveil.report.supports import report_support, report_top_itemsets

    if bool(items) == (top is not None):
        raise click.UsageError("Give the items to ask for, or --top with a number")
    if least_size is not None and top is None:
        raise click.UsageError("--least-size belongs to --top")
    published = read_disassociated(release)
    if top is None:
        show(report_support(published, items), as_json)
    else:
        with working("finding itemsets"):
            found = setveil.top_itemsets_with_bounds(published, top, least_size=least_size or 1)
        show(report_top_itemsets(published, found), as_json)
