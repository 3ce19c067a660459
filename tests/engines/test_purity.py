"""Tasks are pure: they run anywhere and in any order, and leave what they are given as it is."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, is_dataclass
from random import Random
from typing import Any

import numpy as np
import pytest

from setveil.audit.records import check_written
from setveil.data.transactions import Bags, Transactions
from setveil.engines.base import Answer, Engine, Task
from setveil.engines.local import LOCAL
from setveil.hierarchy.tree import Hierarchy
from tests.conformance.test_methods import each_method, promise_of


class Pickler(pickle.Pickler):
    """Keeps read-only arrays read-only: for others each kernel would be compiled again."""

    def reducer_override(self, thing: object) -> object:
        if type(thing) is np.ndarray and not thing.flags.writeable:
            return read_only, (thing.copy(),)
        return NotImplemented


def read_only(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


def packed(thing: object) -> bytes:
    file = io.BytesIO()
    Pickler(file).dump(thing)
    return file.getvalue()


def contents(thing: Any) -> object:
    """All that a task consists of, without what its objects remember (cached properties)."""
    if is_dataclass(thing):
        return [contents(getattr(thing, each.name)) for each in fields(thing)]
    return [contents(part) for part in thing] if isinstance(thing, tuple | list) else thing


class Elsewhere(Engine):
    """Sends each task away as bytes, and works on what arrives, in an order of its own."""

    name = "local"

    def __init__(self, arrange: Callable[[list[int]], None]) -> None:
        self.arrange = arrange
        self.tried = 0

    @property
    def width(self) -> int:
        return 3

    def map(self, work: Callable[[Task], Answer], tasks: Iterable[Task]) -> Iterator[Answer]:
        sent = [packed((work, task)) for task in tasks]
        order, answers = list(range(len(sent))), {}
        self.arrange(order)
        self.tried += len(sent)
        for number in order:
            there, task = pickle.loads(sent[number])
            before = packed(contents(task))
            answer = there(task)
            assert packed(contents(task)) == before, f"{work.__name__} changes what it is given"
            answers[number] = pickle.loads(packed(answer))
        return iter([answers[number] for number in range(len(sent))])


ORDERS: dict[str, Callable[[list[int]], None]] = {
    "backwards": list.reverse,
    "shuffled": Random(1).shuffle,
}


SMALL = {
    "partition.classes.SMALLEST": 40,
    "disassociation.partitioning.RECORDS": 20,
    "disassociation.refine.BLOCK": 20,
    "ssc.method.BLOCK": 20,
    "ssc.best.BUDGET": 2,
    "ssc.paper.BUDGET": 2,
}
"""Limits at which the data of a test is many tasks."""


@pytest.fixture(autouse=True)
def small_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in SMALL.items():
        monkeypatch.setattr(f"setveil.methods.{name}", value)


@pytest.mark.parametrize("order", ORDERS)
@each_method
@pytest.mark.parametrize("kind", [Transactions, Bags], ids=["sets", "bags"])
def test_every_task_runs_from_a_copy_in_any_order_and_changes_nothing(method, kind, order):
    chance = Random(7)
    items = [f"{number:02}" for number in range(24)]
    weights = [1 / (number + 1) for number in range(24)]
    records = [chance.choices(items, weights, k=chance.randint(1, 9)) for _ in range(120)]
    data, tree = kind.of(records), Hierarchy.balanced(items, 3)
    promise, engine = promise_of(method, 3), Elsewhere(ORDERS[order])
    there = method().anonymize(data, promise, tree, engine=engine)
    here = method().anonymize(data, promise, tree, engine=LOCAL)
    assert check_written(there, here).holds
    assert there.alignment.tolist() == here.alignment.tolist()
    assert engine.tried > 1


def spoil(task: tuple[np.ndarray]) -> int:
    task[0][0] += 1
    return 0


def test_a_task_that_writes_into_what_it_is_given_is_noticed():
    with pytest.raises(AssertionError, match="spoil changes what it is given"):
        Elsewhere(list.reverse).map(spoil, [(np.zeros(2),)])
