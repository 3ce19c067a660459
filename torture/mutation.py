"""Ways to damage the bytes of a valid file."""

from __future__ import annotations

import random
from collections.abc import Callable

Mutation = Callable[[random.Random, bytes], bytes]

_ODD = (
    *(b'"', b"'", b",", b";", b"\t", b"|", b" ", b"\r", b"\n", b"\r\n", b"\0", b"\x1a", b"\\"),
    *(b"\xef\xbb\xbf", b"\xff\xfe", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80"),
    *("\u2028", "\u0085", "\u00a0", "e\u0301", "\u200b", "\U0001f600", "\u202e", "\u0130"),
    *(b"\\ud800", b"\\u0000", b"NaN", b"1e999", b"-0", b"1e3", b"null", b"true", b"{}", b"[]"),
    *(b"9223372036854775808", b"9" * 30, b"9" * 5000, b"-1", b"0", b"1.5", b"007", b"NULL"),
    *(b"[" * 2000, b"[" * 900 + b"]" * 900, b"," * 2000, b'"' * 999, b"x" * 300, b"{" * 999),
    *(b"record", b"item", b"count", b"items", b'"":', b'""', b"#", b"/*", b"='", b"$(x)"),
)
ODD = tuple(text.encode() if isinstance(text, str) else text for text in _ODD)
LONGEST = 200_000


def mutated(rng: random.Random, content: bytes, mutations: tuple[Mutation, ...]) -> bytes:
    """The content after a few mutations; now and then after none."""
    for _ in range(rng.choice((0, 1, 1, 1, 2, 2, 3, 5))):
        content = rng.choice(mutations)(rng, content)
    return content[: 4 * LONGEST]


def flip_bits(rng: random.Random, content: bytes) -> bytes:
    changed = bytearray(content)
    for _ in range(rng.randint(1, 3) if changed else 0):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def delete(rng: random.Random, content: bytes) -> bytes:
    start, stop = _span(rng, content)
    return content[:start] + content[stop:]


def duplicate(rng: random.Random, content: bytes) -> bytes:
    start, stop = _span(rng, content)
    place = rng.choice((stop, rng.randint(0, len(content))))
    return content[:place] + content[start:stop] + content[place:]


def insert(rng: random.Random, content: bytes) -> bytes:
    place = rng.randint(0, len(content))
    return content[:place] + rng.choice(ODD) + content[place:]


def lengthen(rng: random.Random, content: bytes) -> bytes:
    place, length = rng.randint(0, len(content)), rng.choice((50, 300, 1_000))
    if rng.random() < 0.02:
        length = rng.choice((70_000, LONGEST))
    filling = rng.choice((b"x", b"1", b" ", "\u00e9".encode())) * length
    return content[:place] + filling[:length] + content[place:]


def cut_off(rng: random.Random, content: bytes) -> bytes:
    return content[: rng.randint(0, len(content))]


def replace(rng: random.Random, content: bytes) -> bytes:
    """One kind of byte becomes another, once or everywhere."""
    old, new = rng.choice(b',;\t\n" :[]{}'), rng.choice(ODD[:13])
    return content.replace(bytes([old]), new, rng.choice((1, 1, -1)))


def swap_lines(rng: random.Random, content: bytes) -> bytes:
    lines = content.split(b"\n")
    first, second = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[first], lines[second] = lines[second], lines[first]
    return b"\n".join(lines)


def swap_columns(rng: random.Random, content: bytes) -> bytes:
    mark = rng.choice((b",", b";", b"\t"))
    rows = [line.split(mark) for line in content.split(b"\n")]
    return b"\n".join(mark.join(row[1:] + row[:1]) for row in rows)


def _span(rng: random.Random, content: bytes) -> tuple[int, int]:
    start = rng.randint(0, len(content))
    return start, min(len(content), start + rng.choice((1, 1, 3, 10, 100)))


BYTES: tuple[Mutation, ...] = (flip_bits, delete, duplicate, insert, cut_off)
"""For compressed and binary files."""
TEXT: tuple[Mutation, ...] = (
    *BYTES,
    *(insert, insert, delete, duplicate, replace, swap_lines, swap_columns, lengthen),
)
