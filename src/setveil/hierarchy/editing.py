"""Editing a tree: move, rename, group and ungroup nodes, add items, undo and redo."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from setveil.data.vocabulary import text_of
from setveil.errors import DataError, brief, brief_list
from setveil.hierarchy.browsing import TreeView
from setveil.hierarchy.places import ABOVE_ROOT, Change, Place
from setveil.hierarchy.tree import Hierarchy
from setveil.words import plural

OPERATIONS: dict[str, dict[str, type]] = {
    "move": {"nodes": list, "to": str},
    "rename": {"node": str, "name": str},
    "group": {"nodes": list, "name": str},
    "ungroup": {"node": str},
    "add": {"items": list, "to": str},
    "remove": {"nodes": list},
}
"""The edits, and what each must be given."""


@dataclass(frozen=True)
class Changed:
    """What an edit, an undo or a redo did, in labels."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    renamed: Mapping[str, str]
    moved: tuple[str, ...]
    focus: str
    """The node to look at next: the new or renamed one, else where nodes went or were."""


class TreeDraft(TreeView):
    """A tree that can be edited, over the items of some data.

    Each edit either leaves a tree whose leaves are the same items (and those added), or raises an
    error and changes nothing. Nodes are named by their labels. Groups may become empty; they are no
    part of `to_hierarchy()`.

    Args:
        start: The tree to start from.
        data: The data that it is for, if known; see `TreeView`. Items of the data cannot be
            renamed. Without data this applies to every item of the tree.

    Example:
        >>> start = Hierarchy.from_paths([(item, "ALL") for item in ("beer", "milk", "red wine")])
        >>> draft = TreeDraft(start)
        >>> draft.group(["beer", "red wine"], "Alcohol").added
        ('Alcohol',)
        >>> draft.to_hierarchy().path("beer")
        ('beer', 'Alcohol', 'ALL')
        >>> draft.undo().removed, draft.can_redo
        (('Alcohol',), True)
    """

    def __init__(self, start: Hierarchy, data: object = None) -> None:
        super().__init__(start, data)
        self.version = 0
        """Grows with every change, so that an edit of an outdated view can be recognized."""
        self._edits: list[tuple[dict[str, Any], Change]] = []
        self._done = 0

    @classmethod
    def replay(cls, start: Hierarchy, log: Mapping[str, Any], data: object = None) -> TreeDraft:
        """The draft that `log()` describes: the same edits of the same tree, and the same redo."""
        draft = cls(start, data)
        try:
            source, edits = log["start"], list(log["edits"])
            done, version = int(log["done"]), int(log["version"])
        except (KeyError, TypeError, ValueError):
            raise DataError("this is not a log of edits") from None
        if source != _digest(start):
            problem = "these edits were made to another tree"
            raise DataError(problem, remedy="start from the tree that they belong to")
        for edit in edits:
            draft.apply(edit)
        while draft._done > max(done, 0):
            draft.undo()
        draft.version = version
        return draft

    def log(self) -> dict[str, Any]:
        """Everything that `replay` needs besides the tree at the start, for JSON."""
        edits = [edit for edit, _ in self._edits]
        start = _digest(self.start)
        return {"start": start, "edits": edits, "done": self._done, "version": self.version}

    @property
    def can_undo(self) -> bool:
        return self._done > 0

    @property
    def can_redo(self) -> bool:
        return self._done < len(self._edits)

    def move(self, nodes: Iterable[str], to: str) -> Changed:
        """Put nodes, with all that is below them, at the end of another group.

        If a node and one of its ancestors are both named, the node goes with its ancestor."""
        chosen, goal = self._topmost(nodes), self._group(to)
        above = set(self._places.above(goal))
        inside = next((node for node in chosen if node in above), None)
        if inside is not None:
            label = self._places.label[inside]
            problem = f"{brief(label)} cannot be moved into itself or into a group below it"
            raise DataError(problem, remedy="choose a group outside of it")
        places = self._places.places(node for node in chosen if self._places.parent[node] != goal)
        if not places:
            problem = f"already directly below {brief(to)}: {brief_list(self._labels(chosen))}"
            raise DataError(problem, remedy="choose another group")
        start, below = len(self._places.children[goal]), enumerate(places.items())
        after = {node: Place(was.label, goal, start + at) for at, (node, was) in below}
        return self._do({"op": "move", "nodes": self._labels(places), "to": to}, places, after)

    def rename(self, node: str, name: str) -> Changed:
        """Give a group, or an item that the data does not have, another label."""
        number, label = self._number(node), self._free_name(name)
        if number in self._places.items and (self._data is None or node in self._data):
            where = "" if self._data is None else " of the data"
            problem = f"{brief(node)} is an item{where}, and items keep their names"
            raise DataError(problem, remedy="rename a group, or put the item into a group")
        before = self._places.places([number])
        after = {number: before[number]._replace(label=label)}
        return self._do({"op": "rename", "node": node, "name": label}, before, after)

    def group(self, nodes: Iterable[str], name: str) -> Changed:
        """Put a new group above nodes.

        It takes the place of the first node if all are siblings. Otherwise it is in the lowest
        group that contains them all, and they move there. Above the root it is the new root."""
        chosen, label = self._topmost(nodes), self._free_name(name)
        places, parent = self._places.places(chosen), self._common_parent(chosen)
        branches = {self._branch(self._places.parent[node], parent, node) for node in chosen}
        position = min(place.position for place in self._places.places(branches).values())
        edit = {"op": "group", "nodes": self._labels(places), "name": label}
        new = self._places.new_node(is_item=False)
        after = {new: Place(label, parent, position)}
        for at, (node, was) in enumerate(places.items()):
            after[node] = Place(was.label, new, at)
        return self._do(edit, {new: None, **places}, after)

    def ungroup(self, node: str) -> Changed:
        """Remove a group; its children take its place."""
        number = self._group(node, "ungrouped")
        below = self._places.children[number]
        if number == self._places.root and len(below) != 1:
            problem = f"{brief(node)} is the root: without it the tree would have several"
            raise DataError(problem, remedy="rename it, or ungroup a group below it")
        place = self._places.places([number])[number]
        children = self._places.places(below)
        after: dict[int, Place | None] = {number: None}
        for child, was in children.items():
            after[child] = Place(was.label, place.parent, place.position + was.position)
        return self._do({"op": "ungroup", "node": node}, {number: place, **children}, after)

    def add(self, items: Iterable[object], to: str | None = None) -> Changed:
        """Put items that the tree lacks at the end of a group, by default of the root."""
        labels, where = list(dict.fromkeys(map(text_of, items))), self.root if to is None else to
        goal = self._group(where)
        self._check_new_items(labels)
        start = len(self._places.children[goal])
        new = [self._places.new_node(is_item=True) for _ in labels]
        named = enumerate(zip(new, labels, strict=True), start)
        after = {node: Place(label, goal, at) for at, (node, label) in named}
        return self._do({"op": "add", "items": labels, "to": where}, dict.fromkeys(new), after)

    def remove(self, nodes: Iterable[str]) -> Changed:
        """Remove groups that have no items, with the empty groups in them."""
        chosen = self._topmost(nodes)
        for node in chosen:
            if items := self._places.sums(node)[0]:
                label, is_item = self._places.label[node], node in self._places.items
                problem = "is an item" if is_item else f"has {plural(items, 'item')}"
                remedy = "only empty groups can be removed; ungroup keeps what is in a group"
                raise DataError(f"{brief(label)} {problem}", remedy=remedy)
        inside = [below for node in chosen for below, _ in self._places.walk(node)]
        edit = {"op": "remove", "nodes": [self._places.label[node] for node in chosen]}
        return self._do(edit, self._places.places(inside), dict.fromkeys(inside))

    def apply(self, edit: object) -> Changed:
        """Make an edit as `log()` notes it, such as `{"op": "rename", "node": ..., "name": ...}`.

        `to` may be missing where something is added: the root is meant."""
        if not isinstance(edit, Mapping) or edit.get("op") not in [*OPERATIONS]:
            raise DataError(f"an edit is one of {', '.join(OPERATIONS)}")
        words = {name: value for name, value in edit.items() if name != "op"}
        needed = OPERATIONS[edit["op"]]
        if edit["op"] == "add":
            words = {"to": self.root, **words}
        fits = words.keys() == needed.keys() and all(
            isinstance(words[name], kind) and all(isinstance(each, str) for each in words[name])
            for name, kind in needed.items()
        )
        if not fits:
            wanted = ", ".join(f"{name} (a {_KINDS[kind]})" for name, kind in needed.items())
            raise DataError(f"the edit {edit['op']} needs {wanted}")
        changed: Changed = getattr(self, edit["op"])(**words)
        return changed

    def undo(self) -> Changed:
        """Take the last edit back."""
        if not self.can_undo:
            raise DataError("there is nothing to undo")
        self._done -= 1
        return self._make(self._edits[self._done][1].reverse)

    def redo(self) -> Changed:
        """Make the edit again that was taken back last."""
        if not self.can_redo:
            raise DataError("there is nothing to redo")
        self._done += 1
        return self._make(self._edits[self._done - 1][1])

    def to_hierarchy(self) -> Hierarchy:
        """The tree as it is now, without empty groups; an edited tree counts as the user's own."""
        return self._places.to_hierarchy() if self._done else self.start

    def _do(
        self,
        edit: dict[str, Any],
        before: Mapping[int, Place | None],
        after: Mapping[int, Place | None],
    ) -> Changed:
        """Make a change and note it; edits that were taken back are forgotten."""
        del self._edits[self._done :]
        change = Change(before, after)
        self._edits.append((edit, change))
        self._done += 1
        return self._make(change)

    def _make(self, change: Change) -> Changed:
        self._places.make(change)
        self.version += 1
        return self._changed(change)

    def _changed(self, change: Change) -> Changed:
        pairs = [(place, change.after[node]) for node, place in change.before.items()]
        added = [new.label for old, new in pairs if new and not old]
        removed = [old.label for old, new in pairs if old and not new]
        both = [(old, new) for old, new in pairs if old and new]
        renamed = {old.label: new.label for old, new in both if old.label != new.label}
        moved = [(new.label, new.parent) for old, new in both if old.parent != new.parent]
        parents = [parent for _, parent in moved]
        parents += [old.parent for old, new in pairs if old and not new]
        known = [self._places.label[node] for node in parents if node in self._places.label]
        focus = next(iter([*added, *renamed.values(), *known]), self.root)
        labels = tuple(label for label, _ in moved)
        return Changed(tuple(added), tuple(removed), renamed, labels, focus)

    def _topmost(self, nodes: Iterable[str]) -> list[int]:
        """The given nodes without those that are below others of them."""
        if isinstance(nodes, str):
            nodes = [nodes]
        chosen = dict.fromkeys(self._number(label) for label in nodes)
        if not chosen:
            raise DataError("no node is chosen", remedy="choose at least one")
        parents = {self._places.parent[node] for node in chosen}
        covered = {
            parent
            for parent in parents
            if any(node in chosen for node in self._places.above(parent))
        }
        return [node for node in chosen if self._places.parent[node] not in covered]

    def _group(self, label: str, verb: str = "filled") -> int:
        number = self._number(label)
        if number in self._places.items:
            remedy = "choose a group, or group the item first"
            raise DataError(f"{brief(label)} is an item and cannot be {verb}", remedy=remedy)
        return number

    def _free_name(self, name: str) -> str:
        label = name.strip()
        if not label:
            raise DataError("the name is empty", remedy="write a name")
        if any(ord(letter) < 32 or 0xD800 <= ord(letter) < 0xE000 for letter in label):
            problem = f"the name {brief(label)} has characters that are not text"
            raise DataError(problem, remedy="write it without line breaks and control characters")
        if label in self:
            kind = "an item" if self._places.number[label] in self._places.items else "a group"
            problem = f"there is already {kind} {brief(label)}, and each label names one node"
            raise DataError(problem, remedy="choose another name, or move nodes into that group")
        return label

    def _check_new_items(self, labels: Sequence[str]) -> None:
        known = [label for label in labels if label in self]
        if not labels or "" in labels:
            raise DataError("there is no item to add", remedy="name at least one")
        if known:
            problem = f"the tree has this label already: {brief_list(known)}"
            raise DataError(problem, remedy="leave it out, or rename the group that has it")

    def _common_parent(self, chosen: Sequence[int]) -> int:
        """The lowest node that contains all these nodes."""
        parents = {self._places.parent[node] for node in chosen}
        paths = [[*self._places.above(parent), ABOVE_ROOT][::-1] for parent in parents]
        shared = 0
        while all(len(path) > shared and path[shared] == paths[0][shared] for path in paths):
            shared += 1
        return paths[0][shared - 1]

    def _branch(self, parent: int, top: int, node: int) -> int:
        """The child of `top` that is a node or above it."""
        while parent != top:
            node, parent = parent, self._places.parent[parent]
        return node

    def _labels(self, nodes: Iterable[int]) -> list[str]:
        return [self._places.label[node] for node in nodes]


_KINDS: dict[type, str] = {str: "text", list: "list of labels"}


def _digest(tree: Hierarchy) -> str:
    content = "\0".join(tree.labels).encode("utf-8", "surrogatepass") + tree.parent.tobytes()
    return hashlib.sha256(content).hexdigest()
