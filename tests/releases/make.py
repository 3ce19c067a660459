"""Makes the small releases of the current format: `python -m tests.releases.make`.

The folders of older formats were made by the command line of the commit in their names, with the
same data and, as far as it had them, the same options.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from setveil import __version__
from setveil.io.releases.versions import FORMAT

HERE = Path(__file__).parent
TREE, BAGS = "--hierarchy tree.csv", "bags.csv --method ssc -k 3 --semantics tree.csv"
COLUMNS = "--record person --item bought --column age --column sex"
RELEASES = {
    "generalized-k": f"sets.csv -k 3 {TREE}",
    "generalized-km": "sets.csv -k 3 -m 2 --hierarchy balanced:2",
    "generalized-global": f"sets.csv --method hghs -k 3 -m 2 {TREE}",
    "generalized-unknown": f"more.csv --method apriori -k 3 -m 1 {TREE} --unknown drop",
    "generalized-bags": f"bags.csv --promise vocabulary-k-anonymity -k 3 {TREE}",
    "disassociated": "sets.csv -k 3 -m 2",
    "disassociated-all": "sets.csv -k 2 -m all --method disassociation",
    "disassociated-diverse": "sets.csv -k 3 -m 2 -l 3 --sensitive flu",
    "disassociated-safe": "sets.csv -k 3 -m 2 --safe",
    "disassociated-parquet": "sets.csv -k 3 -m 2 --format parquet",
    "parts": "sets.csv -k 3 -m 2 --engine blocks --max-part 9",
    "suppressed": "sets.csv -k 3 -p 2 --h 0.8 --private flu --min-people 2",
    "suppressed-plain": "sets.csv -k 3 -p 1 --h 1",
    "typical-majority": BAGS,
    "typical-sets": "sets.csv --method ssc -k 3 --semantics balanced:2",
    "typical-slots": f"{BAGS} --typical slots",
    "typical-generalized": f"{BAGS} --typical generalized",
    "typical-mixed": f"{BAGS} --typical mixed",
    "typical-paper": f"{BAGS} --variant paper",
    "grouped": f"people.csv {COLUMNS} -k 3 -m 2",
    "grouped-generalized": f"people.csv {COLUMNS} -k 3 -m 2 --within partition {TREE}",
    "grouped-suppressed": f"people.csv {COLUMNS} -k 3 -m 2 --within suppression",
    "synthetic-frequent": "sets.csv --epsilon 1 --public-items",
    "synthetic-delta": "sets.csv --epsilon 2 --delta 0.001",
    "synthetic-diffpart": f"sets.csv --method diffpart --epsilon 2 {TREE}",
}
"""What each release is made from, and its options."""


def original_of(name: str) -> str | None:
    """The data that a release was made from; synthetic records are not compared with it."""
    return None if name.startswith("synthetic") else RELEASES[name].split()[0]


def main(names: Sequence[str] = ()) -> None:
    """Make these releases, or all of them."""
    for name in names or RELEASES:
        options = RELEASES[name]
        target = HERE / f"{FORMAT}-{__version__}" / name
        target.parent.mkdir(exist_ok=True)
        seed = [] if name.startswith("synthetic") else ["--seed", "7"]
        command = [sys.executable, "-m", "setveil", "anonymize", *options.split(), *seed]
        subprocess.run([*command, "--force", "-o", target], cwd=HERE / "original", check=True)


if __name__ == "__main__":
    main(sys.argv[1:])
