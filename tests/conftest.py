"""What every test may ask for: the real data, where it is present, and the Hypothesis profiles."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.apart import forget_starts, mark_apart, refuse_starts, watch_starts

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # in the background of a script
    signal.signal(signal.SIGINT, signal.default_int_handler)  # processes of tests inherit it

_SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"

QUICK_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Java compiles less, which takes most of the time of a short run."""
_QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large]
settings.register_profile(  # the same cases in each run; `long` looks for others
    "quick", max_examples=40, deadline=None, suppress_health_check=_QUIET, derandomize=True
)
settings.register_profile("long", max_examples=2_000, deadline=None, suppress_health_check=_QUIET)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))

gc.disable()  # what is made while tests are collected stays
watch_starts()
COLLECTED = pytest.StashKey[int]()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Count the tests and mark those that start processes, before any is left out."""
    config.stash[COLLECTED] = len(items)
    for item in items:
        mark_apart(item)


def pytest_collection_finish() -> None:
    """Look for garbage from now on, but never among what was made so far: it takes long."""
    gc.freeze()
    gc.enable()


def pytest_runtest_setup() -> None:
    """A test begins."""
    forget_starts()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """A test without the mark `apart` starts no process."""
    yield
    refuse_starts(item)


@pytest.fixture(scope="session", autouse=True)
def own_temporary_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Work in a temporary folder where no other process leaves anything."""
    before = os.environ.get("TMPDIR"), tempfile.tempdir
    tempfile.tempdir = os.environ["TMPDIR"] = str(tmp_path_factory.mktemp("temporary"))
    yield
    tempfile.tempdir = before[1]
    if before[0] is None:
        del os.environ["TMPDIR"]
    else:
        os.environ["TMPDIR"] = before[0]


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data next to the repository; tests that need it are skipped without it."""
    if not _SHARED_DATA.is_dir():
        pytest.skip("the real data (../shared/data) is absent")
    return _SHARED_DATA


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A session of Spark on this machine, for all tests: it takes seconds to start."""
    pytest.importorskip("pyspark", reason="the extra spark is not installed")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("there is no Java")
    from setveil.engines.sparksession import session

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JAVA_TOOL_OPTIONS", QUICK_JAVA)
        with session("local[2]", tmp_path_factory.mktemp("spark")) as started:
            yield started
