"""SSC: vocabulary k-anonymity by clusters of bags that are close in meaning. [Liu2010b]"""

from setveil.methods.ssc.method import SSC

__all__ = ["SSC"]
