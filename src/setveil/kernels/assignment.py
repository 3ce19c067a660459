"""Steps of matching: the assignment of greatest gain between two sides.

Shortest augmenting paths with dual variables (Jonker and Volgenant), on a sparse graph. An
unmatched row or column gains nothing. This is the matching with nil terms of [Liu2010b] section
III-B: a matched pair of distance d gains 2 omega - d over leaving both unmatched."""

from typing import NamedTuple

import numpy as np

from setveil.kernels.arrays import Int64s
from setveil.kernels.jit import step


class Pairs(NamedTuple):
    """What may be matched: the pairs of row i are `starts[i]` to `starts[i + 1] - 1`."""

    starts: Int64s
    ends: Int64s  # the column of each pair
    gains: Int64s  # of each pair, above 0
    supply: Int64s  # how often each row may be matched
    demand: Int64s  # how often each column may be matched


class Matching(NamedTuple):
    """How often each pair is matched, what is left of each side, and the dual variables.

    At all times `up[row] + across[column] >= gain` for every pair, with equality if it is matched.
    Once a row was searched, it is matched as often as it may be unless its `up` is 0, and so is
    every column whose `across` is above 0. So the weighted sum of both bounds the gain from above,
    and falls to it."""

    flow: Int64s
    left: Int64s  # of the supply
    room: Int64s  # of the demand
    up: Int64s
    across: Int64s


class Paths(NamedTuple):
    """Room to search for paths; what a search has reached has its number in `seen`."""

    owner: Int64s  # the row of each pair
    begins: Int64s  # the pairs of column j are entries[begins[j]] to entries[begins[j + 1] - 1]
    entries: Int64s
    row_seen: Int64s
    row_far: Int64s  # the length of the shortest path to the row
    row_by: Int64s  # the last pair on that path
    column_seen: Int64s
    column_far: Int64s
    column_by: Int64s
    walked: Int64s  # the rows that were reached
    opened: Int64s  # the columns that were reached, those whose distance is final first


@step
def assign(pairs, need):
    """How often each pair is matched, and the total gain: -1 once it is sure to be below `need`."""
    rows, columns = len(pairs.supply), len(pairs.demand)
    up, across = np.zeros(rows, np.int64), np.zeros(columns, np.int64)
    flow = np.zeros(len(pairs.ends), np.int64)
    matching = Matching(flow, pairs.supply.copy(), pairs.demand.copy(), up, across)
    if simple_bound(pairs, up) < need:
        return flow, np.int64(-1)
    bound, is_done = match_greedily(pairs, matching)
    if is_done:
        return flow, bound
    paths = new_paths(pairs)
    stamp = np.int64(0)
    for row in range(rows):
        while matching.left[row] > 0 and up[row] > 0:
            stamp += 1
            least, end_row, end_column, steps, closed = find_path(
                pairs, matching, paths, np.int64(row), stamp
            )
            bound += shift_duals(pairs, matching, paths, steps, closed, least)
            if bound < need:
                return flow, np.int64(-1)
            if end_column < 0 and end_row == row:
                break
            augment(pairs, matching, paths, np.int64(row), end_row, end_column)
    return flow, bound


@step
def simple_bound(pairs, up):
    """A bound on the total gain: every row, or every column, gets its best pair. Fills `up`."""
    best = np.zeros(len(pairs.demand), np.int64)
    by_row, by_column = np.int64(0), np.int64(0)
    for row in range(len(pairs.supply)):
        for edge in range(pairs.starts[row], pairs.starts[row + 1]):
            up[row] = max(up[row], pairs.gains[edge])
            best[pairs.ends[edge]] = max(best[pairs.ends[edge]], pairs.gains[edge])
        by_row += up[row] * pairs.supply[row]
    for column in range(len(best)):
        by_column += best[column] * pairs.demand[column]
    return min(by_row, by_column)


@step
def match_greedily(pairs, matching):
    """Match each row by its best pairs while there is room; the sum of the duals, and if done."""
    left, room, up = matching.left, matching.room, matching.up
    bound, is_done = np.int64(0), True
    for row in range(len(left)):
        bound += up[row] * left[row]
        for edge in range(pairs.starts[row], pairs.starts[row + 1]):
            column = pairs.ends[edge]
            if pairs.gains[edge] == up[row] and left[row] > 0 and room[column] > 0:
                taken = min(left[row], room[column])
                matching.flow[edge] += taken
                left[row] -= taken
                room[column] -= taken
        is_done = is_done and (left[row] == 0 or up[row] == 0)
    return bound, is_done


