"""What columns lost beside sets, against a plain count, and what of sets is measured in groups."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

import setveil as sv
from setveil.metrics.columns import _answers, are_columns, column_ncp, columns
from setveil.metrics.measure import measure
from setveil.metrics.state import plus
from tests.oracle.columnlosses import chance, loss
from tests.proofs import proof
from tests.tables import WITHIN, random_release


def plain(column, number):
    """A cell as the oracle has it."""
    cell = column.cells[number]
    if isinstance(cell, sv.Node):
        if not cell.label:
            return ("missing",)
        tree = column.tree
        return ("node", sum(cell.label in path for path in tree.paths()))
    return ("span", *(None if end is None else int(end) for end in (cell.low, cell.high)))


def leaves_of(column):
    return column.tree.leaf_count if column.tree is not None else 0


@proof(2_000, 100)
def test_the_loss_of_each_column_is_that_of_the_oracle(seeds):
    for seed in seeds:
        data, release = random_release(Random(seed), "suppressed")
        found = column_ncp(release, data)
        for place, (column, held) in enumerate(zip(release.columns, data.columns, strict=True)):
            numbers = [] if column.tree is not None else [float(v) for v in held.texts if v]
            cells = [plain(column, release.cells[home, place]) for home in release.alignment]
            expected = sum(loss(cell, numbers or [0.0], leaves_of(column)) for cell in cells)
            assert found[column.name] == pytest.approx(expected / len(data))
        assert columns(release, data) == pytest.approx(sum(found.values()) / len(found))


@pytest.mark.parametrize("within", WITHIN)
def test_the_usual_metrics_are_those_of_columns_and_of_the_sets(within):
    data, release = random_release(Random(4), within, most=40)
    found = measure(release, data)
    own = {"columns", "column_ncp", "are_columns", "are", "distortion"}
    assert own <= found.keys()
    if within in ("generalized", "global"):
        flat = release.flat
        expected = measure(flat, data.sets(), ["ncp"], verified=True)
        assert found["ncp"] == pytest.approx(expected["ncp"])
    if within == "disassociated":
        assert {"pair_error", "tkd", "chunked"} <= found.keys()
    assert measure(release, data, ["item_error", "pair_error"]).keys() == {
        "item_error",
        "pair_error",
    }


@pytest.mark.parametrize("within", WITHIN)
def test_a_release_without_its_alignment_is_measured(within):
    data, release = random_release(Random(5), within, most=40)
    exact, blind = measure(release, data), measure(release.without_alignment(), data)
    same = {"columns", "column_ncp", "are_columns", "are"}
    assert {name: exact[name] for name in same} == {name: blind[name] for name in same}


def test_what_is_suppressed_in_groups_is_counted():
    data, release = random_release(Random(6), "suppressed", k=3, most=30)
    shown = sum(len(record) * size for record, size in zip(*release.certain_rows(), strict=True))
    lost = 1 - shown / data.occurrences
    assert measure(release, data, "distortion")["distortion"] == pytest.approx(lost)


def test_queries_over_columns_are_answered_as_the_oracle_does():
    """Years alone: the chance that a value of the cell is in the interval, for each person."""
    for seed in range(20):
        data, release = random_release(Random(seed), "suppressed", most=40)
        born = data.columns[0]
        numbers = [float(value) for value in born.texts if value]
        if not numbers:
            continue
        from setveil.metrics.columns import _expected, _Query

        asked = (1935.0, 1960.0)
        cells = [plain(release.columns[0], release.cells[home, 0]) for home in release.alignment]
        expected = sum(chance(cell, asked, numbers) for cell in cells)
        found = _expected(release, data, [_Query((0,), (asked,), ())])
        assert found.tolist() == pytest.approx([expected])


def test_an_error_of_zero_if_every_value_is_published():
    tree = sv.Hierarchy.from_paths([("F", "any"), ("M", "any")])
    from tests.tables import table

    data = table([("F",)] * 3 + [("M",)] * 3, [["flu"]] * 6, (("sex", "word", tree),))
    column = sv.PublishedColumn("sex", "word", (sv.Node("F"), sv.Node("M")), tree)
    sets = [sv.Suppressed.of([["flu"]] * 3, sv.KmAnonymity(k=3, m=1)) for _ in range(2)]
    release = sv.Grouped.of_groups([column], np.array([[0], [1]]), sets, sv.Columns(k=3, m=1))
    assert are_columns(release, data) == 0.0
    assert columns(release, data) == 0.0


def test_the_states_of_two_parts_add_up():
    data, release = random_release(Random(7), "suppressed", most=30)
    one = columns.state(release, data)
    assert columns.figure(plus(one, one)) == pytest.approx(columns(release, data))
    assert _answers(release, data, seed=3).records == len(data)
