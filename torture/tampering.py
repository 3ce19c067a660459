"""Tampered releases: what a release says is changed and written again, as setveil writes it.

`verify` must say of each what the oracles say: whether it keeps the promise of the release that was
tampered with, and whether it can come from the original.
"""

from __future__ import annotations

import copy
import hashlib
import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import setveil as sv
from setveil.audit import verify
from setveil.errors import DataError, SetveilError
from setveil.io.releases.alignment import with_alignment
from setveil.io.releases.folder import FORMS as FOLDERS
from setveil.published.release import Release
from tests.audit.disassociations import effort
from tests.audit.releases import parents_of
from tests.oracle import folders, forgeries
from torture.forging import Content, forge

TREE = sv.Hierarchy.from_paths(
    [("a", "A", "ALL"), ("b", "A", "ALL"), ("c", "C", "ALL"), ("d", "C", "ALL"), ("e", "ALL")]
)
_HARDEST = 8
"""Clusters with more worlds (as a power of ten, about) are not enumerated."""
TAMPERINGS = 6
"""How often one release is tampered with."""

Data = list[list[str]]

_KM = sv.KmAnonymity(k=2, m=2)
_KML = sv.KmAnonymity(k=2, m=2, diversity=sv.LDiversity(l=2, sensitive=["e"]))
_COHERENCE = sv.Coherence(h=0.8, k=2, p=2, private=["e"])
FORMS: dict[str, tuple[Any, Any]] = {
    "generalized": (sv.Partition(), sv.KAnonymity(k=2)),
    "generalized bags": (sv.Partition(), sv.KAnonymity(k=2)),
    "generalized with m": (sv.Apriori(), _KM),
    "suppressed": (sv.Suppression(), _COHERENCE),
    "suppressed, without rare items": (sv.Suppression(min_support=0.3), _COHERENCE),
    "typical-bags": (sv.SSC(variant="paper", term_epsilon=2), sv.VocabularyKAnonymity(k=2)),
    "disassociated": (sv.Disassociation(arrangement=3), _KM),
    "disassociated, larger": (sv.Disassociation(arrangement=5), sv.KmAnonymity(k=3, m=2)),
    "disassociated with l": (sv.Disassociation(arrangement=3), _KML),
}
"""What is tampered with: a method and its promise."""
_BAGS = ("generalized bags", "typical-bags")


def tampered(rng: random.Random, folder: Path, name: str | None = None) -> str | None:
    """One release of random data, tampered with in several ways, each on its own."""
    name = name or rng.choice([*FORMS])
    data = _random_data(rng, name)
    method, promise = FORMS[name]
    try:
        tree = TREE if method.form != "suppressed" else None
        release = method.anonymize(_held(data, name in _BAGS), promise, tree)
    except SetveilError:
        return None
    content = Content.of(release)
    wrong = _judged(rng, release, folder, data, promise)
    for _ in range(TAMPERINGS):
        if wrong is None:
            wrong = _tried(rng, copy.deepcopy(content), folder, data)
    return wrong and f"{name}: {wrong}: {data}"


def _random_data(rng: random.Random, name: str) -> Data:
    share = rng.choice((0.3, 0.5))
    data = [[item for item in "abcde" if rng.random() < share] for _ in range(rng.randint(4, 8))]
    if name in _BAGS:
        data = [[item for item in row for _ in range(rng.choice((1, 1, 2)))] for row in data]
    return data


def _held(data: Data, bags: bool) -> sv.Transactions:
    return (sv.Bags if bags else sv.Transactions).of(data)


def _tried(rng: random.Random, content: Content, folder: Path, data: Data) -> str | None:
    promise = content.promise
    if rng.random() < 0.15:
        return _hidden(rng, content.release, folder)
    changes = forge(rng, content)
    try:
        release = content.rebuilt()
    except SetveilError:  # it cannot even be made
        return None
    wrong = _judged(rng, release, folder, data, promise)
    return wrong and f"{wrong} after {' and '.join(changes)}"


def _judged(
    rng: random.Random, release: Release, folder: Path, data: Data, promise: Any
) -> str | None:
    """Whether `verify` and the oracles disagree about a release."""
    place, private = folder / "release", folder / "private"
    _write(release, place, private, rng)
    try:
        given = sv.read_release(place)
    except DataError:
        return None
    said = folders.facts(place)
    if not _is_small(place, said):
        return None
    kept = forgeries.keeps(place, promise.to_dict())
    own = kept if said["promise"] == promise.to_dict() else forgeries.keeps(place, said["promise"])
    wrong = _compared(kept, bool(sv.verify(str(place), promise=promise)), "for the promise")
    wrong = wrong or _compared(own, verify(given).holds, "for what it says itself")
    for aligned in (None, private):
        wrong = wrong or _compared_with(data, given, place, promise, aligned, kept)
    return wrong and f"{wrong} {_shown(place)}"


def _compared_with(
    data: Data, given: Release, place: Path, promise: Any, private: Path | None, kept: bool
) -> str | None:
    """What is wrong with what `verify` says of a release and its original."""
    rows = [dict(Counter(row)) for row in data]
    asked, tree = promise.to_dict(), parents_of(TREE)
    comes = forgeries.comes_from(place, rows, asked, private, tree)
    try:
        release = given if private is None else with_alignment(given, private)
    except DataError:
        return "the alignment is refused" if comes else None
    bags = isinstance(getattr(given, "classes", None), sv.Bags)
    found = verify(release, _held(data, bags), promise=promise, hierarchy=TREE).holds
    if found and kept and not comes and private is None and _is_beyond(place, rows, promise):
        return None
    which = "without" if private is None else "with"
    return _compared(kept and comes, found, f"for the original {which} an alignment")


def _compared(truth: bool, found: bool, what: str) -> str | None:
    """What is wrong with an answer; None if nothing."""
    return None if found == truth else f"{'accepted' if found else 'refused'} {what}, wrongly:"


def _is_beyond(place: Path, rows: list[dict[str, int]], promise: Any) -> bool:
    """Whether it is documented that `verify` cannot see this: without the alignment, clusters are
    compared by the supports of items, pairs and sets of up to m items only."""
    if folders.facts(place)["form"] != "disassociated":
        return False
    return forgeries.is_within_bounds(folders.clusters(place), rows, promise.m)


def _shown(place: Path) -> str:
    said = folders.facts(place)
    facts = {key: said[key] for key in said if key not in ("files", "setveil", "method", "promise")}
    text = (place / next(iter(said["files"]))).read_text(encoding="utf-8")
    return f"{facts} {' '.join(text.split())[:300]}"


def _write(release: Release, place: Path, private: Path, rng: random.Random) -> None:
    sv.write(release, place, seed=rng.randrange(99), force=True)
    links = FOLDERS[release.form].links
    assert links is not None
    private.write_text("".join(f"{line}\n" for line in links.lines(release)), encoding="utf-8")


def _is_small(place: Path, said: Any) -> bool:
    if said["form"] != "disassociated":
        return True
    return max(map(effort, folders.clusters(place)), default=0) <= _HARDEST


def _hidden(rng: random.Random, release: Release, folder: Path) -> str | None:
    """Whether something that is no part of a release is accepted in its files."""
    place = folder / "release"
    _write(release, place, folder / "private", rng)
    before = _content(place)
    hide = rng.choice((add_key, forge_words, add_blanks))
    hide(rng, place)
    _correct_sums(place)
    try:
        if _content(place) != before:
            sv.verify(str(place))
            return f"accepted after {hide.__name__}"
    except DataError:
        pass
    return None


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
