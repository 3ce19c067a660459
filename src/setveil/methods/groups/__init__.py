"""The method Groups: columns generalized for groups of people, beside their sets. [Poulis2013]"""

from setveil.methods.groups.method import Groups

__all__ = ["Groups"]
