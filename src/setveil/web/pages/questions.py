"""What the page asks about a file: made of errors and notes, whose parameters are the answers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from setveil.data.account import SETS, Account
from setveil.data.people import PER_PERSON
from setveil.data.tables.columns import ATTRIBUTE_NAMES, RECORD_NAMES, plain_name
from setveil.errors import Note, parameters_in
from setveil.pipeline.inspect import Inspection
from setveil.web.forms import Field, Form, form_field, reading_words
from setveil.web.screens import PAGE_ONLY
from setveil.web.store import StoredJob
from setveil.web.wording import label_of

WHO = "Who is protected?"
OWNERS = frozenset({"person", "record"})
_TITLES = {
    "sheet": "Which sheet?",
    "header": "Which row names the columns?",
    "split": "Does a cell hold several items?",
    "column_hierarchies": "Does this column say who somebody is?",
    "keep_unique": "Are these identifiers?",
    "item": "Which column is what?",
    "person": "Which column is what?",
    "record": "Which column is what?",
    "onehot": "Which columns are the items?",
    "drop_record": "Are these rows a person's?",
    "input_format": "What is a line?",
    "encoding": "Do all letters look right?",
}
"""What is asked, by the first of these parameters that may settle it."""
_LABELS: dict[object, str] = {
    "person": "One record for each {}",
    "record": "One record for each {}",
    "item": "The items are in {}",
    "split": "Split the cells at {}",
    "header": "Row {}",
    "drop_column": "Leave out position {}",
    "drop_record": "Leave out the rows of {}",
    "input_format": "Read it as {}",
    "encoding": "Read it as {}",
    "sheet": "The sheet {}",
    ("split", "none"): "Each cell is one item",
    ("split", "list"): "Each cell is a list of items",
    ("onehot", "True"): "Each column is an item",
    ("onehot", "False"): "The columns are not items",
    ("header", "False"): "No row does",
    ("drop_column", "last"): "Leave out the last position",
    ("drop_record", ""): "Leave out the rows without one",
    ("keep_unique", "True"): "They are meant: publish them",
    ("input_format", "baskets"): "Each line is a whole basket",
    ("input_format", "fimi"): "Each line is a basket with spaces between its items",
    ("bags", "False"): "Ignore the counts",
    ("bags", "True"): "Keep the counts",
}
"""What the button of an answer says, by parameter, or by parameter and value."""
_ANYWAY = "Publish it as it was chosen"
"""The same of a column that may be an identifier."""
_BELOW = "; below, it can be cut to its first characters, or left out"
_ASKS = {
    "record": "Which column says whose row it is (who is protected)?",
    "item": "Which column has the items?",
}
_KNOWN = {*_TITLES, *_LABELS}
_PLAIN = ("header", "drop_column", "input_format", "encoding")
"""Parameters whose values are not words of the file."""
_ENCODINGS = ("latin-1", "cp1252", "iso8859-15", "cp1250", "cp1251", "mac_roman", "utf-16")
_NAME = r"""\{[^{}]*\}|(?<!\w)'(?:[^'\\]|\\.)*'(?!\w)|(?<!\w)"(?:[^"\\]|\\.)*"(?!\w)"""
_CLAUSE = re.compile(rf"(?:{_NAME}|[^.;:?]|[.;:?](?!\s))+[.;:?]*\s*")
"""A part of a note; marks inside a parameter or a quoted name, such as 'Cust. no.', end none."""
_ASKED = re.compile(r"ask\d+\.(.+)")
_SEVERAL = ("drop_record", "drop_column")
MOST_ROWS, MOST_NAMED = 6, 8


