"""What every method publishes and every command prints, as hashes: `make golden` renews the table.

A case is a few commands in a folder with small data. What they print and write is put into a normal
form and hashed, so `golden.json` says which case and which part of it a change has altered. To see
what was altered, write the normal forms of a case before and after the change and compare them:

    python -m tests.conformance.golden --keep before partition
    python -m tests.conformance.golden --keep after partition
    diff -r before after

The normal form leaves out times, memory and the version of setveil, and rounds floating point
numbers, so that another order of adding is no change. Parquet files are compared by their rows: the
bytes depend on the version of DuckDB. All other files are compared by their bytes."""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import re
import shlex
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, chdir, contextmanager, redirect_stderr, redirect_stdout
from functools import cache
from io import StringIO
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

import numpy as np

from setveil.cli import answer
from setveil.engines.sparksession import session

TABLE = Path(__file__).with_name("golden.json")
RANDOM = {"seconds", "cpu_seconds", "peak_mb", "setveil"}
"""Keys of JSON objects that differ from run to run, and the version."""
DIGITS = 9  # of floating point numbers
_TRIED = "setveil.pipeline.alternatives"

AFTER = (
    "verify release --original {data}",
    "measure release --original {data} --seed 5",
    "support release --top 15 --least-size 1",
)
"""What follows each `anonymize`."""
TREE, COHERENT = "--hierarchy tree.csv", "-k 5 -p 2 --h 0.6 --private 'pi*'"
SSC = "bags.csv --method ssc -k 3 --semantics tree.csv"
PEOPLE = "people.csv --column born --column sex --column place --column-hierarchy place prefix:1"
RECODING = {
    "": f"sets.csv -k 5 -m 2 {TREE}",
    "all": f"sets.csv -k 3 -m all {TREE}",
    "paper": "sets.csv -k 5 -m 2 --hierarchy balanced:3 --variant paper",
    "one-search": "sets.dat -k 8 -m 3 --hierarchy balanced:4 --restarts 0",
    "bags": f"bags.csv -k 4 -m 2 {TREE} --sets",
    "blocks": f"sets.csv -k 5 -m 2 {TREE} --engine blocks",
}

