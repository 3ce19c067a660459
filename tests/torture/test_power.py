"""The campaign of tampered releases finds a verifier in which a single check is switched off."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from setveil.audit import generalized, suppressed
from setveil.audit.disassociated import check, original
from setveil.audit.typical_bags import check as typical
from setveil.audit.verdict import Check
from setveil.audit.verify import PROMISE_CHECKS
from torture.campaign import Campaign, attempt
from torture.tampering import tampered


def says_yes(name: str) -> Callable[..., Check]:
    return lambda *_, **__: Check(name, True, "not checked")


CHECKS: list[tuple[str, Any, str, str]] = [
    ("k-anonymity", PROMISE_CHECKS, "k-anonymity", "generalized"),
    ("km-anonymity", PROMISE_CHECKS, "km-anonymity", "generalized with m"),
    ("coherence", PROMISE_CHECKS, "coherence", "suppressed"),
    ("k-anonymity of bags", PROMISE_CHECKS, "vocabulary-k-anonymity", "typical-bags"),
    ("structure of records", generalized, "_check_structure", "generalized"),
    ("containment of records", generalized, "_check_containment", "generalized"),
    ("containment of bags", generalized, "_check_containment", "generalized bags"),
    ("containment in a cut", generalized, "_check_containment", "generalized with m"),
    ("private items", suppressed, "_check_private", "suppressed, without rare items"),
    ("suppressed records", suppressed, "_check_records", "suppressed"),
    ("typical items", typical, "_check_items", "typical-bags"),
    ("typical containment", typical, "_check_containment", "typical-bags"),
    ("structure of clusters", check, "check_structure", "disassociated"),
    ("chunks", check, "check_chunks", "disassociated"),
    ("guarantee", check, "check_guarantee", "disassociated"),
    ("l-diversity", check, "check_l_diversity", "disassociated with l"),
    ("supports", original, "check_supports", "disassociated"),
    ("pairs", original, "check_pairs", "disassociated"),
    ("world", original, "check_world", "disassociated"),
]


QUICK = (
    "k-anonymity",
    "km-anonymity",
    "containment of records",
    "structure of clusters",
    "pairs",
    "world",
)
"""Tried in every run; the others in `make test-all`."""
ROWS = [
    pytest.param(*each, id=each[0], marks=[] if each[0] in QUICK else pytest.mark.long)
    for each in CHECKS
]


@pytest.mark.parametrize(("name", "where", "key", "form"), ROWS)
def test_a_check_that_is_switched_off_is_missed(
    name: str, where: Any, key: str, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if isinstance(where, dict):
        monkeypatch.setitem(where, key, says_yes(name))
    else:
        monkeypatch.setattr(where, key, says_yes(name))
    campaign = Campaign(partial(tampered, name=form), cases=1, few=1, about="")
    found = (attempt(campaign, range(number, number + 1)).bad for number in range(40))
    assert any(found)
