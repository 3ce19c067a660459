"""All campaigns, one line each."""

from __future__ import annotations

from torture.campaign import Campaign

CAMPAIGNS: dict[str, Campaign] = {}
"""The name of each campaign and what it does."""