PUBLISHED = {
    "partition": f"sets.csv -k 4 {TREE} --alignment alignment.csv",
    "partition balanced": "sets.dat -k 10 --hierarchy balanced:5",
    "partition km": "sets.csv -k 4 -m 2 --hierarchy balanced:3 --method partition",
    "partition bags": f"bags.csv --promise vocabulary-k-anonymity -k 3 {TREE}",
    "partition unknown root": f"more.csv -k 4 {TREE} --unknown root",
    "partition unknown drop": f"more.csv -k 4 {TREE} --unknown drop",
    "partition min people": "sets.csv -k 4 --hierarchy balanced:4 --min-people 20",
    "partition public items": "sets.csv -k 30 --hierarchy balanced:4 --public-items",
    "partition odd": "odd.csv -k 3 --hierarchy balanced:2 --keep-unique",
    "partition parquet": f"sets.csv -k 4 {TREE} --format parquet",
    "partition fimi": "sets.csv -k 4 --hierarchy balanced:3 --format fimi",
    "partition dat": "sets.dat -k 4 --hierarchy balanced:3 --format dat",
    "partition tuned": f"sets.csv -k 4 -m 2 {TREE} --tune counts",
    "partition blocks": f"sets.csv -k 4 {TREE} --engine blocks",
    "partition blocks km": "sets.dat -k 4 -m 2 --hierarchy balanced:3 --method partition --engine blocks",
    "partition blocks odd": "odd.csv -k 3 --hierarchy balanced:2 --keep-unique --engine blocks",
    "partition blocks parts": "medium.dat -k 5 --hierarchy balanced:5 --engine blocks --memory 600MB",
    "partition spark": f"sets.csv -k 4 {TREE} --engine spark",
    "partition refused": f"sets.csv -k 999 {TREE}",
    "disassociation": "sets.csv -k 4 -m 2 --alignment alignment.csv",
    "disassociation numbers": "sets.dat -k 5 -m 2",
    "disassociation three": "sets.csv -k 3 -m 3",
    "disassociation all": "sets.csv -k 2 -m all --method disassociation",
    "disassociation safe": "sets.csv -k 3 -m 2 --arrangement safe",
    "disassociation cluster": "sets.csv -k 3 -m 2 --arrangement 10",
    "disassociation paper": "sets.csv -k 3 -m 2 --arrangement paper",
    "disassociation unrefined": "sets.csv -k 3 -m 2 --arrangement 12 --no-refine",
    "disassociation share lost": "sets.csv -k 5 -m 2 --arrangement 12 --share-lost",
    "disassociation subrecord": "sets.csv -k 4 -m 2 --max-subrecord 2",
    "disassociation parts": "sets.csv -k 4 -m 2 --max-part 90",
    "disassociation diverse": "sets.csv -k 3 -m 2 -l 3 --sensitive pear",
    "disassociation diverse two": "sets.csv -k 4 -m 2 -l 2 --sensitive fig --sensitive 'p*'",
    "disassociation min people": "sets.csv -k 4 -m 2 --min-people 6",
    "disassociation odd": "odd.csv -k 3 -m 2 --keep-unique",
    "disassociation parquet": "sets.csv -k 4 -m 2 --format parquet",
    "disassociation heads": "heads.dat -k 4 -m 2",
    "disassociation heads cluster": "heads.dat -k 3 -m 2 --arrangement 17",
    "disassociation heads safe": "heads.dat -k 4 -m 2 --arrangement safe",
    "disassociation heads lost": "heads.dat -k 4 -m 2 --share-lost",
    "disassociation blocks": "sets.csv -k 4 -m 2 --max-part 90 --engine blocks",
    "disassociation blocks whole": "sets.dat -k 5 -m 2 --engine blocks",
    "disassociation blocks odd": "odd.csv -k 3 -m 2 --max-part 40 --keep-unique --engine blocks",
    "disassociation blocks min people": "sets.csv -k 4 -m 2 --max-part 90 --min-people 6 --engine blocks",
    "disassociation spark": "sets.csv -k 4 -m 2 --max-part 90 --engine spark",
    "disassociation refused": "sets.csv -k 3 -m 2 --arrangement 2",
    "suppression": f"sets.csv {COHERENT} --alignment alignment.csv",
    "suppression km": "sets.csv -k 4 -m 2 --method suppression",
    "suppression most removed": f"sets.csv {COHERENT} --score mm",
    "suppression least lost": f"sets.csv {COHERENT} --score 1/il --no-restore",
    "suppression all": f"sets.csv {COHERENT} --score rmall",
    "suppression searched": f"sets.csv {COHERENT} --search",
    "suppression weights": f"sets.csv {COHERENT} --weights items --min-support 0.05",
    "suppression min people": f"sets.csv {COHERENT} --min-people 4",
    "suppression explained": f"sets.csv {COHERENT} --explain",
    "suppression odd": "odd.csv -k 3 -p 1 --h 1 --keep-unique",
    "suppression blocks": f"sets.csv {COHERENT} --engine blocks",
    "groups": f"{PEOPLE} -k 4 -m 2",
    "groups all": f"{PEOPLE} -k 3 -m all --columns-matter 0.9",
    "groups smallest": f"{PEOPLE} -k 4 -m 2 --columns-matter 1 --within suppression",
    "groups partition": f"{PEOPLE} -k 4 -m 2 --within partition {TREE}",
    "groups blocks": f"{PEOPLE} -k 4 -m 2 --columns-matter 0.9 --engine blocks",
    "groups apriori": f"{PEOPLE} -k 4 -m 2 --within apriori --columns-matter 0.2 {TREE}",
    **{
        f"{method} {name}".strip(): f"{options} --method {method}"
        for method in ("apriori", "hghs", "mhghs")
        for name, options in RECODING.items()
    },
    "mhghs unknown drop": f"more.csv --method mhghs -k 3 -m 1 {TREE} --unknown drop",
    "mhghs odd": "odd.csv --method mhghs -k 3 -m 2 --hierarchy balanced:2 --keep-unique",
    "mhghs spark": f"sets.csv --method mhghs -k 5 -m 2 {TREE} --engine spark",
    "ssc": f"{SSC} --alignment alignment.csv",
    "ssc slots": f"{SSC} --typical slots",
    "ssc generalized": f"{SSC} --typical generalized",
    "ssc mixed": f"{SSC} --typical mixed --exchanges 2",
    "ssc sets": "sets.csv --method ssc -k 4 --semantics balanced:3 --min-people 5",
    "ssc paper": f"{SSC} --variant paper",
    "ssc paper first": f"{SSC} --variant paper --seed-rule first --model maximum",
    "ssc paper near": f"{SSC} --variant paper --term-epsilon 2 --omega 5",
    "frequent": "sets.csv --epsilon 4 --public-items",
    "frequent delta": "sets.csv --epsilon 6 --delta 0.01",
    "frequent cut": "sets.csv --epsilon 8 --public-items --max-items 3 --max-paired 2 --paired 8",
    "frequent tree": f"sets.csv --method frequent --epsilon 8 {TREE}",
    "diffpart": f"sets.csv --method diffpart --epsilon 8 {TREE}",
    "diffpart steps": "sets.csv --method diffpart --epsilon 20 --hierarchy balanced:12 --max-fanout 4 --public-items",
    "diffpart parquet": f"sets.csv --method diffpart --epsilon 8 {TREE} --format parquet",
}
"""How each release is made; `--seed` is added unless noise is drawn."""
MORE = {
    "partition": ["measure release --original sets.csv --alignment alignment.csv --seed 6"],
    "disassociation": [
        "measure release --original sets.csv --reconstructions 3 --seed 6",
        "reconstruct release -o worlds -n 2 --seed 6",
        "verify release -k 5 -m 3 --max-witnesses 3",
    ],
    "disassociation parts": ["verify release --original sets.csv --engine blocks"],
    "suppression": ["apply release next.csv -o applied --seed 6 --unknown drop --suppress"],
    "mhghs": [
        "apply release next.csv -o applied --seed 6 --unknown drop --suppress",
        f"anonymize sets.csv -o other -k 4 {TREE} --seed 6",
        "attack release --original sets.csv --other other --seed 6 --trials 200",
    ],
    "partition blocks": ["verify release --original sets.csv --engine blocks"],
}
"""Further commands after some of them."""
ATTACKED = (
    *("partition", "partition bags", "disassociation", "disassociation safe", "suppression"),
    *("apriori", "ssc", "ssc slots", "frequent"),
)
RULED = (
    *("partition", "partition bags", "partition parquet", "disassociation", "disassociation safe"),
    *("disassociation diverse", "disassociation heads", "suppression", "groups", "apriori"),
    *("mhghs bags", "ssc", "ssc slots", "frequent", "diffpart"),
)
"""Cases that print rules: they take most of the time of a case, and differ by the form."""
SEEDED = (
    *("partition", "partition blocks", "disassociation", "disassociation blocks"),
    *("disassociation safe", "disassociation heads", "suppression", "mhghs", "ssc", "frequent"),
    "diffpart",
)
"""Cases that are also run with another seed."""

