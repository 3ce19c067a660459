"""`setveil inspect` and `advise`: what is in the data, and what suits it; `support`, `rules` and
`reconstruct`: what a release alone says of its original."""

import shlex
from typing import Any

import click

from setveil.cli.options import (
    FORMAT,
    Table,
    count_option,
    default_option,
    engine_options,
    force_option,
    json_option,
    output_option,
    reading_options,
    seed_option,
    tree_file_options,
    tree_option,
)
from setveil.cli.parameters import promise_options
from setveil.cli.show import show, worked


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

    found = worked(inspect, data, **options)
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
@count_option("--threads", "Threads to use.  [default: all]", metavar=None)
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

    found = worked(run, job_from(data, options))
    name = "DATA" if data == "-" else shlex.quote(data)
    show(report_advice(found, name), as_json)


@click.command("support")
@click.argument("release", metavar="RELEASE")
@click.argument("items", metavar="[ITEM]...", nargs=-1)
@count_option("--top", "The N itemsets that most records certainly contain.")
@count_option("--least-size", "How many items each of these has at least.  [default: 1]")
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
    found = worked(run, SupportJob(**options))
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
    from setveil.pipeline.support import rules
    from setveil.report.supports import report_rules

    found = worked(rules, release, **options)
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

    found = worked(run, ReconstructJob(**options))
    show(report_reconstructions(found), as_json)
