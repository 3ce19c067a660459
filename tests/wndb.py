"""Writer of small WordNet folders, for tests: our own words in the format of WordNet's files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

HEAD = "  1 Made-up words in the format of WordNet's database files, for tests.  \n"
VERSIONED = "  1 Made-up words in the format of the files of WordNet 9.9, for tests.  \n"


@dataclass(frozen=True)
class Entry:
    """A synset: its words, and what it is a kind or an instance of (by another's first word)."""

    words: Sequence[str]
    kinds: Sequence[str] = ()
    instances: Sequence[str] = field(default=())
    gloss: str = "made up"


def write_wndb(
    folder: Path,
    entries: Mapping[str, Entry],
    exceptions: Sequence[str] = (),
    counts: Mapping[str, Sequence[int]] | None = None,
    senses: Mapping[str, Sequence[str]] | None = None,
    head: str = VERSIONED,
) -> Path:
    """Write `data.noun`, `index.noun`, `noun.exc` and, when counts are given, `cntlist.rev`.

    Args:
        folder: Where to write; it is made.
        entries: The synsets by a key, in the order of the file.
        exceptions: The lines of `noun.exc`.
        counts: How often each sense of a lemma was met.
        senses: The keys of a lemma's synsets in the order of its senses, if not that of the file.
        head: The text before the first synset.
    """
    folder.mkdir(parents=True, exist_ok=True)
    lengths = [len(_line(entry, 0, dict.fromkeys(entries, 0))) for entry in entries.values()]
    offsets, at = {}, len(head)
    for key, length in zip(entries, lengths, strict=True):
        offsets[key], at = at, at + length
    lines = [_line(entry, offsets[key], offsets) for key, entry in entries.items()]
    (folder / "data.noun").write_text(head + "".join(lines), encoding="ascii")
    (folder / "index.noun").write_text(
        head + "".join(_index(entries, offsets, senses or {})), encoding="ascii"
    )
    (folder / "noun.exc").write_text("".join(f"{line}\n" for line in exceptions), encoding="ascii")
    if counts is not None:
        rows = (
            f"{lemma}%1:03:{sense:02d}:: {sense + 1} {count}\n"
            for lemma in sorted(counts)
            for sense, count in enumerate(counts[lemma])
        )
        (folder / "cntlist.rev").write_text(
            "".join(rows) + "wine%2:34:00:: 1 99\n", encoding="ascii"
        )
    return folder


def _line(entry: Entry, offset: int, offsets: Mapping[str, int]) -> str:
    words = "".join(f"{word} 0 " for word in entry.words)
    up = [("@", key) for key in entry.kinds] + [("@i", key) for key in entry.instances]
    pointers = "".join(f"{symbol} {offsets[key]:08d} n 0000 " for symbol, key in up)
    others = "+ 00000042 v 0101 ~ 00000042 n 0000 "
    head = f"{offset:08d} 03 n {len(entry.words):02x} {words}"
    return f"{head}{len(up) + 2:03d} {pointers}{others}| {entry.gloss}  \n"


def _index(
    entries: Mapping[str, Entry], offsets: Mapping[str, int], senses: Mapping[str, Sequence[str]]
) -> list[str]:
    found: dict[str, list[str]] = {}
    for key, entry in entries.items():
        for word in entry.words:
            found.setdefault(word.lower(), []).append(key)
    found |= {lemma: list(keys) for lemma, keys in senses.items()}
    places = {
        lemma: " ".join(f"{offsets[key]:08d}" for key in keys) for lemma, keys in found.items()
    }
    return [
        f"{lemma} n {len(keys)} 2 @ ~ {len(keys)} 0 {places[lemma]}  \n"
        for lemma, keys in sorted(found.items())
    ]


TINY = {
    "thing": Entry(["thing", "whatnot"]),
    "body": Entry(["body"], ["thing"]),
    "idea": Entry(
        ["idea"], ["thing"], gloss="a thought | with a bar and @ 00000001 n 0000 in its gloss"
    ),
    "food": Entry(["food", "nosh"], ["body"]),
    "drink": Entry(["drink", "beverage"], ["food"]),
    "drug": Entry(["drug"], ["body"]),
    "alcohol": Entry(["alcohol", "booze"], ["drink", "drug"]),
    "wine": Entry(["wine", "vino"], ["alcohol"]),
    "champagne": Entry(["Champagne", "bubbly"], ["wine"]),
    "beer": Entry(["beer"], ["alcohol"]),
    "milk": Entry(["milk"], ["drink"]),
    "tea": Entry(["tea"], ["drink"]),
    "fruit": Entry(["fruit"], ["food"]),
    "cherry": Entry(["cherry"], ["fruit"]),
    "box_tree": Entry(["box"], ["body"]),
    "box": Entry(["box"], ["artefact"]),
    "artefact": Entry(["artefact"], ["body"]),
    "boxful": Entry(["boxful"], ["idea"]),
    "glass": Entry(["glass"], ["artefact"]),
    "glasses": Entry(["glasses", "specs"], ["artefact"]),
    "animal": Entry(["animal", "beast"], ["body"]),
    "dog": Entry(["dog"], ["animal"]),
    "hot_dog": Entry(["hot_dog", "red_hot", "dog"], ["food"]),
    "mouse": Entry(["mouse"], ["animal"]),
    "device_mouse": Entry(["mouse"], ["artefact"]),
    "person": Entry(["person"], ["animal"]),
    "man": Entry(["man"], ["person"]),
    "men": Entry(["men", "workforce"], ["idea"]),
    "diva": Entry(["diva"], ["person"]),
    "dive": Entry(["dive"], ["idea"]),
    "city": Entry(["city"], ["body"]),
    "paris": Entry(["Paris", "City_of_Light"], [], ["city"]),
    "general": Entry(["general"], ["person"]),
    "attorney": Entry(["attorney"], ["person"]),
    "attorney_general": Entry(["attorney_general"], ["attorney"]),
    "bus": Entry(["bus"], ["artefact"]),
    "gas": Entry(["gas"], ["body"]),
    "ga": Entry(["ga"], ["idea"]),
}
"""A small net: `alcohol` has two hypernyms, `dog`, `box` and `mouse` two senses, `Paris` is an
instance."""

TINY_EXCEPTIONS = ("dive diva", "gas gas", "men man", "mice mouse", "unheard-of unknown")
TINY_COUNTS = {
    "man": (90,),
    "men": (3,),
    "dive": (2,),
    "wine": (9, 2),
    "dog": (40, 0),
    "beer": (5,),
    "milk": (5,),
    "tea": (7,),
}


def write_tiny(folder: Path) -> Path:
    """The small net as a WordNet folder; first senses: `dog` the animal, `box` the container."""
    return write_wndb(folder, TINY, TINY_EXCEPTIONS, TINY_COUNTS, {"box": ("box", "box_tree")})
