"""Generated data: Quest-like records of numbered items, and a shop with readable products and a tree over them."""

from __future__ import annotations

from setveil.data.generate.quest import quest
from setveil.data.generate.shop import Shop, shop

__all__ = ["Shop", "quest", "shop"]
