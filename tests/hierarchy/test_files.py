"""Hierarchy files in every layout, with everything that real files bring along."""

from __future__ import annotations

import gzip
import io
import os
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from setveil.errors import FileFormatError, HierarchyError, OutputError, ParameterError
from setveil.hierarchy.check import find_faults
from setveil.hierarchy.files import read_hierarchy, read_outline, write_hierarchy
from setveil.hierarchy.tree import Hierarchy
from tests.strategies import trees

TREE = Hierarchy.from_paths(
    [("beer", "Alcohol", "ALL"), ("wine", "Alcohol", "ALL"), ("milk", "ALL")]
)


def written(folder: Path, content: str | bytes, name: str = "tree.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    tree=trees(),
    layout=st.sampled_from(["paths", "pairs"]),
    delimiter=st.sampled_from([";", ",", "\t"]),
    name=st.sampled_from(["tree.csv", "tree.csv.gz"]),
)
def test_what_is_written_is_read_back(
    tree: Hierarchy, layout: Literal["paths", "pairs"], delimiter: str, name: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    write_hierarchy(tree, path, layout=layout, delimiter=delimiter, force=True)
    assert read_hierarchy(path) == tree
    assert [file.name for file in tmp_path.iterdir() if file.name.startswith(".")] == []


label = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=6)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    tree=st.lists(label, min_size=2, max_size=6, unique=True).flatmap(
        lambda leaves: trees(leaves=leaves, max_inner=3)
    )
)
def test_any_text_at_all_survives_a_file(tree: Hierarchy, tmp_path: Path) -> None:
    write_hierarchy(tree, tmp_path / "tree.csv", force=True)
    assert read_hierarchy(tmp_path / "tree.csv") == tree


@pytest.mark.parametrize("delimiter", [";", ",", "\t"])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_delimiters_line_ends_and_a_byte_order_mark_are_fine(
    delimiter: str, newline: str, mark: str, tmp_path: Path
) -> None:
    lines = ["beer;Alcohol;ALL", "", "wine;Alcohol;ALL", "   ", "milk;ALL"]
    content = mark + newline.join(lines).replace(";", delimiter)
    assert read_hierarchy(written(tmp_path, content)) == TREE


def test_a_path_with_a_nul_character_is_no_file() -> None:
    with pytest.raises(FileFormatError, match="there is no such file"):
        read_hierarchy("tree\0.csv")


def test_the_delimiter_is_the_one_under_which_there_is_one_root(tmp_path: Path) -> None:
    path = written(tmp_path, "nuts, salted;Snacks, dry;ALL\nbeer, dark;Drinks;ALL\n")
    assert read_hierarchy(path).path("nuts, salted") == ("nuts, salted", "Snacks, dry", "ALL")


def test_a_given_delimiter_is_obeyed(tmp_path: Path) -> None:
    path = written(tmp_path, "a;b,R\nc;d,R\n")
    assert set(read_hierarchy(path, delimiter=",").labels) == {"a;b", "c;d", "R"}


def test_quoted_labels_hold_anything(tmp_path: Path) -> None:
    path = written(tmp_path, '"nuts; salted","the ""best"" snacks",ALL\n" tea",Drinks,ALL\n')
    assert read_hierarchy(path).labels == (
        "nuts; salted",
        " tea",
        "ALL",
        'the "best" snacks',
        "Drinks",
    )


def test_padding_as_other_tools_write_it_is_collapsed(tmp_path: Path) -> None:
    path = written(tmp_path, "beer;Alcohol;ALL\nwine;Alcohol;ALL;;\nmilk;milk;ALL;ALL\n")
    assert read_hierarchy(path) == TREE


