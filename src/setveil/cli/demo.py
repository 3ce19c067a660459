"""`setveil demo`: the whole way on a made-up shop."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from setveil.cli.show import progress_bar, show

if TYPE_CHECKING:
    from setveil.pipeline import Outcome

MARK = "setveil-demo.txt"
"""The file that tells a demo folder from all others."""
EXPLANATION = """This folder was made by `setveil demo`, which replaces it when it runs again.

release/                  what may be handed over: records, tree, promise
products.hierarchy.csv    the tree over the products, which everybody may know
private/baskets.csv       the original data of the made-up shop
private/alignment.csv     line i is the published record of the i-th basket
private/outcome.json      what was verified and what was lost
"""


@click.command("demo")
@click.argument("folder", default="setveil-demo", type=click.Path(path_type=Path))
@click.option(
    "--records",
    type=click.IntRange(min=10),
    default=10_000,
    show_default=True,
    help="How many baskets the shop has.",
)
@click.option(
    "-k",
    "k",
    type=click.IntRange(min=2),
    default=10,
    show_default=True,
    help="How many people each one is hidden among.",
)
def command(folder: Path, records: int, k: int) -> None:
    """The whole way on a made-up shop, in under a minute.

    Makes up the baskets of a shop, shows how exposed its customers are, anonymizes, verifies and measures, and says where everything
    lies. FOLDER is replaced only when it is empty or an earlier demo.
    """
    from setveil.disk import new_folder

    with new_folder(folder, force=True, is_ours=MARK, kind="demo") as stage:
        (stage / MARK).write_text(EXPLANATION, encoding="utf-8")
        (stage / "private").mkdir(mode=0o700)
        _open_shop(stage, records)
        _anonymize(stage, folder, k)
    _say_what_next(folder, k)


def _open_shop(stage: Path, records: int) -> None:
    """Make up the data and the tree, and show how exposed the customers are."""
    import setveil
    from setveil.data.generate import shop
    from setveil.hierarchy.files import write_hierarchy
    from setveil.report.inspection import report_inspection

    made = shop(records, seed=1)
    setveil.write(made.data, stage / "private" / "baskets.csv")
    write_hierarchy(setveil.Hierarchy.from_paths(made.paths), stage / "products.hierarchy.csv")
    show(
        report_inspection(setveil.summarize(made.data), [setveil.exposure(made.data)]),
        as_json=False,
    )
    click.echo()


def _anonymize(stage: Path, folder: Path, k: int) -> None:
    """Write the release into the stage, and tell about it as it will lie in the folder."""
    from setveil.methods import METHODS
    from setveil.pipeline import Job, run
    from setveil.promises import KAnonymity
    from setveil.report.sections import report_outcome

    private = Path("private")
    job = Job(
        data=stage / private / "baskets.csv",
        promise=KAnonymity(k=k),
        method=METHODS["partition"](),
        hierarchy=stage / "products.hierarchy.csv",
        output=stage / "release",
        alignment=stage / private / "alignment.csv",
    )
    with progress_bar() as progress:
        outcome = run(job, progress)
    if outcome.verdict.holds:
        outcome = replace(
            outcome, output=folder / "release", alignment=folder / private / "alignment.csv"
        )
    (stage / private / "outcome.json").write_text(
        json.dumps(outcome.to_dict(), indent=2) + "\n", encoding="utf-8"
    )
    show(report_outcome(outcome), as_json=False)
    if not outcome.verdict.holds:
        raise click.exceptions.Exit(1)
    click.echo()
    _show_baskets(outcome, stage / private / "baskets.csv")


def _show_baskets(outcome: Outcome, baskets: Path) -> None:
    """Some baskets, and what was published of them."""
    import setveil
    from setveil.report import Fact, Report, Section

    data, release = setveil.read(baskets), outcome.release
    assert isinstance(release, setveil.Generalized) and release.alignment is not None
    facts = []
    for number in [number for number in range(len(data)) if 3 <= data.lengths[number] <= 4][:3]:
        published = release.classes.record(int(release.alignment[number]))
        facts += [
            Fact("basket", ", ".join(data.record(number))),
            Fact("published", ", ".join(published)),
        ]
    show(
        Report((Section("Some baskets, and what was published of them", facts=tuple(facts)),)),
        as_json=False,
    )


def _say_what_next(folder: Path, k: int) -> None:
    baskets, tree, release = (
        folder / "private" / "baskets.csv",
        folder / "products.hierarchy.csv",
        folder / "release",
    )
    click.echo(f"\nEverything lies in {folder}/ ({MARK} says what is what). The same by hand:")
    click.echo(f"  setveil inspect {baskets}")
    click.echo(f"  setveil anonymize {baskets} --hierarchy {tree} -k {k} -o my-release")
    click.echo(f"  setveil verify {release} --original {baskets}")
    click.echo(f"  setveil measure {release} --original {baskets}")
