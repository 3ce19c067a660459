"""All cases: a name, what is run, and its target."""

from __future__ import annotations

import json
from dataclasses import asdict

from benchmarks import coherence, disassociation, partition, querylog, recoding, ssc, start
from benchmarks.data import Case

CASES: dict[str, Case] = {
    **start.CASES,
    **partition.CASES,
    **disassociation.CASES,
    **coherence.CASES,
    **recoding.CASES,
    **querylog.CASES,
    **ssc.CASES,
}


def run_case(name: str) -> None:
    """Run one case in this process and print its figures as JSON."""
    print(json.dumps(asdict(CASES[name](name))))
