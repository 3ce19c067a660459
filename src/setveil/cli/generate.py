"""`setveil generate`: synthetic data to try things on."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from setveil.cli.options import (
    FORMAT,
    NATURAL,
    default_option,
    force_option,
    output_option,
    several,
)
from setveil.cli.show import progress_bar
from setveil.words import plural

_output = several(output_option("FILE", "The file to write."), force_option)
_format = click.option("--format", type=FORMAT, help="The format.  [default: by the file's name]")
_records = default_option("--records", default=10_000, help="How many records.", type=NATURAL)
_seed = default_option("--seed", default=0, help="The same seed gives the same data.", type=NATURAL)


def _tree(of: str) -> Callable[[Any], Any]:
    """The option for a file with the tree over the items."""
    about = f"Also write the tree over the {of}."
    place = click.Path(path_type=Path)
    return click.option("--hierarchy", type=place, metavar="FILE", help=about)


@click.group("generate")
def command() -> None:
    """Generate synthetic data to try things on."""


@command.command("quest")
@_output
@_format
@_records
@default_option("--items", default=1_000, help="How many items to choose from.")
@default_option(
    "--average-length",
    default=10,
    help="Items per record on average.",
    type=click.FloatRange(min=1),
)
@default_option("--patterns", default=2_000, help="How many itemsets people like.")
@_seed
def quest(**options: Any) -> None:
    """Records of numbered items, after the IBM Quest generator.

    \b
    setveil generate quest -o quest.dat --records 100000"""
    from setveil.pipeline import generate

    target = _target(options)
    _say(target.output, generate.quest(target, **options))


@command.command("shop")
@_output
@_format
@_records
@click.option(
    "--products",
    type=click.IntRange(min=1),
    help="How many products the shop has.  [default: the whole catalogue]",
)
@_tree("products")
@_seed
def shop(**options: Any) -> None:
    """Baskets of a shop, and an uneven tree over its products.

    \b
    setveil generate shop -o baskets.csv --hierarchy products.hierarchy.csv"""
    from setveil.pipeline import generate

    target = _target(options)
    _say(target.output, generate.shop(target, **options))


@command.command("patients")
@_output
@default_option("--patients", "count", default=20_000, help="How many patients.", type=NATURAL)
@click.option(
    "--stays",
    "by_stay",
    is_flag=True,
    help="One row for each stay in a hospital, not each patient.",
)
@_tree("codes")
@_seed
def patients(**options: Any) -> None:
    """Patients with birth year, sex, postal code and diagnosis codes, as a CSV table.

    \b
    setveil generate patients -o patients.csv --hierarchy codes.hierarchy.csv"""
    from setveil.pipeline import generate

    target = _target(options)
    made = generate.patients(target, **options)
    if str(target.output) != "-":
        size = f"{plural(len(made), 'patient')}, {plural(len(made.stays), 'stay')}"
        click.echo(f"{target.output}: {size}")


@command.command("querylog")
@_output
@default_option("--users", default=20_000, help="How many users.", type=NATURAL)
@click.option(
    "--queries",
    type=click.FloatRange(1, 10_000),
    help="Queries per user on average.  [default: 13.5, or 78 with --shape long-tail]",
)
@default_option(
    "--shape",
    default="topics",
    type=click.Choice(["topics", "long-tail"]),
    help="topics: people ask about related things; long-tail: like a real log, with short "
    "sessions, a few very popular queries and many rare nouns.",
)
@click.option(
    "--topics",
    metavar="wordnet[:FOLDER]|catalogue",
    help="The source of the words.  [default: wordnet if it is installed]",
)
@_seed
def querylog(users: int, **options: Any) -> None:
    """A query log in the format of the AOL log.

    Its lines are tab-separated; it is compressed if the name ends with .gz or .zst.

    \b
    setveil generate querylog -o log.tsv --users 20000 --seed 1"""
    from setveil.pipeline import generate

    target = _target(options)
    with progress_bar() as progress:
        source = generate.querylog(target, progress=progress, users=users, **options)
    if str(target.output) != "-":
        size = f"{target.output.stat().st_size / 1e6:,.1f} MB"
        click.echo(
            f"{target.output}: queries of {plural(users, 'user')}, {size}, words from {source}"
        )


def _target(options: dict[str, Any]) -> Any:
    """Where to write, taken out of the options."""
    from setveil.pipeline.generate import Target

    names = ("output", "format", "force")
    return Target(**{name: options.pop(name) for name in names if name in options})


def _say(output: Path, data: Any) -> None:
    if str(output) != "-":
        items = f"{plural(len(data.vocabulary), 'item')}, {plural(data.occurrences, 'occurrence')}"
        click.echo(f"{output}: {plural(len(data), 'record')}, {items}")
