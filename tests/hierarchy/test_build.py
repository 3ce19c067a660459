"""Trees built from the items: balanced ones and those of code prefixes."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from setveil.data.vocabulary import Vocabulary
from setveil.errors import ParameterError
from setveil.hierarchy.build import balanced, rebuild
from setveil.hierarchy.files import write_hierarchy
from setveil.hierarchy.prefix import SHAPES, detect_shape, prefix
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


@given(vocabularies, st.integers(2, 4), st.sampled_from(["alphabetical", "frequency"]))
def test_labels_that_name_items_are_distinct_repeatable_and_survive_a_file(
    vocabulary: Vocabulary, fanout: int, order: str
) -> None:
    supports = np.arange(len(vocabulary))
    tree = balanced(vocabulary, fanout, order, supports, public_items=True)  # type: ignore[arg-type]
    plain = balanced(vocabulary, fanout, order, supports)  # type: ignore[arg-type]
    assert np.array_equal(tree.parent, plain.parent)
    assert tree.labels[: tree.leaf_count] == plain.labels[: plain.leaf_count]
    assert rebuild(tree.origin, vocabulary, supports) == tree
    if len(vocabulary):
        with TemporaryDirectory() as folder:
            write_hierarchy(tree, Path(folder) / "tree.csv")
            assert Hierarchy.read(Path(folder) / "tree.csv") == tree


def test_labels_name_the_first_and_last_item_if_the_items_are_public() -> None:
    tree = balanced(["apples", "beer", "cider", "tea"], 2, public_items=True)
    assert tree.path("tea") == ("tea", "cider..tea", "*")
    assert balanced(range(1, 9), 4, public_items=True).path("7") == ("7", "5..8", "*")
    only = balanced(["a", "b", "c"], 2, public_items=True)
    assert only.path("c") == ("c", "c..c", "*")
    chain = balanced(range(1, 10), 2, public_items=True)
    assert chain.path("9") == ("9", "9..9", "9..9(2)", "9..9(3)", "*")
    taken = balanced(["a", "a..b", "b", "c"], 2, public_items=True)
    assert taken.path("b")[1:] == ("b..c", "*")
    assert balanced(["a", "a..a0", "a0", "z"], 4, public_items=True).path("a") == ("a", "*")


def test_labels_of_items_without_blanks_have_none_either_so_that_fimi_files_can_hold_them() -> None:
    codes = balanced([f"A{i}" for i in range(10, 40)], 3, public_items=True)
    assert not any(" " in label for label in codes.labels)
    named = balanced(["oat milk", "red wine", "tea", "x"], 2, public_items=True)
    assert named.path("oat milk")[1] == "oat milk .. red wine"


def test_long_items_are_cut_in_labels() -> None:
    tree = balanced(["a" * 99, "b" * 99, "c", "d"], 2, public_items=True)
    assert tree.path("a" * 99)[1] == f"{'a' * 27}.....{'b' * 27}..."


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
def test_a_tree_may_have_a_million_leaves() -> None:
    items = Vocabulary.of(range(1_000_000))
    tree = balanced(items, 5)
    assert tree.leaf_numbers(items)[-1] == 999_999


DOTTED = ["E11.621", "E11.9", "I10", "C7A.1", "S52.521A"]


def test_codes_of_known_shapes_are_cut_at_their_levels_with_and_without_dots() -> None:
    assert prefix(DOTTED).path("E11.621") == ("E11.621", "E11.62", "E11.6", "E11", "E", "*")
    bare = [code.replace(".", "") for code in DOTTED]
    assert prefix(bare).path("E11621") == ("E11621", "E1162", "E116", "E11", "E", "*")
    codes = ["250.00", "V58.61", "E849.0", "038.9", "401"]
    assert prefix(codes).path("250.00") == ("250.00", "250.0", "250", "240-279", "*")
    assert prefix(codes).path("V58.61") == ("V58.61", "V58.6", "V58", "V", "*")
    assert prefix(codes).path("E849.0") == ("E849.0", "E849", "E", "*")
    assert prefix(codes).path("038.9") == ("038.9", "038", "001-139", "*")


def test_every_category_of_icd_9_has_one_chapter() -> None:
    tree = prefix([f"{number:03}" for number in range(1, 1000)], shape="icd9")
    tops = [tree.labels[node] for node in tree.children(tree.root)]
    assert (len(tops), tops[0], tops[-1]) == (17, "001-139", "800-999")
    assert tree.height == 2


def test_a_few_codes_of_another_shape_are_below_the_root() -> None:
    codes = [f"E{number}" for number in range(100, 150)]
    tree = prefix([*codes, "unknown-code"])
    assert tree.origin.parameters["shape"] == "icd10"
    assert tree.path("unknown-code") == ("unknown-code", "*")
    assert prefix([*codes[:5], "unknown-code"]).origin.parameters["shape"] == "parts"


@pytest.mark.parametrize(
    ("codes", "shape"),
    [
        (["100", "2000", "30000"], "parts"),
        (["19.99", "250.00"], "parts"),
        (["A10", "E11", "I10"], "icd10"),
        (["A10BA02", "C07"], "atc"),
        (["V5861", "V4581", "25000"], "icd9"),
        (["milk", "tea"], "parts"),
        ([], "parts"),
    ],
)
def test_the_shape_of_codes_is_detected_only_where_it_is_clear(codes, shape) -> None:
    assert detect_shape(codes) == shape
    assert shape in SHAPES
    again = prefix(codes)
    assert rebuild(again.origin, Vocabulary(codes)) == again
