"""`setveil methods`: which method keeps which promise, and what it needs."""

import click

from setveil.cli.options import json_option
from setveil.cli.show import show


@click.command("methods")
@json_option
def command(as_json: bool) -> None:
    """List the methods: what each can promise, what it needs, and what it publishes.

    Without --method, `setveil anonymize` chooses the one marked `chosen` that fits what you
    promise and whether you give a hierarchy."""
    from setveil.pipeline.methods import list_methods
    from setveil.report.methods import report_methods

    show(report_methods(list_methods()), as_json)
