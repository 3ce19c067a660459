"""The engine seam: where the records of a run are (`Source`), and where loops run (`Engine`).

A task is a pure function of the arrays it is given. It returns arrays and never writes into arrays
that other tasks can see. So the same task runs on threads, on blocks on disk or on a cluster, and
the answers never depend on which."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, TypeVar

from setveil.data.account import Account
from setveil.data.arrays import Int32s
from setveil.data.identifiers import Some
from setveil.data.transactions import Transactions
from setveil.disk import private_folder
from setveil.disk.limits import USUAL_MEMORY, bytes_of
from setveil.engines import ENGINES
from setveil.engines.parts import Block, Distinct, Parts
from setveil.errors import ParameterError

Task = TypeVar("Task")
Answer = TypeVar("Answer")


class Progress(Protocol):
    """Is called with how far the work is; a total of 0 means unknown. May raise to stop the
    work."""

    def __call__(self, done: int, total: int, stage: str) -> None: ...


class Engine(ABC):
    """Runs tasks."""

    name: ClassVar[str]
    """By which it is known; see `ENGINES`."""

    @property
    @abstractmethod
    def width(self) -> int:
        """How many tasks run at once."""

    @abstractmethod
    def map(self, work: Callable[[Task], Answer], tasks: Iterable[Task]) -> Iterator[Answer]:
        """The answers in the order of the tasks, each as soon as it and those before it are ready.

        An error in a task, or in the loop that reads the answers, cancels what has not begun.

        Args:
            work: A pure function at the top level of a module.
            tasks: What it is called with, one by one; arrays, or tuples of arrays and numbers.
        """


class Where(NamedTuple):
    """An engine and its options."""

    engine: str
    memory: str | None = None
    master: str | None = None
    threads: int | None = None

    @property
    def allowed(self) -> str:
        """The memory as the user gave it."""
        return self.memory or USUAL_MEMORY

    @property
    def room(self) -> int:
        """The memory in bytes."""
        return bytes_of(self.allowed)

    def check(self) -> None:
        """Refuse an engine that is not there, and options of another one."""
        if self.engine not in ENGINES:
            raise ParameterError("engine", self.engine, f"choose one of {', '.join(ENGINES)}")
        if self.master is not None and self.engine != "spark":
            allowed = "only the engine spark has it: add {engine=spark}"
            raise ParameterError("master", self.master, allowed)
        _ = self.room


class Read(NamedTuple):
    """What is known of the data after reading it; the records are at their source."""

    data: Transactions
    """The records, or the `Tally` of records that are not held in memory."""
    records: int
    account: Account | None


class Reader(Protocol):
    """Reads a file or an object, into a sink if there is one."""

    def __call__(
        self, data: object, reading: Mapping[str, Any], sink: Any = None
    ) -> tuple[Transactions, Account | None]: ...


class Piece(Protocol):
    """What the work on a share answers."""

    @property
    def number(self) -> int: ...
    @property
    def name(self) -> str:
        """The file that it wrote."""

    @property
    def digest(self) -> str:
        """The sha256 of that file."""

    @property
    def holds(self) -> bool:
        """Whether to go on."""


Made = TypeVar("Made", bound=Piece)


class Shares(NamedTuple, Generic[Made]):
    """What is to be done for each share of the records."""

    make: Callable[[int, list[Block], Path | None], Made]
    """Works on the share with this number: its records, and the folder for its file, if any."""
    parts: Sequence[tuple[int, ...]]
    """The parts of each share."""
    cost: int
    """How many bytes it takes for each occurrence."""
    folder: Path | None


class Source(ABC):
    """Where the records of a run are, such as on a cluster, and who works on them there: all that
    a run asks of an engine."""

    @abstractmethod
    def read(self, data: object, reading: Mapping[str, Any], reader: Reader) -> Read:
        """Read the data; its records are kept."""

    @abstractmethod
    def some(self, read: Read) -> Some:
        """A random sample of the records, or all if they are few."""

    @abstractmethod
    def publish(self, work: Shares[Made]) -> Iterator[Made]:
        """What came of each share, in any order. Once all were asked for, the files of all are in
        the folder.

        Raises:
            EngineError: if the largest does not fit in memory.
        """

    def map(self, work: Callable[[int], Answer], tasks: int) -> Iterator[Answer]:
        """The answers to the numbers below `tasks`, in order."""
        return map(work, range(tasks))

    def frame(self, file: str) -> Any:
        """The published records as a DataFrame of the engine, if it has such; else None."""
        return None


class PartsSource(Source):
    """A source that does not hold all records in memory: `read` gives their `Tally`."""

    parts: Parts
    """The records after `recode`; all of them are in part 0."""

    def read_table(self, data: object, reading: Mapping[str, Any], reader: Reader) -> Read:
        """Read data with columns beside its items, into memory: it is divided by its columns, which
        the parts do not hold."""
        found, account = reader(data, reading)
        return Read(found, len(found), account)

    @abstractmethod
    def recode(self, numbers: Int32s, size: int) -> None:
        """Give each item another number, or -1 to leave it out."""

    @abstractmethod
    def gathered(self) -> Block:
        """All records, in memory."""

    @abstractmethod
    def distinct(self) -> Distinct:
        """The distinct records and their counts, in memory.

        Raises:
            EngineError: if they do not fit.
        """

    @abstractmethod
    def most(self, cost: int, length: float) -> int:
        """How many records a share may have, if that makes no difference to the release: those of
        this mean length, at this many bytes for each occurrence."""


@contextmanager
def open_source(where: Where, progress: Progress | None = None) -> Iterator[Source]:
    """A place that records can be read to; they are private, and removed after the block."""
    module, _, name = ENGINES[where.engine].partition(":")
    opened = getattr(import_module(module), name)
    with private_folder() as work, opened(where, work, progress) as source:
        yield source
