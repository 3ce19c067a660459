"""HORPART and VERPART: clusters of similar records, and their chunks. [Terrovitis2012] section 4"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from setveil.data.arrays import Flags, Int32s, Int64s, changes, offsets, positions
from setveil.data.hashing import Hashes, hash_records
from setveil.data.transactions import Transactions
from setveil.engines.base import Engine, Progress
from setveil.engines.local import LOCAL
from setveil.errors import InfeasibleError
from setveil.kernels.disassociation.given import Block, Chunks, Rule

if TYPE_CHECKING:
    from setveil.kernels.disassociation.horizontal import Groups, Sizes

RECORDS = 100_000  # the records of one task, about
MANY = 200_000  # records, above which a kernel is worth compiling


@dataclass(frozen=True)
class Clusters:
    """Records laid out cluster by cluster; cluster c is `bounds[c]` to `bounds[c + 1] - 1`."""

    rows: Transactions
    origin: Int64s  # the number of each row among the original records
    bounds: Int64s

    def __len__(self) -> int:
        return len(self.bounds) - 1

    @property
    def sizes(self) -> Int64s:
        return np.diff(self.bounds)

    @property
    def cluster_of_row(self) -> Int64s:
        return np.repeat(np.arange(len(self)), self.sizes)

    @property
    def cluster_of_occurrence(self) -> Int32s:
        lengths = np.diff(self.rows.indptr[self.bounds])
        return np.repeat(np.arange(len(self), dtype=np.int32), lengths)

    def ranges(self, records: int) -> Iterator[Range]:
        """Ranges of clusters with about `records` records; they depend on the clusters alone."""
        cuts = np.searchsorted(self.bounds, np.arange(0, len(self.rows), records))
        edges = np.unique(np.append(cuts, len(self))).tolist()
        return (Range(self, *ends) for ends in zip(edges, edges[1:], strict=False))


@dataclass(frozen=True)
class Range:
    """The clusters `first` to `last - 1`."""

    within: Clusters
    first: int
    last: int

    @property
    def clusters(self) -> slice:
        return slice(self.first, self.last)

    @property
    def records(self) -> slice:
        return slice(int(self.within.bounds[self.first]), int(self.within.bounds[self.last]))

    @property
    def occurrences(self) -> slice:
        indptr, records = self.within.rows.indptr, self.records
        return slice(int(indptr[records.start]), int(indptr[records.stop]))

    def block(self) -> Block:
        """Its records, numbered from 0."""
        records, indptr = self.records, self.within.rows.indptr
        return Block(
            indptr[records.start : records.stop + 1] - indptr[records.start],
            self.within.rows.items[self.occurrences],
            self.within.bounds[self.first : self.last + 1] - records.start,
        )


class Ordered(NamedTuple):
    """Records that are not empty, in canonical order."""

    rows: Transactions
    origin: Int64s  # the number of each among the original records


def in_order(data: Transactions, engine: Engine = LOCAL) -> Ordered:
    """The records in an order that depends only on their items; see `canonical_order`."""
    origin = canonical_order(data, engine)
    return Ordered(data.take(origin), origin)


def horpart(
    ordered: Ordered, sensitive: Flags, least: int, limit: int, engine: Engine = LOCAL
) -> Clusters:
    """Clusters of `least` and, if possible, fewer than `limit` records.

    Groups of many records are cut first, and then what is left of them, some at a time."""
    from setveil.kernels.disassociation.horizontal import Groups, Sizes

    (rows, origin), none = ordered, np.zeros(0, dtype=np.int64)
    whole = Groups(np.array([0, len(rows)]), np.array([True]), np.zeros(2, dtype=np.int64), none)
    later = RECORDS // 2 if len(rows) > 2 * RECORDS else 0
    given = (rows.indptr, rows.items), sensitive
    first = Cut(*given, np.arange(len(rows)), whole, Sizes(least, limit, later))
    order, bounds, opened, groups = cut_groups(first)
    if later:
        tasks = list(_cuts(first, order, bounds, opened, groups))
        done = [*engine.map(cut_groups, tasks)]
        order = np.concatenate([each[0] for each in done])
        starts = offsets([len(each[0]) for each in done])
        moved = [each[1][:-1] + start for each, start in zip(done, starts, strict=False)]
        bounds = np.concatenate((*moved, starts[-1:]))
    return Clusters(rows.take(order), origin[order], bounds)


class Cut(NamedTuple):
    """Groups to cut: records, in the order of the groups, and what is not cut by."""

    rows: tuple[Int64s, Int32s]
    sensitive: Flags
    order: Int64s
    groups: Groups
    sizes: Sizes


def cut_groups(task: Cut) -> tuple[Int64s, Int64s, Int64s, Int64s]:
    """The records cluster by cluster; see `split_horizontally`."""
    from setveil.kernels.disassociation.horizontal import split_horizontally

    found: tuple[Int64s, Int64s, Int64s, Int64s] = split_horizontally(*task)
    return found


def _cuts(
    first: Cut, order: Int64s, bounds: Int64s, opened: Int64s, groups: Int64s
) -> Iterator[Cut]:
    """The groups that are left to cut, and the clusters between them, some records at a time."""
    from setveil.kernels.disassociation.horizontal import Groups

    cuts = np.unique(np.searchsorted(bounds, np.arange(0, len(order), RECORDS // 4)))
    edges = [*cuts[cuts < len(opened)].tolist(), len(opened)]
    sizes = first.sizes._replace(later=0)
    for low, high in zip(edges, edges[1:], strict=False):
        used = [_used_terms(groups, group) for group in opened[low:high].tolist()]
        given = Groups(
            bounds[low : high + 1] - bounds[low],
            opened[low:high] >= 0,
            offsets(list(map(len, used))),
            np.array([term for each in used for term in each], dtype=np.int64),
        )
        part = order[bounds[low] : bounds[high]]
        yield first._replace(order=part, groups=given, sizes=sizes)


def _used_terms(groups: Int64s, group: int) -> list[int]:
    """The terms that a group, or one above it, was cut by."""
    from setveil.kernels.disassociation.horizontal import ABOVE, TERM

    terms = []
    while group >= 0:
        if groups[group, TERM] >= 0:
            terms.append(int(groups[group, TERM]))
        group = int(groups[group, ABOVE])
    return terms


def with_public_terms(clusters: Clusters, sensitive: Flags) -> Clusters:
    """The clusters, each with a record that has a term that is not sensitive.

    A cluster without one is put together with one of the smallest others.

    Raises:
        InfeasibleError: if no record has such a term.
    """
    public = np.concatenate(([0], np.cumsum(~sensitive[clusters.rows.items])))
    has_public = np.diff(public[clusters.rows.indptr[clusters.bounds]]) > 0
    if has_public.all():
        return clusters
    others = np.flatnonzero(has_public)
    if not len(others):
        raise InfeasibleError(
            "no record has an item that is not sensitive, so everybody would have a sensitive one",
            remedy="leave items that everybody has out of {sensitive}",
        )
    others = others[np.argsort(clusters.sizes[others], kind="stable")]
    owner = np.arange(len(clusters))
    owner[~has_public] = np.resize(others, len(owner) - len(others))
    by_row = owner[clusters.cluster_of_row]
    order = np.argsort(by_row, kind="stable")
    sizes = np.bincount(by_row, minlength=len(clusters))
    bounds = np.concatenate(([0], np.cumsum(sizes[sizes > 0])))
    return Clusters(clusters.rows.take(order), clusters.origin[order], bounds)


def only_items(rows: Transactions, inside: Flags) -> Transactions:
    """The same records without all other items."""
    if len(rows) > MANY:
        from setveil.kernels.itemsets import rank_rows

        same = np.where(inside, np.arange(len(inside), dtype=np.int32), np.int32(-1))
        indptr, items = rank_rows(rows.indptr, rows.items, same)
    else:
        kept = inside[rows.items]
        indptr, items = offsets(kept)[rows.indptr], rows.items[kept]
    return Transactions.trusted(indptr, items, rows.vocabulary)


def canonical_order(data: Transactions, engine: Engine = LOCAL) -> Int64s:
    """The records that are not empty, in an order that depends only on their items.

    Records that share their most frequent terms are next to each other, so that those that are cut
    together are together in memory. Equal records are adjacent."""
    full = np.flatnonzero(data.lengths)
    if len(full) == 0:
        return full
    rank = positions(np.argsort(-data.supports(), kind="stable")).astype(np.uint64)
    rows = data if len(full) == len(data) else data.take(full)
    edges = [*range(0, len(rows), RECORDS), len(rows)]
    tasks = ((_slice(rows, *ends), rank) for ends in zip(edges, edges[1:], strict=False))
    keys, hashes = zip(*engine.map(find_keys, tasks), strict=True)
    return full[_order_by(np.concatenate(keys), np.concatenate(hashes))]


def find_keys(task: tuple[Transactions, npt.NDArray[np.uint64]]) -> tuple[Hashes, Hashes]:
    """A number of each record by which it is sorted, its most frequent terms, and a hash of it."""
    rows, rank = task
    starts, lengths = rows.indptr[:-1], rows.lengths
    values, none = rank[rows.items], np.uint64(len(rank))
    base, most = np.uint64(min(len(rank) + 1, 1 << 21)), np.uint64((1 << 21) - 1)
    key = np.zeros(len(rows), dtype=np.uint64)
    for _ in range(3):
        first = np.minimum.reduceat(values, starts)
        key = key * base + np.minimum(first, most)
        values[values == np.repeat(first, lengths)] = none
    return key, hash_records(rows, 1)


def _order_by(keys: Hashes, hashes: Hashes) -> Int64s:
    """The records by key, then by hash and number; quicker than to sort by all at once."""
    order = np.argsort(keys, kind="stable")
    is_new = changes(keys[order])
    ties = np.flatnonzero(~(is_new & np.append(is_new[1:], True)))
    tied = order[ties]
    order[ties] = tied[np.lexsort((hashes[tied], keys[tied]))]
    return order


def _slice(rows: Transactions, start: int, stop: int) -> Transactions:
    indptr = rows.indptr[start : stop + 1]
    items = rows.items[indptr[0] : indptr[-1]]
    return Transactions.trusted(indptr - indptr[0], items, rows.vocabulary)


class Task(NamedTuple):
    """Clusters to divide."""

    block: Block
    rule: Rule


def verpart(
    clusters: Clusters, rule: Rule, engine: Engine = LOCAL, progress: Progress | None = None
) -> Chunks:
    """The chunks of all clusters: each term is in the first chunk that can take it.

    A chunk can take a term if it stays k^m-anonymous with it. Terms in fewer than k records and
    sensitive terms form the term chunk. A cluster without one that has fewer subrecords than Lemma
    2 asks for gives up its least frequent term."""
    rows, ranges = clusters.rows, list(clusters.ranges(RECORDS))
    chunks = Chunks(
        np.full(len(rows.items), -1, dtype=np.int32),
        np.zeros(len(clusters), dtype=np.int64),
        np.zeros(len(clusters), dtype=bool),
    )
    tasks = (Task(each.block(), rule) for each in ranges)
    for each, found in zip(ranges, engine.map(split_clusters, tasks), strict=True):
        chunks.chunk[each.occurrences] = found.chunk
        chunks.counts[each.clusters] = found.counts
        chunks.is_short[each.clusters] = found.is_short
        if progress is not None:
            progress(each.records.stop, len(rows), "cutting clusters into chunks")
    return chunks


def split_clusters(task: Task) -> Chunks:
    """The chunks of some clusters."""
    from setveil.kernels.disassociation.chunks import split_vertically

    return split_vertically(task.block, task.rule)  # type: ignore[no-any-return]
