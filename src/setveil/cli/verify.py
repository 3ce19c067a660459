"""`setveil verify`: does a release, or any data file, keep a promise?"""

from typing import Any

import click

from setveil.cli.options import (
    alignment_option,
    engine_options,
    json_option,
    reading_options,
    tree_file_options,
    tree_option,
)
from setveil.cli.parameters import promise_options
from setveil.cli.show import progress_bar, show_apart


@click.command("verify")
@click.argument("release", metavar="RELEASE|FILE")
@promise_options
@click.option(
    "--original", metavar="DATA", help="Also check whether the release comes from this data."
)
@click.option(
    "--max-witnesses",
    "limit",
    type=click.IntRange(min=1),
    metavar="N",
    help="The most witnesses for each check.  [default: 1]",
)
@alignment_option
@tree_option(
    "The tree whose nodes a data file contains, that typical bags were compared with, or of "
    "under:NODE."
)
@tree_file_options
@reading_options
@engine_options
@json_option
def command(release: str, as_json: bool, **options: Any) -> None:
    """Does a release folder, or any data file, keep a promise?

    A release is checked for the promise it carries, or for the one given. A data file carries none,
    so give one, such as -k 5 -m 2. A file of JSON lines may contain the clusters of disassociated
    data. The exit code is 0 if the promise holds, and 1 if it does not; then a witness shows where.

    \b
    setveil verify release
    setveil verify release --original baskets.csv
    setveil verify baskets.csv -k 5 -m 2
    setveil verify clusters.jsonl -k 5 -m 2
    setveil verify theirs.csv -k 5 -m 2 --original baskets.csv --max-witnesses 10
    setveil verify visits.csv -k 20 -p 3 --h 0.6 --private illnesses.txt
    setveil verify bags.csv -k 5 --promise vocabulary-k-anonymity"""
    from setveil.cli.complain import as_option
    from setveil.pipeline.verify import job_from, run
    from setveil.report.outcome import report_verification

    with progress_bar() as progress:
        found = run(job_from(release, options), progress)
    spell = as_option(click.get_current_context().command)
    show_apart(report_verification(found, spell), as_json)
    if not found.verdict.holds:
        raise click.exceptions.Exit(1)
