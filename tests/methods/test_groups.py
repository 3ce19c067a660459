"""The method Groups against plain oracles: its tree, its cut, its cells and its losses."""

from __future__ import annotations

import random

import numpy as np
import pytest

from setveil import (
    METHODS,
    Column,
    Columns,
    Hierarchy,
    KAnonymity,
    KmAnonymity,
    Table,
    Transactions,
    measure,
)
from setveil.data.columns import number_of
from setveil.errors import InfeasibleError, ParameterError, UnknownItemError
from setveil.kernels.groups import Laid, Wanted, pair_errors
from setveil.methods.groups import Groups
from setveil.methods.groups.axes import axis_of
from setveil.methods.groups.combined import Errors, combined_cut
from setveil.methods.groups.cuts import cuts_of
from setveil.methods.groups.losses import covering_loss
from setveil.methods.groups.tree import best_cut, column_losses, grown
from setveil.published import Node, Span
from tests.oracle import columns as plain
from tests.proofs import proof

WITHIN = ("disassociation", "partition", "apriori", "mhghs", "suppression")
ITEMS = "abcdef"
TREE = Hierarchy.from_paths([(item, "A" if item < "d" else "D", "*") for item in ITEMS])
PLACES = [("10115", "10", "DE"), ("10117", "10", "DE"), ("20095", "20", "DE"), ("75001", "FR")]


def some_table(seed, rows=None):
    """A small table with every kind of column, missing values, and people without items."""
    source = random.Random(seed)
    rows = source.randint(2, 14) if rows is None else rows
    sets = [source.sample(ITEMS, source.choice([0, 1, 1, 2, 3, 4])) for _ in range(rows)]
    numbers = [source.choice(["", "1", "2", "2.5", "3", "7", "40"]) for _ in range(rows)]
    days = [
        source.choice(["", "2001-02-03", "2001-02-04", "2001-09-01", "2004-01-01"]) for _ in sets
    ]
    tree = Hierarchy.from_paths([(*path, "*") for path in PLACES])
    words = [source.choice(PLACES)[0] for _ in sets]
    columns = [
        column("height", "number", numbers),
        column("seen", "date", days),
        column("place", "word", words, tree),
        column("sex", "word", [source.choice("FM") for _ in sets]),
    ]
    kept = source.sample(columns, source.randint(1, 4))
    return Table.beside(Transactions.of(sets), kept)


def column(name, kind, texts, tree=None):
    known = sorted(
        set(texts) - {""},
        key=(lambda text: number_of(text, kind)) if tree is None and kind != "word" else str,
    )
    values = [*known, *([""] if "" in texts else [])]
    return Column(name, kind, tuple(values), [values.index(text) for text in texts], tree)


def anonymized(table, k, **how):
    """The release; None if the data is refused since too few people have items."""
    within = how.get("within", "disassociation")
    tree = None if within in ("disassociation", "suppression") else TREE
    try:
        return Groups(**how).anonymize(table, Columns(k=k, m=2), tree)
    except InfeasibleError:
        with_items = int((table.lengths > 0).sum())
        assert len(table) < k or 0 < with_items < k
        return None


def number(text, kind):
    return None if text in ("", None) else number_of(text, kind)


@proof(20_000)
def test_the_best_cut_is_the_best_of_all_cuts(seeds):
    for seed in seeds:
        source = random.Random(seed)
        parent = [-1, *(source.randrange(node) for node in range(1, source.randint(1, 9)))]
        losses = [source.choice([0, 1, 2, 3, 5]) / source.choice([1, 2, 3]) for _ in parent]
        cut = best_cut(parent, np.array(losses))
        assert sorted(cut) in [sorted(each) for each in plain.all_cuts(parent)]
        assert sum(losses[node] for node in cut) == pytest.approx(plain.least_loss(parent, losses))


