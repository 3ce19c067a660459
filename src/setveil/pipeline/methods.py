"""Methods: what each can promise, what it needs, and when it is chosen."""

import re
from dataclasses import asdict, dataclass

from setveil.methods import METHODS


@dataclass(frozen=True, kw_only=True)
class MethodFacts:
    """One method, in words and names."""

    name: str
    about: str
    """What it does, in a sentence."""
    promises: list[str]
    needs_hierarchy: bool
    takes_hierarchy: bool
    """Whether a hierarchy is of use though it needs none."""
    draws_noise: bool
    reads: str
    form: str
    chosen_for: dict[str, str]
    """Why it is chosen if none is named, by the model of the promise."""

    def to_dict(self) -> dict[str, object]:
        return asdict(self)


def list_methods() -> list[MethodFacts]:
    """All methods of the table.

    Example:
        >>> [method.name for method in list_methods() if not method.needs_hierarchy]
        ['disassociation', 'suppression', 'frequent']
    """
    return [
        MethodFacts(
            name=name,
            about=first_sentence(kind.__doc__ or ""),
            promises=[promise.model for promise in (*kind.promises, *kind.additions)],
            needs_hierarchy=kind.needs_hierarchy,
            takes_hierarchy=kind.takes_hierarchy,
            draws_noise=kind.draws_noise,
            reads=kind.reads,
            form=kind.form,
            chosen_for={promise.model: why for promise, why in kind.chosen_for.items()},
        )
        for name, kind in METHODS.items()
    ]


def first_sentence(text: str) -> str:
    """The first paragraph of a docstring as one line, without the paper it cites."""
    return re.sub(r"\s*\[[A-Z]\w+\][^.]*$", "", " ".join(text.split("\n\n")[0].split()))
