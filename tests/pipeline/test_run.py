"""The run of a job: what it gives, and that it leaves nothing behind when it does not end well."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

import setveil
import setveil as sv
from setveil import (
    Bags,
    Coherence,
    Disassociation,
    Hierarchy,
    Job,
    KAnonymity,
    KmAnonymity,
    LDiversity,
    Partition,
    Suppression,
    Transactions,
    anonymize,
    run,
)
from setveil.data.vocabulary import Vocabulary
from setveil.errors import DataError, InfeasibleError, OutputError, ParameterError
from setveil.hierarchy.recipes import hierarchy_maker
from setveil.pipeline import share as running
from setveil.pipeline.inputs import check_named
from setveil.published.disassociated.clusters import SimpleCluster
from setveil.report.outcome import report_outcome

BASKETS = [
    ["beer", "wine"],
    ["beer", "wine"],
    ["milk", "tea"],
    ["milk", "tea"],
    ["beer", "tea"],
    ["wine", "tea"],
    [],
]
STAGES = [
    "reading",
    "building the hierarchy",
    "anonymizing",
    "writing",
    "reading back",
    "verifying",
    "measuring",
    "writing the alignment",
]
WRONG_RECIPES = [
    "balanced:",
    "balanced:x",
    "balanced:1",
    "balanced:5:up",
    "balanced:5:numeric:1",
    "prefix:a",
    "prefix:1:2",
    "prefix:0",
    "prefix:3,1",
    f"balanced:{'9' * 5000}",
    f"prefix:{'9' * 5000}",
]


@pytest.fixture
def job(tmp_path):
    return Job(
        data=BASKETS,
        promise=KAnonymity(k=2),
        method=Partition(),
        hierarchy="balanced:2",
        output=tmp_path / "release",
        alignment=tmp_path / "private.csv",
        seed=1,
    )


def left_behind(tmp_path):
    return sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*"))


def test_a_run_gives_release_verdict_losses_and_places(job, tmp_path):
    outcome = run(job)
    assert outcome.verdict.holds
    assert {check.name for check in outcome.verdict.checks} >= {
        "k-anonymity",
        "containment",
        "records",
        "written",
    }
    assert (outcome.records, outcome.items, outcome.occurrences) == (7, 4, 12)
    assert 0 <= outcome.losses["ncp"] <= 1
    assert outcome.output == tmp_path / "release"
    assert [stage for stage in outcome.seconds if stage != "looking for something better"] == STAGES
    assert setveil.read_release(tmp_path / "release") == outcome.release
    assert len((tmp_path / "private.csv").read_text(encoding="utf-8").splitlines()) == 7


def test_a_run_without_output_writes_nothing(job, tmp_path):
    outcome = run(replace(job, output=None, alignment=None))
    assert outcome.verdict.holds
    assert outcome.output is None
    assert left_behind(tmp_path) == []


@pytest.mark.parametrize("stage", STAGES)
def test_an_interruption_at_any_stage_leaves_nothing(job, tmp_path, stage):
    seen = []

    def interrupt(done, total, name):
        seen.append(name)
        if name == stage:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(job, interrupt)
    assert seen[-1] == stage
    assert left_behind(tmp_path) == []


def test_an_interruption_keeps_the_release_that_was_there(job, tmp_path):
    run(job)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}

    def interrupt(done, total, name):
        if name == "measuring":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(replace(job, promise=KAnonymity(k=3), force=True), interrupt)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


@dataclass(frozen=True, kw_only=True)
class Careless(Partition):
    """A method that publishes every record as it is, whatever was promised."""

    name: ClassVar[str] = "careless"

    def _anonymize(self, request):
        data, hierarchy = request.records, request.tree
        release = super()._anonymize(request)
        numbers = hierarchy.leaf_numbers(data.vocabulary)
        rows = Transactions.from_pairs(
            data.rows, numbers[data.items], hierarchy.nodes, size=len(data)
        )
        return setveil.Generalized.of_rows(
            rows, hierarchy, release.promise, self.to_dict(), alignment=np.arange(len(data))
        )


def test_a_release_that_does_not_verify_is_never_left(job, tmp_path):
    outcome = run(replace(job, method=Careless()))
    assert not outcome.verdict.holds
    assert [check.name for check in outcome.verdict.failed] == ["k-anonymity"]
    assert outcome.verdict.witness is not None
    assert outcome.losses == {}
    assert (outcome.output, outcome.alignment) == (None, None)
    assert left_behind(tmp_path) == []


def test_what_was_written_must_be_what_was_anonymized(job, tmp_path, monkeypatch):
    honest = running.fill_release

    def careless(release, stage, **options):
        honest(replace(release, sizes=release.sizes + 1), stage, **options)

    monkeypatch.setattr(running, "fill_release", careless)
    outcome = run(job)
    assert "written" in [check.name for check in outcome.verdict.failed]
    assert left_behind(tmp_path) == []


def test_a_full_disk_is_one_line_and_leaves_nothing(job, tmp_path, monkeypatch):
    honest = running.fill_release

    def full(release, stage, **options):
        honest(release, stage, **options)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(running, "fill_release", full)
    with pytest.raises(OutputError, match="release: No space left on device"):
        run(job)
    assert left_behind(tmp_path) == []


def test_what_cannot_be_kept_is_refused_before_the_work(job, tmp_path):
    stages = []
    with pytest.raises(
        InfeasibleError, match="the data has only 7 records: nobody can be hidden among 8"
    ):
        run(replace(job, promise=KAnonymity(k=8)), lambda done, total, stage: stages.append(stage))
    assert "anonymizing" not in stages
    assert left_behind(tmp_path) == []


def test_an_input_in_the_release_folder_is_never_replaced(job, tmp_path):
    run(job)
    with pytest.raises(OutputError, match="an input file is in this folder"):
        run(replace(job, data=tmp_path / "release" / "data.csv", force=True))
    assert (tmp_path / "release" / "data.csv").is_file()


def test_an_alignment_in_the_release_folder_is_refused_through_links_too(job, tmp_path):
    run(job)
    (tmp_path / "door").symlink_to(tmp_path / "release")
    with pytest.raises(OutputError, match="must not be in the release folder"):
        run(replace(job, alignment=tmp_path / "door" / "private.csv", force=True))


def test_bags_and_transactions_may_be_handed_over(job, tmp_path):
    bags = Bags.of([["beer", "beer"], ["beer", "beer"], ["tea"], ["tea"]])
    outcome = run(replace(job, data=bags))
    assert isinstance(outcome.release.classes, Bags)
    assert isinstance(setveil.read_release(tmp_path / "release").classes, Bags)


def test_km_anonymity_is_kept_and_carried(job, tmp_path):
    assert run(replace(job, promise=KmAnonymity(k=2, m=2))).verdict.holds
    assert setveil.read_release(tmp_path / "release").promise == KmAnonymity(k=2, m=2)


@pytest.mark.parametrize(
    ("recipe", "path"),
    [
        ("balanced", ("tea", "*1", "*")),
        ("balanced:2", ("tea", "*2", "*")),
        ("balanced:2:frequency", ("tea", "*1", "*")),
        ("balanced:2:alphabetical", ("tea", "*2", "*")),
        ("prefix:1", ("tea", "t", "*")),
    ],
)
def test_a_recipe_builds_its_tree(recipe, path):
    tree = hierarchy_maker(recipe)(Transactions.of(BASKETS))
    assert tree.path("tea")[0] == "tea"
    assert tree.path("tea")[-1] == "*"
    assert tree.origin.kind == recipe.split(":")[0]
    assert tree.path("tea") == path or recipe == "balanced"


@pytest.mark.parametrize("recipe", WRONG_RECIPES, ids=lambda recipe: recipe[:24])
def test_a_wrong_recipe_is_refused_before_the_data_is_read(job, recipe, tmp_path):
    with pytest.raises(ParameterError, match="hierarchy = "):
        run(replace(job, data=tmp_path / "missing.csv", hierarchy=recipe))
    assert left_behind(tmp_path) == []


def test_a_tree_may_be_handed_over(job):
    tree = Hierarchy.from_edges(
        [("beer", "A"), ("wine", "A"), ("milk", "S"), ("tea", "S"), ("A", "ALL"), ("S", "ALL")]
    )
    assert run(replace(job, hierarchy=tree)).release.hierarchy == tree


def test_the_outcome_is_one_json_object(job):
    import json

    shown = json.loads(json.dumps(run(job).to_dict()))
    assert shown["verdict"]["holds"] is True
    names = {
        "data",
        "release",
        "alignment",
        "report",
        "method",
        "verdict",
        "not_promised",
        "countable",
        "losses",
        "usefulness",
        "advice",
        "suppressed",
        "seconds",
        "notes",
        "remarks",
    }
    assert set(shown) == names


@pytest.fixture
def pieces(job):
    """The same job by disassociation."""
    return replace(
        job, method=Disassociation(), promise=KmAnonymity(k=2, m=2), hierarchy=None, alignment=None
    )


def test_a_run_of_another_form_is_the_same_run(pieces, tmp_path):
    outcome = run(pieces)
    assert outcome.verdict.holds
    assert {check.name for check in outcome.verdict.checks} >= {
        "structure",
        "km-anonymity",
        "world",
        "written",
    }
    assert list(outcome.seconds) == STAGES[:-1]
    assert "tkd" in outcome.losses
    assert not outcome.pruned
    assert setveil.read_release(tmp_path / "release") == outcome.release
    assert left_behind(tmp_path) == ["release", "release/data.jsonl", "release/release.json"]


@pytest.mark.parametrize("stage", STAGES[:-1])
def test_an_interruption_of_another_form_leaves_nothing(pieces, tmp_path, stage):
    def interrupt(done, total, name):
        if name == stage:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(pieces, interrupt)
    assert left_behind(tmp_path) == []


@dataclass(frozen=True, kw_only=True)
class Unsafe(Disassociation):
    """A method that publishes figure 4 of the paper, whatever the data."""

    def _anonymize(self, request):
        return setveil.Disassociated.of_clusters(
            [SimpleCluster(5, [{("a",): 3}, {("b", "c"): 3}])], request.promise, self.to_dict()
        )


def test_clusters_that_do_not_verify_are_never_left(pieces, tmp_path):
    records = [["a"], ["a"], ["a", "b", "c"], ["b", "c"], ["b", "c"]]
    outcome = run(replace(pieces, data=records, method=Unsafe(), promise=KmAnonymity(k=3, m=2)))
    assert [check.name for check in outcome.verdict.failed] == ["km-anonymity"]
    assert outcome.verdict.witness.items == ("a", "b")
    assert (outcome.output, outcome.losses) == (None, {})
    assert left_behind(tmp_path) == []


def test_a_tree_serves_the_losses_of_a_form_that_has_none(pieces):
    assert "tkd_ml2" in run(replace(pieces, hierarchy="balanced:2")).losses


@pytest.mark.parametrize("data", [BASKETS, []])
def test_sensitive_items_that_do_not_occur_are_noted(pieces, data):
    promise = KmAnonymity(
        k=2, m=2, diversity=LDiversity(l=2, sensitive=["tea", *(f"x{i}" for i in range(7))])
    )
    outcome = run(replace(pieces, data=data, promise=promise))
    note = "7 of 8 sensitive items do not occur in the data: 'x0', 'x1', 'x2', 'x3', 'x4' and 2 more. Are they spelled as in the data?"
    assert outcome.notes == ((note,) if data else ())


def test_compiling_is_reported_as_a_stage(pieces):
    """Whether or not a cache holds the kernels of the method: one more is compiled here."""
    import numba

    if numba.config.DISABLE_JIT:
        pytest.skip("nothing is compiled")
    stages = []

    @dataclass(frozen=True, kw_only=True)
    class Compiling(Disassociation):
        def _anonymize(self, request):
            fresh = numba.njit(lambda x: x + 1)
            assert fresh(np.int16(1)) == 2
            return super()._anonymize(request)

    run(replace(pieces, method=Compiling()), lambda done, total, stage: stages.append(stage))
    at = stages.index("compiling kernels (once)")
    assert stages[at - 1 : at + 2] == ["anonymizing", "compiling kernels (once)", "anonymizing"]


def test_what_was_suppressed_everywhere_is_named_in_the_outcome_and_nowhere_in_the_release(
    tmp_path,
):
    baskets = [
        ["wine", "milk"],
        ["wine", "milk"],
        ["wine", "rarity"],
        ["milk", "tea"],
        ["wine", "tea"],
    ]
    job = Job(
        data=baskets,
        promise=KmAnonymity(k=2, m=1),
        method=setveil.Suppression(),
        output=tmp_path / "release",
    )
    outcome = run(job)
    assert outcome.suppressed == ("rarity",)
    assert outcome.to_dict()["suppressed"] == ["rarity"]
    assert not any("rarity" in file.read_text() for file in (tmp_path / "release").iterdir())


@pytest.mark.parametrize(
    ("field", "value", "advice"),
    [
        ("method", "partition", r"such as Partition\(\)"),
        ("method", Partition, r"such as Partition\(\)"),
        ("hierarchy", 5, "it must be a Hierarchy, or"),
        ("promise", "k-anonymity", "the method partition keeps k-anonymity"),
    ],
)
def test_a_job_of_other_things_is_refused(field, value, advice):
    job = Job(
        data=[["a"], ["a"]], promise=KAnonymity(k=2), method=Partition(), hierarchy="balanced:2"
    )
    with pytest.raises(ParameterError, match=advice):
        run(replace(job, **{field: value}))


def test_a_job_does_not_show_its_data():
    assert len(repr(Job(data=BASKETS * 1000, promise=KAnonymity(k=2), method=Partition()))) < 400


@pytest.mark.parametrize(
    ("named", "other"),
    [
        ("Cr\u00e8me", "Cre\u0300me"),
        ("Cre\u0300me", "Cr\u00e8me"),
        ("b20", "B20"),
        ("B20", "B20 "),
        ("b20", "\tB20"),
    ],
)
def test_a_private_item_that_the_data_spells_differently_is_refused(named, other):
    with pytest.raises(DataError, match="in the data looks like a private item, but is spelled"):
        run(_private([["a", other]] * 4, named))
    both = run(_private([["a", other]] * 4, named, other))  # so that nobody is stuck
    assert both.verdict.holds


def test_private_items_that_differ_in_case_may_be_different_items():
    promise = Coherence(h=0.5, k=2, p=1, private=frozenset({"b20"}))
    assert check_named(promise, Vocabulary.of(["a", "b20", "B20"])) == ()


def _private(data, *named):
    promise = Coherence(h=0.5, k=2, p=1, private=frozenset({*named, "HIV"}))
    return Job(data=[*data, *[["a", "HIV"]] * 4], promise=promise, method=Suppression())


def test_items_that_differ_only_by_blanks_at_their_ends_are_noted():
    rows = [["tea", "milk"], ["tea ", "milk"], ["tea"], [" rum"]] * 8
    (note,) = sv.inspect(rows).notes
    text = "1 item, such as 'tea ', differs from another only by blanks at the ends: each counts as"
    assert note == f"{text} an item of its own."
    assert note in anonymize(rows, k=2, m=2).notes
    assert sv.inspect([["tea"], ["tea", "milk"]] * 8).notes == ()


def test_what_compares_with_the_original_is_apart_from_what_may_be_filed():
    outcome = anonymize([["a"], ["a"], ["b"], ["a", "b"]], k=2, hierarchy="balanced:2")
    private = {check.name for check in outcome.verdict.checks if check.private}
    assert private == {"records", "containment"}
    titles = [section.heading for section in report_outcome(outcome).sections]
    at = titles.index("Verified: k-anonymity (k = 2)")
    comes = "Comes from this original: each record generalizes its own"
    assert f"{comes} (private, not part of the release)" in titles[at + 1 :]
    public = report_outcome(outcome).sections[at]
    assert all("original" not in fact.remark for fact in public.facts)
