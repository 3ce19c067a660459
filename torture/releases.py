"""Random releases: every method on small random data, through files, against plain oracles."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

from setveil.audit import verify
from setveil.audit.records import check_written
from setveil.data.transactions import Bags, Transactions
from setveil.errors import InfeasibleError, ParameterError
from setveil.hierarchy.tree import Hierarchy
from setveil.io import read_release, write
from setveil.io.releases.folder import FORMS
from setveil.methods import METHODS
from setveil.methods.method import Method
from setveil.parameters import parameters
from setveil.promises.promise import Promise
from setveil.published import Release
from tests.audit.releases import bags_of, parents_of
from tests.oracle import coherence, containment, disassociation, kanonymity, km, worlds

ITEMS = tuple("abcdefg")
NOWHERE = "zebra"
SMALL = 5
"""Of disassociated releases with at most so many records all possible originals are tried."""


@dataclass(frozen=True)
class Try:
    """What one case anonymizes, and how."""

    method: Method[Release]
    promise: Promise
    data: Transactions
    tree: Hierarchy
    public: bool
    """Whether the whole tree is published."""

    @classmethod
    def at_random(cls, rng: Random) -> Try:
        exact = sorted(
            name
            for name, kind in METHODS.items()
            if not kind.draws_noise and kind.reads != "tables"
        )
        kind = METHODS[rng.choice(exact)]
        records = _records(rng, most=8 if kind.form == "disassociated" else 10)
        data = (Bags if rng.random() < 0.4 else Transactions).of(records)
        k = rng.randint(2, 3) if kind.form == "disassociated" else rng.randint(2, 4)
        promise = _promise(rng, kind, k)
        given = rng.random() < 0.5
        tree = _tree(rng) if given else Hierarchy.balanced(data.vocabulary, rng.randint(2, 3))
        method = _method(rng, kind)
        try:
            method.check(len(data), promise, tree)
        except ParameterError:  # not every arrangement keeps every promise
            method = kind()
        except InfeasibleError:
            pass
        return cls(method, promise, data, tree, rng.random() < 0.5)

    def run(self, data: Transactions) -> Release | None:
        """The release; None if the method says that there can be none."""
        try:
            return self.method.anonymize(data, self.promise, self.tree)
        except InfeasibleError:
            return None

    def __str__(self) -> str:
        return f"{self.method} {self.promise} {bags_of(self.data)} {list(self.tree.paths())}"


def any_release(rng: Random, folder: Path) -> str | None:
    """Make a release, write and read it, and compare it with its original and its promise."""
    tried = Try.at_random(rng)
    made = tried.run(tried.data)
    if made is None:
        return None
    public = tried.public and made.tree is not None
    given = _through_files(made, folder / "release", rng, public)
    wrong = next((text for text in _faults(tried, made, given, rng) if text), None)
    return wrong and f"{wrong}: {tried}"


def any_order(rng: Random, folder: Path) -> str | None:
    """Make the same release of the same records in another order."""
    tried = Try.at_random(rng)
    order = list(range(len(tried.data)))
    rng.shuffle(order)
    one, other = tried.run(tried.data), tried.run(tried.data.take(order))
    same = one is other if one is None or other is None else check_written(one, other).holds
    return (
        None if same else f"another release of {[bags_of(tried.data)[at] for at in order]}: {tried}"
    )


def _records(rng: Random, most: int) -> list[list[str]]:
    """Few items and records, so that records are often equal; with repeats, and empty ones."""
    items = rng.sample(ITEMS, rng.randint(1, len(ITEMS)))
    longest = rng.randint(0, 5)
    return [rng.choices(items, k=rng.randint(0, longest)) for _ in range(rng.randint(1, most))]


def _tree(rng: Random) -> Hierarchy:
    """A random tree with all items as leaves; some nodes have one child."""
    roots = list(rng.sample(ITEMS, len(ITEMS)))
    parents: dict[str, str] = {}
    while len(roots) > 1 or rng.random() < 0.3:
        start = rng.randrange(len(roots))
        group = roots[start : start + rng.randint(1, 4)]
        node = f"<{len(parents)}>"
        parents |= dict.fromkeys(group, node)
        roots[start : start + len(group)] = [node]
    return Hierarchy.from_edges(parents)


def _promise(rng: Random, kind: type[Method[Release]], k: int) -> Promise:
    """One of the promises that a method keeps, sometimes with an addition."""
    promise = _filled(rng, rng.choice(kind.promises), k)
    if kind.additions and rng.random() < 0.4:
        promise = replace(promise, diversity=_filled(rng, kind.additions[0], k))  # type: ignore[call-arg]
    return promise


def _filled(rng: Random, kind: type[Promise], k: int) -> Promise:
    numbers: dict[str, Any] = {}
    for name, parameter in parameters(kind).items():
        if parameter.holds_items:
            numbers[name] = rng.sample(ITEMS, rng.randint(1, 2))
        elif int in parameter.kinds and parameter.required:
            numbers[name] = rng.randint(1, 3) if numbers else k
        elif parameter.required:
            numbers[name] = rng.choice([0.3, 0.5, 0.7, 1.0])
    return kind(**numbers | {name: k for name in ("k", "l") if name in numbers})


def _method(rng: Random, kind: type[Method[Release]]) -> Method[Release]:
    """A method with some words and switches other than usual."""
    chosen: dict[str, Any] = {}
    for name, parameter in parameters(kind).items():
        if parameter.choices and rng.random() < 0.5:
            chosen[name] = rng.choice(parameter.choices)
        elif bool in parameter.kinds and rng.random() < 0.3:
            chosen[name] = not parameter.default
        elif name == "term_epsilon":
            chosen[name] = rng.randint(0, 5)
        elif name == "min_support" and rng.random() < 0.3:
            chosen[name] = 0.3
    try:
        return kind(**chosen)
    except ParameterError:  # some words exclude each other
        return kind()


def _through_files(made: Release, folder: Path, rng: Random, public: bool) -> Release:
    """The release after it was written and read."""
    formats = [name for name in FORMS[made.form].formats if name != "fimi"]
    shutil.rmtree(folder, ignore_errors=True)
    write(made, folder, format=rng.choice(formats), seed=rng.randrange(9), public_items=public)
    return read_release(folder)


def _faults(tried: Try, made: Release, given: Release, rng: Random) -> Iterator[str | None]:
    """What is wrong with a release, as it was made and as it was read."""
    data, tree = tried.data, tried.tree
    yield None if check_written(given, made).holds else "what was read is not what was written"
    verdicts = [verify(one, data, hierarchy=tree) for one in (made, given)]
    yield next((verdict.text for verdict in verdicts if not verdict.holds), None)
    yield _promise_fault(given, made.promise)
    yield _ORIGINS[made.form](made, data)
    yield _bounds_fault(given, data, tree)
    world = given.reconstruct(rng.randrange(9))
    yield None if len(world) == len(data) else "a reconstruction has more or fewer records"
    yield _disagreement(given, made.promise)


def _bounds_fault(given: Release, data: Transactions, tree: Hierarchy) -> str | None:
    """A set of up to two items or nodes whose support is outside of its bounds."""
    labels = [*ITEMS, NOWHERE]
    above: dict[str, set[str]] = {label: {label} for label in labels}
    if given.tree is not None:
        paths = {path[0]: set(path) for path in tree.paths()}
        above |= paths
        labels = [*sorted(set().union(*paths.values())), NOWHERE]
    rows = [set().union(*(above[item] for item in record)) for record in data]
    for asked in (*combinations(labels, 1), *combinations(labels, 2)):
        found, truth = given.support(asked), sum(set(asked) <= row for row in rows)
        if not (found.lower <= truth <= found.upper and found.lower <= found.guess <= found.upper):
            return f"{asked} is in {truth} records, but the release says {found}"
    return None


def _promise_fault(given: Release, promise: Promise) -> str | None:
    """Why a release does not keep its promise, by counting everything."""
    kept = _keeps(given, promise)
    return None if kept is not False else f"the oracle finds that {promise} is broken"


def _disagreement(given: Release, promise: Promise) -> str | None:
    """Whether verifier and oracle judge the same promise with other numbers alike."""
    words = {name: getattr(promise, name) for name in parameters(type(promise))}
    for name in ("k", "m", "p"):
        if name not in words or len(promise.parts) > 1:
            continue
        other = type(promise)(**{**words, name: words[name] + 1})
        kept, found = _keeps(given, other), verify(given, promise=other).holds
        if kept is not None and kept != found:
            return f"the verifier finds {found} of {other}, the oracle {kept}"
    return None


def _keeps(given: Release, promise: Promise) -> bool | None:
    """Whether a release keeps a promise; None if it is too large to say."""
    judge = _JUDGES.get(promise.model)
    if given.form == "disassociated":
        clusters = [json.loads(line) for line in given.lines()]  # type: ignore[attr-defined]
        small = max(map(_size, clusters), default=0) <= SMALL
        if not small:
            return None
        return disassociation.holds(clusters, promise.k, promise.m)  # type: ignore[attr-defined]
    records = bags_of(given.records(seed=1))  # type: ignore[attr-defined]
    return judge(records, promise) if judge is not None else None


def _coherent(records: Sequence[containment.Bag], promise: Any) -> bool:
    private = set(promise.private)
    return not coherence.moles(records, private, str(promise.h), promise.k, promise.p)


_JUDGES: dict[str, Callable[[Sequence[containment.Bag], Any], bool]] = {
    "k-anonymity": lambda records, asked: not kanonymity.rare_records(records, asked.k),
    "vocabulary-k-anonymity": lambda records, asked: not kanonymity.rare_records(records, asked.k),
    "km-anonymity": lambda records, asked: not km.violations(records, asked.k, asked.m),
    "coherence": _coherent,
}
"""How the oracles check each promise on plain records."""


def _generalized(made: Any, data: Transactions) -> str | None:
    """Why a generalized release cannot come from its original."""
    parents, originals = parents_of(made.hierarchy), bags_of(data)
    published = [
        bag
        for bag, size in zip(bags_of(made.classes), made.sizes.tolist(), strict=True)
        for _ in range(size)
    ]
    if not made.is_global:
        fits = containment.assignable(originals, published, parents)
        return None if fits else "no pairing of the records fits"
    shown = set().union(*published)
    images = Counter(
        frozenset(node for item in bag for node in containment.path(item, parents) if node in shown)
        for bag in originals
    )
    return None if images == Counter(map(frozenset, published)) else "one cut gives other records"


def _suppressed(made: Any, data: Transactions) -> str | None:
    kept = Counter(frozenset(set(record) & set(made.items)) for record in data)
    same = kept == Counter(map(frozenset, made.records(seed=1)))
    return None if same else "the records are not the originals without some items"


def _disassociated(made: Any, data: Transactions) -> str | None:
    """Why the original is not one of the worlds, with each record in its own cluster."""
    clusters = [_plain(cluster) for cluster in made.clusters()]
    simple = [node for node in range(len(made.parent)) if made.is_simple[node]]
    world: dict[int, list[frozenset[str]]] = {node: [] for node in simple}
    for record, node in zip(data, made.alignment.tolist(), strict=True):
        world[node].append(frozenset(record))
    return worlds.find_fault(clusters, [world[node] for node in simple])


def _typical(made: Any, data: Transactions) -> str | None:
    """Why a bag is longer than an original that it represents, or shows what nobody has."""
    totals = data.totals if isinstance(data, Bags) else data.lengths
    if (made.classes.totals[made.alignment] > totals).any():
        return "a bag is longer than its original"
    if made.hierarchy is None and not set(made.term_totals()) <= set(data.vocabulary):
        return "an item is published that no original has"
    return None


_ORIGINS: dict[str, Callable[[Any, Transactions], str | None]] = {
    "generalized": _generalized,
    "suppressed": _suppressed,
    "disassociated": _disassociated,
    "typical-bags": _typical,
}


def _plain(cluster: Any) -> dict[str, Any]:
    """A cluster as in `data.jsonl`, with its parts in the order in which the release has them."""
    chunks = cluster.shared if hasattr(cluster, "parts") else cluster.chunks
    rows = [[[list(items), count] for items, count in chunk.items()] for chunk in chunks]
    if hasattr(cluster, "parts"):
        return {"shared": rows, "parts": [_plain(part) for part in cluster.parts]}
    return {"size": cluster.size, "chunks": rows, "terms": list(cluster.terms)}


def _size(cluster: dict[str, Any]) -> int:
    return sum(simple["size"] for simple in disassociation.simple_clusters(cluster))
