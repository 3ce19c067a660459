"""How the promise is kept."""

from setveil.methods.diffpart import DiffPart
from setveil.methods.disassociation import Disassociation
from setveil.methods.frequent import Frequent
from setveil.methods.groups import Groups
from setveil.methods.method import Method
from setveil.methods.partition import Partition
from setveil.methods.recoding.onecut import Apriori, HgHs, MHgHs
from setveil.methods.ssc import SSC
from setveil.methods.suppression import Suppression
from setveil.published import Release

METHODS: dict[str, type[Method[Release]]] = {
    "partition": Partition,
    "disassociation": Disassociation,
    "suppression": Suppression,
    "groups": Groups,
    "apriori": Apriori,
    "hghs": HgHs,
    "mhghs": MHgHs,
    "ssc": SSC,
    "frequent": Frequent,
    "diffpart": DiffPart,
}


def warmup() -> None:
    """Compile the kernels of every method, so that the next call starts at once."""
    for kind in METHODS.values():
        kind.warmup()


__all__ = [
    "METHODS",
    "SSC",
    "Apriori",
    "DiffPart",
    "Disassociation",
    "Frequent",
    "Groups",
    "HgHs",
    "MHgHs",
    "Method",
    "Partition",
    "Suppression",
    "warmup",
]
