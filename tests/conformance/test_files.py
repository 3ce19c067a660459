"""What every method writes keeps its promise and depends on the records alone."""

from __future__ import annotations

import random
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setveil.audit import verify
from setveil.data.transactions import Bags
from setveil.errors import InfeasibleError, UnknownItemError
from setveil.io.releases.folder import FORMS, read_release
from setveil.methods import METHODS
from setveil.pipeline import Job, run
from setveil.promises import (
    Coherence,
    DifferentialPrivacy,
    KAnonymity,
    KmAnonymity,
    LDiversity,
    VocabularyKAnonymity,
)
from tests.conformance.test_methods import promise_of
from tests.oracle import coherence, disassociation, folders, kanonymity, km
from tests.oracle.containment import path as path_up
from tests.strategies import data_with_tree

SEED = 987_654_321
WAYS = [
    (name, format)
    for name, method in METHODS.items()
    for format in FORMS[method.form].formats
    if format != "dat" and not method.draws_noise and method.reads != "tables"
]
NOISY_WAYS = [
    (name, format)
    for name, method in METHODS.items()
    for format in FORMS[method.form].formats
    if format != "dat" and method.draws_noise
]


def promise_for(name, k=4):
    promise = promise_of(METHODS[name], k)
    for named in promise.named_items:
        promise = promise.with_items(named, ["it03", "it05"])
    return promise


def shop(persons):
    """Rows of a long table, with a person of many names, and three people who have nothing."""
    chance, items = random.Random(11), [f"it{number:02}" for number in range(14)]
    carts = [
        {
            item: chance.choice([1, 1, 2, 3])
            for at, item in enumerate(items)
            if chance.random() < 1.6 / (at + 2)
        }
        for _ in range(60)
    ]
    return dict(zip(persons, [*carts, {}, {}, {}], strict=True))


def table(carts, counted):
    rows = [
        f"{person},{item}{f',{count}' * counted}"
        for person, cart in carts.items()
        for item, count in (cart or {"": ""}).items()
    ]
    return "\n".join(["record,item" + ",count" * counted, *rows, ""])


@pytest.mark.parametrize("hierarchy", ["tree.csv", "balanced:3"])
@pytest.mark.parametrize(("name", "format"), WAYS)
def test_files_depend_on_the_records_alone(tmp_path, monkeypatch, name, format, hierarchy):
    monkeypatch.chdir(tmp_path)
    Path("tree.csv").write_text(
        "".join(f"it{number:02};G{number // 2};H{number // 4};TOP\n" for number in range(14))
    )
    carts = shop([f"SECRET{number}" for number in range(63)])
    mixed = random.Random(3).sample(sorted(carts), len(carts))
    counted = name == "ssc"
    Path("earlier-name.csv").write_text(table(carts, counted))
    Path("second-name.csv").write_text(
        table({f"x{at * 7}": carts[person] for at, person in enumerate(mixed)}, counted)
    )
    written = []
    for data, threads in (("earlier-name.csv", 1), ("second-name.csv", 3)):
        output = tmp_path / f"release-of-{data.removesuffix('.csv')}"
        tree = hierarchy if METHODS[name].needs_hierarchy else None
        job = Job(
            data=data,
            promise=promise_for(name),
            method=METHODS[name](),
            hierarchy=tree,
            output=output,
            format=format,
            seed=SEED,
            threads=threads,
        )
        assert run(job).verdict.holds
        written.append({path.name: path.read_bytes() for path in output.iterdir()})
    assert written[0] == written[1]
    for content in written[0].values():
        for secret in (
            "SECRET",
            "earlier-name",
            "second-name",
            "tree.csv",
            str(tmp_path),
            str(SEED),
        ):
            assert secret.encode() not in content


@pytest.mark.parametrize("hierarchy", ["tree.csv", "balanced:3"])
@pytest.mark.parametrize(("name", "format"), NOISY_WAYS)
def test_noisy_releases_are_read_back_and_name_nobody(
    tmp_path, monkeypatch, name, format, hierarchy
):
    monkeypatch.chdir(tmp_path)
    Path("tree.csv").write_text(
        "".join(f"it{number:02};G{number // 2};H{number // 4};TOP\n" for number in range(14))
    )
    Path("earlier-name.csv").write_text(table(shop([f"SECRET{n}" for n in range(63)]), False))
    output = tmp_path / "release"
    job = Job(
        data="earlier-name.csv",
        promise=DifferentialPrivacy(epsilon=8),
        method=METHODS[name](),
        hierarchy=hierarchy,
        public_items=True,
        output=output,
        format=format,
    )
    outcome = run(job)
    assert outcome.verdict.holds, outcome.verdict.text
    assert verify(read_release(output)).holds
    for content in (path.read_bytes() for path in output.iterdir()):
        for secret in ("SECRET", "earlier-name", "tree.csv", str(tmp_path)):
            assert secret.encode() not in content


def publish(name, data, promise, tree, place):
    """Run a job; None when the method says that the data cannot keep the promise."""
    records = METHODS[name].form != "disassociated"
    job = Job(
        data=data,
        promise=promise,
        method=METHODS[name](),
        hierarchy=tree if METHODS[name].needs_hierarchy else None,
        output=place / "release",
        alignment=place / "alignment.csv" if records else None,
    )
    try:
        outcome = run(job)
    except (InfeasibleError, UnknownItemError):
        assert not list(place.iterdir())
        return None
    assert outcome.verdict.holds, outcome.verdict.text
    return outcome


