"""`setveil measure`: what a release has lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from setveil.cli.options import (
    METRIC,
    TREE,
    json_option,
    layout_option,
    reading,
    reading_options,
    seed_option,
)
from setveil.cli.show import show, working
from setveil.errors import MisfitError, ParameterError, UnknownItemError
from setveil.words import plural

if TYPE_CHECKING:
    from setveil import Generalized, Hierarchy


@click.command("measure")
@click.argument("release", metavar="RELEASE")
@click.option(
    "--original", required=True, metavar="DATA", help="The data that the release was made of."
)
@click.option(
    "--metric",
    "metrics",
    type=METRIC,
    multiple=True,
    help="What to measure; may be repeated.  [default: all that apply]",
)
@click.option(
    "--alignment",
    metavar="FILE",
    help="The private alignment, so that each record is compared with its own original.",
)
@click.option(
    "--reconstructions",
    type=click.IntRange(min=1),
    metavar="N",
    help="Average over N reconstructions (disassociated).",
)
@click.option(
    "--hierarchy",
    "--semantics",
    "hierarchy",
    metavar=TREE,
    help="The tree, where the release does not hold all of it.",
)
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
    from setveil.hierarchy.recipes import hierarchy_maker
    from setveil.report.sections import report_losses

    published = setveil.read_release(release)
    _check(published, options)
    if options["alignment"]:
        from setveil.io.releases.alignment import with_alignment

        published = with_alignment(published, options["alignment"])
    data = setveil.read(original, **reading(options))
    tree = hierarchy_maker(options["hierarchy"], options["layout"])(data)
    if isinstance(published, setveil.Generalized) and tree is not None:
        published, tree = _over(published, tree), None
    worlds: dict[str, Any] = {"reconstructions": options["reconstructions"] or 1, "hierarchy": tree}
    with working("measuring"):
        losses = setveil.measure(
            published, data, list(metrics) or None, seed=options["seed"] or 0, **worlds
        )
    show(report_losses(losses, None if metrics else published), options["as_json"])


def _check(published: Any, options: dict[str, Any]) -> None:
    """Refuse, before the original is read, options that this release has no use for."""
    import setveil

    form = published.form
    if options["reconstructions"] is not None and form != "disassociated":
        raise ParameterError(
            "reconstructions",
            options["reconstructions"],
            f"it is for disassociated releases, and this one is {form}",
        )
    holds_all = form == "suppressed" or (
        isinstance(published, setveil.Generalized) and not published.hierarchy.origin.pruned
    )
    for name in ("hierarchy", "layout"):
        if options[name] is not None and holds_all:
            why = "needs none" if form == "suppressed" else "brings its own, whole"
            raise ParameterError(
                name,
                options[name],
                f"it says which tree the losses are measured on, and this {form} release {why}",
            )


def _over(release: Generalized, tree: Hierarchy) -> Generalized:
    """A release of which only a part of the tree was published, over the whole tree."""
    try:
        return release.on(tree)
    except UnknownItemError as error:
        problem = f"it shows {plural(len(error.items), 'node')} that the given tree does not have"
        raise MisfitError(problem, published=error.items) from None
