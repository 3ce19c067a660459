"""A report as text: in colour on a terminal, plain elsewhere."""

from io import StringIO
from itertools import islice
from typing import TextIO

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from setveil.report import Report, Section
from setveil.words import printable

PLAIN_WIDTH = 110


def print_report(report: Report, stream: TextIO) -> None:
    """Print a report; in plain text of a fixed width if the stream is not a terminal."""
    parts = (piece for each in report.sections for piece in (Text(""), _section(each)))
    content = Group(*islice(parts, 1, None))  # an empty line between the sections
    console = Console(file=stream, highlight=False, emoji=False, markup=False)
    if console.is_terminal:
        console.print(content)
    else:
        stream.writelines(f"{line.rstrip()}\n" for line in _plain_lines(content))


def _plain_lines(content: RenderableType) -> list[str]:
    drawn = StringIO()
    Console(
        file=drawn, highlight=False, emoji=False, markup=False, width=PLAIN_WIDTH, color_system=None
    ).print(content)
    return drawn.getvalue().splitlines()


def _section(section: Section) -> RenderableType:
    marks = {True: ("yes  ", "bold green"), False: ("NO   ", "bold red"), None: ("", "")}
    title = Text.assemble(marks[section.holds], (printable(section.heading), "bold"))
    parts: list[RenderableType] = [title]
    if section.text:
        parts.append(Padding(Text(printable(section.text)), (0, 0, 0, 2)))
    if section.facts:
        parts.append(Padding(_facts(section), (0, 0, 0, 2)))
    return Group(*parts)


def _facts(section: Section) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="cyan")
    table.add_column()
    table.add_column(style="dim")
    for fact in section.facts:
        table.add_row(*(Text(printable(cell)) for cell in (fact.name, fact.value, fact.remark)))
    return table
