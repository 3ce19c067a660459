"""`setveil warmup`: compile the kernels once."""

import click


@click.command("warmup")
def command() -> None:
    """Compile the kernels once, so that the first real run is quick.

    The machine code is kept next to the package, or in the user's cache folder."""
    from setveil.pipeline.warmup import run
    from setveil.words import seconds

    click.echo(f"the kernels are ready, after {seconds(run())}")
