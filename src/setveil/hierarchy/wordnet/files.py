"""Reader of WordNet's own database files (WNDB): the nouns, their hypernyms, irregular plurals and how often each is used.

`index.noun` has a line for each lemma with its synsets, the most frequent sense first; `data.noun` a line for each synset, which starts
with the byte at which it stands; `noun.exc` irregular forms; `cntlist.rev` how often each sense was met in tagged text. See wndb(5WN),
morphy(7WN) and cntlist(5WN) of WordNet's manual. WordNet is not part of setveil.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import AnyStr

import numpy as np
import numpy.typing as npt

from setveil.errors import FileFormatError

Numbers = npt.NDArray[np.int64]

DATA, INDEX, EXCEPTIONS, COUNTS = "data.noun", "index.noun", "noun.exc", "cntlist.rev"

_HYPERNYMS = (b"@", b"@i")
_VERSION = re.compile(rb"WordNet (\d+(?:\.\d+)*)")
_HEADER = 4096
_NOUN_COUNT = re.compile(r"^([^%\s]+)%1:\S* \d+ (\d+)\s*$", re.MULTILINE)


@dataclass(frozen=True, eq=False, repr=False)
class Synsets:
    """The synsets of `data.noun`, numbered in the order of the file, and the edges to what each is a kind or an instance of."""

    path: Path
    version: str
    """What the head of the file says, such as `3.0`; empty when it says nothing."""
    offsets: list[bytes]
    """The byte at which each stands, as eight digits: by this the files name a synset."""
    words: list[str]
    """The first word of each, in lower case."""
    starts: Numbers
    """The hypernyms of synset s are `above[starts[s]:starts[s + 1]]`, in the order of the file."""
    above: Numbers
    first_line: int
    """The line of the first synset, behind the head of the file."""

    def __len__(self) -> int:
        return len(self.offsets)

    @cached_property
    def number(self) -> dict[bytes, int]:
        """The number of the synset that stands at a byte."""
        return {offset: number for number, offset in enumerate(self.offsets)}

    @cached_property
    def parents(self) -> Numbers:
        """The one hypernym of each synset that a tree goes by; -1 at a root.

        It is the first step of the shortest way up to a root; of several equally short ones the one that stands first in the file.
        """
        owners = np.repeat(np.arange(len(self)), np.diff(self.starts))
        far = len(self) + 1
        depth = np.where(np.diff(self.starts) > 0, far, 0)
        while True:
            shorter = depth.copy()
            np.minimum.at(shorter, owners, depth[self.above] + 1)
            if np.array_equal(shorter, depth):
                break
            depth = shorter
        if (depth >= far).any():
            line = self.first_line + int(np.argmax(depth))
            raise FileFormatError(
                self.path, "the hypernyms of this synset lead to no root but in a ring", line=line
            )
        parents = np.full(len(self), len(self))
        on_way = depth[self.above] < depth[owners]
        np.minimum.at(parents, owners[on_way], self.above[on_way])
        return np.where(depth > 0, parents, -1)


class Index:
    """The lemmas of `index.noun`; a line is taken apart when it is asked for."""

    def __init__(self, path: Path) -> None:
        self.path = path
        text = _read(path).decode("utf-8", "replace")
        self._lines = _lines(path, text)
        self.places = {
            line[: line.find(" ")]: place
            for place, line in enumerate(self._lines)
            if line and not line.startswith("  ")
        }
        if not self.places:
            raise FileFormatError(
                path, "the file holds no lemma; is this the index.noun of WordNet?"
            )

    def offsets(self, lemma: str) -> tuple[bytes, ...]:
        """The synsets of a lemma, the most frequent sense first; none when there is no such lemma."""
        place = self.places.get(lemma)
        if place is None:
            return ()
        # lemma n synset_cnt p_cnt [pointer ...] sense_cnt tagsense_cnt offset [offset ...]
        fields = self._lines[place].split()
        if len(fields) > 3 and fields[1] == "n" and fields[2].isdecimal() and fields[3].isdecimal():
            count = int(fields[2])
            if count and len(fields) == 6 + int(fields[3]) + count:
                return tuple(field.encode() for field in fields[-count:])
        raise FileFormatError(
            self.path,
            f"the line of {lemma!r} is damaged: a noun with its synsets is expected",
            line=place + 1,
        )

    def senses(self, lemma: str, synsets: Synsets) -> list[int]:
        """The numbers of the synsets of a lemma, the most frequent sense first."""
        try:
            return [synsets.number[offset] for offset in self.offsets(lemma)]
        except KeyError as missing:
            problem = f"{lemma!r} has a synset at byte {missing.args[0].decode()}, but {synsets.path.name} has none there"
            raise FileFormatError(
                self.path,
                f"{problem}; both files must come from one WordNet",
                line=self.places[lemma] + 1,
            ) from None


def read_synsets(path: Path) -> Synsets:
    """The synsets of a `data.noun`.

    Cost: 0.4 seconds for the 82,115 of WordNet 3.0.

    Raises:
        FileFormatError: when a synset does not stand where it says, its line is damaged, or a hypernym is missing.
    """
    blob = _read(path)
    offsets: list[bytes] = []
    words: list[str] = []
    targets: list[bytes] = []
    ends: list[int] = []
    at, first = 0, 0
    for place, line in enumerate(_lines(path, blob)):
        if line and line[:2] != b"  ":
            first = first or place + 1
            fields = line.partition(b" | ")[0].split()
            if fields[0] != b"%08d" % at:
                raise FileFormatError(
                    path,
                    f"a synset should start with {at:08d} here; the file was changed or cut",
                    line=place + 1,
                )
            if not _take_apart(fields, words, targets):
                raise FileFormatError(
                    path, "the line is damaged: a noun synset is expected", line=place + 1
                )
            offsets.append(fields[0])
            ends.append(len(targets))
        at += len(line) + 1
    if not offsets:
        raise FileFormatError(path, "the file holds no synset; is this the data.noun of WordNet?")
    version = _VERSION.search(blob[:_HEADER])
    starts = np.concatenate(([0], np.array(ends, dtype=np.int64)))
    synsets = Synsets(
        path,
        version[1].decode() if version else "",
        offsets,
        words,
        starts,
        np.zeros(len(targets), dtype=np.int64),
        first,
    )
    _resolve(synsets, targets)
    return synsets


def _take_apart(fields: Sequence[bytes], words: list[str], targets: list[bytes]) -> bool:
    """Add the first word and the hypernyms of a line; False when the line has not the parts it says it has."""
    # offset lex_filenum ss_type w_cnt word lex_id [word lex_id ...] p_cnt [symbol offset pos source/target ...]
    try:
        pointers = 4 + 2 * int(fields[3], 16)
        count = int(fields[pointers])
    except (IndexError, ValueError):
        return False
    if fields[2] != b"n" or pointers == 4 or len(fields) != pointers + 1 + 4 * count:
        return False
    words.append(fields[4].decode("utf-8", "replace").lower())
    symbols = fields[pointers + 1 :: 4]
    if b"@" in symbols or b"@i" in symbols:
        found = zip(symbols, fields[pointers + 2 :: 4], strict=True)
        targets += [target for symbol, target in found if symbol in _HYPERNYMS]
    return True


def _resolve(synsets: Synsets, targets: list[bytes]) -> None:
    """Put numbers in the place of the bytes that name the hypernyms."""
    number = synsets.number
    try:
        synsets.above[:] = [number[target] for target in targets]
    except KeyError:
        entry = next(entry for entry, target in enumerate(targets) if target not in number)
        owner = int(np.searchsorted(synsets.starts, entry, side="right")) - 1
        problem = f"its hypernym at byte {targets[entry].decode('ascii', 'replace')} is missing; the file was changed or cut"
        raise FileFormatError(synsets.path, problem, line=synsets.first_line + owner) from None


def read_exceptions(path: Path) -> dict[str, tuple[str, ...]]:
    """Irregular forms with the lemmas they may stand for; none when the file is not there."""
    if not path.is_file():
        return {}
    found: dict[str, tuple[str, ...]] = {}
    for place, line in enumerate(_lines(path, _read(path).decode("utf-8", "replace"))):
        words = line.split()
        if len(words) == 1:
            raise FileFormatError(
                path,
                f"{words[0]!r} stands alone; an irregular form and its lemma are expected",
                line=place + 1,
            )
        if words:
            found[words[0]] = tuple(words[1:])
    return found


def read_counts(path: Path) -> Counter[str]:
    """How often each lemma was met as a noun in tagged text; nothing when the file is not there."""
    counts: Counter[str] = Counter()
    if path.is_file():
        for lemma, count in _NOUN_COUNT.findall(_read(path).decode("utf-8", "replace")):
            counts[lemma] += int(count)
    return counts


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise FileFormatError(
            path, "there is no such file; a WordNet folder holds data.noun and index.noun"
        ) from None
    except OSError as error:
        raise FileFormatError(
            path, f"the file cannot be read ({error.strerror or error})"
        ) from None


def _lines(path: Path, text: AnyStr) -> list[AnyStr]:
    """The lines of a file, which must end with a line end: else it was cut."""
    lines = text.split("\n" if isinstance(text, str) else b"\n")
    if lines[-1]:
        raise FileFormatError(path, "the last line has no end; the file was cut", line=len(lines))
    return lines[:-1]
