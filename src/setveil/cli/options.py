"""Options that several commands share, made from the library's tables when they are needed."""

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

import click

from setveil.engines import ENGINES

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


class Renamed(click.Option):
    """An option that is also understood under its old name, which no help shows."""

    def __init__(self, *words: Any, old: str, **options: Any) -> None:
        super().__init__(*words, **options)
        self.old = old

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        super().add_to_parser(parser, ctx)
        parser.add_option(self, [self.old], dest=self.name, action="store", nargs=1)


class Header(click.ParamType[int | str]):
    """A row by its number, or two as in 1-2."""

    name = "row"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | str:
        from setveil.errors import ParameterError
        from setveil.io.formats.guess import checked_header

        try:
            first, last = checked_header(value) or (1, 1)
        except ParameterError:
            self.fail(f"{value!r} is not the number of a row, such as 3 or 1-2", param, ctx)
        return first if first == last else str(value)


def file_option(name: str, metavar: str, help: str) -> Option:
    """The place of a file."""
    return click.option(name, type=click.Path(path_type=Path), metavar=metavar, help=help)


def count_option(
    name: str, help: str, *, least: int = 1, metavar: str | None = "N", into: str | None = None
) -> Option:
    """A whole number; `into` is the parameter that gets it, if its name is another."""
    names = (name,) if into is None else (name, into)
    return click.option(*names, type=click.IntRange(min=least), metavar=metavar, help=help)


HEADER = Header()
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
    return file_option("--alignment", "FILE", help)


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


def _items(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> Any:
    return value[0] if len(value) == 1 else list(value) or None


def _trees(ctx: click.Context, param: click.Parameter, value: tuple[tuple[str, str], ...]) -> Any:
    return dict(value) or None


def _header(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
    """Which row, unless `--no-header` came first."""
    return ctx.params.get("header") if value is None else value


def _no_header(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value:
        ctx.params["header"] = False


memory_option = click.option(
    "--memory",
    cls=Renamed,
    old="--memory-limit",
    metavar="SIZE",
    help="Memory for reading and for the engine blocks; compressed data may unpack to ten times as "
    "much.  [default: 3GB]",
)
reading_options = several(
    click.option(
        "--input-format", type=FORMAT, help="The format of the data.  [default: detected]"
    ),
    _column("record", "the record of each row (long tables)"),
    _column("person", "the person of each row, whose rows are one record without --record"),
    click.option(
        "--records-per-person",
        metavar="N",
        type=POSITIVE,
        help="With --person and --record: publish at most so many records of each person, and "
        "protect people.",
    ),
    click.option(
        "--item",
        metavar="COLUMN",
        multiple=True,
        callback=_items,
        help="The column with the items, or with lists of items: its name or number; or columns of "
        "options, by a pattern such as 'Uses *', or a range such as 12-30; repeatable.",
    ),
    _column("count", "how often an item occurs (bags)"),
    click.option(
        "--bags/--sets",
        "bags",
        default=None,
        help="Keep or ignore how often an item occurs in a record.",
    ),
    click.option(
        "--column",
        "columns",
        metavar="COLUMN",
        multiple=True,
        callback=lambda ctx, param, value: list(value) or None,
        help="A column to keep beside the items, such as an age; repeatable.",
    ),
    click.option(
        "--column-hierarchy",
        "column_hierarchies",
        nargs=2,
        metavar="COLUMN TREE",
        multiple=True,
        callback=_trees,
        help="The tree over the words of a column: a file, prefix, or any; or keep, which makes "
        "its values items; repeatable.",
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
        "--header",
        metavar="ROW",
        type=HEADER,
        is_flag=False,
        flag_value="1",
        callback=_header,
        help="The row that names the columns, such as 3; 1-2 joins two.  [default: detected]",
    ),
    click.option(
        "--no-header",
        is_flag=True,
        expose_value=False,
        callback=_no_header,
        help="No row names the columns: they are 1, 2 ... then.",
    ),
    click.option(
        "--drop-record",
        metavar="VALUE",
        multiple=True,
        help="Leave out rows with this record, such as a placeholder; repeatable.",
    ),
    click.option(
        "--drop-column",
        metavar="POSITION",
        multiple=True,
        help="Leave out what is at this position of each line or list of items (1, 2 ... or "
        "last); repeatable.",
    ),
    click.option("--sheet", help="The sheet of a spreadsheet (.xlsx).  [default: the first]"),
    click.option(
        "--encoding", help="How the text is encoded, such as cp1252.  [default: utf-8, or detected]"
    ),
    memory_option,
    click.option(
        "--keep-unique",
        is_flag=True,
        default=None,
        help="Items that look like identifiers are meant: publish them.",
    ),
)
"""How to read a data file; what is not given is guessed if it is obvious."""

engine_options = several(
    click.option(
        "--engine",
        type=click.Choice(tuple(ENGINES)),
        help="Where the work is done: in memory, in blocks on disk (data larger than memory), or "
        "on a Spark cluster.  [default: local]",
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
