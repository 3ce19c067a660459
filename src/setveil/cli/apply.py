"""`setveil apply`: the rule of a release on other data."""

from typing import Any

import click

from setveil.cli.anonymize import show_outcome
from setveil.cli.options import (
    force_option,
    json_option,
    new_alignment_option,
    output_option,
    public_items_option,
    reading_options,
    release_format_option,
    seed_option,
    tree_layout_options,
    tree_option,
)
from setveil.cli.show import progress_bar


@click.command("apply")
@click.argument("release", metavar="RELEASE")
@click.argument("data", metavar="DATA")
@output_option("RELEASE2", "The release folder to write.")
@click.option(
    "--unknown",
    type=click.Choice(("refuse", "drop")),
    default="refuse",
    show_default=True,
    help="What to do if DATA has items that RELEASE does not cover.",
)
@click.option(
    "--suppress", is_flag=True, help="Leave out more items if the promise does not hold otherwise."
)
@tree_option("The tree, if RELEASE does not contain all of it, or DATA has new items.")
@tree_layout_options
@release_format_option("csv")
@new_alignment_option("the published record")
@public_items_option("publish all of a tree that was built from it")
@reading_options
@seed_option
@force_option
@json_option
def command(release: str, data: str, as_json: bool, **options: Any) -> None:
    """Publish DATA by the rule of RELEASE, such as next month's data.

    Items become the same groups, or are left out, as in RELEASE, so that the two can be compared.
    The new release is verified for the same promise. If that does not hold, nothing is written and
    the exit code is 1. RELEASE must have one rule for all records: apriori, hghs, mhghs and
    suppression have one.

    \b
    setveil apply may june.csv -o june
    setveil apply may june.csv -o june --unknown drop --suppress"""
    from setveil.pipeline.apply import apply

    with progress_bar() as progress:
        outcome = apply(release, data, progress=progress, **options)
    show_outcome(outcome, as_json, command)
