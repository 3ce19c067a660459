"""Methods: what each can promise, what it needs, and when it is chosen."""

from dataclasses import asdict, dataclass

from setveil.methods import METHODS


@dataclass(frozen=True, kw_only=True)
class MethodFacts:
    """One method, in words and names."""

    name: str
    promises: list[str]
    needs_hierarchy: bool
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
            promises=[promise.model for promise in (*kind.promises, *kind.additions)],
            needs_hierarchy=kind.needs_hierarchy,
            reads=kind.reads,
            form=kind.form,
            chosen_for={promise.model: why for promise, why in kind.chosen_for.items()},
        )
        for name, kind in METHODS.items()
    ]
