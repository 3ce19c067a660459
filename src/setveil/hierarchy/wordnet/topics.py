"""Topics: groups of common nouns that are near each other in WordNet, for data that is made up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random

from setveil.errors import ParameterError
from setveil.hierarchy.neighbours import Neighbours
from setveil.hierarchy.wordnet.network import WordNet
from setveil.hierarchy.wordnet.tree import sense_neighbours

COMMON = 5_000
"""How many of the most frequent nouns a topic draws from, if that gives topics enough."""
NEAR = 4
"""The most steps between any two nouns of a topic."""


def topics(wordnet: WordNet, count: int, size: int, seed: int = 0) -> list[list[str]]:
    """Groups of common nouns of one word, any two of a group at most four steps apart in their most frequent senses.

    A group grows around a noun drawn at random: it takes the noun's neighbours that are near to all taken so far, those first that the
    fewest groups have, then the nearest. Nouns are common that stand most often in `cntlist.rev`; without it, those with most senses. A
    noun may be in several groups. The same WordNet and seed give the same groups.

    Args:
        wordnet: Where the nouns come from.
        count: How many groups.
        size: How many nouns each has, the one it grew around first.
        seed: Fixes what is random.

    Raises:
        ParameterError: when there are not so many groups of this size.
    """
    for name, value in (("count", count), ("size", size)):
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise ParameterError(name, value, "it must be 1 or more")
    nouns = _nouns_by_use(wordnet)
    groups = _groups(wordnet, nouns[:COMMON], count, size, Random(seed))
    if len(groups) < count:
        groups = _groups(wordnet, nouns, count, size, Random(seed))
    if len(groups) < count:
        raise ParameterError(
            "count",
            count,
            f"this WordNet has {len(groups)} groups of {size} common nouns that are near each other",
        )
    return groups


def _groups(
    wordnet: WordNet, nouns: list[str], count: int, size: int, random: Random
) -> list[list[str]]:
    """As many groups of these nouns as are wanted, or as there are."""
    near = sense_neighbours(
        wordnet, [wordnet.index.senses(noun, wordnet.synsets)[:1] for noun in nouns], NEAR
    )
    centres = random.sample(range(len(nouns)), len(nouns))
    used: Counter[int] = Counter()
    groups: list[list[str]] = []
    for centre in _twice(centres, used):
        if len(groups) == count:
            break
        group = _grown(near, centre, size, used, random)
        if group:
            used.update(group)
            groups.append([nouns[noun] for noun in group])
    return groups


def _nouns_by_use(wordnet: WordNet) -> list[str]:
    """The nouns of one word that are in use, the most frequent first, equals in alphabetical order."""
    words = (lemma for lemma in wordnet.lemmas if lemma.isalpha() and len(lemma) > 2)
    counts = wordnet.counts
    if counts:
        return sorted(
            (word for word in words if word in counts), key=lambda word: (-counts[word], word)
        )
    return sorted(words, key=lambda word: (-len(wordnet.index.offsets(word)), word))


def _twice(centres: list[int], used: Counter[int]) -> Iterator[int]:
    """The centres that no group has yet, and then those that one has."""
    yield from (centre for centre in centres if not used[centre])
    yield from (centre for centre in centres if used[centre])


def _grown(
    near: Neighbours, centre: int, size: int, used: Counter[int], random: Random
) -> list[int]:
    """A group around a noun; none when too few are near."""
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
