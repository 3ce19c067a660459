"""`setveil verify`, `measure`, `attack` and `report`: what a release keeps, loses and reveals."""

from pathlib import Path
from typing import Any

import click

from setveil.cli.options import (
    ITEMS,
    METRIC,
    alignment_option,
    count_option,
    engine_options,
    force_option,
    json_option,
    output_option,
    reading_options,
    seed_option,
    tree_file_options,
    tree_option,
)
from setveil.cli.parameters import promise_options
from setveil.cli.show import exit_unless, show, show_apart, worked


@click.command("verify")
@click.argument("release", metavar="RELEASE|FILE")
@promise_options
@click.option(
    "--original", metavar="DATA", help="Also check whether the release comes from this data."
)
@click.option(
    "--after", metavar="RELEASE", help="Also check it against the release that it follows."
)
@count_option("--max-witnesses", "The most witnesses for each check.  [default: 1]", into="limit")
@alignment_option
@tree_option(
    "The tree whose nodes a data file contains, that typical bags were compared with, or of "
    "under:NODE."
)
@tree_file_options
@reading_options
@engine_options
@json_option
def verify(release: str, as_json: bool, **options: Any) -> None:
    """Does a release folder, or any data file, keep a promise?

    A release is checked for the promise it carries, or for the one given. A data file carries none,
    so give one, such as -k 5 -m 2. A file of JSON lines may contain the clusters of disassociated
    data. The exit code is 0 if the promise holds, and 1 if it does not; then a witness shows where.

    \b
    setveil verify release
    setveil verify release --original baskets.csv
    setveil verify baskets.csv -k 5 -m 2
    setveil verify clusters.jsonl -k 5 -m 2
    setveil verify theirs.csv -k 5 -m 2 --original baskets.csv --max-witnesses 10
    setveil verify visits.csv -k 20 -p 3 --h 0.6 --private illnesses.txt
    setveil verify bags.csv -k 5 --promise vocabulary-k-anonymity"""
    from setveil.cli.complain import as_option
    from setveil.pipeline.verify import job_from, run
    from setveil.report.outcome import report_verification

    found = worked(run, job_from(release, options))
    spell = as_option(click.get_current_context().command)
    show_apart(report_verification(found, spell), as_json)
    exit_unless(found.verdict.holds)


@click.command("measure")
@click.argument("release", metavar="RELEASE")
@click.option(
    "--original", required=True, metavar="DATA", help="The data that the release was made from."
)
@click.option(
    "--metric",
    "metrics",
    type=METRIC,
    multiple=True,
    help="What to measure; repeatable.  [default: all that apply]",
)
@alignment_option
@count_option("--reconstructions", "Average over N reconstructions (disassociated).  [default: 1]")
@tree_option("The tree, if the release does not contain all of it.")
@tree_file_options
@reading_options
@seed_option
@json_option
def measure(release: str, as_json: bool, **options: Any) -> None:
    """What a release has lost against its original.

    The figures are computed from the original, so they are private: do not publish them.

    \b
    setveil measure release --original baskets.csv
    setveil measure release --original baskets.csv --metric ncp --json
    setveil measure release --original clicks.dat.gz --reconstructions 10"""
    from setveil.cli.complain import as_option
    from setveil.pipeline.measure import job_from, run
    from setveil.report.outcome import report_losses

    options["metrics"] = options["metrics"] or None
    found = worked(run, job_from(release, options))
    spell = as_option(click.get_current_context().command)
    show(report_losses(found.losses, found.left_out, spell), as_json)


_ATTACKER = (
    click.option(
        "--knows",
        multiple=True,
        metavar="N,N,...|FILE",
        help="How many items of a person the adversary knows, or a file that says what is known of "
        "whom; repeatable.  [default: 1,2,3]",
    ),
    click.option(
        "--occasion",
        metavar="COLUMN",
        help="The column of the basket or stay, if a person has several: one of them is known.",
    ),
    click.option(
        "--population-data",
        metavar="DATA",
        help="The data of all people who may be meant, for journalist risk.",
    ),
    count_option(
        "--trials", "How many records and sets of their items to draw.  [default: 10000]", least=100
    ),
    click.option(
        "--private",
        metavar=ITEMS,
        multiple=True,
        help="Items whose inference is reported on its own; repeatable.",
    ),
    click.option("--other", metavar="RELEASE", help="Another release of the same people."),
    click.option(
        "--other-alignment", metavar="FILE", help="The private alignment of the other release."
    ),
)


def attacker_options(command: Any) -> Any:
    """What an adversary may know, and how many draws are tried."""
    for option in reversed(_ATTACKER):
        command = option(command)
    return command


@click.command("attack")
@click.argument("release", metavar="RELEASE")
@click.option(
    "--original", required=True, metavar="DATA", help="The data that the release was made from."
)
@attacker_options
@click.option(
    "--alignment", metavar="FILE", help="The private alignment of the release, for --other."
)
@reading_options
@seed_option
@json_option
def attack(release: str, as_json: bool, **options: Any) -> None:
    """What an adversary who knows some items of a person can do with a release.

    Known items are drawn from real records, and the release is searched for them. The figures are
    computed from the original, so they are private: do not publish them. The exit code is 1 if
    fewer candidates are left than the release promises.

    \b
    setveil attack release --original baskets.csv
    setveil attack release --original baskets.csv --knows 1,2,3,4 --seed 1 --json
    setveil attack release --original visits.csv --private 'dx:*'
    setveil attack release --original baskets.csv --other last-year"""
    from setveil.pipeline.attack import job_from, run
    from setveil.report.attack import report_attack

    for name in ("private", "knows"):
        options[name] = options[name] or None
    found = worked(run, job_from(release, options))
    show(report_attack(found), as_json)
    exit_unless(found.holds)


@click.command("report")
@click.argument("release", metavar="RELEASE", type=click.Path(path_type=Path))
@output_option("FILE.html", "The page to write, outside the release folder.")
@click.option(
    "--original",
    metavar="DATA",
    help="The data that the release was made from. The page is private then.",
)
@click.option(
    "--for",
    "audience",
    type=click.Choice(["approval"]),
    help="approval: a dossier for who has to agree, with an attack and a JSON twin.",
)
@click.option(
    "--context",
    metavar="FILE.toml",
    help="What people state for an approval: purpose, recipient, controls ...",
)
@click.option(
    "--register",
    metavar="FILE.toml",
    help="The register with other releases of these people, for an approval.",
)
@attacker_options
@alignment_option
@tree_option("The tree, if the release does not contain all of it.")
@tree_file_options
@reading_options
@seed_option
@force_option
def report(release: Path, **options: Any) -> None:
    """Write a page about a release: one HTML file that needs nothing else.

    With its original the page shows what was lost, with charts, and is private: only you can read
    it. Without, it is computed from the release alone and may be handed over with it.

    \b
    setveil report release --original baskets.csv -o private.html
    setveil report release -o public.html
    setveil report release --original baskets.csv --for approval -o dossier.html"""
    from setveil.pipeline import approval, report
    from setveil.report.release_page import report_page

    for name in ("private", "knows"):
        options[name] = options[name] or None
    if options["audience"]:
        found = worked(approval.run, approval.job_from(release, options)).dossier
    else:
        words = approval.plain_words(options)
        found = worked(report.run, report.job_from(release, words))
    show(report_page(found, options["output"], twin=bool(options["audience"])), False)
    exit_unless(found.verdict.holds)
