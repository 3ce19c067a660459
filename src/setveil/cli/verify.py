"""`setveil verify`: does a release, or any data file, keep a promise?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from setveil.cli.options import (
    TREE,
    json_option,
    layout_option,
    promise_of,
    promise_options,
    reading,
    reading_options,
)
from setveil.cli.show import show, working
from setveil.errors import ParameterError

if TYPE_CHECKING:
    from setveil import Disassociated, Hierarchy, Transactions, Vocabulary
    from setveil.promises import Promise


@click.command("verify")
@click.argument("release", metavar="RELEASE|FILE")
@promise_options
@click.option(
    "--original", metavar="DATA", help="The original data: check that the release stems from it."
)
@click.option(
    "--alignment",
    metavar="FILE",
    help="The private alignment: check that each record is the image of its own original.",
)
@click.option(
    "--hierarchy",
    "--semantics",
    "hierarchy",
    metavar=TREE,
    help="The tree by which vocabularies were made, or of --private under:NODE.",
)
@layout_option
@reading_options
@json_option
def command(release: str, **options: Any) -> None:
    """Does a release folder, or any data file, keep a promise?

    A release is held to the promise it carries, or to the one given. A data file has none, so give one with -k and -m; a file of JSON
    lines may hold the clusters of disassociated data. The answer is also the exit code: 0 when it holds; 1 when it does not, with a
    witness that anybody can look up.

    \b
    setveil verify release
    setveil verify release --original baskets.csv
    setveil verify baskets.csv -k 5 -m 2
    setveil verify clusters.jsonl -k 5 -m 2
    setveil verify visits.csv -k 20 -p 3 --h 0.6 --private illnesses.txt
    setveil verify bags.csv -k 5 --promise vocabulary-k-anonymity
    """
    import setveil
    from setveil.pipeline import check_release, check_sensitive, with_private
    from setveil.report.sections import report_verdict

    promise = promise_of(options)
    original, how = options["original"], reading(options)
    place = Path(release)
    is_folder = place.is_dir() or not (place.exists() or release == "-")
    published = (
        setveil.read_release(place)
        if is_folder
        else _bare(release, promise, {} if original else how)
    )
    data = setveil.read(original, **how) if original else None
    tree, below = _trees(published, data, options)
    vocabulary = _vocabulary(published if data is None else data)
    promise = (
        with_private(
            _as_published(promise, published, options), options["private"], vocabulary, below
        )
        if promise
        else None
    )
    named = isinstance(published, setveil.Disassociated) or bool(options["private"])
    notes = check_sensitive(promise, vocabulary) if promise and named else ()
    notes += _notes(place if is_folder else None, published, promise, options)
    with working("verifying"):
        verdict = check_release(
            published, data, promise=promise, alignment=options["alignment"], hierarchy=tree
        )
    show(report_verdict(verdict, notes), options["as_json"])
    if not verdict.holds:
        raise click.exceptions.Exit(1)


def _as_published(promise: Promise, published: Any, options: dict[str, Any]) -> Promise:
    """A promise of coherence that names no private items, with those that the release names."""
    from setveil.promises import Coherence

    own = getattr(published, "promise", None)
    if isinstance(promise, Coherence) and isinstance(own, Coherence) and not options["private"]:
        return replace(promise, private=own.private)
    return promise


def _notes(
    folder: Path | None, published: Any, promise: Promise | None, options: dict[str, Any]
) -> tuple[str, ...]:
    """What nobody has looked at, and what an answer may not mean."""
    from setveil.data.transactions import Bags
    from setveil.io.releases.folder import other_files
    from setveil.promises import Coherence, VocabularyKAnonymity

    notes, others = [], [] if folder is None else other_files(folder)
    if others:
        named = ", ".join(others[:3]) + (f" and {len(others) - 3} more" if len(others) > 3 else "")
        notes.append(
            f"The folder also holds {named}: no part of the release, and not looked at. Take it out before handing the folder on."
        )
    counted = isinstance(published, Bags) and not isinstance(promise, VocabularyKAnonymity)
    if counted and options["bags"] is None and options["count"] is None:
        notes.append(
            "It was counted how often an item stands in a record, as a reader of the file sees it; --sets leaves that out."
        )
    if isinstance(promise, Coherence) and not promise.private and promise.h < 1:
        notes.append(
            f"No item is private, so h = {promise.h:g} bounds nothing: name the private items with --private."
        )
    return tuple(notes)


def _vocabulary(data: Any) -> Vocabulary:
    """The items of data or of a release; of the original, where it is known, for a release may show fewer."""
    found: Vocabulary = data.vocabulary if hasattr(data, "vocabulary") else data.items
    return found


def _trees(
    published: Any, data: Transactions | None, options: dict[str, Any]
) -> tuple[Hierarchy | None, Hierarchy | None]:
    """The tree that the items of vocabularies are compared by, and the one whose nodes `--private under:NODE` names."""
    import setveil
    from setveil.hierarchy.recipes import hierarchy_maker

    if options["hierarchy"] is None and options["layout"] is None:
        return None, None
    make = hierarchy_maker(options["hierarchy"], options["layout"])
    if any(named.startswith("under:") for named in options["private"]):
        return None, make(getattr(published, "classes", published) if data is None else data)
    if data is None or not isinstance(published, setveil.TypicalBags):
        why = "it is for comparing a release of vocabularies with its --original, or for --private under:NODE"
        raise ParameterError("hierarchy", options["hierarchy"], why)
    return make(data), None


def _bare(path: str, promise: Promise | None, how: dict[str, Any]) -> Disassociated | Transactions:
    """The clusters or the records of a data file."""
    from setveil.io.releases.disassociated import read_bare

    if promise is None:
        raise ParameterError(
            "k", None, f"{path} is a data file and promises nothing: say what to check, as in -k 10"
        )
    return read_bare(path, promise, **how)