COMMANDS = {
    **{
        f"inspect {name}": [f"inspect {name} {more}"]
        for name, more in {
            "sets.csv": "-k 4",
            "sets.dat": "",
            "sets.dat.gz": "",
            "sets.tsv": "",
            "sets.jsonl": "",
            "sets.baskets": "--input-format baskets",
            "onehot.csv": "",
            "bags.csv": "",
            "odd.csv": "--keep-unique",
            "visits.csv": "",
        }.items()
    },
    "inspect blocks": ["inspect sets.csv --engine blocks", "inspect sets.dat --engine blocks"],
    "visits": [
        "anonymize visits.csv -o release -k 4 -m 2 --seed 1",
        "anonymize visits.csv -o fewer -k 4 -m 2 --min-people 4 --seed 1",
        f"anonymize visits.csv -o general -k 4 {TREE} --seed 1",
    ],
    "verify files": [
        "verify sets.csv -k 2 -m 2 --max-witnesses 2",
        "verify sets.csv -k 2",
        f"verify sets.csv {COHERENT}",
        "verify bags.csv -k 2 --promise vocabulary-k-anonymity",
        "verify sets.csv -k 2 -m 1 --sets --engine blocks",
    ],
    "large numbers": ["hierarchy build huge.dat balanced:5:frequency -o built.csv"],
    "advise": ["advise sets.csv --hierarchy tree.csv -k 4 --seed 3"],
    "compare": [
        "compare sets.csv -o compared --methods partition,disassociation,mhghs -k 3,5 -m 2 "
        "--hierarchy tree.csv --seed 3 --workers 1",
    ],
    "job": [
        "anonymize sets.csv -o release -k 4 -m 2 --seed 2 --save-job job.toml",
        "run job.toml -o again",
    ],
    "generate": [
        *(
            f"generate quest -o quest.{name} --records 200 --items 50 --seed 4"
            for name in ("dat", "csv", "tsv", "jsonl", "arff", "parquet")
        ),
        "generate shop -o shop.csv --records 200 --products 60 --hierarchy shop.tree.csv --seed 4",
        "generate querylog -o log.tsv --users 60 --queries 5 --topics catalogue --seed 4",
        "querylog log.tsv -o words.csv --wordnet none --seed 4",
        "querylog log.tsv -o queries.csv --wordnet none --terms queries --gap 30m --seed 4",
        "inspect quest.arff",
        "inspect quest.parquet",
        "inspect shop.csv",
        "hierarchy build shop.csv balanced:4 -o built.csv",
    ],
}
LARGE = {
    "large partition": "large.dat -k 2 --hierarchy balanced:3",
    "large disassociation": "large.dat -k 4 -m 2",
    "large disassociation blocks": "large.dat -k 4 -m 2 --max-part 60000 --engine blocks",
}
"""Enough records and items for the loops that only large data needs, and for several processes."""


