"""WordNet: lemmas, the tree, distances, neighbours and topics, on a small net and random ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import setveil
from setveil import Bags, KAnonymity, Partition, Transactions
from setveil.data.vocabulary import Vocabulary
from setveil.errors import DataError, ParameterError, UnknownItemError
from setveil.hierarchy.build import rebuild
from setveil.hierarchy.tree import Hierarchy, Origin
from setveil.hierarchy.wordnet.network import WordNet
from tests.oracle.semantics import near, network_distance
from tests.wndb import Entry, write_tiny, write_wndb


@pytest.fixture(scope="module")
def net(tmp_path_factory: pytest.TempPathFactory) -> WordNet:
    return WordNet.read(write_tiny(tmp_path_factory.mktemp("wordnet")))


@pytest.mark.parametrize(
    ("word", "lemma"),
    [
        ("wine", "wine"),
        ("WINES", "wine"),
        ("  Wine ", "wine"),
        ("cherries", "cherry"),
        ("boxes", "box"),
        ("glass", "glass"),
        ("glasses", "glasses"),
        ("buses", "bus"),
        ("mice", "mouse"),
        ("men", "man"),
        ("workmen", None),
        ("dive", "dive"),
        ("gas", "gas"),
        ("gases", "gas"),
        ("boxesful", "boxful"),
        ("mouseful", None),
        ("ful", None),
        ("hot dogs", "hot_dog"),
        ("Hot  Dog", "hot_dog"),
        ("hot_dog", "hot_dog"),
        ("Attorneys General", "attorney_general"),
        ("city of light", "city_of_light"),
        ("unheard-of", None),
        ("s", None),
        ("", None),
        (" ", None),
        ("日本", None),
    ],
)
def test_the_lemma_of_a_word(net, word, lemma):
    assert net.lemma(word) == lemma


def test_every_lemma_is_its_own_lemma_unless_it_is_a_form_of_a_more_frequent_one(net):
    assert {lemma: net.lemma(lemma) for lemma in net.lemmas if net.lemma(lemma) != lemma} == {
        "men": "man"
    }


def test_the_most_frequent_sense_is_the_first(net):
    assert [net.name(synset) for synset in net.senses("boxes")] == ["box.n.01", "box.n.02"]
    assert [net.name(synset) for synset in net.senses("dog")] == ["dog.n.01", "hot_dog.n.01"]
    assert net.senses("nothing") == []


@pytest.mark.parametrize(
    ("one", "other", "distance"),
    [
        ("wine", "wine", 0),
        ("wine", "vino", 1),
        ("wine", "wines", 1),
        ("wine", "alcohol", 1),
        ("wine", "beer", 2),
        ("wine", "milk", 3),
        ("champagne", "food", 4),
        ("wine", "drug", 2),
        ("dog", "mouse", 2),
        ("dog", "food", 1),
        ("paris", "city", 1),
        ("thing", "champagne", 5),
        ("wine", "nothing", None),
        ("nothing", "nothing", None),
    ],
)
def test_the_distance_is_the_shortest_way_over_all_senses_and_hypernyms(net, one, other, distance):
    assert net.distance(one, other) == distance
    assert net.distance(other, one) == distance


def test_the_tree_goes_by_the_first_sense_and_the_shortest_way(net):
    tree = net.tree(Vocabulary(["wine", "dog", "boxes"]), squeeze=False)
    assert tree.path("wine") == (
        "wine",
        "wine.n.01",
        "alcohol.n.01",
        "drug.n.01",
        "body.n.01",
        "thing.n.01",
    )
    assert tree.path("dog") == ("dog", "dog.n.01", "animal.n.01", "body.n.01", "thing.n.01")
    assert tree.path("boxes") == ("boxes", "box.n.01", "artefact.n.01", "body.n.01", "thing.n.01")


def test_of_equally_short_ways_the_one_first_in_the_file_is_gone(tmp_path):
    entries = {
        "top": Entry(["top"]),
        "late": Entry(["late"], ["top"]),
        "early": Entry(["early"], ["top"]),
        "low": Entry(["low"], ["early", "late"]),
    }
    net = WordNet.read(write_wndb(tmp_path / "ties", entries))
    assert net.tree(Vocabulary(["low"]), squeeze=False).path("low") == (
        "low",
        "low.n.01",
        "late.n.01",
        "top.n.01",
    )


def test_synsets_with_an_only_child_are_left_out_but_never_the_root(net):
    words = Vocabulary(["beer", "wine", "vino", "milk"])
    assert sorted(net.tree(words).paths()) == [
        ("beer", "alcohol.n.01", "body.n.01", "thing.n.01"),
        ("milk", "body.n.01", "thing.n.01"),
        ("vino", "wine.n.01", "alcohol.n.01", "body.n.01", "thing.n.01"),
        ("wine", "wine.n.01", "alcohol.n.01", "body.n.01", "thing.n.01"),
    ]


def test_an_item_over_another_stays_a_leaf(net):
    tree = net.tree(Vocabulary(["alcohol", "thing", "wine", "drug"]))
    assert tree.path("alcohol") == ("alcohol", "alcohol.n.01", "drug.n.01", "thing.n.01")
    assert tree.path("thing") == ("thing", "thing.n.01")
    assert tree.path("drug") == ("drug", "drug.n.01", "thing.n.01")
    assert tree.path("wine") == ("wine", "alcohol.n.01", "drug.n.01", "thing.n.01")
    assert tree.leaf_count == 4


def test_the_tree_does_not_depend_on_the_order_of_the_items(net):
    words = ["wine", "beer", "Paris", "hot dogs", "mice", "mouse"]
    assert net.tree(Vocabulary(words)) == net.tree(Vocabulary(words[::-1]))


@pytest.mark.parametrize("squeeze", [True, False])
def test_a_tree_of_one_item_or_none_has_a_root(net, squeeze):
    assert net.tree(Vocabulary(["wine"]), squeeze=squeeze).path("wine")[-1] == "thing.n.01"
    assert net.tree(Vocabulary([]), squeeze=squeeze).labels == ("thing.n.01",)


def test_unknown_items_are_named_and_refused(net):
    with pytest.raises(UnknownItemError, match=r"WordNet has no noun for 'brr', 'qux'") as caught:
        net.tree(Vocabulary(["qux", "wine", "brr"]))
    assert caught.value.items == ("brr", "qux")
    with pytest.raises(ParameterError, match="unknown = 'drop'"):
        net.tree(Vocabulary(["wine"]), unknown="drop")


def test_unknown_items_may_be_kept_under_one_node(net):
    tree = net.tree(Vocabulary(["qux", "wine", "beer", "brr"]), unknown="keep")
    assert tree.path("qux") == ("qux", "*unknown", "*")
    assert tree.path("brr") == ("brr", "*unknown", "*")
    assert tree.path("wine") == ("wine", "alcohol.n.01", "thing.n.01", "*")
    assert net.tree(Vocabulary(["wine"]), unknown="keep").path("wine") == (
        "wine",
        "thing.n.01",
        "*",
    )
    assert net.tree(Vocabulary(["qux"]), unknown="keep").path("qux") == ("qux", "*unknown", "*")


def test_an_unknown_item_has_no_neighbour_but_itself(net):
    words = Vocabulary(["qux", "beer", "brr", "wine"])
    index = net.tree(words, unknown="keep").neighbours(words, 4)
    assert [index.row(item) for item in range(4)] == [
        [(0, 0)],
        [(1, 0), (3, 2)],
        [(2, 0)],
        [(1, 2), (3, 0)],
    ]


def test_labels_give_way_to_items_of_the_same_name(net):
    tree = net.tree(Vocabulary(["wine", "thing.n.01", "*", "*unknown"]), unknown="keep")
    assert tree.path("wine") == ("wine", "*thing.n.01", "**")
    assert tree.path("*") == ("*", "**unknown", "**")
    assert tree.leaf_count == 4


def test_several_roots_come_together_in_one(tmp_path):
    entries = {"a": Entry(["a"]), "b": Entry(["b"]), "c": Entry(["c"], ["b"])}
    net = WordNet.read(write_wndb(tmp_path / "roots", entries))
    assert net.tree(Vocabulary(["a", "c"]), squeeze=False).path("c") == (
        "c",
        "c.n.01",
        "b.n.01",
        "*",
    )
    assert net.tree(Vocabulary(["a", "c"])).path("a") == ("a", "a.n.01", "*")
    assert net.distance("a", "c") is None


@st.composite
def nets(draw):
    """Entries below earlier ones, words with one to three senses, and the same as plain tables."""
    size = draw(st.integers(1, 14))
    above = {}
    for number in range(size):
        above[number] = (
            draw(st.lists(st.integers(0, number - 1), max_size=3, unique=True)) if number else []
        )
    senses = draw(
        st.lists(
            st.lists(st.integers(0, size - 1), min_size=1, max_size=3, unique=True),
            min_size=1,
            max_size=8,
        )
    )
    return above, senses


def written(folder: Path, above, senses) -> WordNet:
    words = [f"word{letter}" for letter in "abcdefgh"[: len(senses)]]
    held = {
        number: [word for word, found in zip(words, senses, strict=True) if number in found]
        for number in above
    }
    entries = {
        str(number): Entry(
            [f"synset{number}x", *held[number]],
            [str(up) for up in ups[:1]],
            [str(up) for up in ups[1:]],
        )
        for number, ups in above.items()
    }
    orders = {
        word: [str(number) for number in found] for word, found in zip(words, senses, strict=True)
    }
    return WordNet(write_wndb(folder, entries, senses=orders))


@given(nets(), st.integers(0, 7))
def test_neighbours_and_distances_are_those_of_a_plain_search(tmp_path_factory, net, epsilon):
    above, senses = net
    wordnet = written(tmp_path_factory.mktemp("net"), above, senses)
    words = Vocabulary([f"word{letter}" for letter in "abcdefgh"[: len(senses)]])
    found = wordnet.tree(words).neighbours(words, epsilon)
    plain = [[network_distance(above, one, other) for other in senses] for one in senses]
    distances = [
        [
            0 if one == other else None if far is None else max(far, 1)
            for other, far in enumerate(row)
        ]
        for one, row in enumerate(plain)
    ]
    assert [found.row(item) for item in range(len(words))] == near(distances, epsilon)
    assert [[wordnet.distance(one, other) for other in words] for one in words] == distances


@given(nets(), st.booleans())
def test_the_tree_over_a_random_net_is_one_of_shortest_ways(tmp_path_factory, net, squeeze):
    above, senses = net
    wordnet = written(tmp_path_factory.mktemp("net"), above, senses)
    words = Vocabulary([f"word{letter}" for letter in "abcdefgh"[: len(senses)]])
    tree = wordnet.tree(words, squeeze=squeeze)
    assert sorted(tree.labels[: tree.leaf_count]) == sorted(words)
    whole = wordnet.tree(words, squeeze=False)
    depth = {number: 0 for number, ups in above.items() if not ups}
    for number, ups in above.items():
        depth.setdefault(number, 1 + min((depth[up] for up in ups), default=0))
    several = sum(not ups for ups in above.values()) > 1
    for word, found in zip(words, senses, strict=True):
        path = [label for label in whole.path(word)[1:] if label != "*"]
        assert path[0] == wordnet.name(found[0])
        assert len(path) == depth[found[0]] + 1
        assert len(whole.path(word)) == len(path) + 1 + several
        kept = set(tree.labels)
        assert tree.path(word) == tuple(label for label in whole.path(word) if label in kept)
    if squeeze:
        roots = {"*", *(wordnet.name(number) for number, ups in above.items() if not ups)}
        assert all(
            tree.labels[node] in roots or len(tree.children(node)) > 1
            for node in range(tree.leaf_count, len(tree))
        )


def test_the_published_part_of_the_tree_reveals_no_other_items(net):
    words = ["wine", "beer", "milk", "mouse", "Paris", "men"]
    one = net.tree(Vocabulary(words))
    other = net.tree(Vocabulary([*words, "tea", "cherry", "dog", "ga"]))
    shown = ["wine", "alcohol.n.01", "animal.n.01"]
    parts = [tree.pruned(tree.nodes.encode(shown)) for tree in (one, other)]
    assert parts[0] == parts[1]
    assert parts[0].origin == Origin("wordnet", one.origin.parameters, pruned=True)
    assert parts[0].path("wine") == (
        "wine",
        "wine.n.01",
        "alcohol.n.01",
        "drug.n.01",
        "body.n.01",
        "thing.n.01",
    )
    assert set(shown) <= set(parts[0].labels)


def test_of_a_tree_with_unknown_items_what_is_published_is_shown(net):
    tree = net.tree(Vocabulary(["wine", "beer", "qux", "brr"]), unknown="keep")
    assert tree.pruned(tree.nodes.encode(["wine"])).labels[0] == "wine"
    assert tree.pruned([tree.root]).path("thing.n.01") == ("thing.n.01", "*")
    assert tree.pruned(tree.nodes.encode(["*unknown"])).path("*unknown") == ("*unknown", "*")
    assert tree.pruned(tree.nodes.encode(["qux"])).path("qux") == ("qux", "*unknown", "*")


def test_the_recipe_has_no_folder_and_builds_the_tree_again(net, monkeypatch):
    words = Vocabulary(["wine", "beer", "qux"])
    tree = net.tree(words, unknown="keep", squeeze=False)
    assert tree.origin.parameters == {
        "version": "9.9",
        "synsets": len(net.synsets),
        "unknown": "keep",
        "squeeze": False,
    }
    monkeypatch.setenv("SETVEIL_WORDNET", str(net.folder))
    assert rebuild(tree.origin, words) == tree
    assert not tree.origin.is_public


def test_a_recipe_of_another_wordnet_is_refused(net, monkeypatch):
    monkeypatch.setenv("SETVEIL_WORDNET", str(net.folder))
    with pytest.raises(
        DataError, match=r"made with WordNet 3.0 with 82115 synsets, but .* holds WordNet\(9.9"
    ):
        rebuild(
            Origin("wordnet", {"version": "3.0", "synsets": 82115, "unknown": "keep"}),
            Vocabulary(["wine"]),
        )


PEOPLE = [
    {"wine": 2, "dog": 1},
    {"vino": 2, "mice": 1},
    {"beer": 1, "cherry": 2},
    {"beer": 1, "milk": 1},
    {"wine": 1, "dog": 2},
]


def test_partition_takes_vocabularies_of_nouns_and_their_tree(net, tmp_path, monkeypatch):
    monkeypatch.setenv("SETVEIL_WORDNET", str(net.folder))
    data = Bags.of(PEOPLE)
    release = Partition().anonymize(data, KAnonymity(k=2), net.tree(data.vocabulary))
    assert setveil.verify(release, data).holds
    setveil.write(release, tmp_path / "release")
    about = json.loads((tmp_path / "release" / "release.json").read_text(encoding="utf-8"))
    assert about["hierarchy"]["kind"] == "wordnet"
    assert about["hierarchy"]["pruned"] is True
    assert str(net.folder) not in json.dumps(about)
    again = setveil.read_release(tmp_path / "release")
    assert setveil.verify(again, data).holds
    assert setveil.measure(again, data, ["blm"]) == setveil.measure(release, data, ["blm"])


def test_a_given_tree_of_nouns_is_just_a_tree(net, tmp_path):
    from setveil.hierarchy.files import read_hierarchy, write_hierarchy

    words = Vocabulary(["wine", "beer", "milk"])
    write_hierarchy(net.tree(words), tmp_path / "tree.csv")
    tree = read_hierarchy(tmp_path / "tree.csv")
    assert tree == net.tree(words)
    assert type(tree) is Hierarchy
    assert tree.neighbours(words, 9).distance(0, 1) == 2


def test_topics_are_groups_of_near_nouns(net):
    groups = net.topics(3, 3, seed=1)
    assert groups == net.topics(3, 3, seed=1)
    for group in groups:
        assert len(set(group)) == 3
        assert all(net.distance(one, other) <= 4 for one in group for other in group)


def test_topics_do_without_counts(net, tmp_path):
    folder = write_tiny(tmp_path / "uncounted")
    (folder / "cntlist.rev").unlink()
    assert len(WordNet.read(folder).topics(5, 3, seed=2)) == 5


@pytest.mark.parametrize(
    ("count", "size", "message"),
    [
        (0, 3, "count = 0"),
        (2, 0, "size = 0"),
        (2, 1.5, "size = 1.5"),
        (2, 40, "has 0 groups of 40"),
    ],
)
def test_topics_that_cannot_be_made_are_refused(net, count, size, message):
    with pytest.raises(ParameterError, match=message):
        net.topics(count, size)


def test_the_alphabetical_tree_takes_queries(tmp_path):
    queries = [
        "cheap flights",
        "cheap flights to rome",
        "crème brûlée",
        "日本 ホテル",
        "what is 7;8?",
        'the "best" hotel',
        "wine",
        "Wine",
    ]
    data = Transactions.of([queries, queries[:4], queries[4:], queries[2:6]])
    tree = Hierarchy.balanced(data.vocabulary, 5, order="alphabetical")
    assert list(tree.labels[: tree.leaf_count]) == sorted(queries)
    release = Partition().anonymize(data, KAnonymity(k=2), tree)
    setveil.write(release, tmp_path / "release")
    again = setveil.read_release(tmp_path / "release")
    assert again == release
    assert setveil.verify(again, data).holds


def test_families_contain_each_common_noun_once(net):
    groups = net.families(7, 3)
    words = [word for group in groups for word in group]
    assert [len(group) for group in groups] == [3, 3, 1]
    assert len(set(words)) == 7
    assert set(words) < set(net.lemmas)
    tree = net.tree(words)
    assert [tree.leaf_numbers(Vocabulary([word]))[0] for word in words] == list(range(7))
