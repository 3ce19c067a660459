"""Tags of people: keyed hashes of their names, by which they are found again in other data."""

from __future__ import annotations

import hmac
import re
from collections.abc import Iterable
from unicodedata import normalize

import numpy as np
import numpy.typing as npt

TagArray = npt.NDArray[np.uint64]

_AT_ONCE = 1 << 20
_NUMBER = re.compile(r"0*(\d+)(\.0*)?", re.ASCII)


class Tags:
    """Collects people as tags of 64 bits; their names are not kept.

    A tag is the start of the HMAC-SHA256 of a name, so nobody without the key can say whose it is.
    Two people of n and m in two data sets have the same tag with a chance of at most n m / 2^64: 5
    in 100 million for a million people in each. Names that differ only in case, in blanks around
    them, in how letters are composed, or in how a whole number is written (7, 007, 7.0) are one.

    Example:
        >>> tags = Tags(b"secret")
        >>> tags.add(["Ann", "ann ", "007", "7.0", "bob"])
        >>> len(tags.found())
        3
    """

    def __init__(self, key: bytes, *, needed: bool = True) -> None:
        self.needed = needed
        """Whether a file that cannot name people is refused."""
        self._key, self._names = key, set[str]()
        self._found = np.zeros(0, dtype=np.uint64)

    def add(self, names: Iterable[str]) -> None:
        """Add the people with these names, which may repeat."""
        for name in names:
            self._names.add(name)
            if len(self._names) >= _AT_ONCE:
                self._settle()

    def found(self) -> TagArray:
        """The tags of all people so far, ascending."""
        self._settle()
        return self._found

    def _settle(self) -> None:
        digests = b"".join(
            hmac.digest(self._key, _plain(name).encode("utf-8", "surrogatepass"), "sha256")[:8]
            for name in self._names
        )
        self._names = set()
        tags = np.frombuffer(digests, dtype="<u8").astype(np.uint64)
        self._found = np.union1d(self._found, tags)


def _plain(name: str) -> str:
    """A name without what may differ from file to file."""
    text = normalize("NFC", normalize("NFC", name.strip()).casefold())
    number = _NUMBER.fullmatch(text)
    return text if number is None else number[1]
