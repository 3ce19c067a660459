"""`setveil querylog`: from a query log to vocabularies."""

from __future__ import annotations

import sys
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from setveil.cli.options import FORMAT, force_option, json_option
from setveil.cli.show import progress_bar, show
from setveil.errors import DataError, OutputError

if TYPE_CHECKING:
    from setveil.data.querylog.findings import LogReport
    from setveil.data.querylog.terms import Lemma


@click.command("querylog")
@click.argument("log", metavar="LOG")
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The vocabularies to write.",
)
@click.option(
    "--format", type=FORMAT, help="The format of the output, when its name does not tell."
)
@click.option(
    "--gap",
    default="inf",
    show_default=True,
    help="The longest pause inside a session, as in 30m; inf: one record per user.",
)
@click.option(
    "--terms",
    type=click.Choice(("words", "nouns", "queries")),
    default="words",
    show_default=True,
    help="What the items are.",
)
@click.option("--user", metavar="COLUMN", help="The column of the user, when it is not obvious.")
@click.option(
    "--text", metavar="COLUMN", help="The column of the query text, when it is not obvious."
)
@click.option("--time", metavar="COLUMN", help="The column of the time, when it is not obvious.")
@click.option(
    "--wordnet",
    metavar="FOLDER|none",
    help="Where WordNet lies, for base forms; none: words stay as they are.",
)
@click.option(
    "--stop-words",
    metavar="english|none|FILE",
    default="english",
    show_default=True,
    help="Words to drop, one on each line.",
)
@click.option(
    "--known", metavar="wordnet|FILE", help="Keep only words that WordNet or a list knows."
)
@click.option(
    "--min-users",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Drop terms that fewer users issued.",
)
@click.option(
    "--keep-empty", is_flag=True, help="Keep vocabularies without a term, as empty records."
)
@click.option(
    "--seed", type=click.IntRange(min=0), help="Make the order of the records repeatable."
)
@click.option(
    "--memory-limit", metavar="SIZE", help="The most memory of the database, as in 500MB."
)
@force_option
@json_option
def command(
    log: str,
    output: Path,
    terms: str,
    format: str | None,
    force: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """From a query log to vocabularies: the bag of terms of each user, or of each session.

    LOG is an AOL-style log, or a CSV, TSV or Parquet file with columns for user, text and time; `-` for standard input. The report is about
    the original: private. What is written holds no users and no times, but is not anonymous yet; `setveil anonymize` takes it from there.

    \b
    setveil querylog log.tsv -o vocab.csv --gap 30m --terms nouns
    setveil querylog searches.parquet -o queries.csv --terms queries --min-users 5
    """
    import setveil
    from setveil.disk import check_place
    from setveil.io.files import format_by_name
    from setveil.report.querylog import report_log

    if str(output) != "-":
        check_place(output, force=force)
        _keep_the_log(log, output)
    format = format or ("csv" if str(output) == "-" else format_by_name(output))
    chosen = {
        **options,
        "stop_words": _stop_words(options["stop_words"]),
        "known": _known(options["known"]),
    }
    lemma = _lemma(chosen.pop("wordnet"), needed=terms == "nouns" or chosen["known"] == "wordnet")
    with progress_bar() as progress:
        chosen |= {"terms": terms, "lemma": lemma, "progress": progress}
        data, found = setveil.read_querylog(log, **chosen)
        if not len(data):
            raise DataError(_nothing_left(found))
        setveil.write(data, output, format=format, force=force)
    report = report_log(found, str(output), terms)
    show(report, as_json, sys.stderr if str(output) == "-" else sys.stdout)


def _keep_the_log(log: str, output: Path) -> None:
    """Refuse to write over the log, even where overwriting is allowed."""
    if output.exists() and Path(log).exists() and output.samefile(log):
        raise OutputError(output, "this file is read as input; choose another name")


def _nothing_left(found: LogReport) -> str:
    dropped = f"{found.stopped_occurrences:,} stop words, {found.unknown_occurrences:,} unknown, {found.rare_occurrences:,} rare"
    return f"no term is left of {found.occurrences:,} in {found.queries:,} queries ({dropped}); nothing was written"


def _stop_words(given: str) -> Collection[str]:
    from setveil.data.querylog.terms import STOP_WORDS
    from setveil.io.itemlist import read_items

    return STOP_WORDS if given == "english" else () if given == "none" else read_items(given)


def _known(given: str | None) -> Any:
    from setveil.io.itemlist import read_items

    return given if given in (None, "wordnet") else read_items(str(given))


def _lemma(given: str | None, *, needed: bool) -> Lemma | None:
    from setveil.data.querylog.terms import as_written
    from setveil.hierarchy.wordnet.network import WordNet

    if given is None:
        return None
    if given != "none":
        return WordNet.read(given).lemma
    if needed:
        raise click.UsageError(
            "Nouns and known words are told by WordNet: leave out `--wordnet none`"
        )
    return as_written
