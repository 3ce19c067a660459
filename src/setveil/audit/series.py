"""Two releases of a series: is the rule of the second the same or a coarser one, and do the records
of those who left and joined keep the promise themselves?

Anybody who has both can raise the records of the first to the rule of the second and take one from
the other. What is left over are the records of people who left, joined or changed. One newcomer
alone would be there with all that the second release says of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from setveil.alignment.merging import recounted
from setveil.audit.verdict import Check, Witness, show_items
from setveil.audit.verify import verify
from setveil.errors import DataError
from setveil.hierarchy.tree import Hierarchy
from setveil.promises.promise import Promise
from setveil.published.release import RecordRelease, Release
from setveil.words import plural

NO_SERIES = "measure what both reveal together with setveil attack, given both"
Records = Counter[tuple[str, ...]]
"""Published records as sorted labels, and how many people have each."""


def check_after(second: Release, first: Release, limit: int = 1) -> tuple[Check, ...]:
    """Whether a release may follow another one: its rule, and both differences.

    Raises:
        DataError: if one of them has no single rule for all records.
    """
    for release in (first, second):
        why = no_rule(release)
        if why:
            raise DataError(why, remedy=NO_SERIES)
    first, second = recounted(first), recounted(second)
    assert isinstance(first, RecordRelease) and isinstance(second, RecordRelease)
    rule, raised = check_rule(first, second)
    if not rule.holds:
        return (rule,)
    after, whole = _records(second), {label: raised.get(label, label) for label in _shown(first)}
    readings = [_raised(first, labels) for labels in (raised, whole)]
    promises = dict.fromkeys((second.promise, first.promise))
    checks = []
    for promise in promises:
        left = (_difference("left", before - after, promise, limit) for before in readings)
        joined = (_difference("joined", after - before, promise, limit) for before in readings)
        checks += [_worst(left), _worst(joined)]
    return (rule, *checks)


def _worst(checks: Iterable[Check]) -> Check:
    """The first check that fails; if none does, the last. Whether a label that does not occur any
    more was left out, or nobody has it, cannot be seen: so both are checked."""
    found = list(checks)
    return next((check for check in found if not check.holds), found[-1])


def no_rule(release: Release) -> str:
    """Why a release cannot be in a series; empty if it can."""
    if release.form not in ("generalized", "suppressed"):
        return f"a {release.form} release has no rule that another one could follow"
    if release.form == "generalized" and not getattr(release, "is_global", False):
        return "the release generalizes the same item differently in different records"
    if getattr(release, "min_people", 0):
        return "the release left out rare items one by one, which its rule does not say"
    return ""


def check_rule(first: RecordRelease, second: RecordRelease) -> tuple[Check, Mapping[str, str]]:
    """Whether each label of the second release is one of the first, or a group of some of them; and
    what the second release calls each label of the first."""
    old, new = _shown(first), _shown(second)
    above = {label: _path(label, first.tree, second.tree) for label in old}
    raised = {}
    for label, path in above.items():
        found = next((each for each in path if each in new), None)
        if found is not None:
            raised[label] = found
    foreign = sorted(new - set(raised.values()))
    several = sorted(x for x, path in above.items() if len(set(path) & new) > 1)
    if foreign:
        text = f"{plural(len(foreign), 'label')} of this release are neither labels of the first "
        text = text.replace("1 label of this release are", "1 label of this release is")
        witness = Witness(f"the first release does not publish {foreign[0]}", (foreign[0],))
        return Check("rule", False, f"{text}nor groups of them", (witness,)), {}
    if several:
        witness = Witness(f"{several[0]} would be several labels", (several[0],))
        return Check("rule", False, "it publishes a group and its member", (witness,)), {}
    changed = sum(raised.get(label) != label for label in old)
    text = "it is the rule of the first release, as far as records show it"
    if changed:
        gone = len(old) - len(raised)
        text = f"it is coarser than the rule of the first release: of its {len(old):,} labels, "
        text += f"{gone:,} are left out and {changed - gone:,} are in larger groups"
    return Check("rule", True, text), raised


def _path(label: str, *trees: Hierarchy | None) -> list[str]:
    """A label, and the labels above it in the first tree that has it."""
    for tree in trees:
        node = -1 if tree is None else tree.nodes.numbers.get(label, -1)
        if tree is not None and node >= 0:
            found = []
            while node >= 0:
                found.append(tree.labels[node])
                node = int(tree.parent[node])
            return found
    return [label]


def _shown(release: RecordRelease) -> set[str]:
    """The labels that are published."""
    return {label for record in release.classes for label in record}


def _records(release: RecordRelease) -> Records:
    return _raised(release, {label: label for label in _shown(release)})


def _raised(release: RecordRelease, labels: Mapping[str, str]) -> Records:
    """The records in other labels, and how many people have each."""
    found: Records = Counter()
    for record, size in zip(release.classes, release.sizes.tolist(), strict=True):
        key = tuple(sorted({labels[label] for label in record if label in labels}))
        found[key] += size
    return found


def _difference(name: str, records: Records, promise: Promise, limit: int) -> Check:
    """Whether the records of those who left, or joined, keep a promise themselves."""
    who = {"left": "who left or changed", "joined": "who joined or changed"}[name]
    total = records.total()
    if not total:
        return Check(name, True, f"nobody's record shows {who}")
    verdict = verify(_listed(records), promise=promise, limit=limit)
    kept = f"{plural(total, 'record')} of people {who}"
    if verdict.holds:
        return Check(name, True, f"{kept}: {promise.title} holds for them alone")
    failed = next(check for check in verdict.checks if not check.holds)
    witnesses = failed.witnesses
    if not witnesses:
        rarest = min(records, key=lambda record: (records[record], record))
        said = f"the record {show_items(rarest)} is in the open"
        witnesses = (Witness(said, rarest, records[rarest]),)
    alone = "is" if total == 1 else "are"
    text = f"{kept} {alone} in the open, and {promise.title} does not hold there: {failed.text}"
    return Check(name, False, text, witnesses, violations=failed.violations)


def _listed(records: Records) -> list[Iterable[str]]:
    return [record for record, size in records.items() for _ in range(size)]
