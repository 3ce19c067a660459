"""Is a synthetic release well formed, and does its ledger add up to what it promises?"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np

from setveil.audit.verdict import Check, Question, Witness, show_items
from setveil.data.arrays import sums
from setveil.data.transactions import Bags, Transactions
from setveil.errors import ParameterError
from setveil.promises.promise import Promise
from setveil.published.ledger import Expense, exact
from setveil.published.synthetic import NoisySupport, Synthetic
from setveil.words import plural

PROCESS = (
    "differential privacy is a property of how a release is made: it cannot be read off the "
    "release, and nothing here proves that the noise was drawn"
)
WAYS = (
    {"records", "ranking", "lengths", "items"},
    {"records", "domain", "lengths", "items"},
    {"records", "partitions", "leaves"},
)
"""What must be counted to make a release; the first two may also count pairs."""
_DIGITS = 60
FAR = 40
"""So many times the scale of its noise no count is off: the chance is e to the power of -40."""
MANY = 60
"""So many times the scale of its noise is enough for any threshold: of e to the power of 59 counts
of 0, less than one would pass it."""
STEADY = 2 * math.sqrt(2)
"""Records of DiffPart are published if there are so many times the scale of their noise."""
MOST_RAISED = 1 / 0.7
"""Supports may have been raised by this factor to make up for long records that were cut."""


def check_synthetic(release: Synthetic, question: Question) -> list[Check]:
    """Whether a synthetic release is well formed, whether its ledger adds up, and whether it may
    come from its original, if one is given."""
    epsilon, delta = _asked(question.promise)
    structure = _check_structure(release)
    ledger = _check_ledger(release)
    checks = [structure, ledger, _check_promise(release, epsilon, delta, ledger.holds)]
    if question.original is not None and structure.holds and ledger.holds:
        original = question.original
        data = original.sets() if isinstance(original, Bags) else original
        checks.append(_check_origin(release, data, question.limit))
    return checks


def _asked(promise: Promise) -> tuple[Fraction, Fraction]:
    epsilon, delta = getattr(promise, "epsilon", None), getattr(promise, "delta", None)
    if epsilon is None or delta is None:
        allowed = "a synthetic release can only be verified for differential-privacy"
        raise ParameterError("promise", promise.title, allowed)
    return exact(epsilon), exact(delta)


def _check_promise(
    release: Synthetic, epsilon: Fraction, delta: Fraction, is_complete: bool
) -> Check:
    """Whether all mechanisms together spend no more than was promised."""
    spent = sum((one.epsilon for one in release.ledger), Fraction(0))
    failing = sum((one.delta for one in release.ledger), Fraction(0))
    total = f"epsilon = {float(spent):g}" + (f", delta = {float(failing):g}" if failing else "")
    model = "differential-privacy"
    if not is_complete:
        return Check(model, False, "the ledger is wrong, so nothing follows from it")
    if spent > epsilon or failing > delta:
        allowed = f"epsilon = {float(epsilon):g}, delta = {float(delta):g}"
        return Check(model, False, f"the ledger adds up to {total}, which is more than {allowed}")
    parts = plural(len(release.ledger), "noisy count")
    return Check(model, True, f"{parts} in the ledger add up to {total}; {PROCESS}")


def _check_ledger(release: Synthetic) -> Check:
    """Whether the ledger has an entry for all that is published, each with enough noise."""
    fault = next(_faults_of_ledger(release), None)
    if fault is not None:
        return Check("ledger", False, fault)
    text = "every published count has an entry, with the noise that its share of epsilon needs"
    return Check("ledger", True, text)


def _faults_of_ledger(release: Synthetic) -> Iterator[str]:
    entries = {one.counts: one for one in release.ledger}
    counted = set(entries)
    if len(entries) < len(release.ledger):
        yield "the ledger has two entries for the same count"
    if counted - {"pairs"} not in WAYS or ("pairs" in counted and "items" not in counted):
        yield f"a release cannot be made by counting only {', '.join(sorted(counted)) or 'nothing'}"
    most = release.promise.most_records
    for one in release.ledger:
        yield from _faults_of_expense(one, most)
    for size, name in ((1, "items"), (2, "pairs")):
        supports = [one for one in release.supports if len(one.items) == size]
        if supports and name not in entries:
            yield f"supports of {name} are published, but the ledger has no entry for them"
        elif supports:
            yield from _faults_of_noise(supports, entries[name], most)


def _faults_of_noise(supports: list[NoisySupport], entry: Expense, most: int) -> Iterator[str]:
    """What in noisy supports differs from what the ledger says about all of them."""
    raised = max(1.0 if one.counted is not None else MOST_RAISED * 1.01 for one in supports)
    if min(one.scale for one in supports) < entry.scale:
        yield f"supports of {entry.counts} claim less noise than the ledger says"
    elif max(one.scale for one in supports) > raised * entry.scale:
        yield f"supports of {entry.counts} claim more noise than the ledger says"
    itemsets = (
        entry.sensitivity // most - 1
    )  # one record also changes a count of records that were cut
    may_cut = itemsets > 0 and (entry.counts != "pairs" or _is_triangular(itemsets))
    if any(one.noises for one in supports) and not may_cut:
        yield f"the noise of {entry.counts} is too small if records that were cut are counted, too"
    if any(one.counted is not None and one.counted < entry.threshold for one in supports):
        yield f"supports of {entry.counts} are published below the threshold of the ledger"


def _faults_of_expense(one: Expense, most: int) -> Iterator[str]:
    """What is wrong with an entry, if a person has up to `most` records."""
    of_record, rest = divmod(one.sensitivity, most)
    if rest:
        yield f"{most} records of a person do not change {one.counts} by {one.sensitivity}"
    if one.epsilon <= 0 or one.delta < 0 or one.sensitivity < 1:
        yield f"the entry for {one.counts} has a share or a sensitivity that is not above 0"
    elif Fraction(one.sensitivity) / Fraction(one.scale) > one.epsilon:
        yield f"the noise of {one.counts} is too small for its share of epsilon"
    if one.counts in ("records", "lengths", "partitions", "leaves") and of_record != 1:
        yield f"one record changes {one.counts} by 1, not by {of_record}"
    if one.counts == "pairs" and not any(map(_is_triangular, (of_record, of_record - 1))):
        yield "no number of items has as many pairs as the entry for pairs says"
    if not 0 <= one.threshold <= _highest(one, most):
        yield f"the entry for {one.counts} has a threshold that makes no sense"
    if (one.counts == "domain") != bool(one.delta):
        yield "delta is spent by finding the items, and by nothing else"
    elif one.counts == "domain":
        with localcontext(prec=_DIGITS + 2 * len(str(one.delta.denominator))):
            if _chance_of_a_single(one, most) * one.delta.denominator > one.delta.numerator:
                yield "the threshold of the items that were found is too low for its delta"


def _highest(one: Expense, most: int) -> float:
    """No threshold is higher; before format 9, only items that were found had one."""
    if one.counts in ("items", "pairs"):
        return 1 + MANY * one.scale
    if one.counts != "domain" or not 0 < one.delta < 1:
        return 0 if one.counts != "domain" else math.inf
    logarithm = math.log(one.delta.denominator) - math.log(one.delta.numerator)
    return 2 + most + one.scale * (math.log(one.sensitivity) + logarithm)


def _is_triangular(number: int) -> bool:
    root = math.isqrt(8 * number + 1)
    return root * root == 8 * number + 1


def _chance_of_a_single(one: Expense, most: int) -> Decimal:
    """The chance that an item of one person alone passes the threshold.

    Such an item is counted once for each of `most` records at most, and there are up to
    `sensitivity` of them. Discrete Laplace noise is t or more with a chance of exp(-t / scale) /
    (1 + exp(-1 / scale)) for t of 1 or more."""
    above, none, scale = one.threshold - most, Decimal(1), Decimal(one.scale)
    if above < 1:
        return none
    passes = (-above / scale).exp() / (none + (-none / scale).exp())
    return none - (none - passes) ** one.sensitivity


def _check_structure(release: Synthetic) -> Check:
    fault = next(_faults_of_structure(release), None)
    if fault is not None:
        return Check("structure", False, fault)
    text = "each record is a set of items"
    if release.supports:
        text += ", and each item is in as many records as its noisy support says"
    return Check("structure", True, text)


def _faults_of_structure(release: Synthetic) -> Iterator[str]:
    if isinstance(release.classes, Bags):
        yield "a synthetic release consists of sets, not bags"
    if len(release.sizes) != len(release.classes) or release.sizes.min(initial=1) < 1:
        yield "each distinct record needs a count of 1 or more"
        return
    if any(one.counts == "items" for one in release.ledger) and release.people != len(release):
        yield "there are not as many records as were counted with noise"
    if release.min_people:
        yield "items were left out by counting records without noise"
    scale = next((one.scale for one in release.ledger if one.counts == "leaves"), 0.0)
    if release.sizes.min(initial=math.ceil(STEADY * scale)) < math.ceil(STEADY * scale):
        yield "a record is published less often than the threshold that its noise implies"
    if release.supports or any(one.counts == "items" for one in release.ledger):
        yield from _faults_of_supports(release)


def _faults_of_supports(release: Synthetic) -> Iterator[str]:
    """What in the noisy supports does not follow from each other and the records."""
    table = {one.items: one.support for one in release.supports}
    if len(table) < len(release.supports):
        yield "an itemset has two noisy supports"
    for one in release.supports:
        items, support = one.items, one.support
        parts = [table.get((item,), -1) for item in items]
        if len(items) not in (1, 2) or tuple(sorted(set(items))) != items:
            yield f"{show_items(items)} is not one item or two different ones in order"
        elif -1 in parts:
            yield f"the items of {show_items(items)} have no noisy support of their own"
        elif not 0 <= support <= min(len(release), *parts):
            yield f"the noisy support of {show_items(items)} is larger than is possible"
        elif not _follows(one, min(parts) if len(items) == 2 else len(release)):
            yield f"the noisy support of {show_items(items)} does not follow from its noisy count"
    drawn = Counter(dict.fromkeys(table, 0))
    weights = release.sizes[release.classes.rows]
    totals = np.bincount(release.classes.items, weights, len(release.items)).astype(np.int64)
    drawn.update({(label,): int(n) for label, n in zip(release.items, totals, strict=True)})
    for items, number in drawn.items():
        if len(items) == 1 and table.get(items, -1) != number:
            yield f"{show_items(items)} is not in as many records as its noisy support says"


def _follows(one: NoisySupport, most: int) -> bool:
    """Whether a support is its count, raised a little at most for records that were cut."""
    if one.counted is None:
        return True
    raised = round(min(MOST_RAISED * one.counted, one.counted + max(one.missed, 0)))
    is_cut = one.noises > 0 or one.noises == one.missed == 0
    return is_cut and min(one.counted, most) <= one.support <= raised


def _check_origin(release: Synthetic, data: Transactions, limit: int) -> Check:
    """Whether no published count is further above that of the original than noise can be."""
    scales = {one.counts: one.scale for one in release.ledger}
    far = list(_too_many(release, data, scales))[:limit]
    if "records" in scales and abs(release.people - len(data)) > FAR * scales["records"]:
        text = "the number of records is further from that of the original than noise can be"
        return Check("original", False, text)
    if far:
        text = "some counts are further above those of the original than noise can be"
        return Check("original", False, text, tuple(far))
    text = "no count is further above that of the original than noise can be; records are nobody's"
    compared = "no count is too far above it"
    return Check("original", True, text, compared=compared)


def _too_many(
    release: Synthetic, data: Transactions, scales: dict[str, float]
) -> Iterator[Witness]:
    claims: list[NoisySupport] = list(release.supports)
    raised, exactly = MOST_RAISED, None

    def count(items: tuple[str, ...]) -> int:
        if exactly is not None:
            return exactly[tuple(sorted(items))]
        numbers = [data.vocabulary.numbers.get(item, -1) for item in items]
        held = sums(data.rows[np.isin(data.items, numbers)], 1, len(data))
        return int((held == len(items)).sum())

    if "leaves" in scales:
        exactly, raised = Counter(tuple(sorted(record)) for record in data), 1.0
        scale = scales["leaves"]
        pairs = zip(release.classes, release.sizes.tolist(), strict=True)
        claims = [NoisySupport(record, size, scale) for record, size in pairs]
    for items, support, scale, *_ in claims:
        if support / raised > FAR * scale + 1 and support / raised > count(items) + FAR * scale + 1:
            text = f"{show_items(items)} is published {support} times, far more than it occurs"
            yield Witness(text, items, support, private=True)
