"""WordNet's network of nouns: lemmas, senses, distances, and the tree over a vocabulary."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Container, Iterable, Iterator, KeysView, Mapping
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from setveil.data.vocabulary import Vocabulary, vocabulary_of
from setveil.errors import DataError, FileFormatError
from setveil.hierarchy.wordnet.wndb import (
    COUNTS,
    DATA,
    EXCEPTIONS,
    INDEX,
    SAME_WORDNET,
    Index,
    Synsets,
    no_wordnet,
    read_counts,
    read_exceptions,
    read_synsets,
)

if TYPE_CHECKING:
    from setveil.hierarchy.wordnet.nountree import WordNetTree

Unknown = Literal["refuse", "keep"]

VARIABLES = ("SETVEIL_WORDNET", "WNSEARCHDIR")
"""Environment variables that name the folder; the second is WordNet's own."""
PLACES = ("/usr/share/wordnet", "/usr/local/WordNet-3.0/dict")
"""Where Debian's package wordnet-base and WordNet's own installer put the files."""
HOW_TO_GET = (
    "install Debian's package wordnet-base, or name the folder of data.noun "
    "as wordnet:FOLDER or in $SETVEIL_WORDNET"
)


class WordNet:
    """The nouns of a WordNet folder; each file is read when it is first needed, once per process.

    A noun has one or more senses (synsets), the most frequent first. A synset has hypernyms, which
    it is a kind or an instance of; most have one, some several, and all lead to one root (`entity`
    in WordNet 3.0).

    Example:
        >>> wordnet = WordNet.read()                                    # doctest: +SKIP
        >>> wordnet.lemma("Mice"), wordnet.distance("wine", "beer")     # doctest: +SKIP
        ('mouse', 3)
        >>> wordnet.tree(Vocabulary(["beer", "wine"])).path("wine")     # doctest: +SKIP
        ('wine', 'alcohol.n.01', 'entity.n.01')
    """

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)

    @staticmethod
    def read(folder: Path | str | None = None) -> WordNet:
        """The WordNet in a folder, or the one that `find` finds.

        Raises:
            DataError: if there is none; it says what to install."""
        place = WordNet.find() if folder is None else _with_nouns(Path(folder))
        if place is None and folder is not None:
            raise no_wordnet(Path(folder) / DATA)
        if place is None:
            named = next((name for name in VARIABLES if os.environ.get(name)), None)
            where = f" (${named} names a folder without its files)" if named else ""
            raise DataError(f"WordNet is not installed{where}", remedy=HOW_TO_GET)
        times = ((place / name).stat().st_mtime_ns for name in (DATA, INDEX))
        return _read(place.resolve(), *times)

    @staticmethod
    def find() -> Path | None:
        """The folder of WordNet that an environment variable names, or where installers put it."""
        named = [os.environ[name] for name in VARIABLES if os.environ.get(name)]
        found = (_with_nouns(Path(place)) for place in (named[:1] or PLACES))
        return next((place for place in found if place is not None), None)

    def __reduce__(self) -> tuple[object, tuple[Path]]:
        """Pickle the folder only; another process reads it again."""
        return WordNet.read, (self.folder,)

    def __repr__(self) -> str:
        return f"WordNet({self.version or 'without a version'}, {len(self.synsets)} noun synsets)"

    @property
    def version(self) -> str:
        return self.synsets.version

    @property
    def lemmas(self) -> KeysView[str]:
        """All nouns, in lower case, with `_` between the words of a collocation."""
        return self.index.places.keys()

    @cached_property
    def index(self) -> Index:
        return Index(self.folder / INDEX)

    @cached_property
    def synsets(self) -> Synsets:
        return read_synsets(self.folder / DATA)

    @cached_property
    def counts(self) -> Counter[str]:
        """How often each noun occurs in tagged text, in all its senses."""
        return read_counts(self.folder / COUNTS)

    @cached_property
    def _exceptions(self) -> dict[str, tuple[str, ...]]:
        return read_exceptions(self.folder / EXCEPTIONS)

    def lemma(self, word: str) -> str | None:
        """The noun that a word is a form of; None if WordNet knows none.

        The rule is that of WordNet's Morphy. Case does not matter, and blanks are the same as `_`.
        An irregular form (`mice`) has the lemma of WordNet's list, and a noun is its own lemma. A
        word that is both has the more frequent of the two: `men` becomes `man`, but `dive` does not
        become `diva`. Any other word loses its plural ending if that gives a noun; `boxesful` loses
        the ending before `-ful`. In several words each may lose it (`attorneys general`)."""
        return noun_lemma(str(word), self.lemmas, self._exceptions, self.counts)

    def senses(self, word: str) -> list[int]:
        """The synsets of a word, as numbers, the most frequent first; empty if it is unknown."""
        lemma = self.lemma(word)
        return [] if lemma is None else self.index.senses(lemma, self.synsets)

    def name(self, synset: int) -> str:
        """The name of a synset: its first word and the number of its sense, as in `wine.n.01`."""
        word = self.synsets.words[synset]
        offset = self.synsets.offsets[synset]
        offsets = self.index.offsets(word)
        if offset not in offsets:
            problem = f"{word!r} lacks the synset at byte {offset.decode()} of {DATA}"
            raise FileFormatError(self.folder / INDEX, problem, remedy=SAME_WORDNET)
        return f"{word}.n.{offsets.index(offset) + 1:02d}"

    def distance(self, one: str, other: str) -> int | None:
        """The fewest steps up and then down the hypernyms between any senses of two words.

        Two different words are at least 1 apart, even if they share a synset, so that a word is
        nearer to itself than to any synonym. None if there is no way or a word is unknown."""
        if one == other:
            return 0 if self.senses(one) else None
        up, down = self._steps_above(one), self._steps_above(other)
        sums = [steps + down[synset] for synset, steps in up.items() if synset in down]
        return max(1, min(sums)) if sums else None

    def _steps_above(self, word: str) -> dict[int, int]:
        """Every synset above the senses of a word, with the fewest steps up to it."""
        steps = dict.fromkeys(self.senses(word), 0)
        pending = list(steps)
        starts, above = self.synsets.starts, self.synsets.above
        for synset in pending:
            for upper in above[starts[synset] : starts[synset + 1]].tolist():
                if upper not in steps:
                    steps[upper] = steps[synset] + 1
                    pending.append(upper)
        return steps

    def tree(
        self,
        vocabulary: Vocabulary | Iterable[object],
        unknown: Unknown = "refuse",
        squeeze: bool = True,
    ) -> WordNetTree:
        """The nouns as leaves of a tree; see `setveil.hierarchy.wordnet.nountree.wordnet_tree`."""
        from setveil.hierarchy.wordnet.nountree import wordnet_tree

        return wordnet_tree(self, vocabulary_of(vocabulary), unknown, squeeze)

    def topics(self, count: int, size: int, seed: int = 0) -> list[list[str]]:
        """Groups of related common nouns; see `setveil.hierarchy.wordnet.nountree.topics`."""
        from setveil.hierarchy.wordnet.nountree import topics

        return topics(self, count, size, seed)

    def families(self, count: int, size: int) -> list[list[str]]:
        """Common nouns in groups; see `setveil.hierarchy.wordnet.nountree.families`."""
        from setveil.hierarchy.wordnet.nountree import families

        return families(self, count, size)


