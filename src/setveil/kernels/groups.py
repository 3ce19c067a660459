"""Kernel of the tree of groups: how wrong each group is expected to be about frequent pairs."""

from typing import NamedTuple

import numpy as np

from setveil.kernels.arrays import Floats, Int32s, Int64s
from setveil.kernels.jit import kernel, step


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
    """What is known of one cluster, and of the pairs of one group."""

    held: Int64s  # how many records of the cluster have each item
    chunk: Int32s  # of each item
    touched: Int64s  # the items of the cluster
    inside: Int64s  # how many of its records have each pair in one chunk
    errors: Floats  # of each pair: expected less true, over the clusters of the group so far


@kernel
def pair_errors(laid, wanted, groups):
    """For each group the sum over the pairs of |expected - true support| / support in all records.

    What is inside a chunk is exact. Else a b / s records of a cluster of s are expected to have two
    items that a and b of them have; an item of the term chunk counts once."""
    width, many = wanted.number.shape[0], len(wanted.supports)
    notes = Notes(
        np.zeros(width, np.int64),
        np.full(width, -1, np.int32),
        np.empty(width, np.int64),
        np.zeros(many, np.int64),
        np.zeros(many, np.float64),
    )
    met, is_met = np.empty(many, np.int64), np.zeros(many, np.bool_)
    errors = np.zeros(groups, np.float64)
    end = np.int64(0)
    for cluster in range(len(laid.group)):
        end = add_cluster(laid, wanted, cluster, notes, met, is_met, end)
        if cluster + 1 == len(laid.group) or laid.group[cluster + 1] != laid.group[cluster]:
            for i in range(end):
                pair = met[i]
                errors[laid.group[cluster]] += abs(notes.errors[pair]) / wanted.supports[pair]
                notes.errors[pair], is_met[pair] = 0.0, False
            end = np.int64(0)
    return errors


@step
def add_cluster(laid, wanted, cluster, notes, met, is_met, end):
    """Add what a cluster is expected to have of each pair, less what it has; lists the pairs."""
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
                    notes.errors[pair] -= 1
                    joined = laid.chunk[at] >= 0 and laid.chunk[at] == laid.chunk[other]
                    notes.inside[pair] += joined
    size = laid.bounds[cluster + 1] - laid.bounds[cluster]
    for i in range(distinct):
        for j in range(i):
            pair = wanted.number[notes.touched[i], notes.touched[j]]
            if pair >= 0:
                if not is_met[pair]:
                    met[end], is_met[pair] = pair, True
                    end += 1
                notes.errors[pair] += expected(
                    notes.touched[i], notes.touched[j], size, pair, notes
                )
                notes.inside[pair] = 0
    for i in range(distinct):
        notes.held[notes.touched[i]] = 0
    return end


@step
def expected(one, other, size, pair, notes):
    """How many records of a cluster are expected to have two of its items."""
    if notes.chunk[one] >= 0 and notes.chunk[one] == notes.chunk[other]:
        return float(notes.inside[pair])
    first = notes.held[one] if notes.chunk[one] >= 0 else 1
    second = notes.held[other] if notes.chunk[other] >= 0 else 1
    return first * second / size
