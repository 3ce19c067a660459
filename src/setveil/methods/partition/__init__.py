"""The method Partition."""

from setveil.methods.partition.method import Partition

__all__ = ["Partition"]
