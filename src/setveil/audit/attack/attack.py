"""The attack itself: an adversary draws known items from real records and searches the release."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from setveil.alignment.merging import covered
from setveil.audit.attack.clusterview import view_disassociated
from setveil.audit.attack.findings import both_releases, homogeneity, likelier, unique_records
from setveil.audit.attack.grouped import view_grouped
from setveil.audit.attack.knowing import Knowing, Knowledge
from setveil.audit.attack.outcome import Attack, View
from setveil.audit.attack.rowview import view_generalized, view_suppressed, view_typical_bags
from setveil.audit.verify import gap_of
from setveil.data.arrays import random_from
from setveil.data.transactions import Bags, Transactions
from setveil.errors import DataError
from setveil.published.release import Release

Progress = Callable[[int, int], None]
ATTACKS: dict[str, Callable[[Any, Transactions], View]] = {
    "generalized": view_generalized,
    "suppressed": view_suppressed,
    "typical-bags": view_typical_bags,
    "disassociated": view_disassociated,
    "grouped": view_grouped,
}
"""By form: what an adversary sees. `rowview.view_rows` suits any form with certain rows."""
NOT_ATTACKED = {
    "synthetic": "no record of a synthetic release belongs to a person, so there is nobody to "
    "find; its epsilon bounds what anybody can learn from it, whatever they know",
}
"""By form: why searching its records for a person says nothing."""


def attack(
    release: Release,
    original: Transactions,
    *,
    knows: Iterable[int] | Knowledge = (1, 2, 3),
    trials: int = 10_000,
    private: frozenset[str] = frozenset(),
    seed: int | None = None,
    progress: Progress | None = None,
) -> Attack:
    """How far an adversary gets who knows some items of a person and has the release.

    Args:
        release: The release.
        original: The data it was made from.
        knows: How many items of a person the adversary knows: a row for each number. One row more
            for each of m, m + 1 and m + 2 if the promise covers m items, and one for all items. If
            the promise says that some items are private, one for a private item and one for all of
            them. One for the rarest items of a person. With a `Knowledge`, a row for each other
            thing in it.
        trials: How many people and sets of items are drawn, if there are more.
        private: The items whose inference is reported on its own.
        seed: The same seed gives the same draws.
        progress: Is called with how many rows are done, and of how many.
    """
    data = covered(release, original)
    data = data.sets() if isinstance(data, Bags) else data
    view = view_of(release, covered(release, original))
    knowledge = knows if isinstance(knows, Knowledge) else Knowledge(items=tuple(knows))
    job = Knowing(release, data, view, knowledge, private)
    plan = list(job.plan(trials, random_from(seed), view_of))
    rows = []
    for number, make in enumerate(plan):
        if progress is not None:
            progress(number, len(plan))
        rows += make()
    found = (*view.findings(), *job.found, *homogeneity(rows), *both_releases(rows))
    gaps = gap_of(release.shown, release.tree), *(part.gap for part in release.promise.parts)
    gaps = *gaps, likelier(rows, release.promise.crowd)
    return Attack(
        release.promise,
        release.form,
        len(data),
        view.candidate,
        view.target,
        view.success,
        tuple(rows),
        (*found, *unique_records(release)),
        int(job.private.sum()),
        tuple(gap for gap in gaps if gap),
    )


def view_of(release: Release, original: Transactions) -> View:
    """What an adversary sees of a release.

    Raises:
        DataError: if nobody has said how this form is attacked.
    """
    if release.form in NOT_ATTACKED:
        raise DataError(NOT_ATTACKED[release.form])
    if release.form not in ATTACKS:
        problem = f"there is no attack for the form {release.form}"
        raise DataError(problem, remedy=f"attack one of {', '.join(ATTACKS)}")
    return ATTACKS[release.form](release, original)
