"""The load screen: what was understood, the first records, and questions with answers to press."""

from __future__ import annotations

import re
from io import BytesIO

import pytest
from openpyxl import Workbook

from tests.web.serving import ended, served
from tests.web.test_own_files import outside_details
from tests.web.test_screens import shown

GOODS = ("milk", "tea", "bread", "beer", "wine")


def others(*cases):
    """Cases like the one before, with the long tests: each starts a few processes."""
    values = (case if isinstance(case, tuple) else (case,) for case in cases)
    return [pytest.param(*each, marks=pytest.mark.long) for each in values]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    with served(tmp_path_factory.mktemp("load")) as page:
        yield page


def uploaded(page, name, content):
    """A project with a file; its address and the values of its load screen."""
    place = page.project(name)
    data = content if isinstance(content, bytes) else content.encode()
    assert page.put(f"{place}/load/file?name={name}", data).status == 200
    return place, rested(page, place)


def rested(page, place):
    """The values of the load screen as soon as no job runs; no screen has words of a terminal."""

    def is_over(now):
        states = {verb: job["status"] for verb, job in now["jobs"].items()}
        over = states and all(map(ended, states.values()))
        failed = any(state != "done" for state in states.values())
        return over and ("inspect" in states or failed or now["contains"] == "log")

    found = page.until(f"{place}/load", is_over)
    assert "--" not in shown(page.page(f"{place}/load").text)
    return found


def answer(page, place, **form):
    assert page.post(f"{place}/load/answer", **form).status == 200
    return rested(page, place)


def titles(values):
    return [each["title"] for each in values["questions"]]


def labels(values, at=0):
    return {each[1]: each[0] for each in values["questions"][at]["answers"]}


def baskets(customer="customer_id"):
    """A long table of 40 customers with 1 to 3 baskets each."""
    rows, basket = [f"{customer},basket_id,product"], 0
    for person in range(40):
        for _ in range(person % 3 + 1):
            basket += 1
            rows += [f"C{person},{basket},{GOODS[(basket + n) % 5]}" for n in range(basket % 3 + 1)]
    return "\n".join(rows) + "\n", basket


def book(names=("order_id", "product")):
    """A spreadsheet whose second sheet has a table below titles."""
    made = Workbook()
    made.active.title = "Notes"
    made.active.append(["Made by the shop"])
    sheet = made.create_sheet("Sales")
    for row in (["Sales of the shop"], ["confidential"], list(names)):
        sheet.append(row)
    for order in range(30):
        for n in range(order % 3 + 1):
            sheet.append([5000 + order, GOODS[(order + n) % 5], n / 10][: len(names)])
    stream = BytesIO()
    made.save(stream)
    return stream.getvalue()


def test_sheets_and_title_rows_are_questions_with_a_preview_of_the_records(page):
    place, found = uploaded(page, "sales.xlsx", book())
    assert titles(found) == ["Which sheet?"]
    screen = page.page(f"{place}/load").text
    assert 'type="radio" name="ask0.sheet" value="Sales"' in screen
    found = answer(page, place, **{"ask0.sheet": "Sales"})
    assert titles(found) == ["Which row names the columns?"]
    assert found["inspect"]["first"][:3] == [["milk"], ["bread", "tea"], ["beer", "bread", "wine"]]
    said = outside_details(page.page(f"{place}/load").text)
    assert "Row 3 names the columns; the 2 rows above it were left out." in said
    assert '<span class="item">bread</span>, <span class="item">tea</span>' in said
    assert "Separator inside a cell" not in said  # other fields are folded
    assert "Row 1: Sales of the shop" in page.page(f"{place}/load").text
    found = answer(page, place, **{"ask0.header": "3"})
    assert (titles(found), found["settled"]) == ([], False)  # one person, one order?
    found = answer(page, place, several="no")
    assert found["settled"]
    assert found["understood"][1].startswith("Row 3 names the columns")


