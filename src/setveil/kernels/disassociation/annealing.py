"""Kernel that puts items into chunks: keep the most of what occurs together, without conflicts."""

from typing import NamedTuple

import numpy as np

from setveil.kernels.arrays import Flags, Floats, Int32s, Int64s
from setveil.kernels.jit import kernel, step

HOT, COOLING = 20.0, 0.95  # the first temperature, in average weights, and what each step leaves
SWEEPS = 130  # steps of cooling, however many sweeps there are
SLOT, TOP, DENSE, CLASHES = 0, 1, 2, 3  # the slots of `State.numbers`


class State(NamedTuple):
    """Which chunk each item is in, and what it would find in every other one."""

    weights: Floats  # [item, item] what keeping the pair in one chunk is worth
    conflicts: Flags  # [item, item] whether the pair may be in no chunk
    first: Int64s  # where the items with which an item has a weight begin
    others: Int64s  # these, ascending
    near: Int64s  # where the items that an item is worth keeping with begin
    wanted: Int64s  # these, ascending
    chunk: Int64s  # of each item, or -1
    gain: Floats  # [chunk, item] the weights of the item with all members
    foes: Int32s  # [chunk, item] with how many members the item is in conflict
    sizes: Int64s  # the members of each chunk
    leaving: Int64s  # scratch: the items that must leave a chunk
    numbers: Int64s
    """The state of the random SLOT, the chunks up to the TOP that were used, whether many pairs
    have a weight (DENSE), and whether any are in conflict (CLASHES)."""


