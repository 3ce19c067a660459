"""Tampered releases: one place of the files is changed, and the sums in release.json are put right.

By the oracles, what `verify` then still accepts must keep its promise and come from the original.
"""

from __future__ import annotations

import hashlib
import json
import random
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import setveil as sv
from setveil.errors import DataError, SetveilError
from setveil.io.releases.alignment import write_alignment
from tests.audit.disassociations import effort
from tests.oracle import coherence, containment, disassociation, folders, kanonymity, km

TREE = sv.Hierarchy.from_paths(
    [("a", "A", "ALL"), ("b", "A", "ALL"), ("c", "C", "ALL"), ("d", "C", "ALL"), ("e", "ALL")]
)
NEAR = ("ab", "cd", "e")
"""Items at most two steps apart in the tree; `e` is three steps from all others."""
_HARDEST = 8
"""Clusters with more worlds (as a power of ten, about) are not enumerated."""
TAMPERINGS = 6
"""How often one release is tampered with."""

Data = list[list[str]]
Tampering = Callable[[random.Random, Path], None]

_KM = sv.KmAnonymity(k=2, m=2)
_KML = sv.KmAnonymity(k=2, m=2, diversity=sv.LDiversity(l=2, sensitive=["e"]))
FORMS: dict[str, tuple[Any, Any]] = {
    "generalized": (sv.Partition(), sv.KAnonymity(k=2)),
    "generalized with m": (sv.Apriori(), _KM),
    "suppressed": (sv.Suppression(), sv.Coherence(h=0.8, k=2, p=2, private=["e"])),
    "typical-bags": (sv.SSC(epsilon=2), sv.VocabularyKAnonymity(k=2)),
    "disassociated": (sv.Disassociation(max_cluster=3), _KM),
    "disassociated with l": (sv.Disassociation(max_cluster=3), _KML),
}


def tampered(rng: random.Random, folder: Path) -> str | None:
    """One release of random data, tampered with in several ways, one after the other."""
    name = rng.choice([*FORMS])
    share = rng.choice((0.3, 0.5))
    data = [[item for item in "abcde" if rng.random() < share] for _ in range(rng.randint(4, 8))]
    place = folder / "release"
    method, promise = FORMS[name]
    source = _scrambled(rng, data) if rng.random() < 0.4 else data
    try:
        release = method.anonymize(source, promise, TREE if method.form != "suppressed" else None)
        sv.write(release, place, seed=rng.randrange(99), force=True)
    except SetveilError:
        return None
    write_alignment(release, sv.Transactions.of(source), folder / "private", force=True)
    is_accepted = _accepted(place, data, name)
    if source is not data:
        fault = _fault(place, data, name) if is_accepted else None
        return fault and f"{name}: a release of {source} is accepted for {data}, but {fault}"
    wrong = None if is_accepted else "an untouched release is refused"
    for _ in range(TAMPERINGS):
        wrong = wrong or _try(rng, place, data, name)
    return wrong


def _scrambled(rng: random.Random, data: Data) -> Data:
    """The same supports of items, other pairs: an item moves from one record to another."""
    rows = [set(row) for row in data]
    one, other = rng.sample(rows, 2)
    for item in rng.sample(sorted(one - other), min(len(one - other), 1)):
        one.remove(item)
        other.add(item)
    return [sorted(row) for row in rows]


def _try(rng: random.Random, whole: Path, data: Data, name: str) -> str | None:
    copy = whole.with_name("copy")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(whole, copy)
    hides = rng.random() < 0.4
    change = rng.choice(_HIDING if hides else _CHANGING)
    change(rng, copy)
    _correct_sums(copy)
    if _content(copy) == _content(whole) or not _accepted(copy, data, name):
        return None
    fault = "something is hidden in it" if hides else _fault(copy, data, name)
    return None if fault is None else f"{name}, {change.__name__}: accepted, but {fault}: {data}"


