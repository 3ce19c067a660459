"""The comparison with the original in blocks: the same answers, whatever the size of a block."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings

from setveil.audit.disassociated import projections
from setveil.audit.disassociated.layout import Layout
from setveil.audit.verify import verify
from setveil.data.transactions import Transactions
from setveil.methods import Disassociation
from setveil.pipeline.share import Made, checked
from setveil.promises import KmAnonymity
from setveil.published.disassociated.forest import preorder_of
from tests.strategies import CHANCES, SEEDS

PROMISE = KmAnonymity(k=2, m=2)


def made(seed: int) -> tuple[Disassociation, Transactions]:
    random = Random(seed)
    items = [f"i{number}" for number in range(random.randrange(3, 20))]
    records = [[item for item in items if random.random() < 0.25] for _ in range(60)]
    data = Transactions.of(records)
    return Disassociation().anonymize(data, PROMISE), data


def spoiled(random: Random, release, data):
    """The same release with one count, two records or one item changed."""
    alignment, counts = release.alignment.copy(), release.subrecord_counts.copy()
    match random.randrange(3):
        case 0 if len(counts):
            counts[random.randrange(len(counts))] += 1
        case 1:
            one, two = random.sample(range(len(alignment)), 2)
            alignment[[one, two]] = alignment[[two, one]]
        case _:
            rows = [list(record) for record in data]
            rows[random.randrange(len(rows))] = [data.vocabulary[0]]
            data = Transactions.of(rows)
    return replace(release, alignment=alignment, subrecord_counts=counts), data


def said(release, data, limit: int) -> list[object]:
    checks = verify(release, data, limit=limit).checks
    return [(check.name, check.holds, check.text, check.witnesses) for check in checks]


@settings(max_examples=40)
@given(seed=SEEDS)
def test_small_blocks_give_the_same_answers_as_one(seed):
    release, data = made(seed)
    cases = [(release, data), spoiled(Random(seed), release, data)]
    whole = [said(*case, limit) for case in cases for limit in (1, 4)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(projections, "_ENTRIES", 7)
        patch.setattr(projections, "_PARTS", 3)
        patch.setattr(projections, "_WORD", 1 + seed % 20)  # rows are read few items at a time
        assert [said(*case, limit) for case in cases for limit in (1, 4)] == whole
    assert all(holds for _, holds, *_ in whole[0])


@given(CHANCES)
def test_nodes_are_numbered_so_that_all_below_one_follow_it(random):
    parent = np.array(
        [random.randrange(-1, node) if random.random() < 0.8 else -1 for node in range(40)]
    )
    numbers, stops = preorder_of(parent)
    assert sorted(numbers.tolist()) == list(range(40))
    for node, above in enumerate(parent.tolist()):
        while above >= 0:
            assert numbers[above] < numbers[node] < stops[node] <= stops[above]
            above = int(parent[above])
    sizes = stops - numbers
    assert sizes[parent < 0].sum() == 40


@settings(max_examples=20)
@given(seed=SEEDS)
def test_the_lowest_shared_chunk_above_is_that_of_a_walk(seed):
    release, _ = made(seed)
    layout = Layout(release)
    known = {
        (int(place) // layout.width, int(place) % layout.width) for place in layout.chunk_places[0]
    }
    places = np.concatenate((layout.chunk_places[0], layout.term_places))
    walked = {}
    for number, place in enumerate(places.tolist()):
        node, item = divmod(place, layout.width)
        above = int(release.parent[node])
        while above >= 0 and (above, item) not in known:
            above = int(release.parent[above])
        if above >= 0:
            walked[number] = above
    found = layout.climb(places)
    assert dict(zip(found[0].tolist(), found[1].tolist(), strict=True)) == walked


@settings(max_examples=10)
@given(seed=SEEDS)
def test_what_was_read_back_is_compared_with_the_original_itself(seed):
    release, data = made(seed)
    written = release.arranged.without_alignment()
    paired = written.paired_as(release)
    assert paired is not None
    assert paired.alignment is not None
    before = Made(release=release, data=data, promise=PROMISE)
    verdict = checked(before, written)
    names = [check.name for check in verdict.checks]
    assert verdict.holds
    assert names[-2:] == ["world", "written"]
    other, _ = spoiled(
        Random(seed), replace(release, subrecord_counts=release.subrecord_counts + 1), data
    )
    assert written.paired_as(other) is None
    assert not checked(replace(before, release=other), written).holds
