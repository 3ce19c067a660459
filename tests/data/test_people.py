"""People are counted where it is known whose record it is, and records everywhere else."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given, settings

import setveil as sv
from setveil import Transactions
from setveil.audit import exposure
from setveil.data.people import People, holders, without_rare
from setveil.errors import DataError, FileFormatError, ParameterError
from setveil.io.files import read_with_account
from tests.strategies import CHANCES

LOG = "user\tquery\ttime\n" + "".join(
    f"u{user}\t{word}\t2024-01-{day:02d} 10:00:00\n"
    for user, words in enumerate((["anna", "milk"], ["milk", "tea"], ["tea", "milk"], ["tea"]))
    for word in words
    for day in (1, 2, 3)
)
"""Each user asks for the same on three days: anna is asked for by one user, in three sessions."""


@pytest.fixture
def sessions(tmp_path: Path) -> Path:
    from setveil.pipeline.querylog import QuerylogJob, run

    (tmp_path / "log.tsv").write_text(LOG)
    place = tmp_path / "terms.csv"
    words = {"gap": "30m", "wordnet": "none", "stop_words": "none"}
    done = run(QuerylogJob(log=str(tmp_path / "log.tsv"), output=place, **words))
    assert done.carries
    return place


@settings(max_examples=20)
@given(CHANCES)
def test_people_are_counted_one_by_one(draw: random.Random) -> None:
    owners = [draw.randint(0, 6) for _ in range(40)]
    rows = [draw.sample("abcdefgh", draw.randint(0, 4)) for _ in owners]
    data, people = Transactions.of(rows), People.of([f"p{each}" for each in owners])
    who = {
        item: {o for o, row in zip(owners, rows, strict=True) if item in row} for item in "abcdefgh"
    }
    expected = [len(who[item]) for item in data.vocabulary]
    assert holders(data, people).tolist() == expected
    assert len(people) == len(set(owners))
    kept = without_rare(data, 3, people)
    assert set(kept.vocabulary) == {item for item in data.vocabulary if len(who[item]) >= 3}
    joined = {
        frozenset(i for o, row in zip(owners, rows, strict=True) if o == p for i in row)
        for p in owners
    }
    assert {frozenset(record) for record in people.joined(data)} == joined


def test_the_sessions_of_a_log_say_which_are_of_one_user(sessions: Path) -> None:
    assert sessions.read_text().splitlines()[0] == "record,item,count,person"
    data, account = read_with_account(sessions)
    assert len(data) == 12
    assert account.people is not None
    assert len(account.people) == 4
    assert dict(zip(data.vocabulary, holders(data, account.people).tolist(), strict=True)) == {
        "anna": 1, "milk": 3, "tea": 3
    }  # fmt: skip
    assert not any(name in sessions.read_text() for name in ("u0", "u1", "u2", "u3"))


def test_min_people_counts_people_and_says_so(sessions: Path, tmp_path: Path) -> None:
    out = tmp_path / "release"
    done = sv.anonymize(sessions, k=3, m=2, bags=False, min_people=2, output=out)
    assert "1 item that fewer than 2 people have was left out" in done.notes[0]
    assert not any("anna" in file.read_text() for file in out.iterdir())
    assert not any("person" in file.read_text() for file in [out / "data.jsonl"])
    assert sv.verify(str(out), original=str(sessions), bags=False).holds
    assert sv.measure(str(out), str(sessions), bags=False)


def test_a_note_counts_people_whose_rare_items_are_published(sessions: Path) -> None:
    done = sv.anonymize(sessions, k=3, m=2, bags=False)
    assert any(
        "1 item that fewer than 3 people have is published as it is" in n for n in done.notes
    )
    rows = [["anna", "milk"], ["milk"], ["milk"]]
    done = sv.anonymize(rows, k=3, m=2)
    assert any("1 item that occurs in fewer than 3 records is published" in n for n in done.notes)
    assert not any(" people" in note for note in done.notes)


def test_exposure_counts_people_with_all_their_records(sessions: Path) -> None:
    found = sv.inspect(str(sessions), bags=False).exposures[0]
    assert found.unit == "people"
    assert found.sentences[0] == (
        "50.0 % of 4 people are unique, if all records of a person are taken together."
    )
    assert "of people" in found.sentences[1]
    assert "of people" in sv.advise(str(sessions), k=2, m=2, bags=False).exposed.sentences[1]
    assert "people" not in exposure([["a"], ["b"]], k=3).text


def test_a_comparison_leaves_out_what_few_people_have(sessions: Path) -> None:
    words = {"k": 3, "m": 2, "bags": False, "workers": 0, "metrics": "tlost"}
    rows = sv.compare(str(sessions), "disassociation", min_people=[1, 2], **words).rows
    assert [row["items"] for row in rows] == [3, 2]


def test_each_record_has_one_person(tmp_path: Path) -> None:
    place = tmp_path / "x.csv"
    place.write_text("record,item,person\n1,a,7\n1,b,8\n2,a,7\n")
    with pytest.raises(FileFormatError, match="1 record is of several people or of nobody"):
        sv.read(place)
    place.write_text("record,item,person\n1,a,7\n1,b,7\n2,a,\n")
    with pytest.raises(FileFormatError, match="or of nobody"):
        sv.read(place)


def test_a_person_may_still_be_the_record(tmp_path: Path) -> None:
    place = tmp_path / "x.csv"
    place.write_text("record,item,person\n1,a,7\n2,b,7\n3,a,8\n")
    assert list(sv.read(place, record="person")) == [("a", "b"), ("a",)]
    assert read_with_account(place, record="person")[1].people is None


def test_an_engine_that_counts_records_does_not_say_people(sessions: Path, tmp_path: Path) -> None:
    words = {"k": 3, "m": 2, "bags": False, "engine": "blocks", "output": tmp_path / "release"}
    with pytest.raises(ParameterError, match="counts records, not people"):
        sv.anonymize(str(sessions), min_people=2, **words)
    done = sv.anonymize(str(sessions), **words)
    assert not any(" people" in note for note in done.notes)


def test_people_are_written_only_where_there_is_a_column_for_them(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="a fimi file has no place for it"):
        sv.write([["1"], ["2"]], tmp_path / "x.dat", people=[1, 1])
    with pytest.raises(DataError, match="2 records, but the people of 1"):
        sv.write([["1"], ["2"]], tmp_path / "x.csv", people=[1])
    sv.write([["1"], [], ["2"]], tmp_path / "x.tsv", people=[2, 2, 5])
    data, account = read_with_account(tmp_path / "x.tsv")
    assert list(data) == [("1",), (), ("2",)]
    assert account.people is not None
    assert account.people.owners.tolist() == [0, 0, 1]
