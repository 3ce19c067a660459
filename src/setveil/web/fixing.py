"""Which fields an error is about: links to them, and the sentence next to the field."""

from __future__ import annotations

import re
from functools import cache
from urllib.parse import urlencode

from starlette.requests import Request

from setveil.errors import ParameterError, SetveilError
from setveil.methods import METHODS
from setveil.parameters import parameters
from setveil.pipeline.anonymize import job_from
from setveil.pipeline.job import check_job
from setveil.pipeline.names import READING, chosen_method, method_words, promise_words
from setveil.web.context import (
    TREE_WORDS,
    anonymize_words,
    data_of,
    promise_kind,
    promise_words_of,
    store_of,
    uses_list,
)
from setveil.web.store import Project
from setveil.web.wording import LABELS, label_of, line_of

_QUOTED = re.compile("“([^”]+)”")
_MEANT = {
    "nobody can be hidden among": "k",
    "the public list of items does not have": "public_list",
    "the list of items that may occur must be public": "public_list",
    "private item": "private",
    "sensitive item": "sensitive",
}
"""What lines say that do not name their field."""
Link = tuple[str, str]
"""The label of a field, and where it is."""


def fields_in(line: str) -> list[str]:
    """The fields that an error names, in its order.

    Example:
        >>> fields_in("“Size of the crowd (k)” = 1 is not allowed: it must be 2 or more")
        ['k']
    """
    named = [_names()[label] for label in _QUOTED.findall(line) if label in _names()]
    meant = [name for words, name in _MEANT.items() if words in line]
    return list(dict.fromkeys([*meant, *named]))


def field_links(project: Project, line: str, run: str = "") -> list[Link]:
    """Where the fields are that an error names; `run` is the job that has failed."""
    return [(label_of(name), _place(project, name, run)) for name in fields_in(line)]


def marked_of(request: Request, project: Project, error: SetveilError | None) -> dict[str, str]:
    """The field that is wrong with the sentence that says so: that of the form, or that of the link
    that was followed, which may be wrong or not."""
    if isinstance(error, ParameterError):
        return {error.name: line_of(error)}
    name, run = (request.query_params.get(word, "") for word in ("field", "run"))
    job = store_of(request).job(run) if run else None
    if job is not None:
        line = job.error if job.project == project.id else ""
    else:
        line = line_of_choices(project) if name else ""
    return {name: line if name in fields_in(line) else ""} if name else {}


def check_choices(project: Project) -> None:
    """Refuse what does not fit together, before a job is made of it.

    Raises:
        SetveilError: if something does not, or no data is loaded.
    """
    found = data_of(project)
    if found is None:
        raise SetveilError("load the data first")
    check_lists(project)
    check_job(job_from(found[0], anonymize_words(project)))


def check_lists(project: Project) -> None:
    """Refuse a promise about items as long as none are named."""
    kind, given = promise_kind(project), promise_words_of(project)
    for name, one in parameters(kind).items():
        if one.holds_items and not given.get(name):
            allowed = f"without them {kind.model} promises nothing; type or paste them"
            raise ParameterError(name, None, allowed)


def line_of_choices(project: Project) -> str:
    """What does not fit together, in a line; empty if all does."""
    try:
        check_choices(project)
    except SetveilError as error:
        return line_of(error)
    return ""


def _place(project: Project, name: str, run: str) -> str:
    step = "goal"
    if name in (*READING, "input_format"):
        step = "load"
    elif name in ("hierarchy", *TREE_WORDS) and not (name == "unknown" and uses_list(project)):
        step = "hierarchy"
    method = str(project.state.get("method") or chosen_method(promise_words_of(project))[0])
    field = f"{method}-{name}" if name in parameters(METHODS[method]) else name
    query = urlencode({"field": name, **({"run": run} if run else {})})
    return f"/projects/{project.id}/{step}?{query}#f-{field.replace('_', '-')}"


@cache
def _names() -> dict[str, str]:
    """The name of each field by its label."""
    return {label_of(name): name for name in (*method_words(), *promise_words(), *LABELS)}
