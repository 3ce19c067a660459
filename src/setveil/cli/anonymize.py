"""`setveil anonymize`: write a release that keeps a promise."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from setveil.cli.methods import method_of, method_options
from setveil.cli.options import (
    METHOD,
    RELEASE_FORMAT,
    TREE,
    force_option,
    json_option,
    layout_option,
    promise_of,
    promise_options,
    reading,
    reading_options,
    seed_option,
)
from setveil.cli.show import progress_bar, show
from setveil.errors import ParameterError

if TYPE_CHECKING:
    from setveil.pipeline import Job


@click.command("anonymize")
@click.argument("data", metavar="DATA")
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path),
    metavar="RELEASE",
    help="The release folder to write.",
)
@click.option(
    "--method", type=METHOD, default="partition", show_default=True, help="How the promise is kept."
)
@promise_options
@method_options
@click.option(
    "--hierarchy",
    "--semantics",
    "hierarchy",
    metavar=TREE,
    help="The tree over the items: a file, or how to build one.",
)
@layout_option
@click.option(
    "--format",
    type=RELEASE_FORMAT,
    help="The format of the data in the release.  [default: csv, of disassociated data jsonl]",
)
@reading_options
@click.option(
    "--alignment",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write, privately, the published form of each record.",
)
@click.option(
    "--explain", is_flag=True, help="Also tell, privately, why so much is lost (coherence)."
)
@click.option(
    "--public-items",
    is_flag=True,
    help="The list of items is public knowledge: publish a built tree whole.",
)
@seed_option
@click.option(
    "--threads", type=click.IntRange(min=1), help="How many threads to use.  [default: all]"
)
@force_option
@json_option
def command(data: str, **options: Any) -> None:
    """Write a release of DATA that keeps a promise.

    The release is verified and measured after it was written; one that does not verify is not kept (exit code 1). DATA may be `-`
    for standard input.

    \b
    setveil anonymize baskets.csv -o release -k 10 --hierarchy products.hierarchy.csv
    setveil anonymize clicks.dat.gz -o release -k 10 --hierarchy balanced:5
    setveil anonymize clicks.dat.gz -o release --method disassociation -k 5 -m 2
    setveil anonymize visits.csv -o release --method suppression -k 20 -p 3 --h 0.6 --private illnesses.txt
    setveil anonymize vocabularies.csv -o release --method ssc -k 5 --semantics wordnet
    """
    from setveil.pipeline import run
    from setveil.report.sections import report_outcome

    job = _job(data, options)
    with progress_bar() as progress:
        outcome = run(job, progress)
    show(report_outcome(outcome), options["as_json"])
    if not outcome.verdict.holds:
        raise click.exceptions.Exit(1)


def _job(data: str, options: dict[str, Any]) -> Job:
    from setveil.pipeline import Job

    method = method_of(options)
    promise = promise_of(options, method.promises)
    if promise is None:
        raise ParameterError(
            "k", None, "say among how many people each one is to be hidden, as in -k 10"
        )
    same = (
        "output",
        "format",
        "alignment",
        "seed",
        "force",
        "public_items",
        "threads",
        "hierarchy",
        "layout",
        "private",
        "explain",
    )
    return Job(
        data=data,
        promise=promise,
        method=method,
        reading=reading(options),
        **{name: options[name] for name in same},
    )
