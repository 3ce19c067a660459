"""What is asked about a release."""

from __future__ import annotations

from dataclasses import dataclass

from setveil.data.transactions import Transactions
from setveil.hierarchy.tree import Hierarchy
from setveil.promises.promise import Promise


@dataclass(frozen=True, kw_only=True)
class Question:
    """Does the release keep this promise, and does it come from this original?"""

    promise: Promise
    original: Transactions | None = None
    """None if only the promise is checked."""
    hierarchy: Hierarchy | None = None
    """The tree that items were compared with, if the release does not have it."""
    limit: int = 1
    """The most witnesses for each check."""
