"""Are sensitive items in term chunks only, each among at least l records?"""

from __future__ import annotations

import numpy as np

from setveil.audit.disassociated.layout import Layout
from setveil.audit.verdict import Check, Witness
from setveil.data.arrays import Flags
from setveil.promises.ldiversity import LDiversity
from setveil.words import are, plural


def check_l_diversity(layout: Layout, promise: LDiversity, limit: int = 1) -> Check:
    """Whether sensitive items are only in term chunks of clusters with at least l records."""
    release, sensitive = layout.release, _is_sensitive(layout, promise)
    chunks, items = layout.domains
    linked = np.flatnonzero(sensitive[items])
    terms = release.terms
    few = np.flatnonzero(sensitive[terms.items] & (release.sizes[terms.rows] < promise.l))
    clusters = "in term chunks of clusters with"
    if not len(linked) and not len(few):
        found = are(int(sensitive.sum()), "sensitive item")
        text = f"{found} only {clusters} at least {promise.l} records"
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


def _is_sensitive(layout: Layout, promise: LDiversity) -> Flags:
    labels = layout.release.items.labels
    return np.fromiter(
        (label in promise.sensitive for label in labels), dtype=bool, count=len(labels)
    )
