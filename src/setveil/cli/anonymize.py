"""`setveil anonymize`, `run` and `apply`: write a release that keeps a promise."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from setveil.cli.options import (
    count_option,
    engine_options,
    file_option,
    force_option,
    json_option,
    new_alignment_option,
    output_option,
    public_items_option,
    reading_options,
    release_format_option,
    seed_option,
    tree_file_options,
    tree_layout_options,
    tree_option,
)
from setveil.cli.parameters import GroupedCommand, anonymize_groups, method_options, promise_options
from setveil.cli.register import register_options
from setveil.cli.show import exit_unless, show_apart, worked

if TYPE_CHECKING:
    from setveil.pipeline import Outcome


@click.command("anonymize", cls=GroupedCommand, groups=anonymize_groups())
@click.argument("data", metavar="DATA")
@output_option("RELEASE", "The release folder to write.")
@promise_options
@method_options
@tree_option("The tree over the items: a file, or how to build one.")
@tree_file_options
@release_format_option("csv; jsonl if disassociated")
@reading_options
@new_alignment_option("the published record (or cluster)")
@file_option(
    "--report", "FILE.html", "Also write a page about the release and what it lost, privately."
)
@count_option(
    "--min-people",
    "Leave out items that fewer than N people have, or that occur in fewer than N records if "
    "the file does not say whose they are; for names and free text.  [default: none]",
)
@click.option(
    "--tune",
    type=click.Choice(("items", "counts", "associations")),
    is_flag=False,
    flag_value="counts",
    help="Search the method's parameters that lose least for a use.  [counts if none is named]",
)
@register_options
@click.option("--explain", is_flag=True, help="Explain why so much is lost, privately.")
@click.option(
    "--after",
    metavar="RELEASE",
    help="Follow this release by its rule or a coarser one, so that what both differ in keeps the "
    "promise; newcomers are held back if they must be.",
)
@public_items_option(
    "publish all of a tree built from it, and name items in it; differential privacy needs it, or "
    "a hierarchy file"
)
@seed_option
@engine_options
@count_option("--threads", "Threads to use.  [default: all]", metavar=None)
@file_option("--save-job", "FILE.toml", "Also write all this as a file for `setveil run`.")
@force_option
@json_option
def anonymize(data: str, as_json: bool, **options: Any) -> None:
    """Write a release of DATA that keeps a promise.

    The release is verified and measured after it is written. If it does not verify, it is removed
    and the exit code is 1. DATA may be `-` for standard input.

    \b
    setveil anonymize baskets.csv -o release -k 10 --hierarchy products.hierarchy.csv
    setveil anonymize baskets.csv -o release -k 10 -m 2 --hierarchy balanced:5
    setveil anonymize clicks.dat.gz -o release -k 5 -m 2
    setveil anonymize clicks.dat.gz -o release --epsilon 1 --public-items
    setveil anonymize visits.csv -o release -k 20 -p 3 --h 0.6 --private illnesses.txt
    setveil anonymize searches.csv -o release --method ssc -k 5 --semantics wordnet"""
    from setveil.pipeline.anonymize import anonymize

    outcome = worked(anonymize, data, **options)
    show_outcome(outcome, as_json, click.get_current_context().command)


def show_outcome(outcome: "Outcome", as_json: bool, called: click.Command) -> None:
    """Print what a run has done, in the words of the command that was called, and end with exit
    code 1 if the promise does not hold."""
    from setveil.cli.complain import as_option
    from setveil.report.outcome import report_outcome

    report = report_outcome(outcome, as_option(called), show_examples=sys.stderr.isatty())
    show_apart(report, as_json)
    exit_unless(outcome.verdict.holds)


@click.command("run")
@click.argument("job", metavar="FILE.toml", type=click.Path(path_type=Path))
@output_option("RELEASE", "The release folder, instead of the one in the file.", required=False)
@force_option
@json_option
def run(job: Path, output: Path | None, force: bool, as_json: bool) -> None:
    """Do what a job file says, and show what `anonymize` shows.

    `setveil anonymize --save-job FILE.toml` writes such a file.

    \b
    setveil run baskets.toml
    setveil run baskets.toml -o again"""
    from setveil.pipeline.jobfile import run_file

    outcome = worked(run_file, job, output=output, force=force)
    show_outcome(outcome, as_json, anonymize)


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
@register_options
@public_items_option("publish all of a tree that was built from it")
@reading_options
@seed_option
@force_option
@json_option
def apply(release: str, data: str, as_json: bool, **options: Any) -> None:
    """Publish DATA by the rule of RELEASE, such as next month's data.

    Items become the same groups, or are left out, as in RELEASE, so that the two can be compared.
    The new release is verified for the same promise. If that does not hold, nothing is written and
    the exit code is 1. RELEASE must have one rule for all records: apriori, hghs, mhghs and
    suppression have one.

    \b
    setveil apply may june.csv -o june
    setveil apply may june.csv -o june --unknown drop --suppress"""
    from setveil.pipeline.apply import apply

    outcome = worked(apply, release, data, **options)
    show_outcome(outcome, as_json, click.get_current_context().command)
