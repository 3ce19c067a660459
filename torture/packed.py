"""Damaged files that are compressed or binary: gzip, zip, zstd, Parquet and spreadsheets."""

from __future__ import annotations

import gzip
import io
import zipfile
import zlib
from pathlib import Path

from tests.oracle import parquet, readers, xlsx, zstandard
from torture.campaign import Dice
from torture.mutation import BYTES, TEXT, cut_off, flip_bits, mutated
from torture.texts import PLAIN, judged, reads, records
from torture.trying import Trial, as_known, known_by, written

_ZIP_KINDS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)


def gz(rng: Dice, folder: Path) -> Trial:
    """A gzip file: its bytes are damaged, or what it contains."""
    packed = mutated(rng, gzip.compress(_text(rng), mtime=0), BYTES)
    path = written(folder / "a.dat.gz", packed)

    def unpack(content: bytes) -> list[readers.Record]:
        try:
            return readers.fimi(gzip.decompress(content))
        except (EOFError, OSError, zlib.error) as error:
            raise ValueError(str(error)) from None

    return judged(
        reads(path, bags=False, format="fimi", encoding="utf-8"), known_by(unpack, packed)
    )


def zipped(rng: Dice, folder: Path) -> Trial:
    """A zip file with one member, of every kind."""
    kept = io.BytesIO()
    with zipfile.ZipFile(kept, "w", rng.choice(_ZIP_KINDS)) as file:
        file.writestr("a.dat", _text(rng))
    packed = mutated(rng, kept.getvalue(), BYTES)
    path = written(folder / "a.zip", packed)

    def unpack(content: bytes) -> list[readers.Record]:
        try:
            with zipfile.ZipFile(io.BytesIO(content)) as file:
                names = [each.filename for each in file.infolist() if not each.is_dir()]
                unpacked = file.read(names[0])
        except Exception as error:  # a zip file may be damaged in every way
            raise ValueError(str(error)) from None
        if names != ["a.dat"]:
            raise readers.Unsure("another name")
        return readers.fimi(unpacked)

    return judged(
        reads(path, bags=False, format="fimi", encoding="utf-8"), known_by(unpack, packed)
    )


def zst(rng: Dice, folder: Path) -> Trial:
    """A zstd file with frames and blocks of all kinds but compressed ones."""
    packed = mutated(rng, zstandard.write_zstd(_text(rng), rng), (*BYTES, cut_off))
    path = written(folder / "a.dat.zst", packed)
    trial = reads(path, bags=False, format="fimi", encoding="utf-8")
    return judged(trial, known_by(lambda given: readers.fimi(zstandard.read_zstd(given)), packed))


def parquet_file(rng: Dice, folder: Path) -> Trial:
    """Parquet with a row per record and item; many changes are only of a value."""
    pairs = [(at, item) for at, each in enumerate(records(rng, least=1)) for item in each]
    is_text = rng.random() < 0.5
    owners: list[object] = [f"r{at}" if is_text else at for at, _ in pairs]
    items: list[object] = [item for _, item in pairs]
    if rng.random() < 0.4:
        items[rng.randrange(len(items))] = None
    content = parquet.write_parquet({"record": owners, "item": items})
    ways = (flip_bits,) if rng.random() < 0.4 else BYTES
    content = mutated(rng, content, ways)
    path = written(folder / "a.parquet", content)
    trial = reads(path, record="record", item="item", split="none")

    def known() -> object:
        columns = parquet.read_parquet(content)
        if set(columns) != {"record", "item"}:
            raise readers.Unsure("other columns")
        rows = [["record", "item"]]
        for record, item in zip(columns["record"], columns["item"], strict=True):
            rows.append(["" if cell is None else str(cell) for cell in (record, item)])
        if any("" in row[:1] for row in rows) or "" in columns["item"]:
            raise readers.Unsure("empty texts")
        return as_known(readers.long_rows(rows)[1])

    return judged(trial, known)


def xlsx_file(rng: Dice, folder: Path) -> Trial:
    """A sheet with a row per record and item: its bytes are damaged, or the XML inside."""
    rows: list[list[object]] = [["record", "item"]]
    rows += [[at, item] for at, each in enumerate(records(rng, least=1)) for item in each]
    sheet = xlsx.sheet_xml(rows)
    if rng.random() < 0.7:
        sheet = mutated(rng, sheet, TEXT)
    content = xlsx.write_xlsx(sheet)
    if rng.random() < 0.3:
        content = mutated(rng, content, BYTES)
    path = written(folder / "a.xlsx", content)
    trial = reads(path, record="record", item="item", split="none", header=True)

    def known() -> object:
        table = xlsx.read_xlsx(content)
        if not table or table[0][:2] != ["record", "item"] or len(table[0]) > 2:
            raise readers.Unsure("another header")
        width = max(map(len, table))
        table = [[*row, *[""] * (width - len(row))] if row else [] for row in table]
        if width > 2:
            raise readers.Unsure("more columns")
        return as_known(readers.long_rows(table, counted=False)[1])

    return judged(trial, known)


def _text(rng: Dice) -> bytes:
    """A FIMI file, sometimes a damaged one."""
    lines = (" ".join(rng.choices(PLAIN, k=rng.randint(0, 4))) for _ in range(rng.randint(1, 8)))
    text = "\n".join(lines).encode() + b"\n" * rng.randint(0, 1)
    return mutated(rng, text, TEXT) if rng.random() < 0.3 else text
