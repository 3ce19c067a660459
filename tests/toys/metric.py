"""A toy metric: the share of the items that are not published."""

from __future__ import annotations

from dataclasses import dataclass

from setveil.metrics.state import State, measured


@dataclass(frozen=True, eq=False)
class Items(State):
    """The items of the original, and the labels that are published."""

    original: frozenset[str]
    published: frozenset[str]

    @classmethod
    def of(cls, release, original):
        return cls(frozenset(original.vocabulary), release.shown)


@measured(Items.of)
def forgotten(found):
    """The share of the original items that the release does not have."""
    lost = found.original - found.published
    return len(lost) / len(found.original) if found.original else 0.0
