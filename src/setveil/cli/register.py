"""`setveil register`: what was released about which people, and what it has spent."""

from pathlib import Path
from typing import Any

import click

from setveil.cli.options import file_option, json_option, reading_options
from setveil.cli.show import exit_unless
from setveil.cli.show import show as show_report

_register = click.argument("register", metavar="REGISTER", type=click.Path(path_type=Path))
_population = click.option(
    "--population",
    metavar="NAME",
    help="Whom the data is about, in your words; everything under one name adds up.",
)
_recipient = click.option("--recipient", metavar="NAME", help="Who gets the release.")


def register_options(command: Any) -> Any:
    """The options of a command that makes a release."""
    help = "Book the release in this register before it is made, privately; `setveil register new` "
    book = file_option("--register", "FILE.toml", f"{help}begins one.")
    return book(_population(_recipient(command)))


@click.group("register")
def register() -> None:
    """What was released about which people, and what it has spent, in a private file."""


@register.command("new")
@_register
@click.option("--epsilon", type=float, metavar="NUMBER", help="What each person may spend in all.")
@click.option("--delta", type=float, metavar="NUMBER", help="The same for delta.  [default: 0]")
@json_option
def new(register: Path, as_json: bool, **total: Any) -> None:
    """Begin a register.

    \b
    setveil register new releases.toml --epsilon 3
    setveil anonymize visits.csv -o release --epsilon 1 --public-items --person patient \\
        --register releases.toml"""
    from setveil.pipeline import register as verb
    from setveil.report.registers import report_new

    show_report(report_new(verb.new(register, **total)), as_json)


@register.command("show")
@_register
@json_option
def show(register: Path, as_json: bool) -> None:
    """List the releases, and what their people have spent.

    \b
    setveil register show releases.toml"""
    from setveil.pipeline import register as verb
    from setveil.report.registers import report_registered

    show_report(report_registered(verb.show(register)), as_json)


@register.command("check")
@_register
@json_option
def check(register: Path, as_json: bool) -> None:
    """Is a register whole and private, and has nobody spent too much?

    The exit code is 1 if it is not in order.

    \b
    setveil register check releases.toml"""
    from setveil.pipeline import register as verb
    from setveil.report.registers import report_checked

    found = verb.check(register)
    show_report(report_checked(found), as_json)
    exit_unless(found.holds)


@register.command("add")
@_register
@click.argument("release", metavar="RELEASE", type=click.Path(path_type=Path))
@click.option("--original", metavar="DATA", help="The data that the release was made from.")
@_population
@_recipient
@click.option("--date", metavar="DATE", help="When it was released.  [default: now]")
@reading_options
@json_option
def add(register: Path, release: Path, as_json: bool, **options: Any) -> None:
    """Book a release that was made elsewhere, or before there was a register.

    It is booked even above the total, because it is released; the exit code is then 1.

    \b
    setveil register add releases.toml last-year --original visits.csv --person patient
    setveil register add releases.toml last-year --population 'customers of the shop'"""
    from setveil.pipeline import register as verb
    from setveil.report.registers import report_booked

    report = report_booked(verb.add(register, release, **options))
    show_report(report, as_json)
    exit_unless(bool(report.values["within"]))
