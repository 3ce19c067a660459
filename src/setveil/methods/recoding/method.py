"""What the methods of global recoding share: records and tree in, one cut for all records out."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal

from setveil.data.transactions import Transactions
from setveil.engines.base import Engine, Progress
from setveil.engines.local import LOCAL
from setveil.errors import ParameterError, check_count
from setveil.hierarchy.tree import Hierarchy
from setveil.methods.method import Method
from setveil.methods.recoding.frame import Frame, Shown
from setveil.promises import KmAnonymity, Promise
from setveil.published.generalized import Generalized

Kind = Literal["best", "paper"]


@dataclass(frozen=True, kw_only=True)
class GlobalRecoding(Method):
    """A method that gives one cut of the tree for all records, and may suppress some of its nodes everywhere.

    The release says so (`"recoding": "global"` among the method's parameters), for it changes what may be read from it: a node stands
    in a record exactly when an item under it does, in every record alike.
    """

    promises: ClassVar[tuple[type[Promise], ...]] = (KmAnonymity,)
    needs_hierarchy: ClassVar[bool] = True

    variant: Kind = "best"
    """`paper` is the paper's own greedy search, `best` one that loses less."""
    restarts: int = 4
    """How many more searches `best` makes, in other orders; the result never depends on chance."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count("restarts", self.restarts, 0)

    def anonymize(
        self,
        data: object,
        promise: Promise,
        hierarchy: Hierarchy | None = None,
        *,
        engine: Engine = LOCAL,
        progress: Progress | None = None,
    ) -> Generalized:
        data = self.admit(data, promise, hierarchy)
        assert hierarchy is not None and isinstance(promise, KmAnonymity)
        if promise.diversity is not None:
            raise ParameterError(
                "promise",
                promise,
                f"the method {self.name} keeps no l-diversity; disassociation does",
            )
        frame = Frame(data, hierarchy, promise.m)
        shown = self.solve(frame, promise.k, progress) if len(frame.leaves) else frame.over
        return frame.release(shown, promise, self.to_dict())

    @abstractmethod
    def solve(self, frame: Frame, k: int, progress: Progress | None = None) -> Shown:
        """The node to show for each leaf, or -1 where it is suppressed, so that no itemset of up to `frame.m` nodes is a threat."""


def compile_kernels(method: GlobalRecoding) -> None:
    """Run a method on a few records, so that the next call starts at once."""
    tree = Hierarchy.from_paths(
        [(f"{group}{leaf}", group, "ALL") for group in "ab" for leaf in range(3)]
    )
    rows = [[f"a{i % 3}", f"b{i % 2}", "b2"] for i in range(12)] + [["a1"]]
    method.anonymize(Transactions.of(rows), KmAnonymity(k=2, m=3), tree)
