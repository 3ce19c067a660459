"""Which term is published for each slot of SSC, plain and slow.

A slot is a tuple of terms, one of each member of its cluster, and how often it occurs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

Term = str
Slot = tuple[Term, ...]


def shared_out(
    slots: Sequence[tuple[Slot, int]], totals: Counter[Term], halves: bool
) -> list[Term | None]:
    """The term of each slot: one that most members have, of which enough occurrences are left.

    With `halves`, only terms that at least half of the members have; None if there is none."""
    ballots = []
    for terms, _ in slots:
        votes = Counter(terms)
        names = [term for term in votes if not halves or 2 * votes[term] >= len(terms)]
        ballots.append(sorted(names, key=lambda term: (-votes[term], -totals[term], term)))
    left, chosen = Counter(totals), [None] * len(slots)  # type: ignore[var-annotated]
    agreed = [
        Fraction(terms.count(names[0]), len(terms)) if names else Fraction(0)
        for (terms, _), names in zip(slots, ballots, strict=True)
    ]
    for number in sorted(range(len(slots)), key=lambda at: -agreed[at]):
        (terms, times), names = slots[number], ballots[number]
        enough = [term for term in names if left[term] >= len(terms) * times]
        if names:
            chosen[number] = (enough or names)[0]
            left[chosen[number]] -= len(terms) * times
    return chosen
