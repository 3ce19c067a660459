"""Private items as a user names them: files, patterns, and nodes of a hierarchy."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from setveil.data.vocabulary import Vocabulary
from setveil.errors import ParameterError
from setveil.hierarchy.hierarchy import Hierarchy
from setveil.io.itemlist import read_items
from setveil.promises.coherence import matching_items

UNDER = "under:"
WAYS = "it is a file with one item on each line, a pattern such as 'dx:*', or under:NODE of the hierarchy"


@dataclass(frozen=True)
class PrivateItems:
    """What was named, before the data is known.

    Example:
        >>> named = PrivateItems.parse(["dx:*"])
        >>> sorted(named.among(Vocabulary.of(["dx:flu", "beer", "dx:HIV"])))
        ['dx:HIV', 'dx:flu']
    """

    items: frozenset[str] = frozenset()
    patterns: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()

    @classmethod
    def parse(cls, given: Iterable[str]) -> PrivateItems:
        """From texts that are names of files, patterns, or `under:` with a node; files are read at once.

        Raises:
            ParameterError: when a text is none of these.
            FileFormatError: when a file names no item.
        """
        items, patterns, nodes = set[str](), [], []
        for text in given:
            if text.startswith(UNDER):
                nodes.append(text.removeprefix(UNDER))
            elif Path(text).is_file():
                items.update(read_items(text))
            elif any(sign in text for sign in "*?["):
                patterns.append(text)
            else:
                raise ParameterError("private", text, f"there is no such file; {WAYS}")
        return cls(frozenset(items), tuple(patterns), tuple(nodes))

    def among(self, vocabulary: Vocabulary, tree: Hierarchy | None = None) -> frozenset[str]:
        """The items of files, the items of the vocabulary that fit a pattern, and those under a node.

        Raises:
            ParameterError: when a pattern or a node has no item of the vocabulary.
        """
        found = set(self.items)
        for pattern in self.patterns:
            found |= self._some(matching_items(vocabulary, pattern), pattern, "no item of the data fits this pattern")
        for node in self.nodes:
            if tree is None or node not in tree.nodes:
                raise ParameterError("private", UNDER + node, "it needs a hierarchy that has this node")
            number = tree.nodes.number(node)
            below = frozenset(tree.labels[tree.first[number] : tree.stop[number]])
            found |= self._some(below & frozenset(vocabulary), UNDER + node, "no item of the data is under this node")
        return frozenset(found)

    def _some(self, items: frozenset[str], text: str, fault: str) -> frozenset[str]:
        if not items:
            raise ParameterError("private", text, fault)
        return items
