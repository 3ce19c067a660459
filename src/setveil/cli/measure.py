"""`setveil measure`: what a release has lost."""

from __future__ import annotations

from typing import Any

import click

from setveil.cli.options import METRIC, json_option, reading, reading_options, seed_option
from setveil.cli.show import show


@click.command("measure")
@click.argument("release", metavar="RELEASE")
@click.option("--original", required=True, metavar="DATA", help="The data that the release was made of.")
@click.option("--metric", "metrics", type=METRIC, multiple=True, help="What to measure; may be repeated.  [default: all that apply]")
@reading_options
@seed_option
@json_option
def command(release: str, original: str, metrics: tuple[str, ...], seed: int | None, as_json: bool, **options: Any) -> None:
    """What a release has lost against the original.

    The figures are computed from the original and are private: keep them out of the release.

    \b
    setveil measure release --original baskets.csv
    setveil measure release --original baskets.csv --metric ncp --json
    """
    import setveil
    from setveil.report.sections import report_losses

    published = setveil.read_release(release)
    losses = setveil.measure(published, setveil.read(original, **reading(options)), list(metrics) or None, seed=seed or 0)
    show(report_losses(losses), as_json)
