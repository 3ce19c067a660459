"""Differential privacy on the command line: releases, questions about them, and refusals."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import replace
from random import Random

import numpy as np
import pytest

import setveil
from setveil.methods import METHODS, private
from tests.methods.coupling import NEW, Tape, TapedFrequent
from tests.methods.test_coupling import finding_case

RECORDS = [["beer", "wine"], ["beer"], ["milk", "tea"], []] * 400
TREE = "beer;Alcohol;ALL\nwine;Alcohol;ALL\nmilk;Soft;ALL\ntea;Soft;ALL\ngin;Alcohol;ALL\n"


@pytest.fixture
def shop(tmp_path):
    path = tmp_path / "shop.jsonl"
    lines = [json.dumps({"items": record}) for record in RECORDS]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def tree(tmp_path):
    path = tmp_path / "tree.csv"
    path.write_text(TREE, encoding="utf-8")
    return path


@pytest.fixture
def release(call, shop, tmp_path):
    folder = tmp_path / "release"
    done = call("anonymize", shop, "-o", folder, "--epsilon", 2, "--public-items")
    assert done.code == 0, done.err
    return folder


def words(text):
    return re.sub(r"\s+", " ", text)


def test_epsilon_alone_asks_for_differential_privacy(call, shop, release):
    about = json.loads((release / "release.json").read_text(encoding="utf-8"))
    assert about["form"] == "synthetic"
    assert about["promise"]["epsilon"] == 2
    assert about["method"]["name"] == "frequent"
    assert about["ledger"][0]["counts"] == "records"
    shown = call("verify", release, "--original", shop)
    assert shown.code == 0
    assert "cannot be read off the release" in words(shown.out)
    assert "join the records of one person first" in words(shown.out)


def test_a_hierarchy_file_declares_the_items_and_diffpart_uses_it(call, shop, tree, tmp_path):
    for method in ("frequent", "diffpart"):
        folder = tmp_path / method
        how = ("--epsilon", 2, "--hierarchy", tree, "--method", method)
        done = call("anonymize", shop, "-o", folder, *how)
        assert done.code == 0, done.err
        assert call("verify", folder).code == 0
        assert (folder / "supports.csv").exists() == (method == "frequent")
    chosen = call("anonymize", shop, "-o", tmp_path / "x", "--epsilon", 2, "--hierarchy", tree)
    assert "by frequent" in chosen.out


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--public-items", "--seed", "3"], "anyone who knows the seed can subtract the noise"),
        (["--public-items", "--min-people", "3"], "must not count records without noise"),
        ([], "the list of items that may occur must be public knowledge"),
        (["--hierarchy", "balanced:5"], "must be public knowledge"),
        (["--method", "diffpart", "--delta", "1e-6"], "needs a hierarchy"),
        (
            ["--method", "diffpart", "--public-items", "--hierarchy", "balanced:2:frequency"],
            "made from the data",
        ),
        (["--public-items", "--alignment", "links.csv"], "does not link"),
        (["--public-items", "-k", "5"], "does not use it"),
        (["--public-items", "--explain"], "nothing to explain"),
        (["--public-items", "--method", "partition"], "does not"),
    ],
)
def test_what_would_break_the_promise_is_refused(call, shop, tmp_path, options, text):
    folder = tmp_path / "refused"
    done = call("anonymize", shop, "-o", folder, "--epsilon", 1, *options)
    assert done.code == 2, done.err
    assert text in words(done.err)
    assert not folder.exists()


def test_items_that_the_hierarchy_lacks_do_not_become_public(call, shop, tree, tmp_path):
    tree.write_text(TREE.replace("tea;Soft;ALL\n", ""), encoding="utf-8")
    how = ("--epsilon", 2, "--hierarchy", tree, "--method", "diffpart", "--unknown")
    refused = call("anonymize", shop, "-o", tmp_path / "r", *how, "root")
    assert refused.code == 2
    assert "would become public" in words(refused.err)
    assert call("anonymize", shop, "-o", tmp_path / "r", *how, "drop").code == 0
    assert "tea" not in (tmp_path / "r" / "data.csv").read_text(encoding="utf-8")


def test_a_job_file_with_a_seed_is_refused(call, shop, tmp_path):
    job = tmp_path / "job.toml"
    job.write_text(
        f'data = "{shop}"\nepsilon = 1\npublic-items = true\nseed = 3\noutput = "r"\n',
        encoding="utf-8",
    )
    done = call("run", job)
    assert done.code != 0
    assert "subtract the noise" in words(done.err)


def test_a_job_file_makes_a_private_release(call, shop, tmp_path):
    job, first, second = tmp_path / "job.toml", tmp_path / "first", tmp_path / "second"
    how = ("--epsilon", 2, "--public-items", "--max-items", 3, "--save-job", job)
    assert call("anonymize", shop, "-o", first, *how).code == 0
    assert call("run", job, "-o", second).code == 0
    data = [(folder / "supports.csv").read_bytes() for folder in (first, second)]
    assert data[0] != data[1]


def test_supports_have_intervals(call, release):
    found = call("support", release, "beer", "--json").json
    assert found["lower"] < found["expected"] < found["upper"]
    assert abs(found["expected"] - 800) < 300
    cut = found["in_cut_records"]
    assert found["lower"] == cut["lower"] < cut["upper"] <= found["upper"]
    (first,) = call("support", release, "--top", 1, "--json").json["itemsets"]
    assert first["in_cut_records"]["lower"] == first["lower"]
    assert "in_cut_records" not in call("support", release, "beer", "tea", "milk", "--json").json
    shown = call("support", release, "beer", "wine").out
    assert "95 % sure" in shown
    assert "certain" not in shown
    assert "95 % sure" in call("support", release, "--top", 3).out
    assert "95 % sure" in call("rules", release).out
    assert "synthetic records show" in words(call("support", release, "beer", "tea", "milk").out)


def test_no_release_is_withheld_after_a_look_at_the_original(shop, tmp_path, monkeypatch):
    """Noise as large as this comes once in e to the power of 60 runs; it is published all the same,
    because whether it is would depend on the data without noise."""
    far = lambda self, counts, scale: np.asarray(counts + int(60 * scale))  # noqa: E731
    monkeypatch.setattr("setveil.methods.noise.SystemNoise.laplace", far)
    done = setveil.anonymize(shop, epsilon=2, public_items=True, output=tmp_path / "far")
    assert done.verdict.holds
    assert not setveil.verify(tmp_path / "far", original=shop).fits_original


def test_it_can_be_measured_and_reconstructed_but_not_applied(call, shop, release, tmp_path):
    measured = call("measure", release, "--original", shop, "--json").json
    assert {"are", "tkd", "re", "re_top", "pair_error"} <= set(measured)
    assert call("reconstruct", release, "-o", tmp_path / "worlds").code == 0
    applied = call("apply", release, shop, "-o", tmp_path / "other")
    assert applied.code != 0
    assert "drawn at random" in applied.err


def test_other_files_in_the_folder_break_the_promise(call, release):
    (release / "notes.txt").write_text("the true number is 1600", encoding="utf-8")
    done = call("verify", release)
    assert done.code == 1
    assert "which the ledger does not cover" in words(done.out)


def test_plain_data_and_other_promises_cannot_be_verified(call, shop, release):
    assert "property of how a release is made" in words(call("verify", shop, "--epsilon", 1).err)
    assert "can only be verified for differential-privacy" in words(
        call("verify", release, "-k", 2).err
    )
    assert call("verify", release, "--epsilon", 1.99).code == 1


def test_the_library_that_draws_noise_names_itself_if_it_is_missing(
    call, shop, tmp_path, monkeypatch
):
    monkeypatch.setitem(sys.modules, "opendp.prelude", None)
    done = call("anonymize", shop, "-o", tmp_path / "r", "--epsilon", 1, "--public-items")
    assert done.code == 2
    assert "differential privacy needs the library opendp (the extra dp of setveil)" in done.err
    assert len(done.err.strip().splitlines()) == 1
    assert not (tmp_path / "r").exists()


class Careless(TapedFrequent):
    """Publishes the exact number of records among its parameters."""

    def _publish(self, private):
        made = super()._publish(private)
        return replace(made, method={**made.method, "paired": len(private.data) + 2})


@pytest.mark.parametrize(("kind", "is_private"), [(TapedFrequent, True), (Careless, False)])
def test_all_that_is_written_and_printed_follows_from_noisy_results(
    call, tmp_path, monkeypatch, kind, is_private
):
    """The same noisy results are replayed on two files of which one has one more record, perhaps
    with labels that nobody else has; see `coupling.py`. All bytes must be the same."""
    fixed = np.random.default_rng
    same = []
    for seed in range(6):
        case = finding_case(seed)
        tape = Tape(Random(seed), bits=1, style=seed % 5)
        monkeypatch.setattr(np.random, "default_rng", lambda given=None: fixed(given or 5))
        monkeypatch.setattr(private, "SystemNoise", lambda tape=tape: tape)
        monkeypatch.setitem(METHODS, "frequent", kind)
        shown = []
        for new in ({}, {NEW: case.new}):
            records = {**dict(enumerate(case.records * 3)), "last": ["a"], **new}
            tape.begin(list(records), again=bool(new))
            path, folder = tmp_path / "data.jsonl", tmp_path / f"{seed}"
            rows = ([item for item in record if item.strip()] for record in records.values())
            path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
            how = ("--epsilon", case.promise.epsilon, "--delta", case.promise.delta, "--force")
            done = call("anonymize", path, "-o", folder, *how, "--keep-unique", "--paired", 5)
            assert done.code == 0, done.err
            shown.append((done.out, {each.name: each.read_bytes() for each in folder.iterdir()}))
        same.append(shown[0] == shown[1])
    assert all(same) == is_private