def cases() -> dict[str, list[str]]:
    """The commands of each case, by its name."""
    found = {name: _publishing(name, 1) for name in PUBLISHED}
    found |= {f"{name} other seed": _publishing(name, 2) for name in SEEDED}
    for name, options in LARGE.items():
        data = options.split()[0]
        found[name] = [
            f"anonymize {options} -o release --seed 1",
            f"verify release --original {data}",
        ]
    return found | COMMANDS


def _publishing(name: str, seed: int) -> list[str]:
    options = PUBLISHED[name]
    beside = re.findall(r"--column \S+|--column-hierarchy \S+ \S+", options)
    data = " ".join([options.split()[0], *beside])
    seeded = "" if _draws_noise(name) else f" --seed {seed}"
    made = f"anonymize {options} -o release{seeded}"
    if name.endswith("refused"):
        return [made]
    if needs_spark(name):
        return [made, AFTER[0].format(data=data)]
    after = [each.format(data=data) for each in AFTER]
    rules = ["rules release --top 10"] * (name in RULED and seed == 1)
    attack = [f"attack release --original {data} --seed 5 --trials 200"] * (name in ATTACKED)
    return [made, *after, *rules, *attack, *MORE.get(name, ())]


def _draws_noise(name: str) -> bool:
    return name.split()[0] in ("frequent", "diffpart")


def needs_spark(name: str) -> bool:
    """Whether a case runs on Spark."""
    return "spark" in name.split()


def hashes_of(name: str, place: Path) -> dict[str, str]:
    """The hash of each part of a case, which is run in an empty folder."""
    return {part: hashlib.sha256(text).hexdigest()[:16] for part, text in run(name, place).items()}


def run(name: str, place: Path) -> dict[str, bytes]:
    """The normal form of all that the commands of a case print and write."""
    commands, found = cases()[name], dict[str, bytes]()
    given = {each for command in commands for each in shlex.split(command) if each in DATA}
    for each in {"tree.csv", *given}:
        (place / each).write_bytes(data(each))
    with chdir(place), _replayed(name), mock.patch(f"{_TRIED}._if_compiled", _always):
        for number, command in enumerate(commands, 1):
            verb, *_ = words = shlex.split(command)
            found[f"{number} {verb}"] = _answered(words)
    for path in sorted(place.rglob("*")):
        part = path.relative_to(place).as_posix()
        if path.is_file() and part not in DATA and not part.startswith("compared/"):
            found[part] = _normal_file(path)
    return found


def _always(work: Callable[[], Any]) -> list[Any]:
    """Try other ways also where their kernels are not compiled yet: the answer is then the same."""
    return [work()]


def _answered(words: list[str]) -> bytes:
    """The exit code of a command, and what it prints."""
    if words[0] not in ("generate", "hierarchy"):
        words = [*words, "--json"]
    out, err = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = answer(words)
    printed = out.getvalue()
    if "--json" in words and printed:
        printed = _normal_json(json.loads(printed))
    return f"exit code {code}\n{printed}\n{err.getvalue()}".encode()


