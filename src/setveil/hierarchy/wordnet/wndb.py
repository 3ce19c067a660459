"""Reads WordNet's database files (WNDB): nouns, their hypernyms, irregular plurals, frequencies.

`index.noun` has a line for each lemma with its synsets, the most frequent sense first; `data.noun`
has a line for each synset, which starts with its own byte offset; `noun.exc` has irregular forms;
`cntlist.rev` says how often each sense occurs in tagged text. See wndb(5WN), morphy(7WN) and
cntlist(5WN) of WordNet's manual. WordNet is not part of setveil."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import AnyStr

import numpy as np

from setveil.data.arrays import Int64s
from setveil.errors import FileFormatError

DATA, INDEX, EXCEPTIONS, COUNTS = "data.noun", "index.noun", "noun.exc", "cntlist.rev"
SAME_WORDNET = "use files of one WordNet"
GET_AGAIN = "get the file again"

_HYPERNYMS = (b"@", b"@i")
_VERSION = re.compile(rb"WordNet (\d+(?:\.\d+)*)")
_HEADER = 4096
_NOUN_COUNT = re.compile(r"^([^%\s]+)%1:\S* \d+ (\d+)\s*$", re.MULTILINE)


@dataclass(frozen=True, eq=False, repr=False)
class Synsets:
    """The synsets of `data.noun`, numbered in the order of the file, with their hypernyms.

    The hypernyms of a synset are the synsets that it is a kind or an instance of."""

    path: Path
    version: str  # the version in the header of the file, such as `3.0`; empty if there is none
    offsets: list[bytes]
    """The byte offset of each as eight digits, by which the files refer to a synset."""
    words: list[str]  # the first word of each, in lower case
    starts: Int64s
    """The hypernyms of synset s are `above[starts[s]:starts[s + 1]]`, in the order of the file."""
    above: Int64s
    first_line: int  # the line of the first synset, after the header

    def __len__(self) -> int:
        return len(self.offsets)

    @cached_property
    def number(self) -> dict[bytes, int]:
        """The number of the synset at each byte offset."""
        return {offset: number for number, offset in enumerate(self.offsets)}

    @cached_property
    def parents(self) -> Int64s:
        """The one hypernym of each synset that a tree uses; -1 at a root.

        It is the first step of the shortest way to a root; ties go to the first one in the file."""
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
            problem = "the hypernyms of this synset are a cycle and lead to no root"
            raise FileFormatError(self.path, problem, line=line)
        parents = np.full(len(self), len(self))
        is_shorter = depth[self.above] < depth[owners]
        np.minimum.at(parents, owners[is_shorter], self.above[is_shorter])
        return np.where(depth > 0, parents, -1)


class Index:
    """The lemmas of `index.noun`; a line is parsed when it is needed."""

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
            raise FileFormatError(path, "there are no lemmas: is this the index.noun of WordNet?")

    def offsets(self, lemma: str) -> tuple[bytes, ...]:
        """The synsets of a lemma, the most frequent sense first; empty if it is unknown."""
        place = self.places.get(lemma)
        if place is None:
            return ()
        # lemma n synset_cnt p_cnt [pointer ...] sense_cnt tagsense_cnt offset [offset ...]
        fields = self._lines[place].split()
        if len(fields) > 3 and fields[1] == "n" and fields[2].isdecimal() and fields[3].isdecimal():
            count = int(fields[2])
            if count and len(fields) == 6 + int(fields[3]) + count:
                return tuple(field.encode() for field in fields[-count:])
        problem = f"the line of {lemma!r} is damaged: it should be a noun with its synsets"
        raise FileFormatError(self.path, problem, line=place + 1)

    def senses(self, lemma: str, synsets: Synsets) -> list[int]:
        """The numbers of the synsets of a lemma, the most frequent sense first."""
        try:
            return [synsets.number[offset] for offset in self.offsets(lemma)]
        except KeyError as missing:
            offset, other = missing.args[0].decode(), synsets.path.name
            problem = f"{lemma!r} has a synset at byte {offset}, but {other} does not"
            line = self.places[lemma] + 1
            raise FileFormatError(self.path, problem, line=line, remedy=SAME_WORDNET) from None


def read_synsets(path: Path) -> Synsets:
    """The synsets of a `data.noun`.

    Cost: 0.4 seconds for the 82,115 of WordNet 3.0."""
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
                problem = f"a synset should start with {at:08d} here: the file was changed or cut"
                raise FileFormatError(path, problem, line=place + 1, remedy=GET_AGAIN)
            if not _parse(fields, words, targets):
                problem = "the line is damaged: it should be a noun synset"
                raise FileFormatError(path, problem, line=place + 1)
            offsets.append(fields[0])
            ends.append(len(targets))
        at += len(line) + 1
    if not offsets:
        raise FileFormatError(path, "there are no synsets: is this the data.noun of WordNet?")
    found = _VERSION.search(blob[:_HEADER])
    version = found[1].decode() if found else ""
    starts = np.concatenate(([0], np.array(ends, dtype=np.int64)))
    above = np.zeros(len(targets), dtype=np.int64)
    synsets = Synsets(path, version, offsets, words, starts, above, first)
    _resolve(synsets, targets)
    return synsets


def _parse(fields: Sequence[bytes], words: list[str], targets: list[bytes]) -> bool:
    """Add the first word and the hypernyms of a line; False if the line is damaged."""
    # offset lex_filenum ss_type w_cnt word lex_id [word lex_id ...]
    # p_cnt [symbol offset pos source/target ...]
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
    """Set the numbers of the hypernyms, which the file gives as byte offsets."""
    number = synsets.number
    try:
        synsets.above[:] = [number[target] for target in targets]
    except KeyError:
        entry = next(entry for entry, target in enumerate(targets) if target not in number)
        owner = int(np.searchsorted(synsets.starts, entry, side="right")) - 1
        offset = targets[entry].decode("ascii", "replace")
        problem = f"the hypernym at byte {offset} is missing: the file was changed or cut"
        line = synsets.first_line + owner
        raise FileFormatError(synsets.path, problem, line=line, remedy=GET_AGAIN) from None


def read_exceptions(path: Path) -> dict[str, tuple[str, ...]]:
    """Irregular forms with their lemmas; empty if the file does not exist."""
    if not path.is_file():
        return {}
    found: dict[str, tuple[str, ...]] = {}
    for place, line in enumerate(_lines(path, _read(path).decode("utf-8", "replace"))):
        words = line.split()
        if len(words) == 1:
            problem = f"{words[0]!r} has no lemma: a line is an irregular form and its lemma"
            raise FileFormatError(path, problem, line=place + 1)
        if words:
            found[words[0]] = tuple(words[1:])
    return found


def read_counts(path: Path) -> Counter[str]:
    """How often each lemma occurs as a noun in tagged text; empty if the file does not exist."""
    counts: Counter[str] = Counter()
    if path.is_file():
        for lemma, count in _NOUN_COUNT.findall(_read(path).decode("utf-8", "replace")):
            counts[lemma] += int(count)
    return counts


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise no_wordnet(path) from None
    except OSError as error:
        problem = f"the file cannot be read ({error.strerror or error})"
        raise FileFormatError(path, problem) from None


def no_wordnet(path: Path) -> FileFormatError:
    """The error for a missing file of WordNet."""
    remedy = f"choose a folder with {DATA} and {INDEX}"
    return FileFormatError(path, "there is no such file", remedy=remedy)


def _lines(path: Path, text: AnyStr) -> list[AnyStr]:
    """The lines of a file; without a line end after the last one the file was cut."""
    lines = text.split("\n" if isinstance(text, str) else b"\n")
    if lines[-1]:
        raise FileFormatError(path, "the last line is cut", line=len(lines), remedy=GET_AGAIN)
    return lines[:-1]
