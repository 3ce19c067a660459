"""The method Disassociation. [Terrovitis2012]"""

from setveil.methods.disassociation.method import Disassociation

__all__ = ["Disassociation"]