@step
def new_paths(pairs):
    rows, columns = len(pairs.supply), len(pairs.demand)
    owner, entries = np.empty(len(pairs.ends), np.int64), np.empty(len(pairs.ends), np.int64)
    begins = np.zeros(columns + 1, np.int64)
    for row in range(rows):
        for edge in range(pairs.starts[row], pairs.starts[row + 1]):
            owner[edge] = row
            begins[pairs.ends[edge] + 1] += 1
    for column in range(columns):
        begins[column + 1] += begins[column]
    fill = begins.copy()
    for edge in range(len(pairs.ends)):
        entries[fill[pairs.ends[edge]]] = edge
        fill[pairs.ends[edge]] += 1
    of_row, of_column = np.zeros((4, rows), np.int64), np.zeros((4, columns), np.int64)
    return Paths(
        owner,
        begins,
        entries,
        of_row[0],
        of_row[1],
        of_row[2],
        of_column[0],
        of_column[1],
        of_column[2],
        of_row[3],
        of_column[3],
    )


@step
def find_path(pairs, matching, paths, row, stamp):
    """The shortest path from a row to a column with room, or to a row that gives up a match.

    Dijkstra's search. The length of a pair is `up + across - gain`: never below 0, by the invariant
    of `Matching`, and 0 if it is matched.

    Returns: Its length, its last row, its last column (-1 if it ends in a row), and how many rows
        and columns have a final distance."""
    paths.row_seen[row], paths.row_far[row] = stamp, 0
    paths.walked[0] = row
    steps, nodes, closed, here = np.int64(1), np.int64(0), np.int64(0), np.int64(0)
    least, end_row = matching.up[row], row
    while True:
        while here < steps:  # follow the pairs of every row that is new among the reached ones
            nodes = open_columns(pairs, matching, paths, here, nodes, least)
            here += 1
        best = np.int64(-1)
        for i in range(closed, nodes):  # the nearest column that is still open
            if best < 0 or paths.column_far[paths.opened[i]] < paths.column_far[paths.opened[best]]:
                best = i
        if best < 0 or paths.column_far[paths.opened[best]] >= least:
            return least, end_row, np.int64(-1), steps, closed
        column = paths.opened[best]
        paths.opened[best] = paths.opened[closed]
        paths.opened[closed] = column
        if matching.room[column] > 0:
            return paths.column_far[column], end_row, column, steps, closed
        closed += 1
        for i in range(paths.begins[column], paths.begins[column + 1]):
            edge = paths.entries[i]
            other = paths.owner[edge]
            if matching.flow[edge] > 0 and paths.row_seen[other] != stamp:
                far = paths.column_far[column]
                paths.row_seen[other], paths.row_far[other], paths.row_by[other] = stamp, far, edge
                paths.walked[steps] = other
                steps += 1
                if far + matching.up[other] < least:
                    least, end_row = far + matching.up[other], other


@step
def open_columns(pairs, matching, paths, place, nodes, least):
    """Open the columns of a reached row that are nearer than `least`; how many are open now."""
    row = paths.walked[place]
    stamp, start = paths.row_seen[row], paths.row_far[row] + matching.up[row]
    for edge in range(pairs.starts[row], pairs.starts[row + 1]):
        column = pairs.ends[edge]
        far = start + matching.across[column] - pairs.gains[edge]
        if far >= least:
            continue
        if paths.column_seen[column] != stamp:
            paths.column_seen[column] = stamp
            paths.opened[nodes] = column
            nodes += 1
        elif paths.column_far[column] <= far:
            continue
        paths.column_far[column], paths.column_by[column] = far, edge
    return nodes


@step
def shift_duals(pairs, matching, paths, steps, closed, least):
    """Adjust the duals of all nodes nearer than `least`; how much their weighted sum changes."""
    # The duals of a pair fall by the difference of the two distances, which is at most its length.
    # So none gets below its gain, and those on the shortest path end at it: they may be matched.
    total = np.int64(0)
    for i in range(steps):
        row = paths.walked[i]
        change = max(least - paths.row_far[row], 0)
        matching.up[row] -= change
        total -= change * pairs.supply[row]
    for i in range(closed):
        column = paths.opened[i]
        change = max(least - paths.column_far[column], 0)
        matching.across[column] += change
        total += change * pairs.demand[column]
    return total


@step
def augment(pairs, matching, paths, row, end_row, end_column):
    """Match `row` along the path, as often as the narrowest pair on it allows."""
    flow, owner, ends = matching.flow, paths.owner, pairs.ends
    row_by, column_by = paths.row_by, paths.column_by
    # The path alternates: pairs to match more (`column_by`) and less (`row_by`). The `up` of a row
    # in which it ends is 0 now, so that row may lose a match.
    last = end_row if end_column < 0 else owner[column_by[end_column]]
    amount = matching.left[row]
    if end_column >= 0:
        amount = min(amount, matching.room[end_column])
    at = last
    while at != row:
        amount = min(amount, flow[row_by[at]])
        at = owner[column_by[ends[row_by[at]]]]
    if end_column >= 0:
        matching.room[end_column] -= amount
        flow[column_by[end_column]] += amount
    else:
        matching.left[end_row] += amount
    at = last
    while at != row:
        flow[row_by[at]] -= amount
        edge = column_by[ends[row_by[at]]]
        flow[edge] += amount
        at = owner[edge]
    matching.left[row] -= amount
