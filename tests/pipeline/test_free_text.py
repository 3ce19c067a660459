"""Free text: most items are in one record only, and may be names."""

from __future__ import annotations

import random
from pathlib import Path

import setveil as sv
from setveil.report import Report
from setveil.report.advice import report_advice
from setveil.report.inspection import report_inspection

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def words(size: int, *, digits: bool = False) -> list[dict[str, int]]:
    """Bags of a few common words, and one or two that nobody else has."""
    draw = random.Random(1)
    rows = []
    for n in range(size):
        rare = [str(10_000 + 7 * n)] if digits else ["".join(draw.choices(LETTERS, k=9))]
        often = draw.sample(["free", "car", "home", "music", "map", "job"], 2)
        rows.append({word: draw.randint(1, 3) for word in [*often, *rare[: n % 3], *often]})
    return rows


def shown(report: Report) -> str:
    return " ".join(
        str(part) for section in report.sections for part in (section.text, *section.facts)
    )


def test_inspect_warns_of_names_and_does_not_take_the_list_as_public() -> None:
    found = sv.inspect(words(120))
    text = shown(report_inspection(found, "DATA"))
    assert found.summary.rare_words == 80
    assert "80 of 86 items are in one record only: they may be names or free text" in text
    assert "--epsilon 1 --delta 1e-5" in text
    assert "public" not in text.replace("public items may reveal", "")


def test_words_of_one_person_are_rare_in_however_many_records(tmp_path: Path) -> None:
    """The sessions of a user repeat the user's own words: a record count would miss them."""
    rows = [(2 * n + twice, word, n) for n, bag in enumerate(words(120)) for twice in (0, 1)
            for word in bag]  # fmt: skip
    file = tmp_path / "sessions.csv"
    lines = ["record,item,person", *(",".join(map(str, row)) for row in rows)]
    file.write_text("\n".join(lines), encoding="utf-8")
    found = sv.inspect(file, keep_unique=True)
    text = shown(report_inspection(found, "DATA"))
    assert found.summary.single_record_items == 0
    assert "80 of 86 items belong to one person only: they may be names or free text" in text
    assert "--public-items" not in text
    advice = sv.advise(file, k=3, keep_unique=True)
    assert advice.min_people == 3
    assert "80 of 86 items belong to one person only" in shown(report_advice(advice))


def test_inspect_and_advise_propose_the_same_numbers() -> None:
    for given in ({}, {"k": 3}):
        found = shown(report_inspection(sv.inspect(words(120), **given), "DATA"))
        advice = sv.advise(words(120), keep_unique=True, promise="k-anonymity", **given)
        k = given.get("k", 5)
        assert advice.promise.k == advice.min_people == k
        assert f"Leave out rare items with min_people={k}" in found
        assert f"-k {k} --hierarchy TREE" in found


def test_inspect_says_nothing_of_the_kind_about_rare_numbers_or_common_items() -> None:
    for data in (words(120, digits=True), [["a", "b"], ["b", "c"]] * 30):
        found = sv.inspect(data)
        assert found.summary.rare_words == 0
        assert "--epsilon 1 --public-items" in shown(report_inspection(found, "DATA"))


def test_advise_leaves_names_out_and_never_publishes_all_words_of_a_group_without_meaning() -> None:
    advice = sv.advise(words(120), k=3, keep_unique=True)
    assert advice.built
    assert advice.min_people == 3
    assert "--min-people 3" in advice.command
    assert not any("slots" in str(trial.way.method.to_dict()) for trial in advice.trials)
    text = shown(report_advice(advice))
    assert "they may be names or free text. Leave out rare items with --min-people 3" in text
    assert "--delta 1e-5" in text
    assert "public" not in text


def test_advise_still_tries_slots_where_items_are_no_words() -> None:
    rows = [{"a": 1 + n % 2, "b": 1, "cd"[n % 2]: 2} for n in range(60)]
    advice = sv.advise(rows, k=3)
    assert advice.min_people == 0
    assert any("slots" in str(trial.way.method.to_dict()) for trial in advice.trials)
