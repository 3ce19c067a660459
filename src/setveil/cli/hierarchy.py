"""`setveil hierarchy`: build, check, show and edit the tree over the items."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from setveil.cli.options import (
    NATURAL,
    TREE,
    default_option,
    force_option,
    json_option,
    output_option,
    reading_options,
    several,
    tree_file_options,
    tree_layout_options,
)
from setveil.cli.show import show
from setveil.words import plural

if TYPE_CHECKING:
    from setveil.hierarchy.tree import Hierarchy
    from setveil.pipeline.hierarchy import HierarchyJob


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


@click.group("hierarchy")
def hierarchy() -> None:
    """Build, check, show and edit the tree over the items."""


@hierarchy.command("build")
@click.argument("data", metavar="DATA")
@click.argument("recipe", metavar="balanced:5|prefix|wordnet")
@output_option("FILE", "The file to write.  [default: standard output]", required=False)
@reading_options
@force_option
def build(recipe: str, output: Path | None, force: bool, **options: Any) -> None:
    """Build a tree over the items of DATA.

    The recipe is `balanced:FANOUT`, with `:numeric`, `:alphabetical` or `:frequency` for the order
    of the items; `prefix` for codes, with the lengths of the prefixes, such as `prefix:1,3`, or
    with the kind of the codes, such as `prefix:icd10`, if it is not detected; or `wordnet` for
    English nouns, with its folder if that is not Debian's. `wordnet+unknown` puts other items below
    a node of their own.

    \b
    setveil hierarchy build clicks.dat balanced:5 -o clicks.hierarchy.csv
    setveil hierarchy build diagnoses.csv prefix:1,3 -o codes.hierarchy.csv
    setveil hierarchy build searches.csv wordnet -o nouns.hierarchy.csv"""
    from setveil.hierarchy.recipes import remarks
    from setveil.pipeline import hierarchy

    tree = hierarchy.build(_job(recipe, options))
    _write(tree, output, force)
    for remark in remarks(tree):
        click.echo(f"setveil: {remark}", err=True)


@hierarchy.command("check")
@click.argument("file", metavar="FILE")
@click.option("--data", metavar="DATA", help="Also check that each item of this data has a leaf.")
@tree_file_options
@reading_options
@json_option
def check(file: str, as_json: bool, **options: Any) -> None:
    """List every fault of a hierarchy file.

    Errors make the tree unusable, and the exit code is 3: two roots, a cycle, a node with two
    parents, an item without a leaf, a label used at two levels. Notes are harmless.

    \b
    setveil hierarchy check products.hierarchy.csv --data baskets.csv"""
    from setveil.pipeline import hierarchy
    from setveil.report.inspection import report_faults

    checked = hierarchy.check(_job(file, options))
    show(report_faults(file, checked), as_json)
    if any(fault.severity == "error" for fault in checked.faults):
        raise click.exceptions.Exit(3)


@hierarchy.command("show")
@click.argument("tree", metavar=TREE)
@click.option("--data", metavar="DATA", help="The data with the items, if the tree is built.")
@default_option("--depth", default=2, help="How many levels to show.", type=NATURAL)
@click.option("--node", metavar="LABEL", help="Show the part of the tree below this node.")
@tree_file_options
@reading_options
@json_option
def show_tree(tree: str, depth: int, node: str | None, as_json: bool, **options: Any) -> None:
    """Show the size of a tree and its upper levels.

    Each group is shown with the number of items below it.

    \b
    setveil hierarchy show products.hierarchy.csv
    setveil hierarchy show balanced:5 --data clicks.dat
    setveil hierarchy show products.hierarchy.csv --node drinks --depth 1"""
    from setveil.pipeline import hierarchy
    from setveil.report.inspection import report_tree

    show(report_tree(hierarchy.run(_job(tree, options)), depth, node), as_json)


@hierarchy.command("edit", cls=EditCommand)
@click.argument("tree", metavar=TREE)
@edit_options
@click.option("--data", metavar="DATA", help="The data that the tree is for.")
@output_option("FILE", "The file to write.  [default: standard output]", required=False)
@tree_layout_options
@reading_options
@force_option
def edit(tree: str, log: Path | None, output: Path | None, force: bool, **options: Any) -> None:
    """Rename, move and group nodes of a tree.

    Edits are made in the order in which they are given. Items keep their names, except those that
    do not occur in DATA. Put labels that contain a comma or an equals sign in double quotes.

    \b
    setveil hierarchy edit products.csv --group "ale,wine=Alcohol" --move cider=Alcohol -o new.csv
    setveil hierarchy edit products.csv --data baskets.csv --add-missing -o new.csv
    setveil hierarchy edit products.csv --edits edits.json -o new.csv"""
    from setveil.pipeline import hierarchy

    job = _job(tree, options)
    words = {each.name: getattr(job, each.name) for each in fields(job)}
    edits = click.get_current_context().meta[_GIVEN]
    draft = hierarchy.edit(hierarchy.EditJob(**words, log=log, edits=edits))
    _write(draft.to_hierarchy(), output, force)
    for sentence in draft.coverage().sentences()[1:]:
        click.echo(f"setveil: {sentence}", err=True)


def _job(tree: str, options: dict[str, Any]) -> HierarchyJob:
    from setveil.hierarchy.layouts import TreeOptions
    from setveil.pipeline.hierarchy import HierarchyJob
    from setveil.pipeline.names import reading_from

    words = {each.name for each in fields(TreeOptions)} & options.keys()
    how = {name: options[name] for name in words if options[name] is not None}
    return HierarchyJob(tree=tree, data=options["data"], reading=reading_from(options), **how)


def _write(tree: Hierarchy, output: Path | None, force: bool) -> None:
    from setveil.hierarchy.files import write_hierarchy

    if output is None or str(output) == "-":
        _to_output(tree)
    else:
        write_hierarchy(tree, output, force=force)
        size = f"{plural(tree.leaf_count, 'leaf', 'leaves')}, {plural(len(tree), 'node')}"
        click.echo(f"{output}: {size}, height {tree.height}")


def _to_output(tree: Hierarchy) -> None:
    """Print a tree in UTF-8, as in a file, whatever the terminal's encoding."""
    from setveil.hierarchy.files import write_hierarchy
    from setveil.io.writing import write_to_output

    text = StringIO()
    write_hierarchy(tree, text)
    write_to_output([text.getvalue().removesuffix("\n")])
