"""The reader of WNDB files: what it finds in a small net, and its errors for damaged files."""

from __future__ import annotations

from pathlib import Path

import pytest

from setveil.data.vocabulary import Vocabulary
from setveil.errors import DataError, FileFormatError
from setveil.hierarchy.wordnet.network import WordNet
from tests.wndb import HEAD, TINY, Entry, write_tiny, write_wndb

WORDS = Vocabulary(["beer", "wine"])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_tiny(tmp_path / "dict")


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="ascii")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="ascii")


def line_of(path: Path, part: str) -> int:
    return next(
        number
        for number, line in enumerate(path.read_text(encoding="ascii").splitlines(), 1)
        if part in line
    )


def test_every_synset_and_lemma_is_read(folder):
    net = WordNet.read(folder)
    assert len(net.synsets) == len(TINY)
    assert {"wine", "hot_dog", "paris", "city_of_light"} <= set(net.lemmas)
    assert (net.version, repr(net)) == ("9.9", f"WordNet(9.9, {len(TINY)} noun synsets)")


def test_hypernyms_of_kinds_and_of_instances_are_read(folder):
    net = WordNet.read(folder)
    keys = list(TINY)
    starts, above = net.synsets.starts.tolist(), net.synsets.above.tolist()
    found = {
        key: [keys[upper] for upper in above[starts[at] : starts[at + 1]]]
        for at, key in enumerate(keys)
    }
    assert found == {key: [*entry.kinds, *entry.instances] for key, entry in TINY.items()}


def test_only_counts_of_nouns_are_counted(folder):
    assert WordNet.read(folder).counts["wine"] == 11


def test_the_files_that_are_not_needed_may_be_missing(folder):
    (folder / "noun.exc").unlink()
    (folder / "cntlist.rev").unlink()
    net = WordNet.read(folder)
    assert net.lemma("mice") is None
    assert net.lemma("Wines") == "wine"


def test_the_folder_above_dict_is_understood(folder):
    assert WordNet.read(folder.parent).folder == folder.resolve()


def test_a_folder_is_read_once_until_its_files_change(folder):
    import os

    first = WordNet.read(folder)
    assert WordNet.read(str(folder)) is first
    os.utime(folder / "data.noun", ns=(1, 1))
    assert WordNet.read(folder) is not first


def test_a_folder_without_the_files_is_refused(tmp_path):
    with pytest.raises(
        FileFormatError, match=r"data.noun: there is no such file; choose a folder with"
    ):
        WordNet.read(tmp_path)