def test_columns_below_titles_can_be_chosen_if_their_names_say_little(page):
    place, _ = uploaded(page, "sales.xlsx", book(["Number", "Thing", "Price"]))
    screen = page.page(f"{place}/load").text
    assert "First records: Made by the shop" in shown(screen)  # for a sheet that is no table
    found = answer(page, place, **{"ask0.sheet": "Sales"})
    assert titles(found) == ["Which column is what?"]
    assert found["preview"]["columns"] == ["Number", "Thing", "Price"]
    found = answer(page, place, **{"ask0.record": "Number", "ask0.item": "Thing"})
    assert found["inspect"]["summary"]["records"] == 30
    assert found["inspect"]["first"][:2] == [["milk"], ["bread", "tea"]]


@pytest.mark.parametrize("names", ["customer,product,price", "Kunde,Ware,Preis"])
def test_a_title_as_wide_as_the_table_is_asked_about_with_the_row_first(page, names):
    rows = "".join(f"C{n // 2},{GOODS[n % 5]},{n / 10}\n" for n in range(60))
    text = f"Orders of March,as of 1 April,for the board\n{names}\n{rows}"
    place, found = uploaded(page, "wide.csv", text)
    assert titles(found) == ["Which row names the columns?"]
    offered = list(labels(found).values())
    assert offered[:2] == ["header=2", "header=1"]
    assert ("input_format=baskets" in offered) == names.startswith("Kunde")
    found = answer(page, place, answer="header=2")
    if names.startswith("Kunde"):
        assert titles(found) == ["Which column is what?"]
        found = answer(page, place, **{"ask0.record": "Kunde", "ask0.item": "Ware"})
    assert found["inspect"]["summary"]["records"] == 30
    assert found["inspect"]["first"][:2] == [["milk", "tea"], ["beer", "bread"]]


def courses(member):
    """A spreadsheet with a title, a blank row and a header, and what each member booked."""
    made, booked = Workbook(), {}
    for row in (["Evening school, autumn term"], [], [member, "Course", "Fee"]):
        made.active.append(row)
    for number in range(60):
        for n in range(number % 3 + 1):
            course = ("Pottery", "Salsa", "Chess", "Latin")[(number + n) % 4]
            made.active.append([f"EV-{7 * number + 100}", course, (40, 55, 70)[n]])
            booked.setdefault(number, set()).add(course)
    stream = BytesIO()
    made.save(stream)
    return stream.getvalue(), list(booked.values())


@pytest.mark.parametrize("member", ["Member No", *others("MemberNo", "PatientID")])
def test_a_header_below_a_title_is_never_offered_as_a_basket(page, member):
    content, booked = courses(member)
    place, found = uploaded(page, "courses.xlsx", content)
    assert titles(found) == ["Which column is what?"]
    assert [one for one in labels(found).values() if one.startswith("input_format")] == []
    said = shown(page.page(f"{place}/load").text)
    assert "Each line is a whole basket" not in said
    chosen = re.findall(r'<option value="([^"]+)" selected', page.page(f"{place}/load").text)
    assert chosen[:2] == [member, "Course"]  # proposed: who, and what
    found = answer(page, place, **{"ask0.record": member, "ask0.item": "Course"})
    assert [set(one) for one in found["inspect"]["first"]] == booked[:8]
    assert found["inspect"]["summary"]["records"] == 60


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        (
            "sets.csv",
            "patient;codes\n" + "".join(f"{n};I{n % 7}, J{n % 5}\n" for n in range(40)),
            {"split=,": [["I0", "J0"], ["I1", "J1"]], "split=none": [["I0, J0"], ["I1, J1"]]},
        ),
        (
            "long.csv",
            "customer_id,basket_id,item\n" + "".join(f"{n // 2},{n},b{n % 9}\n" for n in range(40)),
            {"person=customer_id": [["b0", "b1"], ["b2", "b3"]], "record=basket_id": [["b0"]]},
        ),
        (
            "words.txt",
            "".join(f"milk {GOODS[n % 5]}\n" for n in range(1, 40)),
            {"input_format=fimi": [["milk", "tea"]], "input_format=baskets": [["milk tea"]]},
        ),
    ],
)
def test_each_answer_shows_the_first_records_that_it_would_give(page, name, content, expected):
    place, found = uploaded(page, name, content)
    (asked,) = found["questions"]
    given = {value: first for value, _, first in asked["answers"]}
    assert list(given)[: len(expected)] == list(expected)
    for value, records in expected.items():
        assert given[value][: len(records)] == records
    items = [item for records in expected.values() for record in records for item in record]
    screen = page.page(f"{place}/load").text
    assert all(f'<span class="item">{item}</span>' in screen for item in items)


