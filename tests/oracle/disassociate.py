"""Disassociation in plain Python: HORPART, VERPART and all ways of REFINE, every choice spelled
out.

A release is a list of nested clusters: `("simple", size, [chunk, ...], terms)` or `("joint",
[chunk, ...], [cluster, ...])`, a chunk being a `Counter` of frozensets of terms. Terms are numbers,
and of equal ones the smaller goes first."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

Record = frozenset


def horpart(
    records: list[Record], least: int, limit: int, sensitive: frozenset = frozenset()
) -> list[list[Record]]:
    """Clusters of similar records."""
    clusters, pending = [], [(list(records), frozenset(sensitive))]
    while pending:
        group, used = pending.pop(0)
        if len(group) < limit:
            clusters.append(group)
            continue
        groups = _put_together(_cut_off(group, used), least, limit)
        if len(groups) == 1 and len(groups[0][0]) == len(group) and groups[0][1] is None:
            group = groups[0][0]
            pieces = max(min(-(-len(group) // (limit - 1)), len(group) // least), 1)
            clusters += [
                group[len(group) * i // pieces : len(group) * (i + 1) // pieces]
                for i in range(pieces)
            ]
            continue
        pending[:0] = [(part, used if term is None else used | {term}) for part, term in groups]
    return clusters


def with_public_terms(clusters, sensitive):
    """Put clusters of nothing but sensitive terms together with the smallest others."""
    good = [number for number, rows in enumerate(clusters) if any(row - sensitive for row in rows)]
    bad = [number for number in range(len(clusters)) if number not in good]
    result = {number: list(clusters[number]) for number in good}
    good.sort(key=lambda number: len(clusters[number]))
    for place, number in enumerate(bad):
        result[good[place % len(good)]] += clusters[number]
    return [result[number] for number in sorted(result)]


def _cut_off(group, used):
    parts = []
    while True:
        counts = Counter(term for record in group for term in record if term not in used)
        if not counts:
            break
        term = min(counts, key=lambda other: (-counts[other], other))
        parts.append(([record for record in group if term in record], term))
        group = [record for record in group if term not in record]
    return parts + ([(group, None)] if group else [])


def _put_together(parts, least, limit):
    groups, i = [], 0
    while i < len(parts):
        part, term = parts[i]
        i += 1
        if len(part) < limit:
            while i < len(parts) and len(part) < least and len(parts[i][0]) < limit:
                part, term = part + parts[i][0], None
                i += 1
        if len(part) < least and groups:
            groups[-1] = (groups[-1][0] + part, groups[-1][1])
        else:
            groups.append((part, term))
    if len(groups) > 1 and len(groups[0][0]) < least:
        groups[:2] = [(groups[0][0] + groups[1][0], groups[1][1])]
    return groups


def is_anonymous(rows: list[Record], k: int, m: int) -> bool:
    """Whether every itemset of up to m terms is in k rows or in none."""
    counts = Counter(
        frozenset(some)
        for row in rows
        for size in range(1, m + 1)
        for some in combinations(sorted(row), size)
    )
    return all(count >= k for count in counts.values())


def chunk_domains(rows: list[Record], terms: list, k: int, m: int) -> list[set]:
    """Terms, most frequent first (of equals in the order given), each into the chunk that is being
    filled if that stays anonymous.

    Chunk after chunk, as in the paper.
    """
    support = Counter(term for row in rows for term in row)
    remaining, domains = sorted(terms, key=lambda term: -support[term]), []
    while remaining:
        current: set = set()
        for term in remaining:
            if is_anonymous([row & (current | {term}) for row in rows], k, m):
                current.add(term)
        domains.append(current)
        remaining = [term for term in remaining if term not in current]
    return domains


def verpart(
    cluster: list[Record], k: int, m: int, sensitive: frozenset = frozenset()
) -> tuple[list[set], bool]:
    """The domains of the record chunks, and whether Lemma 2 needs a term in the term chunk."""
    support = Counter(term for record in cluster for term in record)
    frequent = sorted(term for term in support if support[term] >= k and term not in sensitive)
    domains = chunk_domains(cluster, frequent, k, m)
    subrecords = sum(bool(record & domain) for domain in domains for record in cluster)
    is_short = not domains or subrecords < len(cluster) + k * (min(m, len(domains)) - 1)
    if is_short and frequent and len(frequent) == len(support):
        last = max(frequent, key=lambda term: (-support[term], term))
        domains = [domain - {last} for domain in domains if domain != {last}]
    return domains, is_short


class Node:
    """A cluster, simple or joint, with what its parts have left in their term chunks."""

    def __init__(self, parts, records, open_terms, told, kept):
        self.parts, self.records, self.open, self.told, self.kept = (
            parts,
            records,
            open_terms,
            told,
            kept,
        )
        self.shared: list[Counter] = []

    @property
    def size(self) -> int:
        return len(self.records)

    @property
    def first(self) -> int:
        """The number of its first cluster."""
        return min(number for number, _ in self.records)


def disassociate(
    records: list[Record],
    k: int,
    m: int,
    limit: int,
    refine: str | None = "default",
    weight=0.5,
    sensitive=frozenset(),
) -> list:
    """The release of records that are not empty, as nested clusters."""
    simple = []
    for cluster in with_public_terms(horpart(records, k, limit, sensitive), sensitive):
        domains, is_short = verpart(cluster, k, m, sensitive)
        simple.append((cluster, domains, is_short))
    nodes = _open(simple, k, sensitive)
    leaves = list(nodes)
    sizes, rank = [node.size for node in nodes], _by_popularity(nodes)
    if refine in ("default", "share_lost"):
        in_chunk = {term for node in nodes for term in node.told - node.kept}
        nodes = sorted(_join_rounds(nodes, sizes, rank, k, m), key=lambda node: node.first)
        in_chunk |= {term for node in nodes for term in node.told - node.kept}
        nodes = _join_levels(
            nodes,
            sizes,
            rank,
            in_chunk if refine == "share_lost" else None,
            k,
            m,
            k * limit / weight,
            weight,
        )
    elif refine == "paper":
        nodes = _join_rounds(nodes, sizes, rank, k, m)
    return [_shown(node, simple, leaves) for node in nodes]


def _open(simple, k, sensitive):
    """Each cluster with, for each term that may be shared, who holds it: (cluster, record)."""
    left = [
        [record - set().union(*domains) for record in cluster] for cluster, domains, _ in simple
    ]
    total = Counter(term for rows in left for row in rows for term in row)
    nodes = []
    for number, (cluster, domains, is_short) in enumerate(simple):
        terms = set().union(*left[number])
        can_leave = {term for term in terms if total[term] >= k and term not in sensitive}
        kept = (
            {min(terms, key=lambda term: (total[term], term))}
            if is_short and terms and can_leave == terms
            else set()
        )
        held = {
            term: [(number, i) for i, row in enumerate(left[number]) if term in row]
            for term in can_leave - kept
        }
        told = set().union(*domains) | kept
        nodes.append(Node([number], [(number, i) for i in range(len(cluster))], held, told, kept))
    return nodes


def _merged(left, right):
    kept = left.kept | right.kept
    held = {
        term: left.open.get(term, []) + right.open.get(term, [])
        for term in {*left.open, *right.open} - kept
    }
    return held, left.told | right.told, kept


def _share(parts, held, told, kept, chosen, k, m):
    """A joint cluster over the chosen terms; of equally frequent ones the first given goes
    first."""
    records = [record for part in parts for record in part.records]
    node = Node(
        parts,
        records,
        {term: who for term, who in held.items() if term not in chosen},
        told | set(chosen),
        kept,
    )
    fresh = [term for term in chosen if term not in told]
    rows = [frozenset(term for term in fresh if record in held[term]) for record in records]
    for domain in chunk_domains(rows, fresh, k, m):
        node.shared.append(Counter(row & domain for row in rows if row & domain))
    node.shared += [
        Counter({frozenset({term}): len(held[term])}) for term in chosen if term in told
    ]
    node.taken = {(term, record) for term in chosen for record in held[term]}
    return node


def _join_levels(nodes, sizes, rank, in_chunk, k, m, reach, weight):
    """Share among 2, 4, 8, ... neighbours what they make likely enough; and once what is in
    no chunk, if it is said what does."""
    level = [([node], node.open, node.told, node.kept) for node in nodes]
    records = sum(sizes)
    while True:
        narrow, above = records >= reach * len(level), []
        if narrow and in_chunk is None:
            break
        for i in range(0, len(level), 2):
            if i + 1 == len(level) and i > 0:
                above.append(level[i])
                continue
            roots, held, told, kept = level[i]
            if i + 1 < len(level):
                roots = roots + level[i + 1][0]
                held, told, kept = _merged(
                    Node([], [], *level[i][1:]), Node([], [], *level[i + 1][1:])
                )
            total = sum(root.size for root in roots)
            chosen = []
            for term in sorted(
                (term for term, who in held.items() if len(who) >= k), key=rank.__getitem__
            ):
                who = held[term]
                owners = {number for number, _ in who}
                is_likely = (
                    not narrow
                    and len(who) * sum(sizes[number] for number in owners)
                    >= weight * len(owners) * total
                )
                if is_likely or (in_chunk is not None and term not in in_chunk):
                    chosen.append(term)
            if chosen:
                in_chunk = None if in_chunk is None else in_chunk | set(chosen)
                joint = _share(roots, held, told, kept, chosen, k, m)
                above.append(([joint], joint.open, joint.told, kept))
            else:
                above.append((roots, held, told, kept))
        level = above
        if len(level) <= 1:
            break
    return [root for entry in level for root in entry[0]]


def _join_rounds(nodes, sizes, rank, k, m):
    """Join clusters as the paper does, until none join."""
    while True:
        words = [
            [
                rank[term]
                for term in sorted(node.open, key=rank.__getitem__)
                for _ in node.open[term]
            ]
            for node in nodes
        ]
        infinite = len(rank) + 1
        nodes = [nodes[i] for i in sorted(range(len(nodes)), key=lambda i: words[i] + [infinite])]
        joined, i = [], 0
        while i < len(nodes):
            chosen = []
            if i + 1 < len(nodes):
                held, told, kept = _merged(nodes[i], nodes[i + 1])
                chosen = sorted(
                    (term for term, who in held.items() if len(who) >= k and term not in told),
                    key=rank.__getitem__,
                )
                listed = [
                    (term, number)
                    for term in chosen
                    for number in {number for number, _ in held[term]}
                ]
                holders = sum(sizes[number] for number in {number for _, number in listed})
                supports = sum(len(held[term]) for term in chosen)
                if supports * holders < len(listed) * (nodes[i].size + nodes[i + 1].size):
                    chosen = []
            if chosen:
                joined.append(_share([nodes[i], nodes[i + 1]], held, told, kept, chosen, k, m))
                i += 2
            else:
                joined.append(nodes[i])
                i += 1
        if len(joined) == len(nodes):
            return joined
        nodes = joined


def _by_popularity(nodes):
    """The place of each term among those of the term chunks, by how many of these hold it."""
    popularity = Counter(term for node in nodes for term in node.open)
    return {
        term: place
        for place, term in enumerate(sorted(popularity, key=lambda term: (-popularity[term], term)))
    }


def _shown(node, simple, leaves, taken=frozenset()):
    taken = taken | getattr(node, "taken", frozenset())
    if node in leaves:
        (number,) = node.parts
        cluster, domains, _ = simple[number]
        chunks = [
            Counter(record & domain for record in cluster if record & domain) for domain in domains
        ]
        told = set().union(*domains)
        terms = {
            term
            for i, record in enumerate(cluster)
            for term in record - told
            if (term, (number, i)) not in taken
        }
        return ("simple", len(cluster), chunks, terms)
    return ("joint", node.shared, [_shown(part, simple, leaves, taken) for part in node.parts])
