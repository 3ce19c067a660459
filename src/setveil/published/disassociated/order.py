"""The order of the parts of a disassociated release in its text."""

from __future__ import annotations

from dataclasses import dataclass

from setveil.data.arrays import Int64s


@dataclass(frozen=True, eq=False)
class Order:
    """The parts of a release in the order of its text."""

    digest: bytes
    """A hash of the text: two releases with the same one publish the same."""
    nodes: Int64s
    """The clusters, each before its parts, siblings by their text."""
    chunks: Int64s
    """The chunks by the place of their cluster, then by their text."""
    subrecords: Int64s
    """The subrecords by the place of their chunk, then by their items."""
