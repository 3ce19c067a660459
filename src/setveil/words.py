"""Numbers and texts as people read them."""

from __future__ import annotations


def count(number: int) -> str:
    """A whole number with thousands separators.

    Example:
        >>> count(59602)
        '59,602'
    """
    return f"{number:,}"


def share(part: float) -> str:
    """A fraction as a percentage with two places at most.

    Example:
        >>> share(0.0528), share(1.0), share(0.0), share(0.00004)
        ('5.28 %', '100 %', '0 %', 'under 0.01 %')
    """
    percent = 100 * part
    if percent in (0, 100):
        return f"{percent:.0f} %"
    return "under 0.01 %" if 0 < percent < 0.01 else f"{percent:.2f} %"


def rough_share(part: float) -> str:
    """A fraction as a percentage with one place, for numbers that are compared.

    Example:
        >>> rough_share(0.0528), rough_share(1.0), rough_share(0.0), rough_share(0.00004)
        ('5.3 %', '100.0 %', '0.0 %', 'under 0.1 %')
    """
    return "under 0.1 %" if 0 < part < 0.0005 else f"{100 * part:.1f} %"


def plural(number: int, noun: str, nouns: str | None = None) -> str:
    """A number with its noun.

    Example:
        >>> plural(1, "record"), plural(2000, "record"), plural(2, "leaf", "leaves")
        ('1 record', '2,000 records', '2 leaves')
    """
    return f"{count(number)} {noun if number == 1 else nouns or noun + 's'}"


def are(number: int, noun: str) -> str:
    """A number with its noun and its verb.

    Example:
        >>> are(1, "record"), are(2, "record")
        ('1 record is', '2 records are')
    """
    return f"{plural(number, noun)} {'is' if number == 1 else 'are'}"


def seconds(time: float) -> str:
    """A number of seconds, rounded.

    Example:
        >>> seconds(0.034), seconds(7.25), seconds(95)
        ('0.03 s', '7.2 s', '95 s')
    """
    return f"{time:.2f} s" if time < 1 else f"{time:.1f} s" if time < 60 else f"{time:.0f} s"


def printable(text: str) -> str:
    """Text that is safe on a terminal: control characters are escaped.

    Example:
        >>> print(printable("red\x1b[31m wine"))
        red\\x1b[31m wine
    """
    return "".join(
        letter if letter.isprintable() or letter == "\n" else ascii(letter)[1:-1] for letter in text
    )
