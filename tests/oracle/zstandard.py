"""A plain writer and reader of zstd frames whose blocks are raw or repeat one byte (RFC 8878)."""

from __future__ import annotations

import random

from tests.oracle.readers import Unsure

_MAGIC, _SKIPPED = b"\x28\xb5\x2f\xfd", b"\x50\x2a\x4d\x18"
_LARGEST = 1 << 17


def write_zstd(content: bytes, rng: random.Random) -> bytes:
    """The content in one or two frames, with raw blocks of any size."""
    cut = rng.randint(0, len(content)) if rng.random() < 0.3 else len(content)
    parts = [content[:cut], content[cut:]] if cut < len(content) else [content]
    frames = [_frame(part, rng) for part in parts]
    if rng.random() < 0.2:
        frames.insert(rng.randint(0, len(frames)), _SKIPPED + b"\x03\0\0\0abc")
    return b"".join(frames)


def _frame(content: bytes, rng: random.Random) -> bytes:
    blocks, place = [], 0
    while place < len(content) or not blocks:
        size = rng.randint(1, max(1, len(content)))
        piece = content[place : place + size]
        is_run = len(set(piece)) == 1
        place += size
        last = int(place >= len(content))
        kind = 1 if is_run else 0
        blocks.append((last | kind << 1 | len(piece) << 3).to_bytes(3, "little"))
        blocks.append(piece[:1] if is_run else piece)
    if rng.random() < 0.5 and len(content) < 256:
        head = bytes([0x20, len(content)])  # one segment, and its size
    else:
        head = bytes([0x00, 0x58])  # a window of 2 MB
    return _MAGIC + head + b"".join(blocks)


def read_zstd(packed: bytes) -> bytes:
    """What the frames contain."""
    found, place = bytearray(), 0
    while place < len(packed):
        magic = packed[place : place + 4]
        if magic[1:] == _SKIPPED[1:] and magic[0] >> 4 == 5:
            place += 8 + int.from_bytes(packed[place + 4 : place + 8], "little")
            if place > len(packed):
                raise ValueError("cut off")
            continue
        if magic != _MAGIC:
            raise ValueError("not a frame")
        content, place = _unpacked(packed, place + 4)
        found += content
    return bytes(found)


def _unpacked(packed: bytes, place: int) -> tuple[bytes, int]:
    head = packed[place : place + 1]
    if not head:
        raise ValueError("cut off")
    if head[0] not in (0x00, 0x20):
        raise Unsure("another kind of frame")
    size = packed[place + 1] if head[0] == 0x20 and len(packed) > place + 1 else None
    if head[0] == 0x00 and packed[place + 1 : place + 2] != b"\x58":
        raise Unsure("another window")
    place, found, last = place + 2, bytearray(), 0
    while not last:
        block = packed[place : place + 3]
        number = int.from_bytes(block, "little")
        last, kind, length = number & 1, number >> 1 & 3, number >> 3
        place += 3
        if len(block) < 3 or kind == 3 or length > _LARGEST:
            raise ValueError("not a block")
        if kind == 2:
            raise Unsure("a compressed block")
        stop = place + (length if kind == 0 else 1)
        if stop > len(packed):
            raise ValueError("cut off")
        found += packed[place:stop] if kind == 0 else packed[place:stop] * length
        place = stop
    if size is not None and len(found) != size:
        raise ValueError("the frame says another size")
    return bytes(found), place
