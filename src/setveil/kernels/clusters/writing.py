"""Kernel that writes clusters as JSON lines, everything in the order of its text."""

from typing import NamedTuple

import numpy as np

from setveil.kernels.arrays import Flags, Int64s
from setveil.kernels.clusters.sorting import Sets, Texts, change_places
from setveil.kernels.jit import kernel, step


def piece(text):
    """A text that is always the same, as bytes."""
    return np.frombuffer(text, dtype=np.uint8)


SIZE, CHUNKS, TERMS = piece(b'{"size":'), piece(b',"chunks":['), piece(b'],"terms":[')
SHARED, PARTS, END = piece(b'{"shared":['), piece(b'],"parts":['), piece(b"]}")
OPEN, CLOSE, COMMA, LINE = 91, 93, 44, 10  # the bytes of [ ] , and the end of a line


class Words(NamedTuple):
    """The items as JSON texts, by the order of their labels: `text[ptr[i]:ptr[i + 1]]`."""

    ptr: Int64s
    text: np.ndarray


class Nodes(NamedTuple):
    """The clusters; parents come before their parts."""

    parent: Int64s
    sizes: Int64s
    simple: Flags
    chunk_ptr: Int64s  # the chunks of each node, one node after the other
    chunks: Int64s
    part_ptr: Int64s  # the parts of each node, and last the top-level clusters
    parts: Int64s


class Rows(NamedTuple):
    """The subrecords of each chunk, in order, one chunk after the other."""

    ptr: Int64s
    rows: Int64s
    sets: Sets
    counts: Int64s


@kernel
def write_clusters(nodes, rows, terms, words):
    """The text with one top-level cluster per line, and the parts and chunks of each node in the
    order of their texts.

    The length of each text is known from its parts, so every text is written to its place at once,
    as if the parts were in order. Then the parts of each node, the innermost first, change places.
    """
    chunk_lengths = np.empty(len(rows.ptr) - 1, np.int64)
    for chunk in range(len(chunk_lengths)):
        chunk_lengths[chunk] = measure_chunk(rows, chunk, words)
    count = len(nodes.parent)
    starts, lengths = np.zeros(count + 1, np.int64), np.zeros(count + 1, np.int64)
    for node in range(count - 1, -1, -1):
        lengths[node] += measure_node(nodes, node, chunk_lengths, terms, words)
        above = nodes.parent[node] if nodes.parent[node] >= 0 else count
        lengths[above] += lengths[node] + 1
    text = np.empty(lengths[count], np.uint8)
    spare = np.empty(lengths[count], np.uint8)
    chunks, parts = nodes.chunks.copy(), nodes.parts.copy()
    chunk_starts = np.empty(len(chunk_lengths), np.int64)
    place_parts(nodes, count, starts, lengths, np.int64(0), text, np.uint8(LINE))
    for node in range(count):
        at = put_head(nodes, node, starts[node], text)
        low, high = nodes.chunk_ptr[node], nodes.chunk_ptr[node + 1]
        stop = at
        for i in range(low, high):
            chunk_starts[nodes.chunks[i]] = stop
            stop = put_chunk(rows, nodes.chunks[i], words, stop, text)
            if i + 1 < high:
                text[stop] = COMMA
                stop += 1
        change_places(Texts(text, chunk_starts, chunk_lengths), chunks, low, high, spare, COMMA)
        if nodes.simple[node]:
            stop = put(TERMS, stop, text)
            stop = put_words(terms, node, words, stop, text)
        else:
            stop = put(PARTS, stop, text)
            stop = place_parts(nodes, node, starts, lengths, stop, text, np.uint8(COMMA))
        put(END, stop, text)
    for owner in range(count - 1, -1, -1):
        low, high = nodes.part_ptr[owner], nodes.part_ptr[owner + 1]
        change_places(Texts(text, starts, lengths), parts, low, high, spare, COMMA)
    low, high = nodes.part_ptr[count], nodes.part_ptr[count + 1]
    change_places(Texts(text, starts, lengths), parts, low, high, spare, LINE)
    return text, parts, chunks


@step
def measure_words(sets, number, words):
    """The bytes of the words of a set, with a comma between each two."""
    low, high = sets.ptr[number], sets.ptr[number + 1]
    length = max(high - low - 1, 0)
    for at in range(low, high):
        word = sets.words[at]
        length += words.ptr[word + 1] - words.ptr[word]
    return length


