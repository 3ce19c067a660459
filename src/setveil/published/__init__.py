"""What is given out: the published forms."""

from setveil.promises.kanonymity import KmAnonymity
from setveil.published.disassociated.form import Disassociated
from setveil.published.generalized import Generalized
from setveil.published.suppressed import Suppressed
from setveil.published.typical_bags import TypicalBags

Published = Generalized | Disassociated | Suppressed | TypicalBags
"""Any of the published forms."""

__all__ = ["Disassociated", "Generalized", "Published", "Suppressed", "TypicalBags", "in_words"]


def in_words(release: Published) -> str:
    """What a release promises, in words for a reader who is no expert.

    Example:
        >>> from setveil.published.disassociated.form import SimpleCluster
        >>> release = Disassociated.of_clusters([SimpleCluster(2, [], ["flu"])], KmAnonymity(k=2, m=1))
        >>> in_words(release).split(":")[0]
        'Whoever knows one item of a person cannot rule out that at least 2 records hold them'
    """
    promise = release.promise
    return (
        promise.describe(possible=True)
        if isinstance(release, Disassociated) and isinstance(promise, KmAnonymity)
        else promise.describe()
    )
