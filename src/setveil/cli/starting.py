"""`setveil demo`, `serve`, `methods` and `warmup`: where to start."""

from pathlib import Path
from typing import Any

import click

from setveil.cli.options import default_option, json_option
from setveil.cli.show import exit_unless, show, worked


@click.command("demo")
@click.argument("folder", default="setveil-demo", type=click.Path(path_type=Path))
@default_option(
    "--records", default=10_000, help="How many baskets the shop has.", type=click.IntRange(min=10)
)
@default_option(
    "-k",
    "k",
    default=10,
    help="Hide each person among at least this many records.",
    type=click.IntRange(min=2),
)
def demo(folder: Path, records: int, k: int) -> None:
    """A full example on synthetic data, in under a minute.

    Generates the baskets of a shop, shows how exposed its customers are, anonymizes, verifies and
    measures. FOLDER is replaced only if it is empty or an earlier demo."""
    from setveil.cli.anonymize import anonymize
    from setveil.cli.complain import as_option
    from setveil.pipeline.demo import BASKETS, KNOWN, MARK, RELEASE, TREE, DemoJob, run
    from setveil.report.outcome import report_demo

    demo = worked(run, DemoJob(folder=folder, records=records, k=k))
    show(report_demo(demo, as_option(anonymize)), as_json=False)
    exit_unless(demo.outcome.verdict.holds)
    baskets, tree, release = folder / BASKETS, folder / TREE, folder / RELEASE
    click.echo(f"\nEverything is in {folder}/ ({MARK} describes the files). The same by hand:")
    click.echo(f"  setveil inspect {baskets}")
    click.echo(f"  setveil anonymize {baskets} -k {k} -m {KNOWN} --method disassociation -o first")
    click.echo(f"  setveil verify {release} --original {baskets}")
    click.echo(f"  setveil measure {release} --original {baskets}")
    click.echo(
        "Or publish groups of products instead of clusters, so that every record stays whole:"
    )
    click.echo(f"  setveil anonymize {baskets} -k {k} --hierarchy {tree} -o second")


@click.command("methods")
@json_option
def methods(as_json: bool) -> None:
    """List the methods: what each can promise, what it needs, and what it publishes.

    Without --method, `setveil anonymize` chooses the one marked `chosen` that fits what you
    promise and whether you give a hierarchy."""
    from setveil.pipeline.names import list_methods
    from setveil.report.advice import report_methods

    show(report_methods(list_methods()), as_json)


@click.command("warmup")
def warmup() -> None:
    """Compile the kernels once, so that the first real run is quick.

    The machine code is kept next to the package, or in the user's cache folder."""
    from setveil.pipeline.warmup import run
    from setveil.words import seconds

    click.echo(f"the kernels are ready, after {seconds(run())}")


class Size(click.ParamType[int]):
    """A number of bytes, such as 500MB."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        from setveil.disk import bytes_of
        from setveil.errors import ParameterError

        try:
            return int(value) if str(value).isdecimal() else bytes_of(value)
        except ParameterError:
            self.fail(f"{value!r} is not a size such as 500MB or 2GB", param, ctx)


@click.command("serve")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    metavar="N",
    help="The port to listen on.  [default: 8737, or a free one]",
)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    metavar="ADDRESS",
    help="The address to listen on; only this machine by default.",
)
@click.option("--no-browser", is_flag=True, help="Only print the address; open no browser.")
@click.option(
    "--data-dir",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Where projects are kept, privately.  [default: the user's data folder]",
)
@click.option(
    "--files",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    multiple=True,
    metavar="DIR",
    help="One more folder whose files may be named by path; repeatable.  "
    "[default: the current and the home folder]",
)
@click.option(
    "--max-upload",
    type=Size(),
    default="20GB",
    show_default=True,
    metavar="SIZE",
    help="The largest file that may be uploaded.",
)
def serve(no_browser: bool, **options: Any) -> None:
    """The whole job in a browser, on your own machine.

    Prints the address of the page, with a secret that works once, as soon as it answers. Nothing
    leaves the machine. Ctrl-C ends it, with all jobs that run; projects stay until you delete them.
    If the page is running already, prints a new address for it.

    \b
    setveil serve
    setveil serve --port 9000 --no-browser --data-dir /secure/setveil"""
    from setveil.web.server import ServeJob, Way, open_browser, serve
    from setveil.words import plural

    def ready(way: Way) -> None:
        how = "Ctrl-C ends it" if way.is_new else "it was running already; this address works once"
        click.echo(f"Open {way.url} ({how})")
        if not no_browser:
            open_browser(way.file)

    ended = serve(ServeJob(**options), ready)
    if ended:
        done = "had not ended, so nothing of it was" if ended == 1 else "had not ended: nothing was"
        click.echo(f"Stopped. {plural(ended, 'job')} {done} published.", err=True)
