"""Text in other encodings as plain UTF-8 files: named by the user, or recognized."""

import codecs
import re
from collections.abc import Iterator
from dataclasses import replace

from setveil.errors import ParameterError
from setveil.io.source.source import Source

UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_AT_ONCE = 1 << 20
_ENOUGH = 10_000
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
            problem = f"the text is not {encoding}"
            raise source.fault(f"{problem} (near line {lines:,})", remedy=_NAME) from None
    return replace(source, path=target, compression=None)
