"""The same as the page does, on the command line and in Python."""

from __future__ import annotations

from typing import Any

from setveil.errors import SetveilError
from setveil.io.namelists import typed
from setveil.pipeline.anonymize import job_from
from setveil.pipeline.commands import command_of_job, python_call
from setveil.web.context import anonymize_words, data_of
from setveil.web.fixing import check_choices
from setveil.web.lists import with_files
from setveil.web.store import Project
from setveil.web.tasks import RELEASE


def anonymize_command(project: Project, words: dict[str, Any] | None = None) -> str:
    """The command that anonymizes the data of a project.

    Raises:
        SetveilError: if a word is not allowed.
    """
    return command_of_job(job_from(_data(project), _words(project, words)))


def anonymize_python(project: Project, words: dict[str, Any] | None = None) -> str:
    """The same in Python."""
    return python_call("anonymize", _data(project), **_words(project, words))


def both(project: Project) -> dict[str, Any]:
    """The command and the same in Python; nothing as long as the choices do not fit together."""
    try:
        check_choices(project)
    except SetveilError:
        return {}
    return {"command": anonymize_command(project), "python": anonymize_python(project)}


def _data(project: Project) -> str:
    found = data_of(project)
    return "DATA" if found is None else found[0]


def _words(project: Project, words: dict[str, Any] | None) -> dict[str, Any]:
    given = anonymize_words(project) if words is None else typed(words)
    return {**with_files(given), "output": RELEASE}
