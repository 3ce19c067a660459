"""`setveil support`, `rules` and `reconstruct`: what a release alone says of its original."""

from typing import Any

import click

from setveil.cli.options import (
    FORMAT,
    default_option,
    force_option,
    json_option,
    output_option,
    seed_option,
)
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
def support(as_json: bool, **options: Any) -> None:
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
def rules(release: str, as_json: bool, **options: Any) -> None:
    """Association rules of the original, computed from the release alone.

    The confidence of {a} -> {b} is the share of the records with a that have b too. The bounds are
    certain, and rules are listed by the lower one. The expected confidence is an estimate.

    \b
    setveil rules release
    setveil rules release --top 50 --min-support 0.01 --min-confidence 0.5"""
    from setveil.pipeline.rules import rules
    from setveil.report.supports import report_rules

    with progress_bar() as progress:
        found = rules(release, progress=progress, **options)
    show(report_rules(found), as_json)


@click.command("reconstruct")
@click.argument("release", metavar="RELEASE")
@output_option("FOLDER", "The folder to write.")
@default_option("-n", "n", default=1, help="How many reconstructions.")
@click.option(
    "--format", type=FORMAT, default="csv", show_default=True, help="The format of the files."
)
@seed_option
@force_option
@json_option
def reconstruct(as_json: bool, **options: Any) -> None:
    """Write possible originals of a release, at random.

    Each file has as many records as the original, of items that the release allows. Some of them
    may equal true records. Analyse several and average.

    \b
    setveil reconstruct release -o worlds -n 10 --seed 1"""
    from setveil.pipeline.reconstruct import ReconstructJob, run
    from setveil.report.supports import report_reconstructions

    with progress_bar() as progress:
        found = run(ReconstructJob(**options), progress)
    show(report_reconstructions(found), as_json)
