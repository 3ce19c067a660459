"""`setveil querylog`: from a query log to bags of terms."""

import sys
from typing import Any

import click

from setveil.cli.options import (
    FORMAT,
    default_option,
    force_option,
    json_option,
    memory_option,
    output_option,
    several,
)
from setveil.cli.show import progress_bar, show

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
@click.option("--seed", type=click.IntRange(min=0), help="Make the order of records repeatable.")
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

    with progress_bar() as progress:
        done = run(QuerylogJob(**options), progress)
    show(report_log(done), as_json, sys.stderr if str(done.output) == "-" else sys.stdout)
