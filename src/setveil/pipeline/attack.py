"""Attack: what an adversary with known items can do with a release, measured on its original."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from setveil.audit.attack.attack import ATTACKS
from setveil.audit.attack.attack import attack as search
from setveil.audit.attack.knowing import Knowledge
from setveil.audit.attack.outcome import Attack
from setveil.data.transactions import Transactions
from setveil.engines.base import Progress
from setveil.errors import ParameterError, check_count
from setveil.io.namelists import ItemNames
from setveil.io.releases.alignment import with_alignment
from setveil.pipeline.inputs import load, load_release
from setveil.pipeline.names import Words, fields_from
from setveil.pipeline.originals import original_of
from setveil.pipeline.outside import occasions, plain, said_by
from setveil.pipeline.stages import Stages
from setveil.published import Release

MOST_KNOWN = 1_000  # more items than a person has
USUAL = (1, 2, 3)
_HOW = f"give numbers from 1 to {MOST_KNOWN:,}, such as 1,2,3, or a file that exists"
_NUMBERS = re.compile(r"\s*\d+\s*(,\s*\d+\s*)*")


@dataclass(frozen=True, kw_only=True)
class AttackJob:
    """What to attack, and what the adversary knows."""

    release: object = field(repr=False)
    """A release, or its folder."""
    original: object = field(repr=False)
    """The data that the release was made from: a path or an object."""
    knows: tuple[int | str, ...] = (1, 2, 3)
    """How many items of a person are known, and files that say what is known of whom; a row of the
    result for each."""
    occasion: str | None = None
    """The column of the basket, session or stay, if a person has several: a row for somebody who
    knows one of them."""
    population_data: object = field(default=None, repr=False)
    """The data of all people who may be meant, those in the original among them."""
    trials: int = 10_000
    """How many people and sets of their items are drawn, if there are more."""
    private: Iterable[str] = ()
    """Items whose inference is reported on its own, besides those that the promise names: files,
    items, patterns, or `under:NODE`."""
    other: object = field(default=None, repr=False)
    """Another release of the same people, or its folder, which the adversary has too."""
    alignment: Path | str | None = None
    """The private alignment of the release, if `other` needs it."""
    other_alignment: Path | str | None = None
    """That of the other release."""
    reading: Mapping[str, Any] = field(default_factory=dict)
    """How to read the original."""
    seed: int | None = None
    """The same seed gives the same draws."""

    def __post_init__(self) -> None:
        check_count("trials", self.trials, 100)
        object.__setattr__(self, "knows", _known(self.knows))


def attack(release: object, original: object, **words: Any) -> Attack:
    """How far an adversary gets who has the release and knows some items of a person.

    Private: the result is computed from the original.

    Args:
        release: A release, or its folder.
        original: The data it was made from, as a path or an object.
        words: The options of `setveil attack`: `knows`, `occasion`, `population_data`, `trials`,
            `private`, `other`, `alignment`, `seed`, and how to read the original (`record`, `item`
            ...).

    Example:
        >>> from setveil import Hierarchy, KAnonymity, Partition
        >>> baskets = [["beer"], ["wine"], ["milk"], ["milk"]]
        >>> paths = [("beer", "Alcohol", "ALL"), ("wine", "Alcohol", "ALL"), ("milk", "ALL")]
        >>> tree = Hierarchy.from_paths(paths)
        >>> release = Partition().anonymize(baskets, KAnonymity(k=2), tree)
        >>> found = attack(release, baskets, knows=1)
        >>> found.holds, found.rows[0].fewest, found.rows[0].success.value
        (True, 2.0, 0.5)
    """
    return run(job_from(release, {**words, "original": original}))


def can_attack(form: str) -> bool:
    """Whether releases of a form have records that an adversary can search for a person."""
    return form in ATTACKS


def job_from(release: object, words: Words) -> AttackJob:
    """The job that these words describe; None means not given."""
    given = fields_from("attack", AttackJob, words)
    return AttackJob(release=release, **{"original": None, **given})


def run(job: AttackJob, progress: Progress | None = None) -> Attack:
    """Read the release and its original, and attack."""
    stages = Stages(progress)
    with stages("reading"):
        release = load_release(job.release)
        if job.original is None:
            raise ParameterError("original", None, "give the data that the release was made from")
        of = job.original, job.reading, job.alignment
        release, original = original_of(release, *of)
    return attack_on(job, release, original.data, stages)


def attack_on(job: AttackJob, release: Release, original: Transactions, stages: Stages) -> Attack:
    """Attack a release that was read with its original."""
    with stages("reading"):
        knowledge = _knowledge(job, original)
    with stages("attacking"):
        progress = stages.progress
        return search(
            release,
            original,
            knows=knowledge,
            trials=job.trials,
            private=_private(job, release, original),
            seed=job.seed,
            progress=None if progress is None else lambda at, of: progress(at, of, "attacking"),
        )


def _knowledge(job: AttackJob, original: Transactions) -> Knowledge:
    data, reading = job.original, job.reading
    sources = [] if job.occasion is None else [occasions(data, reading, job.occasion, original)]
    files = [each for each in job.knows if isinstance(each, str)]
    everybody = job.population_data
    return Knowledge(
        items=[each for each in job.knows if isinstance(each, int)] or USUAL,
        sources=[*sources, *(said_by(file, data, reading, len(original)) for file in files)],
        other=None if job.other is None else _released(job.other, job.other_alignment),
        population=None if everybody is None else load(everybody, plain(reading)),
    )


def _released(given: object, alignment: Path | str | None) -> Release:
    release = load_release(given)
    return release if alignment is None else with_alignment(release, alignment)


def _private(job: AttackJob, release: Release, original: Transactions) -> frozenset[str]:
    named = frozenset[str]().union(*release.promise.named_items.values())
    words = [job.private] if isinstance(job.private, str) else list(job.private)
    if words:
        listed = ItemNames.parse(words, "private")
        named |= listed.among(original.vocabulary, release.tree)
    return named


def _known(knows: object) -> tuple[int | str, ...]:
    """How many items are known: a number, several, or a text such as `1,2,3`; or a file."""
    given = list(knows) if isinstance(knows, list | tuple | set | range) else [knows]
    found: dict[int | str, None] = {}
    for each in given:
        if isinstance(each, Path) or (isinstance(each, str) and not _NUMBERS.fullmatch(each)):
            if not each or not Path(each).is_file():
                raise ParameterError("knows", each, _HOW)
            found[each if isinstance(each, str) else str(each)] = None
        else:
            found |= dict.fromkeys(_numbers(each))
    if not found:
        raise ParameterError("knows", knows, _HOW)
    return tuple(found)


def _numbers(given: object) -> list[int]:
    parts = given.split(",") if isinstance(given, str) else [given]
    found = [int(part) if isinstance(part, str) else part for part in parts]
    numbers = [check_count("knows", number, 1) for number in found]
    if max(numbers) > MOST_KNOWN:
        raise ParameterError("knows", given, _HOW)
    return sorted(numbers)
