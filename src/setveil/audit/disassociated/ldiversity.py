"""Are sensitive items in term chunks only, each among at least l records that may lack it?"""

from __future__ import annotations

import numpy as np

from setveil.alignment.flow import Budget, TooLargeError
from setveil.audit.disassociated.gather import Gatherer
from setveil.audit.disassociated.guarantee import MOST_WORK
from setveil.audit.disassociated.layout import Layout
from setveil.audit.disassociated.worlds import TERMS
from setveil.audit.verdict import Check, Witness
from setveil.data.arrays import Flags
from setveil.promises.kanonymity import LDiversity
from setveil.words import are, plural


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