@pytest.mark.parametrize("variable", ["SETVEIL_WORDNET", "WNSEARCHDIR"])
def test_the_environment_names_the_folder(folder, monkeypatch, variable):
    for name in ("SETVEIL_WORDNET", "WNSEARCHDIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(variable, str(folder))
    assert WordNet.find() == folder
    assert WordNet.read().version == "9.9"


def test_a_variable_that_names_an_empty_folder_is_not_passed_over(tmp_path, monkeypatch):
    monkeypatch.setenv("SETVEIL_WORDNET", str(tmp_path))
    assert WordNet.find() is None
    with pytest.raises(
        DataError,
        match=r"\$SETVEIL_WORDNET names a folder without its files.*install Debian's package",
    ):
        WordNet.read()


def test_where_there_is_no_wordnet_the_error_says_what_to_install(monkeypatch):
    for name in ("SETVEIL_WORDNET", "WNSEARCHDIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("setveil.hierarchy.wordnet.network.PLACES", ())
    assert WordNet.find() is None
    with pytest.raises(
        DataError, match="WordNet is not installed; install Debian's package wordnet-base"
    ):
        WordNet.read()


def test_a_synset_at_a_wrong_place_is_named(folder):
    path = folder / "data.noun"
    change(path, "| made up", "| made up longer")
    with pytest.raises(FileFormatError, match="a synset should start with") as caught:
        WordNet.read(folder).tree(WORDS)
    assert caught.value.line == 3
    assert caught.value.path == str(path.resolve())


def test_a_cut_data_file_is_named_with_its_line(folder):
    path = folder / "data.noun"
    text = path.read_text(encoding="ascii")
    path.write_text(text[:-30], encoding="ascii")
    with pytest.raises(FileFormatError, match="the last line is cut") as caught:
        WordNet.read(folder).tree(WORDS)
    assert caught.value.line == len(text.splitlines())


def test_a_data_file_cut_between_two_lines_is_found_by_its_hypernyms(folder):
    path = folder / "data.noun"
    lines = path.read_text(encoding="ascii").splitlines(keepends=True)
    box = line_of(path, "n 01 box ")
    path.write_text("".join(lines[: box + 1]), encoding="ascii")
    with pytest.raises(FileFormatError, match=r"the hypernym at byte .* is missing") as caught:
        WordNet.read(folder).tree(WORDS)
    assert caught.value.line == box + 1


def test_a_data_file_with_fewer_synsets_than_the_index_is_found(folder):
    path = folder / "data.noun"
    lines = path.read_text(encoding="ascii").splitlines(keepends=True)
    path.write_text("".join(lines[:-1]), encoding="ascii")
    net = WordNet.read(folder)
    assert net.senses("wine")
    with pytest.raises(
        FileFormatError, match=r"'ga' has a synset at byte .*, but data.noun does not"
    ) as caught:
        net.senses("ga")
    assert caught.value.line == line_of(folder / "index.noun", "ga n ")


@pytest.mark.parametrize(
    ("old", "new"),
    [(" 03 n ", " 03 v "), (" n 02 ", " n zz "), (" 002 + ", " 009 + "), (" 002 + ", " xxx + ")],
)
def test_a_damaged_line_of_the_data_is_named(folder, old, new):
    change(folder / "data.noun", old, new)
    with pytest.raises(FileFormatError, match=r"data.noun, line 2: the line is damaged"):
        WordNet.read(folder).tree(WORDS)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("wine n 1", "wine n 2"),
        ("wine n 1", "wine v 1"),
        ("wine n 1", "wine n x"),
        ("wine n 1", "wine n 0"),
    ],
)
def test_a_damaged_line_of_the_index_is_named(folder, old, new):
    path = folder / "index.noun"
    change(path, old, new)
    with pytest.raises(FileFormatError, match="the line of 'wine' is damaged") as caught:
        WordNet.read(folder).senses("wine")
    assert caught.value.line == line_of(path, new)


def test_a_cut_index_is_named(folder):
    path = folder / "index.noun"
    path.write_text(path.read_text(encoding="ascii")[:-9], encoding="ascii")
    with pytest.raises(FileFormatError, match=r"index.noun, line .*the last line is cut"):
        WordNet.read(folder).lemma("wine")


@pytest.mark.parametrize("name", ["index.noun", "data.noun"])
def test_a_file_of_nothing_but_its_head_is_refused(folder, name):
    (folder / name).write_text(HEAD, encoding="ascii")
    with pytest.raises(FileFormatError, match=f"{name}: there are no"):
        WordNet.read(folder).tree(WORDS)


def test_a_list_of_exceptions_with_a_word_alone_is_refused(folder):
    (folder / "noun.exc").write_text("men man\nmice\n", encoding="ascii")
    with pytest.raises(FileFormatError, match=r"noun.exc, line 2: 'mice' has no lemma"):
        WordNet.read(folder).lemma("wine")


def test_files_of_two_wordnets_are_noticed(folder, tmp_path):
    other = write_wndb(
        tmp_path / "other", {"top": Entry(["top"]), "wine": Entry(["wine"], ["top"])}
    )
    (folder / "data.noun").write_bytes((other / "data.noun").read_bytes())
    with pytest.raises(FileFormatError, match="use files of one WordNet"):
        WordNet.read(folder).tree(WORDS)


def test_a_cycle_of_hypernyms_is_refused(tmp_path):
    ring = {"top": Entry(["top"]), "a": Entry(["a"], ["b"]), "b": Entry(["b"], ["a"])}
    with pytest.raises(
        FileFormatError,
        match=r"data.noun, line 3: the hypernyms of this synset are a cycle and lead to no root",
    ):
        WordNet.read(write_wndb(tmp_path / "ring", ring)).tree(Vocabulary(["a"]))


def test_a_version_is_not_needed(tmp_path):
    net = WordNet.read(write_wndb(tmp_path / "plain", {"top": Entry(["top"])}, head=HEAD))
    assert (net.version, repr(net)) == ("", "WordNet(without a version, 1 noun synsets)")
