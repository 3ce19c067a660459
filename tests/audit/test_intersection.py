"""What two releases reveal together, on people whose groups are known."""

from __future__ import annotations

import random

import pytest

import setveil as sv
from setveil.audit.attack.intersection import intersect
from setveil.errors import DataError

PROMISE = sv.KmAnonymity(k=3, m=2)
PLANTED = ["a1 b1", "a1 b1", "a1 b2", "a2 b1", "a2 b1", "a2 b2", "a2 b2"]
"""The third person alone has both a1 and b2."""


def of_letter(records, letter, promise=PROMISE):
    kept = [[item for item in record if item[0] == letter] for record in records]
    return sv.Suppressed.of(kept, promise)


def data_of(lines):
    return sv.Transactions.of([line.split() for line in lines])


def test_two_releases_that_together_single_out_one_planted_person_name_1():
    data = data_of(PLANTED)
    releases = [of_letter(data, letter) for letter in "ab"]
    assert all(sv.verify(each, data).holds for each in releases)
    found = intersect(*releases, data)
    assert (found.singled_out, found.tried, found.fewest) == (1, 7, 1)
    assert found.sentence.startswith("both single out 1 of 7 records: for somebody who knows 2 of")


def test_a_release_beside_itself_reveals_nothing_more():
    data = data_of(PLANTED)
    release = of_letter(data, "a")
    found = intersect(release, release, data)
    assert (found.singled_out, found.fewest) == (0, 3)
    assert found.sentence.startswith("both leave at least 3 candidates for each of 7 records")


def test_the_number_agrees_with_counting_people_one_by_one():
    rng = random.Random(34)
    for _ in range(40):
        lines = [f"a{rng.randint(1, 4)} b{rng.randint(1, 4)}" for _ in range(rng.randint(4, 30))]
        data = data_of(lines)
        found = intersect(*(of_letter(data, letter) for letter in "ab"), data, seed=1)
        sides = [[line.split()[side] for line in lines] for side in (0, 1)]
        hidden = [min(side.count(side[n]) for side in sides) > 1 for n in range(len(lines))]
        alone = [lines.count(line) == 1 for line in lines]
        assert found.singled_out == sum(a and h for a, h in zip(alone, hidden, strict=True))


def test_a_form_that_does_not_say_who_is_where_is_refused():
    data = data_of(PLANTED)
    pieces = sv.Disassociation().anonymize(data, sv.KmAnonymity(k=2, m=1)).without_alignment()
    with pytest.raises(DataError, match="nobody can say which record"):
        intersect(of_letter(data, "a"), pieces, data)
