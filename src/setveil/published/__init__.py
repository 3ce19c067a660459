"""What is given out: the published forms."""

from setveil.published.disassociated import Disassociated
from setveil.published.generalized import Generalized

Published = Generalized | Disassociated
"""Any of the published forms."""

__all__ = ["Disassociated", "Generalized", "Published"]
