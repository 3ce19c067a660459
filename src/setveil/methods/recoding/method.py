"""What the methods of global recoding share: records and tree in, one cut for all records out."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal

from setveil.engines.base import Engine, Progress
from setveil.methods.method import Method, Request
from setveil.methods.recoding.frame import Frame, Shown
from setveil.parameters import with_default
from setveil.promises import KmAnonymity, Promise
from setveil.published.generalized import Generalized


@dataclass(frozen=True, kw_only=True)
class GlobalRecoding(Method[Generalized]):
    """A method that finds one cut of the tree for all records; it may suppress some of its nodes.

    The release says that it is global, which makes more of it certain: a node is in a published
    record exactly if an item under it is in the original."""

    promises: ClassVar[tuple[type[Promise], ...]] = (KmAnonymity,)
    needs_hierarchy: ClassVar[bool] = True
    trial: ClassVar[Promise] = KmAnonymity(k=2, m=3)

    variant: Literal["best", "paper"] = with_default(
        "best", "`best` loses less; `paper` is the published algorithm, for comparison."
    )
    restarts: int = with_default(
        4,
        "How many more searches `best` makes, in other orders; the result is not random.",
        least=0,
    )

    def _anonymize(self, request: Request[KmAnonymity]) -> Generalized:
        promise = request.promise
        frame = Frame.of(request.records, request.tree, promise.m)
        shown = frame.tree.over
        if len(frame.records.leaves):
            shown = self.solve(frame, promise.k, request.engine, request.progress)
        return frame.release(shown, request.tree, promise, self.to_dict())

    @abstractmethod
    def solve(self, frame: Frame, k: int, engine: Engine, progress: Progress | None) -> Shown:
        """The node to show for each leaf, -1 to suppress it, without any threat."""
