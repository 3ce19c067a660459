"""The release that a command works with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from setveil.errors import ParameterError

if TYPE_CHECKING:
    from setveil import Disassociated


def read_disassociated(path: str) -> Disassociated:
    """The disassociated release in a folder; another form is refused."""
    import setveil

    published = setveil.read_release(path)
    if not isinstance(published, setveil.Disassociated):
        raise ParameterError(
            "release",
            path,
            f"it is {published.form}, so its records can be read as they are; this is for disassociated data",
        )
    return published
