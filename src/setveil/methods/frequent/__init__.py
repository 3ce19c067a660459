"""The method Frequent: noisy supports of frequent items and pairs, and records that fit them."""

from setveil.methods.frequent.method import Frequent

__all__ = ["Frequent"]
