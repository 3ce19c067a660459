"""Is an item of another chunk never likelier than it may be? The cover problem, bounded exactly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from setveil.audit.disassociated.layout import Layout
from setveil.audit.disassociated.proof import is_overlaid
from setveil.audit.verdict import Check, Witness
from setveil.data.arrays import Floats, Int64s, find, sums
from setveil.words import plural, share

NAME = "inference"


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
