"""Attack: what an adversary with known items can do with a release, measured on its original."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from setveil.audit.attack.attack import ATTACKS
from setveil.audit.attack.attack import attack as search
from setveil.audit.attack.outcome import Attack
from setveil.data.transactions import Transactions
from setveil.engines.base import Progress
from setveil.errors import ParameterError, check_count
from setveil.io.namelists import ItemNames
from setveil.io.releases.alignment import with_alignment
from setveil.pipeline.inputs import load_release
from setveil.pipeline.names import Words, fields_from
from setveil.pipeline.originals import original_of
from setveil.pipeline.stages import Stages
from setveil.published import Release

MOST_KNOWN = 1_000  # more items than a person has


@dataclass(frozen=True, kw_only=True)
class AttackJob:
    """What to attack, and what the adversary knows."""

    release: object = field(repr=False)
    """A release, or its folder."""
    original: object = field(repr=False)
    """The data that the release was made from: a path or an object."""
    knows: tuple[int, ...] = (1, 2, 3)
    """How many items of a person are known; a row of the result for each."""
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
        object.__setattr__(self, "knows", _numbers(self.knows))


def attack(release: object, original: object, **words: Any) -> Attack:
    """How far an adversary gets who has the release and knows some items of a person.

    Private: the result is computed from the original.

    Args:
        release: A release, or its folder.
        original: The data it was made from, as a path or an object.
        words: The options of `setveil attack`: `knows`, `trials`, `private`, `other`, `alignment`,
            `seed`, and how to read the original (`record`, `item` ...).

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
        other = None if job.other is None else _released(job.other, job.other_alignment)
        of = job.original, job.reading, job.alignment
        release, (original, _) = original_of(release, *of)
    with stages("attacking"):
        return search(
            release,
            original,
            knows=job.knows,
            trials=job.trials,
            private=_private(job, release, original),
            seed=job.seed,
            other=other,
            progress=None if progress is None else lambda at, of: progress(at, of, "attacking"),
        )


def _released(given: object, alignment: Path | str | None) -> Release:
    release = load_release(given)
    return release if alignment is None else with_alignment(release, alignment)


def _private(job: AttackJob, release: Release, original: Transactions) -> frozenset[str]:
    """The items that the promise or the user names."""
    named = frozenset[str]().union(*release.promise.named_items.values())
    words = [job.private] if isinstance(job.private, str) else list(job.private)
    if words:
        listed = ItemNames.parse(words, "private")
        named |= listed.among(original.vocabulary, release.tree)
    return named


def _numbers(knows: object) -> tuple[int, ...]:
    """How many items are known: a number, several, or a text such as `1,2,3`."""
    given = knows.split(",") if isinstance(knows, str) else knows
    parts = list(given) if isinstance(given, Iterable) else [given]
    found = set()
    for part in parts:
        text = part.strip() if isinstance(part, str) else part
        number = int(text) if isinstance(text, str) and text.isdecimal() else text
        if number != part and not isinstance(number, int):
            raise ParameterError("knows", knows, "give whole numbers, such as 1,2,3")
        found.add(check_count("knows", number, 1))
    if not found or max(found) > MOST_KNOWN:
        raise ParameterError("knows", knows, f"give numbers from 1 to {MOST_KNOWN:,}")
    return tuple(sorted(found))
