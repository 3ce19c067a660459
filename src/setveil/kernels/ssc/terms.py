"""Kernel of typical terms: one term for each slot, none more often than it occurs in the data."""

from typing import NamedTuple

import numpy as np

from setveil.kernels.arrays import Int64s
from setveil.kernels.jit import kernel


class Votes(NamedTuple):
    """The terms among which each slot chooses, the one that it wants most first."""

    starts: Int64s  # the candidates of slot i are starts[i] to starts[i + 1] - 1
    terms: Int64s
    weights: Int64s  # how many occurrences each slot publishes


@kernel
def share_out(votes, turns, totals):
    """The term of each slot: in turn, each takes its first one of which enough is left.

    If enough is left of none, it takes the first; it gets -1 if it has no candidates."""
    left, chosen = totals.copy(), np.full(len(turns), -1, np.int64)
    for slot in turns:
        start, stop = votes.starts[slot], votes.starts[slot + 1]
        for i in range(start, stop):
            if left[votes.terms[i]] >= votes.weights[slot]:
                chosen[slot] = votes.terms[i]
                break
        if chosen[slot] < 0 and start < stop:
            chosen[slot] = votes.terms[start]
        if chosen[slot] >= 0:
            left[chosen[slot]] -= votes.weights[slot]
    return chosen
