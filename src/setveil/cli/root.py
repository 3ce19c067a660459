"""The group of all commands, which loads a command only when it is called."""

from __future__ import annotations

from importlib import import_module

import click

from setveil import __version__
from setveil.errors import did_you_mean

COMMANDS = {
    "inspect": "What a data set contains, and how exposed the people in it are.",
    "advise": "Which promise, method and parameters suit the data, by quick trials.",
    "anonymize": "Write a release that keeps a promise, verified and measured.",
    "apply": "Publish other data by the rule of a release, verified again.",
    "run": "Do what a job file says: `anonymize` with its options from a file.",
    "compare": "Several methods and parameters on the same data, in one table with charts.",
    "methods": "The methods, what each can promise, and what it needs.",
    "verify": "Does a release, or any data file, keep a promise?",
    "attack": "What an adversary who knows some items of a person can do with a release.",
    "measure": "What a release has lost against its original.",
    "report": "A page about a release: private with its original, public without.",
    "register": "What was released about which people, and what it has spent.",
    "support": "How many records contain some items, computed from a release alone.",
    "rules": "Which items occur together, computed from a release alone.",
    "reconstruct": "Write possible originals of a release.",
    "querylog": "Turn a query log into bags of terms, one per user or session.",
    "hierarchy": "Build, check, show and edit the tree over the items.",
    "generate": "Generate synthetic data to try things on.",
    "serve": "The whole job in a browser, on your own machine.",
    "demo": "A full example on synthetic data, in under a minute.",
    "warmup": "Compile the kernels once, so that the first real run is quick.",
}
"""Each command and its line of help."""
_HOMES = {
    **dict.fromkeys(("run", "apply"), "anonymize"),
    **dict.fromkeys(("verify", "attack", "measure", "report"), "verifying"),
    **dict.fromkeys(("inspect", "advise", "support", "rules", "reconstruct"), "asking"),
    **dict.fromkeys(("demo", "serve", "methods", "warmup"), "starting"),
    **dict.fromkeys(("generate", "querylog"), "making"),
}
"""The module of `setveil.cli` that has it; each other has one of its name."""


class LazyGroup(click.Group):
    """A group that knows its commands by name and imports the one that is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        home = import_module(f"setveil.cli.{_HOMES.get(cmd_name, cmd_name)}")
        command: click.Command = getattr(home, cmd_name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in COMMANDS and not name.startswith("-") and not ctx.resilient_parsing:
            near = did_you_mean(name, COMMANDS)
            ctx.fail(f"No such command {name!r}{near and '; '}{near}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.command(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="setveil", message="%(prog)s %(version)s")
@click.option(
    "--debug",
    is_flag=True,
    expose_value=False,
    help="Show the traceback of an error (also: SETVEIL_DEBUG=1).",
)
def root() -> None:
    """Publish set-valued data so that nobody in it can be re-identified, and report what it cost.

    Try `setveil demo` first. `setveil COMMAND --help` describes a command.
    """
