"""Releases of vocabularies made by hand: groups of people, and the slots that their occurrences
are matched to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from setveil.data.transactions import Bags
from setveil.hierarchy.neighbours import common_ancestors
from setveil.hierarchy.tree import Hierarchy
from setveil.promises import VocabularyKAnonymity
from setveil.published.typical_bags import Matches, TypicalBags

TREE = Hierarchy.from_paths(
    [
        ("Wine", "Alcohol", "Edibles", "Goods"),
        ("Vino", "Alcohol", "Edibles", "Goods"),
        ("Raw-milk", "Milk", "Edibles", "Goods"),
        ("Homo-milk", "Milk", "Edibles", "Goods"),
        ("Jackets", "Clothes", "Wearables", "Goods"),
        ("Pants", "Clothes", "Wearables", "Goods"),
        ("Boots", "Footwear", "Wearables", "Goods"),
        ("Shoes", "Footwear", "Wearables", "Goods"),
    ]
)
"""The tree of the running example. [Liu2010b]"""

ORIGINAL = Bags.of(
    [
        {"Wine": 2, "Jackets": 1, "Boots": 1},
        {"Vino": 2, "Jackets": 1, "Shoes": 1},
        {"Wine": 1, "Vino": 1, "Raw-milk": 1, "Jackets": 1, "Shoes": 1},
        {"Vino": 1, "Raw-milk": 2, "Homo-milk": 1},
        {"Raw-milk": 1, "Homo-milk": 2, "Jackets": 1, "Pants": 1},
    ]
)
"""t1 to t5 of the running example."""

GROUPS = [
    (
        [0, 1, 2],
        ["Wine Vino Wine", "Wine Vino Vino", "Jackets Jackets Jackets", "Boots Shoes Shoes"],
    ),
    ([3, 4], ["Raw-milk Raw-milk", "Raw-milk Homo-milk", "Homo-milk Homo-milk"]),
]
"""Two groups of records; each slot as the item of each of them."""

Groups = Sequence[tuple[Sequence[int], Sequence[str]]]


def publish(
    groups: Groups = GROUPS, typical: str = "majority", original: Bags = ORIGINAL, k: int = 2
) -> TypicalBags:
    """The release of these groups, with its private alignment and matches."""
    rows, slots, numbers, records, items, places = [], [], [], [], [], []
    alignment = np.full(len(original), -1, dtype=np.int64)
    for group, (people, columns) in enumerate(groups):
        alignment[list(people)] = group
        for column in columns:
            words = column.split()
            assert len(words) == len(people)
            rows.append(group)
            slots.append(Counter(words))
            records += people
            items += [original.vocabulary.number(word) for word in words]
            places += [len(rows) - 1] * len(words)
    matches = Matches(
        np.array(records, dtype=np.int64),
        np.array(items, dtype=np.int32),
        np.array(places, dtype=np.int64),
    )
    method = {"name": "ssc", "epsilon": 4, "omega": 10, "typical": typical}
    options = {"alignment": alignment, "matches": matches, "epsilon": 4, "omega": 10.0}
    promise = VocabularyKAnonymity(k=k)
    numbers = np.arange(len(slots), dtype=np.int32)
    if typical == "slots":
        bags = Bags.of([{str(number): 1} for number in numbers.tolist()])
        taken = Bags.from_pairs(np.array(rows), numbers, bags.vocabulary, size=len(groups))
        return TypicalBags.of_rows(taken, promise, method, slots=Bags.of(slots), **options)
    if typical == "generalized":
        leaves = TREE.leaf_numbers(original.vocabulary)[matches.items]
        labels = [
            TREE.labels[node]
            for node in common_ancestors(TREE, matches.slots, leaves, len(slots)).tolist()
        ]
        options["hierarchy"] = TREE
    else:
        labels = [slot.most_common(1)[0][0] for slot in slots]
    if typical == "mixed":
        leaves = TREE.leaf_numbers(original.vocabulary)[matches.items]
        nodes = common_ancestors(TREE, matches.slots, leaves, len(slots)).tolist()
        labels = [
            label if 2 * slot[label] >= slot.total() else TREE.labels[node]
            for label, slot, node in zip(labels, slots, nodes, strict=True)
        ]
        options |= {"hierarchy": TREE, "by_majority": True, "same_branch": True, "epsilon": None}
    bags = [
        Counter(label for label, row in zip(labels, rows, strict=True) if row == group)
        for group in range(len(groups))
    ]
    return TypicalBags.of_rows(Bags.of(bags), promise, method, **options)
