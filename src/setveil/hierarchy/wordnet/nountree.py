"""The tree of a vocabulary's nouns in WordNet, their neighbours there, and topics of near nouns."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from random import Random
from typing import cast

import numpy as np

from setveil.data.arrays import Flags, Int64s, ranges
from setveil.data.vocabulary import Vocabulary, sort_labels
from setveil.errors import DataError, ParameterError, UnknownItemError
from setveil.hierarchy.neighbours import Neighbours, Reach, check_epsilon, joined
from setveil.hierarchy.tree import Hierarchy, Origin, numbered
from setveil.hierarchy.wordnet.network import HOW_TO_GET, Unknown, WordNet
from setveil.words import plural

TOP, UNKNOWN = "*", "*unknown"
"""The root above several roots, and the node of items that WordNet does not know."""
_NO_SYNSET = -1


@dataclass(frozen=True, eq=False, repr=False)
class WordNetTree(Hierarchy):
    """A tree of nouns below synsets; it measures distances in WordNet, not along its own edges."""

    wordnet: WordNet = field(kw_only=True)
    synsets: Int64s = field(kw_only=True)
    """The synset of each node (of a leaf: its lowest synset); -1 if it has none."""
    stars: str = field(kw_only=True)
    """The prefix of the labels of inner nodes; empty, unless an item has the same label as one."""

    def _find_neighbours(self, vocabulary: Vocabulary, epsilon: int) -> Neighbours:
        check_epsilon(epsilon)
        self.leaf_numbers(vocabulary)
        senses = [self.wordnet.senses(item) for item in vocabulary]
        return sense_neighbours(self.wordnet, senses, epsilon)

    def pruned(self, nodes: Iterable[int]) -> Hierarchy:
        """These nodes and all their ancestors in WordNet, so that nothing reveals other items.

        The ancestors include synsets that this tree leaves out."""
        shown = sorted({int(node) for node in nodes})
        leaves = {
            self.labels[node]: int(self.synsets[node]) for node in shown if node < self.leaf_count
        }
        inner = [int(self.synsets[node]) for node in shown if node >= self.leaf_count]
        unknown = self.stars + UNKNOWN in {self.labels[node] for node in shown}
        origin = Origin(self.origin.kind, self.origin.parameters, pruned=True)
        frame = _Frame(self.wordnet, self.stars, self.origin.parameters["unknown"] == "keep")
        labels, parents, _ = frame.outline(leaves, inner, unknown=unknown, squeeze=False)
        return numbered(labels, parents, origin)


def wordnet_tree(
    wordnet: WordNet, vocabulary: Vocabulary, unknown: Unknown = "refuse", squeeze: bool = True
) -> WordNetTree:
    """The nouns of a vocabulary as leaves below the synsets that they are a kind of.

    WordNet is not a tree: a noun has several senses, and a synset may have several hypernyms. The
    tree uses the most frequent sense of each noun and the shortest way up to the root; ties go to
    the synset that comes first in WordNet's file. Inner nodes have the usual names of synsets, such
    as `beverage.n.01`: the first word, and which sense of it.

    Each item is a leaf below its synset. So synonyms and forms of one lemma are siblings, and an
    item whose synset is above another's (`drink` and `wine`) is a leaf next to the way down to it.

    Args:
        wordnet: Where the senses and hypernyms come from.
        vocabulary: The items, in any spelling that `WordNet.lemma` understands.
        unknown: What to do with items that WordNet does not know: `refuse` them, or `keep` them as
            leaves of one node `*unknown` below a root `*`.
        squeeze: Leave out synsets with a single child, except the root. There are many, because a
            vocabulary uses few branches of WordNet. They do not change any loss, but a method that
            goes down from the root gains nothing by a step to an only child.

    Raises:
        UnknownItemError: if items are unknown and `unknown` is `refuse`; it names them."""
    if unknown not in ("refuse", "keep"):
        raise ParameterError("unknown", unknown, "it must be refuse or keep")
    senses = {item: wordnet.senses(item)[:1] for item in sort_labels(vocabulary)}
    missing = [item for item, found in senses.items() if not found]
    if missing and unknown == "refuse":
        remedy = "to keep them below a node of their own, say wordnet+unknown instead of wordnet; "
        remedy += "to leave them out of a query log, read it with {terms=nouns}"
        raise UnknownItemError(missing, "WordNet has no noun for", remedy)
    leaves = {item: found[0] if found else _NO_SYNSET for item, found in senses.items()}
    source = {"version": wordnet.version, "synsets": len(wordnet.synsets)}
    recipe = {**source, "unknown": unknown, "squeeze": squeeze}
    stars = ""
    while True:
        frame = _Frame(wordnet, stars, unknown == "keep")
        labels, parents, synsets = frame.outline(leaves, (), squeeze=squeeze)
        if not any(label in leaves for label in labels[: len(labels) - len(leaves)]):
            break
        stars += TOP
    tree = numbered(labels, parents, Origin("wordnet", recipe))
    synset_of = dict(zip(labels, synsets, strict=True))
    numbers = np.array([synset_of[label] for label in tree.labels], dtype=np.int64)
    fields = (tree.nodes, tree.parent, tree.depth, tree.first, tree.stop, tree.origin)
    return WordNetTree(*fields, wordnet=wordnet, synsets=numbers, stars=stars)


def rebuilt_from(
    wordnet: WordNet, recipe: Mapping[str, object], vocabulary: Vocabulary
) -> WordNetTree:
    """Build the tree of a recipe again."""
    made_with = (recipe.get("version"), recipe.get("synsets"))
    if made_with != (wordnet.version, len(wordnet.synsets)):
        named = f"WordNet {made_with[0]} with {made_with[1]} synsets"
        problem = f"the tree was made with {named}, but {wordnet.folder} holds {wordnet}"
        raise DataError(problem, remedy=HOW_TO_GET)
    unknown, squeeze = cast(Unknown, recipe.get("unknown")), bool(recipe.get("squeeze"))
    return wordnet_tree(wordnet, vocabulary, unknown, squeeze)


@dataclass(frozen=True)
class _Frame:
    """The labels and the root of a tree of synsets."""

    wordnet: WordNet
    stars: str
    keep: bool

    def outline(
        self,
        leaves: Mapping[str, int],
        inner: Sequence[int],
        *,
        squeeze: bool,
        unknown: bool = False,
    ) -> tuple[list[str], list[int], list[int]]:
        """Labels, parents and synsets of all nodes above these leaves and synsets.

        The order is `*`, `*unknown`, synsets, leaves."""
        above = self.wordnet.synsets.parents
        hung = np.fromiter(leaves.values(), dtype=np.int64, count=len(leaves))
        roots = np.flatnonzero(above < 0)
        root = roots if len(roots) == 1 else roots[:0]
        own = np.concatenate((np.asarray(inner, dtype=np.int64), hung, root))
        used = _closed_upwards(above, own[own >= 0])
        if squeeze:
            used = used[_is_kept(above, used, hung)]
        labels, parents = [], []
        if self.keep or len(roots) > 1:
            labels, parents = [self.stars + TOP], [-1]
        if unknown or _NO_SYNSET in leaves.values():
            labels, parents = [*labels, self.stars + UNKNOWN], [*parents, 0]
        shift, top = len(labels), 0 if labels else -1
        place = np.full(len(above) + 1, top)
        place[used] = np.arange(shift, shift + len(used))
        nearest = _nearest(above, used)
        labels += [self.stars + self.wordnet.name(synset) for synset in used.tolist()]
        parents += place[nearest[above[used]]].tolist()
        parents += np.where(hung < 0, 1, place[nearest[hung]]).tolist()
        return [*labels, *leaves], parents, [*[_NO_SYNSET] * shift, *used.tolist(), *hung.tolist()]


def _closed_upwards(above: Int64s, synsets: Int64s) -> Int64s:
    """These synsets and all above them, ascending."""
    found = np.zeros(len(above), dtype=bool)
    while len(synsets):
        found[synsets] = True
        synsets = np.unique(above[synsets])
        synsets = synsets[synsets >= 0]
        synsets = synsets[~found[synsets]]
    return np.flatnonzero(found)


def _is_kept(above: Int64s, used: Int64s, hung: Int64s) -> Flags:
    """Which of the synsets are roots or have more than one child."""
    size = len(above) + 1
    children = np.bincount(above[used] + 1, minlength=size)
    children += np.bincount(hung + 1, minlength=size)
    return (above[used] < 0) | (children[used + 1] > 1)


def _nearest(above: Int64s, used: Int64s) -> Int64s:
    """The nearest used synset at or above each synset, else -1; the last entry is -1."""
    kept = np.full(len(above) + 1, False)
    kept[used] = True
    nearest = np.where(kept, np.arange(len(above) + 1), np.append(above, -1))
    nearest[-1] = -1
    while True:
        further = np.where((nearest >= 0) & ~kept[nearest], nearest[nearest], nearest)
        if np.array_equal(further, nearest):
            return nearest
        nearest = further


def sense_neighbours(wordnet: WordNet, senses: Sequence[Sequence[int]], epsilon: int) -> Neighbours:
    """The neighbours of items, given by their synsets, by `WordNet.distance`.

    An item without synsets is only its own neighbour.

    Cost: 20,000 nouns at epsilon = 4 take half a second, 50,000 about two; all nouns of WordNet 3.0
    (109 million pairs) take 12 seconds and 2 GB."""
    near = joined(_reach(wordnet, senses, epsilon), len(senses), epsilon, least=1)
    alone = np.flatnonzero(np.diff(near.indptr) == 0)
    if not len(alone):
        return near
    places = near.indptr[alone]
    indptr = near.indptr + np.concatenate(([0], np.cumsum(np.diff(near.indptr) == 0)))
    items, distances = np.insert(near.items, places, alone), np.insert(near.distances, places, 0)
    return Neighbours(indptr, items, distances, near.epsilon)


def _reach(wordnet: WordNet, senses: Sequence[Sequence[int]], epsilon: int) -> Reach:
    """All synsets at most `epsilon` steps above any sense of each item."""
    lengths = np.array([len(found) for found in senses], dtype=np.int64)
    owners, count = np.repeat(np.arange(len(senses)), lengths), len(wordnet.synsets)
    synsets = np.array([synset for found in senses for synset in found], dtype=np.int64)
    level = np.unique(owners * count + synsets)
    codes, steps = level, np.zeros(len(level), dtype=np.int64)
    for step in range(1, epsilon + 1):
        level = np.setdiff1d(_one_up(wordnet, level, count), codes, assume_unique=True)
        if not len(level):
            break
        codes = np.concatenate((codes, level))
        steps = np.concatenate((steps, np.full(len(level), step)))
    order = np.argsort(codes)
    items, nodes = np.divmod(codes[order], count)
    return Reach(items, nodes, steps[order])


def _one_up(wordnet: WordNet, codes: Int64s, count: int) -> Int64s:
    """All pairs of an item and a hypernym, for pairs of an item and a synset."""
    items, nodes = np.divmod(codes, count)
    starts, above = wordnet.synsets.starts, wordnet.synsets.above
    lengths = starts[nodes + 1] - starts[nodes]
    found = above[ranges(starts[nodes], lengths)]
    return np.unique(np.repeat(items, lengths) * count + found)


COMMON = 5_000  # how many of the most frequent nouns are used, if they give enough topics
NEAR = 4  # the most steps between any two nouns of a topic


def topics(wordnet: WordNet, count: int, size: int, seed: int = 0) -> list[list[str]]:
    """Groups of common one-word nouns, at most four steps apart in their most frequent senses.

    A group grows around a random noun: it adds neighbours of the noun that are near all members,
    first those that the fewest groups have, then the nearest. Common nouns are the most frequent in
    `cntlist.rev`, or without it those with the most senses. A noun may be in several groups. The
    same WordNet and seed give the same groups."""
    for name, value in (("count", count), ("size", size)):
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise ParameterError(name, value, "it must be 1 or more")
    nouns = _nouns_by_use(wordnet)
    groups = _groups(wordnet, nouns[:COMMON], count, size, Random(seed))
    if len(groups) < count:
        groups = _groups(wordnet, nouns, count, size, Random(seed))
    if len(groups) < count:
        found = plural(len(groups), "group")
        raise ParameterError("count", count, f"this WordNet has {found} of {size} related nouns")
    return groups


def families(wordnet: WordNet, count: int, size: int) -> list[list[str]]:
    """The `count` most common one-word nouns in groups of `size` neighbours in the tree.

    Each noun is in one group; the last group may be smaller. After the nouns that `cntlist.rev`
    counts come those with the most senses."""
    nouns = Vocabulary(sort_labels(_nouns_by_use(wordnet, rare=True)[:count]))
    tree = wordnet_tree(wordnet, nouns)
    leaves = tree.labels[: tree.leaf_count]
    return [list(leaves[start : start + size]) for start in range(0, len(leaves), size)]


def _groups(
    wordnet: WordNet, nouns: list[str], count: int, size: int, random: Random
) -> list[list[str]]:
    senses = [wordnet.index.senses(noun, wordnet.synsets)[:1] for noun in nouns]
    near = sense_neighbours(wordnet, senses, NEAR)
    centres = random.sample(range(len(nouns)), len(nouns))
    used: Counter[int] = Counter()
    groups: list[list[str]] = []
    first = (centre for centre in centres if not used[centre])
    for centre in chain(first, (centre for centre in centres if used[centre])):
        if len(groups) == count:
            break
        group = _grown(near, centre, size, used, random)
        if group:
            used.update(group)
            groups.append([nouns[noun] for noun in group])
    return groups


def _nouns_by_use(wordnet: WordNet, *, rare: bool = False) -> list[str]:
    """The one-word nouns in use, or all of them, the most frequent first.

    Ties, and nouns whose use is not counted, are by the number of senses, then alphabetical."""
    words = [lemma for lemma in wordnet.lemmas if lemma.isalpha() and len(lemma) > 2]
    counts = wordnet.counts
    if counts and not rare:
        used = filter(counts.__contains__, words)
        return sorted(used, key=lambda word: (-counts[word], word))
    senses = {word: len(wordnet.index.offsets(word)) for word in words}
    return sorted(words, key=lambda word: (-counts[word], -senses[word], word))


def _grown(
    near: Neighbours, centre: int, size: int, used: Counter[int], random: Random
) -> list[int]:
    """A group around a noun; empty if too few nouns are near."""
    around = [
        (used[noun], distance, random.random(), noun)
        for noun, distance in near.row(centre)
        if noun != centre
    ]
    if len(around) < size - 1:
        return []
    group, still = [centre], {entry[-1] for entry in around}
    for *_, noun in sorted(around):
        if len(group) == size:
            break
        if noun in still:
            group.append(noun)
            still &= {other for other, _ in near.row(noun)}
    return group if len(group) == size else []
