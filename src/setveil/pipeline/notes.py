"""What the person who publishes a release should see: notes on what to check, and examples of
original records with what was published for each. Private: they count in the original."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from setveil.data.people import People, had_by_few, holders
from setveil.data.transactions import Transactions
from setveil.errors import Note
from setveil.hierarchy.tree import Hierarchy
from setveil.metrics import METRICS, measure
from setveil.promises.promise import Promise
from setveil.published import Release
from setveil.words import are, plural, rough_share

FORMULA = "=+-@"
_NUMBER = re.compile(r"[+-]?\d+([.,]\d*)?")
EFFECTS = ("chunked", "pair_error")  # by which the effect of an addition to a method is given


def release_notes(
    release: Release, data: Transactions, people: People | None = None
) -> tuple[str, ...]:
    """What to check in a release before it is handed over; `people` has the person of each record,
    if that is known."""
    return (
        *rare_note(release.shown, data, release.promise, people),
        *_empty_note(release, data),
        *_sensitive_note(release.promise, data),
        *((Note(release.caution),) if release.caution else ()),
    )


def formula_note(shown: Collection[str], files: Collection[str]) -> tuple[str, ...]:
    """A note if published items look like formulas to a spreadsheet that opens a CSV file."""
    found = sum(label[:1] in FORMULA and not is_number(label) for label in shown)
    if not found or not any(name.endswith(".csv") for name in files):
        return ()
    begins, them = ("begins", "it") if found == 1 else ("begin", "them")
    text = f"{plural(found, 'published item')} {begins} with =, +, - or @: a spreadsheet that opens"
    return (
        Note(
            f"{text} data.csv may take {them} for formulas. Say so to the receivers, or write "
            "{format=parquet}."
        ),
    )


def is_number(label: str) -> bool:
    """Whether a spreadsheet shows it as a number, such as -5 or +1.5."""
    return _NUMBER.fullmatch(label) is not None


def names_note(
    words: int, items: int, records: int, k: int, people: People | None = None
) -> tuple[str, ...]:
    """A note on items that may be names, if there are such `words`."""
    if not words:
        return ()
    where = "are in one record only" if people is None else "belong to one person only"
    text = f"{words:,} of {plural(items, 'item')} {where}: they may be names or free"
    ways = f"Leave out rare items with {{min_people={k}}}, or add noise and let items be "
    ways += f"found privately with {{epsilon=1}} {{delta={private_delta(records)}}}."
    return (Note(f"{text} text. {ways}"),)


def private_delta(records: int) -> str:
    """A delta that is well below 1 divided by the number of records."""
    return f"1e-{len(str(records)) + 2}"


def left_out_note(
    before: Transactions, data: Transactions, few: int, people: People | None = None
) -> tuple[str, ...]:
    """A note on the items that fewer than `few` people (or records) have, if some were left out."""
    items = len(before.vocabulary) - len(data.vocabulary)
    if not items:
        return ()
    lost = rough_share(1 - data.occurrences / before.occurrences)
    text = f"{plural(items, 'item')} {had_by_few(few, people, items)}"
    was, them = ("was", "it") if items == 1 else ("were", "them")
    text += f" {was} left out, {lost} of all occurrences; losses do not count {them}."
    emptied = int((data.lengths == 0).sum()) - int((before.lengths == 0).sum())
    more = f" This leaves {emptied:,} of {plural(len(data), 'record')} empty." if emptied else ""
    return (text + more,)


def sets_note(data: Transactions, reads: str) -> tuple[str, ...]:
    """A note if records have counts, and the method reads sets only."""
    if reads != "sets" or not (data.times > 1).any():
        return ()
    return ("How often a record has an item was ignored: only which items it has is published.",)


def unused_note(tree: Hierarchy | None, data: Transactions) -> tuple[str, ...]:
    """A note if a public list of items, the leaves of a tree, has items that the data lacks."""
    if tree is None or tree.origin.kind != "given":
        return ()
    listed = tree.labels[: tree.leaf_count]
    unused = sum(label not in data.vocabulary for label in listed)
    if not unused:
        return ()
    does = "does" if unused == 1 else "do"
    text = f"{unused:,} of {len(listed):,} items of the public list {does} not occur in the data."
    return (f"{text} That is no fault: noise hides which ones, and may publish some of them.",)


def effect_note(release: Release, usual: Release, data: Transactions, seed: int) -> str:
    """What an addition to a method changes, by metrics that the form has; with the seed with which
    losses are measured, so that a figure is the same in both places."""
    added = (f"{{{key}={value}}}" for key, value in release.method.items() - usual.method.items())
    names = [name for name in EFFECTS if release.form in METRICS[name].forms]
    pairs = [measure(each, data, names, seed=seed) for each in (release, usual)]
    figures = (f"{name} {pairs[0][name]:.3f} (without it {pairs[1][name]:.3f})" for name in names)
    return Note(f"Effect of {' and '.join(added)}: {', '.join(figures)}.")


def rare_note(
    published: frozenset[str], data: Transactions, promise: Promise, people: People | None = None
) -> tuple[str, ...]:
    """A note if items are published that fewer than k people (or records) have: perhaps names, or
    the private ones."""
    asked = promise if people is None else promise.of_people
    k, counts = max(part.crowd for part in asked.parts), holders(data, people)
    rare = [label for label, n in zip(data.vocabulary, counts, strict=True) if 0 < n < k]
    shown = published.intersection(rare)
    if not shown:
        return ()
    text = f"{plural(len(shown), 'item')} {had_by_few(k, people, len(shown))} "
    text += "is published as it is" if len(shown) == 1 else "are published as they are"
    hidden = len(promise.assumed_unknown & shown)
    if hidden:
        which = f"{hidden:,} of them" if hidden < len(shown) else "It" if hidden == 1 else "All"
        text += f". {which} {'is a private item' if hidden == 1 else 'are private items'}: "
        text += "somebody who knows that a person has such an item may find their record"
    remedy = f"leave such items out with {{min_people={k}}}"
    return (Note(f"{text}. If items may be names or free text, {remedy}."),)


def _empty_note(release: Release, data: Transactions) -> tuple[str, ...]:
    """A note if records that have items are published empty."""
    lost = release.empty - int((data.lengths == 0).sum())
    if lost <= 0:
        return ()
    their = "its" if lost == 1 else "their"
    return (f"{are(lost, 'record')} published empty: none of {their} items could be kept.",)


def _sensitive_note(promise: Promise, data: Transactions) -> tuple[str, ...]:
    """A note if some records have nothing but sensitive items, which no group can hide."""
    named = promise.named_items.get("sensitive", frozenset())
    if not named:
        return ()
    public = np.array([label not in named for label in data.vocabulary], dtype=bool)
    shown = np.bincount(data.rows[public[data.items]], minlength=len(data))
    only = int(((shown == 0) & (data.lengths > 0)).sum())
    if not only:
        return ()
    have = "1 record has" if only == 1 else f"{only:,} records have"
    knows = "An adversary who knows that such a person has none of the other items of their group"
    return (f"{have} only sensitive items. {knows} learns that they have a sensitive one.",)


SHOWN = 3
FEW, MANY = 2, 6  # the items of records that are easy to read


class Example(NamedTuple):
    """A record of the original, and what the release says in its place."""

    original: tuple[str, ...]
    """Its items, with counts above 1."""
    published: str


def examples(release: Release, data: Transactions, shown: int = SHOWN) -> tuple[Example, ...]:
    """Up to `shown` records, spread over the data, before and after.

    Nothing if the release does not know which of its records belongs to whom."""
    if release.alignment is None:
        return ()
    few = np.flatnonzero((data.lengths >= FEW) & (data.lengths <= MANY))
    rows = few if len(few) else np.flatnonzero(data.lengths > 0)
    chosen = rows[np.arange(1, shown + 1) * len(rows) // (shown + 1)] if len(rows) else rows
    return tuple(
        Example(data.shown(number), release.published_as(number, data.record(number)))
        for number in np.unique(chosen).tolist()
    )
