"""What helps to decide on a run: what was spent, what to try, and which field is wrong."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from html import unescape
from urllib.parse import urlencode

import pytest

from tests.web.serving import ended, served

LETTERS = "abcdefghijklm"
ROWS = "record,item\n" + "".join(
    f"{record},{kind}{LETTERS[record % count]}\n"
    for record in range(130)
    for kind, count in (("a", 7), ("b", 11), ("c", 13))
)
OTHER = ROWS + "130,aa\n"
ITEMS = sorted({line.split(",")[1] for line in ROWS.split()[1:]})


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    with served(tmp_path_factory.mktemp("decisions")) as page:
        yield page


def noisy(page, place, **form):
    """A private release; its values and what its ledger adds up to."""
    page.post(f"{place}/goal/choose", promise="differential-privacy")
    done = page.run(place, **form)
    assert done["status"] == "done", done
    folder = (page.folder / "data").rglob(f"jobs/{done['id']}/release/release.json")
    ledger = json.loads(next(folder).read_text(encoding="utf-8"))["ledger"]
    return done, sum(Fraction(one["epsilon"]) for one in ledger)


@pytest.fixture(scope="module")
def spent(page):
    """A project with two private releases of the same data."""
    place = page.loaded(ROWS)
    runs = [noisy(page, place, epsilon=each, public_items="yes") for each in (0.5, 1)]
    return place, runs


def test_epsilons_of_releases_of_the_same_data_are_added_up_where_one_decides(page, spent):
    place, runs = spent
    assert sum(total for _, total in runs) == Fraction(3, 2)
    said = "This data was used by 2 releases with differential privacy: epsilon 0.5 + 1 = 1.5 in "
    said += "all. Handing over more than one adds up."
    steps = [f"{place}/{step}" for step in ("goal", "run", "result", "compare", "download")]
    for address in (*steps, runs[0][0]["place"]):
        assert said in page.page(address).text, address
        assert page.get(address).json["spent"][0].startswith(said)
    assert "epsilon 1.5 in all" in page.page("/").text


def test_other_data_has_a_sum_of_its_own_and_the_same_data_elsewhere_the_same(page, spent):
    place = page.loaded(ROWS, "same.csv")
    (line,) = page.get(f"{place}/run").json["spent"]
    assert "2 releases with differential privacy (2 of them in other projects): epsilon" in line
    noisy(page, place, delta="1e-6", epsilon=1)
    (line,) = page.get(f"{place}/run").json["spent"]
    assert "epsilon 0.5 + 1 + 1 = 2.5, delta 1e-06 in all" in line
    page.put(f"{place}/load/file?name=other.csv", OTHER.encode())
    page.until(f"{place}/load", lambda now: now["inspect"])
    (line,) = page.get(f"{place}/run").json["spent"]
    said = "Another file of this project was used by 1 release with differential privacy: epsilon 1"
    assert line.startswith(said)
    assert "This is a sum of its own" in line


def test_what_a_deleted_project_has_spent_still_counts(page):
    rows = ROWS.replace("130", "131") + "131,aa\n"
    place = page.loaded(rows, "gone.csv")
    noisy(page, place, epsilon=0.5, public_items="yes")
    page.post(f"{place}/delete")
    again = page.loaded(rows, "gone.csv")
    (line,) = page.get(f"{again}/run").json["spent"]
    assert "1 release with differential privacy (1 of them in other projects or deleted)" in line
    register = page.folder / "data" / "register" / "releases.toml"
    assert register.stat().st_mode & 0o077 == 0
    assert register.parent.stat().st_mode & 0o077 == 0


def test_a_draw_of_noise_is_never_marked_as_the_best(page, spent):
    place, _ = spent
    found = page.get(f"{place}/compare").json
    assert len(found["runs"]) == 2
    assert not any(each.get("best") for one in found["measures"] for each in one["figures"])
    assert "Releases with noise are not ranked" in page.page(f"{place}/compare").text


def test_a_public_list_may_have_items_that_the_data_lacks_and_must_have_the_others(page):
    place = page.loaded(ROWS)
    page.post(f"{place}/goal/choose", promise="differential-privacy")
    outside = "".join(
        part.split("</details>")[-1] for part in page.page(f"{place}/goal").text.split("<details")
    )
    assert 'name="public_list"' in outside
    done, _ = noisy(page, place, epsilon=1, public_list="\n".join([*ITEMS, "E11.9", "Z99"]))
    shown = unescape(page.page(done["place"]).text)
    assert "2 of 33 items of the public list do not occur in the data" in shown
    assert "E11.9" in page.page(f"{place}/goal").text
    assert "--hierarchy public-items.csv" in done["command"]
    short = "\n".join(ITEMS[1:])
    done = page.run(place, epsilon=1, public_list=short)
    assert "the public list of items does not have 'aa'" in done["error"]
    follow(page, done["place"], "public_list", "does not have &#39;aa&#39;")
    done, _ = noisy(page, place, epsilon=1, public_list=short, unknown="drop")
    assert "1 item is not in the hierarchy" in page.page(done["place"]).text
    page.post(f"{place}/goal/choose", promise="km-anonymity")
    assert "public-items.csv" not in page.get(f"{place}/run").json["command"]


def follow(page, address, name, sentence):
    """Follow the link to a field, which is marked, with the sentence next to it."""
    links = re.findall(r'<a href="([^"#]*)#(f-[^"]*)">', page.page(address).text)
    (place,) = {unescape(link) for link, id in links if id == f"f-{name.replace('_', '-')}"}
    text = page.page(place).text
    id = f"f-{name.replace('_', '-')}"
    (field,) = re.findall(rf'<(?:input|textarea|select)[^>]*id="{id}"[^>]*>', text)
    assert 'aria-invalid="true"' in field
    assert f"{id}-wrong" in field
    assert sentence in text.split(f'id="{id}-wrong">')[1].split("</p>")[0]
    return text


def test_a_failed_run_links_to_the_field_that_must_be_changed(page):
    place = page.loaded(ROWS)
    done = page.run(place, k=500, m=2)
    assert done["status"] == "failed"
    follow(page, done["place"], "k", "nobody can be hidden among 500")
    assert "aria-invalid" not in page.page(f"{place}/goal").text
    page.post(f"{place}/goal/settle", promise="differential-privacy")
    page.post(f"{place}/goal/settle", epsilon=1)
    answer = page.ask("POST", f"{place}/run", "", {**page._right(), "Accept": "text/html"})
    assert answer.status == 400
    assert "field=public_items#f-public-items" in answer.text
    text = page.page(f"{place}/goal?field=public_items").text
    assert 'id="f-public-items-wrong"' in text
    assert "aria-invalid" not in page.page(f"{place}/goal?field=seed").text


def test_private_items_in_another_case_stop_the_run_with_a_link_to_their_field(page):
    place = page.loaded(ROWS)
    page.post(f"{place}/goal/choose", promise="coherence")
    named = ITEMS[0].upper()
    done = page.run(place, h=0.5, k=2, p=1, private=f"{named}\n{ITEMS[1]}")
    assert f"'{ITEMS[0]}' in the data looks like a private item" in done["error"]
    follow(page, done["place"], "private", "is spelled differently")


def test_the_sentence_of_a_promise_follows_what_is_typed_and_keeps_nothing(page):
    place = page.loaded(ROWS)
    page.post(f"{place}/goal/choose", promise="k-anonymity")
    typed = page.post(f"{place}/goal/meaning", k="17").json
    assert typed["meaning"].startswith("Each published record is identical to at least 16 others.")
    wrong = page.post(f"{place}/goal/meaning", k="1").json
    assert (wrong["meaning"], "(k)” = 1 is not allowed" in wrong["limits"]) == ("", True)
    assert "at least 4 others" in page.get(f"{place}/goal").json["meaning"]


def test_settings_of_a_method_are_said_in_words(page):
    place = page.loaded(ROWS)
    page.post(f"{place}/goal/choose", promise="km-anonymity")
    how = {"method": "disassociation", "disassociation.arrangement": "safe"}
    assert page.post(f"{place}/goal/settle", k="2", m="2", **how).status == 200
    assert ["Arrangement", "the safe arrangement"] in page.get(f"{place}/run").json["choices"]


def test_what_names_a_field_leads_to_it_wherever_it_is_folded(page):
    place = page.loaded()
    page.post(f"{place}/goal/choose", promise="km-anonymity")
    done = page.run(place, k=3, m=2, method="disassociation", seed=1)
    opens(page, page.page(done["place"]).text, "f-min-people")
    form = {"method": "disassociation", "disassociation.max_subrecord": "many", "k": 3, "m": 2}
    browser = {**page._right(), "Accept": "text/html"}
    browser["Content-Type"] = "application/x-www-form-urlencoded"
    answer = page.ask("POST", f"{place}/goal/settle", urlencode(form), browser)
    assert "“Max subrecord” = many is not allowed" in answer.text
    opens(page, answer.text, "f-disassociation-max-subrecord")


def opens(page, text, id):
    """The link to a field leads to a page on which everything around the field is open."""
    (link,) = set(re.findall(rf'<a href="([^"#]*)#{id}">', text))
    goal = page.page(unescape(link)).text
    before, _ = goal.split(f'id="{id}"')
    around = list[str]()
    for each in re.findall(r"<details(?: open)?>|</details>", before):
        around = around[:-1] if each == "</details>" else [*around, each]
    assert set(around) == {"<details open>"}
    assert "aria-invalid" not in goal


def test_the_box_without_the_page_has_no_command_that_is_refused(page):
    place = page.loaded(ROWS)
    page.post(f"{place}/goal/choose", promise="coherence")
    assert page.get(f"{place}/goal").json["command"] is None
    page.post(f"{place}/goal/settle", promise="coherence", k=2, p=1, h=0.5, private=ITEMS[0])
    assert "--private private-items.txt" in page.get(f"{place}/goal").json["command"]


def test_what_is_compared_can_be_compared_without_the_page(page):
    place = page.loaded(ROWS)
    form = {"promise": "km-anonymity", "k": 5, "m": 2, "l": 2, "sensitive": ITEMS[0]}
    page.post(f"{place}/goal/settle", **form)
    command = page.get(f"{place}/compare").json["command"]
    assert command.endswith("--promise km-anonymity -k 5 -m 2")
    page.post(f"{place}/goal/choose", promise="differential-privacy")
    page.post(f"{place}/goal/settle", epsilon=1, delta="1e-6")
    assert command_options(page.get(f"{place}/compare").json["command"]) >= {"epsilon", "delta"}


def command_options(command):
    return set(re.findall(r"--([a-z]+)", command))


def test_noise_without_a_list_of_items_is_said_before_the_run(page):
    place = page.loaded(ROWS)
    page.post(f"{place}/goal/choose", promise="differential-privacy")
    page.post(f"{place}/goal/settle", epsilon=1)
    lacks = page.get(f"{place}/hierarchy").json["lacks"]
    assert "must be public knowledge" in lacks
    follow(page, f"{place}/hierarchy", "public_list", "must be public knowledge")
    assert "You may skip this step" not in page.page(f"{place}/hierarchy").text
    page.post(f"{place}/goal/settle", epsilon=1, public_list="\n".join(ITEMS))
    assert page.get(f"{place}/hierarchy").json["lacks"] == ""


def test_coherence_says_that_private_items_are_missing_only_when_one_goes_on(page):
    place = page.loaded(ROWS)
    page.post(f"{place}/goal/choose", promise="coherence")
    assert "No items are named as private" not in page.page(f"{place}/goal").text
    assert "contain any one private item" in page.get(f"{place}/goal").json["meaning"]
    refused = page.post(f"{place}/goal/settle", promise="coherence", k="2", p="1", h="0.5")
    assert (refused.status, "without them coherence promises nothing" in refused.text) == (
        400,
        True,
    )


def test_the_hierarchy_that_is_chosen_is_said_in_words(page):
    place = page.loaded(ROWS)
    page.post(f"{place}/goal/choose", promise="k-anonymity")
    said = page.page(f"{place}/hierarchy").text
    assert "needs a hierarchy. One was chosen for you" in said
    words = "<strong>balanced:5</strong>: groups of five, by name or number (chosen for you)"
    assert words in said
    assert "Use no hierarchy" not in said
    choices = page.get(f"{place}/run").json["choices"]
    assert ["Hierarchy", "groups of five, by name or number"] in choices
    assert "Use another hierarchy" not in said
    page.post(f"{place}/hierarchy/choose", kind="recipe", recipe="balanced:5")
    page.until(f"{place}/hierarchy", lambda now: ended(now["job"]["status"]))
    said = page.page(f"{place}/hierarchy").text
    assert said.index("Use another hierarchy") < said.index("Choose a hierarchy file")


def test_what_to_try_is_a_button_that_starts_it_and_compare_offers_it(page):
    place = page.loaded(ROWS)
    page.post(f"{place}/goal/settle", promise="k-anonymity")
    first = page.run(place, k=10)
    text = page.page(first["place"]).text
    tips = first["outcome"]["advice"]
    assert tips[0].startswith(
        "km-anonymity by disassociation with k = 10, m = 2 (a weaker promise)"
    )
    assert not any("“" in tip or "setveil" in tip for tip in tips)
    at = next(at for at, tip in enumerate(tips) if "disassociation" in tip)
    assert f'action="{first["place"]}/try"' in text
    assert f'name="at" value="{at}"' in text
    assert page.post(f"{first['place']}/try", at=99).status == 400
    run = page.post(f"{first['place']}/try", at=at).json["next"]
    done = page.until(run, lambda now: ended(now["status"]))
    assert done["status"] == "done", done
    assert {name: done["words"][name] for name in ("promise", "method", "k", "m")} == {
        "promise": "km-anonymity",
        "method": "disassociation",
        "k": 10,
        "m": 2,
    }
    assert page.get(f"{place}/goal").json["method"] == "disassociation"
    shown = page.page(f"{place}/compare").text
    boxes = re.findall(r'name="method\.(\w+)" value="yes" checked', shown)
    assert "disassociation" in boxes
