"""A toy method: count the people of each item, and leave out the rare ones."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from setveil.methods.method import Method
from setveil.parameters import about
from setveil.published.suppressed import Suppressed
from tests.toys.form import Tallies
from tests.toys.promise import Quorum


@dataclass(frozen=True, kw_only=True)
class Tally(Method[Tallies]):
    """Publishes how many people have each item that enough people have."""

    name: ClassVar[str] = "tally"
    promises: ClassVar = (Quorum,)
    needs_hierarchy: ClassVar[bool] = False
    reads: ClassVar = "sets"
    form: ClassVar[str] = Tallies.form

    margin: int = field(default=0, metadata=about("Leave out items this close to q.", least=0))

    def _anonymize(self, request):
        data, least = request.records, request.promise.q + self.margin
        supports = data.supports()
        kept = np.flatnonzero(supports >= least).tolist()
        labels = sorted(data.vocabulary[item] for item in kept)
        numbers = data.vocabulary.encode(labels) if labels else np.zeros(0, dtype=np.int32)
        sizes = supports[numbers].astype(np.int64)
        return Tallies(tuple(labels), sizes, len(data), request.promise, self.to_dict())


@dataclass(frozen=True, kw_only=True)
class Prune(Method[Suppressed]):
    """Publishes records without the items that too few people have: a new promise on an old
    form."""

    name: ClassVar[str] = "prune"
    promises: ClassVar = (Quorum,)
    needs_hierarchy: ClassVar[bool] = False
    reads: ClassVar = "sets"
    form: ClassVar[str] = Suppressed.form

    def _anonymize(self, request):
        kept = request.records.without_rare(request.promise.q)
        rows = np.arange(len(kept))
        return Suppressed.of_rows(kept, request.promise, self.to_dict(), alignment=rows)
