"""What people have spent, person by person, with sets of names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction


class Told:
    """A release as its owner described it: names (None if not given), their column, population."""

    def __init__(
        self, names: Iterable[str] | None, column: str, population: str, epsilon: Fraction
    ) -> None:
        self.names = None if names is None else frozenset(names)
        self.column, self.population, self.epsilon = column, population, epsilon


def may_have(person: str | None, about: Told, other: Told) -> bool:
    """Whether a person of a release, nobody in particular if None, may be in another."""
    both = bool(about.population and other.population)
    if both and about.population == other.population:
        return True
    if about.names is not None and other.names is not None:
        if about.column == other.column:
            return person in other.names
        if about.names & other.names:
            return True
    return not both


def most_spent(about: Told, releases: Sequence[Told]) -> Fraction:
    """What the person of a release has spent who has spent most."""
    people: list[str | None] = [None] if about.names is None else [*about.names]
    return max(
        (sum((r.epsilon for r in releases if may_have(p, about, r)), Fraction()) for p in people),
        default=sum((r.epsilon for r in releases if may_have(None, about, r)), Fraction()),
    )
