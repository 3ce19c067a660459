"""People with several records: asked about, bounded, promised, verified, on every door."""

from __future__ import annotations

import json
from random import Random

import pytest

import setveil as sv
from setveil.data.people import People, Whose, draw_key
from setveil.data.transactions import Transactions
from setveil.errors import FileFormatError, ParameterError
from setveil.pipeline.notes import rare_note

STAYS = [
    (f"p{person}", f"s{person}.{at}", code)
    for person in range(60)
    for at in range(1 + person % 4)
    for code in Random(f"{person} {at}").sample("abcdef", 2)
]
"""150 stays of 60 people, who have 1, 2, 3 or 4."""
OWN = {"person": "patient", "record": "stay"}


@pytest.fixture
def stays(tmp_path):
    path = tmp_path / "stays.csv"
    rows = "".join(f"{stay},{patient},{code}\n" for patient, stay, code in STAYS)
    path.write_text(f"stay,patient,code\n{rows}")
    return path


def kept_stays(seed, most):
    """The stays that the secret of a seed keeps, drawn again from the rows alone."""
    whose = Whose.of_rows(((stay, patient) for patient, stay, _ in STAYS), "patient")
    kept = whose.kept(most, draw_key(seed)).tolist()
    return {stay for stay, is_kept in zip(whose.records, kept, strict=True) if is_kept}


def test_without_a_record_column_each_person_is_one_record(stays, tmp_path):
    done = sv.anonymize(stays, person="patient", k=3, m=2, output=tmp_path / "r")
    assert done.records == 60
    assert sv.verify(tmp_path / "r", stays, person="patient").holds
    united = {person: {c for p, _, c in STAYS if p == person} for person, *_ in STAYS}
    assert sorted(map(set, sv.read(stays, person="patient")), key=sorted) == sorted(
        united.values(), key=sorted
    )
    assert sv.inspect(stays, person="patient").exposures[0].unit == "people"


def test_how_many_records_of_each_may_be_published_is_asked_with_what_each_number_costs(stays):
    with pytest.raises(
        ParameterError, match=r"1 leaves out 90 records \(60.0 %\), 2 leaves out 45"
    ):
        sv.anonymize(stays, **OWN, k=3, m=2)
    notes = " ".join(sv.inspect(stays, **OWN).notes)
    assert "60 people, with up to 4 records each" in notes
    assert "3 leaves out 15 records (10.0 %), 4 leaves out 0 records" in notes


@pytest.fixture
def published(stays, tmp_path):
    done = sv.anonymize(
        stays,
        **OWN,
        records_per_person=2,
        k=3,
        m=2,
        seed=5,
        output=tmp_path / "release",
        alignment=tmp_path / "alignment",
    )
    return done, tmp_path / "release", tmp_path / "alignment"


def people_check(verdict):
    return next(check for check in verdict.checks if check.name == "people")


def test_a_promise_to_people_is_kept_by_as_many_times_the_records(published):
    done, place, _ = published
    about = json.loads((place / "release.json").read_text())
    promise = about["promise"]
    assert (promise["k"], promise["records_per_person"], about["records"]) == (6, 2, 105)
    assert (
        "At most 2 records of each person are published, so 6 records belong to at least 3"
        in (promise["meaning"])
    )
    assert "each is protected on its own" not in promise["not_promised"]
    assert done.release.promise == sv.KmAnonymity(k=3, m=2).for_people(2)
    assert done.release.promise.of_people == sv.KmAnonymity(k=3, m=2)


def test_the_alignment_shows_that_nobody_has_more_records_than_promised(published, stays):
    _, place, alignment = published
    verdict = sv.verify(place, stays, alignment=alignment, **OWN)
    people = people_check(verdict)
    assert verdict.holds
    assert "the records are of 60 people, and nobody has more than 2" in people.text
    assert [bool(line) for line in alignment.read_text().split("\n")[:-1]].count(True) == 105


