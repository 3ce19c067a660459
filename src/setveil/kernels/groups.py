"""Kernel of the tree of groups: how wrong each group is expected to be about frequent pairs."""

from typing import NamedTuple

import numpy as np

from setveil.kernels.arrays import Int32s, Int64s
from setveil.kernels.jit import kernel, step

NOTHING = 1e-9
"""A smaller error is none but for rounding."""


class Laid(NamedTuple):
    """Records of frequent items, cluster by cluster; the clusters of a group are neighbours."""

    indptr: Int64s
    items: Int32s
    chunk: Int32s  # of each occurrence, within its cluster; -1 in the term chunk
    bounds: Int64s  # where each cluster begins among the records, and the end
    group: Int64s  # of each cluster, ascending


class Wanted(NamedTuple):
    """The frequent pairs."""

    number: Int32s  # [item, item] -> the pair, or -1
    supports: Int64s  # in all records


class Notes(NamedTuple):
    """What is known of one cluster."""

    held: Int64s  # how many records of the cluster have each item
    chunk: Int32s  # of each item
    touched: Int64s  # the items of the cluster
    inside: Int64s  # how many of its records have each pair in one chunk


@kernel
def pair_errors(laid, wanted, groups):
    """For each group and pair (expected - true support) / support in all records; of each group the
    pairs with an error, ascending, and their errors, one group after the other.

    What is inside a chunk is exact. Else a b / s records of a cluster of s are expected to have two
    items that a and b of them have; an item of the term chunk counts once."""
    width, many = wanted.number.shape[0], len(wanted.supports)
    notes = Notes(
        np.zeros(width, np.int64),
        np.full(width, -1, np.int32),
        np.empty(width, np.int64),
        np.zeros(many, np.int64),
    )
    errors, bounds = np.zeros(many, np.float64), np.zeros(groups + 1, np.int64)
    pairs, found = np.empty(many + groups, np.int32), np.empty(many + groups, np.float64)
    cluster, end = np.int64(0), np.int64(0)
    for group in range(groups):
        while cluster < len(laid.group) and laid.group[cluster] == group:
            add_cluster(laid, wanted, cluster, notes, errors)
            cluster += 1
        if end + many > len(pairs):
            pairs = np.append(pairs, np.empty(len(pairs) + many, np.int32))
            found = np.append(found, np.empty(len(found) + many, np.float64))
        for pair in range(many):
            if abs(errors[pair]) > NOTHING:
                pairs[end], found[end] = pair, errors[pair] / wanted.supports[pair]
                end += 1
            errors[pair] = 0.0
        bounds[group + 1] = end
    return bounds, pairs[:end], found[:end]


@kernel
def add_errors(bounds, pairs, errors, groups, totals):
    """Add the errors of some groups to the totals of each pair."""
    for group in groups:
        for at in range(bounds[group], bounds[group + 1]):
            totals[pairs[at]] += errors[at]


@kernel
def weigh_errors(bounds, pairs, errors, weights):
    """For each group the sum of its errors times the weights of their pairs."""
    sums = np.zeros(len(bounds) - 1, np.float64)
    for group in range(len(sums)):
        for at in range(bounds[group], bounds[group + 1]):
            sums[group] += errors[at] * weights[pairs[at]]
    return sums


@step
def add_cluster(laid, wanted, cluster, notes, errors):
    """Add to the errors what a cluster is expected to have of each pair, less what it has."""
    distinct = np.int64(0)
    for record in range(laid.bounds[cluster], laid.bounds[cluster + 1]):
        for at in range(laid.indptr[record], laid.indptr[record + 1]):
            item = laid.items[at]
            if notes.held[item] == 0:
                notes.touched[distinct] = item
                notes.chunk[item] = laid.chunk[at]
                distinct += 1
            notes.held[item] += 1
            for other in range(laid.indptr[record], at):
                pair = wanted.number[item, laid.items[other]]
                if pair >= 0:
                    errors[pair] -= 1
                    joined = laid.chunk[at] >= 0 and laid.chunk[at] == laid.chunk[other]
                    notes.inside[pair] += joined
    size = laid.bounds[cluster + 1] - laid.bounds[cluster]
    for i in range(distinct):
        for j in range(i):
            one, other = notes.touched[i], notes.touched[j]
            pair = wanted.number[one, other]
            if pair >= 0:
                errors[pair] += expected(one, other, size, pair, notes)
                notes.inside[pair] = 0
    for i in range(distinct):
        notes.held[notes.touched[i]] = 0


@step
def expected(one, other, size, pair, notes):
    """How many records of a cluster are expected to have two of its items."""
    if notes.chunk[one] >= 0 and notes.chunk[one] == notes.chunk[other]:
        return float(notes.inside[pair])
    first = notes.held[one] if notes.chunk[one] >= 0 else 1
    second = notes.held[other] if notes.chunk[other] >= 0 else 1
    return first * second / size
