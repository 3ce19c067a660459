"""Pages about releases and comparisons: what they say, what they hide, and that they stand alone."""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
from dataclasses import replace

import pytest

import setveil as sv
from setveil.audit.records import check_written
from setveil.errors import OutputError, ParameterError
from setveil.pipeline import report
from setveil.pipeline.commands import command_of
from setveil.pipeline.dossier import dossier_of, private_part
from setveil.report.release_page import release_page
from tests.browser import run, visit

RECORDS = [
    ["wine", "beer"],
    ["wine", "beer", "rum"],
    ["milk"],
    ["milk", "tea"],
    ["tea", "milk"],
] * 4
RECORDS += [["<script>alert(1)</script>", "beer", "wine"]] * 3 + [["secret remedy", "milk"]]
OUTSIDE = re.compile(
    r"<script|<link|<img|<iframe|\bsrc\s*=|\bhref\s*=|url\(|@import|https?://(?!www\.w3\.org)"
)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A suppressed release, its page, and the two pages that `report` makes of it."""
    folder = tmp_path_factory.mktemp("pages")
    data = folder / "baskets.jsonl"
    sv.write(sv.Transactions.of(RECORDS), data)
    done = sv.anonymize(
        str(data), k=2, m=2, method="suppression", output=folder / "release", seed=1,
        report=folder / "page.html",
    )  # fmt: skip
    assert done.suppressed == ("secret remedy",)
    sv.write_report(folder / "release", folder / "public.html")
    sv.write_report(folder / "release", folder / "private.html", original=data)
    return folder


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compared")
    words = {"k": [2, 3, 99], "m": 2, "hierarchy": "balanced:2", "workers": 0}
    sv.compare(RECORDS, "partition,disassociation", **words, output=folder / "c")
    return folder / "c" / "report.html"


def text_of(page):
    return page.read_text(encoding="utf-8")


def test_the_private_page_says_what_a_steward_must_defend(made):
    for name in ("page.html", "private.html"):
        page = text_of(made / name)
        for words in (
            "Private.", "What is promised", "What is not promised", "The promise holds",
            "Exposure", "What was lost", "Items before and after", "Sizes of groups",
            "setveil anonymize", "sha", "SHA-256", "numba", "secret remedy",
        ):  # fmt: skip
            assert words in page, (name, words)
        assert "Levels of the tree" not in page


def test_the_public_page_has_nothing_that_the_release_hides(made):
    page = text_of(made / "public.html")
    assert "secret" not in page
    assert "remedy" not in page
    assert "computed from the release alone" in page
    assert "What is promised" in page
    for words in ("How exposed", "What was lost", "Items before and after", "baskets.jsonl"):
        assert words not in page


def test_the_public_page_depends_on_nothing_but_the_release(made, tmp_path):
    sv.write_report(made / "release", tmp_path / "again.html")
    assert text_of(tmp_path / "again.html") == text_of(made / "public.html")


def test_only_the_user_can_read_a_private_page(made):
    for name in ("page.html", "private.html"):
        assert stat.S_IMODE((made / name).stat().st_mode) == 0o600


def test_pages_load_nothing_and_have_no_script(made, compared):
    for page in (made / "page.html", made / "public.html", compared):
        assert OUTSIDE.findall(text_of(page)) == []
        assert "default-src 'none'" in text_of(page)
        assert "&lt;script&gt;" in text_of(made / "page.html")


def test_every_chart_has_a_text_for_people_who_cannot_see_it(made, compared):
    for page in (made / "page.html", made / "public.html", compared):
        charts = re.findall(r"<svg[^>]*>", text_of(page))
        assert charts
        assert all(
            'role="img"' in tag and re.search(r'aria-label="[^"]{20,}"', tag) for tag in charts
        )


def test_colours_follow_the_page(made):
    page = text_of(made / "page.html")
    assert "prefers-color-scheme: dark" in page
    assert 'fill="var(--c0)"' in page
    assert "currentColor" in page
    assert "#0072B2" not in page


def test_pages_open_in_a_browser_without_a_request_or_an_error(made, compared, tmp_path):
    for number, page in enumerate((made / "page.html", made / "public.html", compared)):
        work = tmp_path / str(number)
        work.mkdir()
        found = visit(page, work)
        assert found.console == []
        assert found.asked == []
        assert "<svg" in found.dom


def test_the_browser_of_the_tests_notices_requests_and_errors(tmp_path):
    page = tmp_path / "bad.html"
    page.write_text('<img src="http://nowhere.invalid/a.png"><script>oops()</script>', "utf-8")
    found = visit(page, tmp_path)
    assert found.asked == ["http://nowhere.invalid/a.png"]
    assert "oops is not defined" in "".join(found.console)


def test_a_page_prints_on_pages_of_paper(made, tmp_path):

    target = tmp_path / "page.pdf"
    run(tmp_path, f"--print-to-pdf={target}", "--no-pdf-header-footer", uri=made / "page.html")
    assert target.read_bytes().startswith(b"%PDF")
    assert (
        target.read_bytes().count(b"/Type /Page\n") + target.read_bytes().count(b"/Type/Page") > 1
    )


def test_without_the_extra_a_page_says_so_and_has_all_the_rest(made, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "altair", None)
    sv.write_report(made / "release", tmp_path / "plain.html")
    page = text_of(tmp_path / "plain.html")
    assert "setveil[charts]" in page
    assert "<svg" not in page
    assert "What is promised" in page
    with pytest.raises(sv.errors.MissingExtraError, match="charts"):
        sv.Transactions.of(RECORDS).plot()


@pytest.mark.parametrize(
    ("place", "problem"),
    [
        ("release/page.html", "must not be in its folder"),
        ("page.pdf", "a page is an HTML file"),
        ("page.html", "it exists already"),
        ("none/page.html", "does not exist"),
        ("-", "a page is a file"),
    ],
)
def test_places_that_a_page_cannot_have_are_refused_before_any_work(
    made, monkeypatch, place, problem
):
    monkeypatch.chdir(made)
    before = sorted(path.name for path in made.rglob("*"))
    with pytest.raises(OutputError, match=problem):
        sv.write_report("release", place)
    with pytest.raises(OutputError, match=problem):
        sv.anonymize("baskets.jsonl", k=2, m=2, output="release", report=place)
    assert sorted(path.name for path in made.rglob("*")) == before


def test_a_release_with_a_tree_shows_its_levels(tmp_path):
    sv.anonymize(
        RECORDS, k=3, hierarchy="balanced:2", output=tmp_path / "r", report=tmp_path / "p.html"
    )
    page = text_of(tmp_path / "p.html")
    assert "Levels of the tree" in page
    assert "items themselves" in page


def test_a_release_that_does_not_hold_is_reported_as_such(made, tmp_path):
    release = sv.read_release(made / "release")
    from dataclasses import replace

    broken = replace(release, promise=sv.KmAnonymity(k=20, m=2))
    sv.write_report(broken, tmp_path / "bad.html")
    assert "The promise does NOT hold" in text_of(tmp_path / "bad.html")


def test_the_command_makes_the_same_release_again(made, tmp_path, monkeypatch):
    monkeypatch.chdir(made)
    page = text_of(made / "page.html")
    command = re.search(r"<pre><code>setveil (.*?)</code></pre>", page)[1]
    from setveil.cli import answer

    words = command.split()
    words[words.index("-o") + 1] = str(tmp_path / "again")
    assert answer(words) == 0
    again, first = sv.read_release(tmp_path / "again"), sv.read_release(made / "release")
    assert check_written(again, first).holds


def test_commands_name_what_is_not_the_default():
    release = sv.anonymize(
        RECORDS, k=2, m=2, method="disassociation", arrangement=9, refine=False
    ).release
    assert command_of(release) == (
        "setveil anonymize DATA -o RELEASE --method disassociation --arrangement 9 --no-refine -k 2 -m 2"
    )


def test_exposure_after_is_never_above_what_the_promise_allows():
    done = sv.anonymize(RECORDS, k=3, m=2, method="disassociation")
    original = sv.Transactions.of(RECORDS)
    part = private_part(done.release, original, losses={}, usefulness=None)
    known = {each.known: each for each in part.narrowed}
    assert known[1].after == known[2].after == 0
    assert known[2].before > 0


def test_sentences_and_chart_of_exposure_are_about_the_same_draws():
    done = sv.anonymize(RECORDS, k=3, m=2, method="disassociation")
    found = dossier_of(done.release, done.verdict)
    part = private_part(done.release, sv.Transactions.of(RECORDS), losses={}, usefulness=None)
    text = release_page(replace(found, private=part))
    for one, bar in zip(part.exposed.known, part.narrowed, strict=True):
        assert (bar.before, bar.draws) == (one.random, one.drawn)
        assert f"{100 * bar.before:.1f} ± {100 * one.random_margin:.1f}" in text
    assert "random item" in text
    assert "the most telling" in text


def test_damaged_and_kept_items_never_overlap():
    done = sv.anonymize(RECORDS, k=3, hierarchy="balanced:2")
    original = sv.Transactions.of(RECORDS)
    part = private_part(done.release, original, losses={}, usefulness=None)
    assert not set(part.damaged) & set(part.kept)
    assert [pair.before for pair in part.supports] == sorted(
        (pair.before for pair in part.supports), reverse=True
    )
    assert part.itemsets[0].name == "beer + wine"
    assert part.itemsets[0].before == 11


def test_there_is_no_page_about_anything_else():
    with pytest.raises(ParameterError, match="pages about"):
        sv.page([1])
    with pytest.raises(ParameterError, match="charts of"):
        sv.plot([1])


def test_a_page_that_cannot_be_written_leaves_no_release_and_nothing_else(tmp_path, monkeypatch):
    def full(found):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    data = tmp_path / "baskets.dat"
    data.write_text("wine beer\n" * 4, encoding="utf-8")
    words = {"k": 2, "m": 2, "output": tmp_path / "r", "report": tmp_path / "p.html"}
    beside = {"alignment": tmp_path / "a.txt", "save_job": tmp_path / "j.toml"}
    monkeypatch.setattr(report, "page_of", full)
    with pytest.raises(OSError, match="No space left"):
        sv.anonymize(data, **words, **beside)
    assert list(tmp_path.iterdir()) == [data]


def test_an_alignment_that_cannot_be_written_leaves_no_page_and_no_release(tmp_path, monkeypatch):
    def full(*given, **words):
        raise OutputError(tmp_path / "a.txt", "No space left on device")

    monkeypatch.setattr("setveil.pipeline.anonymize.write_alignment", full)
    words = {"output": tmp_path / "r", "report": tmp_path / "p.html"}
    with pytest.raises(OutputError, match="No space left"):
        sv.anonymize(RECORDS, k=2, m=2, alignment=tmp_path / "a.txt", **words)
    assert list(tmp_path.iterdir()) == []
