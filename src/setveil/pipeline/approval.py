"""Approval: everything about a release that somebody who has to agree to it must see.

It goes with the original, so it is private. The page and its JSON twin are made of the same parts,
see `setveil.report.approval`."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from setveil.alignment.merging import count_records
from setveil.audit.attack.attack import NOT_ATTACKED
from setveil.audit.attack.outcome import Attack
from setveil.audit.attack.risk import unique_share
from setveil.data.account import Account
from setveil.data.people import People
from setveil.data.transactions import Transactions
from setveil.disk import check_place, new_file, sync
from setveil.engines.base import Progress
from setveil.errors import ParameterError
from setveil.pipeline.attack import AttackJob, attack_on, can_attack
from setveil.pipeline.commands import command_line, reading_options
from setveil.pipeline.dossier import Dossier
from setveil.pipeline.inputs import known_name
from setveil.pipeline.names import Words, fields_from
from setveil.pipeline.register import Others, others_of
from setveil.pipeline.report import PRIVATE_FILE, ReportJob, check_page, examined
from setveil.pipeline.stages import Stages
from setveil.pipeline.stated import Stated, read_stated
from setveil.published import Release
from setveil.showing import Shown, page_of, values_of

AUDIENCE = "approval"
"""The word that asks for it."""
_ATTACK = ("knows", "occasion", "population_data", "trials", "private", "other", "other_alignment")


@dataclass(frozen=True, kw_only=True)
class ApprovalJob(ReportJob):
    """What the page of a report is about, what was stated, and what to attack with."""

    audience: str = AUDIENCE
    context: Path | str | Mapping[str, Any] | None = None
    """What people state, or the TOML file with it; see `setveil.pipeline.stated`."""
    register: Path | str | None = None
    """The private register of releases; see `setveil register`."""
    knows: Any = (1, 2, 3)
    occasion: str | None = None
    population_data: object = field(default=None, repr=False)
    trials: int = 10_000
    private: Any = ()
    other: object = field(default=None, repr=False)
    other_alignment: Path | str | None = None

    def __post_init__(self) -> None:
        if self.original is None:
            allowed = "give the data that the release was made from: the page is about both"
            raise ParameterError("original", None, allowed)
        self.attack_job()

    def attack_job(self) -> AttackJob:
        """The attack with the same words."""
        shared = (*_ATTACK, "release", "original", "alignment", "reading", "seed")
        return AttackJob(**{name: getattr(self, name) for name in shared})

    @property
    def command(self) -> str:
        """The command that does this job."""
        given: dict[str, Any] = {"original": _named(self.original, "DATA"), "for": AUDIENCE}
        defaults = {each.name: each.default for each in fields(type(self))}
        for name in ("context", "register", "alignment", *_ATTACK, "seed", "hierarchy"):
            value = getattr(self, name)
            if value != defaults[name] and isinstance(value, str | Path | int | tuple | list):
                given[name] = value if isinstance(value, int) else _words(value)
        output = "dossier.html" if self.output is None else str(self.output)
        return self._line("report", **given, output=output)

    @property
    def check_command(self) -> str:
        """The command that checks the release again."""
        given = {} if self.alignment is None else {"alignment": known_name(self.alignment)}
        return self._line("verify", original=_named(self.original, "DATA"), **given)

    def _line(self, verb: str, **words: Any) -> str:
        line = command_line(verb, _named(self.release, "RELEASE"), **words)
        return " ".join([line, *map(shlex.quote, reading_options(self.reading))])


def _named(given: object, word: str) -> str:
    return known_name(given) if isinstance(given, str | Path) else word


def _words(value: Any) -> Any:
    if isinstance(value, str | Path):
        return known_name(value)
    numbers = [str(each) for each in value if isinstance(each, int)]
    files = [known_name(each) for each in value if not isinstance(each, int)]
    return [*([",".join(numbers)] if numbers else []), *files]


@dataclass(frozen=True, kw_only=True)
class Unique:
    """The share of records that are unique: all that is known of a person is what is in one."""

    before: float
    after: float | None
    """None if the release does not show records."""


@dataclass(frozen=True, kw_only=True)
class Approval(Shown):
    """What the page for approval shows."""

    dossier: Dossier
    stated: Stated
    unique: Unique
    attack: Attack | None = None
    not_attacked: str = ""
    """Why there is no attack."""
    others: Others | None = None
    """What a register says of this release and others; None if none was given."""
    account: Account | None = None
    people: int | None = None
    """How many people the original has, if that is known."""
    columns: tuple[str, ...] = ()
    """The columns that are published beside the items."""
    min_people: int = 0
    command: str = ""
    check_command: str = ""
    made: str = ""
    """The day."""
    seed: int = 0
    trials: int = 0


def write_approval(
    release: object, output: Path | str | None = None, *, original: object, **words: Any
) -> Approval:
    """Write the page for who has to approve a release, with its JSON twin, and return both.

    Args:
        release: A release, or its folder.
        output: The HTML file; the twin is beside it. Without it nothing is written.
        original: The data it was made from.
        words: The options of `setveil report --for approval`.

    Example:
        >>> from setveil import KAnonymity, Suppressed
        >>> release = Suppressed.of([["milk"], ["milk"]], KAnonymity(k=2))
        >>> found = write_approval(release, original=[["milk"], ["milk"]])
        >>> found.unique
        Unique(before=0.0, after=0.0)
    """
    return run(job_from(release, {**words, "original": original, "output": output}))


def job_from(release: object, words: Words) -> ApprovalJob:
    """The job that these words describe; None means not given."""
    return ApprovalJob(release=release, **fields_from("report", ApprovalJob, words))


def plain_words(words: Words) -> dict[str, Any]:
    """The words of a report that is not for approval.

    Raises:
        ParameterError: if some are, which only an approval uses."""
    given = {name: value for name, value in words.items() if value is not None}
    for name in (*_ATTACK, "context", "register"):
        if name in given:
            allowed = "only a page for approval uses it: add {audience=approval}"
            raise ParameterError(name, given[name], allowed)
    return given


def run(job: ApprovalJob, progress: Progress | None = None) -> Approval:
    """Examine the release as for a report, attack it, and write the page and its twin."""
    stages = Stages(progress)
    folder = Path(job.release) if isinstance(job.release, str | Path) else None
    check_page(job.output, folder, force=job.force)
    if job.output is not None:
        check_place(twin_of(job.output), force=job.force)
    stated = read_stated(job.context)
    dossier, release, original = examined(job, stages)
    assert original is not None
    attacked = can_attack(release.form)
    found = Approval(
        dossier=dossier,
        stated=stated,
        unique=_unique(release, original.data),
        attack=attack_on(job.attack_job(), release, original.data, stages) if attacked else None,
        not_attacked=NOT_ATTACKED.get(release.form, ""),
        others=others_of(job.register, dossier.digest) if job.register else None,
        account=original.account,
        people=_people(original.people),
        columns=tuple(column.name for column in getattr(release, "columns", ())),
        min_people=release.min_people,
        command=job.command,
        check_command=job.check_command,
        made=datetime.now(UTC).date().isoformat(),
        seed=job.seed,
        trials=job.trials,
    )
    check_likely(found)
    if job.output is not None:
        with stages("writing the page"):
            write_pages(found, Path(job.output), force=job.force)
    return found


def summary(found: Approval) -> dict[str, Any]:
    """What is left to do before it can be signed."""
    values = values_of(found)
    open_ones = [one for one in values["questions"] if one["not_stated"] or not one["measured"]]
    return {"keeps_promise": found.dossier.verdict.keeps_promise, "open": open_ones}


def check_likely(found: Approval) -> None:
    """Refuse knowledge that is called likely and was not tried."""
    tried = [] if found.attack is None else [row.knowledge for row in found.attack.rows]
    for each in found.stated.likely if tried else ():
        if each not in tried:
            allowed = f"likely_knowledge names a row of the attack: {', '.join(tried)}"
            raise ParameterError("context", each, allowed)


def write_pages(found: Approval, place: Path, *, force: bool = False) -> None:
    """Write the page, and its twin beside it, for the user alone."""
    twin = json.dumps(values_of(found), ensure_ascii=False, indent=1, allow_nan=False)
    texts = {place: page_of(found), twin_of(place): f"{twin}\n"}
    with ExitStack() as files:
        for path, text in texts.items():
            temporary = files.enter_context(new_file(path, force=force, mode=PRIVATE_FILE))
            temporary.write_text(text, encoding="utf-8", newline="\n")
            sync(temporary)


def twin_of(page: Path | str) -> Path:
    """Where the JSON twin of a page is."""
    return Path(page).with_suffix(".json")


def _people(people: People | None) -> int | None:
    return None if people is None else len(people)


def _unique(release: Release, original: Transactions) -> Unique:
    before = unique_share(count_records(original).sizes)
    if not release.shows_records:
        return Unique(before=before, after=None)
    return Unique(before=before, after=unique_share(count_records(*release.certain_rows()).sizes))
