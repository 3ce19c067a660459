"""`setveil report`: a page about a release."""

from pathlib import Path
from typing import Any

import click

from setveil.cli.options import (
    alignment_option,
    force_option,
    output_option,
    reading_options,
    seed_option,
    tree_file_options,
    tree_option,
)
from setveil.cli.show import progress_bar, show


@click.command("report")
@click.argument("release", metavar="RELEASE", type=click.Path(path_type=Path))
@output_option("FILE.html", "The page to write, outside the release folder.")
@click.option(
    "--original",
    metavar="DATA",
    help="The data that the release was made from. The page is private then.",
)
@alignment_option
@tree_option("The tree, if the release does not contain all of it.")
@tree_file_options
@reading_options
@seed_option
@force_option
def command(release: Path, **options: Any) -> None:
    """Write a page about a release: one HTML file that needs nothing else.

    With its original the page shows what was lost, with charts, and is private: only you can read
    it. Without, it is computed from the release alone and may be handed over with it.

    \b
    setveil report release --original baskets.csv -o private.html
    setveil report release -o public.html"""
    from setveil.pipeline.report import job_from, run
    from setveil.report.written import report_page

    with progress_bar() as progress:
        found = run(job_from(release, options), progress)
    show(report_page(found, options["output"]), False)
    if not found.verdict.holds:
        raise click.exceptions.Exit(1)