@pytest.mark.parametrize(
    "content",
    [
        "child,parent\nbeer,Alcohol\nwine,Alcohol\nAlcohol,ALL\nmilk,ALL\n",
        "Parent;Child\nAlcohol;beer\nAlcohol;wine\nALL;Alcohol\nALL;milk\n",
        "beer,Alcohol\nwine,Alcohol\nAlcohol,ALL\nmilk,ALL\n",
        "item\tparent\nbeer\tAlcohol\nwine\tAlcohol\nAlcohol\tALL\nmilk\tALL\nALL\t\n",
        "beer,Alcohol\nwine,Alcohol\nAlcohol,ALL\nmilk,ALL\nALL,ALL\n",
        "beer,Alcohol\nwine,Alcohol\nAlcohol,ALL\nmilk,ALL\nALL\n",
    ],
)
def test_pairs_are_known_by_their_header_or_their_content(content: str, tmp_path: Path) -> None:
    assert read_hierarchy(written(tmp_path, content)) == TREE


def test_two_columns_without_nested_groups_are_paths(tmp_path: Path) -> None:
    outline = read_outline(written(tmp_path, "a;R\nb;R\n"))
    assert outline.from_leaves


def test_a_path_that_looks_like_a_header_is_none(tmp_path: Path) -> None:
    assert read_hierarchy(written(tmp_path, "child;parent\nother;parent\n")).labels == (
        "child",
        "other",
        "parent",
    )


@pytest.mark.parametrize(
    "content",
    [
        "item,group,department\nbeer,Alcohol,Drinks\nwine,Alcohol,Drinks\nbread,,Food\n",
        "department,group,item\nDrinks,Alcohol,beer\nDrinks,Alcohol,wine\nFood,,bread\n",
    ],
)
def test_level_columns_get_a_root_and_may_be_in_either_order(content: str, tmp_path: Path) -> None:
    tree = read_hierarchy(written(tmp_path, content))
    assert [tree.path(label) for label in ("beer", "bread")] == [
        ("beer", "Alcohol", "Drinks", "ALL"),
        ("bread", "Food", "ALL"),
    ]


def test_level_columns_with_a_common_top_get_no_second_one(tmp_path: Path) -> None:
    tree = read_hierarchy(written(tmp_path, "Level 0;Level 1\na;Top\nb;Top\n"))
    assert tree.labels == ("a", "b", "Top")


def test_an_unknown_header_is_skipped_with_and_without_a_layout(tmp_path: Path) -> None:
    path = written(tmp_path, "sku,family\na,X\nb,X\nc,Y\n")
    assert read_hierarchy(path, layout="levels").path("c") == ("c", "Y", "ALL")
    assert read_hierarchy(path) == read_hierarchy(path, layout="levels")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "the file is empty"),
        ("\n \n", "the file is empty"),
        (b"beer;ALL\nb\xe9er;ALL\n", "line 2: byte 2 of the line .0xE9. is not UTF-8"),
        ('"beer;ALL\nwine;ALL\n', "line 1: the quoting is wrong"),
        (gzip.compress(b"beer;ALL\n", mtime=0)[:-5], "gzip data is cut off or damaged"),
    ],
)
def test_a_file_that_cannot_be_used_gets_one_clear_line(
    content: str | bytes, message: str, tmp_path: Path
) -> None:
    with pytest.raises(FileFormatError, match=message) as caught:
        read_hierarchy(written(tmp_path, content))
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 3


def test_a_missing_file_and_a_folder_are_said_so(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="there is no such file"):
        read_hierarchy(tmp_path / "none.csv")
    with pytest.raises(FileFormatError, match="cannot be read"):
        read_hierarchy(tmp_path)


def test_lines_with_too_many_cells_are_named(tmp_path: Path) -> None:
    path = written(tmp_path, "child,parent\na,R\nb,R,S\n")
    with pytest.raises(
        FileFormatError, match="line 3: there are 3 cells, but a pair is a child and its parent"
    ):
        read_hierarchy(path, layout="pairs")
    path = written(tmp_path, "item,group\na,R\nb,R,S\n")
    with pytest.raises(
        FileFormatError, match="line 3: there are 3 cells, but the header has 2 columns"
    ):
        read_hierarchy(path)


