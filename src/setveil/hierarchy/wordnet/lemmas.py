"""Finds the lemma of a noun as WordNet's Morphy does, by irregular forms and a few endings."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping

ENDINGS = (
    ("s", ""),
    ("ses", "s"),
    ("xes", "x"),
    ("zes", "z"),
    ("ches", "ch"),
    ("shes", "sh"),
    ("men", "man"),
    ("ies", "y"),
)
"""Plural endings and what replaces them, in the order of morphy(7WN)."""


def noun_lemma(
    word: str,
    lemmas: Container[str],
    exceptions: Mapping[str, tuple[str, ...]],
    counts: Mapping[str, int] | None = None,
) -> str | None:
    """The noun lemma of a word, None if it has none; `WordNet.lemma` explains the rule.

    Args:
        word: One word or several separated by blanks, in any case.
        lemmas: The known nouns.
        exceptions: Irregular forms with their lemmas.
        counts: How often each lemma is used, to choose between a noun that a word is itself and one
            that it is an irregular form of.

    Example:
        >>> noun_lemma("Cherries", {"cherry"}, {}), noun_lemma("of", {"cherry"}, {})
        ('cherry', None)
        >>> noun_lemma("geese", {"goose"}, {"geese": ("goose",)})
        'goose'
    """
    form, known = "_".join(word.casefold().split()), counts or {}
    found = _one(form, lemmas, exceptions, known)
    if found is None and "_" in form:
        words = form.split("_")
        parts = "_".join(_one(part, lemmas, exceptions, known) or part for part in words)
        return parts if parts in lemmas else None
    return found


def _one(
    form: str,
    lemmas: Container[str],
    exceptions: Mapping[str, tuple[str, ...]],
    counts: Mapping[str, int],
) -> str | None:
    """The lemma of a form as one word."""
    candidates = [lemma for lemma in (form, *exceptions.get(form, ())) if lemma in lemmas]
    if candidates:
        return max(candidates, key=lambda lemma: counts.get(lemma, 0))
    if form.endswith("ful") and len(form) > 3:
        measure = _one(form.removesuffix("ful"), lemmas, exceptions, counts)
        return f"{measure}ful" if measure is not None and f"{measure}ful" in lemmas else None
    return next((lemma for lemma in _stems(form) if lemma in lemmas), None)


def _stems(form: str) -> Iterator[str]:
    """The possible singulars of a form; words in -ss and of two letters are not plurals."""
    if not form.endswith("ss") and len(form) > 2:
        for ending, instead in ENDINGS:
            if form.endswith(ending) and len(form) > len(ending):
                yield form.removesuffix(ending) + instead