@proof(20_000, quick=100)
def test_the_cut_for_joint_errors_is_the_best_of_all_cuts_of_a_small_tree(seeds):
    for seed in seeds:
        source = random.Random(seed)
        parent = [-1, *(source.randrange(node) for node in range(1, source.randint(1, 9)))]
        own = [source.random() * 2 for _ in parent]
        errors = [
            {pair: source.uniform(-1, 1) for pair in range(3) if source.random() < 0.7}
            for _ in parent
        ]
        cut = combined_cut(parent, np.array(own), errors_of(errors, 3), 1.0)
        cuts = [sorted(each) for each in plain.all_cuts(parent)]
        assert cut in cuts
        least = min(plain.joint_loss(each, own, errors, 3) for each in cuts)
        assert plain.joint_loss(cut, own, errors, 3) == pytest.approx(least)


def test_the_cut_for_joint_errors_of_a_large_tree_is_never_worse_than_that_for_single_ones():
    for seed in range(20):
        source = random.Random(seed)
        parent = [-1, *((node - 1) // 2 for node in range(1, 255))]
        size = [2.0 ** -int(np.log2(node + 1)) for node in range(255)]
        own = [each**2 for each in size]
        errors = [{pair: source.uniform(-1, 0.7) * share for pair in range(20)} for share in size]
        made = errors_of(errors, 20)
        cut = combined_cut(parent, np.array(own), made, 1.0)
        single = best_cut(parent, np.array(own) + made.alone)
        losses = [plain.joint_loss(each, own, errors, 20) for each in (cut, single)]
        assert losses[0] <= losses[1] + 1e-12


def errors_of(errors, many):
    nodes = [(np.array([*found], dtype=np.int32), np.array([*found.values()])) for found in errors]
    return Errors.of(nodes, many)


@proof(2_000, quick=60)
def test_each_group_has_k_people_with_items_and_cells_that_cover_them(seeds):
    for seed in seeds:
        table, k = some_table(seed), 2 + seed % 3
        weight = random.Random(seed).choice([0, 0.3, 0.7, 1])
        release = anonymized(table, k, columns_matter=weight)
        if release is None:
            continue
        assert sorted(release.group_sizes.tolist()) == sorted(
            np.bincount(release.alignment).tolist()
        )
        for group, cells in enumerate(release.cells):
            rows = np.flatnonzero(release.alignment == group)
            assert (table.lengths[rows] > 0).sum() >= k or not table.occurrences
            assert len(release.groups[group]) == len(rows)
            for place, published in enumerate(release.columns):
                cell = published.cells[cells[place]]
                texts = {table.columns[place].texts[row] for row in rows}
                assert all(covered(published, cell, text) for text in texts)


def covered(published, cell, text):
    if isinstance(cell, Node):
        return cell.label == text or (
            published.tree is not None and cell.label in path(published, text)
        )
    ends = [number(end, published.kind) for end in (cell.low, cell.high)]
    return plain.covers(*ends, cell.or_missing, number(text, published.kind))


def path(published, text):
    """What is above a word; a tree that was not published whole has only what is shown."""
    full = {place[0]: (*place, "*") for place in PLACES} | {"F": ("F", "any"), "M": ("M", "any")}
    return full[text]


@proof(2_000, quick=60)
def test_no_end_of_an_interval_is_a_value_of_one_to_k_minus_1_people(seeds):
    for seed in seeds:
        table, k = some_table(seed), 2 + seed % 3
        release = anonymized(table, k, columns_matter=1.0)
        for place, published in enumerate(() if release is None else release.columns):
            if published.kind == "word":
                continue
            texts = table.columns[place].texts
            known = [number(text, published.kind) for text in texts]
            for cell in published.cells:
                ends = [] if isinstance(cell, Node) else [cell.low, cell.high]
                for end in ends:
                    many = known.count(number(end, published.kind)) if end else 0
                    assert many == 0 or many >= k


@pytest.mark.parametrize("within", WITHIN)
@pytest.mark.parametrize("weight", [0.0, 0.5, 1.0])
def test_every_method_can_publish_the_sets_of_a_group(within, weight):
    for seed in range(6):
        table = some_table(seed, 12)
        release = anonymized(table, 2, within=within, columns_matter=weight)
        assert release is not None
        assert len(release) == len(table)
        assert len({each.form for each in release.groups}) == 1


def test_the_result_depends_neither_on_the_order_of_the_rows_nor_on_a_run():
    for seed in range(10):
        table = some_table(seed, 14)
        order = np.random.default_rng(seed).permutation(len(table))
        one, other = anonymized(table, 2), anonymized(table.take(order), 2)
        assert one.columns == other.columns
        assert one.cells.tolist() == other.cells.tolist()
        assert one.group_sizes.tolist() == other.group_sizes.tolist()
        assert np.array_equal(one.alignment[order], other.alignment)


def test_only_the_columns_matter_at_1_and_only_the_items_at_0():
    table = some_table(3, 14)
    axes = [axis_of(each, 2) for each in table.columns]
    tree = grown(axes, table.lengths > 0, 2)
    leaves = len(set(range(len(tree))) - set(tree.parent))
    assert len(anonymized(table, 2, columns_matter=1.0).groups) == leaves
    alike = Table.beside(Transactions.of([["a"], ["a"], ["b"], ["b"]]), [
        column("sex", "word", ["F", "F", "M", "M"])
    ])  # fmt: skip
    assert len(anonymized(alike, 2, columns_matter=0.0).groups) == 1


def test_more_weight_for_columns_never_loses_more_of_them():
    table = some_table(11, 60)
    axes = [axis_of(each, 2) for each in table.columns]
    tree = grown(axes, table.lengths > 0, 2)
    columns = column_losses(tree, axes)
    sets = np.random.default_rng(0).random(len(tree)) * tree.sizes / len(table)
    lost = [
        columns[best_cut(tree.parent, weight * columns + (1 - weight) * sets)].sum()
        for weight in (0, 0.25, 0.5, 0.75, 1)
    ]
    assert lost == sorted(lost, reverse=True)


def test_cut_points_are_round_and_values_of_k_people_or_of_nobody():
    years = [str(year) for year in (1931, 1931, 1938, 1952, 1952, 1953)]
    assert cuts_of(column("born", "number", years), 2).texts == ("1935", "1950")
    days = ["1999-12-30", "2000-03-01", "2000-03-02", "2001-05-05"]
    assert cuts_of(column("seen", "date", days), 2).texts == ("2000-01-01", "2001-01-01")
    ages = [str(age) for age in range(20, 26)]  # each of one person: no whole number is free
    found = cuts_of(column("age", "number", ages), 2)
    assert found.texts == ("20.5", "21.5", "22.5", "23.5", "24.5")
    assert not found.is_whole
    below = ["-7.25", "-7.2", "0.5", "0.5"]
    assert cuts_of(column("x", "number", below), 2).texts == ("-7.24", "0")


def test_the_missing_value_is_apart_if_k_people_have_it_and_else_beside_an_interval():
    sets = Transactions.of([["a"]] * 6)
    apart = Table.beside(sets, [column("x", "number", ["", "", "1", "1", "9", "9"])])
    cells = anonymized(apart, 2, columns_matter=1.0).columns[0].cells
    assert set(cells) == {Node(""), Span(None, "5"), Span("5", None)}
    beside = Table.beside(sets, [column("x", "number", ["", "1", "1", "9", "9", "9"])])
    cells = anonymized(beside, 2, columns_matter=1.0).columns[0].cells
    assert set(cells) == {Span(None, "5", True), Span("5", None)}


def test_children_of_a_node_with_too_few_people_go_with_the_cheapest_other():
    words = ["10115"] * 3 + ["10117"] + ["20095"] * 2 + ["75001"] * 4
    tree = Hierarchy.from_paths([(*path, "*") for path in PLACES])
    table = Table.beside(Transactions.of([["a"]] * 10), [column("place", "word", words, tree)])
    release = anonymized(table, 2, columns_matter=1.0)
    shown = {
        release.columns[0].shown(cell): size
        for (cell,), size in zip(release.cells.tolist(), release.group_sizes.tolist(), strict=True)
    }
    assert shown == {"10": 4, "20095": 2, "75001": 4}


def test_what_cannot_be_done_is_refused():
    table = some_table(1, 12)
    with pytest.raises(ParameterError, match="name the columns"):
        Groups().anonymize(table.sets(), Columns(k=2, m=2))
    with pytest.raises(ParameterError, match="from 0 to 1"):
        Groups(columns_matter=2)
    with pytest.raises(ParameterError, match="needs a hierarchy"):
        Groups(within="partition").anonymize(table, Columns(k=2, m=2))
    with pytest.raises(InfeasibleError, match="the table has no people"):
        Groups().anonymize(table.take([]), Columns(k=2, m=2))
    few = Table.beside(Transactions.of([["a"], [], [], []]), [column("x", "number", list("1234"))])
    with pytest.raises(InfeasibleError, match="only 1 person has items"):
        Groups().anonymize(few, Columns(k=2, m=2))
    lacking = column("place", "word", ["10115", "99999"], Hierarchy.from_paths([("10115", "*")]))
    with pytest.raises(UnknownItemError, match="the hierarchy of the column 'place' lacks"):
        axis_of(lacking, 2)


def test_the_loss_of_covered_sets_is_that_of_the_metric():
    for seed in range(20):
        rows = some_table(seed, 14).sets()
        for within in ("partition", "apriori", "suppression"):
            method, promise = METHODS[within](), KmAnonymity(k=3, m=2)
            promise = KAnonymity(k=3) if within == "partition" else promise
            tree = TREE if method.needs_hierarchy else None
            release = method.anonymize(rows, promise, TREE)
            name = "ncp" if tree is not None else "distortion"
            expected = measure(release, rows, metrics=[name])[name]
            assert covering_loss(release, rows, tree) == pytest.approx(expected)


@proof(3_000, quick=100)
def test_the_kernel_of_pair_errors_gives_what_its_twin_gives(seeds):
    for seed in seeds:
        source = random.Random(seed)
        wanted = {
            pair: source.randint(1, 9) for pair in plain.pairs_of(range(4)) if source.random() < 0.7
        }
        groups = [[some_cluster(source) for _ in range(source.randint(1, 3))] for _ in range(2)]
        number = np.full((4, 4), -1, dtype=np.int32)
        for place, (one, other) in enumerate(wanted):
            number[one, other] = number[other, one] = place
        records = [record for group in groups for cluster in group for record in cluster]
        sizes = [len(cluster) for group in groups for cluster in group]
        laid = Laid(
            np.cumsum([0, *map(len, records)]),
            np.array([item for record in records for item in record], dtype=np.int32),
            np.array([chunk for record in records for chunk in record.values()], dtype=np.int32),
            np.cumsum([0, *sizes]),
            np.repeat([0, 1], [len(group) for group in groups]),
        )
        supports = np.array(list(wanted.values()), dtype=np.int64)
        bounds, pairs, errors = pair_errors(laid, Wanted(number, supports), 2)
        for group, start, stop in zip(groups, bounds, bounds[1:], strict=False):
            found = dict(zip(pairs[start:stop].tolist(), errors[start:stop].tolist(), strict=True))
            assert found == pytest.approx(plain.pair_errors(group, wanted))


def some_cluster(source):
    chunk = {item: source.choice([-1, 0, 0, 1]) for item in range(4)}
    return [
        {item: chunk[item] for item in sorted(source.sample(range(4), source.randint(0, 4)))}
        for _ in range(source.randint(1, 5))
    ]


def test_the_column_that_costs_most_is_named_if_it_says_nothing_of_most_people():
    sets = Transactions.of([["a", "b"], ["a", "b"], ["b"], ["b"]] * 5)
    free = column("place", "word", [f"place {number}" for number in range(20)])
    sex = column("sex", "word", ["F", "M"] * 10)
    table = Table.beside(sets, [sex, free])
    release = anonymized(table, 3, columns_matter=1.0)
    assert "'place' costs most: it says nothing of 100.0 %" in Groups().remark(release)
    release = anonymized(Table.beside(sets, [sex]), 3, columns_matter=1.0)
    assert Groups().remark(release) == ""
