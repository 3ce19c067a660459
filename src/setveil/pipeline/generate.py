"""Generate: synthetic data to try things on, written to files."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from setveil.data import generate
from setveil.data.transactions import Transactions
from setveil.disk import check_place, new_file
from setveil.engines.base import Progress
from setveil.errors import OutputError, ParameterError
from setveil.hierarchy.files import write_hierarchy
from setveil.hierarchy.tree import Hierarchy
from setveil.hierarchy.wordnet.network import WordNet
from setveil.io import write
from setveil.io.writing import compression_of, write_lines, write_to_output
from setveil.pipeline.stages import Stages

_TOPICS, _TOPIC_SIZE = 3_000, 12
_NOUNS = 13_000  # how many nouns a log with a long tail draws from


@dataclass(frozen=True, kw_only=True)
class Target:
    """Where to write."""

    output: Path  # a file; `-` is standard output
    format: str | None = None
    force: bool = False


def quest(target: Target, **numbers: Any) -> Transactions:
    """Records of numbered items; `numbers` are those of `setveil.data.generate.quest`."""
    data = generate.quest(**numbers)
    _write(data, target)
    return data


def shop(
    target: Target,
    records: int,
    seed: int,
    products: int | None = None,
    hierarchy: Path | None = None,
) -> Transactions:
    """Baskets of a shop, and the tree over its products if `hierarchy` is given."""
    _check(target, hierarchy)
    made = generate.shop(records, seed, products=products)
    if hierarchy is not None:
        write_hierarchy(Hierarchy.from_paths(made.paths), hierarchy, force=target.force)
    _write(made.data, target)
    return made.data


def patients(
    target: Target, count: int, seed: int, *, by_stay: bool = False, hierarchy: Path | None = None
) -> generate.Patients:
    """Patients or, with `by_stay`, their stays; and the tree over the codes if one is asked for."""
    _check(target, hierarchy)
    plain = target.output.with_suffix("") if compression_of(target.output) else target.output
    if plain.suffix.lower() not in ("", ".csv"):
        remedy = "choose a name that ends in .csv, .csv.gz or .csv.zst"
        raise OutputError(target.output, "patients are written as CSV", remedy=remedy)
    made = generate.patients(count, seed)
    if hierarchy is not None:
        write_hierarchy(Hierarchy.from_paths(made.paths()), hierarchy, force=target.force)
    _write_rows(made.stay_rows() if by_stay else made.people_rows(), target)
    return made


def querylog(
    target: Target, topics: str | None = None, progress: Progress | None = None, **numbers: Any
) -> str:
    """A query log; returns where its words come from."""
    words, source = _topics(topics, str(numbers.get("shape")))
    with Stages(progress)("writing"):
        _write_rows(generate.querylog(topics=words, **numbers), target)
    return source


def _check(target: Target, hierarchy: Path | None) -> None:
    """Refuse places that cannot be written before anything is made."""
    if hierarchy is not None and hierarchy.absolute() == target.output.absolute():
        problem = "the tree would replace the data"
        raise OutputError(hierarchy, problem, remedy="give {hierarchy} another name")
    for place in (target.output, hierarchy):
        if place is not None and str(place) != "-":
            check_place(place, force=target.force)


def _write_rows(rows: Iterable[str], target: Target) -> None:
    """The lines of a table to a file, compressed if its name says so, or to standard output."""
    if str(target.output) == "-":
        write_to_output(rows)
        return
    with new_file(target.output, force=target.force) as temporary:
        write_lines(rows, temporary, compression_of(target.output))


def _write(data: Transactions, target: Target) -> None:
    write(data, target.output, format=target.format, force=target.force)


def _topics(given: str | None, shape: str) -> tuple[list[list[str]] | None, str]:
    name, _, folder = (given or ("wordnet" if WordNet.find() else "catalogue")).partition(":")
    if name == "catalogue" and not folder:
        return None, "the built-in catalogue"
    if name != "wordnet":
        raise ParameterError("topics", given, "it is wordnet, wordnet:FOLDER or catalogue")
    wordnet = WordNet.read(folder or None)
    if shape == "long-tail":
        return wordnet.families(_NOUNS, _TOPIC_SIZE), "WordNet"
    return wordnet.topics(_TOPICS, _TOPIC_SIZE, seed=0), "WordNet"
