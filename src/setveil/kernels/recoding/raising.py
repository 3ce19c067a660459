"""Steps of global recoding: raise the members of a threat in the tree until enough records hold what stands for them."""

from __future__ import annotations

import numpy as np

from setveil.kernels.jit import step


@step
def raise_cheapest(data, tree, shown, current, members, size, k):
    """Raise members of a threat in the cheapest way; of equals the one that raises the last ones first. False when there is none."""
    targets, best, top = members[:size].copy(), members[:size].copy(), members[:size].copy()
    least, bump = np.int64(-1), size - 1
    while True:
        while bump >= 0 and tree.up[targets[bump]] < 0:
            targets[bump] = members[bump]
            bump -= 1
        if bump < 0:
            break
        targets[bump] = tree.up[targets[bump]]
        last, bump = bump, size - 1
        tops, cost = topmost(tree, targets, top), np.int64(0)
        for i in range(tops):
            cost += tree.weight[top[i]] * tree.penalty[top[i]] - current[top[i]]
        dear = least >= 0 and cost >= least
        if dear or stands(data, top, tops, k):
            if not dear:
                least = cost
                best[:] = targets
            targets[last] = members[last]
            bump = last - 1
    if least < 0:
        return False
    for i in range(topmost(tree, best, top)):
        apply_raise(tree, shown, current, top[i])
    return True


@step
def topmost(tree, targets, top):
    """Write the distinct targets that lie under no other; returns their number."""
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
def apply_raise(tree, shown, current, node):
    more = tree.weight[node] * tree.penalty[node] - current[node]
    for leaf in range(tree.first[node], tree.stop[node]):
        shown[leaf] = node
    while node >= 0:
        current[node] += more
        node = tree.up[node]


@step
def stands(data, nodes, size, k):
    """Whether k records or more hold all these nodes."""
    rarest = nodes[0]
    for i in range(1, size):
        if (
            data.starts[nodes[i] + 1] - data.starts[nodes[i]]
            < data.starts[rarest + 1] - data.starts[rarest]
        ):
            rarest = nodes[i]
    if data.starts[rarest + 1] - data.starts[rarest] < k:
        return False
    count = 0
    for at in range(data.starts[rarest], data.starts[rarest + 1]):
        record = data.holders[at]
        held = True
        for i in range(size):
            if held and nodes[i] != rarest:
                low, high = data.starts[nodes[i]], data.starts[nodes[i] + 1]
                while low < high:
                    middle = (low + high) >> 1
                    if data.holders[middle] < record:
                        low = middle + 1
                    else:
                        high = middle
                held = low < data.starts[nodes[i] + 1] and data.holders[low] == record
        if held:
            count += 1
            if count >= k:
                return True
    return False
