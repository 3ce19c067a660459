"""Kernel of typical terms: one for each slot, none too often and to too many people if avoidable."""

from typing import NamedTuple

import numpy as np

from setveil.kernels.arrays import Int64s
from setveil.kernels.jit import kernel, step


class Votes(NamedTuple):
    """The terms among which each slot chooses, the one that it wants most first."""

    starts: Int64s  # the candidates of slot i are starts[i] to starts[i + 1] - 1
    terms: Int64s
    pairs: Int64s  # a number for each term of each cluster
    sizes: Int64s  # how many people each slot is published for
    times: Int64s  # how often for each of them


class Left(NamedTuple):
    """How much of each term may still be published, and which pairs of cluster and term were."""

    occurrences: Int64s
    people: Int64s
    is_shown: Int64s


@kernel
def share_out(votes, turns, left):
    """The term of each slot, -1 if it has no candidates; `left` changes.

    In turn, each takes its first one of which enough is left: of its occurrences, and of the people
    who have it, unless the cluster shows it already. If there is none, it takes the one of which
    most occurrences are left."""
    chosen = np.full(len(turns), -1, np.int64)
    for slot in turns:
        best = find_term(votes, slot, left)
        if best >= 0:
            term, pair = votes.terms[best], votes.pairs[best]
            chosen[slot] = term
            left.occurrences[term] -= votes.sizes[slot] * votes.times[slot]
            left.people[term] -= (1 - left.is_shown[pair]) * votes.sizes[slot]
            left.is_shown[pair] = 1
    return chosen


@step
def find_term(votes, slot, left):
    """The place of the candidate that a slot takes."""
    best, size = np.int64(-1), votes.sizes[slot]
    for i in range(votes.starts[slot], votes.starts[slot + 1]):
        term = votes.terms[i]
        fits = left.is_shown[votes.pairs[i]] == 1 or left.people[term] >= size
        if fits and left.occurrences[term] >= size * votes.times[slot]:
            return np.int64(i)
        if best < 0 or left.occurrences[term] > left.occurrences[votes.terms[best]]:
            best = np.int64(i)
    return best