class Answer(NamedTuple):
    """A button."""

    value: str
    """A parameter and its value, such as `record=customer`."""
    label: str
    first: Sequence[Sequence[str]] = ()
    """The first records that it would give, if that is known."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """Something that the user should settle, or may correct."""

    title: str
    text: str
    must: bool
    """Whether it must be answered; else it says what was guessed."""
    answers: tuple[Answer, ...] = ()
    fields: tuple[Field, ...] = field(default=(), metadata=PAGE_ONLY)
    """What can be chosen from; `kind` is `radios` or `ticks` besides those of `forms`."""


@dataclass(frozen=True, kw_only=True)
class Known:
    """What is known of the file from which answers can be chosen."""

    preview: Mapping[str, Any]
    account: Account | None = None
    reading: Mapping[str, Any] = field(default_factory=dict)
    previews: Mapping[str, Sequence[Sequence[str]]] = field(default_factory=dict)
    """The first records for some answers."""

    @property
    def columns(self) -> list[str]:
        return list(self.preview.get("columns", ()))


def asked_about(found: Inspection | None, failed: StoredJob | None, known: Known) -> list[Question]:
    """The questions of a file that was read, or could not be; who is protected comes first."""
    texts = [(_plain(note.template), note.template) for note in _notes(found)]
    said = {} if failed is None else failed.failure
    previews = said.get("previews")
    known = replace(known, previews=previews if isinstance(previews, dict) else {})
    texts += [(said["problem"], said["remedy"])] if "problem" in said else []
    asked = [_question(at, *each, known) for at, each in enumerate(texts)]
    asked = [each for each in asked if each.answers or each.fields]
    return sorted(asked, key=lambda each: each.title != WHO)


def remarks_on(found: Inspection | None, asked: Sequence[Question]) -> list[str]:
    """The notes that are no question, apart from what `understood` says already."""
    said = {each.text for each in asked}
    if found is not None:  # the page offers these columns
        said |= {note for note in found.notes if note.startswith("Not read: ") and found.beside}
    said |= (
        set(found.account.left_out) if found is not None and found.account is not None else set()
    )
    notes = () if found is None else found.notes
    return [n for n in notes if (_plain(n.template) if isinstance(n, Note) else n) not in said]


def understood(found: Inspection) -> list[str]:
    """How a file was read, in sentences."""
    account = found.account
    if account is None:
        return []
    said = [f"{account.layout[:1].upper()}{account.layout[1:]} ({account.format})."]
    said += [s for s in account.left_out if not any(n.startswith(s) for n in _notes(found))]
    columns = account.columns
    said += [f"The items are in the column “{columns['item']}”."] if "item" in columns else []
    said += [f"“{columns['count']}” says how often an item occurs."] if "count" in columns else []
    if "record" in columns:
        said.append(
            f"“{columns['record']}” only says what belongs together; it is never published."
        )
    if account.ignored:
        shown = ", ".join(f"“{name}”" for name in account.ignored[:MOST_NAMED])
        more = len(account.ignored) - MOST_NAMED
        rest = f" and {more:,} more" if more > 0 else ""
        unless = " unless you choose them below" if found.beside else ""
        said.append(f"Not read, so never published{unless}: {shown}{rest}.")
    return said


def understood_log(words: Mapping[str, Any]) -> list[str]:
    """What records of a query log are, in sentences."""
    one = "user" if words.get("gap", "inf") == "inf" else "visit of a user"
    kinds = {"words": "the words of the queries", "nouns": "the nouns of the queries"}
    items = kinds.get(str(words.get("terms", "words")), "whole queries")
    hidden = "Users and times only say what belongs together; they are never published."
    return [
        f"One record is one {one}.",
        f"The items are {items}, with how often each occurs.",
        hidden,
    ]


def one_record(account: Account | None) -> str:
    """What one record is, in a sentence."""
    columns = {} if account is None else account.columns
    if "person" in columns:
        return "The file says which records belong to one person, so people are counted."
    whole = "row" if account is not None and SETS in account.layout else "line"
    named = f"one “{columns['record']}”" if "record" in columns else f"one {whole} of the file"
    return f"One record is {named}."


def answered(form: Form, before: Mapping[str, Any]) -> dict[str, Any]:
    """How to read the file after an answer: by a button, or by what was chosen."""
    name, _, value = form.get("answer", "").partition("=")
    fields = {found[1]: form[key] for key in form if (found := _ASKED.fullmatch(key))}
    ticked = [fields[key] for key in fields if key.startswith("column.")]
    if name:
        fields, ticked = {name: {"True": "yes", "False": "no"}.get(value, value)}, []
    words = reading_words(fields)
    if ticked:
        words = {**words, "item": ticked, "onehot": None}
    if name in OWNERS:  # who is protected was answered in another way before
        words = {**dict.fromkeys((*OWNERS, PER_PERSON)), **words}
    if name in _SEVERAL:
        earlier = before.get(name, [])
        words[name] = [*([earlier] if isinstance(earlier, str) else earlier), value]
    return {key: word for key, word in {**before, **words}.items() if word is not None}


def _notes(found: Inspection | None) -> list[Note]:
    """The notes that name parameters."""
    return [note for note in found.notes if isinstance(note, Note)] if found else []


def _question(at: int, text: str, template: str, known: Known) -> Question:
    given = [each for each in parameters_in(template) if {each, each[0]} & _KNOWN]
    names = [name for name, _ in given]
    title = next((_TITLES[name] for name in _TITLES if name in names), "To check")
    if any(name in OWNERS and value for name, value in given):
        title = WHO
    ticks = _ticks(at, dict(given), known)
    title = _TITLES["onehot"] if ticks else title
    open = [] if ticks else [name for name, value in given if value is None]
    fields = [made for name in dict.fromkeys(open) if (made := _choice(at, name, known))]
    names_row = any(name == "header" and value not in (None, "False") for name, value in given)
    if "input_format" in names and not (fields or ticks or names_row):
        title = _TITLES["input_format"]
    answers = [
        Answer(f"{name}={value}", _label(name, value), known.previews.get(f"{name}={value}", ()))
        for name, value in given
        if value is not None
        and not (ticks and name == "item")
        and ((name, value) != ("header", "False") or fields)  # it needs columns by their number
    ]
    if "column_hierarchies" in names:
        answers, text = [answer._replace(label=_ANYWAY) for answer in answers], text + _BELOW
    answers.sort(key=lambda answer: not (names_row or answer.first))
    is_open = title == WHO and not OWNERS & known.reading.keys()
    must = known.account is None or is_open or "keep_unique" in names
    return Question(
        title=title, text=text, must=must, answers=tuple(answers), fields=(*ticks, *fields)
    )


def _label(name: str, value: str) -> str:
    if name == "header" and "-" in value:
        return f"Rows {value} together"
    own = _LABELS.get((name, value)) or _LABELS[name]
    return own.format(value if name in _PLAIN else f"“{value}”")


def _ticks(at: int, given: Mapping[str, str | None], known: Known) -> list[Field]:
    """The columns to tick, if a question is about which of them are items."""
    names, chosen = known.columns, str(given.get("item") or "")
    first, _, last = chosen.partition("-")
    if last.isdecimal() and first.isdecimal():
        held = names[int(first) - 1 : int(last)]
    elif given.get("onehot") == "False" and known.account is not None:
        out = {*known.account.ignored, *known.account.columns.values()}
        held = [name for name in names if name not in out]
    else:
        return []
    options = {f"ask{at}.column.{place}": name for place, name in enumerate(names) if name}
    label = "Tick the columns that are items"
    return [form_field(f"ask{at}.item", held, label=label, kind="ticks", options=options)]


def _choice(at: int, name: str, known: Known) -> Field | None:
    """What a parameter can be chosen from; None if that is not known."""
    given, kind = str(known.reading.get(name, "")), "choice"
    options: dict[str, str] = {}
    if name in ("record", "item") and len(known.columns) > 1:
        options = {"": "choose", **{column: column for column in known.columns if column}}
        given = given or _proposed(name, known.columns)
    elif name == "sheet":
        options, kind = {each: each for each in known.preview.get("sheets", ())}, "radios"
    elif name == "header":
        rows = enumerate(known.preview.get("top", [])[:MOST_ROWS], start=1)
        options = {str(number): f"Row {number}: {_row(row)}" for number, row in rows}
        options, kind = {**options, "no": "No row does"}, "radios"
        given = given or str(known.account.header_row if known.account else "")
    elif name == "encoding":
        options = {"": "yes", **{each: f"no, try {each}" for each in _ENCODINGS}}
    if not options:
        return None
    label = _ASKS.get(name) or label_of(name)
    first = {key: known.previews.get(f"{name}={key}") for key in options}
    abouts = {key: _begins(records) for key, records in first.items() if records}
    more: dict[str, Any] = {"abouts": abouts} if kind == "radios" else {}
    return form_field(f"ask{at}.{name}", given, label=label, kind=kind, options=options, **more)


def _proposed(role: str, columns: Sequence[str]) -> str:
    """The only column that may have a role, by the names of all; empty if several may."""
    owners = [name for name in columns if plain_name(name) in RECORD_NAMES]
    others = [name for name in columns if name not in owners]
    likely = [name for name in others if plain_name(name) not in ATTRIBUTE_NAMES]
    found = {"record": owners, "item": likely if len(owners) == 1 else []}[role]
    return found[0] if len(found) == 1 else ""


def _begins(records: Sequence[Sequence[str]]) -> str:
    return "First records: " + "; ".join(_row(record) for record in records)


def _row(cells: Sequence[str]) -> str:
    shown = ", ".join(cell for cell in cells if cell)
    return f"{shown[:59]}…" if len(shown) > 60 else shown or "(blank)"


def _plain(template: str) -> str:
    """A note without the clauses that name parameters: these are the answers."""
    kept = "".join(each for each in _CLAUSE.findall(template) if not parameters_in(each))
    return kept.rstrip(";: ") + ("" if kept.rstrip().endswith((".", "?")) else ".")
