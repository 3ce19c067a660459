"""Morphy for nouns: the lemma of a word as WordNet's own tools find it, from irregular forms and a few endings."""

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
"""The endings of nouns and what may stand in their place, in the order of morphy(7WN)."""


def noun_lemma(
    word: str,
    lemmas: Container[str],
    exceptions: Mapping[str, tuple[str, ...]],
    counts: Mapping[str, int] | None = None,
) -> str | None:
    """The noun lemma of a word; None when it has none. See `WordNet.lemma` for the rule.

    Args:
        word: One word or several with blanks between them, in any case.
        lemmas: The nouns that are known.
        exceptions: Irregular forms with their lemmas.
        counts: How often each lemma is used; by this a word that is a noun itself and also an irregular form of another is told.

    Example:
        >>> noun_lemma("Cherries", {"cherry"}, {}), noun_lemma("geese", {"goose"}, {"geese": ("goose",)}), noun_lemma("of", {"cherry"}, {})
        ('cherry', 'goose', None)
    """
    form = "_".join(word.casefold().split())
    found = _one(form, lemmas, exceptions, counts or {})
    if found is None and "_" in form:
        parts = "_".join(
            _one(part, lemmas, exceptions, counts or {}) or part for part in form.split("_")
        )
        return parts if parts in lemmas else None
    return found


def _one(
    form: str,
    lemmas: Container[str],
    exceptions: Mapping[str, tuple[str, ...]],
    counts: Mapping[str, int],
) -> str | None:
    """The lemma of a form that is taken as one word."""
    candidates = [lemma for lemma in (form, *exceptions.get(form, ())) if lemma in lemmas]
    if candidates:
        return max(candidates, key=lambda lemma: counts.get(lemma, 0))
    if form.endswith("ful") and len(form) > 3:
        measure = _one(form.removesuffix("ful"), lemmas, exceptions, counts)
        return f"{measure}ful" if measure is not None and f"{measure}ful" in lemmas else None
    return next((lemma for lemma in _stems(form) if lemma in lemmas), None)


def _stems(form: str) -> Iterator[str]:
    """What a form may be the plural of; words in -ss and words of two letters are no plurals."""
    if not form.endswith("ss") and len(form) > 2:
        for ending, instead in ENDINGS:
            if form.endswith(ending) and len(form) > len(ending):
                yield form.removesuffix(ending) + instead