def _normal_file(path: Path) -> bytes:
    if path.suffix == ".json":
        return _normal_json(json.loads(path.read_text(encoding="utf-8"))).encode()
    if path.suffix == ".parquet":
        import duckdb  # not above: what is imported while tests are collected is never freed

        with duckdb.connect() as base:
            rows = base.read_parquet(str(path)).fetchall()
        return "\n".join(map(repr, rows)).encode()
    return path.read_bytes()


def _normal_json(value: Any) -> str:
    return json.dumps(_normal(value), indent=1, sort_keys=True, ensure_ascii=False)


def _normal(value: Any) -> Any:
    if isinstance(value, dict):
        kept = {key: each for key, each in value.items() if key not in RANDOM}
        return {
            key: "" if key.endswith(".parquet") else _normal(each) for key, each in kept.items()
        }
    if isinstance(value, list):
        return [_normal(each) for each in value]
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


@contextmanager
def _replayed(name: str) -> Iterator[None]:
    """Draw the same noise each time, if a case draws any. Noise takes no seed, so this replaces it;
    nothing is random in other cases but what follows from their seeds."""
    if not _draws_noise(name):
        yield
        return
    fixed, noise = np.random.default_rng, _Noise(Random(name))
    with ExitStack() as stack:
        for verb in ("laplace", "passing", "keys", "below"):
            drawn = mock.patch(f"setveil.methods.noise.SystemNoise.{verb}", getattr(noise, verb))
            stack.enter_context(drawn)
        always = mock.patch.object(
            np.random, "default_rng", lambda seed=None: fixed(len(name) if seed is None else seed)
        )
        stack.enter_context(always)
        yield


class _Noise:
    """Numbers of about the right size, by whole numbers alone: the same on every machine."""

    def __init__(self, chance: Random) -> None:
        self.chance = chance

    def laplace(self, counts: np.ndarray, scale: float) -> np.ndarray:
        drawn = [self.chance.randrange(-1000, 1001) for _ in counts]
        return np.array([int(scale * each / 1000) for each in drawn], dtype=np.int64) + counts

    def passing(self, zeros: int, threshold: int, scale: float) -> list[int]:
        number = min(zeros, self.chance.randrange(3))
        return [threshold + self.chance.randrange(3) for _ in range(number)]

    def keys(self, size: int) -> np.ndarray:
        return np.array([self.chance.getrandbits(64) for _ in range(size)], dtype=np.uint64)

    def below(self, number: int) -> int:
        return self.chance.randrange(number)


GROUPS = {
    "fruit": "apple pear plum fig kiwi lime",
    "drinks": "beer wine tea milk juice cola cider mead",
    "bakery": "bread roll cake bun bagel",
    "pharmacy": "pill plaster patch pipette",
    "home": "soap lamp rope nail paint glue",
}
ITEMS = [item for names in GROUPS.values() for item in names.split()]
ODD = ["é", "e\u0301", "a,b", 'say "hi"', "x;y", "a b", "🍎", "0", "007", "null", "Z" * 40, "\\n"]


@cache
def data(name: str) -> bytes:
    """The content of a file of data."""
    made = DATA[name]()
    return made if isinstance(made, bytes) else made.encode()


def _baskets(seed: int, size: int, items: int, length: int) -> list[list[int]]:
    """Sets of whole numbers below `items`; small ones are frequent, and neighbours meet often.
    Each twentieth or so has one item, so that some records are equal."""
    chance, found = Random(seed), []
    for _ in range(size):
        many = 1 + chance.randrange(2 * length - 1) if chance.randrange(20) else 1
        held = set[int]()
        while len(held) < many:
            first = chance.randrange(1 + chance.randrange(1 + chance.randrange(items)))
            held |= {first, (first ^ 1) % items} if chance.randrange(3) else {first}
        found.append(sorted(held))
    return found


def _named(seed: int = 1, size: int = 300) -> list[list[str]]:
    return [[ITEMS[at] for at in each] for each in _baskets(seed, size, len(ITEMS), 4)]


def _numbered(*how: int) -> str:
    return "".join(" ".join(map(str, each)) + "\n" for each in _baskets(*how))


