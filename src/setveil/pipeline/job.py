"""The job and its outcome."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from setveil.audit.verdict import Verdict
from setveil.hierarchy.files import Layout
from setveil.hierarchy.tree import Hierarchy
from setveil.methods.method import Method
from setveil.methods.suppression import Explanation
from setveil.promises.promise import Promise
from setveil.published import Release


@dataclass(frozen=True, kw_only=True)
class Job:
    """Everything that one run needs to know.

    Example:
        >>> from setveil import KAnonymity, Partition
        >>> from setveil.pipeline import run
        >>> baskets = [["wine", "beer"], ["wine", "beer"], ["milk"], ["milk", "tea"]]
        >>> outcome = run(Job(data=baskets, promise=KAnonymity(k=2), method=Partition(), hierarchy="balanced:2"))
        >>> outcome.verdict.holds, outcome.records
        (True, 4)
    """

    data: object = field(repr=False)
    """A path (`-` is standard input), transactions or bags, or any object that `as_transactions` takes."""
    promise: Promise
    method: Method[Release]
    hierarchy: Hierarchy | Path | str | None = None
    """A tree, the path of its file, or a recipe: `balanced:5`, `balanced:5:alphabetical`, `prefix`, `prefix:1,3,4`, `wordnet`,
    `wordnet:FOLDER`, `wordnet+unknown`. A method that does not generalize leaves it aside; then it serves the losses that need one."""
    layout: Layout | None = None
    """The layout of a hierarchy file: `paths`, `pairs` or `levels`; told from the content when not given."""
    reading: Mapping[str, Any] = field(default_factory=dict)
    """Options of `setveil.read` (for a path) or of `as_transactions` (for an object)."""
    output: Path | str | None = None
    """The release folder; nothing is written when it is not given."""
    format: str | None = None
    """The format of the data in the release folder; what there is depends on the published form."""
    alignment: Path | str | None = None
    """Where to write, privately, the published record of each original record, of forms that have one."""
    private: Sequence[str] = ()
    """Private items besides those that the promise names: files, items, patterns, or `under:NODE` of the hierarchy (coherence)."""
    explain: bool = False
    """Also tell, privately, why so much is lost (methods that suppress items for coherence)."""
    seed: int | None = None
    """Fixes what is random: the order of the published records and the queries of the measures."""
    force: bool = False
    """Replace a release or an alignment file that is there already."""
    public_items: bool = False
    """The list of items is public knowledge: publish a tree that was built over it whole."""
    threads: int | None = None
    """How many threads the method may use; by default all that this process may."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a run has done. Private, except for the release itself."""

    records: int
    items: int
    occurrences: int
    release: Release
    verdict: Verdict
    losses: Mapping[str, Any]
    """What was lost, by the name of the metric; empty when the release does not hold."""
    seconds: Mapping[str, float]
    """The time that each stage took."""
    output: Path | None = None
    """The release folder; None when nothing was written."""
    alignment: Path | None = None
    pruned: bool = False
    """Whether the tree was built over the data's own items, so that only what the records show of it was written."""
    notes: tuple[str, ...] = ()
    """What the user should look at once more."""
    explanation: Explanation | None = None
    """Why so much was lost, where it was asked for."""
    suppressed: tuple[str, ...] = ()
    """The items that the method took out everywhere."""

    def to_dict(self) -> dict[str, object]:
        """The outcome as one JSON object; private, for it tells what was lost."""
        return {
            "data": {"records": self.records, "items": self.items, "occurrences": self.occurrences},
            "release": None if self.output is None else str(self.output),
            "alignment": None if self.alignment is None else str(self.alignment),
            "method": dict(self.release.method),
            "verdict": self.verdict.to_dict(),
            "not_promised": self.release.promise.limits(),
            "losses": dict(self.losses),
            "suppressed": list(self.suppressed),
            "seconds": {stage: round(time, 4) for stage, time in self.seconds.items()},
            "notes": list(self.notes),
            **({} if self.explanation is None else {"explanation": self.explanation.to_dict()}),
        }
