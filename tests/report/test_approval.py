"""The dossier for approval: each question of a committee has its section, in the page and its twin."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path

import pytest

import setveil as sv
from setveil.errors import FileFormatError, OutputError, ParameterError
from setveil.pipeline.register import new
from setveil.pipeline.stated import STATED
from setveil.report.approval import QUESTIONS, SECTIONS
from setveil.report.approval.opinions import EMA_THRESHOLD

DOCS = Path(__file__).parents[2] / "docs"
PATIENTS = [["a", "b", "flu"], ["a", "b", "cold"], ["a", "c"], ["a", "c", "flu"], ["b", "c"]] * 3
TREE = sv.Hierarchy.from_paths([(item, "ALL") for item in ("a", "b", "c", "flu", "cold")])


def releases():
    """A release of each of three kinds: with private items, in pieces, and synthetic."""
    data = sv.Transactions.of(PATIENTS)
    private = sv.Coherence(h=0.9, k=2, p=1, private=["flu", "cold"])
    return {
        "coherence": sv.Suppression().anonymize(data, private),
        "disassociation": sv.Disassociation().anonymize(data, sv.KmAnonymity(k=3, m=2)),
        "synthetic": sv.Frequent().anonymize(data, sv.DifferentialPrivacy(epsilon=2.0), TREE),
    }


@pytest.fixture(scope="module", params=["coherence", "disassociation", "synthetic"])
def found(request, tmp_path_factory):
    """The dossier of a release that was written, with its page and its twin."""
    place = tmp_path_factory.mktemp("dossier")
    sv.write(releases()[request.param], place / "release")
    words = {"original": PATIENTS, "trials": 200, "output": place / "dossier.html"}
    made = sv.write_approval(place / "release", **words)
    page = (place / "dossier.html").read_text(encoding="utf-8")
    twin = json.loads((place / "dossier.json").read_text(encoding="utf-8"))
    return made, page, twin, place


def test_the_questions_are_those_that_were_listed_before():
    listed = (DOCS / "approving-questions.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+) \| (.*) \|$", listed, flags=re.MULTILINE)
    assert rows == [(str(number), text) for number, text in enumerate(QUESTIONS, start=1)]


def test_each_question_has_a_section_that_says_something(found):
    made, page, twin, _ = found
    assert [one["number"] for one in twin["questions"]] == list(range(1, 16))
    for one in twin["questions"]:
        assert one["sections"]
        for key in one["sections"]:
            assert any(value for value in twin[key].values())
            assert f"<h2>{SECTIONS[key].title}</h2>" in page
        assert one["measured"] is (made.attack is not None or one["number"] not in (10, 11, 12))
        assert one["not_stated"] == [
            key for key, asked in STATED.items() if one["number"] in asked.questions
        ]


def test_the_page_and_its_twin_say_the_same(found):
    made, page, twin, place = found
    plain = unescape(re.sub(r"<[^>]+>", " ", page)).replace("\u00a0", " ")
    assert sv.values(made) == twin
    assert sv.page(made) == page
    for key in SECTIONS:
        for sentence in (*twin[key]["said"], *twin[key]["measured"], *twin[key]["to_judge"]):
            assert sentence in plain, (key, sentence)
    assert "not stated" in plain
    for name in ("dossier.html", "dossier.json"):
        assert (place / name).stat().st_mode & 0o777 == 0o600


def test_the_keys_of_the_twin_are_documented(found):
    twin, listed = found[2], (DOCS / "dossier.md").read_text(encoding="utf-8")
    for key, value in twin.items():
        assert f"`{key}`" in listed
        for inner in value if isinstance(value, dict) else ():
            assert f"`{inner}`" in listed, (key, inner)


def test_every_key_that_can_be_stated_is_documented():
    listed = (DOCS / "dossier.md").read_text(encoding="utf-8")
    for key, asked in STATED.items():
        assert f"| `{key}` | {asked.about}" in listed


def test_the_page_loads_nothing_and_no_law_is_decided(found):
    page = found[1]
    assert "<script" not in page
    assert not re.search(r'(src|href)="(?!data:)', page)
    assert "not legal conclusions" in page


def test_risks_are_those_of_the_attack(found):
    made, _, twin, _ = found
    if made.attack is None:
        assert "No attack was measured" in twin["risk"]["said"][0]
        assert "risks" not in twin["risk"]
        return
    rows = {row.knowledge: row for row in made.attack.rows if row.draws}
    assert [row["knowledge"] for row in twin["risk"]["risks"]] == list(rows)
    for shown in twin["risk"]["risks"]:
        row = rows[shown["knowledge"]]
        assert shown["prosecutor"] == row.success.to_dict()
        assert shown["prosecutor_largest"] == row.largest
    for compared in twin["opinions"]["ema_0070"]:
        row = rows[compared["knowledge"]]
        assert row.within
        if compared["average_is"] == "below":
            assert row.success.high < EMA_THRESHOLD
        if compared["largest_is"] == "below":
            assert row.exact
            assert row.largest < EMA_THRESHOLD


def test_what_is_stated_is_shown_and_chooses_the_knowledge_that_counts(tmp_path):
    (tmp_path / "about.toml").write_text(
        'purpose = "Teaching <b>"\nlikely_knowledge = "all items"\nvery_small = 0.05\n'
        'recipient = "  "\nsign = ["Ann"]\n',
        encoding="utf-8",
    )
    release = releases()["coherence"]
    made = sv.write_approval(release, original=PATIENTS, context=tmp_path / "about.toml")
    twin, page = sv.values(made), sv.page(made)
    assert "Teaching &lt;b&gt;" in page
    assert twin["context"]["recipient"] is None
    assert [row["knowledge"] for row in twin["opinions"]["ema_0070"]] == ["all items"]
    assert "5.0 % is called very small" in json.dumps(twin["opinions"])
    assert [row["role"] for row in twin["signatures"]["signatures"]] == ["Ann"]
    assert "recipient" in twin["questions"][0]["not_stated"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("purpos = 'x'", "did you mean 'purpose'"),
        ("very_small = 2", "between 0 and 1"),
        ("very_small = true", "between 0 and 1"),
        ("purpose = 3", "not a text"),
        ("sign = [1]", "list of texts"),
        ("= nothing", "not TOML"),
    ],
)
def test_statements_that_cannot_be_read_are_refused(tmp_path, text, said):
    (tmp_path / "about.toml").write_text(text, encoding="utf-8")
    words = {"original": PATIENTS, "context": tmp_path / "about.toml"}
    with pytest.raises(FileFormatError, match=said):
        sv.write_approval(releases()["coherence"], **words)


def test_likely_knowledge_that_was_not_tried_is_refused(tmp_path):
    (tmp_path / "about.toml").write_text("likely_knowledge = ['9 items']", encoding="utf-8")
    with pytest.raises(ParameterError, match="names a row of the attack: 1 "):
        sv.write_approval(
            releases()["coherence"], original=PATIENTS, context=tmp_path / "about.toml"
        )


def test_a_dossier_needs_the_original_and_replaces_no_twin(tmp_path):
    with pytest.raises(ParameterError, match="original"):
        sv.write_approval(releases()["coherence"], original=None)
    (tmp_path / "dossier.json").write_text("mine", encoding="utf-8")
    with pytest.raises(OutputError):
        sv.write_approval(
            releases()["coherence"], tmp_path / "dossier.html", original=PATIENTS, trials=100
        )
    assert [path.name for path in tmp_path.iterdir()] == ["dossier.json"]


def test_a_register_shows_other_releases_of_these_people(tmp_path):
    place, data = tmp_path / "releases.toml", tmp_path / "visits.csv"
    rows = (f"p{at},{item}\n" for at, items in enumerate(PATIENTS) for item in items)
    data.write_text("patient,code\n" + "".join(rows), encoding="utf-8")
    new(place)
    words = {"record": "patient", "item": "code", "register": place, "seed": 1}
    for name in ("one", "two"):
        sv.anonymize(data, output=tmp_path / name, k=3, m=2, recipient=f"team {name}", **words)
    words = {"original": data, "trials": 100, "record": "patient", "item": "code"}
    twin = sv.values(sv.write_approval(tmp_path / "one", register=place, **words))["register"]
    assert [(row["recipient"], row["people"]) for row in twin["others"]] == [("team two", 15)]
    assert twin["register"] == "releases.toml"
    sv.write(releases()["disassociation"], tmp_path / "three")
    alone = sv.values(sv.write_approval(tmp_path / "three", register=place, **words))
    assert alone["register"]["booked"] == "This release is not in it."
    assert alone["questions"][12]["not_stated"] == ["earlier"]
