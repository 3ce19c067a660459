"""Releases do not change, neither by hand nor on the way to another process."""

from __future__ import annotations

import copy
import pickle
from dataclasses import fields

import numpy as np
import pytest

from setveil.data.transactions import Transactions
from setveil.hierarchy.tree import Hierarchy
from setveil.methods import METHODS
from setveil.promises import Coherence, KAnonymity, KmAnonymity, VocabularyKAnonymity

DATA = Transactions.of([["a", "b"], ["a", "b"], ["c"], ["c"]])
TREE = Hierarchy.balanced(DATA)
PROMISES = {
    "partition": KAnonymity(k=2),
    "suppression": Coherence(h=0.9, k=2, p=2),
    "ssc": VocabularyKAnonymity(k=2),
}


def arrays(thing):
    return {
        each.name: value
        for each in fields(thing)
        if isinstance(value := getattr(thing, each.name), np.ndarray)
    }


OF_SETS = [name for name, kind in METHODS.items() if kind.reads != "tables"]


@pytest.mark.parametrize("name", [name for name in OF_SETS if not METHODS[name].draws_noise])
def test_the_arrays_of_a_release_are_read_only(name):
    release = METHODS[name]().anonymize(DATA, PROMISES.get(name, KmAnonymity(k=2, m=2)), TREE)
    for twin in (release, copy.deepcopy(release), pickle.loads(pickle.dumps(release))):
        assert twin == release
        found = arrays(twin) | (
            arrays(twin.matches) if getattr(twin, "matches", None) is not None else {}
        )
        assert {"sizes", "alignment"} <= set(found)
        for array in found.values():
            with pytest.raises(ValueError, match="read-only"):
                array[:1] = 0
