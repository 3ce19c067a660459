"""A run of the pipeline that publishes vocabularies, by a method that knows the groups
beforehand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pytest

from setveil import read_release
from setveil.methods.method import Method
from setveil.pipeline import Job, run
from setveil.promises import VocabularyKAnonymity
from setveil.report.outcome import report_outcome
from tests.published.groups import GROUPS, ORIGINAL, TREE, publish


@dataclass(frozen=True, kw_only=True)
class Told(Method):
    """Publishes the groups it was told."""

    name: ClassVar[str] = "told"
    promises: ClassVar = (VocabularyKAnonymity,)
    needs_hierarchy: ClassVar[bool] = True
    form: ClassVar[str] = "typical-bags"

    typical: str = "majority"
    second: tuple[str, ...] = tuple(GROUPS[1][1])

    def _anonymize(self, request):
        return publish([GROUPS[0], ([3, 4], self.second)], self.typical)


def outcome(tmp_path, **options):
    job = Job(
        data=ORIGINAL,
        promise=VocabularyKAnonymity(k=2),
        method=Told(**options),
        hierarchy=TREE,
        output=tmp_path / "release",
    )
    return run(job)


@pytest.mark.parametrize("typical", ["majority", "mixed", "slots", "generalized"])
def test_it_is_written_verified_and_measured_with_the_tree_of_the_run(typical, tmp_path):
    found = outcome(tmp_path, typical=typical)
    assert found.verdict.holds, found.verdict.text
    assert [check.name for check in found.verdict.checks] == [
        "structure",
        "vocabulary-k-anonymity",
        "records",
        "items",
        "containment",
        "written",
    ]
    assert found.losses["blm"] == pytest.approx((4 + 11 / 7) / 22)
    assert {"sdist", "recall", "term_counts", "distortion"} <= set(found.losses)
    rare = ["1 item that occurs in fewer than 2 records"] if typical == "slots" else []
    assert [note.split(" is published")[0] for note in found.notes] == rare
    assert read_release(tmp_path / "release") == found.release


def test_people_who_are_published_as_empty_bags_are_noted(tmp_path):
    found = outcome(tmp_path, second=())
    assert found.verdict.holds
    assert found.notes == ("2 records are published empty: none of their items could be kept.",)
    titles = [section.heading for section in report_outcome(found).sections]
    assert "Note (private, not part of the release)" in titles
    assert any(title.startswith("Kept") for title in titles)


def test_what_nobody_can_have_matched_is_not_left_on_the_disk(tmp_path):
    found = outcome(tmp_path, second=("Vino Pants",))
    assert not found.verdict.holds
    assert "more than 4 steps apart" in found.verdict.witness.text
    assert found.output is None
    assert not (tmp_path / "release").exists()
