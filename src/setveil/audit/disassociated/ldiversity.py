"""Do sensitive items stand in term chunks only, each among at least l records?"""

from __future__ import annotations

import numpy as np

from setveil.audit.disassociated.layout import Layout, Marks
from setveil.audit.verdict import Check, Witness
from setveil.promises.ldiversity import LDiversity


def check_l_diversity(layout: Layout, promise: LDiversity, limit: int = 1) -> Check:
    """Whether no sensitive item stands in a record or shared chunk, or in the term chunk of a cluster with fewer than l records."""
    release, sensitive = layout.release, _is_sensitive(layout, promise)
    chunks, items = layout.domains
    linked = np.flatnonzero(sensitive[items])
    terms = release.terms
    few = np.flatnonzero(sensitive[terms.items] & (release.sizes[terms.rows] < promise.l))
    if not len(linked) and not len(few):
        text = f"{int(sensitive.sum())} sensitive items stand only in term chunks of clusters with at least {promise.l} records"
        return Check(promise.model, True, text)
    witnesses = []
    for at in linked[:limit].tolist():
        item, node = layout.label(int(items[at])), int(release.chunk_node[chunks[at]])
        witnesses.append(
            Witness(
                f"{item} stands in a chunk of {layout.name(node)}, beside what is not sensitive",
                (item,),
            )
        )
    for at in few[:limit].tolist():
        item, node = layout.label(int(terms.items[at])), int(terms.rows[at])
        witnesses.append(
            Witness(
                f"{item} stands in the term chunk of {layout.name(node)}",
                (item,),
                int(release.sizes[node]),
            )
        )
    small = f"{len(few)} times in term chunks of clusters with fewer than {promise.l} records"
    text = f"sensitive items stand {len(linked)} times in chunks, {small}"
    return Check(promise.model, False, text, tuple(witnesses[:limit]))


def _is_sensitive(layout: Layout, promise: LDiversity) -> Marks:
    labels = layout.release.items.labels
    return np.fromiter(
        (label in promise.sensitive for label in labels), dtype=bool, count=len(labels)
    )
