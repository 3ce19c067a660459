"""Topics: groups of common nouns that are near each other in WordNet, for synthetic data."""

from collections import Counter
from collections.abc import Iterator
from random import Random

from setveil.errors import ParameterError
from setveil.hierarchy.neighbours import Neighbours
from setveil.hierarchy.wordnet.network import WordNet
from setveil.hierarchy.wordnet.tree import sense_neighbours
from setveil.words import plural

COMMON = 5_000  # how many of the most frequent nouns are used, if they give enough topics
NEAR = 4  # the most steps between any two nouns of a topic


def topics(wordnet: WordNet, count: int, size: int, seed: int = 0) -> list[list[str]]:
    """Groups of common one-word nouns, at most four steps apart in their most frequent senses.

    A group grows around a random noun: it adds neighbours of the noun that are near all members,
    first those that the fewest groups have, then the nearest. Common nouns are the most frequent in
    `cntlist.rev`, or without it those with the most senses. A noun may be in several groups. The
    same WordNet and seed give the same groups.

    Raises:
        ParameterError: if there are fewer groups of this size."""
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


def _groups(
    wordnet: WordNet, nouns: list[str], count: int, size: int, random: Random
) -> list[list[str]]:
    """Up to `count` groups of these nouns."""
    senses = [wordnet.index.senses(noun, wordnet.synsets)[:1] for noun in nouns]
    near = sense_neighbours(wordnet, senses, NEAR)
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
    """The one-word nouns in use, the most frequent first, ties in alphabetical order."""
    words = [lemma for lemma in wordnet.lemmas if lemma.isalpha() and len(lemma) > 2]
    counts = wordnet.counts
    if counts:
        used = filter(counts.__contains__, words)
        return sorted(used, key=lambda word: (-counts[word], word))
    return sorted(words, key=lambda word: (-len(wordnet.index.offsets(word)), word))


def _twice(centres: list[int], used: Counter[int]) -> Iterator[int]:
    """The centres that are not in a group yet, and then those that are."""
    yield from (centre for centre in centres if not used[centre])
    yield from (centre for centre in centres if used[centre])


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
