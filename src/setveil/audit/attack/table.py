"""How each published form looks to an adversary: one line for a new form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from setveil.audit.attack.clusters import view_disassociated
from setveil.audit.attack.rows import view_generalized, view_suppressed, view_typical_bags
from setveil.audit.attack.view import View
from setveil.data.transactions import Transactions
from setveil.errors import DataError
from setveil.published.release import Release

ATTACKS: dict[str, Callable[[Any, Transactions], View]] = {
    "generalized": view_generalized,
    "suppressed": view_suppressed,
    "typical-bags": view_typical_bags,
    "disassociated": view_disassociated,
}
"""By form: what an adversary sees. `rows.view_rows` suits any form with certain rows."""

NOT_ATTACKED = {
    "synthetic": "no record of a synthetic release belongs to a person, so there is nobody to "
    "find; its epsilon bounds what anybody can learn from it, whatever they know",
}
"""By form: why searching its records for a person says nothing."""


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