def test_the_original_alone_is_only_consistent(published, stays, tmp_path):
    _, place, _ = published
    check = people_check(sv.verify(place, stays, **OWN))
    assert check.holds
    assert "consistent with at most 2 records of each person" in check.text
    fewer = tmp_path / "fewer.csv"
    fewer.write_text("\n".join(stays.read_text().split("\n")[:-20]))
    assert not sv.verify(place, fewer, **OWN).holds
    with pytest.raises(ParameterError, match="name the columns of the"):
        sv.verify(place, stays, record="stay")
    with pytest.raises(ParameterError, match="only the alignment says which"):
        sv.measure(place, stays, **OWN)


def test_a_person_with_one_record_too_many_is_found(published, stays):
    """Somebody's third stay was published instead of another person's."""
    _, place, alignment = published
    lines = alignment.read_text().split("\n")[:-1]
    names = list(dict.fromkeys((stay, patient) for patient, stay, _ in STAYS))
    more = next(at for at, line in enumerate(lines) if not line)
    other = next(at for at, line in enumerate(lines) if line and names[at][1] != names[more][1])
    lines[more], lines[other] = lines[other], ""
    alignment.write_text("".join(f"{line}\n" for line in lines))
    people = people_check(sv.verify(place, stays, alignment=alignment, **OWN))
    assert not people.holds
    assert people.witness.count == 3
    assert people.text == "1 person has more than 2 records in the release"


def test_what_stays_of_a_person_depends_on_a_secret_and_their_own_rows(stays, tmp_path):
    kept = kept_stays(5, 2)
    others = [row for row in STAYS if row[0] != "p7"]
    fewer = Whose.of_rows(((stay, patient) for patient, stay, _ in others), "patient")
    again = fewer.kept(2, draw_key(5)).tolist()
    assert {s for s, is_kept in zip(fewer.records, again, strict=True) if is_kept} == {
        stay for stay in kept if not stay.startswith("s7.")
    }
    assert kept != kept_stays(6, 2)
    assert draw_key(None) != draw_key(None)


@pytest.mark.parametrize("engine", ["local", "blocks"])
def test_the_same_records_stay_wherever_they_are_read(engine, stays, tmp_path):
    how = {"records_per_person": 2, "k": 3, "m": 2, "seed": 5, "engine": engine}
    done = sv.anonymize(stays, **OWN, **how, output=tmp_path / "r")
    wanted = {}
    for _, stay, code in STAYS:
        if stay in kept_stays(5, 2):
            wanted.setdefault(stay, set()).add(code)
    assert done.records == len(wanted) == 105
    for code in "abcdef":
        bounds = done.release.support([code])
        assert bounds.lower <= sum(code in each for each in wanted.values()) <= bounds.upper
    assert done.release.promise.records_per_person == 2


def test_a_table_in_memory_is_read_as_a_file_is(stays):
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_csv(stays)
    how = {"records_per_person": 2, "k": 3, "m": 2, "seed": 5}
    ours, theirs = (sv.anonymize(data, **OWN, **how) for data in (frame, stays))
    assert ours.release == theirs.release
    assert len(sv.anonymize(frame, person="patient", k=3, m=2).release) == 60


def test_sets_in_one_column_may_have_a_person_too(tmp_path):
    rows = [(f"s{at}", f"p{at // 2}", "a|b" if at % 3 else "a|c") for at in range(30)]
    path = tmp_path / "sets.csv"
    path.write_text("stay,patient,codes\n" + "".join(f"{','.join(row)}\n" for row in rows))
    done = sv.anonymize(
        path, **OWN, records_per_person=1, split="|", item="codes", k=3, m=1, seed=1
    )
    assert (done.records, done.release.promise) == (15, sv.KmAnonymity(k=3, m=1).for_people(1))


def test_one_record_of_each_person_is_what_the_release_says(stays, tmp_path):
    """Not that each record is protected on its own; so its original is known to have more."""
    place, private = tmp_path / "release", tmp_path / "private"
    how = {"records_per_person": 1, "k": 5, "m": 2, "seed": 3, "output": place}
    done = sv.anonymize(stays, **OWN, **how, alignment=private)
    promise = json.loads((place / "release.json").read_text())["promise"]
    assert (done.records, promise["k"], promise["records_per_person"]) == (60, 5, 1)
    assert "no two records are of one person" in promise["meaning"]
    assert "each is protected on its own" not in promise["not_promised"]
    assert people_check(sv.verify(place, stays, **OWN)).holds
    exact = people_check(sv.verify(place, stays, alignment=private, **OWN))
    assert "nobody has more than 1 of them" in exact.text
    assert sv.measure(place, stays, alignment=private, metrics=["pair_error"], **OWN)
    with pytest.raises(ParameterError, match="only the alignment says which"):
        sv.measure(place, stays, **OWN)


