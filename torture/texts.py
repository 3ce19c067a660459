"""Damaged text files for every reader of data, each with a plain reader that judges it."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

from setveil.data.transactions import Bags
from setveil.io import read
from tests.oracle import arff, readers, tables
from torture.campaign import Dice
from torture.mutation import TEXT, mutated
from torture.trying import Trial, as_known, contents, known_by, written

PLAIN = ("wine", "beer", "7", "007", "caf\u00e9", "a;b", "10", "1e3")
"""Items without blanks."""
_ITEMS = ("wine", "beer", "red wine", "caf\u00e9", "x-ray", "milk")
_WORDS = (("1", "0"), ("true", "false"), ("yes", "no"))
_KINDS = ("{t}", "{f,t}", "{0, 1}", "{red, 'dark blue', green}", "{S,M}", "numeric", "string")


def reads(path: Path, **options: object) -> Trial:
    """A trial without a judge: the library and the command line read the file alike."""
    words: list[object] = []
    for name, value in options.items():
        option = {"format": "input-format"}.get(name, name).replace("_", "-")
        if name == "bags":
            words.append("--bags" if value else "--sets")
        elif value is True:
            words += ["--header", 1] if name == "header" else [f"--{option}"]
        elif value is not None:
            words += [f"--{option}", value]
    command = ["hierarchy", "build", path, "balanced:2", "-o", path.parent / "built.csv", "--force"]
    return Trial(path, lambda: contents(read(path, **options)), [*command, *words])  # type: ignore[arg-type]


def judged(trial: Trial, known: object) -> Trial:
    return Trial(trial.place, trial.read, trial.command, known)  # type: ignore[arg-type]


def records(rng: Dice, items: tuple[str, ...] = PLAIN, least: int = 0) -> list[list[str]]:
    return [rng.choices(items, k=rng.randint(least, 4)) for _ in range(rng.randint(1, 8))]


def fimi(rng: Dice, folder: Path) -> Trial:
    """A FIMI file. Unless the format is given, one with delimiters may also be a table."""
    content = mutated(rng, "\n".join(map(" ".join, records(rng))).encode(), TEXT)
    bags, kind = rng.random() < 0.5, rng.choice((None, "fimi"))
    path = written(folder / "a.dat", content)
    trial = reads(path, bags=bags, format=kind, encoding="utf-8")
    is_clear = kind is not None or not set(content) & set(b",;|\t")
    return judged(trial, known_by(readers.fimi, content, bags)) if is_clear else trial


def csv_table(rng: Dice, folder: Path) -> Trial:
    """A long table with commas, semicolons or bars."""
    return _long(rng, folder / "a.csv", rng.choice(",;|"), ",;|\t")


def tsv_table(rng: Dice, folder: Path) -> Trial:
    """A long table with tabs."""
    return _long(rng, folder / "a.tsv", "\t", "\t")


def baskets(rng: Dice, folder: Path) -> Trial:
    """Baskets."""
    text, mark = io.StringIO(), rng.choice(",,;|")
    csv.writer(text, delimiter=mark, lineterminator="\n").writerows(records(rng, least=1))
    content = mutated(rng, text.getvalue().encode(), TEXT)
    bags = rng.random() < 0.5
    path = written(folder / "a.baskets", content)
    trial = reads(path, bags=bags, encoding="utf-8")
    return judged(trial, known_by(readers.baskets, content, bags))


def jsonl(rng: Dice, folder: Path) -> Trial:
    """JSON lines of every shape; the plain reader knows those with lists and counts."""
    if rng.random() < 0.2:
        rows = ((rng.randint(1, 3), rng.choice(PLAIN)) for _ in range(rng.randint(1, 8)))
        lines = [json.dumps({"record": record, "item": item}) for record, item in rows]
        path = written(folder / "a.jsonl", mutated(rng, "\n".join(lines).encode(), TEXT))
        return reads(path)
    counted = rng.random() < 0.3
    held = ({each: record.count(each) for each in record} if counted else record
            for record in records(rng))  # fmt: skip
    lines = [json.dumps({"items": each}, ensure_ascii=rng.random() < 0.5) for each in held]
    content = mutated(rng, "\n".join(lines).encode(), TEXT)
    path = written(folder / "a.jsonl", content)
    trial = reads(path, item="items", encoding="utf-8")

    def known() -> object:
        is_counted, found = readers.json_lists(content)
        return as_known(found, is_counted)

    return judged(trial, known)


def set_column(rng: Dice, folder: Path) -> Trial:
    """A table with one row per person and a column of items, as `a|b` or `['a', 'b']`."""
    mark, split = rng.choice(",;"), rng.choice(("|", "list"))
    rows = [mark.join(("id", "age", "products"))]
    for number, record in enumerate(_sets(rng)):
        cell = str(record) if split == "list" else "|".join(record)
        rows.append(mark.join((str(number), str(20 + number), f'"{cell}"')))
    content = mutated(rng, "\n".join(rows).encode(), TEXT)
    path = written(folder / "a.csv", content)
    options = {"record": "id", "item": "products", "split": split, "header": True}
    trial = reads(path, format="csv", encoding="utf-8", **options)
    return judged(trial, known_by(lambda given: tables.set_column(given, split), content))


def one_hot(rng: Dice, folder: Path) -> Trial:
    """A table with one row per person and one column per item."""
    mark, (yes, no) = rng.choice(",;\t"), rng.choice(_WORDS)
    rows = [mark.join(("id", *_ITEMS))]
    for number, record in enumerate(_sets(rng)):
        rows.append(mark.join((f"p{number}", *(yes if item in record else no for item in _ITEMS))))
    content = mutated(rng, "\n".join(rows).encode(), TEXT)
    path = written(folder / "a.csv", content)
    options = {"record": "id", "onehot": True, "header": True}
    trial = reads(path, format="csv", encoding="utf-8", **options)
    return judged(trial, known_by(tables.one_hot, content))


def arff_file(rng: Dice, folder: Path) -> Trial:
    """A relation, dense or sparse."""
    attributes = [
        (rng.choice((f"a{at}", f"'a {at}'", f'"{at},"')), rng.choice(_KINDS[: rng.choice((5, 7))]))
        for at in range(rng.randint(1, 5))
    ]
    lines = ["% made", "@relation r", *(f"@attribute {name} {kind}" for name, kind in attributes)]
    lines += ["@data", *(_arff_row(rng, [kind for _, kind in attributes]) for _ in range(6))]
    content = mutated(rng, "\n".join(lines).encode(), TEXT)
    path = written(folder / "a.arff", content)
    leave_out = rng.random() < 0.5
    trial = reads(path, onehot=True if leave_out else None, encoding="utf-8")

    def known() -> object:
        found = arff.arff(content, leave_out=leave_out)
        return as_known([dict.fromkeys(record, 1) for record in found])

    return judged(trial, known)


def _sets(rng: Dice) -> list[list[str]]:
    return [rng.sample(_ITEMS, rng.randint(1, 4)) for _ in range(rng.randint(3, 8))]


def _arff_row(rng: Dice, kinds: list[str]) -> str:
    cells = []
    for kind in kinds:
        values = kind.strip("{}").split(",") if kind[0] == "{" else ("1", "2.5", "x")
        cells.append(rng.choice((*values, "?")).strip())
    if rng.random() < 0.7:
        return ",".join(cells)
    some = sorted(rng.sample(range(len(cells)), rng.randint(0, len(cells))))
    return "{" + ", ".join(f"{at} {cells[at]}" for at in some) + "}"


def _long(rng: Dice, path: Path, mark: str, marks: str) -> Trial:
    counted = rng.random() < 0.3
    rows = ["record,item,count" if counted else rng.choice(("record,item", "item,record,when"))]
    for _ in range(rng.randint(1, 8)):
        item = rng.choice(("", *PLAIN[:5], "a;b", '"x,y"', '"a""b"', '"l\nm"'))
        record = f"r{rng.randint(1, 4)}"
        more = f",{rng.randint(1, 3)}" if counted else "" if rows[0][0] == "r" else ",2024"
        rows.append(f"{record},{item}{more}" if rows[0][0] == "r" else f"{item},{record}{more}")
    content = mutated(rng, "\n".join(rows).replace(",", mark).encode(), TEXT)
    written(path, content)
    bags = rng.choice((None, None, False))
    options = {"record": "record", "item": "item", "split": "none", "header": True}
    options |= {"format": path.suffix[1:], "encoding": "utf-8", "bags": bags}
    trial = reads(path, **options)

    def found() -> object:
        data = read(path, **options)  # type: ignore[arg-type]
        return isinstance(data, Bags), contents(data)

    def known() -> object:
        is_counted, records = readers.long_table(content, marks, counted=bags is None)
        return is_counted, as_known(records, is_counted)

    return Trial(path, found, trial.command, known)
