"""What the tests of the page share: Debian's Chromium without a window."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.web.visiting import opened_browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A browser for one file of tests: while it is open, no test can run an event loop."""
    with opened_browser() as browser:
        yield browser
