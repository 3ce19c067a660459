"""Trees built from the items: balanced ones and those of code prefixes."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from setveil.data.vocabulary import Vocabulary
from setveil.errors import ParameterError
from setveil.hierarchy.build import balanced, prefix, rebuild
from setveil.hierarchy.tree import Hierarchy, Origin
from tests.strategies import AWKWARD, NUMBERS, PLAIN

vocabularies = st.sampled_from([PLAIN, NUMBERS, AWKWARD]).flatmap(
    lambda labels: st.lists(st.sampled_from(labels), unique=True).map(
        lambda items: Vocabulary(items)
    )
)


def height_of(items: int, fanout: int) -> int:
    """The least h with fanout ** h >= items, but a root above all in any case."""
    height = 1
    while fanout**height < items:
        height += 1
    return height


@given(st.integers(1, 300), st.integers(2, 12))
def test_all_leaves_of_a_balanced_tree_are_as_deep_as_they_must_be(items: int, fanout: int) -> None:
    tree = balanced(Vocabulary.of(range(items)), fanout)
    assert set(tree.depth[: tree.leaf_count].tolist()) == {height_of(items, fanout)}
    assert tree.leaf_count == items


@given(st.integers(1, 300), st.integers(2, 12))
def test_a_balanced_tree_cuts_each_level_into_runs(items: int, fanout: int) -> None:
    tree = balanced(Vocabulary.of(range(items)), fanout)
    level = [(str(leaf),) for leaf in range(items)]
    for _ in range(tree.height):
        level = [sum(level[start : start + fanout], ()) for start in range(0, len(level), fanout)]
        depth = tree.height - _ - 1
        nodes = [node for node in range(tree.leaf_count, len(tree)) if tree.depth[node] == depth]
        assert [tree.labels[tree.first[node] : tree.stop[node]] for node in nodes] == level


@given(vocabularies, st.integers(2, 4))
def test_built_trees_have_a_leaf_for_every_item_and_distinct_labels(
    vocabulary: Vocabulary, fanout: int
) -> None:
    for tree in (
        balanced(vocabulary, fanout),
        prefix(vocabulary),
        prefix(vocabulary, lengths=(1, 2)),
    ):
        assert len(set(tree.labels)) == len(tree)
        if len(vocabulary):
            assert sorted(tree.labels[: tree.leaf_count]) == sorted(vocabulary)
            assert Hierarchy.from_paths(tree.paths()) == tree


@given(vocabularies, st.integers(2, 4), st.randoms(use_true_random=False))
def test_a_built_tree_is_built_again_from_its_recipe_whatever_the_order_of_the_items(
    vocabulary, fanout, random
) -> None:
    shuffled = list(vocabulary)
    random.shuffle(shuffled)
    for tree in (
        balanced(vocabulary, fanout),
        balanced(vocabulary, fanout, "alphabetical"),
        prefix(vocabulary),
        prefix(vocabulary, (1, 3)),
    ):
        again = rebuild(tree.origin, Vocabulary(shuffled))
        assert again == tree
        assert again.origin == tree.origin


def test_labels_are_positions() -> None:
    tree = balanced(Vocabulary.of(range(1, 11)), 2)
    assert tree.path("1") == ("1", "*1.1.1", "*1.1", "*1", "*")
    assert tree.path("10") == ("10", "*2.1.1", "*2.1", "*2", "*")


def test_numbers_are_sorted_as_numbers_unless_said_otherwise() -> None:
    items = Vocabulary(["10", "9", "1"])
    assert balanced(items, 2).labels[:3] == ("1", "9", "10")
    assert balanced(items, 2, "alphabetical").labels[:3] == ("1", "10", "9")


def test_the_order_by_frequency_starts_with_the_most_frequent_and_breaks_ties_naturally() -> None:
    items, supports = Vocabulary(["a", "b", "c", "d"]), np.array([1, 5, 1, 7])
    tree = balanced(items, 2, "frequency", supports)
    assert tree.labels[:4] == ("d", "b", "a", "c")
    assert rebuild(tree.origin, Vocabulary(["d", "c", "b", "a"]), supports[::-1]) == tree


def test_an_item_named_like_a_position_moves_the_positions_aside() -> None:
    assert balanced(Vocabulary(["*", "a"]), 2).path("a") == ("a", "**")
    assert balanced(Vocabulary(["*1", "**", "b"]), 2).path("b") == ("b", "***2", "***")
    assert balanced(Vocabulary(["*x", "a"]), 2).path("a") == ("a", "*")


def test_no_item_gives_a_root_and_one_item_is_below_it() -> None:
    assert balanced(Vocabulary([])).labels == prefix(Vocabulary([])).labels == ("*",)
    assert (
        list(balanced(Vocabulary(["a"])).paths())
        == list(prefix(Vocabulary(["a"])).paths())
        == [("a", "*")]
    )


@pytest.mark.parametrize("fanout", [1, 0, -3, 2.5, True, "5"])
def test_a_fanout_below_two_is_refused(fanout: object) -> None:
    with pytest.raises(ParameterError, match="it must be a whole number of 2 or more"):
        balanced(Vocabulary(["a"]), fanout)  # type: ignore[arg-type]


def test_orders_that_do_not_work_are_refused() -> None:
    items = Vocabulary(["1", "x"])
    with pytest.raises(ParameterError, match="'x' is not a whole number"):
        balanced(items, 2, "numeric")
    with pytest.raises(ParameterError, match="needs the support of each of 2 items"):
        balanced(items, 2, "frequency")
    with pytest.raises(ParameterError, match="3 numbers"):
        balanced(items, 2, "frequency", np.array([1, 2, 3]))
    with pytest.raises(ParameterError, match="numeric, alphabetical, frequency"):
        balanced(items, 2, "random")  # type: ignore[arg-type]


def test_codes_are_below_their_prefixes() -> None:
    tree = prefix(Vocabulary.of(["A00.1", "A00.9", "A01", "J45.9-2", "milk", "B12"]))
    assert tree.path("A00.1") == ("A00.1", "A00", "A", "*")
    assert tree.path("A01") == ("A01", "A", "*")
    assert tree.path("J45.9-2") == ("J45.9-2", "J45.9", "J45", "J", "*")
    assert tree.path("milk") == ("milk", "*")


def test_codes_are_cut_at_given_lengths() -> None:
    tree = prefix(Vocabulary.of(["A10BA02", "A10BA03", "C07"]), lengths=(1, 3, 4, 5))
    assert tree.path("A10BA02") == ("A10BA02", "A10BA", "A10B", "A10", "A", "*")
    assert tree.path("C07") == ("C07", "C", "*")
    assert prefix(Vocabulary.of(["A00.12"]), lengths=(3, 4, 5)).path("A00.12") == (
        "A00.12",
        "A00.1",
        "A00",
        "*",
    )


def test_a_code_that_starts_others_stays_a_leaf() -> None:
    tree = prefix(Vocabulary.of(["A00", "A00.1", "A00.*", "*"]))
    assert tree.path("A00") == ("A00", "A00.**", "A", "**")
    assert tree.path("A00.1") == ("A00.1", "A00.**", "A", "**")
    assert tree.path("A00.*") == ("A00.*", "A00.**", "A", "**")


@pytest.mark.parametrize("lengths", [(), (0, 1), (3, 1), (2, 2), (1.5,)])
def test_lengths_must_rise(lengths: tuple[int, ...]) -> None:
    with pytest.raises(ParameterError, match="ascending whole numbers"):
        prefix(Vocabulary(["a"]), lengths)


def test_codes_without_separators_may_say_so() -> None:
    assert prefix(Vocabulary(["A.B.C"]), separators="").path("A.B.C") == ("A.B.C", "A", "*")
    assert prefix(Vocabulary([".A", "-"])).labels == ("-", ".A", "*")


def test_a_given_tree_has_no_recipe() -> None:
    with pytest.raises(ParameterError, match="can be built again"):
        rebuild(Origin(), Vocabulary(["a"]))


@pytest.mark.long
def test_a_million_leaves_take_seconds() -> None:
    items = Vocabulary.of(range(1_000_000))
    start = time.perf_counter()
    tree = balanced(items, 5)
    assert tree.leaf_numbers(items)[-1] == 999_999
    assert time.perf_counter() - start < 10
