"""Notes: what the person who publishes a release should check. Private: they count in the
original."""

from __future__ import annotations

import numpy as np

from setveil.data.transactions import Transactions
from setveil.errors import Note
from setveil.metrics import METRICS, measure
from setveil.promises.promise import Promise
from setveil.published import Release
from setveil.words import plural, rough_share

PRICES = ("chunked", "pair_error")  # by which the price of an addition to a method is given


def release_notes(release: Release, data: Transactions) -> tuple[str, ...]:
    """What to check in a release before it is handed over."""
    return (
        *_rare_note(release, data),
        *_empty_note(release, data),
        *_sensitive_note(release.promise, data),
        *((Note(release.caution),) if release.caution else ()),
    )


def left_out_note(before: Transactions, data: Transactions, people: int) -> tuple[str, ...]:
    """A note on the items that fewer than `people` people have, if some were left out."""
    items = len(before.vocabulary) - len(data.vocabulary)
    if not items:
        return ()
    lost = rough_share(1 - data.occurrences / before.occurrences)
    text = f"{plural(items, 'item')} that fewer than {people:,} people have"
    was, them = ("was", "it") if items == 1 else ("were", "them")
    text += f" {was} left out, {lost} of all occurrences; losses do not count {them}."
    emptied = int((data.lengths == 0).sum()) - int((before.lengths == 0).sum())
    more = f" This leaves {emptied:,} of {plural(len(data), 'record')} empty." if emptied else ""
    return (text + more,)


def price_note(release: Release, usual: Release, data: Transactions) -> str:
    """What an addition to a method costs, by metrics that the form has."""
    added = (f"{{{key}={value}}}" for key, value in release.method.items() - usual.method.items())
    names = [name for name in PRICES if release.form in METRICS[name].forms]
    pairs = [measure(each, data, names, seed=0) for each in (release, usual)]
    figures = (f"{name} {pairs[0][name]:.3f} (without it {pairs[1][name]:.3f})" for name in names)
    return Note(f"Price of {' and '.join(added)}: {', '.join(figures)}.")


def _rare_note(release: Release, data: Transactions) -> tuple[str, ...]:
    """A note if the release shows items that hardly anybody has: they may be names."""
    k = max(part.crowd for part in release.promise.parts)
    rare = [label for label, n in zip(data.vocabulary, data.supports(), strict=True) if 0 < n < k]
    shown = len(release.shown.intersection(rare))
    if not shown:
        return ()
    text = f"{plural(shown, 'item')} that fewer than {k:,} people have "
    text += "is published as it is" if shown == 1 else "are published as they are"
    remedy = f"leave such items out with {{min_people={k}}}"
    return (Note(f"{text}. If items may be names or free text, {remedy}."),)


def _empty_note(release: Release, data: Transactions) -> tuple[str, ...]:
    """A note if people who have items are published with an empty record."""
    lost = release.empty - int((data.lengths == 0).sum())
    if lost <= 0:
        return ()
    people = "1 person is" if lost == 1 else f"{lost:,} people are"
    return (f"{people} published with an empty record: none of their items could be kept.",)


def _sensitive_note(promise: Promise, data: Transactions) -> tuple[str, ...]:
    """A note if some people have nothing but sensitive items, which no group can hide."""
    named = promise.named_items.get("sensitive", frozenset())
    if not named:
        return ()
    public = np.array([label not in named for label in data.vocabulary], dtype=bool)
    shown = np.bincount(data.rows[public[data.items]], minlength=len(data))
    only = int(((shown == 0) & (data.lengths > 0)).sum())
    if not only:
        return ()
    have = "1 person has" if only == 1 else f"{only:,} people have"
    knows = "An adversary who knows that such a person has none of the other items of their group"
    return (f"{have} only sensitive items. {knows} learns that they have a sensitive one.",)
