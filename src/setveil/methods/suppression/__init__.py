"""Suppression of public items, which keeps (h,k,p)-coherence. [Xu2008]"""

from setveil.methods.suppression.explain import Explanation, explain
from setveil.methods.suppression.method import Suppression

__all__ = ["Explanation", "Suppression", "explain"]
