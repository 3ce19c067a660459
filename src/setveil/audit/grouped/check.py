"""Every check of a grouped release: its columns, its groups, their sets, and its original."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from setveil.alignment.columns import table_of
from setveil.alignment.merging import Counted, count_records
from setveil.audit.anonymity import check_km_anonymity
from setveil.audit.disassociated.check import check_disassociated
from setveil.audit.generalized import check_generalized
from setveil.audit.grouped.apart import Apart
from setveil.audit.grouped.cells import faults_of, key_of
from setveil.audit.grouped.original import check_columns, check_ends, check_sets
from setveil.audit.records import check_record_count
from setveil.audit.suppressed import check_suppressed
from setveil.audit.verdict import Check, Question, Witness
from setveil.data.arrays import Int64s, sums
from setveil.errors import ParameterError
from setveil.promises.kanonymity import ALL, KmAnonymity
from setveil.promises.promise import Promise
from setveil.published.grouped.form import Grouped
from setveil.published.release import RecordRelease
from setveil.words import plural

MODEL, DIVERSITY = "columns", "l-diversity"


def check_grouped(release: Grouped, question: Question) -> list[Check]:
    """Whether groups are well formed, keep the promise of columns and sets, and come from their
    original, if one is given.

    Raises:
        ParameterError: if this form cannot be verified for the promise.
    """
    promise, original = question.promise, question.original
    besides = {part.model for part in promise.parts[1:]}
    keeps = {DIVERSITY} if release.within == "disassociated" else set[str]()
    if promise.model != MODEL or not besides <= keeps:
        allowed = f"groups of people can be verified for {MODEL}, and disassociated sets of groups "
        raise ParameterError("promise", promise, f"{allowed}for {DIVERSITY} besides")
    structure = _check_structure(release, question)
    if not structure.holds:
        text = "not checked: the release is not well formed"
        return [structure, Check(MODEL, False, text)]
    most = ALL if promise.most_known is None else promise.most_known
    apart = _merged(release)
    inner = KmAnonymity(promise.crowd, most, _diversity(apart, promise))
    asked = replace(question, promise=inner, original=None)
    checks = [structure, _check_groups(apart, question), *_check_sets(apart, asked)]
    if original is None:
        return checks
    data, counted = table_of(release, original), check_record_count(len(release), len(original))
    checks.append(counted)
    if not counted.holds:
        return checks
    limit = question.limit
    checks += [check_columns(release, data, limit), check_ends(release, data, promise.crowd, limit)]
    return [*checks, *check_sets(apart, data, replace(asked, original=original))]


def _check_structure(release: Grouped, question: Question) -> Check:
    """Whether columns have proper cells, groups have one cell of each, and sets are well formed."""
    shape = release.cells.shape
    wrong = list[str]()
    names = [column.name for column in release.columns]
    if shape != (len(release.groups), len(names)) or len(set(names)) < len(names) or not names:
        wrong.append("a group does not have one value of each column")
    elif any(
        len(held) and not 0 <= held.min() <= held.max() < len(column.cells)
        for column, held in zip(release.columns, release.cells.T, strict=True)
    ):
        wrong.append("a group has a value that its column does not have")
    wrong += [fault for column in release.columns for fault in faults_of(column)]
    if not wrong and len({group.form for group in release.groups}) != 1:
        wrong.append("the sets of the groups have several forms")
    if wrong:
        witnesses = tuple(Witness(text) for text in wrong[: question.limit])
        return Check("structure", False, "the columns are not well formed", witnesses)
    for group in release.groups:
        inner = _INNER[group.form](group, replace(question, original=None, promise=group.promise))
        if not inner[0].holds:
            return inner[0]
    text = f"each of {plural(len(release.groups), 'group')} has one value of each column, and "
    return Check("structure", True, f"{text}well-formed sets")


_INNER: dict[str, Callable[[Any, Question], Sequence[Check]]] = {
    "generalized": check_generalized,
    "suppressed": check_suppressed,
    "disassociated": lambda *asked: check_disassociated(*asked)[:1],
}
"""By form of the sets of a group: whether they are well formed."""


def _merged(release: Grouped) -> Apart:
    """The groups as a reader sees them: those with the same cells are one."""
    known = dict[object, int]()
    homes = list[int]()
    names = list[str]()
    keys = [[key_of(column, cell) for cell in column.cells] for column in release.columns]
    for numbers in release.cells.tolist():
        key = tuple(each[number] for each, number in zip(keys, numbers, strict=True))
        if key not in known:
            known[key] = len(known)
            pairs = zip(release.columns, numbers, strict=True)
            cells = "; ".join(column.shown(number) for column, number in pairs)
            names.append(f"{cells}, group {len(known)}")
        homes.append(known[key])
    return Apart(names, np.array(homes, dtype=np.int64), release)


def _diversity(apart: Apart, promise: Promise) -> Any:
    """What is promised of sensitive items, which are others in each group."""
    asked: Any = getattr(promise, "diversity", None)
    if asked is None:
        return None
    named = (f"{item} ({name})" for item in asked.sensitive for name in apart.names)
    return replace(asked, sensitive=frozenset(named))


def _check_groups(apart: Apart, question: Question) -> Check:
    """Whether each group has at least k people."""
    crowd, groups = question.promise.crowd, apart.release.groups
    sizes = sums(apart.homes, [_people(group) for group in groups], len(apart.names))
    small = np.flatnonzero(sizes < crowd)
    if not len(small):
        least = int(sizes.min(initial=len(apart.release)))
        text = f"each of {plural(len(sizes), 'group')} has at least {crowd} people; the smallest "
        return Check("groups", True, f"{text}has {least:,}")
    small = small[np.argsort(sizes[small], kind="stable")]
    witnesses = tuple(
        _of_group(apart, at, int(sizes[at])) for at in small[: question.limit].tolist()
    )
    many = {"groups": len(small), "people": int(sizes[small].sum())}
    text = f"{plural(len(small), 'group')} with fewer than {crowd} people"
    there = "there is" if len(small) == 1 else "there are"
    return Check("groups", False, f"{there} {text}", witnesses, violations=many)


def _of_group(apart: Apart, at: int, people: int) -> Witness:
    has = "has" if people == 1 else "have"
    return Witness(f"only {plural(people, 'person', 'people')} {has} {apart.names[at]}", (), people)


def _people(group: Any) -> int:
    """The people of a group, counted here."""
    sizes: Int64s = group.sizes
    return int(sizes.sum() if isinstance(group, RecordRelease) else sizes[group.parent < 0].sum())


def _check_sets(apart: Apart, question: Question) -> list[Check]:
    """Whether each set of up to m items of a group is in at least k of its sets, or could be."""
    joined: Any = apart.joined
    if isinstance(joined, RecordRelease):
        rows = count_records(joined.classes, joined.sizes)
        counted = Counted(rows.records, rows.sizes, rows.member)
        asked: Any = question.promise
        return [_renamed(check_km_anonymity(counted, asked, question.limit))]
    found = check_disassociated(replace(joined, alignment=None), question)
    return [
        _renamed(each) if each.name == question.promise.model else _of_groups(each)
        for each in found[1:]
    ]


def _renamed(check: Check) -> Check:
    """The check of sets, under the name of the promise of columns and sets."""
    return replace(check, name=MODEL, text=f"within each group, {check.text}")


def _of_groups(check: Check) -> Check:
    """A check of sets in the words of groups: its number counts an item once for each group."""
    if check.name != DIVERSITY or not check.holds:
        return check
    rest = check.text.partition("sensitive item")[2].removeprefix("s")
    return replace(
        check, text=f"within each group, each sensitive item{rest}".replace(" are ", " is ", 1)
    )
