"""Disassociation: k^m-anonymity that keeps every term and hides which stand together.
[Terrovitis2012]"""

from setveil.methods.disassociation.method import Disassociation

__all__ = ["Disassociation"]