def test_a_file_of_one_column_is_not_asked_which_column_is_what(page):
    place, found = uploaded(page, "words.txt", "".join(f"a {n % 7}\n" for n in range(40)))
    assert titles(found) == ["What is a line?"]
    assert 'name="ask0.' not in page.page(f"{place}/load").text


def test_who_is_protected_is_asked_first_and_a_customer_is_proposed(page):
    content, many = baskets()
    place, found = uploaded(page, "long.csv", content)
    assert (titles(found), found["settled"]) == (["Who is protected?"], False)
    text = f"'customer_id' has 40 different values and 'basket_id' has {many}, and each"
    assert text in found["questions"][0]["text"]
    assert list(labels(found)) == [
        "One record for each “customer_id”",
        "One record for each “basket_id”",
    ]
    found = answer(page, place, answer=labels(found)["One record for each “customer_id”"])
    assert (found["inspect"]["summary"]["records"], found["settled"]) == (40, True)
    assert "One record is one “customer_id”." in page.page(f"{place}/load").text
    found = answer(page, place, answer="record=basket_id")  # baskets are allowed
    assert (found["inspect"]["summary"]["records"], found["settled"]) == (many, True)
    assert "a person may have several records" in found["questions"][0]["text"]


def orders():
    """The orders of 40 customers, some of whom have the same name."""
    rows, order = ["Order no.,Buyer no.,Customer name,Article"], 0
    for person in range(40):
        for _ in range(person % 3 + 1):
            order += 1
            start = f"{70_000 + order},C{person},Name {person % 37}"
            rows += [f"{start},{GOODS[(order + n) % 5]}" for n in range(order % 3 + 1)]
    return "\n".join(rows) + "\n", order


def test_full_stops_in_the_names_of_columns_cut_no_question(page):
    content, many = orders()
    _, found = uploaded(page, "orders.csv", content)
    text = f"The column 'Buyer no.' has 40 different values and 'Order no.' has {many}, and each"
    assert found["understood"][2:] == [
        "“Order no.” only says what belongs together; it is never published.",
        "Not read, so never published unless you choose them below: “Buyer no.”, “Customer name”.",
    ]
    assert found["questions"][0]["text"].startswith(text)
    assert found["questions"][0]["text"].endswith(" Whom to protect is your choice.")
    assert list(labels(found).values()) == ["person=Buyer no.", "record=Order no."]


def test_who_is_protected_is_not_asked_twice(page):
    content, _ = orders()
    place, found = uploaded(page, "namesakes.csv", content)
    found = answer(page, place, answer="person=Buyer no.")
    asked = found["questions"][0]
    assert (found["settled"], asked["title"], asked["must"]) == (True, "Who is protected?", False)
    assert "'Customer name' has 37 different values and 'Buyer no.' has 40" in asked["text"]
    said = outside_details(page.page(f"{place}/load").text)
    assert "You chose “Buyer no.”. If that is right, there is nothing to do." in said
    assert "One record for each “Customer name”" not in said  # it would undo the answer


