"""Steps of global recoding: raise the members of a threat until enough records hold them."""

from typing import NamedTuple

import numpy as np

from setveil.kernels.arrays import Int32s, Int64s
from setveil.kernels.jit import step
from setveil.kernels.steps import find


class Records(NamedTuple):
    """The records, and the records under each node."""

    indptr: Int64s
    leaves: Int32s
    starts: Int64s  # the records under node n are holders[starts[n]] to holders[starts[n + 1] - 1]
    holders: Int32s  # ascending for each node


class Cut(NamedTuple):
    """The node that is shown for each leaf, and the cost of what is shown under each node."""

    shown: Int32s
    cost: Int64s


@step
def raise_cheapest(records, tree, cut, members, k):
    """Raise members of a threat in the cheapest way that k records hold; False if there is none.

    All combinations of ancestors are tried, the last member first; of equal costs the first is
    taken. A combination that is too expensive or held by k records needs no higher ancestors of its
    last members."""
    targets, best, top = members.copy(), members.copy(), members.copy()
    least, bump = np.int64(-1), len(members) - 1
    while True:
        while bump >= 0 and tree.up[targets[bump]] < 0:
            targets[bump] = members[bump]
            bump -= 1
        if bump < 0:
            break
        targets[bump] = tree.up[targets[bump]]
        last, bump = bump, len(members) - 1
        # An odometer: `last` has just gone up, all members behind it are at their lowest. To raise
        # those too only costs more, so once this is too dear or enough, the wheel in front turns.
        tops, cost = topmost(tree, targets, top), np.int64(0)
        for i in range(tops):
            cost += tree.weight[top[i]] * tree.penalty[top[i]] - cut.cost[top[i]]
        is_dear = least >= 0 and cost >= least
        if is_dear or are_held(records, top[:tops], k):
            if not is_dear:
                least = cost
                for i in range(len(targets)):
                    best[i] = targets[i]
            targets[last] = members[last]
            bump = last - 1
    if least < 0:
        return False
    for i in range(topmost(tree, best, top)):
        apply_raise(tree, cut, top[i])
    return True


@step
def topmost(tree, targets, top):
    """Write the distinct targets that are under no other; returns their number."""
    count = 0
    for i in range(len(targets)):
        covered = False
        for j in range(len(targets)):
            one, other = targets[i], targets[j]
            if (other < one and tree.stop[one] <= tree.stop[other]) or (other == one and j < i):
                covered = True
        if not covered:
            top[count] = targets[i]
            count += 1
    return count


@step
def apply_raise(tree, cut, node):
    """Show a node for all leaves under it."""
    more = tree.weight[node] * tree.penalty[node] - cut.cost[node]
    for leaf in range(tree.first[node], tree.stop[node]):
        cut.shown[leaf] = node
    while node >= 0:
        cut.cost[node] += more
        node = tree.up[node]


@step
def are_held(records, nodes, k):
    """Whether k or more records hold all these nodes."""
    starts, rarest = records.starts, nodes[0]
    for node in nodes[1:]:
        if starts[node + 1] - starts[node] < starts[rarest + 1] - starts[rarest]:
            rarest = node
    if starts[rarest + 1] - starts[rarest] < k:
        return False
    count = 0
    for at in range(starts[rarest], starts[rarest + 1]):
        record, held = records.holders[at], True
        for node in nodes:
            if held and node != rarest:
                start, stop = records.starts[node], records.starts[node + 1]
                held = find(records.holders, start, stop, record) >= 0
        if held:
            count += 1
            if count >= k:
                return True
    return False
