"""Warm up: compile the kernels once, so that the first real run is quick."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module

import numpy as np

from setveil.children import start_child
from setveil.data.transactions import Transactions
from setveil.hierarchy.tree import Hierarchy
from setveil.methods import METHODS
from setveil.methods.method import Method
from setveil.metrics.itemsets import top_itemsets
from setveil.metrics.retrieval import sdist
from setveil.metrics.terms import pair_supports
from setveil.promises import VocabularyKAnonymity
from setveil.published import Release, TypicalBags
from setveil.threads import thread_count


def run() -> float:
    """Compile the kernels; returns how many seconds it took.

    Another process starts from the other end: what one has compiled, the other only loads."""
    start = time.perf_counter()
    with _beside(*reversed(_TASKS)):
        for task in _TASKS.values():
            task()
    return time.perf_counter() - start


@contextmanager
def first_run(method: Method[Release]) -> Iterator[None]:
    """A context for a run: if it is the first, another process compiles what is needed late."""
    measures = _OF_BAGS if method.form == TypicalBags.form else _OF_ITEMSETS
    if is_compiled(*_LAST[measures]):
        yield
        return
    with _beside(f"late {method.name}", measures):
        yield


def is_compiled(module: str, kernel: str) -> bool:
    """Whether a kernel was compiled before, by this process or another one."""
    cache = getattr(getattr(import_module(module), kernel), "_cache", None)
    return not getattr(cache, "is_empty", False)


def main() -> None:
    """Do the tasks that the process was started with."""
    for name in sys.argv[1:]:
        (_TASKS | _LATE)[name]()


@contextmanager
def _beside(*tasks: str) -> Iterator[None]:
    """A context in which another process does these tasks, if there is a core for it."""
    if thread_count() == 1:
        yield
        return
    child = start_child(__name__, *tasks)
    try:
        yield
    finally:
        child.kill()
        child.wait()


def _measure_itemsets() -> None:
    records = Transactions.of([["a", "b", "c"]] * 3)
    pair_supports(records, np.arange(2))
    top_itemsets(Transactions.of([[f"item {number}"] for number in range(300)]), 400)
    top_itemsets(records, 4)


def _measure_bags() -> None:
    bags = [["a", "b"]] * 2
    release = TypicalBags.of(bags, VocabularyKAnonymity(k=2))
    sdist(release, Transactions.of(bags), hierarchy=Hierarchy.balanced(("a", "b")))


_OF_ITEMSETS, _OF_BAGS = "measures of itemsets", "measures of bags"
_LAST = {
    _OF_ITEMSETS: ("setveil.kernels.itemsets", "mine_pairs"),
    _OF_BAGS: ("setveil.kernels.retrieval", "nearest_distances"),
}
"""The kernel that is compiled last, and where it is."""
_TASKS: dict[str, Callable[[], None]] = {
    **{name: kind.warmup for name, kind in METHODS.items()},
    _OF_ITEMSETS: _measure_itemsets,
    _OF_BAGS: _measure_bags,
}
_LATE: dict[str, Callable[[], None]] = {
    f"late {name}": kind.warmup_late for name, kind in METHODS.items()
}
