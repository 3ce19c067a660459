"""The dossier of a release: everything that a page about it shows, as numbers.

The public part is computed from the release alone, so that it may go to everybody who receives the
release. The private part compares the release with its original."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from setveil import __version__
from setveil.alignment.align import over_whole_tree
from setveil.alignment.merging import covered
from setveil.audit.exposure import Exposure, examine
from setveil.audit.verdict import Verdict
from setveil.data.transactions import Transactions
from setveil.io.releases.folder import ABOUT, sha256
from setveil.metrics.itemsets import top_itemsets
from setveil.metrics.queries import expected_supports
from setveil.metrics.usefulness import Usefulness
from setveil.pipeline.inputs import known_name
from setveil.promises.promise import Promise
from setveil.published import Release
from setveil.published.countable import Countable
from setveil.showing import Shown

MOST_ITEMSETS = 12
MOST_DAMAGED = 8
MOST_POINTS = 1_500
"""How many items a scatter plot shows; a random choice of more."""
DRAWS = 200
"""How many times a person and some items are drawn, to compare exposure before and after."""
_WORK = 20_000_000  # entries to look through when candidates are counted
Names = Sequence[str]
_LIBRARIES = ("numpy", "numba", "duckdb")


class Level(NamedTuple):
    """A level of the tree, and the share of what is published that is on it."""

    name: str
    share: float


class Pair(NamedTuple):
    """A label or an itemset, how often it was in the original, and how often it seems to be."""

    name: str
    before: float
    after: float

    @property
    def error(self) -> float:
        return abs(self.after - self.before) / max(self.before, 1.0)


class Narrowed(NamedTuple):
    """The share of people whom random known items narrow down to fewer than k records."""

    known: int
    before: float
    after: float
    draws: int


@dataclass(frozen=True, kw_only=True)
class Private:
    """What compares a release with its original."""

    records: int
    items: int
    occurrences: int
    source: str
    digest: str
    """The SHA-256 of the file, if it was one."""
    exposed: Exposure
    narrowed: tuple[Narrowed, ...]
    losses: Mapping[str, Any]
    usefulness: Usefulness | None
    supports: tuple[Pair, ...]
    """All items, the most frequent first."""
    itemsets: tuple[Pair, ...]
    notes: tuple[str, ...] = ()
    suppressed: int = 0

    @property
    def damaged(self) -> tuple[Pair, ...]:
        """The frequent items whose supports are most wrong, the worst first."""
        return tuple(sorted(self._frequent, key=lambda pair: -pair.error)[:MOST_DAMAGED])

    @property
    def kept(self) -> tuple[Pair, ...]:
        """The frequent items whose supports are least wrong."""
        worst = set(self.damaged)
        best = sorted(self._frequent, key=lambda pair: (pair.error, -pair.before))
        return tuple(pair for pair in best if pair not in worst)[:MOST_DAMAGED]

    @property
    def _frequent(self) -> Sequence[Pair]:
        """The items that make up half of all occurrences, at least 50."""
        totals = np.cumsum([pair.before for pair in self.supports])
        half = int(np.searchsorted(totals, totals[-1] / 2)) + 1 if len(totals) else 0
        return self.supports[: max(half, 50)]


@dataclass(frozen=True, kw_only=True)
class Dossier(Shown):
    """A release with what can be said about it."""

    form: str
    records: int
    meaning: str
    """What is promised, as the release says it."""
    limits: str
    """What is not promised, as the release says it."""
    method: Mapping[str, Any]
    verdict: Verdict
    name: str = ""
    """The release folder, if it has one."""
    files: Mapping[str, str] = field(default_factory=dict)
    """The SHA-256 of each file of the release."""
    made_by: str = ""
    """The version of setveil that made it."""
    versions: Mapping[str, str] = field(default_factory=dict)
    command: str = ""
    sizes: tuple[tuple[int, int], ...] = ()
    """Sizes of groups, and how many records are in groups of that size."""
    levels: tuple[Level, ...] = ()
    countable: Countable | None = None
    """What can be counted from the release."""
    private: Private | None = None

    @property
    def promise(self) -> Promise:
        return self.verdict.promise

    @property
    def digest(self) -> str | None:
        """The SHA-256 of `release.json`, which has those of all other files."""
        return self.files.get(ABOUT)


def dossier_of(
    release: Release,
    verdict: Verdict,
    *,
    folder: Path | None = None,
    command: str = "",
    countable: Countable | None = None,
) -> Dossier:
    """The public dossier, computed from the release alone."""
    about = _about(folder)
    return Dossier(
        form=release.form,
        records=len(release),
        meaning=release.describe(),
        limits=release.limits(),
        method=release.method,
        verdict=verdict,
        name="" if folder is None else folder.name,
        files=about.get("files", {}),
        made_by=str(about.get("setveil", __version__)),
        versions=versions(),
        command=command,
        sizes=dossier_sizes(release),
        levels=_levels(release),
        countable=Countable.of(release) if countable is None else countable,
    )


def private_part(
    release: Release,
    original: Transactions,
    *,
    losses: Mapping[str, Any],
    usefulness: Usefulness | None,
    source: object = None,
    seed: int = 0,
    **more: Any,
) -> Private:
    """What compares the release with its original."""
    place = Path(source) if isinstance(source, str | Path) else None
    about = covered(release, original)
    whole = over_whole_tree(release, about)
    crowd = max(release.promise.crowd, 2)
    draws = max(min(DRAWS, _WORK // max(len(whole.certain_rows()[0].items), 1)), 40)
    exposed, drawn = examine(original, k=crowd, seed=seed, drawn=draws)
    named = {
        size: [[original.vocabulary[item] for item in items] for items in sets]
        for size, sets in drawn.items()
    }
    return Private(
        records=len(original),
        items=int((original.supports() > 0).sum()),
        occurrences=original.occurrences,
        source="" if place is None else known_name(place),
        digest=sha256(place) if place is not None and place.is_file() else "",
        exposed=exposed,
        narrowed=_narrowed(whole, about, exposed, named),
        losses=losses,
        usefulness=usefulness,
        supports=_supports(whole, about),
        itemsets=_itemsets(whole, about),
        **more,
    )


def versions() -> dict[str, str]:
    """The versions of what computes the release."""
    from importlib import metadata

    found = {"setveil": __version__, "python": platform.python_version()}
    return found | {name: metadata.version(name) for name in _LIBRARIES}


def _about(folder: Path | None) -> dict[str, Any]:
    if folder is None or not (folder / ABOUT).is_file():
        return {}
    about: dict[str, Any] = json.loads((folder / ABOUT).read_bytes())
    return {**about, "files": {ABOUT: sha256(folder / ABOUT), **about.get("files", {})}}


def dossier_sizes(release: Release) -> tuple[tuple[int, int], ...]:
    """Sizes of groups, and how many records are in groups of that size."""
    sizes, counts = np.unique(release.group_sizes, return_counts=True)
    return tuple(zip(sizes.tolist(), (sizes * counts).tolist(), strict=True))


def _levels(release: Release) -> tuple[Level, ...]:
    """How much of what is published is on each level of the tree, from the items to the root."""
    tree = release.tree
    if tree is None:
        return ()
    rows, sizes = release.certain_rows()
    nodes = tree.nodes.encode(rows.vocabulary.labels)[rows.items]
    weights = (sizes[rows.rows] * rows.times).astype(np.float64)
    total = weights.sum()
    if not total:
        return ()
    is_item = nodes < tree.leaf_count
    found = [Level("items themselves", float(weights[is_item].sum() / total))]
    for depth in range(tree.height - 1, 0, -1):
        here = ~is_item & (tree.depth[nodes] == depth)
        inner = np.flatnonzero((tree.depth == depth) & (np.arange(len(tree)) >= tree.leaf_count))
        if len(inner):
            width = float(tree.widths[inner].mean())
            share = float(weights[here].sum() / total)
            found.append(Level(f"level {depth}: groups of {width:,.0f}", share))
    root = ~is_item & (nodes == tree.root)
    return (*found, Level("root: any item", float(weights[root].sum() / total)))


def _narrowed(
    release: Release, covered: Transactions, exposed: Exposure, drawn: Mapping[int, Sequence[Names]]
) -> tuple[Narrowed, ...]:
    """How far the random items that were drawn narrow people down, before and after.

    After publication the candidates of a person are the records that could have these items. Items
    that the release is not about rule nobody out."""
    found = []
    for one in exposed.known if exposed.records else ():
        asked = [
            [name for name in names if name in covered.vocabulary] for names in drawn[one.items]
        ]
        after = np.array([release.support(names).upper for names in asked])
        found.append(Narrowed(one.items, one.random, float((after < exposed.k).mean()), one.drawn))
    return tuple(found)


def _supports(release: Release, original: Transactions) -> tuple[Pair, ...]:
    truth, found = original.supports(), expected_supports(release, original)
    order = np.argsort(-truth, kind="stable")
    labels = original.vocabulary.labels
    return tuple(
        Pair(labels[at], float(truth[at]), float(found[at]))
        for at in order.tolist()
        if truth[at] > 0
    )


def _itemsets(release: Release, original: Transactions) -> tuple[Pair, ...]:
    """The most frequent itemsets of two and more items, and how often the release expects them."""
    top = top_itemsets(original, MOST_ITEMSETS, least_size=2)
    pairs = list(top)[:MOST_ITEMSETS]
    return tuple(
        Pair(" + ".join(items), float(support), release.guess(items)) for items, support in pairs
    )
