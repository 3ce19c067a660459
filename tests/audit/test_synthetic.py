"""Releases with differential privacy are checked as far as a release can be: ledger and supports."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from setveil.audit import verify
from setveil.data.transactions import Transactions
from setveil.errors import DataError, ParameterError
from setveil.hierarchy.tree import Hierarchy
from setveil.methods import DiffPart, Frequent, Partition
from setveil.promises import DifferentialPrivacy, KAnonymity
from setveil.published.synthetic import NoisySupport, Synthetic

DATA = Transactions.of([["a", "b"], ["a"], ["c"], []] * 500)
TREE = Hierarchy.from_paths([(item, "ALL") for item in "abcd"])
PROMISE = DifferentialPrivacy(epsilon=1)
MADE = Frequent().anonymize(DATA, PROMISE, TREE)
DIVIDED = DiffPart().anonymize(DATA, PROMISE, TREE)


def changed(name, /, **changes):
    """The release with one entry of its ledger changed."""
    ledger = tuple(replace(one, **changes) if one.counts == name else one for one in MADE.ledger)
    return replace(MADE, ledger=ledger)


def failed(release):
    return {check.name: check.text for check in verify(release).failed}


@pytest.mark.parametrize("release", [MADE, DIVIDED], ids=["frequent", "diffpart"])
def test_a_release_verifies_and_says_what_that_does_not_mean(release):
    verdict = verify(release, DATA)
    assert verdict.holds
    texts = {check.name: check.text for check in verdict.checks}
    assert "cannot be read off the release" in texts["differential-privacy"]
    assert "add up to epsilon = 1" in texts["differential-privacy"]
    assert {check.name for check in verdict.checks if check.private} == {"original"}


def test_a_larger_epsilon_may_be_asked_for_and_a_smaller_one_does_not_hold():
    assert verify(MADE, promise=DifferentialPrivacy(epsilon=1.5)).holds
    verdict = verify(MADE, promise=DifferentialPrivacy(epsilon=0.999))
    assert [check.name for check in verdict.failed] == ["differential-privacy"]
    assert "adds up to epsilon = 1, which is more than epsilon = 0.999" in verdict.text


@pytest.mark.parametrize("name", [one.counts for one in MADE.ledger])
def test_a_missing_entry_is_noticed(name):
    release = replace(MADE, ledger=tuple(one for one in MADE.ledger if one.counts != name))
    assert "ledger" in failed(release)
    assert "differential-privacy" in failed(release)


@pytest.mark.parametrize("name", [one.counts for one in DIVIDED.ledger])
def test_a_missing_entry_of_diffpart_is_noticed(name):
    left = tuple(one for one in DIVIDED.ledger if one.counts != name)
    assert "ledger" in failed(replace(DIVIDED, ledger=left))


@pytest.mark.parametrize(
    ("name", "changes", "text"),
    [
        ("items", {"scale": 1.0}, "too small for its share"),
        ("items", {"epsilon": Fraction(1, 100)}, "too small for its share"),
        ("items", {"sensitivity": 10**6}, "too small for its share"),
        ("items", {"epsilon": Fraction(-1)}, "not above 0"),
        ("items", {"scale": 1e9}, "less noise than the ledger says"),
        ("pairs", {"sensitivity": 5, "scale": 1e6}, "no number of items has as many pairs"),
        ("records", {"sensitivity": 2, "scale": 1e6}, "changes records by 1, not by 2"),
        ("items", {"delta": Fraction(1, 10**9)}, "spent by finding the items"),
        ("items", {"threshold": -1}, "threshold that makes no sense"),
        ("items", {"threshold": 10**6}, "threshold that makes no sense"),
        ("pairs", {"threshold": -(10**9)}, "threshold that makes no sense"),
        ("records", {"threshold": 7}, "threshold that makes no sense"),
        ("lengths", {"threshold": 1}, "threshold that makes no sense"),
        ("ranking", {"counts": "lengths"}, "two entries for the same count"),
        ("ranking", {"counts": "leaves"}, "cannot be made by counting only"),
    ],
)
def test_a_forged_entry_is_noticed(name, changes, text):
    found = failed(changed(name, **changes))
    assert text in found["ledger"]
    assert "nothing follows from it" in found["differential-privacy"]


def test_a_share_that_is_too_large_is_noticed():
    found = failed(changed("items", epsilon=Fraction(43, 100)))
    assert (
        "adds up to epsilon = 1.01, which is more than epsilon = 1" in found["differential-privacy"]
    )


def test_a_threshold_that_is_too_low_is_noticed():
    made = Frequent().anonymize(DATA, DifferentialPrivacy(epsilon=1, delta=1e-6))
    assert verify(made).holds
    (found,) = (one for one in made.ledger if one.counts == "domain")
    for threshold in (found.threshold - 3, 1, 0):
        low = tuple(
            replace(one, threshold=threshold) if one is found else one for one in made.ledger
        )
        assert "too low for its delta" in failed(replace(made, ledger=low))["ledger"]


@pytest.mark.parametrize("name", ["items", "pairs"])
def test_counts_of_cut_records_that_the_ledger_does_not_allow_for_are_noticed(name):
    """A record that is cut changes one count more than those of its items or pairs."""
    made = Frequent(max_items=2, max_paired=2).anonymize(DATA, PROMISE, TREE)
    assert verify(made).holds
    forged = tuple(
        replace(one, sensitivity=1) if one.counts == name else one for one in made.ledger
    )
    supports = tuple(one._replace(noises=1) for one in made.supports)
    found = failed(replace(made, ledger=forged, supports=supports))
    assert f"the noise of {name} is too small if records that were cut" in found["ledger"]


def test_a_threshold_that_no_delta_needs_is_noticed():
    made = Frequent().anonymize(DATA, DifferentialPrivacy(epsilon=1, delta=1e-6))
    for threshold in (-1, 10**4, 10**30):
        high = tuple(
            replace(one, threshold=threshold) if one.counts == "domain" else one
            for one in made.ledger
        )
        assert "makes no sense" in failed(replace(made, ledger=high))["ledger"]


def test_records_of_diffpart_below_the_threshold_that_the_ledger_implies_are_noticed():
    (scale,) = (one.scale for one in DIVIDED.ledger if one.counts == "leaves")
    least = math.ceil(2 * math.sqrt(2) * scale)
    for size, holds in ((least, True), (least - 1, False), (1, False)):
        sizes = np.array(DIVIDED.sizes)
        sizes[-1] = size
        found = failed(replace(DIVIDED, sizes=sizes))
        assert holds == ("structure" not in found)
        assert holds or "less often than the threshold that its noise implies" in found["structure"]
    rare = Synthetic.of_rows(
        Transactions.of([*DIVIDED.records(), ["b", "d"]]),
        PROMISE,
        people=DIVIDED.people,
        ledger=DIVIDED.ledger,
    )
    assert "less often" in failed(rare)["structure"]


@pytest.mark.parametrize(
    "changes", [{"counted": 10**6}, {"counted": 1}, {"noises": 0, "missed": 3}, {"noises": -1}]
)
def test_supports_that_do_not_follow_from_their_counts_are_noticed(changes):
    *rest, last = (one for one in MADE.supports if len(one.items) == 1)
    pairs = (one for one in MADE.supports if len(one.items) == 2)
    forged = replace(MADE, supports=(*rest, last._replace(**changes), *pairs))
    assert re.search("does not follow|below the threshold", " ".join(failed(forged).values()))


@pytest.mark.parametrize("by", [-1, 1])
def test_a_support_that_nothing_was_cut_from_is_exactly_its_count(by):
    first = next(one for one in MADE.supports if not one.noises)
    forged = first._replace(counted=first.counted + by)
    supports = tuple(forged if one is first else one for one in MADE.supports)
    assert "does not follow" in failed(replace(MADE, supports=supports))["structure"]


def without(release, number):
    sizes = np.array(release.sizes)
    sizes[number] += 1
    return replace(release, sizes=sizes)


def test_records_that_do_not_follow_from_the_noisy_counts_are_noticed():
    assert "as many records as" in failed(without(MADE, 1))["structure"]
    assert (
        "as were counted with noise" in failed(replace(MADE, people=MADE.people + 1))["structure"]
    )
    extra = Synthetic.of_rows(
        Transactions.of([*MADE.records(), ["zebra"]]),
        PROMISE,
        people=MADE.people + 1,
        ledger=MADE.ledger,
        supports=MADE.supports,
    )
    assert "{zebra} is not in as many records" in failed(extra)["structure"]


@pytest.mark.parametrize(
    ("forged", "text"),
    [
        (NoisySupport(("a", "zebra"), 3, 500.0), "no noisy support of their own"),
        (NoisySupport(("b", "a"), 3, 500.0), "in order"),
        (NoisySupport(("a", "b"), 10**7, 500.0), "larger than is possible"),
        (NoisySupport(("a", "b", "c"), 1, 500.0), "not one item or two"),
    ],
)
def test_supports_that_cannot_be_are_noticed(forged, text):
    kept = [one for one in MADE.supports if one.items != forged.items]
    assert text in failed(replace(MADE, supports=(*kept, forged)))["structure"]


def test_items_left_out_by_exact_counts_are_noticed():
    assert "without noise" in failed(MADE.leaving_out(5))["structure"]


@pytest.mark.parametrize("release", [MADE, DIVIDED], ids=["frequent", "diffpart"])
def test_another_original_is_noticed(release):
    verdict = verify(release, Transactions.of([["d"]] * 20_000))
    assert [check.name for check in verdict.failed] == ["original"]
    assert verdict.keeps_promise
    assert not verdict.fits_original


def test_only_differential_privacy_can_be_verified_and_only_of_a_release():
    with pytest.raises(ParameterError, match="can only be verified for differential-privacy"):
        verify(MADE, promise=KAnonymity(k=2))
    with pytest.raises(ParameterError, match="property of how a release is made"):
        verify(DATA, promise=PROMISE)
    public = Hierarchy.balanced(DATA.vocabulary, 2)
    release = Partition().anonymize(DATA, KAnonymity(k=2), public)
    with pytest.raises(ParameterError, match="property of how a release is made"):
        verify(release, promise=PROMISE)


def test_there_is_no_alignment():
    with pytest.raises(DataError, match="nobody's"):
        replace(MADE, alignment=np.zeros(3, dtype=np.int64))
