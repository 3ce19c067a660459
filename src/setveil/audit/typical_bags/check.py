"""Does a release of vocabularies stand for its originals, none lost or invented, with nothing in it that they do not have?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from setveil.alignment.align import over_tree, semantic_tree
from setveil.alignment.fitting import leaves_of
from setveil.audit.generalized import check_record_count, misfit_witness
from setveil.audit.kanonymity import shown_record
from setveil.audit.question import Question
from setveil.audit.typical_bags.certificate import check_matches
from setveil.audit.typical_bags.pairing import Relation, unpaired
from setveil.audit.verdict import Check, Witness, show_items
from setveil.data.tables.kinds import counted_as
from setveil.data.transactions import Bags, Transactions
from setveil.errors import MisfitError
from setveil.hierarchy.tree import Hierarchy
from setveil.published.typical_bags import TypicalBags

Numbers = npt.NDArray[np.int64]


def check_typical_bags(release: TypicalBags, question: Question) -> list[Check]:
    """Whether typical bags are well formed and represent their originals, if these are given."""
    structure = _check_structure(release, question.limit)
    if question.original is None or not structure.holds:
        return [structure]
    return [structure, *_check_original(release, question.original, question)]


def _check_structure(release: TypicalBags, limit: int = 1) -> Check:
    """Whether each bag stands at least once and is made of what the release says: nodes of its tree, or slots of one person each."""
    if len(release.sizes) != len(release.classes) or (
        len(release.sizes) and release.sizes.min() < 1
    ):
        return Check("structure", False, "each distinct bag needs a number of 1 or more")
    if release.hierarchy is not None:
        unknown = tuple(label for label in release.items if label not in release.hierarchy.nodes)
        if unknown:
            witness = Witness(f"{show_items(unknown)} stands in no node of the hierarchy", unknown)
            return Check(
                "structure", False, "the bags are not made of the hierarchy's nodes", (witness,)
            )
        return Check("structure", True, "every published bag is made of nodes of the hierarchy")
    if release.slots is not None:
        return _check_slots(release, release.slots, limit)
    return Check("structure", True, "every published bag is made of items that stand at least once")


def _check_slots(release: TypicalBags, slots: Bags, limit: int) -> Check:
    """Whether each slot of a bag can hold one occurrence of each of the people it stands for: as many as they are, or as a part of them."""
    if len(slots) != len(release.items) or (len(slots) and slots.lengths.min() < 1):
        return Check("structure", False, "each published slot needs the items that it stands for")
    classes = release.classes
    totals = slots.totals[classes.items]
    first = (
        totals[np.minimum(classes.indptr[:-1], max(len(totals) - 1, 0))]
        if len(totals)
        else np.zeros(len(classes), dtype=np.int64)
    )
    wrong = np.unique(
        classes.rows[(totals != first[classes.rows]) | (release.sizes[classes.rows] % totals != 0)]
    )
    if not len(wrong):
        return Check(
            "structure",
            True,
            "every slot of a published bag holds one occurrence of each of the people it stands for",
        )
    witnesses = tuple(
        Witness(
            f"the bag {show_items(shown_record(classes, number))} stands {release.sizes[number]} times, but its slots hold other numbers",
            shown_record(classes, number),
            int(release.sizes[number]),
        )
        for number in wrong[:limit].tolist()
    )
    return Check(
        "structure",
        False,
        f"{len(wrong)} distinct bags have slots that do not hold one occurrence of each person",
        witnesses,
    )


def _check_original(
    release: TypicalBags, original: Transactions, question: Question
) -> list[Check]:
    """Whether as many bags are published as there are originals, of their own items, and each can stand for its original."""
    counts, hierarchy, limit = (
        check_record_count(release, original),
        question.hierarchy,
        question.limit,
    )
    try:
        hierarchy = (
            hierarchy if release.alignment is None else semantic_tree(release, original, hierarchy)
        )
        release = over_tree(release, original, hierarchy)
    except MisfitError as misfit:
        return [counts, Check("containment", False, misfit.problem, (misfit_witness(misfit),))]
    if (
        release.hierarchy is not None
        and (leaves_of(release.hierarchy, original.vocabulary) < 0).any()
    ):
        return [
            counts,
            Check(
                "containment",
                False,
                "an original record holds an item that the hierarchy of the release does not have",
            ),
        ]
    data = counted_as(original, True)
    assert isinstance(data, Bags)
    items = _check_items(release, data, limit)
    if not counts.holds:
        return [
            counts,
            items,
            Check(
                "containment",
                False,
                "the published bags cannot be given to the originals: their numbers differ",
            ),
        ]
    if release.alignment is None:
        return [counts, items, _check_lengths(release, data)]
    aligned = _check_alignment(release, data, limit)
    if not aligned.holds:
        return [counts, items, aligned]
    if release.matches is not None:
        return [counts, items, check_matches(release, release.matches, data, hierarchy, limit)]
    return [counts, items, _check_pairs(release, data, hierarchy, limit)]


def _check_items(release: TypicalBags, original: Bags, limit: int) -> Check:
    """Whether nothing is published that the originals do not have, or more often than they have it, by counting over all of them."""
    faults = list(
        _over_nodes(release, original)
        if release.hierarchy is not None
        else _over_items(release, original)
    )
    if not faults:
        text = "nothing is published that the originals do not have, nor more often than they can have it"
        return Check("items", True, text)
    return Check(
        "items",
        False,
        f"{len(faults)} items are published more often than the originals have them",
        tuple(faults[:limit]),
    )


def _over_items(release: TypicalBags, original: Bags) -> Iterator[Witness]:
    """Items that stand more often than in the originals: in slots as told, else once for each bag that shows one."""
    held = dict(zip(original.vocabulary.labels, _item_totals(original).tolist(), strict=True))
    labels = release.items if release.slots is None else release.slots.vocabulary
    for label, needed in zip(labels, _needed(release).tolist(), strict=True):
        if needed > held.get(label, 0):
            told = f"{label} stands {held.get(label, 0)} times in the originals, but {needed} occurrences of it are published"
            yield Witness(told, (label,), needed, private=label in held)


def _needed(release: TypicalBags) -> Numbers:
    """How many original occurrences of each item a release shows for certain.

    A slot tells all of its items, for each group of as many people as it holds items. Any other item that a bag shows is that of one
    person of the group at least, as often as it stands in the bag.
    """
    classes, slots = release.classes, release.slots
    if slots is None:
        return np.bincount(
            classes.items, weights=classes.counts, minlength=len(release.items)
        ).astype(np.int64)
    groups = release.sizes[classes.rows] // np.maximum(slots.totals[classes.items], 1)
    times = np.bincount(classes.items, weights=classes.counts * groups, minlength=len(slots))
    return np.bincount(
        slots.items, weights=slots.counts * times[slots.rows], minlength=len(slots.vocabulary)
    ).astype(np.int64)


def _over_nodes(release: TypicalBags, original: Bags) -> Iterator[Witness]:
    """Nodes under which more is published than the originals hold under them."""
    tree, classes = release.hierarchy, release.classes
    assert tree is not None
    nodes = tree.nodes.encode(release.items.labels)[classes.items]
    mass = np.bincount(
        nodes, weights=classes.counts * release.sizes[classes.rows], minlength=len(tree)
    ).astype(np.int64)
    held = np.zeros(len(tree) + 1, dtype=np.int64)
    leaves = np.zeros(tree.leaf_count, dtype=np.int64)
    leaves[tree.leaf_numbers(original.vocabulary)] = _item_totals(original)
    np.cumsum(leaves, out=held[1 : tree.leaf_count + 1])
    for depth in range(tree.height, 0, -1):
        level = np.flatnonzero(tree.depth == depth)
        np.add.at(mass, tree.parent[level], mass[level])
    under = held[tree.stop] - held[tree.first]
    for node in np.flatnonzero(mass > under).tolist():
        label = tree.labels[node]
        told = (
            f"{under[node]} original occurrences are under {label}, but {mass[node]} are published"
        )
        yield Witness(told, (label,), int(mass[node]), private=True)


def _check_lengths(release: TypicalBags, original: Bags) -> Check:
    """Whether the bags can be given to originals that are at least as long, when nobody knows which stands for whom."""
    longest = np.sort(original.totals)[::-1]
    order = np.argsort(-release.classes.totals, kind="stable")
    published = np.repeat(release.classes.totals[order], release.sizes[order])
    wrong = np.flatnonzero(published > longest)
    if not len(wrong):
        text = "no published bag is longer than an original it may stand for; which stands for whom is not known and was not checked"
        return Check("containment", True, text)
    length = int(published[wrong[0]])
    here, there = int((published >= length).sum()), int((longest >= length).sum())
    told = f"{here} published bags hold {length} occurrences or more, but {there} originals do"
    return Check(
        "containment",
        False,
        "the published bags are longer than the originals",
        (Witness(told, private=True),),
    )


def _check_alignment(release: TypicalBags, original: Bags, limit: int) -> Check:
    """Whether the alignment gives each bag to as many originals as it stands for, none of them shorter."""
    alignment, count = release.alignment, len(release.classes)
    assert alignment is not None
    if len(alignment) != len(original) or (
        len(alignment) and not 0 <= alignment.min() <= alignment.max() < count
    ):
        return Check(
            "containment",
            False,
            f"its alignment must give one of {count} bags to each of {len(original)} originals",
        )
    wrong = np.flatnonzero(np.bincount(alignment, minlength=count) != release.sizes)
    if len(wrong):
        items = shown_record(release.classes, int(wrong[0]))
        witness = Witness(
            f"the bag {show_items(items)} is given to another number of originals than it stands for",
            items,
        )
        return Check("containment", False, "its alignment does not fit its sizes", (witness,))
    short = np.flatnonzero(release.classes.totals[alignment] > original.totals)
    if len(short):
        witnesses = tuple(
            _misfit(release, original, number, "is longer than it")
            for number in short[:limit].tolist()
        )
        return Check(
            "containment",
            False,
            f"{len(short)} published bags are longer than the originals they stand for",
            witnesses,
        )
    return Check(
        "containment",
        True,
        "each bag stands for as many originals as it says, none of them shorter",
    )


def _check_pairs(
    release: TypicalBags, original: Bags, hierarchy: Hierarchy | None, limit: int
) -> Check:
    """Whether every published occurrence can stand for an own occurrence of each original that its bag is published for."""
    relation = Relation.of(release, original.vocabulary, hierarchy)
    if relation.partners is None:
        missing = "a hierarchy" if hierarchy is None else "an epsilon of its method"
        text = f"no published bag is longer than the original it stands for; without {missing} their items were not compared"
        return Check("containment", True, text)
    faults = []
    assert release.alignment is not None
    for number, row in enumerate(release.alignment.tolist()):
        shown = slice(release.classes.indptr[row], release.classes.indptr[row + 1])
        own = slice(original.indptr[number], original.indptr[number + 1])
        edges = relation.edges(release.classes.items[shown].tolist(), original.items[own].tolist())
        lost = unpaired(
            edges, release.classes.counts[shown].tolist(), original.counts[own].tolist()
        )
        if lost is not None:
            item = release.items[release.classes.items[shown][lost]]
            faults.append(
                _misfit(
                    release,
                    original,
                    number,
                    f"has {item}, which cannot stand for anything that is left in it",
                )
            )
            if len(faults) == limit:
                break
    if faults:
        return Check(
            "containment",
            False,
            "a published bag cannot stand for the original that it is published for",
            tuple(faults),
        )
    near = (
        ""
        if release.slots is not None or release.hierarchy is not None
        else f", at most {release.epsilon} steps away"
    )
    return Check(
        "containment",
        True,
        f"every published occurrence can stand for an own occurrence of each of its originals{near}",
    )


def _misfit(release: TypicalBags, original: Bags, number: int, what: str) -> Witness:
    assert release.alignment is not None
    items, own = (
        shown_record(release.classes, int(release.alignment[number])),
        shown_record(original, number),
    )
    told = (
        f"the bag {show_items(items)} that is published for the original {show_items(own)} {what}"
    )
    return Witness(told, items, original=own, private=True)


def _item_totals(data: Bags) -> Numbers:
    """The number of occurrences of each item."""
    return np.bincount(data.items, weights=data.counts, minlength=len(data.vocabulary)).astype(
        np.int64
    )
