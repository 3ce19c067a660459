"""The third step: what is feared, what must be kept, and the promise and method that follow."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from setveil.errors import SetveilError
from setveil.io.releases.folder import release_formats
from setveil.methods import METHODS
from setveil.parameters import parameters
from setveil.pipeline.methods import MethodFacts, first_sentence, list_methods
from setveil.pipeline.names import chosen_method, promise_from, words_of
from setveil.pipeline.trials import USES
from setveil.report.markup import Markup, joined, tag
from setveil.web.context import (
    anonymize_words,
    data_of,
    form_of,
    project_of,
    promise_kind,
    promise_kinds,
    promise_words_of,
    queue_of,
    reading_of,
    store_of,
    tree_words,
)
from setveil.web.equivalents import anonymize_command, anonymize_python, safe_command
from setveil.web.flow import start
from setveil.web.forms import (
    Form,
    button,
    check_field,
    choice_field,
    details,
    form_tag,
    parameter_field,
    parameter_value,
    radios,
    text_field,
    whole_number,
)
from setveil.web.layout import csrf_of, go, respond, unfinished
from setveil.web.steps import job_values, load_first, step_screen
from setveil.web.store import Project
from setveil.web.wording import label_of, line_of

WHY = (
    "No release is safe from everybody and useful for everything. Say what somebody might know, "
    "and what the release is for; the rest follows."
)
_FORMATS = {"": "as usual", **{name: name for name in release_formats()}}


async def goal(request: Request) -> Response:
    """What is chosen so far."""
    return _screen(request, project_of(request))


async def choose(request: Request) -> Response:
    """What is feared and what must be kept."""
    form = await form_of(request)
    project = project_of(request)
    _choose(project, form)
    store_of(request).save(project)
    return go(request, f"/projects/{project.id}/goal#promise")


async def settle(request: Request) -> Response:
    """The numbers of the promise, the method and its parameters.

    Another promise has other numbers: if it was changed, too, these are shown first."""
    form = await form_of(request)
    project = project_of(request)
    before = dict(project.state)
    if _choose(project, form):
        store_of(request).save(project)
        return go(request, f"/projects/{project.id}/goal#promise")
    try:
        _take(project, form)
    except SetveilError as error:
        project.state = before
        return _screen(request, project, error)
    store_of(request).save(project)
    place = "hierarchy" if form.get("go") == "on" else "goal#promise"
    return go(request, f"/projects/{project.id}/{place}")


async def advise(request: Request) -> Response:
    """Try what may suit the data."""
    await form_of(request)
    project = project_of(request)
    await queue_of(request).forget(project, "advise")
    words = {**reading_of(project), **tree_words(project), **promise_words_of(project)}
    keep = project.state.get("keep", "counts")
    await start(request, project, "advise", keep=keep, **words)
    return go(request, f"/projects/{project.id}/goal#advice")


async def accept(request: Request) -> Response:
    """Take the advice."""
    await form_of(request)
    project = project_of(request)
    job = store_of(request).latest(project, "advise")
    if job is not None and job.status == "done":
        method = {**job.result["values"]["method"]}
        name = str(method.pop("name"))
        usual = parameters(METHODS[name])
        changed = {
            key: value for key, value in method.items()
            if key in usual and value != usual[key].default
        }  # fmt: skip
        project.state["method"] = name
        project.state.setdefault("parameters", {})[name] = changed
        if job.result["tree"] and not project.state.get("tree", {}).get("kind"):
            project.state["tree"] = {"kind": "recipe", "recipe": job.result["tree"]}
        store_of(request).save(project)
    return go(request, f"/projects/{project.id}/goal#promise")


def _screen(request: Request, project: Project, error: SetveilError | None = None) -> Response:
    job = store_of(request).latest(project, "advise")
    body: list[str | None] = [load_first(project)]
    if data_of(project) is not None:
        place = f"/projects/{project.id}/goal/settle"
        body = [
            form_tag(place, csrf_of(request), _choice(project), _promise(project)),
            _advice(request, project),
        ]
    screen = step_screen(
        request, project, "goal", why=WHY, body=body, error=error,
        values={
            "promise": promise_kind(project).model,
            "keep": project.state.get("keep", "counts"),
            "words": anonymize_words(project),
            "advice": job.result.get("values") if job else None,
            "job": job_values(job),
        },
        command=safe_command(project),
        python=anonymize_python(project),
        refresh=bool(job and job.is_live),
    )  # fmt: skip
    return respond(request, screen)


def _choice(project: Project) -> Markup:
    """What is feared, and what must be kept."""
    feared = [
        (model, _sentence(kind.feared or first_sentence(kind.__doc__ or "")), model)
        for model, kind in promise_kinds().items()
    ]
    kept = [(use.name, _sentence(use.about), f"measure: {use.measure}") for use in USES.values()]
    return tag(
        "section",
        radios("promise", "What do you fear?", feared, promise_kind(project).model),
        radios(
            "keep", "What must the release still show?", kept, project.state.get("keep", "counts")
        ),
        button("Use this", "quiet", formnovalidate=True),
        class_="card",
    )


def _promise(project: Project) -> Markup:
    """The promise in words, its numbers, the method and its parameters."""
    kind, words = promise_kind(project), promise_words_of(project)
    said = None
    try:
        asked = promise_from(words)
        said = None if asked is None else tag("p", asked.promise.describe(), class_="headline")
        limits = "" if asked is None else asked.promise.limits()
    except SetveilError as error:
        limits = line_of(error)
    needed = {name for name, one in parameters(kind).items() if one.required}
    main, more = list[Markup](), list[Markup]()
    for name, one in words_of(kind).items():
        made = parameter_field(one, words.get(name), optional=name not in needed)
        (main if name in needed else more).append(made)
    extra = details(
        "More for this promise", *more,
        opened=any(name in words for name in words_of(kind).keys() - needed),
    )  # fmt: skip
    return tag(
        "section",
        tag("h2", f"The promise: {kind.model}", id="promise"),
        said,
        details("What is not promised", tag("p", limits)) if limits else None,
        tag("div", *main, class_="grid"),
        extra if more else None,
        _methods(project),
        _publishing(project),
        tag(
            "p",
            button("Save", "quiet"),
            button("Save and go on", name="go", value="on"),
            class_="row",
        ),
        class_="card",
    )


def _methods(project: Project) -> Markup:
    """The methods that keep the promise, and the parameters of each."""
    model = promise_kind(project).model
    chosen, why = chosen_method({**promise_words_of(project), **_tree(project)})
    fitting = [method for method in list_methods() if model in method.promises]
    usual = f"{chosen}: {why}" if why else chosen
    options = [("", "What suits best", _sentence(usual))]
    options += [(method.name, method.name, _about(method)) for method in fitting]
    now = str(project.state.get("method", ""))
    given = project.state.get("parameters", {})
    parts = [
        details(
            f"Settings of {method.name}",
            tag("p", "They count only if you choose this method above.", class_="hint"),
            *(
                parameter_field(one, given.get(method.name, {}).get(name), f"{method.name}.")
                for name, one in parameters(METHODS[method.name]).items()
            ),
            opened=method.name == now,
        )
        for method in fitting
        if parameters(METHODS[method.name])
    ]
    return joined(radios("method", "How should the promise be kept?", options, now), *parts)


def _publishing(project: Project) -> Markup:
    """What is published, whatever the method."""
    given = project.state.get("publishing", {})
    return details(
        "What is published",
        text_field(
            "min_people", label_of("min_people"), given.get("min_people", ""),
            "Items that fewer people have are left out first: for names and free text.",
            type="number", min="0",
        ),
        text_field(
            "seed", label_of("seed"), given.get("seed", ""),
            "The same number gives the same release again. Leave it empty for real releases.",
            type="number", min="0",
        ),
        choice_field("format", label_of("format"), _FORMATS, given.get("format", "")),
        check_field(
            "public_items", label_of("public_items"), bool(given.get("public_items")),
            "Everybody may know which items exist. Differential privacy needs this, or a "
            "hierarchy file.",
        ),
        opened=bool(given),
    )  # fmt: skip


def _advice(request: Request, project: Project) -> Markup:
    """Trials on a sample, if the user wants them."""
    job = store_of(request).latest(project, "advise")
    csrf, base = csrf_of(request), f"/projects/{project.id}/goal"
    ask = form_tag(f"{base}/advise", csrf, button("Try what suits my data", "quiet"))
    parts: list[str | None] = [
        tag("p", "Trials of all methods on your data, or on a sample if it is large."),
        ask,
    ]
    if job is not None and job.status != "done":
        parts = [unfinished(request, job, "Trying methods on a sample", "The trial", ask)]
    elif job is not None:
        take = form_tag(f"{base}/accept", csrf, button(f"Use {job.result['method']}"))
        parts = [Markup(job.result["report"]), tag("div", take, ask, class_="row")]
    return tag("section", tag("h2", "Not sure?", id="advice"), *parts, class_="card")


def _choose(project: Project, form: Form) -> bool:
    """Put what is feared and what must be kept into the state; whether the promise is another."""
    before = promise_kind(project).model
    if form.get("promise") in promise_kinds():
        project.state["promise"] = form["promise"]
    if form.get("keep") in USES:
        project.state["keep"] = form["keep"]
    is_new = promise_kind(project).model != before
    if is_new:
        project.state.pop("method", None)
    return is_new


def _take(project: Project, form: Form) -> None:
    """Put what the form says into the state, if it makes sense."""
    kind = promise_kind(project)
    numbers = {
        name: value
        for name, one in words_of(kind).items()
        if (value := parameter_value(one, form)) is not None
    }
    state = project.state
    state["numbers"] = {**state.get("numbers", {}), kind.model: numbers}
    name = form.get("method", "")
    state["method"] = name if name in METHODS else ""
    if state["method"]:
        values = {
            word: value
            for word, one in parameters(METHODS[name]).items()
            if (value := parameter_value(one, form, f"{name}.")) is not None
        }
        state["parameters"] = {**state.get("parameters", {}), name: values}
    publishing: dict[str, Any] = {
        word: number for word in ("min_people", "seed") if (number := whole_number(word, form))
        is not None
    }  # fmt: skip
    if form.get("format") in _FORMATS and form["format"]:
        publishing["format"] = form["format"]
    if form.get("public_items"):
        publishing["public_items"] = True
    state["publishing"] = publishing
    state.setdefault("promise", kind.model)
    promise_from({**promise_words_of(project)})
    anonymize_command(project)  # what the words mean is checked before they are kept


def _tree(project: Project) -> dict[str, Any]:
    chosen = project.state.get("tree", {}).get("kind")
    return tree_words(project) if chosen else {}


def _about(method: MethodFacts) -> str:
    needs = " It needs a hierarchy of the items." if method.needs_hierarchy else ""
    return f"{method.about}{needs}"


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}".rstrip(".") + "."
