"""What two releases of the same records reveal together: who is a candidate in both."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from setveil.alignment.merging import covered
from setveil.audit.attack.attack import view_of
from setveil.audit.attack.draws import Items
from setveil.audit.attack.outcome import View
from setveil.data.arrays import Flags, Int64s, random_from
from setveil.data.transactions import Bags, Transactions
from setveil.errors import DataError
from setveil.published.release import Release
from setveil.words import plural

MOST, LEAST = 2_000, 200
"""How many people are tried at most, and of large data."""
_WORK = 200_000_000


@dataclass(frozen=True)
class Together:
    """How many candidates two releases leave together."""

    known: int | None
    """How many items of a person are known; None for all."""
    tried: int
    """How many people were tried, each with one set of items."""
    records: int
    singled_out: int
    """Of how many of them one candidate is left, although each release alone leaves more."""
    fewest: int
    """The fewest candidates that both leave, of those people of whom each alone leaves more."""

    @property
    def sentence(self) -> str:
        """What both together reveal, after the name of the other release."""
        known = f"{'all' if self.known is None else self.known} of their items"
        drawn = "" if self.tried == self.records else f" of {self.records:,}, drawn at random"
        about = f"{plural(self.tried, 'record')}{drawn}"
        if self.singled_out:
            return (
                f"both single out {self.singled_out:,} of {about}: for somebody who knows {known} "
                "and has both, one candidate is left, although each release alone leaves more"
            )
        return (
            f"both leave at least {self.fewest:,} candidates for each of {about} (known: {known})"
        )


def intersect(
    release: Release, other: Release, original: Transactions, seed: int | None = None
) -> Together:
    """How far somebody gets who has two releases of the same records and knows as much of a person
    as either promise allows.

    Raises:
        DataError: if nobody can say which record of the original is where in one of them.
    """
    data = original.sets() if isinstance(original, Bags) else original
    sides = [_Side(each, data) for each in (release, other)]
    knows = [each.promise.most_known for each in (release, other)]
    known = min((number for number in knows if number is not None), default=None)
    hidden = data.vocabulary.marks(release.promise.assumed_unknown | other.promise.assumed_unknown)
    random = random_from(seed)
    tried = min(len(data), max(LEAST, min(MOST, _WORK // max(len(data), 1))))
    singled, fewest = 0, len(data)
    for person in random.permutation(len(data))[:tried].tolist():
        own = data.items[data.entries(person)]
        own = own[~hidden[own]]
        if known is not None and len(own) > known:
            own = np.sort(random.choice(own, known, replace=False))
        one, two = (side.candidates(tuple(own.tolist())) for side in sides)
        both = int((one & two).sum())
        if not (one[person] and two[person]) or min(one.sum(), two.sum()) == 1:
            continue
        singled, fewest = singled + (both == 1), min(fewest, both)
    return Together(known, tried, len(data), singled, fewest)


class _Side:
    """One of two releases: which people may be meant by known items."""

    def __init__(self, release: Release, data: Transactions) -> None:
        own = covered(release, data)
        self.view: View = view_of(release, own)
        home = self.view.home()
        if home is None or len(home) != len(data):
            problem = "nobody can say which record of the data is where in it"
            raise DataError(problem, remedy="give its private alignment to setveil attack")
        self.home: Int64s = home
        self.size = int(home.max(initial=-1)) + 1
        self.numbers = own.vocabulary.find(data.vocabulary).tolist()

    def candidates(self, known: Items) -> Flags:
        """The people who are in a class or cluster that may be that of the person."""
        places = self.view.places(tuple(n for n in (self.numbers[k] for k in known) if n >= 0))
        may = np.zeros(self.size, dtype=np.bool_)
        may[places[places < self.size]] = True
        return np.asarray(may[self.home])
