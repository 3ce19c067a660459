"""Every check of a disassociated release, in order; those of sensitive and of inferred items."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from setveil.alignment.flow import Budget, TooLargeError
from setveil.audit.disassociated.guarantee import MOST_WORK, Gatherer, check_guarantee
from setveil.audit.disassociated.layout import Layout, check_structure
from setveil.audit.disassociated.original import check_original
from setveil.audit.disassociated.proof import check_chunks, check_clusters, is_overlaid
from setveil.audit.disassociated.worlds import TERMS
from setveil.audit.verdict import Check, Question, Witness
from setveil.data.arrays import Flags, Floats, Int64s, find, sums
from setveil.errors import ParameterError
from setveil.promises.kanonymity import KmAnonymity, LDiversity
from setveil.published.disassociated.form import Disassociated
from setveil.threads import at_once
from setveil.words import are, plural, share

NAME = "inference"


def check_disassociated(release: Disassociated, question: Question) -> list[Check]:
    """Whether disassociated data is well formed, keeps its promise and comes from its original.

    Raises:
        ParameterError: if this form cannot be verified for the promise.
    """
    promise, limit = question.promise, question.limit
    for part in promise.parts:
        if part.model not in PARTS:
            allowed = f"disassociated data can be verified for {' and '.join(PARTS)}"
            raise ParameterError("promise", part, allowed)
    layout, original = Layout(release), question.original
    structure = check_structure(layout, limit)
    if not structure.holds:
        text = "not checked: the release is not well formed"
        return [structure, Check(promise.model, False, text)]

    def against() -> list[Check]:
        return [] if original is None else check_original(layout, original, limit)

    def kept() -> list[Check]:
        found = [
            check for part in promise.parts for check in PARTS[part.model](layout, part, limit)
        ]
        return [*found, check_safe(layout, limit)] if release.is_safe else found

    compared, own = at_once(against, kept)
    return [structure, *own, *compared]


def _check_km(layout: Layout, promise: KmAnonymity, limit: int) -> list[Check]:
    chunks = check_chunks(layout, promise, limit)
    guarantee = check_guarantee(layout, promise, limit, chunks_hold=chunks.holds)
    return [check_clusters(layout, promise, limit), chunks, guarantee]


PARTS: dict[str, Callable[[Layout, Any, int], list[Check]]] = {
    "km-anonymity": _check_km,
    "l-diversity": lambda *asked: [check_l_diversity(*asked)],
}
"""By model: the checks of a promise, or of a part of one."""


def check_l_diversity(layout: Layout, promise: LDiversity, limit: int = 1) -> Check:
    """Whether sensitive items are only in term chunks of clusters with at least l records, and no
    cluster has a sensitive item that all its records must have.

    A record is never empty. So if a sensitive item is all that a cluster can have, every record of
    it has that item. Otherwise some record has something else in some world, and can do without the
    sensitive item if another record has it. (The same holds for a record with known items that are
    not sensitive. It does not hold for one that is known to lack all other items of its cluster.)
    """
    release, sensitive = layout.release, layout.release.items.marks(promise.sensitive)
    chunks, items = layout.domains
    linked = np.flatnonzero(sensitive[items])
    terms = release.terms
    few = np.flatnonzero(sensitive[terms.items] & (release.sizes[terms.rows] < promise.l))
    clusters = "in term chunks of clusters with"
    if not len(linked) and not len(few):
        certain = _find_certain(layout, sensitive)
        if certain:
            return _not_hidden(layout, promise, certain, limit)
        found = are(int(sensitive.sum()), "sensitive item")
        text = f"{found} only {clusters} at least {promise.l} records, with other items"
        return Check(promise.model, True, text)
    witnesses = []
    for at in linked[:limit].tolist():
        item, node = layout.label(int(items[at])), int(release.chunk_node[chunks[at]])
        text = f"{item} is in a chunk of {layout.name(node)}, not in its term chunk"
        witnesses.append(Witness(text, (item,)))
    for at in few[:limit].tolist():
        item, node = layout.label(int(terms.items[at])), int(terms.rows[at])
        text = f"{item} is in the term chunk of {layout.name(node)}"
        witnesses.append(Witness(text, (item,), int(release.sizes[node])))
    small = f"{plural(len(few), 'time')} {clusters} fewer than {promise.l} records"
    text = f"sensitive items are {plural(len(linked), 'time')} in chunks and {small}"
    return Check(promise.model, False, text, tuple(witnesses[:limit]))


def _find_certain(layout: Layout, sensitive: Flags) -> list[int]:
    """The simple clusters whose records all have the same single sensitive item in every world."""
    release = layout.release
    alone = release.is_simple & (layout.node_chunks == 0) & (release.terms.lengths == 1)
    nodes = [node for node in np.flatnonzero(alone).tolist() if sensitive[_only(layout, node)]]
    gatherer = Gatherer(layout, Budget(MOST_WORK)) if nodes else None
    return [node for node in nodes if gatherer and not _has_other(layout, gatherer, node)]


def _only(layout: Layout, node: int) -> int:
    return int(layout.release.terms.items[layout.release.terms.indptr[node]])


def _has_other(layout: Layout, gatherer: Gatherer, node: int) -> bool:
    """Whether a record of the cluster has an item of a shared chunk in some world."""
    if layout.release.parent[node] < 0:
        return False
    top = int(layout.top[node])
    within = np.flatnonzero((layout.top == top) & layout.release.is_simple).tolist()
    part = within.index(node)
    try:
        worlds = gatherer.worlds(top)
        source = worlds.parts[part].source
        return any(
            worlds.can_hold(part, frozenset((item,)))
            for item, chunk in source.items()
            if chunk != TERMS
        )
    except TooLargeError:
        return False


def _not_hidden(layout: Layout, promise: LDiversity, nodes: list[int], limit: int) -> Check:
    witnesses = []
    for node in nodes[:limit]:
        item, size = layout.label(_only(layout, node)), int(layout.release.sizes[node])
        text = f"all {size:,} records of a cluster have {item}: nothing else is in it"
        witnesses.append(Witness(text, (item,), size))
    found = f"{plural(len(nodes), 'cluster')} in which every record has the same sensitive item"
    text = f"there {'is' if len(nodes) == 1 else 'are'} {found}"
    return Check(promise.model, False, text, tuple(witnesses))


@dataclass(frozen=True)
class Domain:
    """Each item of each chunk: how many of its subrecords have it, and for how many records."""

    chunks: Int64s
    items: Int64s
    counts: Int64s
    room: Int64s
    """The records that may get it from this chunk: those of its cluster, without the parts that
    have the item in a chunk of their own."""
    overlaid: Int64s
    """For each such part, the number of the entry above it."""
    overlaid_by: Int64s
    """That part."""

    @classmethod
    def of(cls, layout: Layout) -> Domain:
        release, width = layout.release, layout.width
        chunks, items = layout.domains
        known, rows = chunks * width + items, release.subrecords
        which = find(known, release.subrecord_chunk[rows.rows] * width + rows.items)
        counts = sums(which, release.subrecord_counts[rows.rows], len(items))
        room = release.sizes[release.chunk_node[chunks]].copy()
        places, own = layout.chunk_places
        below, above = layout.climb(places)
        shared = layout.chunk_at(above * width + places[below] % width)
        overlaid = find(known, shared * width + places[below] % width)
        overlaid_by = release.chunk_node[own[below]]
        np.subtract.at(room, overlaid, release.sizes[overlaid_by])
        return cls(chunks, items, counts, room, overlaid, overlaid_by)

    @property
    def chances(self) -> Floats:
        """How likely a person has the item, if nothing of the same chunk is known of them."""
        chances: Floats = self.counts / np.maximum(self.room, 1)
        return chances

    def shown(self, layout: Layout) -> Int64s:
        """How many records have each item of the release for certain, all clusters together."""
        return sums(self.items, self.counts, layout.width) + np.bincount(
            layout.release.terms.items, minlength=layout.width
        )


def check_safe(layout: Layout, limit: int = 1) -> Check:
    """Whether no item of a chunk is likelier than the larger of 1/k and its share of all records
    that are not empty.

    An adversary knows a person's cluster and one to m items S of them, none of which the person has
    from chunk C, and asks for an item y of C. All originals that fit the release are equally
    likely. Then P(y | S) <= c / r, where c subrecords of C have y and r records may get one.

    Proof. Fix where everything but C is. Without the rule that no record is empty, each way to give
    the subrecords of C to distinct ones of the r records is equally likely, and P = c / r. The rule
    makes a way the likelier, the more of the records that are still empty get a subrecord (a term
    chunk can fill the others in fewer ways, or there is none): adding one to a random set of them
    never leaves fewer ways. So it moves subrecords away from records that have something already.
    The person's record has S; all such records are alike, so it gets one with a chance of at most
    its share, and that one has y for c of all subrecords. Without anything known, the records of a
    simple cluster are alike, and P = c / r for its own chunks.

    Not covered: items of term chunks, of which the release does not say how many records have
    them; items of a chunk of which something is known, which are published together on purpose;
    and knowledge of what a person does not have."""
    k, domain = max(layout.release.promise.crowd, 1), Domain.of(layout)
    release = layout.release
    records = max(len(release) - int(release.sizes[layout.is_void].sum()), 1)
    common = domain.shown(layout)[domain.items]
    likely = (domain.counts * k > domain.room) & (domain.counts * records > common * domain.room)
    unclear = is_overlaid(layout)[domain.chunks]
    faults = np.flatnonzero(likely | unclear)
    bound = f"1/{k}, or the item's share of all records if that is more"
    if not len(faults):
        text = f"no item of a chunk is likelier for a person of a known cluster than {bound}"
        return Check(NAME, True, text)
    faults = faults[np.argsort(-domain.chances[faults], kind="stable")]
    witnesses = tuple(_witness(layout, domain, at) for at in faults[:limit].tolist())
    text = f"{plural(len(faults), 'item')} of chunks can be inferred with more than {bound}"
    return Check(NAME, False, text, witnesses)


def _witness(layout: Layout, domain: Domain, at: int) -> Witness:
    node = int(layout.release.chunk_node[domain.chunks[at]])
    item, count = layout.label(int(domain.items[at])), int(domain.counts[at])
    chance = share(float(domain.chances[at]))
    text = f"{count:,} of {int(domain.room[at]):,} records ({chance}) of {layout.name(node)}"
    return Witness(f"{text} have {item}", (item,), count)
