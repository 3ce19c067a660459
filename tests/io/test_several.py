"""Data in several files, and releases in parts."""

from __future__ import annotations

import gzip
import json

import pytest

import setveil as sv
from setveil.errors import FileFormatError, ParameterError, ReleaseError


def records(data) -> list[tuple[str, ...]]:
    return sorted(data)


def test_a_record_of_a_long_table_may_be_in_several_files(tmp_path):
    (tmp_path / "a.csv").write_text("record,item\n1,beer\n2,wine\n")
    (tmp_path / "b.csv").write_text("record,item\n1,milk")
    (tmp_path / "_SUCCESS").write_text("")
    wanted = [("beer", "milk"), ("wine",)]
    assert records(sv.read(tmp_path)) == wanted
    assert records(sv.read(f"{tmp_path}/*.csv")) == wanted


def test_lines_of_several_files_follow_each_other(tmp_path):
    (tmp_path / "a.dat").write_text("1 2\n3")
    (tmp_path / "b.dat.gz").write_bytes(gzip.compress(b"2 4\n"))
    assert records(sv.read(tmp_path)) == [("1", "2"), ("2", "4"), ("3",)]


def test_parquet_files_are_read_together(tmp_path):
    for name, baskets in {"a": [["x", "y"]], "b": [["z"], []]}.items():
        sv.write(baskets, tmp_path / f"{name}.parquet")
    assert records(sv.read(tmp_path)) == [(), ("x", "y"), ("z",)]


def test_tables_with_different_headers_are_refused(tmp_path):
    (tmp_path / "a.csv").write_text("record,item\n1,beer\n")
    (tmp_path / "tree.csv").write_text("beer;drinks;ALL\n")
    with pytest.raises(FileFormatError, match="begin with different lines") as error:
        sv.read(tmp_path)
    assert str(error.value).startswith(f"{tmp_path}: ")


def test_files_of_several_formats_are_refused(tmp_path):
    with pytest.raises(FileFormatError, match="no data files"):
        sv.read(tmp_path)
    (tmp_path / "a.csv").write_text("record,item\n")
    (tmp_path / "b.dat").write_text("1\n")
    with pytest.raises(FileFormatError, match=r"several formats \(.csv, .dat\)"):
        sv.read(tmp_path)


@pytest.fixture(params=["disassociation", "partition"])
def release(request, tmp_path, monkeypatch):
    """A release in several parts."""
    from setveil.engines.blocks import BlocksSource

    monkeypatch.setattr(BlocksSource, "most", lambda *_: 20)
    baskets = [[f"i{at % 7}", f"j{at % 5}"] for at in range(200)]
    how = {"k": 5, "engine": "blocks", "output": tmp_path / "release", "method": request.param}
    how |= (
        {"m": 2, "max_part": 50}
        if request.param == "disassociation"
        else {"hierarchy": "balanced:2"}
    )
    assert sv.anonymize(baskets, **how).verdict.holds
    return tmp_path / "release"


def test_a_release_in_parts_says_so_and_is_read_as_one(release):
    about = json.loads((release / "release.json").read_text())
    assert len(about["parts"]) > 1
    assert sum(about["parts"]) == 200
    assert len(sv.read_release(release)) == 200
    assert sv.verify(sv.read_release(release)).holds


def test_a_part_that_is_missing_or_changed_is_found(release):
    part = sorted(release.glob("data-*"))[1]
    kept = part.read_bytes()
    part.write_bytes(kept + b"\n")
    with pytest.raises(ReleaseError, match="was changed"):
        sv.read_release(release)
    part.unlink()
    with pytest.raises(ReleaseError, match="is missing"):
        sv.read_release(release)


def test_parts_must_have_as_many_records_as_the_release_says(release):
    place = release / "release.json"
    about = json.loads(place.read_text())
    about["parts"][0] += 1
    place.write_text(json.dumps(about))
    with pytest.raises(ReleaseError, match="do not have as many records"):
        sv.read_release(release)
    about["parts"][1] -= 1
    place.write_text(json.dumps(about))
    with pytest.raises(ReleaseError):
        sv.read_release(release)


def test_a_release_in_parts_is_verified_part_by_part(release):
    baskets = [[f"i{at % 7}", f"j{at % 5}"] for at in range(200)]
    verdict = sv.verify(release, baskets, engine="blocks")
    assert verdict.holds
    assert {"records", "items", "supports"} <= {check.name for check in verdict.checks}
    more = sv.verify(release, [*baskets, ["i1"]], engine="blocks")
    assert "records" in {check.name for check in more.failed}
    other = sv.verify(release, [["x"], *baskets[1:]], engine="blocks")
    assert "supports" in {check.name for check in other.failed}


def test_only_a_release_folder_is_verified_part_by_part(release, tmp_path):
    with pytest.raises(ParameterError, match="own promise"):
        sv.verify(release, k=2, engine="blocks")
