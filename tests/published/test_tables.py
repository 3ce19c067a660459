"""Releases and reconstructions as tables, in one call."""

from __future__ import annotations

import sys

import pytest

import setveil as sv
from setveil.errors import DataError, MissingExtraError

TREE = sv.Hierarchy.from_paths([("a", "AB", "ALL"), ("b", "AB", "ALL"), ("c", "ALL")])
BASKETS = sv.Transactions.of([["a", "c"], ["b", "c"], ["c"], ["c"], [], []])
BAGS = sv.Bags.of([["a", "a"], ["a", "a"], ["c"], ["c"]])
FORMS = {
    "generalized": lambda: sv.Partition().anonymize(BASKETS, sv.KAnonymity(k=2), TREE),
    "bags": lambda: sv.Partition().anonymize(BAGS, sv.KAnonymity(k=2), TREE),
    "suppressed": lambda: sv.Suppression().anonymize(BASKETS, sv.KmAnonymity(k=2, m=1)),
    "typical-bags": lambda: sv.TypicalBags.of([["a", "a"]] * 2, sv.VocabularyKAnonymity(k=2)),
}


@pytest.mark.parametrize("form", FORMS)
def test_the_table_of_a_release_holds_its_records(form):
    pytest.importorskip("polars")
    release = FORMS[form]()
    counted = isinstance(release.records(1), sv.Bags)
    for table in (release.to_pandas(seed=1), release.to_polars(seed=1)):
        assert list(table.columns) == ["record", "item", *(["count"] if counted else [])]
        assert sv.convert(table, "dicts") == sv.convert(release.records(1), "dicts")


@pytest.mark.parametrize("form", FORMS)
def test_a_one_hot_table_has_only_true_and_false(form):
    release = FORMS[form]()
    table, records = release.to_onehot(seed=1), release.records(1)
    assert set(table.dtypes.astype(str)) == {"bool"}
    assert set(table.columns) == release.shown
    assert [tuple(row.index[row]) for _, row in table.iterrows()] == list(records)


def test_a_reconstruction_is_a_table_in_one_call():
    release = sv.Disassociation().anonymize(BASKETS, sv.KmAnonymity(k=2, m=2))
    world = release.reconstruct(seed=1)
    assert sv.as_transactions(world.to_pandas()) == world
    assert len(world.to_onehot()) == len(release)


@pytest.mark.parametrize("verb", ["to_pandas", "to_polars", "to_onehot"])
def test_a_form_without_whole_records_says_what_to_do(verb):
    release = sv.Disassociation().anonymize(BASKETS, sv.KmAnonymity(k=2, m=2))
    with pytest.raises(DataError, match=r"does not show whole records; .*reconstruct\(seed\)"):
        getattr(release, verb)()


@pytest.mark.parametrize(
    ("verb", "library"), [("to_pandas", "pandas"), ("to_polars", "polars"), ("to_onehot", "pandas")]
)
def test_a_library_that_is_missing_is_named(verb, library, monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == library]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingExtraError, match=f"pip install {library}"):
        getattr(BASKETS, verb)()
