"""A column nested in another is found and named, with numbers, as a plain count finds it."""

from __future__ import annotations

import random

import pytest

import setveil as sv
from setveil.errors import DataError


def nested(rows):
    """How many baskets and customers there are, if each basket is of one customer; a plain count."""
    owners: dict[str, set[str]] = {}
    for customer, basket, _ in rows:
        owners.setdefault(basket, set()).add(customer)
    few = len({customer for customer, _, _ in rows})
    return all(len(each) == 1 for each in owners.values()) and few < len(owners), len(owners), few


@pytest.mark.parametrize("seed", range(6))
def test_baskets_of_customers_are_named_exactly_if_each_belongs_to_one(tmp_path, seed):
    draw = random.Random(seed)
    crossed, single = seed % 3 == 1, seed % 3 == 2  # a basket of two customers; one basket each
    rows, basket = [], 0
    for person in range(draw.randint(5, 20)):
        for _ in range(1 if single else draw.randint(1, 4)):
            basket += 1
            goods = draw.sample("abcdef", draw.randint(1, 4))
            rows += [(f"c{person}", f"b{basket}", each) for each in goods]
    if crossed:
        rows.append(("c0", f"b{basket}", "a"))
    draw.shuffle(rows)
    path = tmp_path / "long.csv"
    path.write_text("customer,basket,item\n" + "".join(f"{','.join(row)}\n" for row in rows))
    holds, many, few = nested(rows)
    text = f"'customer' has {few:,} different values and 'basket' has {many:,}, and each 'basket'"
    with pytest.raises(DataError, match="could each be the record") as refused:
        sv.inspect(path)
    notes = " ".join(sv.inspect(path, record="basket").notes)
    assert (text in str(refused.value), text in notes) == (holds, holds)
    assert "belongs to" not in " ".join(sv.inspect(path, record="customer").notes)


def test_rows_without_a_customer_do_not_hide_whose_the_others_are(tmp_path):
    path = tmp_path / "guests.csv"
    rows = "".join(f"{'' if n % 7 == 0 else f'c{n // 3}'},b{n},wine\n" for n in range(60))
    path.write_text(f"CustomerID,InvoiceNo,item\n{rows}")
    with pytest.raises(DataError, match="each 'InvoiceNo' belongs to just one 'CustomerID'"):
        sv.inspect(path)


def test_the_records_of_a_shop_are_not_taken_for_those_of_a_person(tmp_path):
    path = tmp_path / "shops.csv"
    rows = "".join(f"s{n // 100},{n},wine\n{f's{n // 100}'},{n},tea\n" for n in range(300))
    path.write_text(f"shop_key,order_id,item\n{rows}")
    assert "belongs to" not in " ".join(sv.inspect(path).notes)


def test_the_first_records_are_those_of_the_file(tmp_path):
    path = tmp_path / "counted.csv"
    path.write_text("record,item,count\n1,tea,2\n1,milk,1\n2,tea,1\n")
    assert sv.inspect(path).first == (("milk", "tea x2"), ("tea",))
    assert sv.inspect(path, bags=False).first == (("milk", "tea"), ("tea",))


def test_stays_of_patients_are_named_with_both_ways_to_protect_them(tmp_path):
    path = tmp_path / "stays.csv"
    rows = "".join(f"{n},p{n // 2},1976,a{n % 3}|b{n % 5}\n" for n in range(60))
    path.write_text(f"stay,patient,birth_year,codes\n{rows}")
    said = "each 'stay' belongs to just one 'patient'"
    with pytest.raises(DataError, match=said) as refused:
        sv.inspect(path)
    assert "person='patient'" in str(refused.value)
