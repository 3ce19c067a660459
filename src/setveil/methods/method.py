"""The contract of every method."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from typing import ClassVar

from setveil.data.tables.exchange import as_transactions
from setveil.data.transactions import Bags, Transactions
from setveil.engines.base import Engine, Progress
from setveil.engines.local import LOCAL
from setveil.errors import ParameterError
from setveil.hierarchy.tree import Hierarchy
from setveil.parameters import settle
from setveil.promises.promise import Promise
from setveil.published import Release


@dataclass(frozen=True, kw_only=True)
class Method(ABC):
    """A way to keep a promise: parameters as fields, one verb, no state."""

    name: ClassVar[str]
    """The name on the command line, in files and in `METHODS`."""
    promises: ClassVar[tuple[type[Promise], ...]]
    """The promises it can keep."""
    needs_hierarchy: ClassVar[bool]
    form: ClassVar[str] = "generalized"
    """The published form that it gives."""
    runs_on: ClassVar[tuple[str, ...]] = ("local",)

    def __post_init__(self) -> None:
        settle(self)

    @abstractmethod
    def anonymize(
        self,
        data: object,
        promise: Promise,
        hierarchy: Hierarchy | None = None,
        *,
        engine: Engine = LOCAL,
        progress: Progress | None = None,
    ) -> Release:
        """A published form of `data` that keeps `promise`.

        Args:
            data: The records; transactions, bags, or any object that `setveil.as_transactions` takes.
            promise: What to keep; one of `promises`.
            hierarchy: The tree over the items, where the method generalizes.
            engine: Where the loops run.
            progress: Is told how far the work is.
        """

    def admit(
        self, data: object, promise: Promise, hierarchy: Hierarchy | None, *, sets: bool = False
    ) -> Transactions:
        """The records that `anonymize` was given, of bags the mere `sets` where the method knows no counts; checked."""
        records = as_transactions(data)
        if sets and isinstance(records, Bags):
            records = records.sets()
        self.check(len(records), promise, hierarchy)
        return records

    def check(self, records: int, promise: Promise, hierarchy: Hierarchy | None) -> None:
        """Refuse, before any work, what cannot be done."""
        if not isinstance(promise, self.promises):
            kept = " or ".join(kind.model for kind in self.promises)
            raise ParameterError("promise", promise, f"the method {self.name} keeps {kept}")
        if self.needs_hierarchy and hierarchy is None:
            allowed = f"the method {self.name} needs a hierarchy over the items: a file, or how to build one, as in balanced:5"
            raise ParameterError("hierarchy", None, allowed)
        if self.needs_hierarchy and not isinstance(hierarchy, Hierarchy):
            raise ParameterError(
                "hierarchy",
                hierarchy,
                "it must be a Hierarchy: Hierarchy.read(file), Hierarchy.balanced(items), ...",
            )
        promise.check_feasible(records)

    def to_dict(self) -> dict[str, object]:
        """The method as it stands in `release.json`."""
        return {"name": self.name, **asdict(self)}
