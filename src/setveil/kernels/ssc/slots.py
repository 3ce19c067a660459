"""Kernels of slots: what the members of a cluster publish as one, and under which term."""

from typing import NamedTuple

import numpy as np

from setveil.kernels.arrays import Int32s, Int64s
from setveil.kernels.jit import kernel, step
from setveil.kernels.ssc.profiles import clear_common, new_common, set_common
from setveil.kernels.steps import roomier


class Made(NamedTuple):
    """The slots of all clusters so far."""

    times: Int64s
    leaves: Int32s  # one per member
    used: Int64s  # how many slots there are, and how many leaves


class Pieces(NamedTuple):
    """What each member of a cluster gives to the slots of one node: leaves, and how often each."""

    bounds: Int64s
    leaves: Int32s
    times: Int64s


@kernel
def fill_slots(block, members, bounds):
    """The slots of each cluster that the common profile of its members allows.

    Nodes are visited from the lowest up, and each makes the slots that its children could not: it
    has enough occurrences left in every member. The lowest node over a slot is the one that made
    it, because a child has no more slots to give. What is only below the root is not published.

    Returns: How many slots each cluster has; how often each slot occurs, one cluster after the
        other; and the leaves of the slots, one per member."""
    common, nodes = new_common(block), len(block.tree.parent)
    own, holders = np.zeros(nodes, np.int64), np.zeros(nodes, np.int64)
    left, counts = block.times.copy(), np.zeros(len(bounds) - 1, np.int64)
    made = Made(np.empty(len(members), np.int64), np.empty(64, np.int32), np.zeros(2, np.int64))
    for cluster in range(len(bounds) - 1):
        held, before = members[bounds[cluster] : bounds[cluster + 1]], made.used[0]
        touched = set_common(block, held, np.int64(-1), common)
        pieces = count_holders(block, held, holders)
        for i in range(touched):
            node = common.touched[i]
            own[node] += common.least[node]
            if block.tree.parent[node] >= 0:
                own[block.tree.parent[node]] -= common.least[node]
        for node in range(nodes - 1, -1, -1):
            if own[node] > 0:
                give(block, held, left, holders, node, own[node], pieces)
                made = add_slots(made, pieces, own[node])
            own[node] = 0
        clear_common(common, touched)
        for row in held:
            for i in range(block.starts[row], block.starts[row + 1]):
                holders[block.leaves[i]] = 0
        counts[cluster] = made.used[0] - before
    return counts, made.times[: made.used[0]], made.leaves[: made.used[1]]


@step
def count_holders(block, members, holders):
    """Count the members that have each leaf; returns room for the pieces of one node."""
    terms = np.int64(0)
    for row in members:
        terms += block.starts[row + 1] - block.starts[row]
        for i in range(block.starts[row], block.starts[row + 1]):
            holders[block.leaves[i]] += 1
    size = len(members) + 1
    return Pieces(np.zeros(size, np.int64), np.empty(terms, np.int32), np.empty(terms, np.int64))


@step
def give(block, members, left, holders, node, wanted, pieces):
    """Take `wanted` occurrences below a node from each member.

    First come the terms that most members have, then the first in the tree: so equal terms meet."""
    to = np.int64(0)
    for place in range(len(members)):
        row, missing = members[place], wanted
        stop = block.starts[row + 1]
        begin = first_leaf(block, block.starts[row], stop, block.tree.first[node])
        while missing > 0:
            best = np.int64(-1)
            for i in range(begin, stop):
                leaf = block.leaves[i]
                if block.tree.first[leaf] >= block.tree.stop[node]:
                    break
                if left[i] > 0 and (best < 0 or holders[leaf] > holders[block.leaves[best]]):
                    best = np.int64(i)
            taken = min(missing, left[best])
            left[best] -= taken
            missing -= taken
            pieces.leaves[to], pieces.times[to] = block.leaves[best], taken
            to += 1
        pieces.bounds[place + 1] = to


@step
def first_leaf(block, low, high, target):
    """The first term of a bag, in the tree's order, that is not before a leaf."""
    while low < high:
        middle = (low + high) // 2
        if block.tree.first[block.leaves[middle]] < target:
            low = middle + 1
        else:
            high = middle
    return low


@step
def add_slots(made, pieces, wanted):
    """Add the slots of one node: the pieces of all members side by side, cut where one ends."""
    size = len(pieces.bounds) - 1
    at = pieces.bounds[:size].copy()
    while wanted > 0:
        times = wanted
        for place in range(size):
            times = min(times, pieces.times[at[place]])
        slot, leaf = made.used[0], made.used[1]
        made = Made(roomier(made.times, slot + 1), roomier(made.leaves, leaf + size), made.used)
        made.times[slot] = times
        for place in range(size):
            made.leaves[leaf + place] = pieces.leaves[at[place]]
            pieces.times[at[place]] -= times
            if pieces.times[at[place]] == 0:
                at[place] += 1
        made.used[0], made.used[1] = slot + 1, leaf + size
        wanted -= times
    return made


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
