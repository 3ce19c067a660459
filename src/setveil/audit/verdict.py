"""The verdict: what was checked, whether it holds, and a witness where it does not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from setveil.promises.promise import Promise
from setveil.showing import Shown


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
        return {
            "text": self.text,
            "items": list(self.items),
            "count": self.count,
            "original": None if self.original is None else list(self.original),
            "private": self.private,
        }


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
        lines = [f"{'holds' if self.holds else 'DOES NOT HOLD'}: {self.promise.title}"]
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
        return f"Verdict({self.text.splitlines()[0]}; {held} of {checks} checks hold)"

    def to_dict(self) -> dict[str, object]:
        """The verdict as it is written in JSON."""
        return {
            "holds": self.holds,
            "promise": self.promise.to_dict(),
            "checks": [check.to_dict() for check in self.checks],
        }


def show_items(items: tuple[str, ...], most: int = 12) -> str:
    """Items in braces, cut after `most` of them."""
    more = f", ... ({len(items)} in all)" if len(items) > most else ""
    return "{" + ", ".join(items[:most]) + more + "}"
