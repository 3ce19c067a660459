"""The fourth step: a hierarchy over the items, from a file or built, checked against the data."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from setveil.errors import ParameterError, SetveilError
from setveil.pipeline.commands import command_line
from setveil.report.markup import Markup, tag
from setveil.web import editor
from setveil.web.context import (
    TREE_WORDS,
    chosen_tree,
    data_of,
    form_of,
    needs_tree,
    project_of,
    queue_of,
    reading_of,
    store_of,
    tree_of,
)
from setveil.web.editor import keep_edits
from setveil.web.flow import start
from setveil.web.forms import (
    Form,
    button,
    check_field,
    choice_field,
    details,
    form_tag,
    text_field,
)
from setveil.web.layout import banner, csrf_of, go, next_step, respond, unfinished
from setveil.web.pages.files import drop_form, named, path_form, received
from setveil.web.steps import job_values, load_first, step_screen
from setveil.web.store import Project
from setveil.web.wording import label_of

WHY = (
    "A hierarchy says which items belong together: milk and butter are dairy products. Methods "
    "that replace items by groups need one, and a good one keeps more of the data."
)
PUBLISHED = (
    "A hierarchy from a file, or one that you edit here, becomes part of the release with all its "
    "items. If it is built from the data, only the parts that the records show are published."
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


async def hierarchy(request: Request) -> Response:
    """What is chosen, and what was found in it."""
    project = project_of(request)
    await editor.prepare(request, project)
    return _screen(request, project)


async def choose(request: Request) -> Response:
    """No hierarchy, a recipe, or a file that is named."""
    form = await form_of(request)
    project = project_of(request)
    try:
        tree = _chosen(request, project, form)
    except SetveilError as error:
        return _screen(request, project, error)
    return await _use(request, project, tree)


async def upload(request: Request) -> Response:
    """A hierarchy file that was dropped or chosen."""
    project = project_of(request)
    try:
        given = await received(request, project)
    except SetveilError as error:
        return _screen(request, project, error)
    return await _use(request, project_of(request), {"kind": "file", **given})


async def options(request: Request) -> Response:
    """How a file is read, and what becomes of items that it lacks."""
    form = await form_of(request)
    project = project_of(request)
    tree = {**chosen_tree(project)}
    for name, known in (("layout", _LAYOUTS), ("unknown", _UNKNOWN)):
        tree.pop(name, None)
        if form.get(name) in known and form[name] not in ("", "refuse"):
            tree[name] = form[name]
    tree.pop("levels", None)
    tree |= {"levels": form["levels"].strip()} if form.get("levels", "").strip() else {}
    tree.pop("qualify", None)
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
    name = recipe.split(":")[0]
    if name not in {known.split(":")[0] for known in RECIPES} | {"wordnet"} or "/" in recipe:
        allowed = "it is balanced:5, balanced:5:frequency, prefix, prefix:1,3 or wordnet"
        raise ParameterError("recipe", recipe or None, allowed)
    return {"kind": "recipe", "recipe": recipe}


async def _use(request: Request, project: Project, tree: dict[str, Any]) -> Response:
    """Take a hierarchy, and check it against the data."""
    await keep_edits(request, project)
    await queue_of(request).forget(project, "tree")
    project.state["tree"] = tree
    store_of(request).save(project)
    found = tree_of(project)
    if found is not None and data_of(project) is not None:
        words = {name: tree[name] for name in TREE_WORDS if name in tree}
        await start(request, project, "tree", tree=found[0], **words, **reading_of(project))
    return go(request, f"/projects/{project.id}/hierarchy#checked")


def _screen(request: Request, project: Project, error: SetveilError | None = None) -> Response:
    job, found = store_of(request).latest(project, "tree"), tree_of(project)
    body: list[str | None] = [load_first(project)]
    if data_of(project) is not None:
        body = [
            _need(project),
            _now(request, project),
            *_ways(request, project),
            next_step(project, "hierarchy"),
        ]
    result = job.result if job is not None else {}
    screen = step_screen(
        request, project, "hierarchy", why=WHY, body=body, error=error,
        values={
            "needed": data_of(project) is not None and needs_tree(project),
            "hierarchy": found[0] if found else None,
            "job": job_values(job),
            "usable": result.get("usable"),
            **result.get("values", {}),
        },
        command=_command(project),
        refresh=bool(job and job.is_live),
        modules=editor.SCRIPTS if result.get("usable") else (),
        styles=editor.STYLES if result.get("usable") else (),
    )  # fmt: skip
    return respond(request, screen)


def _need(project: Project) -> Markup:
    if not needs_tree(project):
        return banner(
            "The method that you chose works without a hierarchy. You may skip this step."
        )
    return banner("The method that you chose replaces items by groups: it needs a hierarchy.")


def _now(request: Request, project: Project) -> Markup:
    """The hierarchy that is used, and what was found in it."""
    found, job = tree_of(project), store_of(request).latest(project, "tree")
    parts: list[str | None] = []
    if found is None:
        parts = [tag("p", "No hierarchy is used.")]
    else:
        chosen = project.state.get("tree", {}).get("kind")
        usual = "" if chosen else " (chosen for you)"
        named = job is not None and bool(job.result.get("checks"))  # which begin with its name
        parts = [] if named else [tag("p", tag("strong", found[0]), usual)]
    if job is not None and job.status != "done":
        parts.append(unfinished(request, job, "Checking the hierarchy", "The check"))
    elif job is not None:
        edited = editor.panel(request, project)
        parts += [Markup(job.result["checks"]), edited or Markup(job.result["outline"])]
        parts.append(tag("p", PUBLISHED, class_="hint"))
    elif found is not None:
        parts.append(_check_now(request, project))
    if found is not None and found[1] is not None:
        parts.append(_options(request, project))
    return tag("section", tag("h2", "The hierarchy", id="checked"), *parts, class_="card")


def _check_now(request: Request, project: Project) -> Markup:
    tree = chosen_tree(project)
    known = (
        {"kind": "offered"} if tree["kind"] == "file" else {"kind": "recipe", "own": tree["recipe"]}
    )
    fields = (tag("input", type="hidden", name=key, value=value) for key, value in known.items())
    place = f"/projects/{project.id}/hierarchy/choose"
    return form_tag(place, csrf_of(request), *fields, button("Show and check it", "quiet"))


def _options(request: Request, project: Project) -> Markup:
    """How the file is read."""
    tree = chosen_tree(project)
    return details(
        "How the file is read",
        form_tag(
            f"/projects/{project.id}/hierarchy/options",
            csrf_of(request),
            choice_field("unknown", label_of("unknown"), _UNKNOWN, tree.get("unknown", "refuse")),
            choice_field("layout", label_of("layout"), _LAYOUTS, tree.get("layout", "")),
            text_field(
                "levels", label_of("levels"), tree.get("levels", ""),
                "For a table of levels: its columns from the items up, with commas between them.",
            ),
            check_field(
                "qualify", label_of("qualify"), bool(tree.get("qualify")),
                "If one label names several groups.",
            ),
            button("Read it like this", "quiet"),
        ),
    )  # fmt: skip


def _ways(request: Request, project: Project) -> list[str | None]:
    """A file, a recipe, or nothing."""
    csrf, base = csrf_of(request), f"/projects/{project.id}/hierarchy"
    offered = project.state.get("offered")
    sample = form_tag(
        f"{base}/choose", csrf, tag("input", type="hidden", name="kind", value="offered"),
        tag("h2", "The hierarchy of the sample"), button(f"Use {offered['name']}"), class_="card",
    ) if offered else None  # fmt: skip
    about = "A line for each item: milk;dairy;food. Files of ARX and tables of levels work too."
    drop = drop_form(
        request,
        project,
        "tree",
        "Choose a hierarchy file",
        tag("h2", "A file of yours"),
        tag("p", about),
    )
    stays = path_form(request, project, "tree", tag("h2", "A large file on this computer"))
    built = form_tag(
        f"{base}/choose",
        csrf,
        tag("input", type="hidden", name="kind", value="recipe"),
        tag("h2", "Build one"),
        choice_field("recipe", "How to group", RECIPES, "balanced:5"),
        details(
            "Another recipe",
            text_field("own", "Recipe", help="Such as balanced:20:alphabetical or prefix:1,3."),
        ),
        button("Build and check it"),
        class_="card",
    )
    nothing = form_tag(
        f"{base}/choose", csrf, tag("input", type="hidden", name="kind", value="none"),
        button("Use no hierarchy", "quiet"),
    )  # fmt: skip
    return [sample, drop, stays, built, nothing]


def _command(project: Project) -> str:
    found, data = tree_of(project), data_of(project)
    if found is None or data is None:
        return ""
    words = reading_of(project)
    if found[1] is None:
        return command_line("hierarchy build", data[0], found[0], output="tree.csv", **words)
    return command_line("hierarchy check", found[0], data=data[0], **words)
