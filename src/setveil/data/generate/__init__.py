"""Synthetic data: Quest-like records, baskets of a shop with a product tree, and query logs."""

from setveil.data.generate.querylog import querylog
from setveil.data.generate.quest import quest
from setveil.data.generate.shop import Shop, shop

__all__ = ["Shop", "querylog", "quest", "shop"]
