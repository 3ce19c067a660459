"""Processes of Python that do a part of the work."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any


def start_child(module: str, *arguments: str, **streams: Any) -> subprocess.Popen[bytes]:
    """A new process that calls `main` of a module, with the same packages as this one.

    Ctrl-C reaches this process alone, which then ends the others.

    Args:
        module: The module.
        arguments: What its `main` reads from `sys.argv`.
        streams: Those of `subprocess.Popen`; by default there are none.
    """
    path = os.pathsep.join(filter(None, [*sys.path, os.environ.get("PYTHONPATH", "")]))
    none = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    return subprocess.Popen(
        [sys.executable, "-c", f"from {module} import main; main()", *arguments],
        env={**os.environ, "PYTHONPATH": path},
        start_new_session=True,
        **{**none, **streams},
    )
