"""The register of releases: who is in them again, what they have spent, and what is refused."""

from __future__ import annotations

import os
import random
import stat
import threading
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from setveil import anonymize, apply
from setveil.data.tags import Tags
from setveil.errors import FileFormatError, OutputError, ParameterError
from setveil.pipeline import register as verb
from setveil.pipeline.registering.book import Budget, Entry, Group, most_spent, overlap
from setveil.pipeline.registering.booking import book
from setveil.pipeline.registering.files import Files, new_id, now
from setveil.pipeline.share import anonymized
from tests.oracle.registers import Told
from tests.oracle.registers import most_spent as plainly

NOISE = {"epsilon": 1, "public_items": True}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with visits of the people 0 to 39, 30 to 69 and 100 to 139."""
    monkeypatch.chdir(tmp_path)
    for name, first in (("one", 0), ("two", 30), ("three", 100)):
        rows = [f"p{person},{item}" for person in range(first, first + 40) for item in "ab"]
        Path(f"{name}.csv").write_text("\n".join(["patient,item", *rows]) + "\n")
    verb.new("releases.toml", epsilon=2)
    return tmp_path


def noisy(data: str, output: str, **words: object) -> None:
    words = {"person": "patient", "register": "releases.toml", **NOISE, **words}
    anonymize(f"{data}.csv", output=output, **words)


def test_people_who_are_in_several_releases_spend_the_budget_of_each(home):
    noisy("one", "r1")
    noisy("two", "r2")
    noisy("three", "r3")
    shown = verb.show("releases.toml")
    assert [str(each.spent) for each in shown.releases] == ["epsilon 2", "epsilon 2", "epsilon 1"]
    assert [each.entry.people for each in shown.releases] == [40, 40, 40]
    assert all(each.entry.digest for each in shown.releases)


def test_a_release_above_the_total_is_refused_before_anything_is_made(home):
    noisy("one", "r1")
    noisy("one", "r2")
    with pytest.raises(ParameterError, match=r"at most 0 is left .* allows epsilon 2 in all"):
        noisy("two", "r3")
    assert not Path("r3").exists()
    assert len(verb.show("releases.toml").releases) == 2
    noisy("three", "r3")


def test_it_is_booked_before_noise_is_drawn_and_stays_booked_whatever_happens(home, monkeypatch):
    seen = []

    def failing(spec):
        seen.extend(verb.show("releases.toml").releases)
        raise KeyboardInterrupt

    monkeypatch.setattr("setveil.pipeline.share.anonymized", failing)
    with pytest.raises(KeyboardInterrupt):
        noisy("one", "r1")
    assert [each.entry.spent for each in seen] == [Budget.of(1)]
    assert verb.show("releases.toml").spent == Budget.of(1)
    assert verb.check("releases.toml").notes[0].endswith("not finished: it counts as spent.")
    with pytest.raises(KeyboardInterrupt):
        anonymize("one.csv", k=2, m=1, person="patient", register="releases.toml", output="r2")
    assert len(verb.show("releases.toml").releases) == 1
    assert anonymized is not failing


def test_everything_under_the_name_of_a_population_adds_up(home):
    words = {"person": None, "population": "patients"}
    noisy("one", "r1", **words)
    noisy("three", "r2", **words)
    with pytest.raises(ParameterError, match="at most 0 is left"):
        noisy("three", "r3", **words)
    noisy("three", "r3", person=None, population="staff")
    with pytest.raises(ParameterError, match="at most 0 is left"):
        noisy("two", "r4")  # nobody said whether these people are among the patients


def test_who_people_are_is_asked_and_a_register_is_not_begun_by_mistake(home):
    with pytest.raises(ParameterError, match="say whom the data is about"):
        noisy("one", "r1", person=None)
    with pytest.raises(OutputError, match="there is no such register"):
        noisy("one", "r1", register="relases.toml")
    assert not Path("relases.toml").exists()
    with pytest.raises(ParameterError, match="name its file with"):
        noisy("one", "r1", register=None, recipient="Dr. X")
    with pytest.raises(OutputError, match="it exists already"):
        verb.new("releases.toml")


def test_its_files_are_for_the_owner_alone_and_hold_no_names(home):
    noisy("one", "r1")
    places = [Path("releases.toml"), *Path("releases.toml.people").iterdir()]
    assert len(places) == 3
    for place in places:
        assert stat.S_IMODE(place.stat().st_mode) == 0o600
        assert b"p3" not in place.read_bytes().replace(b"patient", b"")
    assert stat.S_IMODE(Path("releases.toml.people").stat().st_mode) == 0o700
    Path("releases.toml").chmod(0o644)
    assert verb.check("releases.toml").faults[0].startswith("Other users of this machine may read")


def test_it_is_never_in_a_release_nor_behind_a_link(home):
    noisy("one", "r1")
    with pytest.raises(OutputError, match="must not be in a release"):
        verb.new("r1/releases.toml")
    with pytest.raises(OutputError, match="must not be in a release"):
        noisy("one", "r2", register="r2/releases.toml")
    Path("link.toml").symlink_to("releases.toml")
    with pytest.raises(OutputError, match="never written through"):
        noisy("one", "r2", register="link.toml")
    Path("other.toml.people").symlink_to(home)
    with pytest.raises(OutputError, match="never written through"):
        verb.new("other.toml")


def test_missing_people_stop_a_booking_because_an_overlap_cannot_be_known(home):
    noisy("one", "r1")
    (tags,) = Path("releases.toml.people").glob("*.tags")
    tags.write_bytes(tags.read_bytes()[:-8])
    assert not verb.check("releases.toml").holds
    with pytest.raises(FileFormatError, match="missing or damaged"):
        noisy("two", "r2")
    assert not Path("r2").exists()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("version = 1", "version = 2", "not a register of version 1"),
        ("total-epsilon = 2.0", "total-epsilon = -1", "not a number from 0 on"),
        ("total-epsilon = 2.0", 'total-epsilon = "1/0"', "not a number from 0 on"),
        ("total-epsilon", "total-epsilom", "no key 'total-epsilom'"),
        ("epsilon = 1.0", "epsilon = true", "epsilon = 'True' is not a number|is not a number"),
        ("people = 40", "people = -1", "not a number of people"),
        ("salt = ", "# salt = ", "salt must be"),
        ("[[release]]", "[release]", "must be a list"),
    ],
)
def test_a_damaged_register_is_refused_and_says_where(home, old, new, said):
    noisy("one", "r1")
    text = Path("releases.toml").read_text()
    assert old in text
    Path("releases.toml").write_text(text.replace(old, new))
    with pytest.raises(FileFormatError, match=said):
        noisy("two", "r2")


def test_a_release_that_exists_is_added_once_even_above_the_total(home):
    for number in "123":
        anonymize("one.csv", output=f"r{number}", person="patient", **NOISE)
        how = {"original": "one.csv", "person": "patient", "recipient": "a lab"}
        found = verb.add("releases.toml", f"r{number}", **how)
    assert found.spent == Budget.of(3)
    assert not verb.check("releases.toml").holds
    with pytest.raises(ParameterError, match="it is booked already"):
        verb.add("releases.toml", "r3", population="patients")


def test_apply_books_too_and_only_says_who_is_in_an_earlier_release(home):
    words = {"k": 5, "m": 1, "method": "suppression", "person": "patient"}
    anonymize("one.csv", output="r1", register="releases.toml", **words)
    again = apply("r1", "two.csv", output="r2", person="patient", register="releases.toml")
    note = next(str(note) for note in again.notes if "earlier" in note)
    assert "(km-anonymity (k = 5, m = 1)): 10 people. No epsilon covers 1 of them." in note
    assert verb.show("releases.toml").spent == Budget()


def test_the_same_people_are_found_in_tables_and_files(home):
    pd = pytest.importorskip("pandas")
    noisy("one", "r1")
    anonymize(pd.read_csv("one.csv"), person="patient", register="releases.toml", **NOISE)
    assert verb.show("releases.toml").spent == Budget.of(2)
    names = {each.entry.tags for each in verb.show("releases.toml").releases}
    assert len(names) == len(list(Path("releases.toml.people").glob("*.tags"))) == 1


def test_a_second_release_of_the_same_data_is_attacked_together_with_the_first(home):
    who = [
        ("a1", "b1"),
        ("a1", "b1"),
        ("a1", "b2"),
        ("a2", "b1"),
        ("a2", "b1"),
        *[("a2", "b2")] * 2,
    ]
    rows = [f"p{n},{item}" for n, items in enumerate(who) for item in items]
    Path("seven.csv").write_text("\n".join(["patient,item", *rows]) + "\n")
    for kept, raised in ("ab", "ba"):
        tree = [f"{kept}{n};ALL\n{raised}{n};{raised.upper()};ALL\n" for n in (1, 2)]
        Path(f"{kept}.csv").write_text("".join(tree))
    words = {"person": "patient", "register": "releases.toml", "method": "apriori", "m": 2}
    anonymize("seven.csv", output="r1", k=3, hierarchy="a.csv", **words)
    done = anonymize("seven.csv", output="r2", k=2, hierarchy="b.csv", **words)
    said = [str(note) for note in done.notes if "Together with" in note]
    assert len(said) == 1
    assert "(km-anonymity (k = 3, m = 2)), both single out 1 of 7 records" in said[0]
    noisy("seven", "r3")
    again = anonymize("one.csv", output="r4", k=2, population="x", **words, hierarchy="balanced:2")
    assert not [note for note in again.notes if "Together" in note]


def test_a_file_that_cannot_name_people_needs_a_population(home):
    lines = [f'{{"patient": "p{n}", "items": ["a", "b"]}}' for n in range(9)]
    Path("nine.jsonl").write_text("\n".join(lines))
    words = {**NOISE, "record": "patient", "register": "releases.toml"}
    with pytest.raises(ParameterError, match="spreadsheets have columns, and this is jsonl"):
        anonymize("nine.jsonl", output="r1", **words)
    anonymize("nine.jsonl", output="r1", population="nine", **words)
    (only,) = verb.show("releases.toml").releases
    assert (only.entry.population, only.entry.people) == ("nine", None)


def test_concurrent_bookings_are_all_kept_and_never_above_the_total(tmp_path):
    files = Files(tmp_path / "releases.toml")
    files.begin(Budget.of(5))
    refused = []

    def one(number):
        tags = np.arange(number % 3, 10, dtype=np.uint64)
        try:
            book(files, entry_of(Budget.of(1)), tags, refuse=True)
        except ParameterError:
            refused.append(number)

    threads = [threading.Thread(target=one, args=(number,)) for number in range(12)]
    [each.start() for each in threads]
    [each.join() for each in threads]
    assert len(refused) == 7
    assert verb.show(files.path).spent == Budget.of(5)


def entry_of(spent, **words):
    known = {"promise": "differential-privacy", "meaning": "", "method": "frequent", **words}
    return Entry(id=new_id(), date=now(), spent=spent, column="name", **known)


def test_what_people_have_spent_agrees_with_counting_person_by_person():
    rng = random.Random(34)
    for _ in range(300):
        told = [random_release(rng) for _ in range(rng.randint(1, 6))]
        groups = [group_of(each) for each in told]
        paid = [(g, Budget(each.epsilon)) for g, each in zip(groups, told, strict=True)]
        for about, group in zip(told, groups, strict=True):
            assert most_spent(group, paid).epsilon == plainly(about, told)


def random_release(rng):
    people = [f"p{n}" for n in range(8) if rng.random() < 0.4] if rng.random() < 0.7 else None
    if people is not None and not people:
        people = ["p0"]
    column, population = rng.choice(["a", "b"]), rng.choice(["", "", "x", "y"])
    return Told(people, column, population, Fraction(rng.randint(1, 9), rng.randint(1, 9)))


def group_of(told):
    if told.names is None:
        return Group(told.population)
    tags = Tags(b"key")
    tags.add(told.names)
    return Group(told.population, tags.found(), told.column)


def test_overlaps_are_the_same_in_both_directions():
    rng = random.Random(1)
    for _ in range(200):
        one, other = (group_of(random_release(rng)) for _ in range(2))
        assert overlap(one, other) == overlap(other, one)


def test_names_that_differ_only_in_how_they_are_written_are_one_person():
    tags = Tags(b"key")
    tags.add(["Ann", " ann", "ANN ", "7", "007", "7.0", "e\u0301", "\xe9", "E\u0301"])
    assert len(tags.found()) == 3
    other = Tags(b"another key")
    other.add(["ann"])
    assert not np.isin(other.found(), tags.found()).any()


def test_a_running_change_keeps_another_process_out(tmp_path):
    files = Files(tmp_path / "releases.toml")
    files.begin(None)
    with files.changing():
        child = os.fork()
        if child == 0:  # pragma: no cover
            import fcntl

            lock = os.open(files.folder / "lock", os.O_RDWR)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                os._exit(0)
            os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
