"""The panel of the hierarchy screen: toolbar, coverage in words, and a tree that a script fills."""

from __future__ import annotations

from itertools import islice

from setveil.hierarchy.editing import TreeDraft
from setveil.report.markup import text
from setveil.words import plural

SCRIPT = "tree.js"  # a module of the folder `static`; it loads the others
STYLE = "tree.css"

_MOST_LINES = 200  # how long the outline for browsers without scripts is

_BUTTONS = (
    ("rename", "Rename\u2026", "Rename the current group (F2)"),
    ("group", "Group\u2026", "Put the chosen nodes into a new group (Ctrl+G)"),
    ("ungroup", "Ungroup", "Remove the current group and keep what is in it"),
    ("cut", "Move\u2026", "Mark the chosen nodes to be moved (Ctrl+X)"),
    ("paste", "Move here", "Move the marked nodes into the current group (Ctrl+V)"),
    ("undo", "Undo", "Take the last edit back (Ctrl+Z)"),
    ("redo", "Redo", "Make it again (Ctrl+Shift+Z)"),
)
_KEYS = (
    ("\u2191 \u2193 Home End", "go to another row"),
    ("\u2192 \u2190", "open or close a group, go to its first node or to its parent"),
    ("Space, Shift+\u2191 \u2193", "choose rows"),
    ("F2", "rename"),
    ("Ctrl+G", "group what is chosen"),
    ("Ctrl+X, then Ctrl+V", "move what is chosen into another group"),
    ("Ctrl+Z, Ctrl+Shift+Z", "undo, redo"),
    ("letters", "go to a row that starts with them"),
    ("Esc", "choose nothing"),
)


def tree_panel(base_url: str, draft: TreeDraft) -> str:
    """The panel as HTML.

    The page that shows it links `static/tree.css`, loads `static/tree.js` with `type="module"`, and
    has the token for edits in `<meta name="csrf-token">`.

    Args:
        base_url: The prefix below which `setveil.web.tree.routes` are mounted.
        draft: The tree.
    """
    base = text(base_url.rstrip("/"))
    return "\n".join(
        (
            f'<section class="tree-panel" data-base="{base}" aria-label="Hierarchy">',
            _coverage(draft),
            _tools(base),
            '<div class="tree-results" hidden></div>',
            '<p class="tree-message" role="status" aria-live="polite"></p>',
            '<p class="tree-chosen"></p>',
            '<div class="tree-view" role="tree" aria-label="Hierarchy" '
            'aria-multiselectable="true"><div class="tree-sizer" role="presentation"></div></div>',
            _keys(),
            _dialog(),
            _outline(draft, base),
            "</section>",
        )
    )


def _coverage(draft: TreeDraft) -> str:
    lines = "".join(f"<li>{text(line)}</li>" for line in draft.coverage().sentences())
    return (
        f'<div class="tree-coverage"><ul class="tree-facts">{lines}</ul>'
        '<div class="tree-fixes">'
        '<button type="button" data-act="add-missing" hidden>Add missing items to the root</button>'
        '<button type="button" data-act="remove-empty" hidden>Remove empty groups</button></div>'
        '<details class="tree-lists" hidden><summary>Show these items</summary>'
        '<div class="tree-listed"></div></details></div>'
    )


def _tools(base: str) -> str:
    buttons = "".join(
        f'<button type="button" data-act="{act}" title="{text(why)}">{text(name)}</button>'
        for act, name, why in _BUTTONS
    )
    return (
        '<div class="tree-tools"><form class="tree-search" role="search">'
        '<label><span class="tree-label">Search</span>'
        '<input type="search" name="text" autocomplete="off" spellcheck="false" '
        'placeholder="Search items and groups"></label></form>'
        f'<div class="tree-buttons" role="group" aria-label="Edit the tree">{buttons}'
        f'<a class="tree-download" href="{base}/download" download '
        'aria-label="Download the tree">Download</a></div></div>'
    )


def _keys() -> str:
    rows = "".join(f"<dt>{text(keys)}</dt><dd>{text(does)}</dd>" for keys, does in _KEYS)
    return f'<details class="tree-keys"><summary>Keyboard</summary><dl>{rows}</dl></details>'


def _dialog() -> str:
    return (
        '<dialog class="tree-dialog" aria-labelledby="tree-dialog-title"><form>'
        '<label><span id="tree-dialog-title"></span>'
        '<input type="text" name="name" autocomplete="off" spellcheck="false"></label>'
        '<div class="tree-buttons"><button type="submit" class="tree-main">OK</button>'
        '<button type="button" data-act="cancel">Cancel</button></div></form></dialog>'
    )


def _outline(draft: TreeDraft, base: str) -> str:
    """The first levels, for browsers without scripts."""
    lines, level, shown = [], -1, list(islice(draft.walk(depth=2), _MOST_LINES))
    for label, depth in shown:
        lines.append("<ul>" if depth > level else "</li>" + "</ul></li>" * (level - depth))
        node, level = draft.node(label), depth
        size = "" if node.is_item else f" ({text(plural(node.items, 'item'))})"
        lines.append(f"<li>{text(label)}{size}")
    lines.append("</li></ul>" * (level + 1))
    more = len(draft) - len(shown)
    rest = f"<p>And {text(plural(more, 'node'))} more.</p>" if more else ""
    return (
        "<noscript><p>Editing the tree needs JavaScript. These are its first levels.</p>"
        f'{"".join(lines)}{rest}<p><a href="{base}/download">Download the tree</a></p></noscript>'
    )
