"""The method DiffPart. [Chen2011]"""

from setveil.methods.diffpart.method import DiffPart

__all__ = ["DiffPart"]
