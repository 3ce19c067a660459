"""What a verb is given: data, releases, and items that a user names."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from unicodedata import normalize

import numpy as np

from setveil.data.account import LINES, Account, far_too_long, long_record_note
from setveil.data.columns import Table
from setveil.data.identifiers import Doubt, Some, find_identifiers, some_of
from setveil.data.itemshapes import CELLS
from setveil.data.people import (
    PER_PERSON,
    People,
    check_most,
    draw_key,
    dropped,
    holders,
    without_rare,
)
from setveil.data.tables.beside import table_with_people
from setveil.data.tables.exchange import as_transactions
from setveil.data.transactions import Bags, Transactions
from setveil.data.vocabulary import Vocabulary
from setveil.errors import (
    DataError,
    FileFormatError,
    Note,
    ParameterError,
    UnknownItemError,
    brief,
    brief_list,
    did_you_mean,
)
from setveil.hierarchy.columns import fitted_columns
from setveil.hierarchy.layouts import TreeOptions
from setveil.hierarchy.recipes import RECIPES, MakeHierarchy, hierarchy_maker
from setveil.hierarchy.tree import Hierarchy
from setveil.hierarchy.unknown import fitted, lacking
from setveil.io.files import read_with_account
from setveil.io.namelists import ItemNames
from setveil.io.releases.folder import read_release
from setveil.pipeline.owners import explained
from setveil.promises.promise import Promise
from setveil.published import Release
from setveil.words import are, plural, rough_share


class Known(str):
    """The path of a file, with the name by which its owner knows it.

    Commands and pages show the name; reading uses the path.

    Example:
        >>> Known("/private/3f2a-baskets.csv", "baskets.csv").name
        'baskets.csv'
    """

    name: str

    def __new__(cls, path: str, name: str = "") -> "Known":
        made = super().__new__(cls, path)
        made.name = name or path
        return made


def known_name(given: object) -> str:
    """The name of a file as people know it."""
    return given.name if isinstance(given, Known) else str(given)


_ONLY_FILES = {"format", "onehot", "header", "drop_record", "drop_column", "sheet", "encoding"}
KEEP = "keep_unique"


def load(
    data: object, reading: Mapping[str, Any] | None = None, min_people: int = 0
) -> Transactions:
    """The records of a file or an object.

    Args:
        data: A path, or any object that `as_transactions` takes.
        reading: How to read it.
        min_people: Leave out items that fewer people have, if the person of each record is known;
            whatever needs only records counts these by itself.

    Raises:
        FileFormatError: if a file has no records: it is not the one that the user meant.
    """
    found, account = load_with_account(data, reading)
    people = people_of(account)
    return found if people is None else without_rare(found, min_people, people)


def people_of(account: Account | None) -> People | None:
    """The person of each record, if the file says it."""
    return None if account is None else account.people


def load_with_account(
    data: object, reading: Mapping[str, Any] | None = None, sink: Any = None
) -> tuple[Transactions, Account | None]:
    """As `load`, also with how a file was read; its records go to the sink if there is one."""
    options = plain_reading(reading or {})
    if isinstance(data, str | Path):
        try:
            is_meant = bool((reading or {}).get(KEEP))
            found, account = read_with_account(data, **options, keep_unique=is_meant, sink=sink)
        except DataError as error:
            raise explained(error, data, options) from None
        if sink is None and not len(found):
            raise FileFormatError(data, "the file has no records")
        return found, account
    options.pop("memory", None)  # of an engine: nothing is read
    for name in _ONLY_FILES & options.keys():
        raise ParameterError(name, options[name], "only data in a file needs it")
    check_most(options)
    person, key = options.pop("person", None), options.pop("key", "") or draw_key(None)
    most = options.pop(PER_PERSON, None)
    if person is not None and options.get("columns"):
        options["record"] = person
    elif person is not None:
        return table_with_people(data, person, options.pop("record", None), (most, key), **options)
    trees = options.pop("column_hierarchies", None) or {}
    made = as_transactions(data, **options)
    if not trees and not options.get("columns"):
        return made, None
    if not isinstance(made, Table):
        allowed = "this data has no columns beside its items"
        raise ParameterError("columns", options.get("columns"), allowed)
    is_meant = bool((reading or {}).get(KEEP))
    return fitted_columns(made, trees, keep_unique=is_meant)[0], None


def for_people(
    promise: Promise, reading: Mapping[str, Any], account: Account | None
) -> tuple[Promise, tuple[str, ...]]:
    """What records must keep so that the promise is kept for people, and a note on what is left
    out for that; see `check_said`."""
    check_said(reading, account)
    holdings, most = {} if account is None else account.holdings, reading.get(PER_PERSON)
    if most is None:
        return promise, ()
    gone = sum(max(n - most, 0) * people for n, people in holdings.items())
    total = sum(n * people for n, people in holdings.items())
    text = f"{gone:,} of {plural(total, 'record')} ({rough_share(gone / max(total, 1))}) left out"
    said = f"{text}: at most {most:,} of each person are published, drawn by a secret."
    return promise.for_people(most), (said,)


def check_said(reading: Mapping[str, Any], account: Account | None) -> None:
    """Refuse to publish records of people who have several, if the user has not said how many."""
    choices = dropped({} if account is None else account.holdings)
    if reading.get(PER_PERSON) is None and reading.get("person") is not None and len(choices) > 1:
        listed = ", ".join(map(str, choices))
        allowed = f"say how many records of each person may be published: {listed}; the promise is "
        allowed += "then kept for so many times as many records. Without {record}, the records of "
        raise ParameterError(PER_PERSON, None, f"{allowed}each person are joined to one")


def plain_reading(reading: Mapping[str, Any]) -> dict[str, Any]:
    """The options that readers know."""
    return {name: value for name, value in reading.items() if name != KEEP}


class Guarded(NamedTuple):
    """Data that may be published, how it was read, and what to check about it."""

    data: Transactions
    account: Account | None
    notes: tuple[str, ...]


def load_to_publish(
    data: object, reading: Mapping[str, Any] | None = None, min_people: int = 0
) -> Guarded:
    """As `load_with_account`, for whatever leads to a release.

    Raises:
        DataError: if some items look like identifiers, and the user has not said that they are
            meant.
    """
    found, account = load_with_account(data, reading)
    check_said(reading or {}, account)
    some = some_of(found)._replace(supports=holders(found, people_of(account)))
    notes = refuse_identifiers(some, Origin(data, account, reading or {}), min_people)
    return Guarded(found, account, notes)


class Origin(NamedTuple):
    """Where data comes from, how it was read, and what the user said about that."""

    data: object
    account: Account | None
    reading: Mapping[str, Any]

    def fault(self, problem: str, remedy: str) -> DataError:
        """An error about the data, with the name of its file."""
        if self.account is None or not isinstance(self.data, str | Path):
            return DataError(problem, remedy=remedy)
        return FileFormatError(known_name(self.data), problem, remedy=remedy)


def refuse_identifiers(data: Some, origin: Origin, min_people: int = 0) -> tuple[str, ...]:
    """Refuse items that look like identifiers; a note on them if they are meant.

    Items that fewer than `min_people` have are left out of a release anyway."""
    account = origin.account
    doubt = find_identifiers(data, None if account is None else account.opening)
    if doubt is None or (data.supports[doubt.items] < min_people).all():
        return ()
    if origin.reading.get(KEEP):
        return (f"{doubt.question} They are published, as you asked.",)
    column = None if account is None else account.columns.get("item")
    inside = "" if column is None else f"in the column {brief(column)}, "
    raise origin.fault(f"{inside}{doubt.question}", _identifier_remedy(doubt, account))


def _identifier_remedy(doubt: Doubt, account: Account | None) -> str:
    meant = "if they are meant to be published, add {keep_unique=True}"
    joint = doubt.joint or (_noted_mark(account) if doubt.kind == CELLS else None)
    if joint is not None:
        mark = {"\n": "\\n", "\t": "\\t"}.get(joint, joint)
        can_split = account is not None and "split" in account.used and bool(mark.strip(" ()"))
        way = f"split them with {{split={mark}}}" if can_split else "make each part an item"
        return f"{way}; {meant}"
    if doubt.each == 0:
        return f"if they are, make a record of each and items of the others; {meant}"
    if account is None:
        return f"leave them out of the records, or {meant}"
    place = {None: None, -1: "last"}.get(doubt.place, doubt.place)
    if place is not None and doubt.place is not None and doubt.place >= -1:
        way = f"leave them out with {{drop_column={place}}}"
    else:
        way = "leave them out of the file"
    if account.columns.get("item") is not None:
        return f"{way}, or name another column with {{item}}; {meant}"
    if account.layout not in ("", LINES):
        return f"{way}, or name others with {{item}}; {meant}"
    if account.format in ("fimi", "jsonl", "spark"):  # no column can be named, or one was
        return f"{way}; {meant}"
    return f"{way}; if the file is a table, name its columns with {{record}} and {{item}}; {meant}"


def _noted_mark(account: Account | None) -> str | None:
    """What many cells contain, by a note on how the file was read."""
    notes = () if account is None else account.notes
    found = (note.words.get("split") for note in notes if isinstance(note, Note))
    return next(filter(None, found), None)


def identifier_note(data: Some, account: Account | None) -> tuple[str, ...]:
    """A note on items that look like identifiers, for who only looks at data."""
    doubt = find_identifiers(data, None if account is None else account.opening)
    if doubt is None:
        return ()
    return (Note(f"{doubt.question} To publish this data, {_identifier_remedy(doubt, account)}."),)


def notes_on(data: Transactions, account: Account | None) -> tuple[str, ...]:
    """What the user should check about the data and how it was read."""
    said = (*(account.notes if account is not None else ()), *_blanks_note(data.vocabulary))
    if account is not None and account.columns.get("record") is not None:
        return said
    lengths = data.totals if isinstance(data, Bags) else data.lengths
    return (*said, *(long_record_note(lengths, place) for place in far_too_long(lengths)))


def _blanks_note(vocabulary: Vocabulary) -> tuple[str, ...]:
    """A note if items differ from others only by blanks around them, which nobody sees."""
    found = [item for item in vocabulary if (bare := item.strip()) != item and bare in vocabulary]
    if not found:
        return ()
    text = f"{plural(len(found), 'item')}, such as {brief(found[0])}, "
    differs = "differs from another" if len(found) == 1 else "differ from others"
    return (f"{text}{differs} only by blanks at the ends: each counts as an item of its own.",)


def load_release(release: object) -> Release:
    """A release, or the one in a folder."""
    found = read_release(release) if isinstance(release, str | Path) else release
    if not isinstance(found, Release):
        raise ParameterError("release", type(found).__name__, "it must be a release or its folder")
    return found


def tree_maker(given: object, options: TreeOptions, *, public_items: bool = False) -> MakeHierarchy:
    """How to get the tree once the data is read; see `hierarchy_maker`."""
    if not isinstance(given, Hierarchy | Path | str | None):
        raise ParameterError("hierarchy", given, f"it must be a Hierarchy, or {RECIPES}")
    return hierarchy_maker(given, options, public_items=public_items)


class Fit(NamedTuple):
    """A tree and data that fit, the items that were left out for that, and a note for the user."""

    tree: Hierarchy | None
    data: Transactions
    dropped: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def fit(
    tree: Hierarchy | None, data: Transactions, options: TreeOptions, *, public: bool = False
) -> Fit:
    """The tree and the data after items that the tree lacks were dealt with, and a note on them.

    `public`: its leaves are the list of items that may occur, which must not come from the data."""
    if tree is None or tree.origin.kind != "given":
        if tree is not None:
            tree.leaf_numbers(data.vocabulary)
        return Fit(tree, data)
    missing = lacking(tree, data.vocabulary)
    if missing and options.unknown == "refuse" and public:
        remedy = "leave such items out with {unknown=drop}, or add them to the list"
        raise UnknownItemError(missing, "the public list of items does not have", remedy)
    fitting, left = fitted(tree, data, options.unknown)
    if not missing:
        return Fit(fitting, left)
    marks = np.isin(np.arange(len(data.vocabulary)), data.vocabulary.encode(missing))
    counts = data.counts if isinstance(data, Bags) else 1
    times = int((marks[data.items] * counts).sum())
    share = rough_share(times / max(data.occurrences, 1))
    text = (
        f"{are(len(missing), 'item')} not in the hierarchy ({plural(times, 'occurrence')}, {share})"
    )
    if options.unknown == "root":
        only = "placed below its root, so only the root can replace such items; Apriori may"
        remedy = "add what is missing to the hierarchy, or leave it out with {unknown=drop}"
        note: str = Note(
            f"{text}: {only} then replace everything by it. If much is lost, {remedy}."
        )
        return Fit(fitting, left, (), (note,))
    note = f"{text}: left out of every record and not counted in the losses."
    return Fit(fitting, left, tuple(missing), (note,))


def check_items(items: Mapping[str, Sequence[str]], promise: Promise) -> None:
    """Refuse items for a promise that names none, and files that cannot be read."""
    for name, words in items.items():
        if words and name not in promise.named_items:
            raise ParameterError(name, list(words), f"{promise.model} does not use it")
        ItemNames.parse(words, name)


def with_items(
    promise: Promise,
    items: Mapping[str, Sequence[str]],
    vocabulary: Vocabulary,
    tree: Hierarchy | None = None,
) -> Promise:
    """The promise with the items of the data that a user named, by parameter."""
    check_items(items, promise)
    for name, words in items.items():
        if words:
            found = ItemNames.parse(words, name).among(vocabulary, tree)
            promise = promise.with_items(name, found)
    return promise


def check_named(promise: Promise, vocabulary: Vocabulary) -> tuple[str, ...]:
    """A note if the data lacks some items that the promise names: they may be misspelled.

    Raises:
        UnknownItemError: if it has none of them, so nothing would be protected.
        DataError: if the data spells some of them with other Unicode characters."""
    notes = []
    for name, items in promise.named_items.items():
        _check_spelling(name, items, vocabulary)
        missing = sorted(item for item in items if item not in vocabulary)
        if missing and len(missing) == len(items):
            near = did_you_mean(missing[0], vocabulary)
            raise UnknownItemError(missing, f"the data has none of the {name} items:", near)
        if missing:
            listed = brief_list(missing)
            verb = "does" if len(missing) == 1 else "do"
            lacks = f"{verb} not occur in the data: {listed}."
            text = f"{len(missing)} of {len(items)} {name} items {lacks}"
            near = did_you_mean(missing[0], (item for item in vocabulary if item not in items))
            meant = f" For {brief(missing[0])}, {near}" if near else ""
            notes.append(f"{text} Are they spelled as in the data?{meant}")
    return tuple(notes)


def _check_spelling(name: str, items: frozenset[str], vocabulary: Vocabulary) -> None:
    """Refuse items of the data that look like a named one but are spelled differently.

    Case counts only if the data lacks the named item: else both may be meant as they are."""
    alike = {_shape(item) for item in items}
    lacking = {_shape(item).casefold() for item in items if item not in vocabulary}
    missed = [
        item
        for item in vocabulary
        if item not in items
        and ((shape := _shape(item)) in alike or (lacking and shape.casefold() in lacking))
    ]
    if missed:
        one = len(missed) == 1
        problem = f"{brief_list(missed)} in the data {'looks' if one else 'look'} like "
        problem += f"{f'a {name} item' if one else f'{name} items'}, but {'is' if one else 'are'}"
        problem += " spelled differently: in case, blanks or Unicode characters (NFC or NFD)"
        remedy = "spell it the same way in both, or name each spelling, or a pattern for all"
        raise DataError(problem, remedy=remedy)


def _shape(item: str) -> str:
    """An item without what cannot be seen: blanks around it, and how its letters are composed."""
    return item.strip() if item.isascii() else normalize("NFC", item.strip())
