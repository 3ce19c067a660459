"""The tree that WordNet makes of nouns, and the neighbours of nouns in WordNet itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

import numpy as np
import numpy.typing as npt

from setveil.data.vocabulary import Vocabulary, sort_labels
from setveil.errors import DataError, ParameterError, UnknownItemError
from setveil.hierarchy.neighbours import Neighbours, Reach, check_epsilon, joined
from setveil.hierarchy.tree import Hierarchy, Origin, numbered
from setveil.hierarchy.wordnet.network import HOW_TO_GET, Unknown, WordNet

Numbers = npt.NDArray[np.int64]

TOP, UNKNOWN = "*", "*unknown"
"""The root over several roots, and the node of items that WordNet does not know."""
_NO_SYNSET = -1


@dataclass(frozen=True, eq=False, repr=False)
class WordNetTree(Hierarchy):
    """A tree of nouns and the synsets over them, which measures distances in WordNet itself and not along its own edges."""

    wordnet: WordNet = field(kw_only=True)
    synsets: Numbers = field(kw_only=True)
    """The synset of each node, of a leaf the one it hangs below; -1 where there is none."""
    stars: str = field(kw_only=True)
    """What stands before the labels of inner nodes; nothing, unless an item is called like one."""

    def _find_neighbours(self, vocabulary: Vocabulary, epsilon: int) -> Neighbours:
        check_epsilon(epsilon)
        self.leaf_numbers(vocabulary)
        senses = [self.wordnet.senses(item) for item in vocabulary]
        return sense_neighbours(self.wordnet, senses, epsilon)

    def pruned(self, nodes: Iterable[int]) -> Hierarchy:
        """These nodes and all that WordNet has above them, whether or not this tree left it out; so nothing tells of other items."""
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

    WordNet is no tree: a noun has several senses and a synset may have several hypernyms. The tree goes by the most frequent sense of each
    noun (the first of its lemma) and by the shortest way up to the root; of equally short ones by the synset that stands first in
    WordNet's file. Inner nodes are called as synsets commonly are, `beverage.n.01`: the first word, and which sense of it.

    Each item is a leaf below its synset. So synonyms, and forms of one lemma, are siblings, and an item whose synset is over that of
    another (`drink` and `wine`) is a child beside the way to that.

    Args:
        wordnet: Where the senses and hypernyms come from.
        vocabulary: The items, in any spelling that `WordNet.lemma` understands.
        unknown: Items that WordNet does not know: `refuse` them, or `keep` them as leaves of one node `*unknown` below a root `*`.
        squeeze: Leave out synsets with a single child, but never the root. They are many, for a vocabulary uses few of WordNet's
            branches; they change no loss, but a method that goes down from the root gains nothing by a step to an only child.

    Raises:
        UnknownItemError: when items are unknown and to be refused; it names them.
    """
    if unknown not in ("refuse", "keep"):
        raise ParameterError("unknown", unknown, "it must be refuse or keep")
    senses = {item: wordnet.senses(item)[:1] for item in sort_labels(vocabulary)}
    missing = [item for item, found in senses.items() if not found]
    if missing and unknown == "refuse":
        raise UnknownItemError(
            missing, "WordNet has no noun for", "leave them out, or keep them with wordnet+unknown"
        )
    leaves = {item: found[0] if found else _NO_SYNSET for item, found in senses.items()}
    recipe = {
        "version": wordnet.version,
        "synsets": len(wordnet.synsets),
        "unknown": unknown,
        "squeeze": squeeze,
    }
    stars = ""
    while True:
        labels, parents, synsets = _Frame(wordnet, stars, unknown == "keep").outline(
            leaves, (), squeeze=squeeze
        )
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
    """The tree of a recipe again.

    Raises:
        DataError: when the recipe is of another WordNet.
    """
    made_with = (recipe.get("version"), recipe.get("synsets"))
    if made_with != (wordnet.version, len(wordnet.synsets)):
        named = f"WordNet {made_with[0]} with {made_with[1]} synsets"
        raise DataError(
            f"the tree was made with {named}, but {wordnet.folder} holds {wordnet}: {HOW_TO_GET}"
        )
    return wordnet_tree(
        wordnet, vocabulary, cast(Unknown, recipe.get("unknown")), bool(recipe.get("squeeze"))
    )


@dataclass(frozen=True)
class _Frame:
    """How a tree of synsets is set up: its labels and its root."""

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
        """Labels, parents and synsets of the nodes over some leaves and some synsets: `*`, then synsets, then leaves."""
        above = self.wordnet.synsets.parents
        hung = np.fromiter(leaves.values(), dtype=np.int64, count=len(leaves))
        roots = np.flatnonzero(above < 0)
        own = np.concatenate(
            (np.asarray(inner, dtype=np.int64), hung, roots if len(roots) == 1 else roots[:0])
        )
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


def _closed_upwards(above: Numbers, synsets: Numbers) -> Numbers:
    """These synsets and all over them, ascending."""
    found = np.zeros(len(above), dtype=bool)
    while len(synsets):
        found[synsets] = True
        synsets = np.unique(above[synsets])
        synsets = synsets[synsets >= 0]
        synsets = synsets[~found[synsets]]
    return np.flatnonzero(found)


def _is_kept(above: Numbers, used: Numbers, hung: Numbers) -> npt.NDArray[np.bool_]:
    """Which of the synsets are roots or have more than one child."""
    children = np.bincount(above[used] + 1, minlength=len(above) + 1) + np.bincount(
        hung + 1, minlength=len(above) + 1
    )
    return (above[used] < 0) | (children[used + 1] > 1)


def _nearest(above: Numbers, used: Numbers) -> Numbers:
    """The nearest synset of those used at or over each synset; -1 (also in the place of -1) where there is none."""
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
    """The neighbours of items that are given by their synsets, as `WordNet.distance` measures; an item without any has only itself.

    Cost: 20,000 nouns at epsilon = 4 take half a second, 50,000 about two, all nouns of WordNet 3.0 (109 million pairs) 12 and 2 GB.
    """
    near = joined(_reach(wordnet, senses, epsilon), len(senses), epsilon, least=1)
    alone = np.flatnonzero(np.diff(near.indptr) == 0)
    if not len(alone):
        return near
    places = near.indptr[alone]
    indptr = near.indptr + np.concatenate(([0], np.cumsum(np.diff(near.indptr) == 0)))
    return Neighbours(
        indptr,
        np.insert(near.items, places, alone),
        np.insert(near.distances, places, 0),
        near.epsilon,
    )


def _reach(wordnet: WordNet, senses: Sequence[Sequence[int]], epsilon: int) -> Reach:
    """All synsets at most `epsilon` steps over any sense of each item."""
    owners = np.repeat(
        np.arange(len(senses)), np.array([len(found) for found in senses], dtype=np.int64)
    )
    count = len(wordnet.synsets)
    level = np.unique(
        owners * count + np.array([synset for found in senses for synset in found], dtype=np.int64)
    )
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


def _one_up(wordnet: WordNet, codes: Numbers, count: int) -> Numbers:
    """All pairs of item and hypernym of pairs of item and synset."""
    items, nodes = np.divmod(codes, count)
    starts, above = wordnet.synsets.starts, wordnet.synsets.above
    lengths = starts[nodes + 1] - starts[nodes]
    ends = np.cumsum(lengths)
    places = np.arange(ends[-1] if len(ends) else 0) + np.repeat(
        starts[nodes] - (ends - lengths), lengths
    )
    return np.unique(np.repeat(items, lengths) * count + above[places])
