"""What the checks of several forms share: records shown, and compared in number and with files."""

from __future__ import annotations

from typing import Any

import numpy as np

from setveil.alignment.merging import equal_records, recounted, renamed, stacked
from setveil.audit.verdict import Check, Witness, show_items
from setveil.data.arrays import sums
from setveil.data.transactions import Bags
from setveil.errors import MisfitError
from setveil.published.release import RecordRelease, Release
from setveil.words import are, plural


def check_sizes(release: RecordRelease, limit: int = 1) -> Check | None:
    """A failed check if some distinct record has no count of 1 or more, else None."""
    classes, sizes = release.classes, release.sizes
    if len(sizes) == len(classes) and sizes.min(initial=1) >= 1:
        return None
    witnesses = []
    for number in np.flatnonzero(sizes[: len(classes)] < 1)[:limit].tolist():
        items, size = classes.shown(number), int(sizes[number])
        witnesses.append(
            Witness(f"the record {show_items(items)} occurs {size} times", items, size)
        )
    text = "each distinct record needs a count of 1 or more"
    return Check("structure", False, text, tuple(witnesses))


def check_record_count(published: int, originals: int) -> Check:
    """Whether the release has exactly one record for each original."""
    text = f"{are(published, 'record')} published for {plural(originals, 'original')}"
    if published == originals:
        return Check("records", True, text)
    lost = originals - published
    fault = f"{are(abs(lost), 'record')} {'lost' if lost > 0 else 'invented'}"
    return Check("records", False, text, (Witness(f"{fault}: {text}", count=published),))


def not_paired(records: str = "records") -> Check:
    """A failed check: there are more or fewer published records than originals."""
    text = f"the published {records} cannot be paired with the originals: their numbers differ"
    return Check("containment", False, text)


def misfit_check(misfit: MisfitError) -> Check:
    """A failed check with what a misfit shows; items of the original are private."""
    published, record = misfit.published, misfit.record
    parts = [misfit.problem]
    if record is not None:
        parts.append(f"the original {show_items(record)}")
    if published is not None:
        parts.append(f"the published {show_items(published)}")
    text, private = "; ".join(parts), record is not None
    witness = Witness(text, published or (), original=record, private=private)
    return Check("containment", False, misfit.problem, (witness,))


def check_written(written: Release, release: Release) -> Check:
    """Whether a release that was read from files is the one in memory; both are counted here."""
    same = written.promise == release.promise and written.facts == release.facts
    same = same and written.min_people == release.min_people
    same = same and _same(written, release)
    text = f"the files, read back, {'' if same else 'do NOT '}contain exactly what was anonymized"
    return Check("written", same, text)


def _same(one: Any, other: Any) -> bool:
    """Whether both publish the same, in whatever order."""
    if hasattr(one, "groups") and hasattr(other, "groups"):
        names, place = one.group_texts, dict(zip(other.group_texts, other.groups, strict=True))
        pairs = zip(names, one.groups, strict=True)
        alike = one.columns == other.columns and place.keys() == set(names)
        return alike and all(_same(group, place[name]) for name, group in pairs)
    if isinstance(one, RecordRelease) and isinstance(other, RecordRelease):
        return _same_records(one, other)
    return bool(recounted(one) == recounted(other))


def _same_records(one: RecordRelease, other: RecordRelease) -> bool:
    """Whether both publish the same records equally often, with items of the same meaning."""
    if one.form != other.form or isinstance(one.classes, Bags) != isinstance(other.classes, Bags):
        return False
    place = {meaning: number for number, meaning in enumerate(other.meanings())}
    numbers = np.array([place.get(meaning, -1) for meaning in one.meanings()], dtype=np.int32)
    used = numbers[np.unique(one.classes.items)]
    if (used < 0).any() or len(np.unique(used)) < len(used):
        return False
    named = renamed(one.classes, numbers, other.classes.vocabulary)
    first, kind = equal_records(stacked(named, other.classes))
    cut = len(named)
    here, there = (
        sums(kind[:cut], one.sizes, len(first)),
        sums(kind[cut:], other.sizes, len(first)),
    )
    return bool(np.array_equal(here, there))
