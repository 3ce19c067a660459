"""Do typical bags represent their originals, with nothing that these do not have?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from setveil.alignment.align import over_tree, semantic_tree
from setveil.alignment.fitting import leaves_of
from setveil.audit.records import (
    check_record_count,
    check_sizes,
    misfit_check,
    not_paired,
)
from setveil.audit.typical_bags.certificate import OWN, check_complete, check_matches
from setveil.audit.typical_bags.pairing import Pairing, Relation, check_assignment
from setveil.audit.verdict import Check, Question, Witness, show_items
from setveil.data.arrays import Int64s, find, offsets, sums
from setveil.data.tables.kinds import counted_as
from setveil.data.transactions import Bags, Transactions
from setveil.errors import DataError, MisfitError
from setveil.published.typical_bags import TypicalBags
from setveil.words import are, plural


def check_typical_bags(release: TypicalBags, question: Question) -> list[Check]:
    """Whether typical bags are well formed and represent their originals, if these are given."""
    structure = _check_structure(release, question.limit)
    if question.original is None or not structure.holds:
        return [structure]
    return [structure, *_check_original(release, question.original, question)]


def _check_structure(release: TypicalBags, limit: int) -> Check:
    """Whether each bag occurs at least once and consists of nodes of its tree, slots or items."""
    sizes = check_sizes(release, limit)
    if sizes is not None:
        return sizes
    if release.slots is not None:
        return _check_slots(release, release.slots, limit)
    if release.hierarchy is None:
        text = "every published bag consists of items that occur at least once"
        return Check("structure", True, text)
    unknown = tuple(label for label in release.items if label not in release.hierarchy.nodes)
    if unknown:
        witness = Witness(f"{show_items(unknown)} is not in the hierarchy", unknown)
        text = "the published bags contain items that are not in the hierarchy"
        return Check("structure", False, text, (witness,))
    return Check("structure", True, "every published bag consists of nodes of the hierarchy")


def _check_slots(release: TypicalBags, slots: Bags, limit: int) -> Check:
    """Whether each slot of a bag can hold one occurrence of each person it represents.

    A bag may represent several groups: its size is a multiple of what each slot holds.
    """
    if len(slots) != len(release.items) or (len(slots) and slots.lengths.min() < 1):
        return Check("structure", False, "each published slot needs the items that it represents")
    classes = release.classes
    totals, first = slots.totals[classes.items], np.zeros(len(classes), dtype=np.int64)
    if len(totals):
        first = totals[np.minimum(classes.indptr[:-1], len(totals) - 1)]
    odd = (totals != first[classes.rows]) | (release.sizes[classes.rows] % totals != 0)
    wrong = np.unique(classes.rows[odd])
    if not len(wrong):
        text = "every slot of a published bag holds one occurrence of each person it represents"
        return Check("structure", True, text)
    witnesses = []
    for number in wrong[:limit].tolist():
        items, size = classes.shown(number), int(release.sizes[number])
        text = f"the bag {show_items(items)} occurs {plural(size, 'time')}"
        witnesses.append(Witness(f"{text}, but its slots hold other numbers", items, size))
    text = f"{plural(len(wrong), 'distinct bag')} with slots"
    text += " that do not hold one occurrence of each person"
    return Check("structure", False, text, tuple(witnesses))


def _check_original(
    release: TypicalBags, original: Transactions, question: Question
) -> list[Check]:
    """Whether there is one bag for each original, of its items, that can represent it."""
    counts = check_record_count(len(release), len(original))
    try:
        try:
            tree = semantic_tree(release, original, question.hierarchy)
        except DataError as error:
            if isinstance(error, MisfitError) or release.alignment is not None:
                raise
            tree = None  # not known, or not installed here
        question = replace(question, hierarchy=tree)
        release = over_tree(release, original, tree)
    except MisfitError as misfit:
        return [counts, misfit_check(misfit)]
    tree = release.hierarchy
    if tree is not None and (leaves_of(tree, original.vocabulary) < 0).any():
        text = "an original record contains an item that is not in the hierarchy of the release"
        return [counts, Check("containment", False, text)]
    data = counted_as(original, True)
    assert isinstance(data, Bags)
    items = _check_items(release, data, question.limit)
    pairs = _check_containment(release, data, question) if counts.holds else not_paired("bags")
    if not (release.complete and counts.holds and pairs.holds):
        return [counts, items, pairs]
    return [counts, items, pairs, check_complete(release, data, question.limit)]


def _check_items(release: TypicalBags, original: Bags, limit: int) -> Check:
    """Whether no item is published more often than all originals together have it."""
    over = _over_items if release.hierarchy is None else _over_nodes
    faults = list(over(release, original))
    if not faults:
        text = "no item is published more often than the originals can have it"
        return Check("items", True, text, compared="item counts agree")
    text = f"{are(len(faults), 'item')} published more often than in the originals"
    return Check("items", False, text, tuple(faults[:limit]))


def _over_items(release: TypicalBags, original: Bags) -> Iterator[Witness]:
    """Items that are published more often than the originals have them."""
    held = dict(zip(original.vocabulary.labels, _item_totals(original).tolist(), strict=True))
    labels = release.items if release.slots is None else release.slots.vocabulary
    for label, needed in zip(labels, _needed(release).tolist(), strict=True):
        if needed > held.get(label, 0):
            text = f"{label} occurs {plural(held.get(label, 0), 'time')} in the originals"
            text += f", but is published {plural(needed, 'time')}"
            yield Witness(text, (label,), needed, private=label in held)


def _needed(release: TypicalBags) -> Int64s:
    """How many original occurrences of each item a release shows for certain.

    A slot shows all of its items, once for each group of so many people. Without slots, an item of
    a bag belongs to at least one person of the group, as often as it occurs in the bag.
    """
    classes, slots = release.classes, release.slots
    if slots is None:
        return _item_totals(classes)
    groups = release.sizes[classes.rows] // np.maximum(slots.totals[classes.items], 1)
    times = sums(classes.items, classes.counts * groups, len(slots))
    return sums(slots.items, slots.counts * times[slots.rows], len(slots.vocabulary))


def _over_nodes(release: TypicalBags, original: Bags) -> Iterator[Witness]:
    """Nodes under which more is published than the originals have under them."""
    tree, classes = release.hierarchy, release.classes
    assert tree is not None
    nodes = tree.nodes.encode(release.items.labels)[classes.items]
    certain = release.least_holders()
    mass = sums(nodes, classes.counts * certain, len(tree))
    others = classes.counts * (release.sizes[classes.rows] - certain)  # only their branch is known
    mass += sums(tree.ancestors[tree.first[nodes], min(1, tree.height)], others, len(tree))
    leaves = tree.leaf_numbers(original.vocabulary)[original.items]
    held = offsets(sums(leaves, original.counts, tree.leaf_count))
    for depth in range(tree.height, 0, -1):
        level = np.flatnonzero(tree.depth == depth)
        np.add.at(mass, tree.parent[level], mass[level])
    under = held[tree.stop] - held[tree.first]
    for node in np.flatnonzero(mass > under).tolist():
        label, published = tree.labels[node], int(mass[node])
        text = f"{are(int(under[node]), 'original occurrence')} under {label}"
        text += f", but {published} {'is' if published == 1 else 'are'} published"
        yield Witness(text, (label,), published, private=True)


def _item_totals(data: Bags) -> Int64s:
    """The number of occurrences of each item."""
    return sums(data.items, data.counts, len(data.vocabulary))


def _check_containment(release: TypicalBags, original: Bags, question: Question) -> Check:
    """Whether the bags can represent the originals: by matches, the alignment, or lengths alone."""
    if release.alignment is None:
        return _check_unaligned(release, original, question)
    fault = _misalignment(release, release.alignment, original, question.limit)
    if fault is not None:
        return fault
    if release.matches is not None:
        return check_matches(release, release.matches, original, question)
    return _check_pairs(release, original, question)


def _check_unaligned(release: TypicalBags, original: Bags, question: Question) -> Check:
    """Whether the bags can be given to originals, by a matching or else by their lengths."""
    lengths = _check_lengths(release, original)
    relation = Relation.of(release, original.vocabulary, question.hierarchy)
    if not lengths.holds:
        return lengths
    if relation.partners is None:
        text = f"{lengths.text}; {_not_compared(question)}"
        return _silent(release, question) or replace(lengths, text=text)
    text = f"{lengths.text}; the data is too large to compare all bags with all originals"
    return check_assignment(release, original, relation) or replace(lengths, text=text)


def _silent(release: TypicalBags, question: Question) -> Check | None:
    """A failed check of a release that does not say how similar the items in a slot are."""
    if question.hierarchy is None or release.same_branch is None:
        return None
    text = "the release does not say how similar the items that a bag represents must be"
    return Check("containment", False, f"{text}, so it cannot be compared with the originals")


def _check_lengths(release: TypicalBags, original: Bags) -> Check:
    """Whether the bags can be given to originals of at least their length."""
    longest = np.sort(original.totals)[::-1]
    order = np.argsort(-release.classes.totals, kind="stable")
    published = np.repeat(release.classes.totals[order], release.sizes[order])
    wrong = np.flatnonzero(published > longest)
    if not len(wrong):
        text = "no published bag is longer than an original it may represent"
        which = "which bag represents which original is not known and was not checked"
        compared = "lengths and item counts agree"
        return Check("containment", True, f"{text}; {which}", compared=compared)
    length = int(published[wrong[0]])
    here, there = int((published >= length).sum()), int((longest >= length).sum())
    text = f"{plural(here, 'published bag')} with {length} occurrences or more"
    witness = Witness(f"{text}, but {plural(there, 'such original')}", private=True)
    text = "the published bags are longer than the originals"
    return Check("containment", False, text, (witness,))


def _misalignment(
    release: TypicalBags, alignment: Int64s, original: Bags, limit: int
) -> Check | None:
    """A failed check unless each bag goes to as many originals as it represents, none shorter."""
    count = len(release.classes)
    if len(alignment) != len(original) or (
        len(alignment) and not 0 <= alignment.min() <= alignment.max() < count
    ):
        text = f"the alignment must give each of {len(original)} originals one of {count} bags"
        return Check("containment", False, text)
    wrong = np.flatnonzero(np.bincount(alignment, minlength=count) != release.sizes)
    if len(wrong):
        items = release.classes.shown(int(wrong[0]))
        text = f"the bag {show_items(items)} is given to more or fewer originals than it represents"
        fit = "the alignment does not fit the sizes of the bags"
        return Check("containment", False, fit, (Witness(text, items),))
    short = np.flatnonzero(release.classes.totals[alignment] > original.totals)
    if not len(short):
        return None
    shown = short[:limit].tolist()
    witnesses = (_misfit(release, original, number, "is longer than it") for number in shown)
    text = f"{are(len(short), 'published bag')} longer than the original represented"
    return Check("containment", False, text, tuple(witnesses))


def _check_pairs(release: TypicalBags, original: Bags, question: Question) -> Check:
    """Whether each occurrence in a bag can be paired with one in each of its originals."""
    relation = Relation.of(release, original.vocabulary, question.hierarchy)
    if relation.partners is None:
        return _silent(release, question) or _check_owned(release, original, question)
    if release.by_majority and (few := _check_majority(release, original, question)) is not None:
        return few
    faults, classes = [], release.classes
    pairing = Pairing(classes, original, relation)
    assert release.alignment is not None
    for number, row in enumerate(release.alignment.tolist()):
        lost = pairing.lost(row, number)
        if lost is not None:
            item = release.items[classes.items[classes.indptr[row] + lost]]
            text = f"has {item}, which cannot represent any item that is left in it"
            faults.append(_misfit(release, original, number, text))
            if len(faults) == question.limit:
                break
    if faults:
        text = "a published bag cannot represent its original"
        return Check("containment", False, text, tuple(faults))
    text = "each published occurrence can be paired with one occurrence in each of its originals"
    if release.by_majority or (release.slots is None and release.hierarchy is None):
        text += f", {relation.words}"
    return Check("containment", True, text, compared=OWN, exact=True)


def _check_majority(release: TypicalBags, original: Bags, question: Question) -> Check | None:
    """A failed check unless the originals of each bag have its single items often enough."""
    assert release.alignment is not None and release.hierarchy is not None
    classes = release.classes
    at, counts = _own_entries(release, original)
    held = sums(at, np.minimum(counts, np.append(classes.counts, 0)[at]), len(classes.items) + 1)
    held = held[:-1]
    is_item = release.hierarchy.nodes.encode(release.items.labels) < release.hierarchy.leaf_count
    wrong = np.flatnonzero(
        is_item[classes.items] & (held < classes.counts * release.least_holders())
    )
    if not len(wrong):
        return None
    faults = []
    for entry in wrong[: question.limit].tolist():
        bag = classes.shown(int(classes.rows[entry]))
        text = f"the bag {show_items(bag)} has {release.items[classes.items[entry]]}"
        faults.append(Witness(f"{text}, which fewer than half of its originals have", bag))
    text = "a published bag has an item that fewer than half of its originals have"
    return Check("containment", False, text, tuple(faults))


def _check_owned(release: TypicalBags, original: Bags, question: Question) -> Check:
    """Whether the originals of each bag together have each of its items as often as it does."""
    classes = release.classes
    wrong = np.flatnonzero(
        sums(*_own_entries(release, original), len(classes.items) + 1)[:-1] < classes.counts
    )
    if not len(wrong):
        text = "no published bag is longer than the original it represents, and each of its items"
        text += f" is in at least one of its originals; {_not_compared(question)}"
        compared = "each bag has items of its own"
        return Check("containment", True, text, compared=compared)
    faults = []
    for at in wrong[: question.limit].tolist():
        bag = classes.shown(int(classes.rows[at]))
        text = f"the bag {show_items(bag)} has {release.items[classes.items[at]]}"
        faults.append(Witness(f"{text} more often than all its originals", bag, private=True))
    text = "a published bag has an item that none of its originals has"
    return Check("containment", False, text, tuple(faults))


def _own_entries(release: TypicalBags, original: Bags) -> tuple[Int64s, Int64s]:
    """For each original occurrence the entry that shows it, or one past the last; and its count."""
    assert release.alignment is not None
    classes, width = release.classes, max(len(release.items), 1)
    place = release.items.find(original.vocabulary)[original.items]
    codes = (release.alignment[original.rows] * width + place)[place >= 0]
    at = find(classes.rows * width + classes.items, codes) % (len(classes.items) + 1)
    return at, original.counts[place >= 0]


def _not_compared(question: Question) -> str:
    """What was not checked, and why, if it is not known which items a published one represents."""
    text = "whether its other originals have items of similar meaning was not checked"
    if question.hierarchy is None:
        return f"{text}, because that needs the hierarchy"
    return f"{text}, because releases of its age do not say how similar they must be"


def _misfit(release: TypicalBags, original: Bags, number: int, what: str) -> Witness:
    assert release.alignment is not None
    items = release.classes.shown(int(release.alignment[number]))
    own = original.shown(number)
    text = f"the bag {show_items(items)}, published for the original {show_items(own)}, {what}"
    return Witness(text, items, original=own, private=True)
