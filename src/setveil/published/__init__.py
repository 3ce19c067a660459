"""What is given out: the published forms."""

from setveil.published.disassociated import Disassociated
from setveil.published.generalized import Generalized
from setveil.published.suppressed import Suppressed
from setveil.published.vocabularies import Vocabularies

Published = Generalized | Disassociated | Suppressed | Vocabularies
"""Any of the published forms."""

__all__ = ["Disassociated", "Generalized", "Published", "Suppressed", "Vocabularies"]
