"""Help in groups: what everybody needs first, then one group for each kind of option."""

from collections.abc import Mapping, Sequence
from typing import Any

import click

Groups = Mapping[str, Sequence[str]]


class GroupedCommand(click.Command):
    """A command whose help shows its options in groups; those in no group come in a last one."""

    def __init__(self, *args: Any, groups: Groups, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.groups = groups

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        lines = {
            str(parameter.name): line
            for parameter in self.get_params(ctx)
            if (line := parameter.get_help_record(ctx)) is not None
        }
        for title, names in self.groups.items():
            chosen = [lines.pop(name) for name in names if name in lines]
            if chosen:
                with formatter.section(title):
                    formatter.write_dl(chosen)
        with formatter.section("Other options"):
            formatter.write_dl(list(lines.values()))
