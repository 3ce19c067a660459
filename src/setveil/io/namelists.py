"""Items that a user names: in files, one by one, by patterns, or by nodes of a hierarchy."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from setveil.data.vocabulary import Vocabulary
from setveil.disk import read_text
from setveil.errors import FileFormatError, ParameterError, did_you_mean
from setveil.hierarchy.tree import Hierarchy
from setveil.promises.coherence import matching_items

UNDER = "under:"
WAYS = (
    "give a file with one item per line, an item, a pattern such as 'dx:*', or under:NODE of the "
    "hierarchy"
)


NO_FILE = "the data has no such item; type or paste the items themselves, not the name of a file"


class Typed(str):
    """A word that names an item, a pattern or a node, and never a file, whatever it looks like."""

    @property
    def is_pathlike(self) -> bool:
        """Whether somebody may have meant a file: then the data must have such an item."""
        return self.startswith(("/", "~", ".")) or "\\" in self


def typed(words: Mapping[str, Any]) -> dict[str, Any]:
    """Words that somebody has typed, of which none is the name of a file.

    Example:
        >>> typed({"k": 5, "private": ["items.txt"]})["private"][0].is_pathlike
        False
    """
    return {
        name: [Typed(each) if isinstance(each, str) else each for each in value]
        if isinstance(value, list)
        else value
        for name, value in words.items()
    }


@dataclass(frozen=True)
class ItemNames:
    """The words by which a user names items, before the data is known.

    Example:
        >>> named = ItemNames.parse(["dx:*", "HIV"])
        >>> sorted(named.among(Vocabulary.of(["dx:flu", "beer", "dx:cold", "HIV"])))
        ['HIV', 'dx:cold', 'dx:flu']
    """

    listed: frozenset[str] = frozenset()
    """The items of files; a file may list more than the data contains."""
    single: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    parameter: str = "items"
    """What errors call them, such as `private`."""

    @classmethod
    def parse(cls, words: Iterable[str], parameter: str = "items") -> ItemNames:
        """From names of files, items, patterns, and `under:` with a node; files are read at once.

        Raises:
            FileFormatError: if a file lists no items.
        """
        listed, single, patterns, nodes = set[str](), [], [], []
        for word in words:
            if word.startswith(UNDER):
                nodes.append(word.removeprefix(UNDER))
            elif not isinstance(word, Typed) and Path(word).is_file():
                listed.update(read_items(word))
            elif is_pattern(word):
                patterns.append(word)
            elif isinstance(word, Typed) and not word.is_pathlike:
                listed.add(str(word))  # of a list, of which the data need not contain everything
            else:
                single.append(word)
        return cls(frozenset(listed), tuple(single), tuple(patterns), tuple(nodes), parameter)

    def among(self, vocabulary: Vocabulary, tree: Hierarchy | None = None) -> frozenset[str]:
        """The items of the files, and those of the vocabulary that the other words name.

        Raises:
            ParameterError: if a word names no item of the vocabulary.
        """
        items, found = frozenset(vocabulary), set(self.listed)
        for word in self.single:
            remedy = WAYS if word in items else did_you_mean(word, items) or WAYS
            missing = f"there is no file and no item of this name; {remedy}"
            missing = NO_FILE if isinstance(word, Typed) else missing
            found |= self._some(items & {word}, word, missing)
        for pattern in self.patterns:
            matching = matching_items(vocabulary, pattern)
            found |= self._some(matching, pattern, "no item of the data matches this pattern")
        for node in self.nodes:
            below = items & self._below(node, tree)
            found |= self._some(below, UNDER + node, "no item of the data is below this node")
        return frozenset(found)

    def _below(self, node: str, tree: Hierarchy | None) -> frozenset[str]:
        if tree is None:
            allowed = "give the hierarchy of this node with {hierarchy}"
            raise ParameterError(self.parameter, UNDER + node, allowed)
        if node not in tree.nodes:
            near = did_you_mean(node, tree.nodes)
            allowed = f"the hierarchy does not have this node{near and '; '}{near}"
            raise ParameterError(self.parameter, UNDER + node, allowed)
        number = tree.nodes.number(node)
        return frozenset(tree.labels[tree.first[number] : tree.stop[number]])

    def _some(self, items: frozenset[str], word: str, missing: str) -> frozenset[str]:
        if not items:
            raise ParameterError(self.parameter, word, missing)
        return items


def is_pattern(word: str) -> bool:
    """Whether a word may match several items."""
    return any(sign in word for sign in "*?[")


def read_items(path: str | os.PathLike[str]) -> list[str]:
    """The items of a text file with one item per line; empty lines are skipped.

    Raises:
        FileFormatError: if the file cannot be read or lists no items.
    """
    place = Path(path)
    text = read_text(place)
    items = list(dict.fromkeys(line.strip() for line in text.split("\n") if line.strip()))
    if not items:
        raise FileFormatError(place, "the file lists no items; it must have one per line")
    return items
