"""Which terms of a large cluster occur together: what a chunk may not hold, and what it gains."""

from typing import NamedTuple

import numpy as np

from setveil.kernels.arrays import Floats, Int32s, Int64s
from setveil.kernels.jit import step
from setveil.kernels.steps import roomier

CONFLICT = -1.0
"""In place of a gain: the pair occurs, but in fewer than k records."""


class Rows(NamedTuple):
    """The records of a cluster over its frequent terms, which are numbered by falling support."""

    ptr: Int64s
    terms: Int64s  # ascending in each record


class Graph(NamedTuple):
    """The terms that each term occurs with; those of term a are ptr[a] to ptr[a + 1] - 1."""

    ptr: Int64s
    other: Int32s
    gain: Floats  # of having both in one chunk, or `CONFLICT`


@step
def lay_rows(terms, count, records):
    """The records over the first `count` terms, out of the records of each term."""
    begin, positions = terms.begin, terms.positions
    ptr = np.zeros(records + 1, np.int64)
    for at in range(begin[count]):
        ptr[positions[at] + 1] += 1
    for i in range(records):
        ptr[i + 1] += ptr[i]
    fill, rows = ptr.copy(), np.empty(begin[count], np.int64)
    for term in range(count):
        for at in range(begin[term], begin[term + 1]):
            rows[fill[positions[at]]] = term
            fill[positions[at]] += 1
    return Rows(ptr, rows)


@step
def make_graph(terms, count, rows, k):
    """Count all pairs of terms that occur together, and weigh them.

    A pair in c records of which independence explains e gains |c - e|^1.5: what cutting it apart
    would get wrong, with more weight on pairs for which that is much."""
    begin, positions, records = terms.begin, terms.positions, len(rows.ptr) - 1
    counts, touched = np.zeros(count + 1, np.int64), np.empty(count + 1, np.int64)
    less = np.zeros(count + 1, np.int64)  # the pairs of each term and a more frequent one
    others, sums = np.empty(1024, np.int64), np.empty(1024, np.int64)
    degree, edges = np.zeros(count + 1, np.int64), np.int64(0)
    for term in range(count):
        met = np.int64(0)
        for at in range(begin[term], begin[term + 1]):
            place = rows.ptr[positions[at]]
            other = rows.terms[place]
            while other < term:
                if counts[other] == 0:
                    touched[met] = other
                    met += 1
                counts[other] += 1
                place += 1
                other = rows.terms[place]
        others, sums = roomier(others, edges + met), roomier(sums, edges + met)
        for i in range(met):
            other = touched[i]
            others[edges], sums[edges] = other, counts[other]
            counts[other] = 0
            degree[other] += 1
            edges += 1
        degree[term] += met
        less[term + 1] = edges
    return link_pairs(terms, count, less, others, sums, degree, records, k)


@step
def link_pairs(terms, count, less, others, sums, degree, records, k):
    """The graph of pairs that are listed under their less frequent term."""
    ptr = np.zeros(count + 1, np.int64)
    for term in range(count):
        ptr[term + 1] = ptr[term] + degree[term]
        degree[term] = ptr[term]
    other_of, gain = np.empty(ptr[count], np.int32), np.empty(ptr[count], np.float64)
    for term in range(count):
        support = terms.begin[term + 1] - terms.begin[term]
        for at in range(less[term], less[term + 1]):
            other, weight = others[at], CONFLICT
            if sums[at] >= k:
                expected = support * (terms.begin[other + 1] - terms.begin[other]) / records
                weight = abs(sums[at] - expected)
                weight *= np.sqrt(weight)
            other_of[degree[term]], gain[degree[term]] = other, weight
            other_of[degree[other]], gain[degree[other]] = term, weight
            degree[term] += 1
            degree[other] += 1
    return Graph(ptr, other_of, gain)
