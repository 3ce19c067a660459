"""Edits of a tree with plain dicts: each makes a whole new tree, and a bad one is a `ValueError`.

A tree is `(children, items)`: the children of each group by label, under the key None the root, and
the labels that are items."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

Children = dict[str | None, list[str]]
Tree = tuple[Children, frozenset[str]]


def of_paths(paths: Sequence[Sequence[str]]) -> Tree:
    """The tree of paths from leaf to root, in their order."""
    children: Children = {None: []}
    for path in paths:
        above: str | None = None
        for label in reversed(path):
            if label not in children.setdefault(above, []):
                children[above].append(label)
            above = label
    return children, frozenset(path[0] for path in paths)


def preorder(tree: Tree, label: str | None = None, depth: int = -1) -> Iterator[tuple[str, int]]:
    """Each label with its depth."""
    if label is not None:
        yield label, depth
    for child in tree[0].get(label, ()):
        yield from preorder(tree, child, depth + 1)


def parent_of(tree: Tree, label: str) -> str | None:
    for parent, below in tree[0].items():
        if label in below:
            return parent
    raise ValueError(f"there is no {label}")


def above(tree: Tree, label: str | None) -> list[str | None]:
    """A label, what is above it, and None."""
    found = [label]
    while found[-1] is not None:
        found.append(parent_of(tree, found[-1]))
    return found


def items_below(tree: Tree, label: str) -> list[str]:
    """The items of a node, itself if it is one."""
    return [name for name, _ in preorder(tree, label) if name in tree[1]]


def paths(tree: Tree) -> list[tuple[str, ...]]:
    """The path of each item up to the root, in the order of the tree."""
    items = [name for name, _ in preorder(tree) if name in tree[1]]
    return [tuple(label for label in above(tree, item) if label is not None) for item in items]


def move(tree: Tree, nodes: Sequence[str], to: str) -> Tree:
    chosen = topmost(tree, nodes)
    parent_of(tree, to)
    if to in tree[1] or set(chosen) & set(above(tree, to)):
        raise ValueError("not a group outside of the nodes")
    moving = [label for label in chosen if parent_of(tree, label) != to]
    if not moving:
        raise ValueError("nothing moves")
    children = without(tree[0], moving)
    children.setdefault(to, []).extend(moving)
    return children, tree[1]


def rename(tree: Tree, node: str, name: str, fixed: frozenset[str]) -> Tree:
    parent_of(tree, node)
    if node in fixed:
        raise ValueError("an item of the data")
    name = new_name(tree, name)

    def now(label: str | None) -> str | None:
        return name if label == node else label

    children = {now(up): [str(now(label)) for label in below] for up, below in tree[0].items()}
    return children, frozenset(str(now(item)) for item in tree[1])


def group(tree: Tree, nodes: Sequence[str], name: str) -> Tree:
    chosen, name = topmost(tree, nodes), new_name(tree, name)
    shared = [
        label
        for label in above(tree, parent_of(tree, chosen[0]))
        if all(label in above(tree, parent_of(tree, node)) for node in chosen)
    ]
    parent = shared[0]
    branches = [label for node in chosen for label in above(tree, node)]
    position = min(at for at, label in enumerate(tree[0][parent]) if label in branches)
    children = without(tree[0], chosen)
    children[parent].insert(position, name)
    return {**children, name: chosen}, tree[1]


def ungroup(tree: Tree, node: str) -> Tree:
    parent, below = parent_of(tree, node), tree[0].get(node, [])
    if node in tree[1] or (parent is None and len(below) != 1):
        raise ValueError("an item, or several roots")
    children = {up: list(labels) for up, labels in tree[0].items() if up != node}
    at = children[parent].index(node)
    children[parent][at : at + 1] = below
    return children, tree[1]


def add(tree: Tree, items: Sequence[str], to: str) -> Tree:
    new, known = list(dict.fromkeys(items)), {label for label, _ in preorder(tree)}
    parent_of(tree, to)
    if to in tree[1] or not new or "" in new or known & set(new):
        raise ValueError("not a group, or not new")
    children = {up: list(labels) for up, labels in tree[0].items()}
    children.setdefault(to, []).extend(new)
    return children, tree[1] | set(new)


def remove(tree: Tree, nodes: Sequence[str]) -> Tree:
    chosen = topmost(tree, nodes)
    if any(items_below(tree, label) for label in chosen):
        raise ValueError("not empty")
    gone = {label for node in chosen for label, _ in preorder(tree, node)}
    children = without(tree[0], list(gone))
    return {up: below for up, below in children.items() if up not in gone}, tree[1]


def topmost(tree: Tree, nodes: Sequence[str]) -> list[str]:
    """The nodes that are below no other one: siblings in order, families as they are named."""
    if not nodes:
        raise ValueError("no nodes")
    tops = [label for label in nodes if not set(above(tree, label)[1:]) & set(nodes)]
    families = dict.fromkeys(parent_of(tree, label) for label in tops)
    return [label for parent in families for label in tree[0][parent] if label in tops]


def new_name(tree: Tree, name: str) -> str:
    name = name.strip()
    if not name or name in {label for label, _ in preorder(tree)}:
        raise ValueError("empty or taken")
    return name


def without(children: Children, gone: Sequence[str]) -> Children:
    return {up: [name for name in below if name not in gone] for up, below in children.items()}
