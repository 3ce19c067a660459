"""Every way to place the pieces of a small disassociated release, and the mean support of an
itemset over all of them. Plain, standard library only.

A cluster is as in `data.jsonl`: `{"size", "chunks", "terms"}` or `{"shared", "parts"}`."""

from fractions import Fraction
from itertools import permutations, product


def mean_support(clusters, itemset):
    """The average number of records with all items. Each chunk gives its subrecords to distinct
    records of its cluster, each term is in one record, and all placements are equally likely."""
    total = ways = 0
    for records in placements(clusters):
        total += sum(set(itemset) <= record for record in records)
        ways += 1
    return Fraction(total, ways)


def placements(clusters):
    """The records of every placement."""
    size, pieces = 0, []
    for cluster in clusters:
        size = _collect(cluster, size, pieces)
    for chosen in product(*(_ways(*piece) for piece in pieces)):
        records = [set() for _ in range(size)]
        for given in chosen:
            for place, items in given:
                records[place].update(items)
        yield records


def _collect(cluster, start, pieces):
    """Add (first record, stop, subrecords) for each chunk and each term; the next free record."""
    if "parts" in cluster:
        stop = start
        for part in cluster["parts"]:
            stop = _collect(part, stop, pieces)
        chunks = cluster["shared"]
    else:
        stop, chunks = start + cluster["size"], cluster["chunks"]
        pieces.extend((start, stop, [[term]]) for term in cluster["terms"])
    for chunk in chunks:
        pieces.append((start, stop, [items for items, count in chunk for _ in range(count)]))
    return stop


def _ways(start, stop, subrecords):
    places = permutations(range(start, stop), len(subrecords))
    return [list(zip(some, subrecords, strict=True)) for some in places]
