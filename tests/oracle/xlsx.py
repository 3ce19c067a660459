"""A plain writer and reader of spreadsheets: one sheet of texts and numbers, as zip and XML."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Sequence
from xml.etree import ElementTree
from xml.sax.saxutils import escape

from tests.oracle.readers import Unsure

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_LINKS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
SHEET = "xl/worksheets/sheet1.xml"
_KIND = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_OTHERS = {
    "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships'
    f'+xml"/><Override PartName="/xl/workbook.xml" ContentType="{_KIND}.sheet.main+xml"/>'
    f'<Override PartName="/{SHEET}" ContentType="{_KIND}.worksheet+xml"/></Types>',
    "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="rId1" '
    f'Type="{_LINKS}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
    "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_LINKS}"><sheets>'
    '<sheet name="baskets" sheetId="1" r:id="rId1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
    f'<Relationship Id="rId1" Type="{_LINKS}/worksheet" Target="worksheets/sheet1.xml"/>'
    "</Relationships>",
}
_NUMBER = re.compile(r"-?(0|[1-9]\d{0,14})")


def sheet_xml(rows: Sequence[Sequence[object]]) -> bytes:
    """The sheet of a table of texts and whole numbers."""
    lines = [f'<worksheet xmlns="{_MAIN}"><sheetData>']
    for number, row in enumerate(rows, start=1):
        cells = (
            _cell(f"{chr(65 + at)}{number}", value) for at, value in enumerate(row) if value != ""
        )
        lines.append(f'<row r="{number}">{"".join(cells)}</row>')
    return ("\n".join(lines) + "\n</sheetData></worksheet>").encode()


def _cell(place: str, value: object) -> str:
    if isinstance(value, int):
        return f'<c r="{place}"><v>{value}</v></c>'
    return f'<c r="{place}" t="inlineStr"><is><t>{escape(str(value))}</t></is></c>'


def write_xlsx(sheet: bytes) -> bytes:
    """A file with this sheet."""
    kept = io.BytesIO()
    with zipfile.ZipFile(kept, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, text in _OTHERS.items():
            packed.writestr(name, text)
        packed.writestr(SHEET, sheet)
    return kept.getvalue()


def read_xlsx(content: bytes) -> list[list[str]]:
    """The texts of the cells of each row up to the last that is not empty."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as packed:
            for name, text in _OTHERS.items():
                if packed.read(name) != text.encode():
                    raise Unsure("another kind of book")
            sheet = packed.read(SHEET)
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError, NotImplementedError) as error:
        raise Unsure(str(error)) from None
    except (RuntimeError, OSError, ValueError) as error:
        raise Unsure(str(error)) from None
    return read_sheet(sheet)


def read_sheet(sheet: bytes) -> list[list[str]]:
    """The texts of a sheet."""
    try:
        root = ElementTree.fromstring(sheet)
    except (ElementTree.ParseError, ValueError, LookupError):
        if b"</sheetData" in sheet:
            raise Unsure("what comes after the cells is not read") from None
        raise ValueError("the sheet is not XML") from None
    data = root.find(f"{{{_MAIN}}}sheetData")
    if root.tag != f"{{{_MAIN}}}worksheet" or data is None or len(root) != 1:
        raise Unsure("another kind of sheet")
    rows = [_row(number, row) for number, row in enumerate(data, start=1)]
    while rows and not rows[-1]:
        rows.pop()
    return rows


def _row(number: int, row: ElementTree.Element) -> list[str]:
    if row.tag != f"{{{_MAIN}}}row" or row.attrib != {"r": str(number)}:
        raise Unsure("rows in another order")
    texts: list[str] = []
    for cell in row:
        place = re.fullmatch(rf"([A-Z]){number}", cell.get("r", ""))
        if cell.tag != f"{{{_MAIN}}}c" or place is None or ord(place[1]) - 65 < len(texts):
            raise Unsure("cells in another order")
        texts += [""] * (ord(place[1]) - 65 - len(texts))
        texts.append(_value(cell))
    while texts and not texts[-1]:
        texts.pop()
    return texts


def _value(cell: ElementTree.Element) -> str:
    inner = [(each.tag.rpartition("}")[2], each) for each in cell.iter()]
    names = [name for name, _ in inner]
    if names == ["c", "v"] and set(cell.attrib) == {"r"}:
        text = inner[1][1].text or ""
        if not _NUMBER.fullmatch(text) or text == "-0":
            raise Unsure("not a whole number")
        return text
    if (
        names != ["c", "is", "t"]
        or cell.attrib.keys() != {"r", "t"}
        or cell.get("t") != "inlineStr"
    ):
        raise Unsure("another kind of cell")
    if any((each.tail or "").strip() or (each.text or "").strip() for _, each in inner[:2]):
        raise Unsure("text beside a cell")
    text = inner[2][1].text or ""
    if "_x" in text or any(ord(letter) < 32 for letter in text):
        raise Unsure("an escape")
    return text
