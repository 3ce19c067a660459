"""A toy form: how many people have each item, and nothing else; with its check and its files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from setveil.audit.verdict import Check
from setveil.data.arrays import Int64s, random_from
from setveil.data.transactions import Transactions
from setveil.data.vocabulary import Vocabulary, texts_of
from setveil.io.releases.form import ReleaseForm
from setveil.promises.promise import Promise
from setveil.published.release import Release, Support


@dataclass(frozen=True, eq=False, repr=False)
class Tallies(Release):
    """How many of so many people have each item."""

    form: ClassVar[str] = "tallies"
    shows_records: ClassVar[bool] = False

    labels: tuple[str, ...]
    sizes: Int64s
    people: int
    promise: Promise
    method: Mapping[str, object] = field(default_factory=dict)
    alignment: Int64s | None = None

    def __len__(self) -> int:
        return self.people

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tallies) and self.tally == other.tally

    __hash__ = None

    def __repr__(self) -> str:
        return f"Tallies({self.people} people, {len(self.labels)} items, {self.promise})"

    @property
    def tally(self) -> dict[str, int]:
        return dict(zip(self.labels, self.sizes.tolist(), strict=True))

    @property
    def items(self) -> Vocabulary:
        return Vocabulary(self.labels)

    def certain_rows(self):
        return Transactions.of([[label] for label in self.labels]), self.sizes

    def support(self, itemset):
        asked = [self.tally.get(item) for item in set(texts_of(itemset))]
        known = [size for size in asked if size is not None]
        upper = min(known, default=self.people)
        lower = 0 if None in asked else max(sum(known) - self.people * (len(known) - 1), 0)
        return Support(min(lower, upper), upper, (lower + upper) / 2)

    def reconstruct(self, seed=None):
        random = random_from(seed)
        drawn = [random.choice(self.people, size, replace=False) for size in self.sizes]
        rows = np.concatenate([np.zeros(0, dtype=np.int64), *drawn])
        items = np.repeat(np.arange(len(drawn)), self.sizes).astype(np.int32)
        return Transactions.from_pairs(rows, items, self.items, size=self.people)


def check_tallies(release, question):
    """Whether enough people have each item, and the original has the same numbers."""
    rare = [item for item, size in release.tally.items() if size < question.promise.q]
    checks = [Check("structure", True, "every item has a number")]
    checks.append(Check(question.promise.model, not rare, f"{len(rare)} items are too rare"))
    if question.original is not None:
        data = question.original
        supports = dict(zip(data.vocabulary, data.supports().tolist(), strict=True))
        same = all(supports.get(item) == size for item, size in release.tally.items())
        checks.append(Check("records", same and len(data) == len(release), "numbers compared"))
    return checks


def fill_tallies(release, stage, choices):
    """Write a line for each item."""
    lines = [f"{item}\t{size}\n" for item, size in release.tally.items()]
    (stage / "data.summary").write_text("".join(lines), encoding="utf-8")
    return ["data.summary"], {}


def read_tallies(folder):
    """Read what `fill_tallies` wrote."""
    lines = (folder.place / "data.summary").read_text(encoding="utf-8").splitlines()
    pairs = [line.split("\t") for line in lines]
    sizes = np.array([int(size) for _, size in pairs], dtype=np.int64)
    labels = tuple(item for item, _ in pairs)
    return Tallies(labels, sizes, folder.size, folder.promise, folder.method)


FILES = ReleaseForm(
    name=Tallies.form,
    formats={"tally": ("data.summary",)},
    fill=fill_tallies,
    read=read_tallies,
    promises=("quorum",),
)