def test_faults_of_a_file_name_it_and_its_lines(tmp_path: Path) -> None:
    path = written(tmp_path, "a;X;ALL\n\nb;Y;ALL\na;Y;ALL\nc;;ALL\n")
    with pytest.raises(HierarchyError) as caught:
        read_hierarchy(path)
    assert str(caught.value).startswith(f"{path}: 1 line has an empty label: line 5 (and 1 more")
    sentences = [
        fault.sentence for fault in find_faults(read_outline(path)) if fault.severity == "error"
    ]
    assert sentences == [
        "1 line has an empty label: line 5",
        "'a' has two parents: 'X' (line 1) and 'Y' (line 4)",
    ]


def test_wrong_options_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path, "a;R\n")
    with pytest.raises(ParameterError, match="paths, pairs, levels"):
        read_hierarchy(path, layout="wide")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="a semicolon, a comma or a tab"):
        read_hierarchy(path, delimiter="|")


def test_an_existing_file_is_replaced_only_by_force(tmp_path: Path) -> None:
    path = written(tmp_path, "mine")
    with pytest.raises(OutputError, match="exists already"):
        write_hierarchy(TREE, path)
    assert path.read_text() == "mine"
    write_hierarchy(TREE, path, force=True)
    assert path.read_text() == "beer;Alcohol;ALL\nwine;Alcohol;ALL\nmilk;ALL\n"


def test_a_pipe_is_never_replaced_and_a_link_stays_one(tmp_path: Path) -> None:
    pipe, link, path = tmp_path / "pipe.csv", tmp_path / "link.csv", written(tmp_path, "mine")
    os.mkfifo(pipe)
    link.symlink_to(path)
    with pytest.raises(OutputError, match="it is a device or a pipe"):
        write_hierarchy(TREE, pipe, force=True)
    write_hierarchy(TREE, link, force=True)
    assert pipe.is_fifo()
    assert link.is_symlink()
    assert path.read_text().startswith("beer;")


def test_nothing_is_left_where_writing_fails(tmp_path: Path) -> None:
    with pytest.raises(OutputError):
        write_hierarchy(TREE, tmp_path / "none" / "tree.csv")
    with pytest.raises(OutputError, match="folder"):
        write_hierarchy(TREE, tmp_path, force=True)
    broken = Hierarchy.from_parents(["R", "\udc80"], [-1, 0])
    with pytest.raises(OutputError, match="UTF-8"):
        write_hierarchy(broken, tmp_path / "tree.csv")
    assert list(tmp_path.iterdir()) == []


def test_equal_trees_give_equal_packed_files(tmp_path: Path) -> None:
    for name in ("one.csv.gz", "two.csv.gz"):
        write_hierarchy(TREE, tmp_path / name)
    assert (tmp_path / "one.csv.gz").read_bytes() == (tmp_path / "two.csv.gz").read_bytes()


def test_a_tree_is_written_to_a_stream() -> None:
    stream = io.StringIO()
    write_hierarchy(TREE, stream, layout="pairs", delimiter=",")
    assert stream.getvalue() == "child,parent\nAlcohol,ALL\nbeer,Alcohol\nwine,Alcohol\nmilk,ALL\n"


@pytest.mark.parametrize(
    ("name", "leaves", "height"), [("groceries", 169, 3), ("foodmart1997", 1559, 5)]
)
def test_real_hierarchies_are_read(
    name: str, leaves: int, height: int, shared_data: Path, tmp_path: Path
) -> None:
    tree = read_hierarchy(shared_data / f"{name}.hierarchy.csv")
    assert (tree.leaf_count, tree.height) == (leaves, height)
    write_hierarchy(tree, tmp_path / "again.csv")
    assert read_hierarchy(tmp_path / "again.csv") == tree