@lru_cache(maxsize=4)
def _read(folder: Path, data_time: int, index_time: int) -> WordNet:
    """One object per folder, as long as its files do not change."""
    return WordNet(folder)


def _with_nouns(folder: Path) -> Path | None:
    """The folder of the nouns: this one, or its `dict` as in WordNet's own package."""
    for place in (folder, folder / "dict"):
        if (place / DATA).is_file() and (place / INDEX).is_file():
            return place
    return None


_ENDINGS = "s: ses:s xes:x zes:z ches:ch shes:sh men:man ies:y"
ENDINGS = [entry.split(":") for entry in _ENDINGS.split()]
"""Plural endings and what replaces them, in the order of morphy(7WN)."""


def noun_lemma(
    word: str,
    lemmas: Container[str],
    exceptions: Mapping[str, tuple[str, ...]],
    counts: Mapping[str, int] | None = None,
) -> str | None:
    """The noun lemma of a word, None if it has none; `WordNet.lemma` explains the rule.

    Args:
        word: One word or several separated by blanks, in any case.
        lemmas: The known nouns.
        exceptions: Irregular forms with their lemmas.
        counts: How often each lemma is used, to choose between a noun that a word is itself and one
            that it is an irregular form of.

    Example:
        >>> noun_lemma("Cherries", {"cherry"}, {}), noun_lemma("of", {"cherry"}, {})
        ('cherry', None)
        >>> noun_lemma("geese", {"goose"}, {"geese": ("goose",)})
        'goose'
    """
    form, known = "_".join(word.casefold().split()), counts or {}
    found = _one(form, lemmas, exceptions, known)
    if found is None and "_" in form:
        words = form.split("_")
        parts = "_".join(_one(part, lemmas, exceptions, known) or part for part in words)
        return parts if parts in lemmas else None
    return found


def _one(
    form: str,
    lemmas: Container[str],
    exceptions: Mapping[str, tuple[str, ...]],
    counts: Mapping[str, int],
) -> str | None:
    """The lemma of a form as one word."""
    candidates = [lemma for lemma in (form, *exceptions.get(form, ())) if lemma in lemmas]
    if candidates:
        return max(candidates, key=lambda lemma: counts.get(lemma, 0))
    if form.endswith("ful") and len(form) > 3:
        measure = _one(form.removesuffix("ful"), lemmas, exceptions, counts)
        return f"{measure}ful" if measure is not None and f"{measure}ful" in lemmas else None
    return next((lemma for lemma in _stems(form) if lemma in lemmas), None)


def _stems(form: str) -> Iterator[str]:
    """The possible singulars of a form; words in -ss and of two letters are not plurals."""
    if not form.endswith("ss") and len(form) > 2:
        for ending, instead in ENDINGS:
            if form.endswith(ending) and len(form) > len(ending):
                yield form.removesuffix(ending) + instead
