"""Synthetic data: Quest-like records, baskets of a shop with a product tree, query logs, and
patients."""

from setveil.data.generate.patients import Patients, patients
from setveil.data.generate.querylog import querylog
from setveil.data.generate.quest import quest
from setveil.data.generate.shop import Shop, shop

__all__ = ["Patients", "Shop", "patients", "querylog", "quest", "shop"]
