"""`setveil demo`: a full example on synthetic data."""

from pathlib import Path

import click

from setveil.cli.options import default_option
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
def command(folder: Path, records: int, k: int) -> None:
    """A full example on synthetic data, in under a minute.

    Generates the baskets of a shop, shows how exposed its customers are, anonymizes, verifies and
    measures. FOLDER is replaced only if it is empty or an earlier demo."""
    from setveil.cli.anonymize import command as anonymize
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
