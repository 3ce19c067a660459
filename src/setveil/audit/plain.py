"""Plain files as somebody else's release: what a reader of the file sees besides its records, and
whether it comes from an original."""

from __future__ import annotations

import numpy as np

from setveil.alignment.merging import count_records, renamed
from setveil.audit.question import Question
from setveil.audit.tables import check_promise, check_release, with_gap
from setveil.audit.verdict import Check, Witness, show_items
from setveil.data.account import Account
from setveil.data.transactions import Bags, Transactions
from setveil.data.vocabulary import Vocabulary
from setveil.errors import ParameterError
from setveil.published.generalized import Generalized
from setveil.published.suppressed import Suppressed
from setveil.words import are, plural


def check_plain(data: Transactions, question: Question) -> tuple[Check, ...]:
    """Every check of plain records: their promise, whether they consist of nodes of the tree, if
    one is given, and whether they come from the original, if one is given.

    With a tree the records are taken as generalized, without one as the original without some
    items."""
    tree, original = question.hierarchy, question.original
    counted = count_records(data)
    if tree is None and original is None:
        check = check_promise(counted, question.promise, question.limit)
        return (with_gap(check, data.vocabulary.labels if data.occurrences else (), tree),)
    if tree is not None:
        unknown = tuple(label for label in data.vocabulary if label not in tree.nodes)
        if unknown:
            witness = Witness(f"{show_items(unknown)} is not in the hierarchy", unknown)
            marks = data.vocabulary.marks(frozenset(unknown))[data.items]
            many = {"records": len(np.unique(data.rows[marks])), "items": len(unknown)}
            text = f"{are(len(unknown), 'published item')} not in the hierarchy"
            structure = Check("structure", False, text, (witness,), violations=many)
            return structure, check_promise(counted, question.promise, question.limit)
        rows = renamed(data, tree.nodes.encode(data.vocabulary.labels), tree.nodes)
        sizes = np.ones(len(rows), dtype=np.int64)
        return check_release(Generalized(rows, sizes, tree, question.promise), question)
    if isinstance(data, Bags):
        allowed = "records in which items repeat can only be compared if their {hierarchy} is given"
        raise ParameterError("original", "given", allowed)
    used = np.unique(data.items)
    numbers = np.full(len(data.vocabulary), -1, dtype=np.int32)
    numbers[used] = np.arange(len(used))
    shown = Vocabulary([data.vocabulary[number] for number in used.tolist()])
    sizes = np.ones(len(data), dtype=np.int64)
    return check_release(
        Suppressed(renamed(data, numbers, shown), sizes, question.promise), question
    )


def check_columns(account: Account) -> Check | None:
    """Whether a file has nothing but records and items in its columns; None if it has no columns.

    Record identifiers are fine if they merely number the records."""
    if not account.columns:
        return None
    witnesses = []
    owner = account.columns.get("record")
    if account.identifiers:
        text = f"the column {owner} identifies {plural(account.identifiers, 'record')}"
        witnesses.append(Witness(text, (str(owner),), account.identifiers))
    for name in account.ignored:
        witnesses.append(Witness(f"the column {name} is neither a record nor an item", (name,)))
    if not witnesses:
        return Check("columns", True, "the file has no columns besides records and items")
    number = f"{plural(len(witnesses), 'column')} of the file"
    show = "shows" if len(witnesses) == 1 else "show"
    text = f"{number} {show} more about people than their items, whatever these promise"
    many = {"columns": len(witnesses), "records": account.identifiers}
    return Check("columns", False, text, tuple(witnesses), violations=many)
