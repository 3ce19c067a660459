"""Reconstruct: one possible original of a disassociated release, at random. [Terrovitis2012]
section 3"""

from __future__ import annotations

import numpy as np

from setveil.data.arrays import offsets, random_from, run_places
from setveil.data.transactions import Offsets, Transactions
from setveil.errors import DataError, check_count
from setveil.published.disassociated.forest import Forest
from setveil.published.disassociated.form import Disassociated
from setveil.published.disassociated.placing import Supply, allot, draw_places
from setveil.published.disassociated.supports import Listed


def reconstruct(
    release: Disassociated, seed: int | None = None, *, most_per_term: int | None = None
) -> Transactions:
    """Records that could have been the original: a random possible world, in random order.

    The subrecords of a record chunk go to distinct records of their cluster, those of a shared
    chunk to distinct records of the joint cluster, except in parts that list one of their items
    themselves (in a record chunk, the term chunk or a shared chunk further down). Each term of a
    term chunk goes to one record or a few, as many as `support` expects (`Listed`). Then records
    that got nothing take a piece from one of their cluster that has several. If a cluster has fewer
    pieces than records, shared subrecords come from other parts, or terms of the term chunk are
    used once more. So no record is empty, except in a cluster that contains nothing. All choices
    but these repairs are equally likely.

    Args:
        seed: The same seed gives the same records, also of a release that was written and read;
            without one, each call gives others.
        most_per_term: If given, a term of a term chunk is in 1 to so many records of its cluster,
            each number equally likely.

    Raises:
        DataError: if the release has no possible original.

    Cost: linear, except for sorting; a million records take a few seconds. A matching is searched
    only if shared chunks repeat items of their parts, or leave too few pieces for a part.

    Example:
        >>> from setveil.promises import KmAnonymity
        >>> from setveil.published.disassociated.clusters import SimpleCluster
        >>> cluster = SimpleCluster(3, [{("flu", "itunes"): 2, ("flu",): 1}], ["ikea"])
        >>> world = reconstruct(Disassociated.of_clusters([cluster], KmAnonymity(k=2, m=2)), seed=1)
        >>> len(world), dict(zip(world.vocabulary, world.supports().tolist()))
        (3, {'flu': 3, 'ikea': 1, 'itunes': 2})
    """
    if most_per_term is not None:
        check_count("most_per_term", most_per_term, 1)
    random = random_from(seed)
    release = release if seed is None else release.arranged
    records, kinds = place_pieces(Forest.of(release), most_per_term, random)
    return assemble(release, random.permutation(len(release))[records], kinds)


def world_seeds(count: int, seed: int | None = None) -> list[int | None]:
    """The seeds of several independent reconstructions; the first is the seed itself."""
    check_count("reconstructions", count, 1)
    if seed is None:
        return [None] * count
    return [seed, *np.random.SeedSequence(seed).generate_state(count - 1, np.uint64).tolist()]


def place_pieces(
    forest: Forest, most_per_term: int | None, random: np.random.Generator
) -> tuple[Offsets, Offsets]:
    """The record of every piece, by the numbers of the forest, and what the piece is: a
    subrecord, or beyond these an entry of `terms`."""
    _ = forest.places  # refuses an item in two chunks of a cluster
    _, sizes = forest.records(forest.release.chunk_node)
    over = np.flatnonzero(forest.chunk_sizes > sizes)
    if len(over):
        counts = (
            f"{forest.chunk_sizes[over[0]]} subrecords in a cluster of {sizes[over[0]]} records"
        )
        raise DataError(f"the release has no possible original: a chunk has {counts}")
    placed, kinds = _place_subrecords(forest, random)
    term_records, terms = _place_terms(forest, most_per_term, random)
    pieces = np.concatenate((placed, term_records))
    kinds = np.concatenate((kinds, terms + len(forest.release.subrecords)))
    Supply(forest, pieces, kinds, random).settle()
    empty = _fill_from_cluster(forest, pieces, random)
    listed, nodes = forest.release.terms, forest.nodes[forest.cluster_of[empty]]
    entries: Offsets = listed.indptr[nodes] + random.integers(0, listed.lengths[nodes])
    fillers = entries + len(forest.release.subrecords)
    return np.concatenate((pieces, empty)), np.concatenate((kinds, fillers))


