"""A toy metric: the share of the items that are not published."""

from __future__ import annotations


def forgotten(release, original):
    """The share of the original items that the release does not have."""
    items = set(original.vocabulary)
    return len(items - set(release.items)) / len(items) if items else 0.0
