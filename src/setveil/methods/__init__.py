"""How the promise is kept."""

from importlib import import_module

from setveil.methods.disassociation import Disassociation
from setveil.methods.method import Method
from setveil.methods.partition import Partition
from setveil.methods.suppression import Suppression

METHODS: dict[str, type[Method]] = {
    "partition": Partition,
    "disassociation": Disassociation,
    "coherence": Suppression,
}


def warmup() -> None:
    """Compile the kernels of every method, so that the next call starts at once."""
    for kind in METHODS.values():
        import_module(kind.__module__).warmup()


__all__ = ["METHODS", "Disassociation", "Method", "Partition", "Suppression", "warmup"]
