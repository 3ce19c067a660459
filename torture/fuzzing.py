"""Damaged files of every other kind: hierarchies, releases, query logs, lists and job files."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path

from setveil.data.logterms import as_written
from setveil.data.transactions import Bags
from setveil.hierarchy.files import read_hierarchy
from setveil.hierarchy.tree import Hierarchy
from setveil.io import read_release, write
from setveil.io.namelists import read_items
from setveil.io.querylog.read import read_querylog
from setveil.io.querylog.tables import LogColumns, load_log
from setveil.io.source.database import database, translated
from setveil.io.source.source import open_source
from setveil.methods import SSC, Disassociation, Suppression
from setveil.pipeline import Job
from setveil.pipeline.jobfile import job_text
from setveil.promises import Coherence, KAnonymity, KmAnonymity, LDiversity, VocabularyKAnonymity
from setveil.published.disassociated.clusters import SimpleCluster
from setveil.published.disassociated.form import Disassociated
from setveil.published.generalized import Generalized
from setveil.published.release import Release
from setveil.published.suppressed import Suppressed
from setveil.published.typical_bags import TypicalBags
from tests.oracle import querylog, readers
from torture.campaign import Dice
from torture.mutation import BYTES, TEXT, mutated
from torture.texts import PLAIN
from torture.trying import Trial, written

_ITEMS = ("wine", "beer", "red wine", "7", "007", "caf\u00e9", "a,b", 'a"b', "x;y", "t\tu", "NULL")
_QUERIES = ("red wine", "beer", "caf\u00e9 -", "a.b")


def hierarchy(rng: Dice, folder: Path) -> Trial:
    """A hierarchy file with paths, pairs or levels; the plain reader knows paths."""
    paths = [(item, f"G{rng.randint(1, 3)}", "ALL") for item in rng.sample(PLAIN, 5)]
    layout = rng.choice(("paths", "paths", "paths", "pairs", "levels"))
    if layout == "levels":
        rows = [("item", "group", "all"), *paths]
    elif layout == "pairs":
        edges = {pair for path in paths for pair in zip(path, path[1:], strict=False)}
        rows = [("child", "parent"), *sorted(edges)]
    else:
        rows = [tuple(f'"{label}"' for label in path) for path in paths]
    content = mutated(rng, "\n".join(map(";".join, rows)).encode(), TEXT)
    path = written(folder / "tree.csv", content)
    command = ["hierarchy", "show", path]
    if layout != "paths":
        return Trial(path, lambda: read_hierarchy(path), command)

    def parents() -> object:
        tree = read_hierarchy(path, layout="paths", delimiter=";")
        above = (tree.labels[node] if node >= 0 else "" for node in tree.parent.tolist())
        return dict(zip(tree.labels, above, strict=True))

    return Trial(path, parents, command, lambda: readers.hierarchy_paths(content))


def release(rng: Dice, folder: Path) -> Trial:
    """A release folder of any form; often its checksums are put right again."""
    place, files = folder / "release", dict(_written(folder / "made")[rng.choice(_RELEASE_FORMATS)])
    name = rng.choice(sorted(files))
    files[name] = mutated(rng, files[name], BYTES if name.endswith(".parquet") else TEXT)
    if name != "release.json" and rng.random() < 0.9:
        _correct(files)
    place.mkdir(exist_ok=True)
    for old in place.iterdir():
        old.unlink()
    for each, content in files.items():
        (place / each).write_bytes(content)
    return Trial(place, lambda: read_release(place), ["verify", place])


def query_log(rng: Dice, folder: Path) -> Trial:
    """A query log with tabs or commas; most only as far as its rows are loaded, with a judge."""
    mark = rng.choice("\t\t\t,;")
    rows = [querylog.HEADER.split("\t")]
    for _ in range(rng.randint(1, 8)):
        day = f"2006-03-0{rng.randint(1, 9)} 07:17:12"
        rows.append([str(rng.randint(1, 3)), rng.choice(_QUERIES), day, "", ""])
    way = rng.random()
    if way < 0.1 and mark == "\t":  # found by content
        rows = rows[1:]
    content = mutated(rng, "\n".join(map(mark.join, rows)).encode(), TEXT)
    path = written(folder / "log.txt", content)
    output = folder / "terms.csv"
    command = ["querylog", path, "-o", output, "--force", "--wordnet", "none"]
    if way < 0.05:
        gap = rng.choice((None, "30m"))
        return Trial(path, lambda: read_querylog(path, gap=gap, lemma=as_written), command)
    columns = LogColumns("AnonID", "Query", "QueryTime", time_format="iso")
    columns = LogColumns() if way < 0.1 else columns
    seen = Counter[tuple[str, str]]()

    def load() -> object:
        with (
            open_source(path) as source,
            database(source.work, small=True) as connection,
            translated(source.name),
        ):
            load_log(connection, source, columns)
            good = "SELECT user, text FROM log WHERE fault IS NULL"
            seen.update(connection.execute(good).fetchall())
            return seen

    def known() -> object:
        sure, perhaps = querylog.rows(content, mark)
        extra = seen - sure
        return sure + extra if not extra - perhaps else sure

    return Trial(path, load, command, known if way >= 0.1 else None)


def item_list(rng: Dice, folder: Path) -> Trial:
    """A list of private or public items."""
    content = mutated(rng, "\n".join(rng.choices(_ITEMS, k=5)).encode(), TEXT)
    path = written(folder / "items.txt", content)
    log = written(folder / "log.tsv", b"1\tred wine\t2006-03-01 07:17:12\n")
    words = ["--stop-words", path, "--wordnet", "none", "--keep-empty"]
    command = ["querylog", log, "-o", folder / "terms.csv", "--force", *words]
    return Trial(path, lambda: read_items(path), command, lambda: readers.item_list(content))


def job(rng: Dice, folder: Path) -> Trial:
    """A job file; one that is accepted is written and read again."""
    content = mutated(rng, _job_text(rng.randrange(len(_JOBS)), folder).encode(), TEXT)
    path, again = written(folder / "job.toml", content), folder / "again.toml"

    def known() -> object:
        Job.read(path).write(again, force=True)
        return Job.read(again)

    return Trial(path, lambda: replace(Job.read(path), reason=""), ["run", path], known)


@cache
def _job_text(number: int, folder: Path) -> str:
    return job_text(_JOBS[number], folder)


@cache
def _written(folder: Path) -> dict[tuple[str, str], dict[str, bytes]]:
    """The files of a release of each form and format."""
    made = {}
    for name, format in dict.fromkeys(_RELEASE_FORMATS):
        place = folder / f"{name}-{format}"
        folder.mkdir(exist_ok=True)
        write(_releases()[name], place, format=format)
        made[name, format] = {each.name: each.read_bytes() for each in place.iterdir()}
    return made


def _releases() -> dict[str, Release]:
    tree = Hierarchy.from_paths(
        [("beer", "Drink", "ALL"), ("wine", "Drink", "ALL"), ("milk", "ALL")]
    )
    records = [["Drink"], ["Drink"], ["milk"], ["milk"], [], []]
    bags = [["Drink", "Drink"]] * 2 + [["milk"]] * 2
    vague, one = VocabularyKAnonymity(k=2), Bags.of([["1"], ["1"]])
    cluster = SimpleCluster(2, [{("beer",): 2}], ["milk"])
    return {
        "generalized": Generalized.of(records, tree, KAnonymity(k=2)),
        "bags": Generalized.of(bags, tree, KAnonymity(k=2), counted=True),
        "suppressed": Suppressed.of(records, Coherence(h=1, k=2, p=1)),
        "typical-bags": TypicalBags.of(bags, vague),
        "slots": TypicalBags.of_rows(one, vague, {}, slots=Bags.of([["beer", "wine"]])),
        "disassociated": Disassociated.of_clusters([cluster], KmAnonymity(k=2, m=2)),
    }


_JOBS = (
    Job(
        data="baskets.csv",
        promise=Coherence(h=0.5, k=2, p=2, private=frozenset({"a*", "caf\u00e9"})),
        method=Suppression(weights={"wine": 2.0, "x y": 1.0}, min_support=0.25),
        items={"private": ("dx:*", "under:Drink")},
        reading={"format": "csv", "record": "customer", "item": "product", "bags": False},
        output="release",
        explain=True,
    ),
    Job(
        data="-",
        promise=KmAnonymity(k=3, m=2, diversity=LDiversity(l=2, sensitive=frozenset({"HIV"}))),
        method=Disassociation(arrangement=30, refine=False),
        output="release",
        alignment="private.csv",
        seed=7,
        min_people=5,
        threads=1,
    ),
    Job(
        data="bags.dat.gz",
        promise=VocabularyKAnonymity(k=5),
        method=SSC(variant="paper", term_epsilon=3, omega=8.5),
        hierarchy="tree.csv",
        layout="pairs",
        format="parquet",
        public_items=True,
    ),
)

_RELEASE_FORMATS = [
    *[(name, format) for name in ("generalized", "bags") for format in ("csv", "dat", "parquet")],
    *[(name, "csv") for name in ("suppressed", "typical-bags", "slots")],
    *[("disassociated", format) for format in ("jsonl", "jsonl", "parquet")],
]


def _correct(files: dict[str, bytes]) -> None:
    """Put the checksums of a release right."""
    about = json.loads(files["release.json"])
    for name in about["files"]:
        about["files"][name] = hashlib.sha256(files[name]).hexdigest()
    files["release.json"] = json.dumps(about).encode()
