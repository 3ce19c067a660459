"""The rules of axe-core, if it is on this machine: `make axe` installs it, or SETVEIL_AXE names it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

PLACE = Path(__file__).resolve().parents[2] / ".axe" / "node_modules" / "axe-core" / "axe.min.js"
RUN = """async () => {
  const found = await axe.run(document, { resultTypes: ["violations"] });
  return found.violations.flatMap((rule) => rule.nodes.map((node) =>
    `${rule.impact} ${rule.id}: ${node.html.slice(0, 160)} | ${node.failureSummary.split("\\n")[1]}`));
}"""


def axe_script() -> str:
    """The script of axe-core; without it the test is skipped."""
    place = Path(os.environ.get("SETVEIL_AXE") or PLACE)
    if not place.is_file():
        pytest.skip("axe-core is not on this machine (`make axe` installs it)")
    return place.read_text(encoding="utf-8")


def axe_faults(page: Any, script: str) -> list[str]:
    """Every fault that axe-core finds, one line each, whatever its impact."""
    page.evaluate(f"(() => {{ {script} }})()")
    found: list[str] = page.evaluate(RUN)
    return found
