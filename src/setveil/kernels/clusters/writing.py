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


class Heads(NamedTuple):
    """The text of each node without its parts: `text[ptr[v]:ptr[v + 1]]`. That of a simple cluster
    is whole, that of a joint one ends where its parts begin."""

    ptr: Int64s
    text: np.ndarray
    chunk_lengths: Int64s
    chunks: Int64s  # those of each node in the order of their texts


@kernel
def measure_heads(nodes, rows, terms, words):
    """Where the text of each node begins if they follow one another, and the length of each
    chunk."""
    chunk_lengths = np.empty(len(rows.ptr) - 1, np.int64)
    for chunk in range(len(chunk_lengths)):
        chunk_lengths[chunk] = measure_chunk(rows, chunk, words)
    ptr = np.zeros(len(nodes.parent) + 1, np.int64)
    for node in range(len(nodes.parent)):
        ptr[node + 1] = ptr[node] + measure_node(nodes, node, chunk_lengths, terms, words)
    return ptr, chunk_lengths


@kernel
def put_heads(low, high, clusters, words, heads):
    """Write the texts of some nodes into `heads`, with their chunks in the order of their texts.

    Others may write those of other nodes at the same time."""
    nodes, rows, terms = clusters
    chunk_starts = np.empty(nodes.chunk_ptr[high] - nodes.chunk_ptr[low], np.int64)
    first = nodes.chunk_ptr[low]
    for node in range(low, high):
        at = put_head(nodes, node, heads.ptr[node], heads.text)
        for i in range(nodes.chunk_ptr[node], nodes.chunk_ptr[node + 1]):
            if i > nodes.chunk_ptr[node]:
                heads.text[at] = COMMA
                at += 1
            chunk_starts[i - first] = at
            at = put_chunk(rows, nodes.chunks[i], words, at, heads.text)
        order_chunks(nodes, node, chunk_starts, first, heads)
        if nodes.simple[node]:
            at = put(TERMS, at, heads.text)
            at = put_words(terms, node, words, at, heads.text)
            put(END, at, heads.text)
        else:
            put(PARTS, at, heads.text)


@step
def order_chunks(nodes, node, chunk_starts, first, heads):
    """Put the chunks of a node, which were written one after the other, in order."""
    low, high = nodes.chunk_ptr[node], nodes.chunk_ptr[node + 1]
    if high - low < 2:
        return
    lengths, numbers = np.empty(high - low, np.int64), np.empty(high - low, np.int64)
    for i in range(high - low):
        lengths[i], numbers[i] = heads.chunk_lengths[nodes.chunks[low + i]], i
    texts = Texts(heads.text, chunk_starts[low - first : high - first], lengths)
    change_places(texts, numbers, COMMA)
    for i in range(high - low):
        heads.chunks[low + i] = nodes.chunks[low + numbers[i]]


@kernel
def place_clusters(nodes, heads):
    """The parts of each node in the order of their texts, where each node begins in the text of
    all, and that text: without the heads, but with what follows them.

    The innermost parts come first, so those that are compared are in order themselves."""
    count = len(nodes.parent)
    parts, stack = nodes.parts.copy(), np.empty((count + 1, 4), np.int64)
    starts, lengths = np.zeros(count + 1, np.int64), np.zeros(count + 1, np.int64)
    for owner in range(count, -1, -1):
        if owner < count:
            order_parts(nodes, parts, owner, heads, stack)
            lengths[owner] += heads.ptr[owner + 1] - heads.ptr[owner]
            if not nodes.simple[owner]:
                lengths[owner] += len(END) - 1  # no comma follows the last part
            above = nodes.parent[owner] if nodes.parent[owner] >= 0 else count
            lengths[above] += lengths[owner] + 1
    order_parts(nodes, parts, count, heads, stack)
    text = np.empty(lengths[count], np.uint8)
    place_parts(nodes, parts, count, starts, lengths, np.int64(0), text)
    for node in range(count):
        if not nodes.simple[node]:
            at = starts[node] + heads.ptr[node + 1] - heads.ptr[node]
            put(END, place_parts(nodes, parts, node, starts, lengths, at, text), text)
    return parts, starts, text


@kernel
def copy_heads(low, high, heads, starts, text):
    """Copy the texts of some nodes to their places."""
    for node in range(low, high):
        source, target = np.uint64(heads.ptr[node]), np.uint64(starts[node])
        for i in range(np.uint64(heads.ptr[node + 1] - heads.ptr[node])):
            text[target + i] = heads.text[source + i]


