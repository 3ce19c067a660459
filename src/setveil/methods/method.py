"""The contract of every method."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Generic, Literal, Protocol, Self, TypeVar, runtime_checkable

from setveil.data.tables.exchange import as_transactions
from setveil.data.transactions import Bags, Transactions
from setveil.engines import IN_MEMORY
from setveil.engines.base import Engine, Progress
from setveil.engines.local import LOCAL, Local
from setveil.errors import ParameterError
from setveil.hierarchy.tree import Hierarchy
from setveil.parameters import settle
from setveil.promises.promise import Promise
from setveil.published import Release

Asked = TypeVar("Asked", bound=Promise, covariant=True)
Form = TypeVar("Form", bound=Release, covariant=True)

_TRIAL = [[f"a{i % 3}", f"b{i % 4}", f"c{i % 5}", f"d{i % 2}", f"e{i % 7}"] for i in range(60)]
"""Records on which `warmup` compiles the kernels."""


@dataclass(frozen=True)
class Request(Generic[Asked]):
    """What `anonymize` was asked to do, after all checks."""

    records: Transactions
    promise: Asked
    hierarchy: Hierarchy | None
    engine: Engine
    progress: Progress | None

    @property
    def tree(self) -> Hierarchy:
        """The hierarchy, for methods that need one."""
        assert self.hierarchy is not None
        return self.hierarchy

    def report(self, done: int, total: int, stage: str) -> None:
        """Say how far the work is, if anyone listens."""
        if self.progress is not None:
            self.progress(done, total, stage)


class Explanation(Protocol):
    """Why a method lost so much."""

    def lines(self) -> list[str]:
        """The explanation, one sentence each."""

    def to_dict(self) -> dict[str, object]:
        """The explanation as it is written in JSON."""


@runtime_checkable
class Explaining(Protocol):
    """An optional part of a method: it can say why so much is lost."""

    def explain(self, data: object, promise: Promise, *, engine: Engine = LOCAL) -> Explanation:
        """Why keeping a promise on some data loses so much. Private: it may name lost items."""


@dataclass(frozen=True, kw_only=True)
class Method(ABC, Generic[Form]):
    """A way to keep a promise: parameters as fields, one verb, no state.

    Optional parts are `Explaining`, `dividing.Divisible` and `private.PrivateMethod`."""

    name: ClassVar[str]  # the name on the command line, in files and in `METHODS`
    promises: ClassVar[tuple[type[Promise], ...]]  # the promises it can keep
    additions: ClassVar[tuple[type[Promise], ...]] = ()
    """The promises it can also keep as part of one of these."""
    chosen_for: ClassVar[Mapping[type[Promise], str]] = {}
    """The promises for which it is chosen if no method is named, and why."""
    needs_hierarchy: ClassVar[bool]
    takes_hierarchy: ClassVar[bool] = False  # whether one is of use though it needs none
    reads: ClassVar[Literal["sets", "bags", "either", "tables"]] = "either"
    """The data it works on; given the other kind, counts are dropped, or are all 1. Tables have
    columns beside the sets."""
    form: ClassVar[str] = "generalized"  # the form of its releases
    tunes: ClassVar[Mapping[str, tuple[Any, ...]]] = {}
    """Parameters that may lose less under the same promise, and the values to try."""
    weighs: ClassVar[Mapping[str, tuple[Any, ...]]] = {}
    """Parameters that weigh one loss against another, and the values that show the trade."""
    by_meaning: ClassVar[tuple[str, ...]] = ()
    """Those of them that help only if the tree groups items by their meaning."""
    runs_anywhere: ClassVar[bool] = False  # else on the engine local alone
    bytes_per_occurrence: ClassVar[int] = 200
    """About how much memory it takes to anonymize, verify and measure, for each occurrence."""
    draws_noise: ClassVar[bool] = False
    """Whether noise keeps the promise, so that nothing may be repeatable, and nothing but its own
    noisy counts may depend on the data."""
    former: ClassVar[Mapping[str, tuple[object, ...]]] = {}
    """Former parameters, which releases of earlier versions may have, with the types or words that
    they may be."""
    trial: ClassVar[Promise | None] = None
    """What `warmup` promises; None for a method without kernels."""

    def __post_init__(self) -> None:
        settle(self)

    def anonymize(
        self,
        data: object,
        promise: Promise,
        hierarchy: Hierarchy | None = None,
        *,
        engine: Engine = LOCAL,
        progress: Progress | None = None,
    ) -> Form:
        """A release of `data` that keeps `promise`."""
        records = self.admit(data)
        self.check(len(records), promise, hierarchy, engine)
        return self._anonymize(Request(records, promise, hierarchy, engine, progress))

    @property
    def uses_hierarchy(self) -> bool:
        """Whether it generalizes items with its present parameters, so that it needs a tree."""
        return self.needs_hierarchy

    def remark(self, release: Any) -> str:
        """What a user should know about what was chosen; empty if there is nothing."""
        return ""

    @abstractmethod
    def _anonymize(self, request: Request[Any]) -> Form:
        """A release as requested; everything in the request was checked."""

    def admit(self, data: object) -> Transactions:
        """The given records as sets or bags, whichever the method reads."""
        records = as_transactions(data, bags=True if self.reads == "bags" else None)
        return records.sets() if self.reads == "sets" and isinstance(records, Bags) else records

    def check(
        self, records: int, promise: Promise, hierarchy: Hierarchy | None, engine: Engine = LOCAL
    ) -> None:
        """Refuse, before any work, what cannot be done."""
        self.check_early(promise, has_hierarchy=hierarchy is not None)
        self.check_engine(engine.name)
        if self.needs_hierarchy and not isinstance(hierarchy, Hierarchy):
            allowed = "it must be a Hierarchy: Hierarchy.read(file), Hierarchy.balanced(items), ..."
            raise ParameterError("hierarchy", hierarchy, allowed)
        promise.check_feasible(records)

    def check_early(self, promise: Promise, *, has_hierarchy: bool) -> None:
        """Refuse what cannot be done, before data and hierarchy are read."""
        self._check_promise(promise)
        if self.needs_hierarchy and not has_hierarchy:
            allowed = (
                f"the method {self.name} needs a hierarchy over the items: a file, or how to build "
                "one, such as balanced:5; {method=disassociation} with {m=2} needs none"
            )
            raise ParameterError("hierarchy", None, allowed)

    def _check_promise(self, promise: Promise) -> None:
        if not isinstance(promise, self.promises):
            kept = " or ".join(kind.model for kind in self.promises)
            raise ParameterError("promise", promise, f"the method {self.name} keeps {kept}")
        if self.reads == "tables" and promise.records_per_person is not None:
            allowed = "a table has one row for each person: leave it out"
            raise ParameterError("records_per_person", promise.records_per_person, allowed)
        for part in promise.parts[1:]:
            if not isinstance(part, self.additions):
                problem = f"the method {self.name} does not keep {part.model}"
                raise ParameterError("promise", part, f"{problem}{_ways_out(part)}")

    def check_engine(self, name: str) -> None:
        """Refuse an engine that it does not run on."""
        if name != IN_MEMORY and not self.runs_anywhere:
            allowed = f"the method {self.name} runs on {IN_MEMORY}"
            raise ParameterError("engine", name, allowed)

    def needs_public_items(self, promise: Promise) -> str:
        """Why a list of items must be public, and what to do; empty if it need not be."""
        return ""

    @property
    def plain(self) -> Self | None:
        """The same method without an addition that costs extra; None if it has none."""
        return None

    def to_dict(self) -> dict[str, object]:
        """The method as it is written in `release.json`."""
        return {"name": self.name, **asdict(self)}

    @classmethod
    def warmup(cls) -> None:
        """Compile the kernels by a run on a few records, so that the next run starts at once."""
        if cls.trial is not None:
            cls()._try_out()

    @classmethod
    def warmup_late(cls) -> None:
        """Compile the kernels that a run does not need at once, in a process beside it."""

    def _try_out(self) -> None:
        """Run on a few records, for `warmup`."""
        assert self.trial is not None
        records = Transactions.of(_TRIAL)
        tree = Hierarchy.balanced(records.vocabulary, fanout=3)
        self.anonymize(records, self.trial, tree, engine=Local(1))


def _ways_out(part: Promise) -> str:
    """Which other methods keep a part of a promise."""
    from setveil.methods import METHODS

    names = [kind.name for kind in METHODS.values() if isinstance(part, kind.additions)]
    return f"; {' and '.join(names)} {'does' if len(names) == 1 else 'do'}" if names else ""
