"""`setveil run`: do what a job file says."""

from pathlib import Path

import click

from setveil.cli.anonymize import command as anonymize
from setveil.cli.anonymize import show_outcome
from setveil.cli.options import force_option, json_option, output_option
from setveil.cli.show import progress_bar


@click.command("run")
@click.argument("job", metavar="FILE.toml", type=click.Path(path_type=Path))
@output_option("RELEASE", "The release folder, instead of the one in the file.", required=False)
@force_option
@json_option
def command(job: Path, output: Path | None, force: bool, as_json: bool) -> None:
    """Do what a job file says, and show what `anonymize` shows.

    `setveil anonymize --save-job FILE.toml` writes such a file.

    \b
    setveil run baskets.toml
    setveil run baskets.toml -o again"""
    from setveil.pipeline.jobfile import run_file

    with progress_bar() as progress:
        outcome = run_file(job, output=output, force=force, progress=progress)
    show_outcome(outcome, as_json, anonymize)