@step
def measure_chunk(rows, chunk, words):
    low, high = rows.ptr[chunk], rows.ptr[chunk + 1]
    length = 2 + max(high - low - 1, 0)
    for i in range(low, high):
        row = rows.rows[i]
        length += 5 + measure_words(rows.sets, row, words) + count_digits(rows.counts[row])
    return length


@step
def measure_node(nodes, node, chunk_lengths, terms, words):
    """The bytes of a node without its parts; less one for the comma that the last part lacks."""
    low, high = nodes.chunk_ptr[node], nodes.chunk_ptr[node + 1]
    length = len(END) + max(high - low - 1, 0)
    for i in range(low, high):
        length += chunk_lengths[nodes.chunks[i]]
    if nodes.simple[node]:
        length += len(SIZE) + count_digits(nodes.sizes[node]) + len(CHUNKS)
        return length + len(TERMS) + measure_words(terms, node, words)
    return length + len(SHARED) + len(PARTS) - 1


@step
def count_digits(number):
    digits = np.int64(1)
    while number >= 10:
        number //= 10
        digits += 1
    return digits


@step
def place_parts(nodes, owner, starts, lengths, at, text, between):
    """Give each part its place, with a byte between each two (at the top after each); returns the
    end."""
    low, high = nodes.part_ptr[owner], nodes.part_ptr[owner + 1]
    for i in range(low, high):
        starts[nodes.parts[i]] = at
        at += lengths[nodes.parts[i]]
        if i + 1 < high or owner == len(nodes.parent):
            text[at] = between
            at += 1
    return at


@step
def put(given, at, text):
    """Write some bytes; returns the end."""
    for i in range(len(given)):
        text[at + i] = given[i]
    return at + len(given)


@step
def put_number(number, at, text):
    stop = at + count_digits(number)
    for place in range(stop - 1, at - 1, -1):
        text[place] = 48 + number % 10
        number //= 10
    return stop


@step
def put_words(sets, number, words, at, text):
    low, high = sets.ptr[number], sets.ptr[number + 1]
    for i in range(low, high):
        for place in range(words.ptr[sets.words[i]], words.ptr[sets.words[i] + 1]):
            text[at] = words.text[place]
            at += 1
        if i + 1 < high:
            text[at] = COMMA
            at += 1
    return at


@step
def put_chunk(rows, chunk, words, at, text):
    low, high = rows.ptr[chunk], rows.ptr[chunk + 1]
    text[at] = OPEN
    at += 1
    for i in range(low, high):
        row = rows.rows[i]
        text[at], text[at + 1] = OPEN, OPEN
        at = put_words(rows.sets, row, words, at + 2, text)
        text[at], text[at + 1] = CLOSE, COMMA
        at = put_number(rows.counts[row], at + 2, text)
        text[at] = CLOSE
        at += 1
        if i + 1 < high:
            text[at] = COMMA
            at += 1
    text[at] = CLOSE
    return at + 1


@step
def put_head(nodes, node, at, text):
    if nodes.simple[node]:
        at = put(SIZE, at, text)
        at = put_number(nodes.sizes[node], at, text)
        return put(CHUNKS, at, text)
    return put(SHARED, at, text)


@kernel
def list_order(nodes, parts, chunks, rows):
    """The nodes, each before its parts, their chunks and the rows of these, in the order of the
    text."""
    count = len(nodes.parent)
    stack, top, made = np.empty(count, np.int64), np.int64(0), np.int64(0)
    ordered, chunk_order = np.empty(count, np.int64), np.empty(len(chunks), np.int64)
    row_order, chunk_at, row_at = np.empty(len(rows.rows), np.int64), np.int64(0), np.int64(0)
    for i in range(nodes.part_ptr[count + 1] - 1, nodes.part_ptr[count] - 1, -1):
        stack[top] = parts[i]
        top += 1
    while top > 0:
        top -= 1
        node = stack[top]
        ordered[made] = node
        made += 1
        for i in range(nodes.chunk_ptr[node], nodes.chunk_ptr[node + 1]):
            chunk_order[chunk_at] = chunks[i]
            chunk_at += 1
            for at in range(rows.ptr[chunks[i]], rows.ptr[chunks[i] + 1]):
                row_order[row_at] = rows.rows[at]
                row_at += 1
        for i in range(nodes.part_ptr[node + 1] - 1, nodes.part_ptr[node] - 1, -1):
            stack[top] = parts[i]
            top += 1
    return ordered, chunk_order, row_order