@pytest.mark.long
def test_a_customer_is_found_where_only_the_basket_has_a_usual_name(page):
    content, many = baskets("buyer_key")
    place, found = uploaded(page, "buyers.csv", content)
    assert found["inspect"]["summary"]["records"] == many
    assert (titles(found), found["settled"]) == (["Who is protected?"], False)
    assert "Please answer the question above first." in page.page(f"{place}/load").text
    found = answer(page, place, answer="record=buyer_key")
    assert (found["inspect"]["summary"]["records"], found["settled"]) == (40, True)


def test_whether_a_person_has_several_records_is_asked_if_no_column_says_it(page):
    content, _ = baskets()
    rows = "\n".join(line.partition(",")[2] for line in content.splitlines())
    place, found = uploaded(page, "plain.csv", rows)
    assert (found["record"], found["several"]) == ("One record is one “basket_id”.", None)
    assert "May one person have several?" in outside_details(page.page(f"{place}/load").text)
    assert not found["settled"]
    assert "Next: see who is exposed" not in page.page(f"{place}/load").text
    found = answer(page, place, several="yes")
    assert (found["several"], found["settled"]) == (True, True)
    assert "Next: see who is exposed" in page.page(f"{place}/load").text
    assert "the promise is about each record" in page.page(f"{place}/load").text


def test_the_columns_of_tick_boxes_can_be_ticked(page):
    rows = "".join(
        f"{n},{20 + n},{'x' * (n % 2)},{'x' * (n % 3 > 0)},{'yes' if n % 5 else 'no'}\n"
        for n in range(40)
    )
    place, found = uploaded(page, "ticks.csv", f"id,age,Uses R,Uses SQL,remote\n{rows}")
    assert titles(found) == ["Which columns are the items?"]
    boxes = re.findall(
        r'"checkbox" name="ask0.column.(\d)" value="([^"]+)"( checked)?',
        page.page(f"{place}/load").text,
    )
    assert boxes == [("0", "id", ""), ("1", "age", "")] + [
        (str(n), name, " checked") for n, name in ((2, "Uses R"), (3, "Uses SQL"), (4, "remote"))
    ]
    found = answer(page, place, **{"ask0.column.2": "Uses R", "ask0.column.3": "Uses SQL"})
    assert found["reading"] == {"item": ["Uses R", "Uses SQL"]}
    assert found["inspect"]["summary"]["items"] == 2


def test_items_that_look_like_identifiers_are_a_question_with_answers(page):
    lines = "".join(f"{100_000 + n} milk {'tea' if n % 2 else 'beer wine'}\n" for n in range(40))
    place, found = uploaded(page, "orders.dat", lines)
    assert (titles(found), found["settled"]) == (["Are these identifiers?"], False)
    assert list(labels(found)) == ["Leave out position 1", "They are meant: publish them"]
    kept = answer(page, place, answer="keep_unique=True")
    assert (kept["inspect"]["summary"]["items"], kept["settled"]) == (44, False)
    assert answer(page, place, several="no")["settled"]
    assert page.post(f"{place}/load/reading").status == 200  # forget the answers
    assert rested(page, place)["reading"] == {}
    left = answer(page, place, answer="drop_column=1")
    assert (left["inspect"]["summary"]["items"], left["several"]) == (4, None)


@pytest.mark.long
def test_rows_without_a_record_can_be_left_out_by_a_button(page):
    rows = "".join(f"{n // 3 or ''},{GOODS[n % 5]}\n" for n in range(30))
    place, found = uploaded(page, "gaps.csv", f"order,item\n{rows}")
    assert "has no record" in found["questions"][0]["text"]
    assert labels(found) == {"Leave out the rows without one": "drop_record="}
    found = answer(page, place, answer="drop_record=")
    assert found["inspect"]["summary"]["records"] == 9
    found = answer(page, place, answer="drop_record=1")  # one more, not another
    assert (found["reading"]["drop_record"], found["inspect"]["summary"]["records"]) == (
        ["", "1"],
        8,
    )


