"""A metric of parts is that of the whole: what is counted of each part adds up."""

from __future__ import annotations

from functools import reduce

import pytest

from setveil import Disassociation, Hierarchy, KAnonymity, KmAnonymity, Partition
from setveil.data.transactions import Bags, Transactions
from setveil.metrics import METRICS
from setveil.metrics.measure import Providers
from setveil.metrics.state import plus
from setveil.metrics.usefulness import Seen
from setveil.published.disassociated.canonical import together
from setveil.published.generalized import Generalized
from setveil.published.rows import stacked
from setveil.published.suppressed import Suppressed
from setveil.published.typical_bags import TypicalBags
from tests.conformance.test_methods import AWKWARD

K = 2
PROMISE = KAnonymity(k=K)
MIXED = [["a", "b"], ["a", "b", "c"], ["b", "c"], ["c"], ["d", "a"], ["d"], ["e", "a"], []] * 3
CASES = {**AWKWARD, "mixed": MIXED}


def generalized(data, tree):
    release = Partition().anonymize(data, PROMISE, tree)
    return [release.classes[int(at)] for at in release.alignment], (
        lambda rows: Generalized.of(rows, tree, PROMISE)
    )


def counted(data, tree):
    rows, _ = generalized(data, tree)
    return rows, lambda rows: Generalized.of(rows, tree, PROMISE, counted=True)


def suppressed(data, tree):
    kept = {
        item for item, support in zip(data.vocabulary, data.supports(), strict=True) if support > 2
    }
    rows = [tuple(item for item in record if item in kept) for record in data]
    return rows, lambda rows: Suppressed.of(rows, PROMISE)


def typical(data, tree):
    return [record[:1] for record in data], lambda rows: TypicalBags.of(rows, PROMISE)


RECORDS = {each.__name__: each for each in (generalized, counted, suppressed, typical)}


def split_by_class(make, data, tree):
    """Parts that have all records of a class, and the whole."""
    rows, publish = make(data, tree)
    order = sorted(range(len(rows)), key=lambda at: rows[at])
    middle = next(
        (at for at in range(len(order) // 2, len(order)) if rows[order[at]] != rows[order[at - 1]]),
        0,
    )
    parts = [numbers for numbers in (order[:middle], order[middle:]) if numbers]
    published = [publish([rows[at] for at in numbers]) for numbers in parts]
    return [data.take(numbers) for numbers in parts], published, publish([rows[at] for at in order])


def figures(originals, published, whole, tree):
    """Each metric of the sum of the parts, and of the whole."""
    data = stacked(originals)
    supports = data.supports()
    all_parts = Providers(whole, data, given=tree)
    parts = [
        Providers(release, original, given=tree, supports=supports)
        for release, original in zip(published, originals, strict=True)
    ]
    vars(all_parts)["worlds"] = [stacked([part.worlds[0] for part in parts])]
    for part in parts:
        vars(part)["asked"] = all_parts.asked
    for name, row in METRICS.items():
        if row.fits(whole.form):
            figure, counts = row.function.figure, row.counts(whole.form)
            total = reduce(plus, (part.state(counts) for part in parts))
            yield name, figure(total, **all_parts.taken_by(figure)), all_parts.figure(name)


@pytest.mark.parametrize("case", [case for case in CASES if CASES[case]])
@pytest.mark.parametrize("form", RECORDS)
def test_every_metric_of_records_in_parts_is_that_of_the_whole(form, case):
    data = Transactions.of(CASES[case])
    if form == "typical":
        data = Bags.of(CASES[case])
    tree = Hierarchy.balanced(data.vocabulary, fanout=2)
    originals, published, whole = split_by_class(RECORDS[form], data, tree)
    for name, parts, at_once in figures(originals, published, whole, tree):
        assert parts == pytest.approx(at_once), name
    seen = [Seen.of(*each, data.supports()) for each in zip(published, originals, strict=True)]
    assert reduce(plus, seen).figure(0.0) == Seen.of(whole, stacked(originals)).figure(0.0)


@pytest.mark.parametrize("case", ["all equal", "one item only", "mixed"])
def test_every_metric_of_clusters_in_parts_is_that_of_the_whole(case):
    data = Transactions.of(CASES[case])
    tree = Hierarchy.balanced(data.vocabulary, fanout=2)
    originals = [data.take(range(start, len(data), 2)) for start in (0, 1)]
    promise = KmAnonymity(k=K, m=2)
    published = [Disassociation().anonymize(each, promise) for each in originals]
    whole = together(published)
    found = list(figures(originals, published, whole, tree))
    assert len(found) > 12
    for name, parts, at_once in found:
        assert parts == pytest.approx(at_once), name


def test_every_metric_is_tried():
    forms = {"generalized", "suppressed", "typical-bags", "disassociated"}
    rest = {name for name, row in METRICS.items() if not any(row.fits(form) for form in forms)}
    assert rest == {"columns", "column_ncp", "are_columns"}  # see test_columns.py
