"""`setveil generate` and `querylog`: make data."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from setveil.cli.options import (
    FORMAT,
    NATURAL,
    count_option,
    default_option,
    file_option,
    force_option,
    json_option,
    memory_option,
    output_option,
    several,
)
from setveil.cli.show import show, worked
from setveil.words import plural

_output = several(output_option("FILE", "The file to write."), force_option)
_format = click.option("--format", type=FORMAT, help="The format.  [default: by the file's name]")
_records = default_option("--records", default=10_000, help="How many records.", type=NATURAL)
_seed = default_option("--seed", default=0, help="The same seed gives the same data.", type=NATURAL)


def _tree(of: str) -> Callable[[Any], Any]:
    return file_option("--hierarchy", "FILE", f"Also write the tree over the {of}.")


@click.group("generate")
def generate() -> None:
    """Generate synthetic data to try things on."""


@generate.command("quest")
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


@generate.command("shop")
@_output
@_format
@_records
@count_option(
    "--products", "How many products the shop has.  [default: the whole catalogue]", metavar=None
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


@generate.command("patients")
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
    """Patients and their diagnosis codes, as a CSV table.

    Its other columns are birth year, sex and postal code.

    \b
    setveil generate patients -o patients.csv --hierarchy codes.hierarchy.csv"""
    from setveil.pipeline import generate

    target = _target(options)
    made = generate.patients(target, **options)
    if str(target.output) != "-":
        size = f"{plural(len(made), 'patient')}, {plural(len(made.stays), 'stay')}"
        click.echo(f"{target.output}: {size}")


@generate.command("querylog")
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
def log(users: int, **options: Any) -> None:
    """A query log in the format of the AOL log.

    Its lines are tab-separated; it is compressed if the name ends with .gz or .zst.

    \b
    setveil generate querylog -o log.tsv --users 20000 --seed 1"""
    from setveil.pipeline import generate

    target = _target(options)
    source = worked(generate.querylog, target, users=users, **options)
    if str(target.output) != "-":
        size = f"{target.output.stat().st_size / 1e6:,.1f} MB"
        click.echo(
            f"{target.output}: queries of {plural(users, 'user')}, {size}, words from {source}"
        )


def _target(options: dict[str, Any]) -> Any:
    from setveil.pipeline.generate import Target

    names = ("output", "format", "force")
    return Target(**{name: options.pop(name) for name in names if name in options})


def _say(output: Path, data: Any) -> None:
    if str(output) != "-":
        items = f"{plural(len(data.vocabulary), 'item')}, {plural(data.occurrences, 'occurrence')}"
        click.echo(f"{output}: {plural(len(data), 'record')}, {items}")


_TERMS = click.Choice(("words", "nouns", "queries"))
_HOW = "by name or position, if not obvious"
_columns = several(
    *(
        click.option(f"--{name}", metavar="COLUMN", help=f"The column of {what}, {_HOW}.")
        for name, what in (("user", "the user"), ("text", "the query text"), ("time", "the time"))
    ),
    click.option("--no-header", is_flag=True, help="The first line is a row, if not obvious."),
    click.option(
        "--time-format",
        metavar="FORMAT",
        help="How times are written: iso, seconds, yymmddhhmmss, dd/mm/yyyy ..., or a pattern "
        "such as '%d.%m.%y %H:%M'.  [default: detected]",
    ),
)


@click.command("querylog")
@click.argument("log", metavar="LOG")
@output_option("FILE", "The data file to write.")
@click.option("--format", type=FORMAT, help="The format of the output.  [default: by its name]")
@default_option(
    "--gap",
    default="inf",
    help="The longest pause within a session, such as 30m; inf: one record per user.",
    type=str,
)
@default_option("--terms", default="words", help="What the items are.", type=_TERMS)
@_columns
@click.option(
    "--wordnet",
    metavar="FOLDER|none",
    help="The folder of WordNet, for base forms; none: keep words as they are.",
)
@click.option(
    "--stop-words",
    metavar="english|none|FILE",
    default="english",
    show_default=True,
    help="Words to drop; a file has one per line.",
)
@click.option("--known", metavar="wordnet|FILE", help="Keep only words of WordNet or of a file.")
@default_option("--min-users", default=1, help="Drop terms that fewer users used.")
@click.option("--keep-empty", is_flag=True, help="Keep users without a term, as empty records.")
@count_option("--seed", "Make the order of records repeatable.", least=0, metavar=None)
@memory_option
@force_option
@json_option
def querylog(as_json: bool, **options: Any) -> None:
    """Turn a query log into bags of terms, one per user or session.

    LOG is an AOL-style log, or a CSV, TSV or Parquet file with columns for user, text and time,
    with or without a header; `-` for standard input. One record per user needs no times. The report
    is about the original log, so it is private. The output has no users and no times, but it is not
    anonymous yet: use `setveil anonymize` next.

    \b
    setveil querylog log.tsv -o terms.csv --gap 30m --terms nouns
    setveil querylog log.txt -o terms.csv --user 1 --time 2 --text 3 --time-format yymmddhhmmss
    setveil querylog searches.parquet -o queries.csv --terms queries --min-users 5"""
    from setveil.pipeline.querylog import QuerylogJob, run
    from setveil.report.inspection import report_log

    done = worked(run, QuerylogJob(**options))
    show(report_log(done), as_json, sys.stderr if str(done.output) == "-" else sys.stdout)
