"""Kernel of matching: the assignment of greatest gain between two sides, each of whose members may be taken a number of times.

Shortest augmenting paths with dual variables (Jonker and Volgenant), on a sparse graph. What is left unmatched gains nothing, which is
the matching with nil terms of [Liu2010b] section III-B: a pair of distance d that is matched gains 2 omega - d over leaving both apart.
A search walks only through the connected part that it starts in. The kernels of `kernels/ssc/` compile `assign` into their own.
"""

from __future__ import annotations

import numpy as np

from setveil.kernels.jit import kernel, step


@kernel
def match_table(gains, supply, demand):
    """The assignment of a dense table of gains; entries of 0 or less are no pairs.

    Args:
        gains: Gain of each row with each column.
        supply: How often each row may be matched.
        demand: How often each column may be matched.

    Returns:
        How often each row is matched with each column, and the sum of the gains.
    """
    rows, columns = gains.shape
    starts, ends = np.zeros(rows + 1, np.int64), np.empty(rows * columns, np.int64)
    values, edges = np.empty(rows * columns, np.int64), 0
    for row in range(rows):
        for column in range(columns):
            if gains[row, column] > 0:
                ends[edges], values[edges] = column, gains[row, column]
                edges += 1
        starts[row + 1] = edges
    flow, total = assign(starts, ends[:edges], values[:edges], supply, demand, np.int64(0))
    times = np.zeros((rows, columns), np.int64)
    for row in range(rows):
        for edge in range(starts[row], starts[row + 1]):
            times[row, ends[edge]] = flow[edge]
    return times, total


@step
def assign(starts, ends, gains, supply, demand, need):
    """How often each pair is matched, and the sum of the gains; -1 as soon as it is sure to be below `need`.

    The pairs of row i are `starts[i]` to `starts[i + 1] - 1`, with the columns `ends` and the `gains`, all above 0. At all times
    `up[row] + across[column] >= gain` for every pair, with equality where it is matched; a row whose `up` or a column whose `across` is
    above 0 and was looked at is matched as often as it may. So the sum of both, weighted, bounds the gain from above, and falls to it.
    """
    rows, columns = len(supply), len(demand)
    flow = np.zeros(len(ends), np.int64)
    up, across = np.zeros(rows, np.int64), np.zeros(columns, np.int64)
    left, room = supply.copy(), demand.copy()
    begins, entries, bound = reach_from_columns(rows, starts, ends, gains, up, supply, demand)
    if bound < need:
        return flow, np.int64(-1)
    bound = np.int64(0)
    for row in range(rows):
        bound += up[row] * supply[row]
        for edge in range(starts[row], starts[row + 1]):
            if gains[edge] == up[row] and left[row] > 0 and room[ends[edge]] > 0:
                taken = min(left[row], room[ends[edge]])
                flow[edge] += taken
                left[row] -= taken
                room[ends[edge]] -= taken
    owner = np.empty(len(ends), np.int64)
    for row in range(rows):
        owner[starts[row] : starts[row + 1]] = row
    row_seen, column_seen = np.full(rows, -1, np.int64), np.full(columns, -1, np.int64)
    row_far, column_far = np.empty(rows, np.int64), np.empty(columns, np.int64)
    row_by, column_by = np.empty(rows, np.int64), np.empty(columns, np.int64)
    walked, opened, stamp = np.empty(rows, np.int64), np.empty(columns, np.int64), np.int64(0)
    for row in range(rows):
        while left[row] > 0 and up[row] > 0:
            stamp += 1
            row_seen[row], row_far[row], row_by[row] = stamp, 0, -1
            walked[0], steps, nodes, closed = row, np.int64(1), np.int64(0), np.int64(0)
            least, end_row, end_column, here = up[row], row, np.int64(-1), np.int64(0)
            while True:
                while (
                    here < steps
                ):  # look along the pairs of every row that was reached and not yet looked at
                    at = walked[here]
                    for edge in range(starts[at], starts[at + 1]):
                        column = ends[edge]
                        far = row_far[at] + up[at] + across[column] - gains[edge]
                        if far >= least:
                            continue
                        if column_seen[column] != stamp:
                            column_seen[column] = stamp
                            opened[nodes] = column
                            nodes += 1
                        elif column_far[column] <= far:
                            continue
                        column_far[column], column_by[column] = far, edge
                    here += 1
                best = np.int64(-1)
                for i in range(closed, nodes):  # the nearest column that is still open
                    if best < 0 or column_far[opened[i]] < column_far[opened[best]]:
                        best = i
                if best < 0 or column_far[opened[best]] >= least:
                    break
                column = opened[best]
                opened[best] = opened[closed]
                opened[closed] = column
                if room[column] > 0:
                    least, end_column = column_far[column], column
                    break
                closed += 1
                for i in range(begins[column], begins[column + 1]):
                    edge = entries[i]
                    other = owner[edge]
                    if flow[edge] > 0 and row_seen[other] != stamp:
                        row_seen[other], row_far[other], row_by[other] = (
                            stamp,
                            column_far[column],
                            edge,
                        )
                        walked[steps] = other
                        steps += 1
                        if row_far[other] + up[other] < least:
                            least, end_row = row_far[other] + up[other], other
            for i in range(steps):
                change = max(least - row_far[walked[i]], 0)
                up[walked[i]] -= change
                bound -= change * supply[walked[i]]
            for i in range(closed):
                change = max(least - column_far[opened[i]], 0)
                across[opened[i]] += change
                bound += change * demand[opened[i]]
            if bound < need:
                return flow, np.int64(-1)
            if end_column < 0 and end_row == row:
                break
            augment(row, end_row, end_column, left, room, flow, owner, ends, row_by, column_by)
    return flow, bound


@step
def reach_from_columns(rows, starts, ends, gains, up, supply, demand):
    """The pairs of each column, the greatest gain of each row in `up`, and the least of two simple bounds on the sum of all gains."""
    columns = len(demand)
    begins, entries, most = (
        np.zeros(columns + 1, np.int64),
        np.empty(len(ends), np.int64),
        np.zeros(columns, np.int64),
    )
    by_row, by_column = np.int64(0), np.int64(0)
    for row in range(rows):
        for edge in range(starts[row], starts[row + 1]):
            begins[ends[edge] + 1] += 1
            up[row] = max(up[row], gains[edge])
            most[ends[edge]] = max(most[ends[edge]], gains[edge])
        by_row += up[row] * supply[row]
    for column in range(columns):
        begins[column + 1] += begins[column]
        by_column += most[column] * demand[column]
        most[column] = begins[column]
    for edge in range(len(ends)):
        entries[most[ends[edge]]] = edge
        most[ends[edge]] += 1
    return begins, entries, min(by_row, by_column)


@step
def augment(row, end_row, end_column, left, room, flow, owner, ends, row_by, column_by):
    """Match `row` along the path that ends in a column with room, or in a row that gives up a match."""
    amount = left[row]
    at = end_row
    if end_column >= 0:
        amount = min(amount, room[end_column])
        at = owner[column_by[end_column]]
    while at != row:
        amount = min(amount, flow[row_by[at]])
        at = owner[column_by[ends[row_by[at]]]]
    at = end_row
    if end_column >= 0:
        room[end_column] -= amount
        flow[column_by[end_column]] += amount
        at = owner[column_by[end_column]]
    else:
        left[end_row] += amount
    while at != row:
        flow[row_by[at]] -= amount
        edge = column_by[ends[row_by[at]]]
        flow[edge] += amount
        at = owner[edge]
    left[row] -= amount
