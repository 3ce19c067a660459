"""Text in other encodings as plain UTF-8 files: named by the user, or recognized."""

import codecs
import os
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import BinaryIO

from setveil.disk.texts import bad_byte
from setveil.errors import FileFormatError, ParameterError
from setveil.io.source.database import NotUtf8Error
from setveil.io.source.source import Source

UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_AT_ONCE = 1 << 20
_ENOUGH = 10_000
_LONGEST = 1 << 24
_RUN = re.compile(rb"[\x80-\xff]+")
_NAME = "name another {encoding}"
_WESTERN = frozenset(
    "àáâãäåæçèéêëìíîïðñòóôõöøùúûüýþÿœšžßÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖØÙÚÛÜÝÞŒŠŽŸ"
    "€£§°²³½¼®™©«»·¿¡ºª´\u2019\u2018\u201c\u201d\u2013\u2014\u2026\u2022\xa0"
)
"""What Western European text has besides ASCII."""


def check_encoding(encoding: str | None) -> None:
    """Refuse an encoding that Python does not have."""
    try:
        codecs.lookup(encoding or "utf-8")
    except (LookupError, TypeError, ValueError):
        allowed = "it must be an encoding such as utf-8, cp1252, latin-1 or utf-16"
        raise ParameterError("encoding", encoding, allowed) from None


def decoded(source: Source, encoding: str | None = None) -> tuple[Source, str]:
    """The source in UTF-8, and the encoding that it had.

    UTF-16 is recognized by its mark, or by its zero bytes.
    """
    if encoding is None:
        encoding = _utf16(source.head)
    if encoding is None or codecs.lookup(encoding).name == "utf-8":
        return source, "utf-8"
    return _converted(source, encoding), encoding


def decoded_anyhow(source: Source, error: NotUtf8Error, encoding: str | None) -> tuple[Source, str]:
    """The source in UTF-8 after a reader found that it is not, if its encoding can be guessed.

    Raises:
        NotUtf8Error: if not; it names the first byte, and an encoding in which all can be read.
    """
    guessed = guess_encoding(source) if encoding is None else None
    if guessed is None:
        raise _explained(source, error)
    return _converted(source, guessed), guessed


def _explained(source: Source, error: NotUtf8Error) -> NotUtf8Error:
    if source.head.startswith(UTF16):
        error.remedy = "name its encoding with {encoding=utf-16}"
        return error
    with source.stream() as stream:
        bad = bad_byte(_lines(stream))
    if bad is None:
        return error
    way = f"{{encoding={bad.works}}}"
    remedy = f"name its encoding, such as {way}, which can read all of it"
    if bad.has_others:
        remedy = f"the other letters are, so correct this one; {way} can read it, but changes them"
    return NotUtf8Error(source.name, bad.problem, line=bad.line, remedy=remedy)


def _lines(stream: BinaryIO) -> Iterator[bytes]:
    """The lines of a stream; a very long one comes in pieces, none of which ends in a letter."""
    while piece := stream.readline(_LONGEST):
        whole = piece
        while len(whole) == _LONGEST and len(piece) > _LONGEST - 4 and piece[-1] >= 128:
            piece = piece[:-1]
        stream.seek(len(piece) - len(whole), os.SEEK_CUR)
        yield piece


def guess_encoding(source: Source) -> str | None:
    """The encoding of text that is not UTF-8: `cp1252`, if it reads like Western text.

    All letters of latin-1 are the same in cp1252. It is not guessed if some of the text is UTF-8,
    which is damaged then, or if letters of another alphabet follow one another.
    """
    western = letters = runs = 0
    for run in _runs(source):
        try:
            text = run.decode("cp1252")
        except UnicodeDecodeError:
            return None
        if _is_utf8(run):
            return None
        runs += 1
        letters += len(text)
        western += sum(letter in _WESTERN for letter in text)
        if runs >= _ENOUGH:
            break
    return "cp1252" if runs and western >= 0.9 * letters and letters < 2 * runs else None


def _utf16(head: bytes) -> str | None:
    """UTF-16, if a file begins with its mark or every second byte of its text is zero."""
    if head.startswith(UTF16):
        return "utf-16"
    start = head[:1000]
    zeros = start[0::2].count(0), start[1::2].count(0)
    half = len(start) // 2
    if half < 2 or min(zeros) > 0:
        return None
    return (
        "utf-16-be" if zeros[0] >= 0.9 * half else "utf-16-le" if zeros[1] >= 0.9 * half else None
    )


def _runs(source: Source) -> Iterator[bytes]:
    """The runs of bytes in the text that are not ASCII; a run that a block ends in is cut."""
    with source.stream() as stream:
        while block := stream.read(_AT_ONCE):
            yield from _RUN.findall(block)


def _is_utf8(run: bytes) -> bool:
    try:
        run.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _converted(source: Source, encoding: str) -> Source:
    target, lines = source.work / f"decoded-{len(encoding)}", 1
    decoder = codecs.getincrementaldecoder(encoding)()
    with source.stream() as stream, target.open("w", encoding="utf-8", newline="") as plain:
        try:
            while block := stream.read(_AT_ONCE):
                plain.write(decoder.decode(block))
                lines += block.count(b"\n")
            plain.write(decoder.decode(b"", final=True))
        except UnicodeError:
            raise _not_in(source, encoding, lines) from None
    return replace(source, path=target, compression=None)


def _not_in(source: Source, encoding: str, line: int) -> FileFormatError:
    """The error for text that is not in the encoding that the user named, near a line."""
    if b"\n".decode(encoding, "ignore") == "\n":  # else a line end has several bytes
        with source.stream() as stream:
            bad = bad_byte(_lines(stream), encoding)
        if bad is not None:
            way = f"{{encoding={bad.works}}}"
            remedy = f"name another encoding, such as {way}, which can read all of it"
            return FileFormatError(source.name, bad.problem, line=bad.line, remedy=remedy)
    return source.fault(f"the text is not {encoding} (near line {line:,})", remedy=_NAME)