def test_cells_of_several_rows_of_a_person_are_split_if_that_is_said(tmp_path, call):
    """Each cell may be one item of a long table, so it is asked about; the answer is named."""
    path = tmp_path / "stays.csv"
    codes = [f"{letter}{at:02}.{at % 7}" for at in range(90) for letter in "AB"]
    rows = [(n, n // 2, "|".join(Random(n).sample(codes, 3))) for n in range(120)]
    path.write_text("stay,patient,codes\n" + "".join(f"{s},{p},{c}\n" for s, p, c in rows))
    words = ["anonymize", path, "-o", tmp_path / "r", "-k", 3, "-m", 1, "--person", "patient"]
    refused = call(*words)
    assert refused.code == 3
    assert "split them with --split '|'" in refused.err
    assert call(*words, "--split", "|").code == 0


def test_noise_covers_all_records_of_a_person(stays):
    done = sv.anonymize(stays, **OWN, records_per_person=3, epsilon=1, delta=0.001)
    sensitivities = {one.counts: one.sensitivity for one in done.release.ledger}
    assert sensitivities["records"] == sensitivities["lengths"] == 3
    assert all(each % 3 == 0 for each in sensitivities.values())
    assert "the noise covers all of them together" in done.release.describe()


def test_a_note_on_rare_items_counts_people_and_asks_for_as_many_as_the_promise():
    data, people = (
        Transactions.of([["a", "b"], ["a"], ["a"], ["b"], ["b"]]),
        People.of([1, 1, 2, 3, 4]),
    )
    (note,) = rare_note(frozenset("ab"), data, sv.KmAnonymity(k=3, m=2).for_people(2), people)
    assert note.startswith("1 item that fewer than 3 people have is published as it is")


BAD = {
    "no such column": ({"person": "patien"}, "no column 'patien' for the person"),
    "the same column": ({"person": "stay", "record": "stay"}, "both the person and the record"),
    "one record each": (
        {"person": "patient", "records_per_person": 2},
        "each person is one record",
    ),
    "no person": ({"record": "stay", "records_per_person": 2}, "name the column with"),
    "too many": ({**OWN, "records_per_person": 60}, "nobody can be hidden among 3 people with up"),
    "none": ({**OWN, "records_per_person": 0}, "1 or more"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_is_refused_in_one_line(name, stays, tmp_path):
    words, said = BAD[name]
    with pytest.raises(sv.errors.SetveilError, match=said) as refused:
        sv.anonymize(stays, **words, k=3, m=2, output=tmp_path / "r")
    assert "\n" not in str(refused.value)
    assert not (tmp_path / "r").exists()


@pytest.mark.parametrize("other", ["p1", ""])
def test_a_record_of_two_people_or_of_nobody_is_refused(other, stays, tmp_path):
    stays.write_text(stays.read_text() + f"s0.0,{other},a\n")
    with pytest.raises(FileFormatError, match="1 record is of several people or of nobody"):
        sv.anonymize(stays, **OWN, records_per_person=2, k=3, m=2)


def test_an_attack_speaks_of_records_where_people_have_several(call, stays, monkeypatch):
    monkeypatch.chdir(stays.parent)
    own = ("--person", "patient", "--record", "stay", "--alignment", "private.csv")
    made = ("-k", 3, "-m", 2, "--records-per-person", 2, "-o", "r", "--seed", 1)
    assert call("anonymize", stays, *own, *made).code == 0
    printed = call("attack", "r", "--original", stays, *own, "--trials", 100, "--seed", 1)
    said = " ".join((printed.out + printed.err).split())
    assert "For records drawn from the 105 records of the original" in said
    assert "1/6 = 16.7 % for a record, and 1/3 for its person." in said
