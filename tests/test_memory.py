"""Memory that the process keeps: fewer pages are asked of the system, and settings are heeded."""

import os
import platform
import subprocess
import sys

import pytest

TWENTY_ARRAYS = """
import resource, sys
import numpy as np
from setveil.cli import reuse_memory
if sys.argv[1] == "reuse":
    reuse_memory()
for _ in range(20):
    np.ones(8_000_000)
usage = resource.getrusage(resource.RUSAGE_SELF)
print(usage.ru_minflt)
"""


def faults(way: str, **settings: str) -> int:
    """How many pages a process had to ask for."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    env |= {"NUMPY_MADVISE_HUGEPAGE": "0", **settings}
    call = [sys.executable, "-c", TWENTY_ARRAYS, way]
    return int(subprocess.run(call, env=env, capture_output=True, text=True, check=True).stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has this setting")
def test_large_arrays_use_memory_that_the_process_has() -> None:
    page = os.sysconf("SC_PAGE_SIZE")
    each = 8_000_000 * 8 // page
    assert faults("usual") > 20 * each
    assert faults("reuse") < 5 * each
    assert faults("reuse", MALLOC_ARENA_MAX="8") > 20 * each
