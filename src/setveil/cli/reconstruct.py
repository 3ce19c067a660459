"""`setveil reconstruct`: possible originals of a disassociated release."""

from __future__ import annotations

from pathlib import Path

import click

from setveil.cli.options import FORMAT, force_option, json_option, seed_option
from setveil.cli.release import read_disassociated
from setveil.cli.show import progress_bar, show
from setveil.errors import OutputError


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
    "count",
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
def command(
    release: str,
    output: Path,
    count: int,
    format: str,
    seed: int | None,
    force: bool,
    as_json: bool,
) -> None:
    """Possible originals of a disassociated release, at random.

    Each file holds as many records as the original, with the same items, put together in one of the ways that the release allows. No
    record in it is anybody's. Analyse several of them and average.

    \b
    setveil reconstruct release -o worlds -n 10 --seed 1
    """
    from setveil.io.releases.worlds import write_worlds
    from setveil.report.worlds import report_worlds

    if str(output) == "-":
        raise OutputError(
            output, "reconstructions are files in a folder and cannot go to standard output"
        )
    published = read_disassociated(release)
    with progress_bar() as progress:
        names = write_worlds(
            published, output, count, seed=seed, format=format, force=force, progress=progress
        )
    show(report_worlds(output, len(published), names), as_json)