def assemble(release: Disassociated, records: Offsets, kinds: Offsets) -> Transactions:
    """Records out of their pieces; as `Transactions.from_pairs`, but pairs of a record and an item
    are known to be distinct mostly and to fit into one number each."""
    count = len(release.subrecords)
    inside = kinds < count
    rows = release.subrecords.take(kinds[inside])
    owners = np.concatenate((np.repeat(records[inside], rows.lengths), records[~inside]))
    items = np.concatenate((rows.items, release.terms.items[kinds[~inside] - count]))
    lengths = np.bincount(owners, minlength=len(release))
    bits = len(release.items).bit_length()
    owners <<= bits
    owners |= items
    owners.sort()
    items_of = (1 << bits) - 1
    if (owners[1:] == owners[:-1]).any():
        pairs = owners >> bits, owners & items_of
        return Transactions.from_pairs(*pairs, release.items, size=len(release))
    owners &= items_of
    return Transactions.trusted(offsets(lengths), owners.astype(np.int32), release.items)


def _place_subrecords(forest: Forest, random: np.random.Generator) -> tuple[Offsets, Offsets]:
    """A record for every occurrence of a subrecord, and the number of the subrecord."""
    release = forest.release
    narrow = np.zeros(len(release.chunk_node), dtype=bool)
    narrow[release.subrecord_chunk[list(forest.barred)]] = True
    wide = np.flatnonzero(~narrow)
    by_chunk = np.argsort(release.subrecord_chunk, kind="stable")
    chunks = release.subrecord_chunk[by_chunk]
    order = by_chunk[~narrow[chunks]]
    kinds = [np.repeat(order, release.subrecord_counts[order])]
    first, sizes = forest.records(release.chunk_node[wide])
    places = [draw_places(first, sizes, forest.chunk_sizes[wide], random)]
    for chunk in np.flatnonzero(narrow).tolist():
        low, high = np.searchsorted(chunks, [chunk, chunk + 1]).tolist()
        found = _place_narrow(forest, by_chunk[low:high], random)
        places.append(found[0])
        kinds.append(found[1])
    return np.concatenate(places), np.concatenate(kinds)


def _place_narrow(
    forest: Forest, rows: Offsets, random: np.random.Generator
) -> tuple[Offsets, Offsets]:
    """The same for the subrecords of a shared chunk, if some cannot belong to some clusters."""
    release = forest.release
    node = int(release.chunk_node[release.subrecord_chunk[rows[0]]])
    low, high = int(forest.first[node]), int(forest.stop[node])
    allowed = np.ones((len(rows), high - low), dtype=bool)
    for at, row in enumerate(rows.tolist()):
        for first, stop in forest.barred.get(row, ()):
            allowed[at, first - low : stop - low] = False
    table = allot(release.subrecord_counts[rows], allowed, forest.sizes[low:high], random)
    columns, lines = np.nonzero(table.T)
    kinds = np.repeat(rows[lines], table[lines, columns])
    places = draw_places(forest.starts[low:high], forest.sizes[low:high], table.sum(axis=0), random)
    return places, kinds


def _place_terms(
    forest: Forest, most: int | None, random: np.random.Generator
) -> tuple[Offsets, Offsets]:
    """Records for every term of the term chunks, and the number of the entry of `terms`."""
    terms = forest.release.terms
    first, sizes = forest.records(terms.rows)
    if most is None:
        counts = Listed.of(forest).draw(terms.items, forest.first[terms.rows], random)
    else:
        counts = random.integers(1, np.minimum(sizes, most), endpoint=True)
    places = draw_places(first, sizes, counts, random)
    return places, np.repeat(np.arange(len(counts)), counts)


def _fill_from_cluster(forest: Forest, pieces: Offsets, random: np.random.Generator) -> Offsets:
    """Give pieces of records with several to empty ones of the cluster; what stays empty."""
    clusters = len(forest.nodes)
    held = np.bincount(pieces, minlength=int(forest.starts[-1]))
    empty = np.flatnonzero(held == 0)
    lacking = np.bincount(forest.cluster_of[empty], minlength=clusters)
    movable = np.flatnonzero((lacking[forest.cluster_of[pieces]] > 0) & (held[pieces] > 1))
    movable = random.permutation(movable)
    movable = movable[np.argsort(pieces[movable], kind="stable")]
    movable = movable[run_places(pieces[movable]) > 0]
    movable = random.permutation(movable)
    movable = movable[np.argsort(forest.cluster_of[pieces[movable]], kind="stable")]
    owner = forest.cluster_of[pieces[movable]]
    rank = run_places(owner)
    taken = rank < lacking[owner]
    starts = np.cumsum(lacking) - lacking
    targets = starts[owner[taken]] + rank[taken]
    pieces[movable[taken]] = empty[targets]
    left = np.ones(len(empty), dtype=bool)
    left[targets] = False
    return empty[left & ~forest.is_empty[forest.cluster_of[empty]]]
