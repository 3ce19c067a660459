"""Long tables as CSV, row by row, with the standard library alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def long_table(
    records: Sequence[Mapping[str, int]],
    *,
    mark: str = ",",
    counted: bool = False,
    people: Sequence[int] | None = None,
    empty_rows: bool = True,
    before: int = 0,
) -> str:
    """A row for each record and item, and one without an item for an empty record."""
    names = ["record", "item", *["count"] * counted, *["person"] * (people is not None)]
    rows = [names]
    for at, record in enumerate(records):
        person = [] if people is None else [str(people[at])]
        number = str(before + at + 1)
        for item, count in record.items():
            rows.append([number, _cell(item), *[str(count)] * counted, *person])
        if not record and empty_rows:
            rows.append([number, "", *[""] * counted, *person])
    return "".join(mark.join(row) + "\n" for row in rows)


def _cell(item: str) -> str:
    special = any(letter in item for letter in ',";|\t\r\n')
    if special or item[0].isspace() or item[0] == "\ufeff" or item[-1].isspace():
        return '"' + item.replace('"', '""') + '"'
    return item
