"""Disassociation: k^m-anonymity that keeps every term and hides which stand together. [Terrovitis2012]"""

from setveil.methods.disassociation.method import Disassociation, warmup

__all__ = ["Disassociation", "warmup"]
