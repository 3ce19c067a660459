"""Which term is published for each slot of SSC, plain and slow.

A slot is the number of its cluster, a tuple of terms, one of each member, and how often it occurs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

Term = str
Slot = tuple[Term, ...]


def shared_out(
    slots: Sequence[tuple[int, Slot, int]],
    totals: Counter[Term],
    people: Counter[Term],
    halves: bool,
) -> list[Term | None]:
    """The term of each slot: one that most members have, of which enough is left. That is, no more
    occurrences are published than there are, and for no more people than have the term.

    With `halves`, only terms that at least half of the members have; None if there is none."""
    ballots = []
    for _, terms, _ in slots:
        votes = Counter(terms)
        names = [term for term in votes if not halves or 2 * votes[term] >= len(terms)]
        ballots.append(sorted(names, key=lambda term: (-votes[term], -totals[term], term)))
    published, chosen = Counter[Term](), [None] * len(slots)  # type: ignore[var-annotated]
    shown_in: dict[Term, dict[int, int]] = {term: {} for term in totals}
    agreed = [
        Fraction(terms.count(names[0]), len(terms)) if names else Fraction(0)
        for (_, terms, _), names in zip(slots, ballots, strict=True)
    ]
    for number in sorted(range(len(slots)), key=lambda at: -agreed[at]):
        (cluster, terms, times), names = slots[number], ballots[number]
        enough = []
        for term in names:
            shown = {**shown_in[term], cluster: len(terms)}
            is_new = cluster not in shown_in[term]
            if is_new and sum(shown.values()) > people[term]:
                continue
            if published[term] + len(terms) * times <= totals[term]:
                enough.append(term)
        if names:
            most = max(names, key=lambda term: totals[term] - published[term])
            chosen[number] = enough[0] if enough else most
            published[chosen[number]] += len(terms) * times
            shown_in[chosen[number]][cluster] = len(terms)
    return chosen