def _long(records: list[list[str]], mark: str = ",") -> str:
    rows = (f"r{at}{mark}{item}\n" for at, each in enumerate(records) for item in each)
    return f"record{mark}item\n" + "".join(rows)


def _people() -> str:
    chance, rows = Random(7), ["patient,born,sex,place,items\n"]
    for at, each in enumerate(_named(7, 150)):
        year = 1930 + chance.randrange(60) if chance.randrange(30) else ""
        place = f"{1 + chance.randrange(3)}{chance.randrange(4)}"
        rows.append(f"p{at},{year},{chance.choice('FM')},{place},{'|'.join(each)}\n")
    return "".join(rows)


def _bags() -> str:
    chance = Random(3)
    rows = (
        f"r{at},{item},{1 + chance.randrange(1 + chance.randrange(4))}\n"
        for at, each in enumerate(_named(3, 120))
        for item in each
    )
    return "record,item,count\n" + "".join(rows)


def _odd() -> str:
    chance = Random(4)
    rows = ["record,item\n"]
    for at in range(120):
        held = [each for place, each in enumerate(ODD) if chance.randrange(place + 3) < 2]
        quoted = (each.replace('"', '""') for each in held or [""])
        rows += [f'r{at},"{each}"\n' if each else f"r{at},\n" for each in quoted]
    return "".join(rows)


def _onehot() -> str:
    rows = (",".join("1" if item in each else "0" for item in ITEMS) for each in _named())
    return "\n".join([",".join(ITEMS), *rows, ""])


def _visits() -> str:
    """Two or three records of each person."""
    rows = (
        f"v{at},{item},p{at * 2 // 5}\n" for at, each in enumerate(_named(5, 250)) for item in each
    )
    return "record,item,person\n" + "".join(rows)


DATA: Mapping[str, Any] = {
    "tree.csv": lambda: "".join(
        f"{item};{group};{'food' if group in ('fruit', 'drinks', 'bakery') else 'goods'};all\n"
        for group, names in GROUPS.items()
        for item in names.split()
    ),
    "sets.csv": lambda: _long(_named()),
    "next.csv": lambda: _long(_named(2, 280)),
    "more.csv": lambda: _long(_named()) + "r1,unheard\nr2,unheard\nr3,unheard\nr4,unheard\n",
    "sets.tsv": lambda: _long(_named(), "\t"),
    "sets.dat": lambda: _numbered(1, 300, 60, 4),
    "sets.dat.gz": lambda: gzip.compress(data("sets.dat")),
    "sets.jsonl": lambda: "".join(json.dumps({"items": each}) + "\n" for each in _named()),
    "sets.baskets": lambda: "".join(",".join(each) + "\n" for each in _named()),
    "onehot.csv": _onehot,
    "bags.csv": _bags,
    "people.csv": _people,
    "odd.csv": _odd,
    "visits.csv": _visits,
    "heads.dat": lambda: _numbered(6, 1_500, 150, 6),
    "medium.dat": lambda: _numbered(7, 25_000, 400, 3),
    "large.dat": lambda: _numbered(8, 210_000, 3_000, 10),
    "huge.dat": lambda: 3 * data("large.dat"),
}
"""How each file of data is made: by whole numbers from Python, so it never changes."""


def main() -> None:
    """Renew the table, or write the normal forms of some cases."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance.golden")
    parser.add_argument("cases", nargs="*", help="all, if none is named")
    parser.add_argument("--keep", type=Path, help="write the normal forms here instead")
    chosen = parser.parse_args()
    table = json.loads(TABLE.read_text(encoding="utf-8")) if TABLE.exists() else {}
    with ExitStack() as stack:
        for name in sorted(chosen.cases or cases(), key=needs_spark):
            place = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            if needs_spark(name):  # one session for all of them
                work = Path(stack.enter_context(tempfile.TemporaryDirectory()))
                stack.enter_context(session("local[2]", work))
            if chosen.keep:
                _keep(run(name, place), chosen.keep / name.replace(" ", "-"))
            else:
                table[name] = hashes_of(name, place)
    if not chosen.keep:
        kept = {name: table[name] for name in cases()}
        TABLE.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def _keep(found: Mapping[str, bytes], place: Path) -> None:
    for part, text in found.items():
        target = place / part
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text)


if __name__ == "__main__":
    main()
