"""What the method Groups publishes of people with several rows, against every adversary who knows
all columns of a person and some items: k people are found in some possible original."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np

import setveil as sv
from setveil.data.columns import Table
from setveil.data.tables.frames import joined
from setveil.data.transactions import Transactions
from setveil.errors import InfeasibleError
from setveil.hierarchy.unknown import rooted
from tests.audit.grouping import below_of, groups_of, people_of
from tests.oracle.grouped import violations
from tests.proofs import proof
from tests.tables import ITEMS, random_table

WITHIN = ("disassociation", "partition", "apriori", "mhghs", "suppression")
FEW = {"disassociation": 8}  # clusters have too many possible originals above it


def people_with_rows(random, most):
    """A table of people, each of whom has one row or several with items of their own."""
    people = random_table(random, random.randrange(2, most))
    rows = [(at, items) for at, items in enumerate(people)]
    rows += [
        (random.randrange(len(people)), random.sample("abcd", random.randint(0, 2)))
        for _ in range(random.randrange(len(people)))
    ]
    owners, sets = zip(*rows, strict=True)
    columns = [
        column if column.tree is None else replace(column, tree=rooted(column.tree, [""]))
        for column in people.columns
    ]
    return Table.beside(joined(Transactions.of(sets), np.array(owners)), columns)


def publish(seed):
    """A table, its release, and what it promises; None if too few people have items."""
    random = Random(seed)
    within = random.choice(WITHIN)
    k, m = random.choice([2, 3]), random.choice([1, 2, "all"])
    data = people_with_rows(random, FEW.get(within, 14))
    method = sv.Groups(within=within, columns_matter=random.choice([0, 0.5, 1]))
    needs_tree = sv.METHODS[within].needs_hierarchy
    try:
        release = method.anonymize(data, sv.Columns(k=k, m=m), ITEMS if needs_tree else None)
    except InfeasibleError:
        return None
    return data, release, k, 4 if m == "all" else m


@proof(20_000, quick=30)
def test_every_adversary_finds_k_people_in_what_groups_publishes(seeds):
    for seed in seeds:
        case = publish(seed)
        if case is None:
            continue
        data, release, k, m = case
        assert not list(
            violations(people_of(data), groups_of(release, data), below_of(release), k, m)
        )
