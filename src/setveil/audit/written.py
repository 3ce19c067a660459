"""Do the files of a release, read back, contain exactly what was anonymized?"""

from __future__ import annotations

import numpy as np

from setveil.alignment.merging import equal_records, recounted, renamed, stacked
from setveil.audit.verdict import Check
from setveil.data.arrays import sums
from setveil.data.transactions import Bags
from setveil.published.release import RecordRelease, Release


def check_written(written: Release, release: Release) -> Check:
    """Whether a release that was read from files is the one in memory; both are counted here."""
    same = written.promise == release.promise and written.facts == release.facts
    same = same and written.min_people == release.min_people
    if same and isinstance(written, RecordRelease) and isinstance(release, RecordRelease):
        same = _same_records(written, release)
    else:
        same = same and recounted(written) == recounted(release)
    text = f"the files, read back, {'' if same else 'do NOT '}contain exactly what was anonymized"
    return Check("written", same, text)


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
