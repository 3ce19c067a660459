"""The method Partition. [He2009]"""

from setveil.methods.partition.method import Partition

__all__ = ["Partition"]
