"""The reports of a register: what it says, whether it is in order, and what was booked."""

from __future__ import annotations

from pathlib import Path

from setveil.pipeline.register import Checked, Registered, Spent
from setveil.pipeline.registering.book import Budget, Entry
from setveil.pipeline.registering.booking import Booked
from setveil.report import Fact, Report, Section
from setveil.words import plural


def report_new(place: Path) -> Report:
    """Where a register was begun."""
    text = f"It is private: keep it where only you can read it, with {place.name}.people beside it."
    return Report((Section(f"Begun: {place}", text),), {"register": str(place)})


def report_registered(found: Registered) -> Report:
    """What was released, and what people have spent."""
    sections = [_summary(found), *map(_release, found.releases)]
    return Report(tuple(sections), values_of(found))


def report_checked(found: Checked) -> Report:
    """Whether a register is in order."""
    title = "The register is in order" if found.holds else "The register is NOT in order"
    section = Section(title, "\n".join((*found.faults, *found.notes)), holds=found.holds)
    summary = () if found.shown is None else (_summary(found.shown),)
    values = {} if found.shown is None else values_of(found.shown)
    said = {"holds": found.holds, "faults": list(found.faults), "notes": list(found.notes)}
    return Report((section, *summary), {**said, **values})


def report_booked(found: Booked) -> Report:
    """What was booked."""
    text = list(found.notes[1:])
    within = found.total is None or found.spent.within(found.total)
    if not within:
        text.append(f"That is more than the owner allows: {found.total} in all.")
    section = Section(found.notes[0], "\n".join(text), holds=None if within else False)
    values = {"release": _values(found.entry), "spent": _budget(found.spent)}
    earlier = [
        {"id": each.entry.id, "people": each.shared.people, "promise": each.entry.promise}
        for each in found.earlier
    ]
    return Report((section,), {**values, "within": within, "earlier": earlier})


def values_of(found: Registered) -> dict[str, object]:
    """A register as JSON shows it: everything but its salt."""
    total = found.register.total
    return {
        "register": str(found.place),
        "total": None if total is None else _budget(total),
        "spent": _budget(found.spent),
        "releases": [
            {**_values(each.entry), "people_have_spent": _budget(each.spent)}
            for each in found.releases
        ],
    }


def _summary(found: Registered) -> Section:
    number = plural(len(found.releases), "release")
    noisy = sum(each.entry.is_noisy for each in found.releases)
    text = f"The person who has spent most has spent {found.spent}"
    total = found.register.total
    text += " (no total is set)." if total is None else f" of {total}."
    if noisy < len(found.releases):
        text += f" No epsilon covers {len(found.releases) - noisy} of the releases."
    return Section(f"{found.place}: {number}", text, private=True)


def _release(each: Spent) -> Section:
    entry = each.entry
    facts = {
        "promise": entry.meaning,
        "method": entry.method,
        "people": _who(entry),
        "recipient": entry.recipient,
        "spent": str(entry.spent) if entry.is_noisy else "",
        "by its people": f"{each.spent} at most" if entry.is_noisy else "",
        "folder": entry.release,
        "state": "" if entry.digest else "booked, not finished",
    }
    listed = tuple(Fact(name, value) for name, value in facts.items() if value)
    return Section(f"{entry.id} of {entry.date[:10]}", "", listed, private=True)


def _who(entry: Entry) -> str:
    known = "" if entry.people is None else f"{entry.people:,} (column {entry.column})"
    named = f"population {entry.population}" if entry.population else ""
    return ", ".join(filter(None, (known, named)))


def _values(entry: Entry) -> dict[str, object]:
    return {
        "id": entry.id,
        "date": entry.date,
        "promise": entry.promise,
        "meaning": entry.meaning,
        "method": entry.method,
        "spent": _budget(entry.spent) if entry.is_noisy else None,
        "population": entry.population or None,
        "people": entry.people,
        "column": entry.column or None,
        "recipient": entry.recipient or None,
        "folder": entry.release or None,
        "finished": bool(entry.digest),
    }


def _budget(budget: Budget) -> dict[str, float]:
    return {"epsilon": float(budget.epsilon), "delta": float(budget.delta)}
