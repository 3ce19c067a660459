"""Verification works while all that makers count, merge and rename records with is broken."""

from __future__ import annotations

import sys

import pytest

import setveil as sv
from setveil.audit.attack.attack import attack
from setveil.data.transactions import Transactions
from setveil.io.releases.folder import read_rows
from setveil.published.generalized import Generalized
from setveil.published.suppressed import Suppressed

ROWS = [["a", "b"], ["a", "b", "x"], ["b", "c"], ["b", "c"], ["d", "a"], ["d", "a", "b"], []] * 4
DATA = Transactions.of(ROWS)
KEPT = DATA.without_rare(5)
TREE = sv.Hierarchy.balanced(KEPT.vocabulary, fanout=2)
KM = sv.KmAnonymity(k=2, m=2)
RELEASES = {
    "generalized": lambda: sv.Partition().anonymize(KEPT, sv.KAnonymity(k=2), TREE),
    "global": lambda: sv.Apriori().anonymize(KEPT, KM, TREE),
    "suppressed": lambda: sv.Suppression().anonymize(KEPT, sv.Coherence(h=0.9, k=2, p=2)),
    "typical bags": lambda: sv.SSC().anonymize(
        sv.Bags.of(list(KEPT)), sv.VocabularyKAnonymity(k=2), TREE
    ),
    "disassociated": lambda: sv.Disassociation().anonymize(KEPT, KM),
    "synthetic": lambda: sv.Frequent().anonymize(
        KEPT, sv.DifferentialPrivacy(epsilon=1.0), domain=["a", "b", "c", "d"]
    ),
}
MAKING = {"merged", "distinct_records", "with_equal_merged", "same_records", "relabeled", "tidy"}


def broken(*_, **__):
    raise AssertionError("the audit counts with what makers count with")


@pytest.fixture
def makers_are_broken(monkeypatch):
    """Call it to break what releases and their data are merged, counted and renamed with."""

    def breaks():
        for name, module in list(sys.modules.items()):
            for each in MAKING & vars(module).keys() if name.startswith("setveil.pub") else ():
                monkeypatch.setattr(module, each, broken)
        for each in ("supports", "support", "without_rare"):
            monkeypatch.setattr(Transactions, each, broken)
        for form in (Generalized, Suppressed):
            for each in ("of_rows", "estimates", "counting", "term_totals"):
                monkeypatch.setattr(form, each, broken)

    return breaks


@pytest.mark.parametrize("form", RELEASES)
@pytest.mark.parametrize("read", [False, True])
def test_a_release_is_verified_without_what_its_maker_counts_with(
    form, read, tmp_path, makers_are_broken
):
    release = RELEASES[form]().leaving_out(5 * (form != "synthetic"))
    if read:
        sv.write(release, tmp_path / "release")
        release = read_rows(tmp_path / "release")
    original = None if form == "synthetic" else DATA
    expected = sv.verify(release, original).to_dict()
    assert expected["holds"]
    makers_are_broken()
    assert sv.verify(release, original).to_dict() == expected


@pytest.mark.parametrize("form", [each for each in RELEASES if each != "synthetic"])
def test_a_release_is_attacked_without_what_its_maker_counts_with(form, makers_are_broken):
    release = RELEASES[form]().leaving_out(5)
    expected = attack(release, DATA, trials=50, seed=1).to_dict()
    makers_are_broken()
    assert attack(release, DATA, trials=50, seed=1).to_dict() == expected
