"""Changes of what a release says: its records or clusters, its promise and its facts."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import setveil as sv
from setveil.published.disassociated.form import Disassociated
from setveil.published.generalized import Generalized
from setveil.published.release import RecordRelease, Release
from setveil.published.suppressed import Suppressed
from setveil.published.typical_bags import TypicalBags
from tests.audit.releases import bags_of

Cluster = dict[str, Any]


@dataclass
class Content:
    """What a release says, in plain values that can be changed."""

    release: Release
    rows: list[list[str]]
    """The published record of each original, with repeats; nothing if there are clusters."""
    clusters: list[Cluster]
    homes: list[int]
    """The simple cluster of each original, by its number among all clusters, parents first."""
    promise: Any
    facts: dict[str, Any]
    min_people: int

    @classmethod
    def of(cls, release: Release) -> Content:
        """The content of a release that was just made."""
        alignment = release.alignment
        assert alignment is not None
        facts = {name: getattr(release, name) for name in _FACTS if hasattr(release, name)}
        rows, clusters, homes = [], [], []
        if isinstance(release, RecordRelease):
            classes = [[*Counter(bag).elements()] for bag in bags_of(release.classes)]
            rows = [list(classes[number]) for number in alignment.tolist()]
        else:
            assert isinstance(release, Disassociated)
            clusters = [_plain(cluster.to_json()) for cluster in release.clusters()]
            homes = alignment.tolist()
        return cls(release, rows, clusters, homes, release.promise, facts, release.min_people)

    def rebuilt(self) -> Release:
        """A release that says this."""
        old, made = self.release, self._made()
        facts = {name: value for name, value in self.facts.items() if name != "is_global"}
        return replace(made, method=old.method, **facts).leaving_out(self.min_people)  # type: ignore[type-var]

    def _made(self) -> Release:
        old = self.release
        if isinstance(old, Generalized):
            counted, cut = isinstance(old.classes, sv.Bags), self.facts["is_global"]
            rows, tree = self.rows, old.hierarchy
            return Generalized.of(rows, tree, self.promise, counted=counted, is_global=cut)
        if isinstance(old, Suppressed):
            return Suppressed.of(self.rows, self.promise)
        if isinstance(old, TypicalBags):
            made = TypicalBags.of(self.rows, self.promise)
            return replace(made, semantics=old.semantics)
        clusters = [_tidy(cluster) for cluster in self.clusters]
        apart = Disassociated.of_clusters(clusters, self.promise)
        last = len(apart.parent) - 1  # a cluster may be lost
        return replace(apart, alignment=np.minimum(np.array(self.homes, dtype=np.int64), last))


_FACTS = ("is_global", "min_support", "epsilon", "omega")


def _plain(cluster: Any) -> Cluster:
    """A cluster as lists and dictionaries that share nothing."""
    if "parts" in cluster:
        parts = [_plain(part) for part in cluster["parts"]]
        return {"shared": _chunks(cluster["shared"]), "parts": parts}
    terms = list(cluster["terms"])
    return {"size": cluster["size"], "chunks": _chunks(cluster["chunks"]), "terms": terms}


def _chunks(chunks: Any) -> list[list[Any]]:
    return [[[list(items), count] for items, count in chunk] for chunk in chunks]


def _tidy(cluster: Cluster) -> Cluster:
    """The same cluster, with equal subrecords merged and empty ones left out."""
    key = "shared" if "parts" in cluster else "chunks"
    chunks = []
    for chunk in cluster[key]:
        merged: Counter[tuple[str, ...]] = Counter()
        for items, count in chunk:
            merged[tuple(sorted(set(items)))] += count
        chunks.append([[list(items), count] for items, count in merged.items() if items and count])
    tidy = {**cluster, key: [chunk for chunk in chunks if chunk]}
    if "parts" in cluster:
        return {**tidy, "parts": [_tidy(part) for part in cluster["parts"]]}
    return {**tidy, "terms": sorted(set(cluster["terms"]))}


Change = Callable[[random.Random, Content], None]


def forge(rng: random.Random, content: Content) -> list[str]:
    """Make one or two changes, and say which."""
    own = RECORDS if content.rows else CLUSTERS
    changes = rng.choices([*own, *own, *CLAIMS], k=rng.choice((1, 1, 2)))
    for change in changes:
        try:
            change(rng, content)
        except IndexError:  # nothing there to change
            continue
    return [change.__name__ for change in changes]


def _labels(content: Content) -> list[str]:
    tree = getattr(content.release, "hierarchy", None)
    return list("abcde") if tree is None else list(tree.labels)


def _alike(rng: random.Random, content: Content) -> list[list[str]]:
    """One published record, or all that are equal to it, or all there are."""
    one = rng.choice(content.rows)
    same = [row for row in content.rows if sorted(row) == sorted(one)]
    return rng.choice(([one], same, same, content.rows))


def move_item(rng: random.Random, content: Content) -> None:
    """From one record to another."""
    giver = rng.choice([row for row in content.rows if row])
    rng.choice(content.rows).append(giver.pop(rng.randrange(len(giver))))


def add_item(rng: random.Random, content: Content) -> None:
    """To one record, or to all equal ones."""
    item = rng.choice(_labels(content))
    for row in _alike(rng, content):
        row.append(item)


def drop_item(rng: random.Random, content: Content) -> None:
    """From one record, or from all equal ones, or everywhere."""
    rows = _alike(rng, content)
    item = rng.choice(rng.choice(rows))
    for row in rows:
        row[:] = [other for other in row if other != item]


def replace_item(rng: random.Random, content: Content) -> None:
    """By any other, or by a member or the group of it."""
    rows = _alike(rng, content)
    item, tree = rng.choice(rng.choice(rows)), getattr(content.release, "hierarchy", None)
    near = _labels(content)
    if tree is not None and rng.random() < 0.7:
        paths = [path for path in tree.paths() if item in path]
        near = sorted({label for path in paths for label in path} - {item})
    other = rng.choice(near)
    for row in rows:
        row[:] = sorted({other if label == item else label for label in row})


def swap_items(rng: random.Random, content: Content) -> None:
    """Everywhere: data with the same supports, under other names."""
    one, other = rng.sample(_labels(content), 2)
    names = {one: other, other: one}
    for row in content.rows:
        row[:] = [names.get(item, item) for item in row]
    for chunk in _all_chunks(content):
        for entry in chunk:
            entry[0] = [names.get(item, item) for item in entry[0]]
    for simple in _simple(content):
        simple["terms"] = [names.get(item, item) for item in simple["terms"]]


def drop_record(rng: random.Random, content: Content) -> None:
    """One is lost."""
    content.rows.pop(rng.randrange(len(content.rows)))


def add_record(rng: random.Random, content: Content) -> None:
    """One is there twice."""
    content.rows.append(list(rng.choice(content.rows)))


def copy_record(rng: random.Random, content: Content) -> None:
    """One replaces another: a class becomes smaller."""
    rng.choice(content.rows)[:] = rng.choice(content.rows)


def swap_records(rng: random.Random, content: Content) -> None:
    """Two originals are published as each other."""
    places = content.rows or content.homes
    one, other = rng.randrange(len(places)), rng.randrange(len(places))
    places[one], places[other] = places[other], places[one]  # type: ignore[index,assignment]


RECORDS: list[Change] = [
    move_item,
    add_item,
    drop_item,
    replace_item,
    swap_items,
    drop_record,
    add_record,
    copy_record,
    swap_records,
]


def _nodes(clusters: list[Cluster]) -> Iterator[Cluster]:
    for cluster in clusters:
        yield cluster
        yield from _nodes(cluster.get("parts", []))


def _simple(content: Content) -> list[Cluster]:
    return [node for node in _nodes(content.clusters) if "size" in node]


def _all_chunks(content: Content) -> list[list[Any]]:
    nodes = _nodes(content.clusters)
    return [chunk for node in nodes for chunk in node.get("chunks", node.get("shared"))]


def _entry(rng: random.Random, content: Content) -> tuple[list[Any], list[Any]]:
    chunk = rng.choice([chunk for chunk in _all_chunks(content) if chunk])
    return chunk, rng.choice(chunk)


def change_count(rng: random.Random, content: Content) -> None:
    """Of a subrecord."""
    entry = _entry(rng, content)[1]
    entry[1] = max(entry[1] + rng.choice((-1, 1, 1, 2)), 0)


def change_size(rng: random.Random, content: Content) -> None:
    """Of a cluster; another one may get or give the records."""
    one, other = rng.choice(_simple(content)), rng.choice(_simple(content))
    if one["size"] > 1:
        one["size"] -= 1
    if rng.random() < 0.6:
        other["size"] += 1


def move_between_subrecords(rng: random.Random, content: Content) -> None:
    """Of one chunk, or of two."""
    chunk, giver = _entry(rng, content)
    taker = rng.choice(chunk) if rng.random() < 0.6 else _entry(rng, content)[1]
    taker[0].append(giver[0].pop(rng.randrange(len(giver[0]))))


def split_subrecords(rng: random.Random, content: Content) -> None:
    """One time of a subrecord becomes two parts of it, or two become one."""
    chunk, entry = _entry(rng, content)
    if len(entry[0]) > 1 and rng.random() < 0.5:
        items = rng.sample(entry[0], len(entry[0]))
        entry[1] -= 1
        chunk += [[items[:1], 1], [items[1:], 1]]
        return
    other = rng.choice([each for each in chunk if each is not entry])
    times = rng.choice((1, min(entry[1], other[1])))
    entry[1], other[1] = entry[1] - times, other[1] - times
    chunk.append([[*entry[0], *other[0]], times])


def drop_subrecord(rng: random.Random, content: Content) -> None:
    """All its times."""
    chunk, entry = _entry(rng, content)
    chunk.remove(entry)


def add_subrecord(rng: random.Random, content: Content) -> None:
    """Of any items, in a chunk or a new one."""
    items = rng.sample("abcde", rng.randint(1, 2))
    node = rng.choice([*_nodes(content.clusters)])
    chunks = node.get("chunks", node.get("shared"))
    chunk = rng.choice([*chunks, []])
    if not chunk:
        chunks.append(chunk)
    chunk.append([items, rng.randint(1, 2)])


def term_to_chunk(rng: random.Random, content: Content) -> None:
    """A rare item is published with a count."""
    simple = rng.choice([one for one in _simple(content) if one["terms"]])
    item = simple["terms"].pop(rng.randrange(len(simple["terms"])))
    chunks, times = simple["chunks"], rng.randint(1, simple["size"])
    if chunks and rng.random() < 0.5:
        rng.choice(rng.choice(chunks))[0].append(item)
    else:
        chunks.append([[[item], times]])


def chunk_to_terms(rng: random.Random, content: Content) -> None:
    """An item loses its counts."""
    simple = rng.choice([one for one in _simple(content) if one["chunks"]])
    chunk = rng.choice(simple["chunks"])
    item = rng.choice(rng.choice(chunk)[0])
    for entry in chunk:
        entry[0] = [label for label in entry[0] if label != item]
    simple["terms"].append(item)


def change_terms(rng: random.Random, content: Content) -> None:
    """An item more or less, or one instead of another."""
    terms = rng.choice(_simple(content))["terms"]
    if terms and rng.random() < 0.6:
        terms.pop(rng.randrange(len(terms)))
    if rng.random() < 0.6:
        terms.append(rng.choice("abcde"))


def swap_in_cluster(rng: random.Random, content: Content) -> None:
    """Two items change places in one chunk."""
    names = dict(zip(*[iter(rng.sample("abcde", 2))] * 2, strict=True))
    names |= {other: one for one, other in names.items()}
    chunk, _ = _entry(rng, content)
    for entry in chunk:
        entry[0] = [names.get(item, item) for item in entry[0]]


def drop_or_copy_cluster(rng: random.Random, content: Content) -> None:
    """Of the topmost ones."""
    at = rng.randrange(len(content.clusters))
    if rng.random() < 0.5 and len(content.clusters) > 1:
        del content.clusters[at]
    else:
        content.clusters.append(_plain(content.clusters[at]))


def swap_homes(rng: random.Random, content: Content) -> None:
    """Two originals are in each other's cluster."""
    swap_records(rng, content)


