"""A grouped release is verified: what holds, and each fault that is planted."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
import pytest

import setveil as sv
from setveil.audit.records import check_written
from setveil.audit.verify import verify
from setveil.errors import ParameterError
from setveil.io.releases.folder import fill_release, read_rows
from setveil.promises.columns import Columns
from tests.audit.grouping import below_of, groups_of, people_of
from tests.oracle.grouped import violations
from tests.proofs import proof
from tests.tables import WITHIN, random_release, table

PROMISE = Columns(k=2, m=2)
YEARS = ["1925", "1930", "1931", "1940", "1950"]


def failed(release, data=None):
    return [check.name for check in verify(release, data).checks if not check.holds]


@proof(20_000)
def test_a_release_that_verifies_leaves_k_people_to_every_adversary(seeds):
    for seed in seeds:
        random = Random(seed)
        within = WITHIN[seed % len(WITHIN)]
        k, m = random.choice([2, 3]), random.choice([1, 2, "all"])
        most = 8 if within == "disassociated" else 14
        data, release = random_release(random, within, k, m, most)
        people, groups = people_of(data), groups_of(release, data)
        known = 4 if m == "all" else m
        found = list(violations(people, groups, below_of(release), k, known))
        assert not found or "columns" in failed(release), (seed, found)


@pytest.mark.parametrize("within", WITHIN)
@proof(2_000, 50)
def test_a_release_fits_its_original_with_and_without_the_alignment(seeds, within):
    for seed in seeds:
        data, release = random_release(Random(seed), within)
        for each in (release, release.without_alignment()):
            wrong = {*failed(each, data)} - {"ends", *["columns"] * (within == "suppressed")}
            assert not wrong, f"{seed}: {verify(each, data).text}"


@pytest.mark.parametrize("within", WITHIN)
def test_a_release_that_was_written_verifies_and_is_the_same(within, tmp_path):
    for seed in range(10):
        data, release = random_release(Random(seed), within)
        folder = tmp_path / f"{seed}"
        folder.mkdir()
        fill_release(release, folder)
        written = read_rows(folder)
        assert set(failed(written, data)) <= {"ends", "columns"}
        assert failed(written) == failed(release)
        assert check_written(written, release).holds


def published(years, sets, cells, homes, promise=PROMISE):
    """Years of birth beside sets that are published as they are, in groups with these cells."""
    data = table([(year,) for year in years], sets, (("birth_year", "number", None),))
    groups = []
    for home in range(len(cells)):
        rows = [items for items, at in zip(sets, homes, strict=True) if at == home]
        groups.append(sv.Suppressed.of(rows, sv.KmAnonymity(k=2, m=2)))
    column = sv.PublishedColumn("birth_year", "number", tuple(cells))
    numbers, alignment = np.arange(len(cells))[:, None], np.array(homes)
    return data, sv.Grouped.of_groups([column], numbers, groups, promise, {}, alignment)


OLD, YOUNG = sv.Span(None, "1935"), sv.Span("1935", None)
SETS = [["flu"], ["flu"], ["flu"], ["cold", "flu"], ["cold", "flu"]]


def test_a_release_without_a_fault_holds():
    data, release = published(YEARS, SETS, [OLD, YOUNG], [0, 0, 0, 1, 1])
    verdict = verify(release, data)
    assert verdict.holds
    assert verdict.origin == "exact"
    assert verify(release.without_alignment(), data).origin == "consistent"


def test_a_group_of_fewer_people_is_found():
    _, release = published(YEARS, SETS, [OLD, YOUNG], [0, 0, 0, 0, 1])
    verdict = verify(release)
    check = next(check for check in verdict.checks if check.name == "groups")
    assert not check.holds
    assert check.witness.text == "only 1 person has 1935 or later, group 2"


def test_a_set_that_is_rare_in_its_group_is_found_although_others_have_it():
    sets = [["flu"], ["flu"], ["cold", "flu"], ["cold", "flu"], ["cold", "flu"]]
    _, release = published(YEARS, sets, [OLD, YOUNG], [0, 0, 0, 1, 1])
    assert failed(release) == ["columns"]
    (check,) = (check for check in verify(release).checks if check.name == "columns")
    assert check.witness.items == ("cold (1934 or earlier, group 1)",)


def test_an_interval_that_misses_a_value_is_found():
    cells = [sv.Span(None, "1928"), YOUNG]
    data, release = published(YEARS, SETS, cells, [0, 0, 0, 1, 1])
    assert failed(release, data) == ["values"]
    (check,) = (check for check in verify(release, data).checks if check.name == "values")
    assert check.witness.text == "birth_year 1930 is published as 1927 or earlier"
    assert "values" in failed(release.without_alignment(), data)


def test_an_end_that_is_the_value_of_one_person_is_found():
    cells = [sv.Span(None, "1940"), sv.Span("1940", None)]
    data, release = published(YEARS, SETS, cells, [0, 0, 0, 1, 1])
    assert failed(release, data) == ["ends"]
    (check,) = (check for check in verify(release, data).checks if check.name == "ends")
    assert check.witness.count == 1
    assert check.private


def test_an_end_that_many_people_have_is_no_fault():
    years = ["1925", "1930", "1931", "1940", "1940"]
    cells = [sv.Span(None, "1940"), sv.Span("1940", None)]
    data, release = published(years, SETS, cells, [0, 0, 0, 1, 1])
    assert not failed(release, data)


def test_an_outermost_interval_that_is_not_open_is_found():
    _, release = published(YEARS, SETS, [sv.Span("1920", "1935"), YOUNG], [0, 0, 0, 1, 1])
    assert "structure" in failed(release)


def test_groups_with_the_same_cells_are_one():
    _, release = published(YEARS, SETS, [OLD, YOUNG], [0, 0, 0, 1, 1])
    split = [sv.Suppressed.of([["flu"]] * size, sv.KmAnonymity(k=2, m=2)) for size in (1, 2)]
    forged = replace(
        release,
        groups=(*split, release.groups[1]),
        cells=np.array([[0], [0], [1]], dtype=np.int32),
        alignment=None,
    )
    assert verify(forged).holds


def test_sets_of_another_group_are_found_by_the_alignment_alone():
    sets = [["flu"], ["flu"], ["cold"], ["cold"]]
    data, release = published(YEARS[:4], sets, [sv.Span(), OLD], [0, 0, 1, 1])
    moved = replace(release, groups=release.groups[::-1])
    data = table([("1930",)] * 4, sets, (("birth_year", "number", None),))
    assert "suppression" in failed(moved, data)
    assert not failed(moved.without_alignment(), data)


def test_a_lost_person_is_found():
    _, release = published(YEARS, SETS, [OLD, YOUNG], [0, 0, 0, 1, 1])
    more = table(
        [(year,) for year in [*YEARS, "1950"]], [*SETS, ["flu"]], (("birth_year", "number", None),)
    )
    assert failed(release, more) == ["records"]


def test_an_original_without_the_columns_is_refused():
    data, release = published(YEARS, SETS, [OLD, YOUNG], [0, 0, 0, 1, 1])
    with pytest.raises(ParameterError, match="birth_year"):
        verify(release, data.sets())


def test_another_promise_is_refused():
    _, release = published(YEARS, SETS, [OLD, YOUNG], [0, 0, 0, 1, 1])
    with pytest.raises(ParameterError, match="columns"):
        verify(release, promise=sv.KAnonymity(k=2))
