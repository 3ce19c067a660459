"""`setveil compare`: several methods and parameters on the same data."""

from typing import Any

import click

from setveil.cli.options import (
    ITEMS,
    METRIC,
    PROMISE,
    Option,
    count_option,
    file_option,
    force_option,
    json_option,
    output_option,
    reading_options,
    seed_option,
    several,
    tree_file_options,
    tree_option,
)
from setveil.cli.parameters import GroupedCommand
from setveil.cli.show import show, worked
from setveil.pipeline.comparing.cells import axes, item_words
from setveil.pipeline.names import READING, method_words, promise_words

_NEEDED = ["methods", "k", "m", "hierarchy", "spec", "output", "force", "as_json"]


def _axis(name: str) -> Option:
    """An option that takes one value or several."""
    parameter = axes()[name]
    help = parameter.about.help.replace("`", "")
    return click.option(parameter.option, name, metavar="V[,V...]", help=help)


def _items(name: str) -> Option:
    parameter = promise_words()[name].parameter
    help = f"{parameter.about.help} Repeatable."
    return click.option(parameter.option, name, multiple=True, metavar=ITEMS, help=help)


def _groups() -> dict[str, list[str]]:
    promised = ["promise", *(name for name in promise_words() if name not in _NEEDED)]
    return {
        "What everybody needs": _NEEDED,
        "Other promises, each with one or several values": promised,
        "Parameters of methods, each with one or several values": list(method_words()),
        "How it is compared": [
            "metrics",
            "sample",
            "min_people",
            "public_share",
            "reconstructions",
            "workers",
        ],
        "How to read DATA": [*READING, "input_format"],
        "How to read the hierarchy": ["layout", "levels", "qualify", "unknown"],
    }


@click.command("compare", cls=GroupedCommand, groups=_groups())
@click.argument("data", metavar="[DATA]", required=False)
@output_option("DIR", "The folder of the comparison; an unfinished one is continued.")
@click.option("--methods", metavar="NAME[,NAME...]", help="The methods to compare.")
@click.option("--promise", type=PROMISE, help="What to promise.  [default: what the options say]")
@several(*map(_axis, axes()), *map(_items, item_words()))
@tree_option("The tree over the items: a file, or how to build one.")
@tree_file_options
@file_option("--spec", "FILE.toml", "A file with all this; options replace what it says.")
@click.option(
    "--metric",
    "metrics",
    type=METRIC,
    multiple=True,
    help="What to measure; repeatable.  [default: what suits each form, and what all forms have]",
)
@count_option(
    "--workers",
    "How many cells run at once, if memory allows.  [default: one for each core]",
    least=0,
)
@reading_options
@seed_option
@force_option
@json_option
def compare(data: str | None, as_json: bool, **options: Any) -> None:
    """Run several methods and parameters on DATA, and write one table of what each loses.

    Each combination is a cell: it is anonymized, verified and measured in a process of its own. A
    run that was killed continues where it stopped. All figures are computed from the original, so
    the folder is private.

    \b
    setveil compare baskets.csv -o compared --methods partition,mhghs,disassociation \\
        -k 2,5,10 -m 2 --hierarchy products.hierarchy.csv
    setveil compare --spec experiments/he2009-k.toml -o compared"""
    from setveil.pipeline.compare import job_from, run
    from setveil.report.comparison import report_comparison

    found = worked(run, *job_from(data, options))
    show(report_comparison(found), as_json)
