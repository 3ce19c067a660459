"""What the command line says about plain files, which may be original data."""

from __future__ import annotations

import json


def test_a_witness_from_a_plain_file_is_private(call, folder):
    (folder / "b.dat").write_text("beer wine\nbeer wine\nsecret wine\n", encoding="utf-8")
    result = call("verify", "b.dat", "-k", 2)
    assert result.code == 1
    assert "FAILS" in result.out
    assert "secret" not in result.out
    assert "Where it does not hold (private" in result.err
    assert "{secret, wine}" in result.err
    found = json.loads(call("verify", "b.dat", "-k", 2, "--json").out)
    assert found["checks"][0]["witnesses"][0]["private"] is True


def test_a_question_about_columns_lists_a_header_but_never_a_row(call, folder):
    rows = "1,Rome,2020-01-01,tea\n1,Rome,2020-01-01,milk\n2,Oslo,2020-01-01,tea\n"
    (folder / "head.csv").write_text(f"customer_id,city,when,what\n{rows}", encoding="utf-8")
    result = call("inspect", "head.csv")
    assert (
        "which of 'customer_id', 'city', 'when', 'what' are the record and the item" in result.err
    )
    (folder / "rows.csv").write_text("user,anna,5\nuser,bert,3\nme,carl,4\n", encoding="utf-8")
    result = call("inspect", "rows.csv")
    assert "it is not obvious which columns are the record and the item" in result.err
    assert "anna" not in result.err


def test_the_columns_of_a_header_in_another_language_are_listed(call, folder):
    rows = "1;30;K\u00e4se|Bier\n2;41;K\u00e4se\n3;25;Bier\n"
    (folder / "de.csv").write_bytes(f"kunde;alter;artikel\n{rows}".encode("cp1252"))
    result = call("inspect", "de.csv")
    assert "which of 'kunde', 'alter', 'artikel' are the record and the item" in result.err
    assert "basket" not in result.err  # the names of the columns would be items
    assert call("inspect", "de.csv", "--record", "kunde", "--item", "artikel").code == 0