@step
def order_parts(nodes, parts, owner, heads, stack):
    """Merge sort; equal parts keep their order."""
    low, high = nodes.part_ptr[owner], nodes.part_ptr[owner + 1]
    if high - low < 2:
        return
    spare, width = np.empty(high - low, np.int64), np.int64(1)
    while width < high - low:
        for start in range(low, high, 2 * width):
            middle, stop = min(start + width, high), min(start + 2 * width, high)
            left, right = start, middle
            for at in range(start - low, stop - low):
                if right >= stop or (
                    left < middle
                    and compare_nodes(nodes, parts, parts[right], parts[left], heads, stack) >= 0
                ):
                    spare[at] = parts[left]
                    left += 1
                else:
                    spare[at] = parts[right]
                    right += 1
        for at in range(low, high):
            parts[at] = spare[at - low]
        width *= 2


@step
def compare_nodes(nodes, parts, one, other, heads, stack):
    """Below 0 if the text of a node comes before that of another, above 0 if after, else 0.

    No text of a node is the beginning of another, so the first difference is in the heads of two
    nodes at the same place, or where one has no more parts: its bracket comes after a comma."""
    found, depth = compare_heads(heads, one, other), np.int64(0)
    if found != 0 or nodes.simple[one]:
        return found
    stack[0, 0], stack[0, 1] = nodes.part_ptr[one], nodes.part_ptr[one + 1]
    stack[0, 2], stack[0, 3] = nodes.part_ptr[other], nodes.part_ptr[other + 1]
    while depth >= 0:
        one_ends = stack[depth, 0] == stack[depth, 1]
        other_ends = stack[depth, 2] == stack[depth, 3]
        if one_ends and other_ends:
            depth -= 1
            continue
        if one_ends or other_ends:
            return np.int64(1) if one_ends else np.int64(-1)
        one, other = parts[stack[depth, 0]], parts[stack[depth, 2]]
        stack[depth, 0] += 1
        stack[depth, 2] += 1
        found = compare_heads(heads, one, other)
        if found != 0:
            return found
        if not nodes.simple[one]:
            depth += 1
            stack[depth, 0], stack[depth, 1] = nodes.part_ptr[one], nodes.part_ptr[one + 1]
            stack[depth, 2], stack[depth, 3] = nodes.part_ptr[other], nodes.part_ptr[other + 1]
    return np.int64(0)


@step
def compare_heads(heads, one, other):
    i, j = heads.ptr[one], heads.ptr[other]
    for at in range(min(heads.ptr[one + 1] - i, heads.ptr[other + 1] - j)):
        if heads.text[i + at] != heads.text[j + at]:
            return np.int64(heads.text[i + at]) - np.int64(heads.text[j + at])
    return np.int64(0)


@step
def measure_words(sets, number, words):
    """The bytes of the words of a set, with a comma between each two."""
    low, high = sets.ptr[number], sets.ptr[number + 1]
    given, ptr = sets.words, words.ptr
    length = max(high - low - 1, 0)
    for at in range(low, high):
        length += ptr[given[at] + 1] - ptr[given[at]]
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
    """The bytes of a node without its parts and what follows them."""
    low, high = nodes.chunk_ptr[node], nodes.chunk_ptr[node + 1]
    length = max(high - low - 1, 0)
    for i in range(low, high):
        length += chunk_lengths[nodes.chunks[i]]
    if nodes.simple[node]:
        length += len(SIZE) + count_digits(nodes.sizes[node]) + len(CHUNKS)
        return length + len(TERMS) + measure_words(terms, node, words) + len(END)
    return length + len(SHARED) + len(PARTS)


@step
def count_digits(number):
    digits = np.int64(1)
    while number >= 10:
        number //= 10
        digits += 1
    return digits


@step
def place_parts(nodes, parts, owner, starts, lengths, at, text):
    """Give each part its place, with a comma between each two (at the top with a line end after
    each); returns the end."""
    low, high = nodes.part_ptr[owner], nodes.part_ptr[owner + 1]
    is_top = owner == len(nodes.parent)
    for i in range(low, high):
        starts[parts[i]] = at
        at += lengths[parts[i]]
        if i + 1 < high or is_top:
            text[at] = LINE if is_top else COMMA
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
    given, ptr, letters = sets.words, words.ptr, words.text  # taken out of the loop, for speed
    for i in range(low, high):
        word = given[i]
        for place in range(ptr[word], ptr[word + 1]):
            text[at] = letters[place]
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
