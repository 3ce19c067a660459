"""What every method that runs on blocks must do there: the same as on the local engine."""

from __future__ import annotations

from dataclasses import replace

import pytest

import setveil as sv
from setveil.errors import SetveilError
from setveil.methods import METHODS
from setveil.pipeline.parts import run as running
from setveil.promises import Coherence, KAnonymity, KmAnonymity
from tests.conformance.test_methods import AWKWARD

COHERENT = Coherence(h=0.8, k=10, p=2)

on_blocks = {name: kind for name, kind in METHODS.items() if "blocks" in kind.runs_on}
K = 3


@pytest.mark.parametrize("method", on_blocks.values(), ids=on_blocks)
@pytest.mark.parametrize("case", AWKWARD)
def test_the_release_or_the_refusal_is_that_of_the_local_engine(
    case, method, tmp_path, monkeypatch
):
    monkeypatch.setattr(running._Run, "_most", lambda *_: 2 * K)
    here = _answer(case, method, tmp_path / "here")
    there = _answer(case, method, tmp_path / "there", engine="blocks")
    assert here == there


def _answer(case, method, output, **more):
    """The release that was written, or why there is none."""
    chosen = method() if method.name != "disassociation" else method(max_part=2 * K)
    promise = method.trial
    job = sv.Job(
        data=AWKWARD[case],
        promise=replace(promise, k=K),
        method=chosen,
        hierarchy="balanced:2" if method.needs_hierarchy else None,
        output=output,
        **more,
    )
    try:
        assert sv.run(job).verdict.holds
    except SetveilError as error:
        return str(error)
    return sv.read_release(output)


@pytest.mark.long
@pytest.mark.parametrize("method", on_blocks.values(), ids=on_blocks)
@pytest.mark.parametrize("name", ["bms-webview-2", "retail"])
def test_the_release_of_real_data_is_that_of_the_local_engine(shared_data, name, method, tmp_path):
    path = shared_data / f"{name}.dat.gz"
    divided = {"max_part": 20_000} if method.name == "disassociation" else {}
    promise = next(kind for kind in (KAnonymity(k=10), KmAnonymity(k=10, m=2), COHERENT)
                   if isinstance(kind, method.promises))  # fmt: skip
    job = sv.Job(
        data=str(path),
        promise=promise,
        method=method(**divided),
        hierarchy="balanced:5" if method.needs_hierarchy else None,
        output=tmp_path / "here",
    )
    there = replace(job, output=tmp_path / "there", engine="blocks", memory="3GB")
    assert sv.run(job).verdict.holds
    assert sv.run(there).verdict.holds
    assert sv.read_release(tmp_path / "here") == sv.read_release(tmp_path / "there")
