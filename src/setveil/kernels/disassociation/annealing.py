"""Kernel that puts items into chunks: keep the most of what occurs together, without conflicts."""

from typing import NamedTuple

import numpy as np

from setveil.kernels.arrays import Flags, Floats, Int64s
from setveil.kernels.jit import kernel, step

HOT, COOLING = 20.0, 0.95  # the first temperature, in average weights, and what each sweep leaves
SWEEPS = 130  # after which hardly anything changes
SLOT, TOP = 0, 1  # the slots of `State.numbers`


class State(NamedTuple):
    """Which chunk each item is in, and what it would find in every other one."""

    weights: Floats  # [item, item] what keeping the pair in one chunk is worth
    conflicts: Flags  # [item, item] whether the pair may be in no chunk
    chunk: Int64s  # of each item, or -1
    gain: Floats  # [chunk, item] the weights of the item with all members
    foes: Int64s  # [chunk, item] with how many members the item is in conflict
    sizes: Int64s  # the members of each chunk
    leaving: Int64s  # scratch: the items that must leave a chunk
    numbers: Int64s  # the state of the random SLOT, and the chunks up to the TOP that were used


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
    near, others, mean = list_neighbours(weights)
    best, most = state.chunk.copy(), total
    heat = mean * HOT
    for sweep in range(sweeps):
        # Products of whole powers, which every machine computes alike.
        for _ in range(SWEEPS * (sweep + 1) // sweeps - SWEEPS * sweep // sweeps):
            heat *= COOLING
        for item in range(items):
            count = near[item + 1] - near[item]
            if count > 0:
                other = others[near[item] + draw(state.numbers) % count]
                total += offer(state, item, state.chunk[other], heat)
        if total > most:
            most = total
            for item in range(items):
                best[item] = state.chunk[item]
    return best


@step
def start(weights, conflicts):
    items = len(weights)
    return State(
        weights,
        conflicts,
        np.full(items, -1, np.int64),
        np.zeros((items + 1, items), np.float64),
        np.zeros((items + 1, items), np.int64),
        np.zeros(items + 1, np.int64),
        np.empty(items, np.int64),
        np.array([1, 0], np.int64),
    )


@step
def list_neighbours(weights):
    """The items that each item is worth keeping with: where they begin, which, and the average
    weight."""
    items = len(weights)
    near, total, count = np.zeros(items + 1, np.int64), 0.0, np.int64(0)
    for item in range(items):
        for other in range(items):
            if weights[item, other] > 0:
                total += weights[item, other]
                count += 1
        near[item + 1] = count
    others, at = np.empty(count, np.int64), np.int64(0)
    for item in range(items):
        for other in range(items):
            if weights[item, other] > 0:
                others[at] = other
                at += 1
    return near, others, total / max(count, 1)


@step
def draw(numbers):
    """The next of a fixed sequence of numbers that look random, below 2^23."""
    numbers[SLOT] = (numbers[SLOT] * 1103515245 + 12345) & 0x7FFFFFFF
    return numbers[SLOT] >> 8


@step
def find_best(state, item, barred, left):
    """The chunk where an item gains most without conflict, but the `barred` one, and how much; or
    the first without members, so that numbers stay below that of the items. The item `left` counts
    as absent."""
    best, most = np.int64(-1), -1.0
    for number in range(state.numbers[TOP] + 1):
        foes = state.foes[number, item]
        if left >= 0 and state.chunk[left] == number and state.conflicts[left, item]:
            foes -= 1
        if number != barred and foes == 0 and state.gain[number, item] > most:
            best, most = number, state.gain[number, item]
    return best, most


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
    for other in range(len(state.chunk)):
        state.gain[number, other] += sign * state.weights[item, other]
        state.foes[number, other] += sign * state.conflicts[item, other]
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
    if state.foes[number, item] > 0:
        for other in range(len(state.chunk)):
            if state.chunk[other] == number and state.conflicts[item, other]:
                if likely <= -heat:  # what must leave seldom gains, so it would hardly be made
                    return 0.0
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
