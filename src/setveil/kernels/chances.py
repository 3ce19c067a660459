"""Kernel for expected supports: sums products of the chances that a record has some items."""

import numpy as np

from setveil.kernels.jit import kernel


@kernel
def sum_products(ptr, first, stop, chance, sizes, queries, width):
    """For each query, the sum over all records of its size times the chances of the query's items.

    Entry e of a record gives `chance[e]` to the items `first[e]` to `stop[e] - 1`; no two entries
    of a record give to the same item, and items without an entry have the chance 0. In queries,
    `width`, the number of items, fills shorter ones."""
    row, found = np.zeros(width + 1, np.float64), np.zeros(len(queries), np.float64)
    row[width] = 1.0
    longest = queries.shape[1]
    for record in range(len(sizes)):
        for entry in range(ptr[record], ptr[record + 1]):
            for item in range(first[entry], stop[entry]):
                row[item] = chance[entry]
        for number in range(len(queries)):
            product = row[queries[number, 0]]
            if product > 0.0:  # of most queries, a record has not even the first item
                for column in range(1, longest):
                    product *= row[queries[number, column]]
                found[number] += sizes[record] * product
        for entry in range(ptr[record], ptr[record + 1]):
            for item in range(first[entry], stop[entry]):
                row[item] = 0.0
    return found
