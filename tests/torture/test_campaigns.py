"""A few cases of every campaign of `make torture`."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from torture import processes
from torture.campaign import Campaign, attempt
from torture.table import CAMPAIGNS


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the campaigns of processes prepare what their commands read, once for all of them."""
    return tmp_path_factory.mktemp("torture")


@pytest.mark.parametrize("name", [name for name in CAMPAIGNS if CAMPAIGNS[name].few])
def test_a_few_cases_of_each_campaign_end_well(name: str, prepared: Path) -> None:
    campaign = CAMPAIGNS[name]
    reason = campaign.skip()
    if reason:
        pytest.skip(reason)
    folder = prepared if campaign.case.__module__ == processes.__name__ else None
    tally = attempt(campaign, range(campaign.few), folder=folder)
    assert tally.bad == []
    assert tally.tried == campaign.few


def test_a_campaign_reports_bad_cases_and_exceptions_by_number() -> None:
    def odd_is_bad(rng: random.Random, folder: Path) -> str | None:
        assert folder.is_dir()
        number = rng.random()
        if number > 0.9:
            raise ValueError("high")
        return "low" if number < 0.1 else None

    campaign = Campaign(odd_is_bad, cases=1, few=1, about="")
    whole = attempt(campaign, range(200), seed=3)
    halves = attempt(campaign, range(0, 200, 2), 3) + attempt(campaign, range(1, 200, 2), 3)
    assert whole.tried == halves.tried == 200
    assert whole.bad == halves.bad
    assert {wrong for _, wrong in whole.bad} == {"low", "ValueError: high"}
