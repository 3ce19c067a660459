"""Damaged files for every reader: it must read them or refuse them in one clear line.

If a plain reader in `tests/oracle` follows the same rules, it must find the same data in a file
that setveil accepts.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import random
import shutil
import zlib
from dataclasses import replace
from pathlib import Path

from setveil.data.querylog.terms import as_written
from setveil.data.transactions import Bags, Transactions
from setveil.hierarchy.files import read_hierarchy
from setveil.hierarchy.tree import Hierarchy
from setveil.io import read, read_release, write
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
from tests.oracle import readers
from torture.mutation import BYTES, TEXT, cut_off, mutated
from torture.trying import contents, known_by, tried, written

_ITEMS = ("wine", "beer", "red wine", "7", "007", "caf\u00e9", "a,b", 'a"b', "x;y", "t\tu", "NULL")
_PLAIN = ("wine", "beer", "7", "007", "caf\u00e9", "a;b", "10", "1e3")


def fuzz_fimi(rng: random.Random, folder: Path) -> str | None:
    """A FIMI file."""
    lines = (" ".join(rng.choices(_PLAIN, k=rng.randint(0, 4))) for _ in range(rng.randint(1, 8)))
    content = mutated(rng, "\n".join(lines).encode(), TEXT)
    bags = rng.random() < 0.5
    path = written(folder / "a.dat", content)
    known = known_by(readers.fimi, content, bags)
    return tried(path, lambda: contents(read(path, bags=bags, encoding="utf-8")), known)


def fuzz_csv(rng: random.Random, folder: Path) -> str | None:
    """A long table with commas, semicolons or bars."""
    return _fuzz_long(rng, folder / "a.csv", rng.choice(",;|"), ",;|\t")


def fuzz_tsv(rng: random.Random, folder: Path) -> str | None:
    """A long table with tabs."""
    return _fuzz_long(rng, folder / "a.tsv", "\t", "\t")


def fuzz_baskets(rng: random.Random, folder: Path) -> str | None:
    """Baskets."""
    content = mutated(rng, _packed_as(rng, folder / "a.baskets"), TEXT)
    bags = rng.random() < 0.5
    path = written(folder / "a.baskets", content)
    known = known_by(readers.baskets, content, bags)
    return tried(path, lambda: contents(read(path, bags=bags, encoding="utf-8")), known)


def fuzz_jsonl(rng: random.Random, folder: Path) -> str | None:
    """JSON lines of every shape; the plain reader knows those with lists and counts."""
    if rng.random() < 0.3:
        rows = ((rng.randint(1, 3), rng.choice(_PLAIN)) for _ in range(rng.randint(1, 8)))
        lines = (f'{{"record": {record}, "item": "{item}"}}' for record, item in rows)
        content = mutated(rng, "\n".join(lines).encode(), TEXT)
        path = written(folder / "a.jsonl", content)
        return tried(path, lambda: contents(read(path)))
    content = mutated(rng, _packed_as(rng, folder / "a.jsonl"), TEXT)
    path = written(folder / "a.jsonl", content)

    def found() -> object:
        return contents(read(path, item="items", encoding="utf-8"))

    return tried(path, found, known_by(readers.json_lists, content, b"{" in content))


def fuzz_parquet(rng: random.Random, folder: Path) -> str | None:
    """Parquet with a list column."""
    content = mutated(rng, _packed_as(rng, folder / "a.parquet"), BYTES)
    path = written(folder / "a.parquet", content)
    return tried(path, lambda: contents(read(path)))


def fuzz_gz(rng: random.Random, folder: Path) -> str | None:
    """A gzip file: its bytes are damaged, or what it contains."""
    content = _packed_as(rng, folder / "a.dat")
    content = mutated(rng, content, TEXT) if rng.random() < 0.3 else content
    packed = mutated(rng, gzip.compress(content, mtime=0), BYTES)
    path = written(folder / "a.dat.gz", packed)

    def known() -> object:
        try:
            return known_by(readers.fimi, gzip.decompress(packed), False)()
        except (EOFError, OSError, zlib.error) as error:
            raise ValueError(str(error)) from None

    return tried(path, lambda: contents(read(path, bags=False, encoding="utf-8")), known)


def fuzz_zst(rng: random.Random, folder: Path) -> str | None:
    """A zstd file; one that was only cut off must be refused."""
    data = _data(rng)
    bags = isinstance(data, Bags)
    path = folder / "a.dat.zst"
    write(data, path, force=True)
    packed = path.read_bytes()
    if rng.random() < 0.2:
        short = cut_off(rng, packed)
        path.write_bytes(short)
        whole = contents(data) if short == packed else "nothing"
        return tried(path, lambda: contents(read(path, bags=bags)), lambda: whole)
    path.write_bytes(mutated(rng, packed, BYTES))
    return tried(path, lambda: contents(read(path, bags=bags)))


def fuzz_hierarchy(rng: random.Random, folder: Path) -> str | None:
    """A hierarchy file with paths, pairs or levels; the plain reader knows paths."""
    paths = [(item, f"G{rng.randint(1, 3)}", "ALL") for item in rng.sample(_PLAIN, 5)]
    layout = rng.choice(("paths", "paths", "pairs", "levels"))
    if layout == "levels":
        rows = [("item", "group", "all"), *paths]
    elif layout == "pairs":
        edges = {pair for path in paths for pair in zip(path, path[1:], strict=False)}
        rows = [("child", "parent"), *sorted(edges)]
    else:
        rows = [tuple(f'"{label}"' for label in path) for path in paths]
    content = mutated(rng, "\n".join(map(";".join, rows)).encode(), TEXT)
    path = written(folder / "tree.csv", content)
    if layout == "paths" and rng.random() < 0.8:

        def parents() -> object:
            tree = read_hierarchy(path, layout="paths", delimiter=";")
            above = (tree.labels[node] if node >= 0 else "" for node in tree.parent.tolist())
            return dict(zip(tree.labels, above, strict=True))

        return tried(path, parents, lambda: readers.hierarchy_paths(content))
    return tried(path, lambda: read_hierarchy(path))


def fuzz_release(rng: random.Random, folder: Path) -> str | None:
    """A release folder of any form; often its checksums are put right again."""
    name, format = rng.choice(_RELEASE_FORMATS)
    original, place = folder / f"{name}-{format}", folder / "release"
    if not original.exists():
        write(_releases()[name], original, format=format)
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(original, place)
    path = rng.choice(sorted(place.iterdir()))
    ways = BYTES if path.suffix == ".parquet" else TEXT
    path.write_bytes(mutated(rng, path.read_bytes(), ways))
    if path.name != "release.json" and rng.random() < 0.9:
        _correct(place)
    return tried(place, lambda: read_release(place))


def fuzz_querylog(rng: random.Random, folder: Path) -> str | None:
    """A query log with tabs, or a table with commas; most only as far as its rows are loaded."""
    mark = rng.choice("\t\t,;")
    has_header = mark != "\t" or rng.random() < 0.5
    rows = [("AnonID", "Query", "QueryTime", "ItemRank", "ClickURL")] if has_header else []
    for _ in range(rng.randint(1, 8)):
        user, text = str(rng.randint(1, 3)), rng.choice(("red wine", "beer", "caf\u00e9 -", "a.b"))
        rows.append((user, text, f"2006-03-0{rng.randint(1, 9)} 07:17:12", "", ""))
    content = mutated(rng, "\n".join(map(mark.join, rows)).encode(), TEXT)
    path = written(folder / "log.txt", content)
    if rng.random() < 0.2:
        gap = rng.choice((None, "30m"))
        return tried(path, lambda: read_querylog(path, gap=gap, lemma=as_written))

    def load() -> None:
        with (
            open_source(path) as source,
            database(source.work, small=True) as connection,
            translated(source.name),
        ):
            load_log(connection, source, LogColumns())

    return tried(path, load)


def fuzz_item_list(rng: random.Random, folder: Path) -> str | None:
    """A list of private or public items."""
    content = mutated(rng, "\n".join(rng.choices(_ITEMS, k=5)).encode(), TEXT)
    path = written(folder / "items.txt", content)
    return tried(path, lambda: read_items(path), lambda: readers.item_list(content))


def fuzz_job(rng: random.Random, folder: Path) -> str | None:
    """A job file; one that is accepted is written and read again."""
    content = mutated(rng, job_text(rng.choice(_JOBS), folder).encode(), TEXT)
    path, again = written(folder / "job.toml", content), folder / "again.toml"

    def known() -> object:
        Job.read(path).write(again, force=True)
        return Job.read(again)

    return tried(path, lambda: replace(Job.read(path), reason=""), known)


def _fuzz_long(rng: random.Random, path: Path, mark: str, marks: str) -> str | None:
    counted = rng.random() < 0.3
    rows = ["record,item,count" if counted else rng.choice(("record,item", "item,record,when"))]
    for _ in range(rng.randint(1, 8)):
        item = rng.choice(("", *_PLAIN[:5], "a;b", '"x,y"', '"a""b"', '"l\nm"'))
        record = f"r{rng.randint(1, 4)}"
        more = f",{rng.randint(1, 3)}" if counted else "" if rows[0][0] == "r" else ",2024"
        rows.append(f"{record},{item}{more}" if rows[0][0] == "r" else f"{item},{record}{more}")
    text = "\n".join(rows).replace(",", mark)
    content = mutated(rng, text.encode(), TEXT)
    written(path, content)
    bags = rng.choice((None, None, False))

    def found() -> object:
        wanted = {"record": "record", "item": "item", "split": "none", "encoding": "utf-8"}
        data = read(path, format=path.suffix[1:], bags=bags, **wanted)
        return isinstance(data, Bags), contents(data)

    def known() -> object:
        is_counted, records = readers.long_table(content, marks, counted=bags is None)
        return is_counted, known_by(lambda _: records, content, is_counted)()

    return tried(path, found, known)


def _data(rng: random.Random) -> Transactions:
    kind = rng.choice((Transactions, Bags))
    return kind.of([rng.choices(_PLAIN, k=rng.randint(0, 4)) for _ in range(rng.randint(1, 8))])


def _packed_as(rng: random.Random, path: Path) -> bytes:
    """The bytes of a file with random data."""
    write(_data(rng), path, force=True)
    return path.read_bytes()


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
        method=Disassociation(max_cluster=30, refine=False),
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


def _correct(place: Path) -> None:
    """Put the checksums of a release right."""
    about = json.loads((place / "release.json").read_text(encoding="utf-8"))
    for name in about["files"]:
        about["files"][name] = hashlib.sha256((place / name).read_bytes()).hexdigest()
    (place / "release.json").write_text(json.dumps(about), encoding="utf-8")
