"""`setveil measure`: what a release has lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from setveil.cli.options import METRIC, json_option, layout_option, reading, reading_options, seed_option
from setveil.cli.show import show, working
from setveil.errors import ParameterError

if TYPE_CHECKING:
    from setveil import Transactions


@click.command("measure")
@click.argument("release", metavar="RELEASE")
@click.option("--original", required=True, metavar="DATA", help="The data that the release was made of.")
@click.option("--metric", "metrics", type=METRIC, multiple=True, help="What to measure; may be repeated.  [default: all that apply]")
@click.option("--alignment", metavar="FILE", help="The private alignment, so that each record is compared with its own original.")
@click.option("--reconstructions", type=click.IntRange(min=1), metavar="N", help="Average over N reconstructions (disassociated).")
@click.option("--hierarchy", metavar="FILE|balanced:5|prefix", help="The tree for tkd_ml2 (disassociated).")
@layout_option
@reading_options
@seed_option
@json_option
def command(release: str, original: str, metrics: tuple[str, ...], **options: Any) -> None:
    """What a release has lost against the original.

    The figures are computed from the original and are private: keep them out of the release.

    \b
    setveil measure release --original baskets.csv
    setveil measure release --original baskets.csv --metric ncp --json
    setveil measure release --original clicks.dat.gz --reconstructions 10
    """
    import setveil
    from setveil.report.sections import report_losses

    published = setveil.read_release(release)
    _check(published.form, options)
    if options["alignment"]:
        from setveil.io.alignment import with_alignment

        published = with_alignment(published, options["alignment"])
    data = setveil.read(original, **reading(options))
    worlds = _worlds(data, options)
    with working("measuring"):
        losses = setveil.measure(published, data, list(metrics) or None, seed=options["seed"] or 0, **worlds)
    show(report_losses(losses), options["as_json"])


def _check(form: str, options: dict[str, Any]) -> None:
    """Refuse, before the original is read, options of another form."""
    if form == "disassociated":
        return
    for name in ("reconstructions", "hierarchy", "layout"):
        if options[name] is not None:
            raise ParameterError(name, options[name], f"it is for disassociated releases, and this one is {form}")


def _worlds(data: Transactions, options: dict[str, Any]) -> dict[str, Any]:
    """The options of `setveil.measure` for disassociated releases."""
    from setveil.pipeline import hierarchy_maker

    tree = hierarchy_maker(options["hierarchy"], options["layout"])(data)
    return {"reconstructions": options["reconstructions"] or 1, "hierarchy": tree}
