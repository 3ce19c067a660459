"""The fourth step: a hierarchy over the items, from a file or built, checked against the data."""

from __future__ import annotations

from csv import writer
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from setveil.errors import ParameterError, SetveilError
from setveil.hierarchy.editing import TreeDraft
from setveil.pipeline.commands import command_line
from setveil.pipeline.hierarchy import Proposal
from setveil.pipeline.stored import CheckedTree
from setveil.report import Report
from setveil.report.inspection import report_faults
from setveil.web.choices import fields_in, line_of_choices
from setveil.web.context import found_of, store_of
from setveil.web.drafts import draft_of, keep_edits
from setveil.web.following import changing, settled, start
from setveil.web.forms import Field, Form, form_field
from setveil.web.pages.files import Use, named, received, use_of
from setveil.web.project import TREE_WORDS, Project
from setveil.web.screens import PAGE_ONLY, Screen, step_frame
from setveil.web.store import StoredJob
from setveil.web.wording import as_field

WHY = (
    "A hierarchy says which items belong together: milk and butter are dairy products. Methods "
    "that replace items by groups need one, and a good one keeps more of the data."
)
RECIPES = {
    "balanced:5": "groups of five, by name or number",
    "balanced:10": "groups of ten, by name or number",
    "balanced:5:frequency": "groups of five, by how often they occur",
    "prefix": "codes, grouped by how they begin",
    "wordnet+unknown": "English nouns, by their meaning (WordNet)",
}
_LAYOUTS = {
    "": "find out",
    "paths": "leaf;parent;...;root",
    "pairs": "child,parent",
    "levels": "levels",
}
_UNKNOWN = {
    "refuse": "stop and say so",
    "root": "put them below the root",
    "drop": "leave them out of all records",
}


@dataclass(frozen=True, kw_only=True)
class HierarchyScreen(Screen):
    """The hierarchy, and what was found in it."""

    template = "hierarchy.html"
    loaded: bool
    needed: bool
    lacks: str
    """What a promise about noise still needs, which a hierarchy can give."""
    hierarchy: str | None
    chosen: bool
    """Whether the user has chosen it."""
    job: StoredJob | None
    usable: bool | None
    tree: dict[str, Any]
    """Its size and its first levels."""
    found: CheckedTree | None = field(metadata=PAGE_ONLY)
    faults: list[dict[str, object]]
    checks: Report | None = field(metadata=PAGE_ONLY)
    draft: TreeDraft | None = field(metadata=PAGE_ONLY)
    again: dict[str, str]
    paths: list[list[str]]
    """How items are grouped if the proposal is taken."""
    proposed: dict[str, str]
    """The form that takes the proposal."""
    options: list[Field]
    offered: str
    recipes: dict[str, str]
    use: Use


async def choose(request: Request, project: Project, form: Form) -> str:
    """No hierarchy, a recipe, or a file that is named."""
    return await _use(request, project, _chosen(request, project, form))


async def upload(request: Request, project: Project, form: Form) -> str:
    """A hierarchy file that was dropped or chosen."""
    given = await received(request, project)
    try:
        return await _use(request, project, {"kind": "file", **given})
    finally:
        Path(given["path"]).unlink(missing_ok=True)  # if it was not taken


async def options(request: Request, project: Project, form: Form) -> str:
    """How a file is read, and what becomes of items that it lacks."""
    tree = {name: one for name, one in project.chosen_tree.items() if name not in TREE_WORDS}
    for name, known in (("layout", _LAYOUTS), ("unknown", _UNKNOWN)):
        if form.get(name) in known and form[name] not in ("", "refuse"):
            tree[name] = form[name]
    tree |= {"levels": form["levels"].strip()} if form.get("levels", "").strip() else {}
    tree |= {"qualify": True} if form.get("qualify") else {}
    return await _use(request, project, tree)


