"""Private items as a user names them: files, items, patterns, and nodes of a hierarchy."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from setveil.data.vocabulary import Vocabulary
from setveil.errors import ParameterError
from setveil.hierarchy.tree import Hierarchy
from setveil.io.itemlist import read_items
from setveil.promises.coherence import matching_items

UNDER = "under:"
WAYS = "it is a file with one item on each line, an item, a pattern such as 'dx:*', or under:NODE of the hierarchy"


@dataclass(frozen=True)
class PrivateItems:
    """What was named, before the data is known.

    Example:
        >>> named = PrivateItems.parse(["dx:*", "HIV"])
        >>> sorted(named.among(Vocabulary.of(["dx:flu", "beer", "dx:cold", "HIV"])))
        ['HIV', 'dx:cold', 'dx:flu']
    """

    items: frozenset[str] = frozenset()
    """Those of files, which may name more than stand in the data."""
    words: tuple[str, ...] = ()
    """Items that are named by themselves."""
    patterns: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()

    @classmethod
    def parse(cls, given: Iterable[str]) -> PrivateItems:
        """From texts that are names of files, items, patterns, or `under:` with a node; files are read at once.

        Raises:
            FileFormatError: when a file names no item.
        """
        items, words, patterns, nodes = set[str](), [], [], []
        for text in given:
            if text.startswith(UNDER):
                nodes.append(text.removeprefix(UNDER))
            elif Path(text).is_file():
                items.update(read_items(text))
            elif any(sign in text for sign in "*?["):
                patterns.append(text)
            else:
                words.append(text)
        return cls(frozenset(items), tuple(words), tuple(patterns), tuple(nodes))

    def among(self, vocabulary: Vocabulary, tree: Hierarchy | None = None) -> frozenset[str]:
        """The items of files, those that are named, the items of the vocabulary that fit a pattern, and those under a node.

        Raises:
            ParameterError: when a name is not in the vocabulary, or a pattern or a node has no item of it.
        """
        found = set(self.items)
        for word in self.words:
            found |= self._some(
                frozenset({word}) & frozenset(vocabulary),
                word,
                f"there is no such file, and no such item in the data; {WAYS}",
            )
        for pattern in self.patterns:
            found |= self._some(
                matching_items(vocabulary, pattern),
                pattern,
                "no item of the data fits this pattern",
            )
        for node in self.nodes:
            if tree is None or node not in tree.nodes:
                raise ParameterError(
                    "private", UNDER + node, "it needs a hierarchy that has this node"
                )
            number = tree.nodes.number(node)
            below = frozenset(tree.labels[tree.first[number] : tree.stop[number]])
            found |= self._some(
                below & frozenset(vocabulary),
                UNDER + node,
                "no item of the data is under this node",
            )
        return frozenset(found)

    def _some(self, items: frozenset[str], text: str, fault: str) -> frozenset[str]:
        if not items:
            raise ParameterError("private", text, fault)
        return items
