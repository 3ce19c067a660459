"""Tables with a column for each option of a question, where a cell says whether it was chosen.

A chosen option is a yes (1, true, x) or the option's own name. Other columns among them hold free
text, which may name people. So a text that somebody wrote becomes part of an item only if the
user named its column, or if it is the only one of its column and several people have it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from re import Pattern, compile, escape
from typing import Any

from setveil.data.tables.cells import PRESENCE
from setveil.data.tables.columns import Chosen, Fail, named_column, plain_name
from setveil.errors import DataError, Note, brief, brief_list

_RANGE = compile(r"([1-9]\d*)\s*-\s*([1-9]\d*)")
_LEAST = 3
"""A text that so many records have in a column, and no other, is an option."""


def item_words(item: object) -> dict[str, Any]:
    """What the user gave for `item`, as fields of `Wanted`: one column, or words for several."""
    if item is None:
        return {}
    words = tuple(map(str, item)) if isinstance(item, list | tuple | set) else (str(item),)
    if len(words) == 1 and not _RANGE.fullmatch(words[0]) and "*" not in words[0]:
        return {"item": words[0]}
    return {"items": words}


def with_names(wanted: Chosen, names: Sequence[str]) -> Chosen:
    """The same, where a word that is the name of a column means that column."""
    if len(wanted.items) == 1 and wanted.items[0] in names:
        return replace(wanted, item=wanted.items[0], items=())
    return wanted


def is_own(name: str, cell: str) -> bool:
    """Whether a cell repeats the name of its column, or the option in it.

    Example:
        >>> is_own("Which do you use? [Excel]", "Excel"), is_own("Other", "my own tool")
        (True, False)
    """
    return plain_name(cell) != "" and plain_name(cell) in plain_name(name)


@dataclass(frozen=True)
class Ticks:
    """Columns of options, and what a chosen one is called."""

    columns: tuple[str, ...]
    """The columns that are options."""
    left_out: tuple[str, ...] = ()
    """Columns that were asked for, but hold texts rather than ticks."""

    def items(self, row: Sequence[object]) -> Iterator[str]:
        """The items of the cells of these columns in a row."""
        for name, cell in zip(self.columns, map(_text, row), strict=True):
            if cell in PRESENCE:
                if PRESENCE[cell]:
                    yield name
            else:
                yield name if is_own(name, cell) else f"{name}: {cell}"

    def refusal(self, fail: Fail = DataError) -> DataError:
        """The error if all columns hold texts."""
        problem = f"the columns {brief_list(self.left_out)} hold texts rather than ticks"
        remedy = "{split=none} makes each cell an item; or name a column alone with {item}"
        return fail(problem, remedy=remedy)

    @property
    def notes(self) -> list[str]:
        """What was left out, for the user."""
        if not self.left_out:
            return []
        text = f"Left out, because they hold texts rather than ticks: {brief_list(self.left_out)}."
        return [Note(f"{text} To use such a column, name it alone with {{item}}.")]


def chosen_columns(
    names: Sequence[str], words: Sequence[str], fail: Fail = DataError
) -> tuple[list[str], set[str]]:
    """The columns that the words name, in the order of the table, and those that have a word of
    their own.

    A word is a name, a number from 1, a range such as `12-30`, or a name in which `*` represents
    any text. Columns without a name are in no range.

    Example:
        >>> chosen_columns(["id", "Uses R", "Uses SQL", "Age"], ["uses *", "4"])
        (['Uses R', 'Uses SQL', 'Age'], {'Age'})
    """
    found, alone = set[str](), set[str]()
    for word in words:
        several = _RANGE.fullmatch(word)
        if word not in names and several:
            found |= _between(names, int(several[1]), int(several[2]), fail)
        elif word not in names and "*" in word:
            pattern = _pattern(word)
            matching = {name for name in names if name and pattern.fullmatch(name)}
            if not matching:
                raise fail(f"no column matches {brief(word)}: the columns are {brief_list(names)}")
            found |= matching
        else:
            alone.add(named_column(names, "item", word, fail))
    return [name for name in names if name in found | alone], alone


def find_ticks(
    columns: Sequence[str],
    alone: Iterable[str],
    rows: Iterable[Sequence[object]],
    *,
    only_own: bool = False,
) -> Ticks:
    """Which of these columns are options, by all their rows.

    Args:
        columns: The columns, in the order of the cells.
        alone: Those whose every text is an option: the user named them.
        rows: The cells of each row.
        only_own: Whether no other text than the option's own name may be an item.
    """
    texts = [Counter[str]() for _ in columns]
    for row in rows:
        for held, cell in zip(texts, map(_text, row), strict=True):
            if cell not in PRESENCE and len(held) < 2:
                held[cell] += 1
    sure = set(alone)
    kept = [
        name
        for name, held in zip(columns, texts, strict=True)
        if name in sure or _is_option(name, held, only_own)
    ]
    return Ticks(tuple(kept), tuple(name for name in columns if name not in kept))


def _is_option(name: str, texts: Counter[str], only_own: bool) -> bool:
    if len(texts) != 1:
        return not texts
    ((text, times),) = texts.items()
    is_word = any(map(str.isalpha, text))
    return is_own(name, text) or (times >= _LEAST and is_word and not only_own)


def _between(names: Sequence[str], first: int, last: int, fail: Fail) -> set[str]:
    if not first <= last <= len(names):
        raise fail(f"there are no columns {first} to {last}: the table has {len(names):,}")
    return set(filter(None, names[first - 1 : last]))


def _pattern(word: str) -> Pattern[str]:
    """A pattern in which only `*` is special: names of questions are full of `?` and brackets."""
    return compile("(?is:" + ".*".join(map(escape, word.split("*"))) + ")")


def _text(cell: object) -> str:
    return "" if cell is None or cell != cell else str(cell).strip()