def _accepted(place: Path, data: Data, name: str) -> bool:
    """Whether `verify` says yes; anything but an error of ours or a verdict is bad."""
    tree = {"hierarchy": TREE} if name == "typical-bags" else {}
    try:
        return bool(sv.verify(str(place), data, alignment=place.with_name("private"), **tree))
    except DataError:
        return False


def _content(place: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in place.iterdir()}


def _correct_sums(place: Path) -> None:
    about = _about(place)
    for name in about["files"]:
        about["files"][name] = hashlib.sha256((place / name).read_bytes()).hexdigest()
    _say(place, about)


def _about(place: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((place / "release.json").read_text(encoding="utf-8"))
    return found


def _say(place: Path, about: dict[str, Any]) -> None:
    text = json.dumps(about, indent=2, ensure_ascii=False) + "\n"
    (place / "release.json").write_text(text, encoding="utf-8")


def _a_file(rng: random.Random, place: Path) -> Path:
    return place / rng.choice(sorted(_about(place)["files"]))


def add_key(rng: random.Random, place: Path) -> None:
    """A key that nobody knows, somewhere in release.json."""
    about = _about(place)
    inner = [about, about["promise"], about["method"]]
    inner += [about[key] for key in ("hierarchy", "semantics") if key in about]
    rng.choice(inner)["people"] = "Ann"
    _say(place, about)


def forge_words(rng: random.Random, place: Path) -> None:
    """Another meaning, method or version."""
    about = _about(place)
    where, key = rng.choice(
        [(about["promise"], "meaning"), (about["method"], "name"), (about, "setveil")]
    )
    where[key] = "Ann is record 1"
    _say(place, about)


def add_blanks(rng: random.Random, place: Path) -> None:
    """A mark, a blank line or blanks at the end of a line."""
    path = _a_file(rng, place)
    lines = path.read_bytes().split(b"\n")
    at = rng.randrange(len(lines))
    match rng.randrange(4):
        case 0:
            lines[0] = b"\xef\xbb\xbf" + lines[0]
        case 1:
            lines.insert(at, b"")
        case 2:
            lines[at] += b" \t"
        case 3:
            lines[at] += b"\r"
    path.write_bytes(b"\n".join(lines))


def change_bytes(rng: random.Random, place: Path) -> None:
    """One byte of a data file becomes another, is lost, or comes twice."""
    path = _a_file(rng, place)
    text = bytearray(path.read_bytes())
    if text:
        at = rng.randrange(len(text))
        text[at : at + 1] = rng.choice(
            [bytes([rng.choice(b"abcdeAC123,; \n[]")]), b"", bytes([text[at]]) * 2]
        )
        path.write_bytes(bytes(text))


def change_lines(rng: random.Random, place: Path) -> None:
    """A line of a data file is lost, comes twice, or changes places with another."""
    path = _a_file(rng, place)
    lines = path.read_bytes().split(b"\n")
    one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    match rng.randrange(3):
        case 0:
            del lines[one]
        case 1:
            lines.insert(other, lines[one])
        case 2:
            lines[one], lines[other] = lines[other], lines[one]
    path.write_bytes(b"\n".join(lines))


def swap_items(rng: random.Random, place: Path) -> None:
    """Two items change places somewhere in the data."""
    path = place / next(iter(_about(place)["files"]))
    text = bytearray(path.read_bytes())
    places = [at for at in range(len(text)) if text[at : at + 1] in (b"a", b"b", b"c", b"d", b"e")]
    if len(places) > 1:
        one, other = rng.sample(places, 2)
        text[one], text[other] = text[other], text[one]
        path.write_bytes(bytes(text))


def change_numbers(rng: random.Random, place: Path) -> None:
    """A number of the promise or of records becomes another."""
    about = _about(place)
    where = rng.choice([about, about["promise"]])
    numbers = [key for key, value in where.items() if type(value) in (int, float)]
    key = rng.choice(numbers or ["records"])
    where[key] = where.get(key, 1) + rng.choice((-1, 1, 2))
    _say(place, about)


_HIDING: list[Tampering] = [add_key, forge_words, add_blanks]
_CHANGING: list[Tampering] = [change_bytes, change_lines, swap_items, swap_items, change_numbers]


def _fault(place: Path, data: Data, name: str) -> str | None:
    """Why an accepted release should not have been, by the oracles; None if all is well."""
    said = folders.facts(place)
    promise = said["promise"]
    if said["form"] == "disassociated":
        return _disassociated_fault(place, data, promise)
    records = folders.records(place)
    kept = kanonymity.rare_records(records, promise["k"])
    if "m" in promise:
        kept = km.violations(records, promise["k"], promise["m"]) if kept else kept
    elif said["form"] == "suppressed":
        numbers = (str(promise["h"]), promise["k"], promise["p"])
        kept = coherence.moles(records, set(promise.get("private", ())), *numbers)
    if kept:
        return "its promise is broken"
    return None if _ORIGINS[said["form"]](place, records, data, said) else "it is of other data"


def _is_generalized(place: Path, records: Any, data: Data, said: Any) -> bool:
    parents = {child: above for child, above in folders.parents(place).items() if above}
    return containment.assignable([dict.fromkeys(row, 1) for row in data], records, parents)


def _is_suppressed(place: Path, records: Any, data: Data, said: Any) -> bool:
    shown = {item for record in records for item in record}
    left = Counter(frozenset(set(row) & shown) for row in data)
    return Counter(frozenset(record) for record in records) == left


def _is_typical(place: Path, records: Any, data: Data, said: Any) -> bool:
    """Whether the bags fit the originals in some order, each item near one of its own."""
    if said.get("epsilon") != 2 or len(records) != len(data):
        return len(records) == len(data)
    bags = [Counter(_group(item) for item in Counter(record).elements()) for record in records]
    owns = [Counter(_group(item) for item in row) for row in data]
    return _assignable([[at for at, own in enumerate(owns) if bag <= own] for bag in bags])


def _group(item: str) -> str:
    return next((group for group in NEAR if item in group), item)


def _assignable(fits: list[list[int]]) -> bool:
    """Whether each on the left can have another one on the right: augmenting paths."""
    owner: dict[int, int] = {}

    def give(left: int, seen: set[int]) -> bool:
        for right in fits[left]:
            if right not in seen:
                seen.add(right)
                if right not in owner or give(owner[right], seen):
                    owner[right] = left
                    return True
        return False

    return all(give(left, set()) for left in range(len(fits)))


_ORIGINS: dict[str, Callable[[Path, Any, Data, Any], bool]] = {
    "generalized": _is_generalized,
    "suppressed": _is_suppressed,
    "typical-bags": _is_typical,
}


def _disassociated_fault(place: Path, data: Data, promise: dict[str, Any]) -> str | None:
    clusters = folders.clusters(place)
    if max(map(effort, clusters), default=0) > _HARDEST:
        return None
    if disassociation.faults(clusters):
        return "it is not well formed"
    if disassociation.violations(clusters, promise["k"], promise["m"]):
        return "its promise is broken"
    lines = place.with_name("private").read_text(encoding="utf-8").split()
    number = 0
    for cluster in clusters:
        groups: list[list[tuple[str, ...]]] = []
        for node in _preorder(cluster):
            number += 1
            if "size" in node:
                own = [row for row, line in zip(data, lines, strict=True) if int(line) == number]
                groups.append([tuple(sorted(row)) for row in own])
        if not disassociation.is_world(cluster, groups):
            return "the original is not a possible world of it"
    sensitive = set(promise.get("diversity", {}).get("sensitive", ()))
    found = [disassociation.certainties(cluster, sensitive, 2) for cluster in clusters]
    return "a sensitive item is certain" if any(found) else None


def _preorder(cluster: dict[str, Any]) -> list[dict[str, Any]]:
    return [cluster, *(node for part in cluster.get("parts", ()) for node in _preorder(part))]
