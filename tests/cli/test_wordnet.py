"""WordNet on the command line, with a little net of our own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from setveil import Hierarchy, Transactions
from setveil.errors import ParameterError
from setveil.hierarchy.layouts import TreeOptions
from setveil.hierarchy.recipes import hierarchy_maker
from tests.wndb import write_tiny

WORDS = "record,item,count\n1,wine,2\n1,dogs,1\n2,vino,2\n2,mice,1\n3,beer,1\n4,beer,1\n4,milk,1\n"


@pytest.fixture
def little(tmp_path_factory, monkeypatch) -> Path:
    """A WordNet folder that no variable names."""
    for name in ("SETVEIL_WORDNET", "WNSEARCHDIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("setveil.hierarchy.wordnet.network.PLACES", ())
    return write_tiny(tmp_path_factory.mktemp("little:net"))


@pytest.fixture
def words(folder) -> Path:
    (folder / "words.csv").write_text(WORDS, encoding="utf-8")
    return folder


@pytest.mark.parametrize("option", ["--hierarchy", "--semantics"])
def test_both_words_name_the_tree(call, words, little, option):
    result = call(
        "anonymize", "words.csv", "-o", "release", "-k", 2, option, f"wordnet:{little}", "--json"
    )
    assert result.code == 0
    about = (words / "release" / "release.json").read_text(encoding="utf-8")
    assert json.loads(about)["hierarchy"] == {
        "kind": "wordnet",
        "version": "9.9",
        "synsets": 38,
        "unknown": "refuse",
        "squeeze": True,
        "pruned": True,
    }
    assert str(little) not in about
    assert "milk" not in (words / "release" / "hierarchy.csv").read_text(encoding="utf-8")


def test_a_release_is_measured_and_verified_with_the_wordnet_that_is_named(
    call, words, little, monkeypatch
):
    made = call(
        "anonymize",
        "words.csv",
        "-o",
        "release",
        "-k",
        2,
        "--semantics",
        f"wordnet:{little}",
        "--json",
    ).json
    missing = call("measure", "release", "--original", "words.csv")
    assert (missing.code, missing.out) == (3, "")
    assert "WordNet is not installed; install" in missing.err
    assert missing.err.count("\n") == 1
    named = call(
        "measure",
        "release",
        "--original",
        "words.csv",
        "--semantics",
        f"wordnet:{little}",
        "--metric",
        "blm",
        "--json",
    )
    assert named.json["blm"] == made["losses"]["blm"]
    monkeypatch.setenv("SETVEIL_WORDNET", str(little))
    assert (
        call("measure", "release", "--original", "words.csv", "--metric", "blm", "--json").json
        == named.json
    )
    assert call("verify", "release", "--original", "words.csv").code == 0


def test_a_release_is_not_measured_on_a_tree_of_other_nodes(call, words, little):
    assert (
        call(
            "anonymize", "words.csv", "-o", "release", "-k", 2, "--semantics", f"wordnet:{little}"
        ).code
        == 0
    )
    result = call("measure", "release", "--original", "words.csv", "--hierarchy", "balanced:2")
    assert (result.code, result.out) == (3, "")
    assert "nodes that the given hierarchy lacks" in result.err


def test_unknown_items_are_named_or_kept(call, words, little):
    (words / "words.csv").write_text(WORDS + "4,qux,1\n3,qux,1\n", encoding="utf-8")
    refused = call(
        "anonymize", "words.csv", "-o", "release", "-k", 2, "--semantics", f"wordnet:{little}"
    )
    assert (refused.code, refused.out) == (3, "")
    assert (
        "WordNet has no noun for 'qux'; to keep them below a node of their own, say "
        "wordnet+unknown instead of wordnet; to leave them out of a query log, "
        "read it with --terms nouns" in refused.err
    )
    assert not (words / "release").exists()
    assert (
        call(
            "anonymize",
            "words.csv",
            "-o",
            "release",
            "-k",
            2,
            "--semantics",
            f"wordnet+unknown:{little}",
        ).code
        == 0
    )
    assert "*unknown;*" in (words / "release" / "hierarchy.csv").read_text(encoding="utf-8")


def test_a_tree_is_built_and_shown(call, words, little):
    built = call("hierarchy", "build", "words.csv", f"wordnet:{little}", "-o", "nouns.csv")
    assert built.code == 0
    assert Hierarchy.read("nouns.csv").path("wine") == (
        "wine",
        "wine.n.01",
        "alcohol.n.01",
        "body.n.01",
        "thing.n.01",
    )
    shown = call("hierarchy", "show", f"wordnet:{little}", "--data", "words.csv", "--json").json
    assert (shown["origin"], shown["leaves"]) == ("wordnet", 6)
    assert call("hierarchy", "show", f"wordnet:{little}").code == 2


@pytest.mark.parametrize("recipe", ["wordnet", "wordnet+unknown", "wordnet:missing"])
def test_without_wordnet_nothing_is_read_or_written(call, words, little, recipe):
    result = call("anonymize", "nowhere.csv", "-o", "release", "-k", 2, "--semantics", recipe)
    assert (result.code, result.out) == (3, "")
    assert "nowhere.csv" not in result.err
    assert result.err.count("\n") == 1
    assert not (words / "release").exists()


def test_a_folder_with_a_colon_in_its_name_is_understood(little):
    tree = hierarchy_maker(f"wordnet:{little}")(Transactions.of([["wine", "beer"]]))
    assert ":" in str(little)
    assert tree.path("wine") == ("wine", "alcohol.n.01", "thing.n.01")


def test_a_wrong_recipe_is_refused(little):
    with pytest.raises(ParameterError, match="hierarchy = 'wordnet:'"):
        hierarchy_maker("wordnet:")
    with pytest.raises(ParameterError, match="layout = 'paths'"):
        hierarchy_maker("wordnet", TreeOptions(layout="paths"))
