"""The suite watches itself: a whole run collects all tests, and those that start processes are
marked."""

from __future__ import annotations

import subprocess
from functools import wraps

import pytest

from tests.apart import forget_starts, mark_apart, refuse_starts
from tests.conftest import COLLECTED

LEAST = 8_300
"""A little less than all tests, long ones and proofs included. Raise it as tests are added."""


def test_a_whole_run_collects_all_tests(request):
    config = request.config
    if list(config.args) != config.getini("testpaths"):
        pytest.skip("only a part of the tests was asked for")
    assert config.stash[COLLECTED] >= LEAST


def starts() -> None:
    subprocess.run(["true"], check=True)


@wraps(starts)
def through() -> None:
    starts()


class Starter:
    @property
    def started(self) -> None:
        through()


def by_a_class() -> None:
    assert Starter().started is None


class Marked:
    """As much of a test as the marks need."""

    def __init__(self, function, node):
        self.obj, self.path, self.marks = function, node.path, []

    def add_marker(self, name):
        self.marks.append(name)

    def get_closest_marker(self, name):
        return name if name in self.marks else None


@pytest.mark.parametrize(
    ("function", "marks"),
    [(starts, ["apart"]), (through, ["apart"]), (by_a_class, ["apart"]), (len, [])],
)
def test_a_test_that_names_a_way_to_start_a_process_is_marked(function, marks, request):
    item = Marked(function, request.node)
    mark_apart(item)
    assert item.marks == marks


@pytest.mark.apart
def test_a_process_that_no_mark_announces_is_a_failure(request):
    item = Marked(len, request.node)
    forget_starts()
    refuse_starts(item)
    starts()
    with pytest.raises(pytest.fail.Exception, match=r"mark it with @pytest\.mark\.apart"):
        refuse_starts(item)
    item.add_marker("apart")
    refuse_starts(item)
