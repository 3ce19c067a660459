"""The WordNet of this machine, if it has one."""

from __future__ import annotations

import numpy as np
import pytest

from setveil.data.vocabulary import Vocabulary
from setveil.hierarchy.wordnet.network import WordNet


@pytest.fixture(scope="module")
def real() -> WordNet:
    if WordNet.find() is None:
        pytest.skip("WordNet is not installed (Debian: wordnet-base)")
    net = WordNet.read()
    if net.version != "3.0":
        pytest.skip(f"these tests know WordNet 3.0, and this is {net.version}")
    return net


def test_the_real_wordnet_is_read(real):
    assert len(real.synsets) == 82_115
    assert len(real.lemmas) == 117_798
    assert len({real.name(synset) for synset in range(len(real.synsets))}) == len(real.synsets)
    assert np.flatnonzero(real.synsets.parents < 0).tolist() == [0]


@pytest.mark.parametrize(
    ("word", "lemma"),
    [
        ("Geese", "goose"),
        ("churches", "church"),
        ("men", "man"),
        ("News", "news"),
        ("New York", "new_york"),
        ("the", None),
    ],
)
def test_real_words_have_their_lemmas(real, word, lemma):
    assert real.lemma(word) == lemma


def test_real_nouns_have_their_tree_and_distances(real):
    tree = real.tree(Vocabulary(["paris", "london", "dog", "cat"]))
    assert tree.path("paris") == ("paris", "national_capital.n.01", "object.n.01", "entity.n.01")
    assert (
        real.distance("paris", "london"),
        real.distance("dog", "cat"),
        real.distance("wine", "vino"),
    ) == (2, 4, 1)


def test_thousands_of_real_nouns_have_symmetric_neighbours(real):
    words = Vocabulary.of(
        [lemma for lemma, _ in real.counts.most_common(4000) if lemma in real.lemmas]
    )
    index = real.tree(words).neighbours(words, 4)
    rows = np.repeat(np.arange(len(words)), np.diff(index.indptr))
    ahead = {
        (one, other): far
        for one, other, far in zip(
            rows.tolist(), index.items.tolist(), index.distances.tolist(), strict=True
        )
    }
    assert all(ahead[other, one] == far for (one, other), far in ahead.items())
    random = np.random.default_rng(1)
    for one, other in random.integers(len(words), size=(300, 2)).tolist():
        far = real.distance(words[one], words[other])
        assert index.distance(one, other) == (far if far is not None and far <= 4 else None)


def test_real_topics_are_as_many_as_a_generator_needs(real):
    groups = real.topics(200, 25, seed=1)
    assert [len(set(group)) for group in groups] == [25] * 200
    assert len({word for group in groups for word in group}) > 1_500
