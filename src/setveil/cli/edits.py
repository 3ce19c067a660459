"""Edits of a tree as options of the command line, in the order in which they are given."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from setveil.cli.options import several

_GIVEN = "setveil.edits"
_CELL = r'\s*("(?:[^"]|"")*"|[^{ends}]*?)\s*([{ends}]|$)'

EDITS: dict[str, tuple[str, str, str]] = {
    "rename": ("NODE=NAME", "=", "Give a group another name."),
    "move": ("NODE,...=GROUP", ",=", "Put nodes into another group."),
    "group": ("NODE,...=NAME", ",=", "Put nodes into a new group."),
    "ungroup": ("GROUP", "", "Remove a group; what is in it takes its place."),
    "add": ("ITEM,...[=GROUP]", ",=", "Add items to a group.  [default: the root]"),
    "remove": ("GROUP", "", "Remove a group without items."),
}
"""Each edit: what it is given, what separates its labels, and its help text."""

edit_options = several(
    *(
        click.option(f"--{name}", multiple=True, metavar=metavar, expose_value=False, help=text)
        for name, (metavar, _, text) in EDITS.items()
    ),
    click.option(
        "--add-missing",
        is_flag=True,
        expose_value=False,
        help="Add all items of the data that the tree lacks to its root.",
    ),
    click.option(
        "--edits",
        "log",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="First make the edits of this log, from the page.",
    ),
)


class EditCommand(click.Command):
    """A command that remembers the order of its edits; click keeps the values of each option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        values, _, order = self.make_parser(ctx).parse_args(list(args))
        texts = {name: iter(values.get(name) or ()) for name in EDITS}
        names = [str(option.name) for option in order]
        ctx.meta[_GIVEN] = [
            {"op": "add"} if name == "add_missing" else _edit(ctx, name, next(texts[name]))
            for name in names
            if name in EDITS or name == "add_missing"
        ]
        return super().parse_args(ctx, args)


def edits_given() -> list[dict[str, Any]]:
    """The edits of the command that runs, in their order."""
    given: list[dict[str, Any]] = click.get_current_context().meta[_GIVEN]
    return given


def _edit(ctx: click.Context, name: str, text: str) -> dict[str, Any]:
    """An edit as the library notes it."""
    metavar, ends, _ = EDITS[name]
    if not ends:
        return {"op": name, "nodes": [text]} if name == "remove" else {"op": name, "node": text}
    cells, goal = _split(text, ends)
    if goal is None and name != "add":
        remedy = "a label with a comma or an equals sign is in double quotes, as in '\"a=b\"=c'"
        problem = f"{text!r} is not {metavar}; {remedy}"
        raise click.BadParameter(problem, ctx, param_hint=f"--{name}")
    if name == "rename":
        return {"op": name, "node": cells[0], "name": goal}
    if name == "add":
        return {"op": name, "items": cells} | ({} if goal is None else {"to": goal})
    return {"op": name, "nodes": cells, "name" if name == "group" else "to": goal}


def _split(text: str, ends: str) -> tuple[list[str], str | None]:
    """The labels before the first equals sign, and the one after it.

    Example:
        >>> _split('beer, "wine, red"=Alcohol', ",=")
        (['beer', 'wine, red'], 'Alcohol')
        >>> _split("Beer, wine=Beer, wine and more", "=")
        (['Beer, wine'], 'Beer, wine and more')
        >>> _split("tea,milk", ",=")
        (['tea', 'milk'], None)
    """
    cells: list[str] = []
    for found in _cells(text, ends):
        cells.append(_unquoted(found[1]))
        if found[2] == "=":
            return cells, _unquoted(text[found.end() :].strip())
    return cells, None


def _cells(text: str, ends: str) -> Iterator[re.Match[str]]:
    pattern, at = re.compile(_CELL.format(ends=ends)), 0
    while (found := pattern.match(text, at)) is not None:
        yield found
        at = found.end()
        if not found[2]:
            return


def _unquoted(cell: str) -> str:
    is_quoted = len(cell) > 1 and cell[0] == cell[-1] == '"'
    return cell[1:-1].replace('""', '"') if is_quoted else cell
