"""Work on threads: in order, limited, and with errors."""

from __future__ import annotations

import threading

import pytest

from setveil.threads import on_threads, thread_count, thread_limit


@pytest.mark.parametrize("limit", [1, 2, 5])
def test_the_answers_are_in_the_order_of_the_tasks(limit):
    with thread_limit(limit):
        assert list(on_threads(lambda number: number * number, range(50))) == [
            number * number for number in range(50)
        ]


def test_one_thread_is_the_thread_of_the_caller():
    with thread_limit(1):
        assert set(on_threads(lambda _: threading.get_ident(), range(3))) == {threading.get_ident()}


def test_a_task_gets_no_threads_of_its_own():
    with thread_limit(3):
        assert list(on_threads(lambda _: thread_count(), range(3))) == [1, 1, 1]
        assert thread_count() == 3


def test_an_error_in_a_task_reaches_the_caller():
    with thread_limit(2), pytest.raises(ZeroDivisionError):
        list(on_threads(lambda number: 1 // number, [1, 0, 2]))


def test_a_limit_ends_with_its_context():
    before = thread_count()
    with thread_limit(before + 1):
        assert thread_count() == before + 1
    assert thread_count() == before
