"""The third step: what is feared, what must be kept, and the promise and method that follow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from setveil.errors import SetveilError
from setveil.methods import METHODS
from setveil.parameters import parameters
from setveil.pipeline.advise import Advice
from setveil.pipeline.names import (
    MethodFacts,
    chosen_method,
    first_sentence,
    list_methods,
    method_from,
    promise_from,
    words_of,
)
from setveil.pipeline.trials import USES
from setveil.published import Release
from setveil.report import Report
from setveil.report.advice import trial_sections
from setveil.web import choices
from setveil.web.choices import spoken_if_fit
from setveil.web.context import form_of, found_of, project_of, store_of
from setveil.web.following import changing, start
from setveil.web.forms import Field, Form, form_field, parameter_field
from setveil.web.project import Project, adds_noise, promise_kinds
from setveil.web.screens import PAGE_ONLY, Screen, step_frame
from setveil.web.store import StoredJob
from setveil.web.wording import as_field, line_of

WHY = (
    "No release is safe from everybody and useful for everything. Say what somebody might know, "
    "and what the release is for; the rest follows."
)
LACKS = {"": "stop and say so", "drop": "leave them out of all records"}
Choice = tuple[str, str, str]
"""What a choice sends, its title and a sentence about it."""


@dataclass(frozen=True, kw_only=True)
class GoalScreen(Screen):
    """What is feared, what must be kept, the promise and the method."""

    template = "goal.html"
    loaded: bool
    promise: str
    changed: bool
    """Whether the promise was changed just now, so that its numbers must be checked."""
    keep: str
    words: dict[str, Any]
    job: StoredJob | None
    advice: Advice | None
    trials: Report | None = field(metadata=PAGE_ONLY)
    meaning: str
    limits: str
    fears: list[Choice]
    uses: list[Choice]
    numbers: list[Field]
    additions: list[Field]
    added: bool
    """Whether one of the additions is used."""
    method: str
    methods: list[Choice]
    settings: dict[str, list[Field]]
    publishing: list[Field]
    publishes: bool
    weighs: bool
    """Whether a parameter weighs one loss against another."""


async def choose(request: Request, project: Project, form: Form) -> str:
    """What is feared and what must be kept."""
    choices.choose(project, form)
    store_of(request).save(project)
    return f"/projects/{project.id}/goal#promise"


async def settle(request: Request, project: Project, form: Form) -> str:
    """The numbers of the promise, the method and its parameters.

    Another promise has other numbers: if it was changed, too, these are shown first."""
    is_new = choices.choose(project, form)
    if not is_new:
        choices.take(project, form)
    store_of(request).save(project)
    place = "goal?changed=1#promise" if is_new else "goal#promise"
    return f"/projects/{project.id}/{place if is_new or form.get('go') != 'on' else 'hierarchy'}"


async def meaning(request: Request) -> Response:
    """What the promise means with the numbers that are typed so far; nothing is kept."""
    form = await form_of(request)
    project = project_of(request)
    try:
        choices.put_promise(project.state, project.promise_kind, form)
        promised, limits = _meaning(project)
    except SetveilError as error:
        promised, limits = "", line_of(error)
    return JSONResponse({"meaning": promised, "limits": limits})


async def advise(request: Request, project: Project, form: Form) -> str:
    """Try what may suit the data."""
    async with changing(request, "advise") as project:
        words = {**project.reading, **project.tree_words, **project.promise_words}
        keep = project.state.get("keep", "counts")
        await start(request, project, "advise", keep=keep, **words)
    return f"/projects/{project.id}/goal#advice"


async def accept(request: Request, project: Project, form: Form) -> str:
    """Take the advice."""
    advice = found_of(store_of(request).latest(project, "advise"))
    if advice is not None:
        choices.use_method(project, advice.best.way.method.to_dict())
        if advice.built and not project.state.get("tree", {}).get("kind"):
            project.state["tree"] = {"kind": "recipe", "recipe": advice.built}
        if advice.min_people:
            project.state.setdefault("publishing", {})["min_people"] = advice.min_people
        store_of(request).save(project)
    return f"/projects/{project.id}/goal#promise"


async def screen(request: Request, project: Project, error: SetveilError | None) -> GoalScreen:
    """What is chosen so far."""
    job, kind = store_of(request).latest(project, "advise"), project.promise_kind
    advice, words = found_of(job), project.promise_words
    meaning, limits = _meaning(project)
    own = parameters(kind)
    needed = {name for name in own if own[name].required or own[name].holds_items}
    fields = {
        name: parameter_field(one, words.get(name), optional=name not in needed)
        for name, one in words_of(kind).items()
    }
    given = project.state.get("publishing", {})
    return GoalScreen(
        **step_frame(request, project, "goal", error),
        why=WHY,
        loaded=project.data is not None,
        promise=kind.model,
        changed="changed" in request.query_params,
        keep=project.state.get("keep", "counts"),
        words=project.words,
        job=job,
        advice=advice,
        trials=None if advice is None else Report(tuple(trial_sections(advice, _method, as_field))),
        meaning=meaning,
        limits=limits,
        fears=[
            (model, _sentence(one.feared or first_sentence(one.__doc__ or "")), model)
            for model, one in promise_kinds(project.reading).items()
        ],
        uses=[(use.name, _sentence(use.about), "") for use in USES.values()],
        numbers=[
            *(fields[name] for name in fields if name in needed),
            *([_public_items(given), *_public_list(project)] if adds_noise(kind) else []),
        ],
        additions=[fields[name] for name in fields if name not in needed],
        added=any(name in words for name in fields.keys() - needed),
        method=project.method,
        methods=_methods(project),
        settings=_settings(project),
        publishing=[*_publishing(given), *([] if adds_noise(kind) else [_public_items(given)])],
        publishes=bool(given),
        weighs=any(METHODS[one.name].weighs for one in _fitting(project)),
        **spoken_if_fit(project),
        refresh=bool(job and job.is_live),
    )


def _meaning(project: Project) -> tuple[str, str]:
    """The sentence that will be published, and what is not promised.

    A promise about items is shown as if some were named: none are before the user goes on."""
    words = project.words
    try:
        asked, method = promise_from(words), method_from(words)
    except SetveilError as error:
        return "", line_of(error)
    if asked is None:
        return "", ""
    promise = asked.promise
    for name, one in parameters(type(promise)).items():
        if one.holds_items:  # the sentence says that there are some, not which
            promise = promise.with_items(name, frozenset({"some"}))
    promised = Release.named(method.form).promised(promise, **method.to_dict())
    return promised, promise.limits()


def _methods(project: Project) -> list[Choice]:
    """The methods that keep the promise, each with a sentence."""
    tree = project.tree_words if project.state.get("tree", {}).get("kind") else {}
    chosen, why = chosen_method({**project.promise_words, **tree})
    needs = {True: " It needs a hierarchy of the items.", False: ""}
    return [
        ("", "What suits best", _sentence(f"{chosen}: {why}" if why else chosen)),
        *((m.name, m.name, m.about + needs[m.needs_hierarchy]) for m in _fitting(project)),
    ]


def _settings(project: Project) -> dict[str, list[Field]]:
    given = project.state.get("parameters", {})
    return {
        method.name: [
            parameter_field(one, given.get(method.name, {}).get(name), f"{method.name}.")
            for name, one in own.items()
        ]
        for method in _fitting(project)
        if (own := parameters(METHODS[method.name]))
    }


def _fitting(project: Project) -> list[MethodFacts]:
    return [one for one in list_methods() if project.promise_kind.model in one.promises]


def _publishing(given: dict[str, Any]) -> list[Field]:
    return [
        form_field(
            "min_people", given.get("min_people", ""),
            "Items that fewer people have are left out first, for names and free text. Records are "
            "counted if the file does not say whose they are.",
            kind="number", min="0",
        ),
        form_field(
            "seed", given.get("seed", ""),
            "The same number gives the same release again. Leave it empty for real releases.",
            kind="number", min="0",
        ),
        form_field("format", given.get("format", ""), kind="choice", options=choices.FORMATS),
    ]  # fmt: skip


def _public_items(given: dict[str, Any]) -> Field:
    """Whether everybody may know which items exist."""
    help = (
        "Everybody may know which items the data has, as for the articles of a shop. Differential "
        "privacy needs this, or a public list, a hierarchy file, or a chance of failure (delta)."
    )
    return form_field("public_items", given.get("public_items"), help, kind="check")


def _public_list(project: Project) -> list[Field]:
    """A standard list of codes, which may have more than the data, and what else the data has."""
    given = project.state.get("listed", {})
    help = "One per line, such as a standard list of codes. It may have more than the data."
    more = {"label": "Items of the data that the list lacks", "kind": "choice", "options": LACKS}
    return [
        form_field("public_list", given.get("items", ()), help, kind="lines"),
        form_field("unknown", given.get("unknown", ""), "Only if you paste a list.", **more),
    ]


def _method(given: Mapping[str, Any]) -> str:
    """A method with those of its parameters that are not the default."""
    own = parameters(METHODS[str(given["name"])])
    shown = (
        as_field(name, str(one.about.shown(given[name])))
        for name, one in own.items()
        if given[name] != one.default and not isinstance(given[name], Mapping)
    )
    return " with ".join(filter(None, [str(given["name"]), ", ".join(shown)]))


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}".rstrip(".") + "."
