"""`setveil demo`, `methods` and `warmup`: for the first hour."""

from pathlib import Path

import click

from setveil.cli.options import default_option, json_option
from setveil.cli.show import progress_bar, show


@click.command("demo")
@click.argument("folder", default="setveil-demo", type=click.Path(path_type=Path))
@default_option(
    "--records", default=10_000, help="How many baskets the shop has.", type=click.IntRange(min=10)
)
@default_option(
    "-k",
    "k",
    default=10,
    help="Hide each person among at least this many records.",
    type=click.IntRange(min=2),
)
def demo(folder: Path, records: int, k: int) -> None:
    """A full example on synthetic data, in under a minute.

    Generates the baskets of a shop, shows how exposed its customers are, anonymizes, verifies and
    measures. FOLDER is replaced only if it is empty or an earlier demo."""
    from setveil.cli.anonymize import anonymize
    from setveil.cli.complain import as_option
    from setveil.pipeline.demo import BASKETS, KNOWN, MARK, RELEASE, TREE, DemoJob, run
    from setveil.report.outcome import report_demo

    with progress_bar() as progress:
        demo = run(DemoJob(folder=folder, records=records, k=k), progress)
    show(report_demo(demo, as_option(anonymize)), as_json=False)
    if not demo.outcome.verdict.holds:
        raise click.exceptions.Exit(1)
    baskets, tree, release = folder / BASKETS, folder / TREE, folder / RELEASE
    click.echo(f"\nEverything is in {folder}/ ({MARK} describes the files). The same by hand:")
    click.echo(f"  setveil inspect {baskets}")
    click.echo(f"  setveil anonymize {baskets} -k {k} -m {KNOWN} --method disassociation -o first")
    click.echo(f"  setveil verify {release} --original {baskets}")
    click.echo(f"  setveil measure {release} --original {baskets}")
    click.echo(
        "Or publish groups of products instead of clusters, so that every record stays whole:"
    )
    click.echo(f"  setveil anonymize {baskets} -k {k} --hierarchy {tree} -o second")


@click.command("methods")
@json_option
def methods(as_json: bool) -> None:
    """List the methods: what each can promise, what it needs, and what it publishes.

    Without --method, `setveil anonymize` chooses the one marked `chosen` that fits what you
    promise and whether you give a hierarchy."""
    from setveil.pipeline.methods import list_methods
    from setveil.report.advice import report_methods

    show(report_methods(list_methods()), as_json)


@click.command("warmup")
def warmup() -> None:
    """Compile the kernels once, so that the first real run is quick.

    The machine code is kept next to the package, or in the user's cache folder."""
    from setveil.pipeline.warmup import run
    from setveil.words import seconds

    click.echo(f"the kernels are ready, after {seconds(run())}")
