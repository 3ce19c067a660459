"""People with several records: how many are behind each set of items that a release shows, counted
by DuckDB on the files alone."""

from __future__ import annotations

import csv
from random import Random

import pytest

import setveil as sv
from setveil.cli import answer
from setveil.data.generate.patients import patients
from tests.oracle import crowds

K, M, MOST = 3, 2, 2
WHOSE = {"person": "person", "record": "record", "item": "items", "split": "|"}


def written(path, rows):
    """A file with a row for each record: its name, its person and its items."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        table = csv.writer(stream)
        table.writerow(["record", "person", "items"])
        table.writerows(
            (f"r{n}", f"p{who}", "|".join(sorted(items))) for n, (who, items) in enumerate(rows)
        )
    return path


def stays_of(people, seed):
    """Stays of generated patients, with the first two signs of each code."""
    made = patients(people, seed=seed)
    return [
        (who, {code[:2] for code in codes})
        for who, codes in zip(made.owners.tolist(), made.stays, strict=True)
    ]


def sessions_of(log, folder):
    """The sessions of the users of a log, with words that five of them used."""
    path = folder / "sessions.csv"
    places = ["--user", "1", "--time", "2", "--text", "3", "--time-format", "yymmddhhmmss"]
    cut = ["--gap", "30m", "--min-users", "5", "--wordnet", "none", "--no-header", "--seed", "1"]
    assert answer(["querylog", str(log), "-o", str(path), *places, *cut]) == 0
    found = {}
    with path.open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            found.setdefault((row["record"], row["person"]), set()).add(row["item"])
    return [(who, items) for (_, who), items in found.items()]


PROMISES = {
    "partition": sv.KAnonymity(k=K),
    "apriori": sv.KmAnonymity(k=K, m=M),
    "mhghs": sv.KmAnonymity(k=K, m=M),
    "suppression": sv.KmAnonymity(k=K, m=M),
    "disassociation": sv.KmAnonymity(k=K, m=M),
}


def publish(rows, folder, method, promise, **how):
    """Files of a release with at most some records of each person."""
    original = written(folder / "original.csv", rows)
    tree = "balanced:4" if sv.METHODS[method].needs_hierarchy else None
    done = sv.anonymize(
        original,
        **WHOSE,
        records_per_person=MOST,
        method=method,
        promise=promise,
        hierarchy=tree,
        seed=1,
        format="parquet" if method == "disassociation" else None,
        output=folder / "release",
        alignment=folder / "private",
        **how,
    )
    assert done.verdict.holds
    base = crowds.opened(original, folder / "private")
    assert crowds.most_records(base) <= MOST
    return base, folder / "release"


def check_crowds(rows, folder, method, **how):
    """Each set of up to m items that is shown comes from k people."""
    base, release = publish(rows, folder, method, PROMISES[method], **how)
    if method == "disassociation":
        found = [crowds.chunks_shown(base, release, M), crowds.clusters_shown(base)]
    else:
        crowds.shown(base, release)
        found = [crowds.sets_shown(base, M)]
        found += [crowds.rows_shown(base)] if method == "partition" else []
    for crowd in found:
        assert crowd.shown > 1
        assert crowd.fewest >= K


@pytest.mark.parametrize("method", PROMISES)
def test_each_set_that_is_shown_of_stays_comes_from_k_patients(method, tmp_path):
    check_crowds(stays_of(150, seed=2), tmp_path, method)


@pytest.mark.long
@pytest.mark.parametrize("method", PROMISES)
def test_each_set_that_is_shown_of_a_real_log_comes_from_k_users(method, shared_data, tmp_path):
    check_crowds(sessions_of(shared_data / "excite-small.log.gz", tmp_path), tmp_path, method)


def test_a_sensitive_item_is_hidden_among_l_people(tmp_path):
    promise = sv.KmAnonymity(k=2, m=2, diversity=sv.LDiversity(l=4, sensitive={"A0"}))
    base, release = publish(stays_of(150, seed=2), tmp_path, "disassociation", promise)
    assert crowds.chunks_shown(base, release, 2).fewest >= 2
    assert not base.execute("SELECT 1 FROM subrecords WHERE item = 'A0'").fetchone()
    hidden = crowds.clusters_shown(base, {"A0"})
    assert hidden.shown
    assert hidden.fewest >= 4


def test_at_most_a_share_of_the_people_with_known_items_have_a_private_one(tmp_path):
    chance = Random(1)
    rows = [
        (who, set(chance.sample("abcd", 2)) | ({"ill"} if chance.random() < 0.1 else set()))
        for who in range(150)
        for _ in range(1 + who % 3)
    ]
    promise = sv.Coherence(h=0.5, k=3, p=2, private={"ill"})
    base, release = publish(rows, tmp_path, "suppression", promise)
    crowds.shown(base, release)
    assert crowds.sets_shown(base, 2).fewest >= 3
    assert 0 < crowds.private_share(base, {"ill"}, 2) <= 0.5


def test_a_release_that_asks_for_k_records_is_not_enough_for_k_people(tmp_path, monkeypatch):
    """What counts here finds fewer people, if the promise is kept for records."""
    monkeypatch.setattr(sv.KmAnonymity, "for_people", lambda promise, most: promise)
    base, release = publish(stays_of(150, seed=2), tmp_path, "suppression", PROMISES["apriori"])
    crowds.shown(base, release)
    assert crowds.sets_shown(base, M).fewest < K
