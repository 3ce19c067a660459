"""The question and the verdict: what was checked, whether it holds, and a witness if not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Literal

from setveil.data.transactions import Transactions
from setveil.hierarchy.tree import Hierarchy
from setveil.promises.promise import Promise
from setveil.showing import Shown

Origin = Literal["exact", "consistent", "no"]


@dataclass(frozen=True)
class Witness:
    """One place where a check fails, for anyone to look up."""

    text: str
    """What is wrong there, in one sentence."""
    items: tuple[str, ...] = ()
    """The published record or itemset it is about."""
    count: int | None = None
    """How often that occurs."""
    original: tuple[str, ...] | None = None
    """The items of the original record it is about, if there is one."""
    private: bool = False
    """Whether it shows items of the original, so that it must not be published."""

    def to_dict(self) -> dict[str, object]:
        original = None if self.original is None else list(self.original)
        return {**asdict(self), "items": list(self.items), "original": original}


@dataclass(frozen=True)
class Check:
    """One question and its answer."""

    name: str
    """`structure`, `records`, `containment`, or the model of the promise."""
    holds: bool
    text: str
    """The answer in one sentence, without anyone's items."""
    witnesses: tuple[Witness, ...] = ()
    """Where it fails, up to the number asked for."""
    private: bool = False
    """Whether it compares with the original, so that its answer is not for publication."""
    violations: Mapping[str, int] = field(default_factory=dict)
    """How many of what is checked violate it, such as `records` and `itemsets`; empty if it holds
    or nothing was counted."""
    gap: str = ""
    """What makes it worth little that it holds, such as `the release contains nothing`."""
    compared: str = ""
    """What of the original agrees with the release, in a few words, if the check holds; the last
    check that says it is the one that says most."""
    exact: bool = False
    """Whether that is all: every record fits its own original, or follows from it by one rule."""

    @property
    def witness(self) -> Witness | None:
        """The first witness; None when the check holds."""
        return self.witnesses[0] if self.witnesses else None

    def to_dict(self) -> dict[str, object]:
        return {
            "name": self.name,
            "holds": self.holds,
            "private": self.private,
            "text": self.text,
            "violations": dict(self.violations),
            "witnesses": [witness.to_dict() for witness in self.witnesses],
        }


@dataclass(frozen=True, repr=False)
class Verdict(Shown):
    """The answers to all questions that were asked about a release or a data set.

    Example:
        >>> from setveil.promises import KAnonymity
        >>> check = Check("records", True, "5 records are published for 5 originals")
        >>> verdict = Verdict(KAnonymity(k=2), (check,))
        >>> verdict.holds
        True
        >>> verdict
        Verdict(holds: k-anonymity (k = 2); 1 of 1 checks hold)
        >>> print(verdict.text)
        holds: k-anonymity (k = 2)
          yes  records: 5 records are published for 5 originals
    """

    promise: Promise
    checks: tuple[Check, ...]

    @property
    def holds(self) -> bool:
        """Whether every check holds."""
        return all(check.holds for check in self.checks)

    @property
    def keeps_promise(self) -> bool:
        """Whether every check of the release alone holds."""
        return all(check.holds for check in self.checks if not check.private)

    @property
    def fits_original(self) -> bool:
        """Whether every comparison with the original holds (also if there was none)."""
        return all(check.holds for check in self.checks if check.private)

    @property
    def origin(self) -> Origin | None:
        """Whether the release comes from the original: `exact` if each record was compared with its
        own, `consistent` if only something was compared, which agrees, or `no`; None if there was
        no original."""
        against = [check for check in self.checks if check.private]
        if not against or not self.fits_original:
            return "no" if against else None
        return "exact" if any(check.exact for check in against) else "consistent"

    @property
    def origin_text(self) -> str:
        """The same in words, with what was compared."""
        compared = [check.compared for check in self.checks if check.private and check.compared]
        if self.origin in (None, "no"):
            return "" if self.origin is None else "Does not come from this original"
        comes = "Comes from" if self.origin == "exact" else "Consistent with"
        return f"{comes} this original" + "".join(f": {said}" for said in compared[-1:])

    @property
    def gaps(self) -> tuple[str, ...]:
        """What makes it worth little that the promise holds: `the release contains nothing`, or `it
        promises nothing about private items`."""
        found = (*(each.gap for each in self.checks), *(part.gap for part in self.promise.parts))
        return tuple(gap for gap in dict.fromkeys(found) if gap)

    @property
    def mark(self) -> bool | None:
        """Whether to praise it: True if the promise holds, False if not; None if it holds but is
        worth little."""
        return None if self.keeps_promise and self.gaps else self.keeps_promise

    @property
    def but(self) -> str:
        """The gaps as the end of a sentence; empty if there are none, or the promise is broken."""
        return f", but {' and '.join(self.gaps)}" if self.mark is None else ""

    def titled(self, holds: str, fails: str) -> str:
        """A heading: one of two words, the gaps, and the promise."""
        return f"{holds if self.keeps_promise else fails}{self.but}: {self.promise.title}"

    @property
    def failed(self) -> tuple[Check, ...]:
        """The checks that do not hold."""
        return tuple(check for check in self.checks if not check.holds)

    @property
    def witness(self) -> Witness | None:
        """The first witness of the first check that fails and has one."""
        return next((check.witness for check in self.failed if check.witness), None)

    @property
    def text(self) -> str:
        """The verdict in words: a line in all, then one for each check and each witness."""
        lines = [self._heading]
        for check in self.checks:
            lines.append(f"  {'yes' if check.holds else 'NO '}  {check.name}: {check.text}")
            lines.extend(
                f"       witness{' (private)' * witness.private}: {witness.text}"
                for witness in check.witnesses
            )
        return "\n".join(lines)

    def __bool__(self) -> bool:
        """Whether every check holds, so that `assert verify(...)` means what it says."""
        return self.holds

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        held, checks = len(self.checks) - len(self.failed), len(self.checks)
        return f"Verdict({self._heading}; {held} of {checks} checks hold)"

    @property
    def _heading(self) -> str:
        if not self.holds:
            return f"DOES NOT HOLD: {self.promise.title}"
        return self.titled("holds", "DOES NOT HOLD")

    def to_dict(self) -> dict[str, object]:
        """The verdict as it is written in JSON."""
        return {
            "holds": self.holds,
            "gaps": list(self.gaps),
            "origin": self.origin,
            "promise": self.promise.to_dict(),
            "checks": [check.to_dict() for check in self.checks],
        }


def show_items(items: tuple[str, ...], most: int = 12) -> str:
    """Items in braces, cut after `most` of them."""
    more = f", ... ({len(items)} in all)" if len(items) > most else ""
    return "{" + ", ".join(items[:most]) + more + "}"


@dataclass(frozen=True, kw_only=True)
class Question:
    """Does the release keep this promise, and does it come from this original?"""

    promise: Promise
    original: Transactions | None = None
    """None if only the promise is checked."""
    hierarchy: Hierarchy | None = None
    """The tree that items were compared with, if the release does not have it."""
    limit: int = 1
    """The most witnesses for each check."""
