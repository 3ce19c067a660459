"""`setveil reconstruct`: possible originals of a release."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from setveil.cli.options import FORMAT, force_option, json_option, seed_option
from setveil.cli.show import progress_bar, show


@click.command("reconstruct")
@click.argument("release", metavar="RELEASE")
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="The folder to write.",
)
@click.option(
    "-n",
    "n",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="How many reconstructions.",
)
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
