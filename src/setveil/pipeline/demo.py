"""Demo: every step on the synthetic data of a shop, in a folder of its own."""

import json
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from setveil.data.generate import shop
from setveil.data.transactions import Transactions
from setveil.disk import new_folder
from setveil.engines.base import Progress
from setveil.hierarchy.files import write_hierarchy
from setveil.hierarchy.tree import Hierarchy
from setveil.io import write
from setveil.pipeline import inspect
from setveil.pipeline.anonymize import Rejected, anonymize
from setveil.pipeline.job import Outcome

MARK = "setveil-demo.txt"  # the file by which a demo folder is recognized
TREE, RELEASE = Path("products.hierarchy.csv"), Path("release")
BASKETS, ALIGNMENT = Path("private", "baskets.csv"), Path("private", "alignment.csv")
KNOWN = 2
"""How many products an adversary may know of a customer."""
EXPLANATION = """This folder was made by `setveil demo`, which replaces it when it runs again.

release/                  what is published: clusters of records, promise
products.hierarchy.csv    the hierarchy of the products, which is public
private/baskets.csv       the original data of the synthetic shop
private/alignment.csv     line i is the published cluster of basket i
private/outcome.json      what was verified and what was lost
"""


@dataclass(frozen=True, kw_only=True)
class DemoJob:
    """The size of the shop, and how well its customers are hidden."""

    folder: Path
    records: int = 10_000
    k: int = 10


@dataclass(frozen=True, kw_only=True)
class Demo:
    """What was found in the shop's data, and what was published."""

    inspection: inspect.Inspection
    outcome: Outcome


def run(job: DemoJob, progress: Progress | None = None) -> Demo:
    """Make the shop's data, inspect and anonymize it, and keep everything in the folder.

    A folder that exists is replaced only if it is empty or an earlier demo."""
    place = new_folder(job.folder, force=True, parts=_parts, kind="demo")
    with suppress(Rejected), place as stage:
        data = _open_shop(stage, job.records)
        found = inspect.run(inspect.InspectJob(data=data, k=2), progress)
        outcome = _anonymized(stage, job, progress)
        demo = Demo(inspection=found, outcome=outcome)
        if not outcome.verdict.holds:
            raise Rejected
    return demo


def _parts(folder: Path) -> set[str] | None:
    if not (folder / MARK).is_file():
        return None
    return {MARK, str(TREE), str(RELEASE), BASKETS.parts[0]}


def _open_shop(stage: Path, records: int) -> Transactions:
    (stage / MARK).write_text(EXPLANATION, encoding="utf-8")
    (stage / BASKETS).parent.mkdir(mode=0o700)
    made = shop(records, seed=1)
    write(made.data, stage / BASKETS)
    write_hierarchy(Hierarchy.from_paths(made.paths), stage / TREE)
    return made.data


def _anonymized(stage: Path, job: DemoJob, progress: Progress | None) -> Outcome:
    """Write the release; the outcome names the places that files will have in the end."""
    outcome = anonymize(
        stage / BASKETS,
        progress=progress,
        k=job.k,
        m=KNOWN,
        method="disassociation",  # a shop's baskets are too diverse to be of use if generalized
        hierarchy=stage / TREE,
        output=stage / RELEASE,
        alignment=stage / ALIGNMENT,
    )
    if outcome.verdict.holds:
        output, alignment = job.folder / RELEASE, job.folder / ALIGNMENT
        outcome = replace(outcome, output=output, alignment=alignment)
    text = json.dumps(outcome.to_dict(), indent=2) + "\n"
    (stage / "private" / "outcome.json").write_text(text, encoding="utf-8")
    return outcome
