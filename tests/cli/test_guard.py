"""The last guard: no door publishes items that look like identifiers unless the owner says so."""

from __future__ import annotations

import json
from pathlib import Path

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import setveil as sv
from setveil.errors import DataError
from setveil.promises.differential_privacy import DifferentialPrivacy
from tests.cli.conftest import Call

WORDS = ("milk", "beer", "tea", "wine", "salt", "bread")
SIZE = 60


def basket(n: int) -> list[str]:
    return [WORDS[n % 6], WORDS[(n + 1 + n % 4) % 6], WORDS[(n * 5 + 2) % 6]][: 1 + n % 3]


def fimi(n: int) -> str:
    return " ".join([str(100_000 + n), *basket(n)])


def named(n: int) -> str:
    return ",".join([f"P{n:05d}", *basket(n)])


FILES = {
    "orders.dat": "\n".join(map(fimi, range(SIZE))),
    "lines.baskets": "\n".join(map(named, range(SIZE))),
    "sets.csv": "id;products\n"
    + "\n".join(f"{n};{'|'.join([f'u{n}@x.org', *basket(n), 'x'])}" for n in range(SIZE)),
    "lists.jsonl": "\n".join(
        json.dumps([f"2024-01-01 10:{n:02d}:00", *basket(n)]) for n in range(SIZE)
    ),
    "objects.jsonl": "\n".join(
        json.dumps({"id": n, "items": [f"ORD-{n:04d}", *basket(n)]}) for n in range(SIZE)
    ),
    "long.csv": "record,item\n"
    + "\n".join(f"{n},{item}" for n in range(SIZE) for item in [f"{n / 7:.2f}", *basket(n)]),
}


def lists() -> list[list[str]]:
    return [[f"C{n:06d}", *basket(n)] for n in range(SIZE)]


def parquet(place: Path) -> None:
    pq.write_table(pa.table({"items": lists()}), place)


def sheet(place: Path) -> None:
    book = openpyxl.Workbook()
    for row in [
        ["record", "item"],
        *([n, item] for n, items in enumerate(lists()) for item in items),
    ]:
        book.active.append(row)
    book.save(place)


BINARY = {"lists.parquet": parquet, "sales.xlsx": sheet}


@pytest.fixture(params=[*FILES, *BINARY])
def data(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    place = tmp_path / str(request.param)
    if request.param in BINARY:
        BINARY[request.param](place)
    else:
        place.write_text(FILES[request.param] + "\n")
    return place


def test_no_verb_publishes_identifiers(data: Path, call: Call, tmp_path: Path) -> None:
    k, release = ("-k", "3", "-m", "2"), str(tmp_path / "release")
    job = tmp_path / "job.toml"
    job.write_text(f'data = "{data.name}"\noutput = "release"\nk = 3\nm = 2\n')
    for words in (
        ("anonymize", str(data), "-o", release, *k),
        ("anonymize", str(data), "-o", release, *k, "--engine", "blocks"),
        ("anonymize", str(data), "-o", release, "--epsilon", "1", "--delta", "1e-6"),
        ("run", str(job)),
        ("advise", str(data), *k),
        ("compare", str(data), "-o", str(tmp_path / "compared"), "--methods", "disassociation", *k),
    ):
        done = call(*words)
        assert done.code == 3
        assert "are they identifiers?" in done.err
        assert done.err.startswith(f"setveil: {data}:")
        assert "keep-unique" in done.err
        assert ("if the file is a table" in done.err) == (data.name == "lines.baskets")
        assert len(done.err.splitlines()) == 1
        assert not any(value in done.err for value in ("100007", "P00007", "u7@", ":07:", "0007"))
        assert not (tmp_path / "release").exists()


def test_it_is_published_if_it_is_meant(data: Path, call: Call, tmp_path: Path) -> None:
    words = ("anonymize", str(data), "-o", str(tmp_path / "release"), "-k", "3", "-m", "2")
    done = call(*words, "--keep-unique")
    assert done.code == 0
    assert "They are published, as you asked." in " ".join(done.err.split())


@pytest.mark.parametrize("engine", ["local", "blocks"])
@pytest.mark.parametrize("name", [name for name in FILES if name != "long.csv"])
def test_a_position_can_be_left_out(name: str, engine: str, tmp_path: Path) -> None:
    place = tmp_path / name
    place.write_text(FILES[name] + "\n")
    out = tmp_path / "release"
    done = sv.anonymize(str(place), k=3, m=2, output=out, drop_column=1, engine=engine)
    assert done.verdict.holds
    assert set(sv.read(place, drop_column="1").vocabulary) == {
        *WORDS,
        *("x",) * (name == "sets.csv"),
    }
    assert not any(mark in (out / "data.jsonl").read_text() for mark in ("1000", "P0", "@", "ORD"))


def test_the_last_position_can_be_left_out(tmp_path: Path) -> None:
    place = tmp_path / "x.dat"
    place.write_text("1 2 3\n4\n5 6\n")
    assert list(sv.read(place, drop_column="last")) == [("1", "2"), (), ("5",)]
    assert list(sv.read(place, drop_column=["1", "last"])) == [("2",), (), ()]


def test_records_of_other_kinds_of_objects_are_guarded_too() -> None:
    rows = [[f"P{n:05d}", *basket(n)] for n in range(SIZE)]
    with pytest.raises(DataError, match=r"are they identifiers\? leave them out of the records"):
        sv.anonymize(rows, k=3, m=2)
    assert sv.anonymize(rows, k=3, m=2, keep_unique=True).verdict.holds


def test_a_rule_is_not_applied_to_identifiers() -> None:
    rows = [basket(n) for n in range(SIZE)]
    release = sv.anonymize(rows, k=3, m=2, method="mhghs", hierarchy="balanced:2").release
    with pytest.raises(DataError, match="are they identifiers"):
        sv.apply(release, [[f"P{n:05d}", *row] for n, row in enumerate(rows)], unknown="drop")


def test_items_that_are_left_out_as_rare_need_no_question() -> None:
    rows = [[f"P{n:05d}", *basket(n)] for n in range(SIZE)]
    assert sv.anonymize(rows, k=3, m=2, min_people=2).verdict.holds


def test_inspect_only_notes_it(data: Path, call: Call) -> None:
    done = call("inspect", str(data))
    assert done.code == 0
    assert "are they identifiers?" in " ".join(done.out.split())
    assert "are they identifiers?" not in call("inspect", data, "--keep-unique").out


def test_differential_privacy_says_that_a_refusal_is_not_covered() -> None:
    assert "whether there is a release at all" in DifferentialPrivacy(epsilon=1).limits()


def test_an_attribute_of_identifiers_is_no_item(call: Call, tmp_path: Path) -> None:
    attributes = ["@attribute order string", *(f"@attribute {word} {{no,yes}}" for word in WORDS)]
    ticks = (",".join("yes" if w in basket(n) else "no" for w in WORDS) for n in range(SIZE))
    rows = [f"'A{n:04d}',{tick}" for n, tick in enumerate(ticks)]
    data = tmp_path / "sales.arff"
    data.write_text("\n".join(["@relation sales", *attributes, "@data", *rows]))
    done = call("anonymize", str(data), "-o", str(tmp_path / "release"), "-k", "3", "-m", "2")
    assert (done.code, (tmp_path / "release").exists()) == (3, False)
    assert "'order' may identify people" in done.err
