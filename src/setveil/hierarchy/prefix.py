"""Trees over codes, grouped by their common prefixes, and the shapes of well-known codes."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile
from typing import Literal, get_args

import numpy as np

from setveil.data.vocabulary import Vocabulary, sort_labels, vocabulary_of
from setveil.errors import ParameterError
from setveil.hierarchy.outline import free_label
from setveil.hierarchy.tree import Hierarchy, Origin, numbered

CodeShape = Literal["atc", "icd9", "icd10", "parts"]
SHAPES: tuple[CodeShape, ...] = get_args(CodeShape)

_NEARLY_ALL = 0.95
_Cut = Callable[[str], list[str]]


def prefix(
    vocabulary: Vocabulary | Iterable[object],
    lengths: Sequence[int] | None = None,
    separators: str = ".-/ ",
    shape: CodeShape | None = None,
) -> Hierarchy:
    """A tree over codes, grouped by their common prefixes: `A00.1 -> A00 -> A -> *`.

    If nearly all codes (95 %) have the shape of ATC, ICD-9-CM or ICD-10(-CM) codes, with or without
    their dots, they are cut where these codes have levels: `E11.621` is below `E11.62`, `E11.6`,
    `E11` and `E`; `25000` below `2500`, `250` and the chapter `240-279`; `A10BA02` below `A10BA`,
    `A10B`, `A10` and `A`. Codes of another shape among them are directly below the root. Numbers
    alone are not taken for ICD-9-CM: there must be V or E codes too.

    All other codes are cut before each run of separators, and after the letters they start with:
    so `J45.9-2` is below `J45.9`, `J45` and `J`. With `lengths` codes are cut there instead.
    Lengths count all characters; separators at the end of a prefix are dropped.

    A code that is also a prefix of others remains a leaf: with the items `A00` and `A00.1` the
    group of both is called `A00.*`. Groups of a single code are kept. The root is `*`, with more
    stars if an item or a group has that label.

    Args:
        vocabulary: The codes, or data that has them.
        lengths: Where to cut, ascending; by default the rule above.
        separators: The characters between the parts of a code; with `lengths` they are only dropped
            from the ends of prefixes.
        shape: `atc`, `icd9`, `icd10`, or `parts` for codes of no such shape; detected by default.

    Example:
        >>> tree = prefix(Vocabulary.of(["A00.1", "A00", "B2"]))
        >>> [" -> ".join(path) for path in tree.paths()]
        ['A00 -> A00.* -> A -> *', 'A00.1 -> A00.* -> A -> *', 'B2 -> B -> *']
        >>> prefix(["25000", "4019", "V5861"]).path("25000")
        ('25000', '2500', '250', '240-279', '*')
    """
    items = sort_labels(vocabulary_of(vocabulary))
    if shape not in (None, *SHAPES):
        raise ParameterError("shape", shape, f"it must be one of {', '.join(SHAPES)}")
    chosen = None if lengths is None else _checked_lengths(lengths)
    found = shape or ("parts" if chosen is not None else detect_shape(items))
    parts = _cut_at_parts(separators) if chosen is None else _cut_at_lengths(chosen, separators)
    cut = parts if found == "parts" else _cut_by_shape(KNOWN_SHAPES[found])
    labels, parents = _prefix_arrays({item: cut(item) for item in items})
    parameters = {"lengths": chosen, "separators": separators, "shape": found}
    return numbered(labels, parents, Origin("prefix", parameters))


@dataclass(frozen=True)
class KnownShape:
    """What codes of one kind look like, without their dots, and where they have levels."""

    title: str
    pattern: re.Pattern[str]
    levels: Callable[[str], tuple[int, ...]]
    """How many characters, dots not counted, the groups of a code have."""
    evidence: re.Pattern[str] | None = None
    """What some codes must look like besides, if the pattern alone fits other codes too."""
    needed: float = 0.0
    """The share of the codes that must look like that; at least one must."""
    chapter: Callable[[str], str] | None = None
    """The group above all prefixes of a code, if there is one."""


def _icd9_chapter(code: str) -> str:
    """The chapter of ICD-9-CM; V and E codes are supplementary classifications."""
    if not code[0].isdigit():
        return code[0].upper()
    first = max(start for start in _ICD9_CHAPTERS if start <= max(int(code[:3]), 1))
    return f"{first:03}-{_ICD9_CHAPTERS[first]:03}"


_ICD9_STARTS = (1, 140, 240, 280, 290, 320, 390, 460, 520, 580, 630, 680, 710, 740, 760, 780, 800)
_ICD9_CHAPTERS = {low: high - 1 for low, high in pairwise((*_ICD9_STARTS, 1000))}
"""The first and the last category of each chapter of ICD-9-CM."""

KNOWN_SHAPES: Mapping[CodeShape, KnownShape] = {
    "atc": KnownShape(
        "ATC",
        re.compile(r"[A-DGHJLMNPRSV](\d\d([A-Z]([A-Z](\d\d)?)?)?)?", re.I | re.A),
        lambda _: (1, 3, 4, 5),
        evidence=re.compile(r"[A-Z]\d\d[A-Z][A-Z]\d\d", re.I | re.A),
        needed=0.5,
    ),
    "icd10": KnownShape(
        "ICD-10",
        re.compile(r"[A-Z]\d[0-9AB][0-9A-Z]{0,4}", re.I | re.A),
        lambda _: (1, 3, 4, 5, 6),
    ),
    "icd9": KnownShape(
        "ICD-9-CM",
        re.compile(r"(\d{3}|V\d\d)\d{0,2}|E\d{3,4}", re.I | re.A),
        lambda code: (4, 5) if code[0] in "Ee" else (3, 4),
        evidence=re.compile(r"[VE]\d{2,4}", re.I | re.A),
        chapter=_icd9_chapter,
    ),
}
"""The shapes that are known, by `shape`. The first that fits is taken: ATC codes fit ICD-10 too,
and if nearly all codes start with V or E, they are of ICD-10 rather than of ICD-9-CM."""


def detect_shape(codes: Sequence[str]) -> CodeShape:
    """The first known shape that nearly all codes have; `parts` if none.

    Example:
        >>> detect_shape(["E119", "I10", "Z3A01"]), detect_shape(["100", "2000", "30000"])
        ('icd10', 'parts')
    """
    bare = [code.replace(".", "", 1) for code in codes]
    for name, shape in KNOWN_SHAPES.items():
        is_certain = not shape.evidence or _fit(shape.evidence, bare, shape.needed)
        if _fit(shape.pattern, bare, _NEARLY_ALL) and is_certain:
            return name
    return "parts"


def _fit(pattern: re.Pattern[str], codes: Sequence[str], share: float) -> bool:
    """Whether at least one code, and this share of all, fits a pattern."""
    return sum(map(bool, map(pattern.fullmatch, codes))) >= max(1, share * len(codes))


def _cut_by_shape(shape: KnownShape) -> _Cut:
    """Cuts codes at the levels of their shape; other codes have no groups."""

    def cut(code: str) -> list[str]:
        bare, dot = code.replace(".", "", 1), code.find(".")
        if not shape.pattern.fullmatch(bare):
            return []
        lengths = (length for length in shape.levels(bare) if length < len(bare))
        groups = [code[: length + (0 <= dot < length)] for length in lengths]
        return groups if shape.chapter is None else [shape.chapter(bare), *groups]

    return cut


def _checked_lengths(lengths: Sequence[int]) -> Sequence[int]:
    given = list(lengths) if isinstance(lengths, Iterable) else []
    rising = all(
        isinstance(length, int | np.integer) and length > 0 for length in given
    ) and given == sorted(set(given))
    if not given or not rising:
        raise ParameterError("lengths", lengths, "they must be ascending whole numbers from 1 on")
    return [int(length) for length in given]


def _cut_at_lengths(lengths: Sequence[int], separators: str) -> _Cut:
    def cut(code: str) -> list[str]:
        fitting = takewhile(lambda length: length < len(code), lengths)
        found = dict.fromkeys(code[:length].rstrip(separators) for length in fitting)
        return [start for start in found if start]

    return cut


def _cut_at_parts(separators: str) -> _Cut:
    between = re.compile(
        f"(?<=[^{re.escape(separators)}])(?=[{re.escape(separators)}])" if separators else r"(?!)"
    )
    letters = re.compile(r"[^\W\d_]+(?=[\W\d_])")

    def cut(code: str) -> list[str]:
        places = {match.start() for match in between.finditer(code)}
        if start := letters.match(code):
            places.add(start.end())
        return [code[:place] for place in sorted(places)]

    return cut


def _prefix_arrays(chains: Mapping[str, Sequence[str]]) -> tuple[list[str], list[int]]:
    """Labels and parents of the tree over items with these prefixes, shortest first; root first."""
    starts = dict.fromkeys(start for chain in chains.values() for start in chain)
    names, root = _group_names(starts, chains.keys())
    labels, parents = [root], [-1]
    number = {"": 0}
    for item, chain in chains.items():
        above = ""
        for start in (*chain, item) if item in starts else chain:
            if start not in number:
                number[start] = len(labels)
                labels.append(names[start])
                parents.append(number[above])
            above = start
        labels.append(item)
        parents.append(number[above])
    return labels, parents


def _group_names(starts: Iterable[str], items: Collection[str]) -> tuple[dict[str, str], str]:
    """The label of each group (the prefix, with `.*` if it is an item too) and of the root."""
    taken, names = {*starts, *items}, {}
    for start in starts:
        names[start] = free_label(f"{start}.*", taken) if start in items else start
        taken.add(names[start])
    return names, free_label("*", taken)
