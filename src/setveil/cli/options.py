"""Options that several commands share, made from the library's tables when they are needed."""

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])
Option = Callable[[Any], Any]

ITEMS = "FILE|ITEM|PATTERN|under:NODE"  # the ways to name items
POSITIVE, NATURAL = click.IntRange(min=1), click.IntRange(min=0)
TREE = "FILE|balanced:5|prefix|wordnet[+unknown]"  # the ways to name a hierarchy


class Table(click.ParamType[str]):
    """A name from one of the library's tables, loaded on use: `setveil --help` stays quick."""

    name = "choice"

    def __init__(self, module: str, table: str, renamed: Mapping[str, str] | None = None) -> None:
        self.module, self.table, self.renamed = module, table, renamed or {}

    def names(self) -> list[str]:
        names: Any = getattr(import_module(self.module), self.table)
        return list(names() if callable(names) else names)

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        return f"[{'|'.join(self.names())}]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value in self.renamed and param is not None:
            now = self.renamed[value]
            click.echo(f"setveil: {param.opts[0]} {value} is now called {now}", err=True)
            return now
        if value not in self.names():
            from setveil.errors import did_you_mean

            near = did_you_mean(str(value), self.names())
            listed = ", ".join(self.names())
            self.fail(f"{value!r} is not one of {listed}{near and '; '}{near}", param, ctx)
        return str(value)


FORMAT = Table("setveil.io", "FORMATS")
RELEASE_FORMAT = Table("setveil.io.releases.folder", "release_formats")
METRIC = Table("setveil.metrics", "METRICS")
PROMISE = Table("setveil.promises", "PROMISES")

json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object and nothing else."
)
force_option = click.option("--force", is_flag=True, help="Replace output that exists.")
alignment_option = click.option(
    "--alignment",
    metavar="FILE",
    help="The private alignment: compare each record with its own original.",
)
seed_option = click.option("--seed", type=click.IntRange(min=0), help="Make the result repeatable.")


def output_option(metavar: str, help: str, *, required: bool = True) -> Option:
    """Where to write."""
    kind = click.Path(path_type=Path)
    return click.option("-o", "--output", required=required, type=kind, metavar=metavar, help=help)


def tree_option(help: str) -> Option:
    """The tree over the items."""
    return click.option("--hierarchy", "--semantics", "hierarchy", metavar=TREE, help=help)


def new_alignment_option(published: str) -> Option:
    """Where to write the private alignment of a new release."""
    help = f"Also write {published} of each original record, privately."
    return click.option("--alignment", type=click.Path(path_type=Path), metavar="FILE", help=help)


def public_items_option(published: str) -> Option:
    """Whether the list of items is public."""
    help = f"The list of items is public: {published}."
    return click.option("--public-items", is_flag=True, help=help)


def release_format_option(default: str) -> Option:
    """The format of a new release."""
    help = f"The format of the data in the release.  [default: {default}]"
    return click.option("--format", type=RELEASE_FORMAT, help=help)


def default_option(*names: str, default: Any, help: str, type: Any = POSITIVE) -> Option:
    """An option whose default is shown; a number from 1 on unless another type is given."""
    return click.option(*names, type=type, default=default, show_default=True, help=help)


def several(*options: Option) -> Callable[[Command], Command]:
    """One decorator for several options, in this order."""

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def _column(name: str, help: str) -> Option:
    return click.option(
        f"--{name}", metavar="COLUMN", help=f"The column with {help}: its name or number."
    )


reading_options = several(
    click.option(
        "--input-format", type=FORMAT, help="The format of the data.  [default: detected]"
    ),
    _column("record", "the record of each row (long tables)"),
    _column("item", "the items, or with lists of items"),
    _column("count", "how often an item occurs (bags)"),
    click.option(
        "--bags/--sets",
        "bags",
        default=None,
        help="Keep or ignore how often an item occurs in a record.",
    ),
    click.option(
        "--split",
        metavar="MARK",
        help="What separates the items within a cell, such as '|'; list for lists in brackets; "
        "none if a cell is one item.  [default: detected]",
    ),
    click.option(
        "--onehot/--no-onehot",
        default=None,
        help="The table has a column for each item (0 and 1, yes and no).  [default: detected]",
    ),
    click.option(
        "--header/--no-header",
        default=None,
        help="The first line names the columns, or not: they are 1, 2 ... then.  [default: on]",
    ),
    click.option(
        "--drop-record",
        metavar="VALUE",
        multiple=True,
        help="Leave out rows with this record, such as a placeholder; repeatable.",
    ),
    click.option("--sheet", help="The sheet of a spreadsheet (.xlsx).  [default: the first]"),
    click.option(
        "--encoding", help="How the text is encoded, such as cp1252.  [default: utf-8, or detected]"
    ),
    click.option("--memory-limit", metavar="SIZE", help="Memory limit for reading, such as 2GB."),
)
"""How to read a data file; what is not given is guessed if it is obvious."""

engine_options = several(
    click.option(
        "--engine",
        type=click.Choice(("local", "blocks", "spark")),
        help="Where the work is done: in memory, in blocks on disk (data larger than memory), or "
        "on a Spark cluster.  [default: local]",
    ),
    click.option(
        "--memory",
        metavar="SIZE",
        help="Memory for the engine blocks, and for what spark gathers here.  [default: 3GB]",
    ),
    click.option(
        "--master",
        metavar="URL",
        help="The cluster of the engine spark, such as spark://host:7077.  [default: local[*]]",
    ),
)
"""Where the work is done."""

tree_layout_options = several(
    click.option(
        "--layout",
        type=click.Choice(("paths", "pairs", "levels")),
        help="The layout of the hierarchy file.  [default: detected]",
    ),
    click.option(
        "--levels",
        metavar="COLUMN,COLUMN,...",
        help="The columns of a level table, from the items up.  [default: all]",
    ),
    click.option(
        "--qualify",
        is_flag=True,
        default=None,
        help="Name groups with their parent where one label names several.",
    ),
)
"""How to read a hierarchy file."""
tree_file_options = several(
    tree_layout_options,
    click.option(
        "--unknown",
        type=click.Choice(("refuse", "root", "drop")),
        help="Items that the hierarchy lacks: place them below its root, or leave them out."
        "  [default: refuse]",
    ),
)
"""How to read a hierarchy file, and what becomes of items that it lacks."""