def _chosen(request: Request, project: Project, form: Form) -> dict[str, Any]:
    kind = form.get("kind", "")
    if kind == "none":
        return {}
    if kind == "offered" and project.state.get("offered"):
        return {"kind": "file", **project.state["offered"]}
    if kind == "path":
        return {"kind": "file", **named(request, form.get("path", ""))}
    recipe = form.get("own", "").strip() or form.get("recipe", "")
    name, _, how = recipe.partition(":")
    known = {each.split(":")[0] for each in RECIPES} | {"wordnet"}
    if name not in known or (name.startswith("wordnet") and how):  # a folder of this machine
        allowed = "it is balanced:5, balanced:5:frequency, prefix, prefix:1,3 or wordnet"
        raise ParameterError("recipe", recipe or None, allowed)
    return {"kind": "recipe", "recipe": recipe}


async def _use(request: Request, project: Project, tree: dict[str, Any]) -> str:
    """Take a hierarchy, and check it against the data."""
    await keep_edits(request, project)
    async with changing(request, "tree") as project:
        project.state["tree"] = settled(project, tree) if "path" in tree else tree
        store_of(request).save(project)
        found = project.tree
        if found is not None and project.data is not None:
            words = {name: tree[name] for name in TREE_WORDS if name in tree}
            await start(request, project, "tree", tree=found[0], **words, **project.reading)
    return f"/projects/{project.id}/hierarchy#checked"


async def screen(request: Request, project: Project, error: SetveilError | None) -> HierarchyScreen:
    """What is chosen, and what was found in it."""
    job, tree = store_of(request).latest(project, "tree"), project.tree
    found, loaded = found_of(job), project.data is not None
    checked, proposal = (found.checked, found.proposal) if found else (None, None)
    values = {} if found is None else dict(found.values)
    lacks, using = line_of_choices(project), project.chosen_tree
    again = {"kind": "recipe", "own": using["recipe"]} if "recipe" in using else {}
    return HierarchyScreen(
        **step_frame(request, project, "hierarchy", error),
        why=WHY,
        loaded=loaded,
        needed=loaded and project.needs_tree,
        lacks=lacks if "public_items" in fields_in(lacks) else "",
        hierarchy=tree[0] if tree else None,
        chosen=bool(project.state.get("tree", {}).get("kind")),
        job=job,
        usable=None if found is None else bool(values),
        tree=values,
        found=found,
        faults=[] if checked is None else [fault.to_dict() for fault in checked.faults],
        checks=None if checked is None else report_faults(found.name, checked, as_field),
        draft=await run_in_threadpool(draft_of, request, project),
        again={"kind": "offered", **again},
        paths=[[leaf, " < ".join(above)] for leaf, *above in (proposal.paths if proposal else ())],
        proposed=_proposed(using, proposal) if proposal else {},
        options=_options(using) if tree and tree[1] is not None else [],
        offered=project.state.get("offered", {}).get("name", ""),
        recipes=RECIPES,
        use=use_of(request, "tree"),
        command=_command(project),
        refresh=bool(job and job.is_live),
    )


def _proposed(tree: dict[str, Any], proposal: Proposal) -> dict[str, str]:
    """The options of a tree with those of a proposal."""
    row = StringIO()
    writer(row).writerow(proposal.levels)
    given = {name: str(tree[name]) for name in ("layout", "unknown") if tree.get(name)}
    given |= {"levels": row.getvalue().strip()} if proposal.levels else {}
    return given | ({"qualify": "yes"} if proposal.qualify else {})


def _options(tree: dict[str, Any]) -> list[Field]:
    levels = "For a table of levels: its columns from the items up, with commas between them."
    return [
        form_field("unknown", tree.get("unknown", "refuse"), kind="choice", options=_UNKNOWN),
        form_field("layout", tree.get("layout", ""), kind="choice", options=_LAYOUTS),
        form_field("levels", tree.get("levels", ""), levels),
        form_field(
            "qualify", tree.get("qualify"), "If one label names several groups.", kind="check"
        ),
    ]


def _command(project: Project) -> str:
    found, data = project.tree, project.data
    if found is None or data is None:
        return ""
    words = project.reading
    if found[1] is None:
        return command_line("hierarchy build", data[0], found[0], output="tree.csv", **words)
    words |= {name: value for name, value in project.tree_words.items() if name != "hierarchy"}
    return command_line("hierarchy check", found[0], data=data[0], **words)
