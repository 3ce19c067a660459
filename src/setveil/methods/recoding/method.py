"""What the methods of global recoding share: records and tree in, one cut for all records out."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal

from setveil.engines.base import Progress
from setveil.errors import check_count
from setveil.methods.method import Method, Request
from setveil.methods.recoding.frame import Frame, Shown
from setveil.promises import KmAnonymity, Promise
from setveil.published.generalized import Generalized

Kind = Literal["best", "paper"]


@dataclass(frozen=True, kw_only=True)
class GlobalRecoding(Method[Generalized]):
    """A method that gives one cut of the tree for all records, and may suppress some of its nodes everywhere.

    The release says so (`"recoding": "global"` among the method's parameters), for it changes what may be read from it: a node stands
    in a record exactly when an item under it does, in every record alike.
    """

    promises: ClassVar[tuple[type[Promise], ...]] = (KmAnonymity,)
    needs_hierarchy: ClassVar[bool] = True
    trial: ClassVar[Promise] = KmAnonymity(k=2, m=3)

    variant: Kind = "best"
    """`paper` is the paper's own greedy search, `best` one that loses less."""
    restarts: int = 4
    """How many more searches `best` makes, in other orders; the result never depends on chance."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count("restarts", self.restarts, 0)

    def _anonymize(self, request: Request[KmAnonymity]) -> Generalized:
        promise = request.promise
        frame = Frame(request.records, request.tree, promise.m)
        shown = self.solve(frame, promise.k, request.progress) if len(frame.leaves) else frame.over
        return frame.release(shown, promise, self.to_dict())

    @abstractmethod
    def solve(self, frame: Frame, k: int, progress: Progress | None = None) -> Shown:
        """The node to show for each leaf, or -1 where it is suppressed, so that no itemset of up to `frame.m` nodes is a threat."""
