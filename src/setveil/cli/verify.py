"""`setveil verify`: does a release, or any data file, keep a promise?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from setveil.cli.options import json_option, promise_of, promise_options, reading, reading_options
from setveil.cli.show import show
from setveil.errors import ParameterError

if TYPE_CHECKING:
    from setveil import Generalized, Transactions
    from setveil.promises import Promise


@click.command("verify")
@click.argument("release", metavar="RELEASE|FILE")
@promise_options
@click.option("--original", metavar="DATA", help="The original data: check that each published record stands for one of its records.")
@reading_options
@json_option
def command(release: str, **options: Any) -> None:
    """Does a release folder, or any data file, keep a promise?

    A release is held to the promise it carries, or to the one given. A data file has none, so give one with -k and -m. The answer is
    also the exit code: 0 when it holds; 1 when it does not, with a witness that anybody can look up.

    \b
    setveil verify release
    setveil verify release --original baskets.csv
    setveil verify baskets.csv -k 5 -m 2
    """
    import setveil

    promise = promise_of(options["model"], k=options["k"], m=options["m"])
    original, how = options["original"], reading(options)
    published = _published(release, promise, {} if original else how)
    data = setveil.read(original, **how) if original else None
    verdict = setveil.verify(published, data, promise=promise)

    from setveil.report.sections import report_verdict

    show(report_verdict(verdict), options["as_json"])
    if not verdict.holds:
        raise click.exceptions.Exit(1)


def _published(path: str, promise: Promise | None, how: dict[str, Any]) -> Generalized | Transactions:
    """The release in a folder, or the records of a data file."""
    import setveil

    place = Path(path)
    if place.is_dir() or not (place.exists() or path == "-"):
        return setveil.read_release(place)
    if promise is None:
        raise ParameterError("k", None, f"{path} is a data file and promises nothing: say what to check, as in -k 10")
    return setveil.read(path, **how)
