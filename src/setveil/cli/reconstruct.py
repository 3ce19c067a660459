"""`setveil reconstruct`: possible originals of a release."""

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
def command(as_json: bool, **options: Any) -> None:
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
