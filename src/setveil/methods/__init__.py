"""How the promise is kept."""

from setveil.methods.method import Method
from setveil.methods.partition import Partition

METHODS: dict[str, type[Method]] = {
    "partition": Partition,
}

__all__ = ["METHODS", "Method", "Partition"]
