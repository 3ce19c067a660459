"""Proofs over thousands of random cases: the first 100 in `make test`, all in `make torture`."""

from __future__ import annotations

import pytest

QUICK = 100
"""How many cases of a proof `make test` tries."""
_BLOCK = 1_000


def proof(cases: int, quick: int = QUICK) -> pytest.MarkDecorator:
    """Call a test with ranges of seeds, as `seeds`: the first few, then all others in blocks."""
    first = pytest.param(range(quick), id=f"{quick} cases")
    bounds = [*range(quick, cases, _BLOCK), cases]
    rest = [
        pytest.param(range(start, stop), id=f"cases {start}-{stop - 1}", marks=pytest.mark.proof)
        for start, stop in zip(bounds, bounds[1:], strict=False)
    ]
    return pytest.mark.parametrize("seeds", [first, *rest])
