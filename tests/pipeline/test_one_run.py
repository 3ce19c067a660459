"""One run is read from the top to the bottom: no stage is entered again after it was left, and few
files lead from the command to the written folder."""

from __future__ import annotations

import inspect
import sys
import threading
from pathlib import Path

import pytest

import setveil
from setveil.cli import answer
from setveil.pipeline import anonymize, loading, share, whole
from setveil.pipeline.inputs import load_with_account

SOURCE = Path(setveil.__file__).parent
RECORDS = "record,item\n" + "".join(f"{r},i{r * step % 7}\n" for r in range(40) for step in (1, 2))
MOST_FILES = 25

STAGES = [
    {loading.load},
    {load_with_account},
    {loading.divided},
    {whole.spec_of},
    {share.anonymized, share._anonymized_part},
    {share._written, share._part_written},
    {share.checked},
    {share._measured, share.Counted.of.__func__},
    {whole.merged},
    {whole.outcome_of},
    {anonymize._explained},
]
"""In the order of a run; what is done for a share is done for each."""
ONCE = [0, 1, 2, 3, 8, 9, 10]
OF_A_SHARE = [4, 5, 6, 7]
ROOMS = {"cli", "pipeline", "engines", "children.py"}
"""The rooms that a run is in; all others are asked by it, and know nothing of it."""


@pytest.fixture
def data(tmp_path):
    place = tmp_path / "shop.csv"
    place.write_text(RECORDS, encoding="utf-8")
    return place


def calls_of(arguments: list[str]) -> list[tuple[str, object, str]]:
    """Every call of ours in a run of the command: the file and the code, and the file of who
    called."""
    found: list[tuple[str, object, str]] = []

    def note(frame, event, _):
        code, above = frame.f_code, frame.f_back
        if event == "call" and code.co_name != "<module>":
            place = Path(code.co_filename)
            if place.is_relative_to(SOURCE):
                caller = Path(above.f_code.co_filename) if above is not None else place
                known = caller.is_relative_to(SOURCE)
                found.append(
                    (
                        str(place.relative_to(SOURCE)),
                        code,
                        str(caller.relative_to(SOURCE)) if known else "",
                    )
                )

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        assert answer(arguments) == 0
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return found


def entered(calls) -> list[int]:
    """The stages in the order in which they are entered."""
    codes = {
        inspect.unwrap(function).__code__: number
        for number, functions in enumerate(STAGES)
        for function in functions
    }
    return [codes[code] for _, code, _ in calls if code in codes]


def command(data: Path, *more: str) -> list[str]:
    release = data.parent / "release"
    words = ["--method", "disassociation", "-k", "3", "-m", "2", "--force"]
    return ["anonymize", str(data), "-o", str(release), *words, *more]


@pytest.mark.parametrize(
    ("more", "shares"), [((), 1), (("--engine", "blocks", "--max-part", "12"), 2)]
)
def test_no_stage_is_entered_again_after_it_was_left(data, more, shares):
    order = entered(calls_of(command(data, *more)))
    of_each = [stage for stage in order if stage in OF_A_SHARE]
    made = [of_each[start : start + 4] for start in range(0, len(of_each), 4)]
    assert all(each == OF_A_SHARE for each in made)
    assert len(made) >= shares
    assert [stage for stage in order if stage in ONCE] == sorted({*order} & {*ONCE})
    first, last = order.index(OF_A_SHARE[0]), len(order) - order[::-1].index(OF_A_SHARE[-1])
    assert {*order[first:last]} == {*OF_A_SHARE}


def test_few_files_lead_from_the_command_to_the_written_folder(data):
    answer(command(data))  # what is imported or compiled once is not part of the way
    calls = calls_of(command(data))
    way = dict.fromkeys(file for file, *_ in calls if file.split("/")[0] in ROOMS)
    assert len(way) <= MOST_FILES, list(way)
    assert {"cli/anonymize.py", "pipeline/anonymize.py", "pipeline/share.py"} <= {*way}


def test_no_room_that_a_run_asks_calls_back_into_it(data):
    answer(command(data))
    below = {
        (caller, file)
        for file, _, caller in calls_of(command(data))
        if file.split("/")[0] in {"cli", "pipeline"} and caller
        if caller.split("/")[0] not in {*ROOMS, "report", "disk", "threads.py", "errors.py"}
    }
    assert below == set(), below
