"""`setveil generate`: make up data to try things on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from setveil.cli.options import FORMAT, Command, force_option
from setveil.words import plural

_TOPICS, _TOPIC_SIZE = 3_000, 12
_records = click.option(
    "--records",
    type=click.IntRange(min=0),
    default=10_000,
    show_default=True,
    help="How many records.",
)
_seed = click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="The same seed gives the same data.",
)


def _output(command: Command) -> Command:
    """Where to write the data."""
    command = click.option(
        "--format", type=FORMAT, help="The format, when the name of the file does not tell."
    )(command)
    return click.option(
        "-o",
        "--output",
        required=True,
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="The data file to write.",
    )(command)


@click.group("generate")
def command() -> None:
    """Make up data to try things on."""


@command.command("quest")
@_output
@_records
@click.option(
    "--items",
    type=click.IntRange(min=1),
    default=1_000,
    show_default=True,
    help="How many items to draw from.",
)
@click.option(
    "--average-length",
    type=click.FloatRange(min=1),
    default=10,
    show_default=True,
    help="Items of a record on average.",
)
@click.option(
    "--patterns",
    type=click.IntRange(min=1),
    default=2_000,
    show_default=True,
    help="How many itemsets people like.",
)
@_seed
@force_option
def quest(output: Path, format: str | None, force: bool, **numbers: Any) -> None:
    """Records of numbered items, after the IBM Quest generator.

    \b
    setveil generate quest -o quest.dat --records 100000
    """
    import setveil
    from setveil.data.generate import quest

    data = quest(**numbers)
    setveil.write(data, output, format=format, force=force)
    _say(output, data)


@command.command("shop")
@_output
@_records
@click.option(
    "--products",
    type=click.IntRange(min=1),
    help="How many products the shop has.  [default: all of the catalogue]",
)
@click.option(
    "--hierarchy",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the tree over the products as well.",
)
@_seed
@force_option
def shop(
    output: Path,
    format: str | None,
    records: int,
    products: int | None,
    hierarchy: Path | None,
    seed: int,
    force: bool,
) -> None:
    """Baskets of a shop, and an uneven tree over its products.

    \b
    setveil generate shop -o baskets.csv --hierarchy products.hierarchy.csv
    """
    import setveil
    from setveil.data.generate import shop
    from setveil.disk import check_place
    from setveil.hierarchy.files import write_hierarchy

    for place in (output, hierarchy):
        if place is not None and str(place) != "-":
            check_place(place, force=force)
    made = shop(records, seed, products=products)
    if hierarchy is not None:
        write_hierarchy(setveil.Hierarchy.from_paths(made.paths), hierarchy, force=force)
    setveil.write(made.data, output, format=format, force=force)
    _say(output, made.data)


@command.command("querylog")
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The log to write.",
)
@click.option(
    "--users", type=click.IntRange(min=0), default=20_000, show_default=True, help="How many users."
)
@click.option(
    "--queries",
    type=click.FloatRange(1, 10_000),
    default=13.5,
    show_default=True,
    help="Queries of a user on average.",
)
@click.option(
    "--topics",
    metavar="wordnet|catalogue",
    help="Where the words come from.  [default: wordnet where it is installed]",
)
@_seed
@force_option
def querylog(
    output: Path, users: int, queries: float, topics: str | None, seed: int, force: bool
) -> None:
    """A query log in the shape of the AOL log.

    It has tab-separated lines and is packed when the name ends with .gz or .zst. Of the topics `wordnet:FOLDER` names where WordNet lies.

    \b
    setveil generate querylog -o log.tsv --users 20000 --seed 1
    """
    from setveil.cli.show import working
    from setveil.data.generate import querylog
    from setveil.disk import new_file
    from setveil.io.writing import compression_of, write_lines, write_to_output

    words, source = _topics(topics)
    lines = querylog(users, seed, topics=words, queries=queries)
    if str(output) == "-":
        write_to_output(lines)
        return
    with new_file(output, force=force) as temporary, working("writing the log"):
        write_lines(lines, temporary, compression_of(output))
    click.echo(
        f"{output}: queries of {plural(users, 'user')}, {output.stat().st_size / 1e6:,.1f} MB, words from {source}"
    )


def _topics(given: str | None) -> tuple[list[list[str]] | None, str]:
    """Groups of related words, and where they come from."""
    from setveil.hierarchy.wordnet.network import WordNet

    name, _, folder = (given or ("wordnet" if WordNet.find() else "catalogue")).partition(":")
    if name == "catalogue" and not folder:
        return None, "the built-in catalogue"
    if name != "wordnet":
        raise click.BadParameter(
            f"{given!r} is not wordnet, wordnet:FOLDER or catalogue", param_hint="'--topics'"
        )
    return WordNet.read(folder or None).topics(_TOPICS, _TOPIC_SIZE, seed=0), "WordNet"


def _say(output: Path, data: Any) -> None:
    if str(output) != "-":
        held = f"{plural(len(data.vocabulary), 'item')}, {plural(data.occurrences, 'occurrence')}"
        click.echo(f"{output}: {plural(len(data), 'record')}, {held}")
