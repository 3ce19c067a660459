"""`setveil rules`: which items occur together, computed from a release alone."""

from typing import Any

import click

from setveil.cli.options import default_option, json_option
from setveil.cli.show import progress_bar, show

_SHARE = click.FloatRange(0, 1)


@click.command("rules")
@click.argument("release", metavar="RELEASE")
@default_option(
    "--top", default=20, help="How many rules, those that are surely most confident first."
)
@default_option(
    "--min-support",
    default=0.0,
    type=_SHARE,
    help="The share of the records that surely have all items of a rule, at least.",
)
@default_option(
    "--min-confidence", default=0.0, type=_SHARE, help="The confidence that is certain, at least."
)
@default_option(
    "--most-size", default=3, type=click.IntRange(min=2), help="How many items a rule has at most."
)
@json_option
def command(release: str, as_json: bool, **options: Any) -> None:
    """Association rules of the original, computed from the release alone.

    The confidence of {a} -> {b} is the share of the records with a that have b too. The bounds are
    certain, and rules are listed by the lower one. The expected confidence is an estimate.

    \b
    setveil rules release
    setveil rules release --top 50 --min-support 0.01 --min-confidence 0.5"""
    from setveil.pipeline.rules import rules
    from setveil.report.rules import report_rules

    with progress_bar() as progress:
        found = rules(release, progress=progress, **options)
    show(report_rules(found), as_json)