@pytest.mark.long
def test_columns_that_are_not_obvious_are_chosen_from_the_columns_of_the_file(page):
    rows = "".join(f"{n % 9};{'AB'[n % 2]};{GOODS[n % 5]}\n" for n in range(60))
    place, found = uploaded(page, "stays.csv", f"stay;ward;icd\n{rows}")
    assert titles(found) == ["Which column is what?"]
    screen = outside_details(page.page(f"{place}/load").text)
    assert re.search(
        r'<select id="f-ask0-item" name="ask0.item">.*?<option value="icd">', screen, re.S
    )
    found = answer(page, place, **{"ask0.record": "stay", "ask0.item": "icd"})
    assert found["inspect"]["summary"]["records"] == 9


@pytest.mark.long
def test_no_word_of_a_log_form_is_a_path_and_identifiers_in_a_log_can_be_meant(page):
    rows = "".join(
        f"{user}\torder {1000 + user}\t2006-03-01 10:00:00\n{user}\twine\t2006-03-02 11:00:00\n"
        for user in range(30)
    )
    place, found = uploaded(page, "log.tsv", f"AnonID\tQuery\tQueryTime\n{rows}")
    assert found["contains"] == "log"
    refused = page.post(f"{place}/load/log", wordnet="/etc")
    assert (refused.status, "WordNet" in refused.text) == (400, True)
    page.post(f"{place}/load/log", terms="queries")
    page.until(f"{place}/load", lambda now: "inspect" in now["jobs"])
    found = rested(page, place)
    assert (titles(found), found["settled"]) == (["Are these identifiers?"], False)
    found = answer(page, place, answer="keep_unique=True")
    assert (found["settled"], found["reading"]) == (True, {"keep_unique": True})
    done = page.run(place, promise="km-anonymity", method="disassociation", k=2, m=1)
    assert done["status"] == "done", done


@pytest.mark.long
def test_records_of_a_query_log_are_described_as_users_and_queries(page):
    rows = "".join(f"u{n % 30}\t2025-03-01 10:{n % 60:02}:00\t{GOODS[n % 5]}\n" for n in range(90))
    place, found = uploaded(page, "search.tsv", f"user\ttime\tquery\n{rows}")
    assert found["contains"] == "log"
    assert page.post(f"{place}/load/log", terms="queries").status == 200
    found = page.until(f"{place}/load", lambda now: now["inspect"])
    assert (found["record"], found["understood"]) == (
        "One record is one user.",
        [
            "The items are whole queries, with how often each occurs.",
            "Users and times only say what belongs together; they are never published.",
        ],
    )
    assert page.get(f"{place}/run").json["choices"][0] == ["Data", "search.tsv"]


def test_rows_of_a_file_are_shown_below_its_names_and_wide_ones_are_cut(page):
    names = ["id", *(f"Uses {n}" for n in range(14))]
    rows = (
        ",".join([f"p{n}", *("x" * (n % (at + 2) == 0) for at in range(14))]) for n in range(40)
    )
    place, _ = uploaded(page, "wide.csv", "\n".join([",".join(names), *rows]) + "\n")
    said = shown(page.page(f"{place}/load").text)
    assert "The first 8 rows below the column names, as they are in the file; 12 of 15" in said


@pytest.mark.parametrize(
    ("bad", "works"),
    [(b"caf\x81", "latin-1"), *others(("caf\xe9 ".encode() + b"\xe9", "cp1252"))],
)
def test_an_encoding_that_can_read_a_bad_byte_is_an_answer(page, bad, works):
    rows = b"".join(b"%d,milk\n%d,tea\n" % (n, n) for n in range(30))
    place, found = uploaded(page, "bad.csv", b"record,item\n" + rows + b"7," + bad + b"\n")
    assert titles(found) == ["Do all letters look right?"]
    assert labels(found) == {f"Read it as {works}": f"encoding={works}"}
    read = answer(page, place, answer=f"encoding={works}")
    assert read["inspect"]["summary"]["items"] == 3
