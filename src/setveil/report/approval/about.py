"""The data: who is a person, which columns are used, which items are private."""

from typing import Any

from setveil.pipeline.approval import Approval
from setveil.pipeline.stated import STATED
from setveil.report.approval.part import Column, Grid, Part, stated_facts
from setveil.words import plural


def part(found: Approval) -> Part:
    """What the original has, and what of it is published."""
    private = found.dossier.private
    assert private is not None
    named = found.dossier.promise.named_items
    facts: dict[str, tuple[str, Any]] = {
        "person": ("Who is a person", _person(found)),
        "people": ("People", found.people or private.records),
        "records": ("Records of the original", private.records),
        "published": ("Records published", found.dossier.records),
        "items": ("Items", private.items),
        "occurrences": ("Occurrences of items", private.occurrences),
        "names": ("Items published under their own names", _names(found)),
        "suppressed": ("Items removed everywhere", private.suppressed),
        "min_people": ("Fewest people that an item must have", found.min_people or "no limit"),
    }
    rows = [{"list": name, "items": sorted(items)} for name, items in named.items()]
    columns = {"list": Column("list"), "items": Column("items")}
    return Part(
        facts={**facts, **stated_facts(found.stated, STATED, "private_list")},
        grids={
            "columns": Grid(
                "Columns of the original",
                {"column": Column("column"), "use": Column("what became of it")},
                _columns(found),
            ),
            "named": Grid("Items that the promise names", columns, rows),
        },
        measured=["The counts of people, records and items."],
        assumed=[_assumed(found)],
        to_judge=_judged(named),
    )


def _names(found: Approval) -> int | str:
    use = found.dossier.private and found.dossier.private.usefulness
    return "not counted" if not use else use.names


def _person(found: Approval) -> str:
    columns = {} if found.account is None else found.account.columns
    most = found.dossier.promise.records_per_person
    if most is not None:
        return (
            f"each value of the column {columns.get('person', '')}; at most "
            f"{plural(most, 'record')} of each are published"
        )
    key = columns.get("person") or columns.get("record")
    if key is None:
        return "each record; the original names nobody"
    if found.people is not None:
        return f"each value of the column {key}: all rows of it are one record"
    return f"each record, by the column {key}: nobody said that several records are one person's"


def _columns(found: Approval) -> list[dict[str, str]]:
    account = found.account
    if account is None:
        return []
    uses = {"record": "numbers the records; not published", "item": "the items; published"}
    uses |= {"person": "whose a row is; not published", "count": "how often an item occurs"}
    rows = [
        {"column": name, "use": uses.get(role, "published in groups of people")}
        for role, name in account.columns.items()
    ]
    return [*rows, *({"column": name, "use": "dropped"} for name in account.ignored)]


def _assumed(found: Approval) -> str:
    if found.people is not None:
        return "That the column of the person names each person once and always the same way."
    return "That each record is another person: if some have several, each is protected alone."


def _judged(named: dict[str, frozenset[str]]) -> list[str]:
    if not any(named.values()):
        return [
            "Whether some items are private: the promise names none, so it protects none "
            "in particular."
        ]
    return [
        "Whether the list has every private item, and every other item that reveals one "
        "(the medicine as well as the illness)."
    ]