CLUSTERS: list[Change] = [
    change_count,
    change_size,
    move_between_subrecords,
    split_subrecords,
    split_subrecords,
    drop_subrecord,
    add_subrecord,
    term_to_chunk,
    chunk_to_terms,
    change_terms,
    swap_in_cluster,
    swap_items,
    drop_or_copy_cluster,
    swap_homes,
]


def change_promise(rng: random.Random, content: Content) -> None:
    """A number becomes another."""
    names = [name for name in ("k", "m", "p") if hasattr(content.promise, name)]
    name = rng.choice(names)
    least = 2 if name == "k" else 1
    number = max(getattr(content.promise, name) + rng.choice((-1, -1, 1)), least)
    content.promise = replace(content.promise, **{name: number})


def change_facts(rng: random.Random, content: Content) -> None:
    """What the release says of how it was made."""
    name = rng.choice([*content.facts, "min_people"])
    choices: dict[str, list[Any]] = {
        "is_global": [not content.facts.get("is_global")],
        "min_support": [0.0, 0.2, 0.3, 0.6, 0.9],
        "epsilon": [0, 1, 2, 3, 4, None],
        "omega": [0.5, 1.0, None],
    }
    if name == "min_people":
        content.min_people = rng.choice((2, 3, 4))
    else:
        content.facts[name] = rng.choice(choices[name])


CLAIMS: list[Change] = [change_promise, change_facts, change_facts]