def drawn_data(drawn, *, bags=False, **sizes):
    return drawn.draw(data_with_tree(multiset=bags, **sizes)), drawn.draw(st.integers(2, 4))


def bags_of(data):
    counts = data.counts.tolist() if isinstance(data, Bags) else [1] * len(data.items)
    bounds = data.indptr.tolist()
    return [
        dict(zip(record, counts[start:stop], strict=True))
        for record, start, stop in zip(data, bounds, bounds[1:], strict=False)
    ]


def as_multiset(records):
    return Counter(frozenset(record.items()) for record in records)


@pytest.mark.parametrize("bags", [False, True])
@settings(max_examples=settings.default.max_examples // 4)
@given(drawn=st.data())
def test_what_partition_writes_is_k_anonymous_and_covers_each_item_once(bags, drawn):
    (data, tree), k = drawn_data(drawn, bags=bags)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        if publish("partition", data, KAnonymity(k=k), tree, place) is None:
            return
        published, lines, above = (
            folders.records(place / "release"),
            folders.alignment(place / "alignment.csv"),
            folders.parents(place / "release"),
        )
    assert not kanonymity.rare_records(published, k)
    assert as_multiset(published) == as_multiset(lines)
    for original, line in zip(bags_of(data), lines, strict=True):
        for item in original if line else ():
            assert sum(node in line for node in path_up(item, above)) == 1
        for node, count in line.items():
            assert count <= sum(
                held for item, held in original.items() if node in path_up(item, above)
            )
            assert any(node in path_up(item, above) for item in original)


@pytest.mark.parametrize("name", ["apriori", "hghs", "mhghs"])
@settings(max_examples=settings.default.max_examples // 4)
@given(drawn=st.data())
def test_what_one_cut_writes_is_km_anonymous_and_the_same_in_all_records(name, drawn):
    (data, tree), k = drawn_data(drawn)
    m = drawn.draw(st.sampled_from([1, 2, 3, "all"]))
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        if publish(name, data, KmAnonymity(k=k, m=m), tree, place) is None:
            return
        published, lines, above = (
            folders.records(place / "release"),
            folders.alignment(place / "alignment.csv"),
            folders.parents(place / "release"),
        )
    assert not km.violations(published, k, 12 if m == "all" else m)
    shown = {node for record in published for node in record}
    assert as_multiset(published) == as_multiset(lines)
    for original, line in zip(data, lines, strict=True):
        assert set(line) == {
            node for item in original for node in path_up(item, above) if node in shown
        }


@settings(max_examples=settings.default.max_examples // 3)
@given(drawn=st.data())
def test_what_suppression_writes_holds_no_mole_and_every_private_item(drawn):
    (data, _), k = drawn_data(drawn)
    private = frozenset(
        drawn.draw(st.sets(st.sampled_from(data.vocabulary.labels), max_size=2))
        if len(data.vocabulary)
        else ()
    )
    h, p = drawn.draw(st.sampled_from(["0.5", "0.8", "1"])), drawn.draw(st.integers(1, 3))
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        promise = Coherence(h=float(h), k=k, p=p, private=private)
        if publish("suppression", data, promise, None, place) is None:
            return
        published, lines = (
            folders.records(place / "release"),
            folders.alignment(place / "alignment.csv"),
        )
    assert not coherence.moles(published, set(private), h, k, p)
    shown = {item for record in published for item in record}
    assert private & {item for record in data for item in record} <= shown
    assert [set(line) for line in lines] == [set(record) & shown for record in data]


@settings(max_examples=settings.default.max_examples // 6, deadline=None)
@given(drawn=st.data())
def test_what_disassociation_writes_has_worlds_with_k_records_of_whatever_is_known(drawn):
    (data, _), k = drawn_data(drawn, max_records=6, max_leaves=4)
    sensitive = (
        drawn.draw(st.sets(st.sampled_from(data.vocabulary.labels), max_size=1))
        if len(data.vocabulary)
        else set()
    )
    diversity = LDiversity(l=3, sensitive=sensitive) if sensitive else None
    with tempfile.TemporaryDirectory() as folder:
        if (
            publish(
                "disassociation",
                data,
                KmAnonymity(k=k, m=2, diversity=diversity),
                None,
                Path(folder),
            )
            is None
        ):
            return
        clusters = folders.clusters(Path(folder) / "release")
    assert disassociation.holds(clusters, k, 2)
    assert {term for cluster in clusters for term in disassociation.terms_of(cluster)} == {
        item for record in data for item in record
    }
    for simple in (
        simple for cluster in clusters for simple in disassociation.simple_clusters(cluster)
    ):
        assert simple["size"] >= 3 or not sensitive.intersection(simple["terms"])


@settings(max_examples=settings.default.max_examples // 4, deadline=None)
@given(drawn=st.data())
def test_what_ssc_writes_occurs_k_times_with_equal_counts(drawn):
    (data, tree), k = drawn_data(drawn, bags=True)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        if publish("ssc", data, VocabularyKAnonymity(k=k), tree, place) is None:
            return
        published, lines = (
            folders.records(place / "release"),
            folders.alignment(place / "alignment.csv"),
        )
    assert not kanonymity.rare_records(published, k)
    assert as_multiset(published) == as_multiset(lines)
    for original, line in zip(bags_of(data), lines, strict=True):
        assert sum(line.values()) <= sum(original.values())