@kernel
def anneal(weights, conflicts, sweeps):
    """A chunk for each item, such that no two items of a chunk are in conflict.

    Items go in turn to the chunk where they gain most. Then every item is, in each
    sweep, offered the chunk of a random item that it occurs with; what is in conflict with it there
    must leave for the best other chunk. A change that loses less than a random share of the
    temperature is made; the temperature falls from sweep to sweep. The best state is returned.
    This is simulated annealing without exponentials, so that every machine finds the same."""
    state = start(weights, conflicts)
    items, total = len(weights), 0.0
    for item in range(items):
        total += place(state, item, np.int64(-1))
    best, most = state.chunk.copy(), total
    heat = average(state) * HOT
    for sweep in range(sweeps):
        # Products of whole powers, which every machine computes alike.
        for _ in range(SWEEPS * (sweep + 1) // sweeps - SWEEPS * sweep // sweeps):
            heat *= COOLING
        for item in range(items):
            count = state.near[item + 1] - state.near[item]
            if count > 0:
                other = state.wanted[state.near[item] + draw(state.numbers) % count]
                total += offer(state, item, state.chunk[other], heat)
        if total > most:
            most = total
            for item in range(items):
                best[item] = state.chunk[item]
    return best


@step
def start(weights, conflicts):
    items, clashes = len(weights), False
    first, near = np.zeros(items + 1, np.int64), np.zeros(items + 1, np.int64)
    for item in range(items):
        for other in range(items):
            first[item + 1] += weights[item, other] != 0
            near[item + 1] += weights[item, other] > 0
            clashes |= conflicts[item, other]
        first[item + 1] += first[item]
        near[item + 1] += near[item]
    dense = first[items] > items * items // 4
    others, wanted = np.empty(first[items], np.int64), np.empty(near[items], np.int64)
    at, end = np.int64(0), np.int64(0)
    for item in range(items):
        for other in range(items):
            if weights[item, other] != 0:
                others[at] = other
                at += 1
                if weights[item, other] > 0:
                    wanted[end] = other
                    end += 1
    return State(
        weights,
        conflicts,
        first,
        others,
        near,
        wanted,
        np.full(items, -1, np.int64),
        np.zeros((items + 1, items), np.float64),
        np.zeros((items + 1, items), np.int32),
        np.zeros(items + 1, np.int64),
        np.empty(items, np.int64),
        np.array([1, 0, dense, clashes], np.int64),
    )


@step
def average(state):
    """The average weight of what is worth keeping."""
    total = 0.0
    for item in range(len(state.weights)):
        for at in range(state.near[item], state.near[item + 1]):
            total += state.weights[item, state.wanted[at]]
    return total / max(len(state.wanted), 1)


@step
def draw(numbers):
    """The next of a fixed sequence of numbers that look random, below 2^23."""
    numbers[SLOT] = (numbers[SLOT] * 1103515245 + 12345) & 0x7FFFFFFF
    return numbers[SLOT] >> 8


@step
def find_best(state, item, barred, left):
    """The chunk where an item gains most without conflict, but the `barred` one, and how much: that
    of an item that it is worth keeping with; else the first where it loses nothing, at the latest
    one without members. The item `left` counts as absent."""
    best, most, without = np.int64(-1), 0.0, np.int64(-1)
    if left >= 0 and state.conflicts[left, item]:
        without = state.chunk[left]
    for at in range(state.near[item], state.near[item + 1]):
        number = state.chunk[state.wanted[at]]
        if number >= 0 and number != barred and state.gain[number, item] >= most:
            is_free = state.foes[number, item] == (number == without)
            if is_free and (state.gain[number, item] > most or number < best):
                best, most = number, state.gain[number, item]
    if best >= 0:
        return best, most
    for number in range(state.numbers[TOP] + 1):
        is_free = state.foes[number, item] == (number == without)
        if is_free and number != barred and state.gain[number, item] >= 0:
            return np.int64(number), state.gain[number, item]
    return state.numbers[TOP] + 1, 0.0


@step
def place(state, item, barred):
    """Put an item where it gains most; returns how much."""
    best, most = find_best(state, item, barred, np.int64(-1))
    change(state, item, best, 1)
    return most


@step
def change(state, item, number, sign):
    """Put an item into a chunk (1) or take it out (-1)."""
    state.sizes[number] += sign
    state.chunk[item] = number if sign > 0 else -1
    if state.numbers[DENSE]:
        for other in range(len(state.chunk)):
            state.gain[number, other] += sign * state.weights[item, other]
    else:
        for at in range(state.first[item], state.first[item + 1]):
            other = state.others[at]
            state.gain[number, other] += sign * state.weights[item, other]
    if state.numbers[CLASHES]:
        for other in range(len(state.chunk)):
            state.foes[number, other] += np.int32(sign) * np.int32(state.conflicts[item, other])
    if state.sizes[number] == 0:  # what rounding left would make one empty chunk look better
        for other in range(len(state.chunk)):
            state.gain[number, other] = 0.0
    top = state.numbers[TOP]
    if sign > 0:
        state.numbers[TOP] = max(top, number + 1)
    while state.numbers[TOP] > 0 and state.sizes[state.numbers[TOP] - 1] == 0:
        state.numbers[TOP] -= 1


@step
def offer(state, item, number, heat):
    """Move an item to a chunk if that gains, or loses little; returns what it gained."""
    current, leaving = state.chunk[item], state.leaving
    if number == current:
        return 0.0
    # `likely` estimates the gain before anything moves: those in conflict with the item must leave,
    # and go where they gain most. Only if it passes is the move made, and its gain computed.
    likely, count = state.gain[number, item] - state.gain[current, item], np.int64(0)
    other = np.int64(-1)
    while count < state.foes[number, item]:
        if likely <= -heat:  # what must leave seldom gains, so it would hardly be made
            return 0.0
        other += 1
        if state.chunk[other] == number and state.conflicts[item, other]:
            leaving[count] = other
            count += 1
            _, most = find_best(state, other, number, item)
            likely += most - state.gain[number, other]
    if likely < 0 and likely <= -heat * (draw(state.numbers) / 8388608):
        return 0.0
    gained = -state.gain[current, item]
    change(state, item, current, -1)
    for i in range(count):
        gained -= state.gain[number, leaving[i]]
        change(state, leaving[i], number, -1)
    gained += state.gain[number, item]
    change(state, item, number, 1)
    for i in range(count):
        gained += place(state, leaving[i], number)
    return gained
