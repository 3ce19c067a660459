"""A synthetic shop: baskets of products with readable names, and the tree of its departments."""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files

import numpy as np

from setveil.data.arrays import Int64s
from setveil.data.generate import draw
from setveil.data.transactions import Transactions
from setveil.data.vocabulary import Vocabulary
from setveil.errors import ParameterError

ROOT = "All products"


@dataclass(frozen=True)
class Product:
    """A product and the groups above it, from the nearest to the root."""

    name: str
    groups: tuple[str, ...]
    is_rare: bool

    @property
    def family(self) -> str:
        return self.groups[0]

    @property
    def path(self) -> tuple[str, ...]:
        return (self.name, *self.groups)


def read_catalogue() -> list[Product]:
    """All products in the order of `catalogue.txt`, which explains its own format."""
    products: list[Product] = []
    groups: list[str] = []
    text = files(__package__).joinpath("catalogue.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        depth, entry = (len(line) - len(line.lstrip())) // 2, line.strip()
        del groups[depth:]
        if entry[0] in "=~":
            above = (*reversed(groups), ROOT)
            products.extend(Product(name, above, entry[0] == "~") for name in _combined(entry[2:]))
        else:
            groups.append(entry)
    return products


def _combined(text: str) -> list[str]:
    """The products of one line: every combination of the words between bars."""
    columns = [[word.strip() for word in column.split(",")] for column in text.split("|")]
    return [" ".join(words) for words in itertools.product(*columns)]


RECIPES: tuple[tuple[str, ...], ...] = (
    ("spaghetti", "tomato sauce", "grated hard cheese", "basil"),
    ("minced beef", "chopped tomatoes", "onions", "lasagne sheets"),
    ("wheat flour", "sugar", "free-range eggs 10", "baking powder", "unsalted butter"),
    ("bread rolls", "salted butter", "jam strawberry"),
    ("tortilla chips", "avocado", "limes"),
    ("basmati rice", "curry powder", "coconut milk", "chickpeas"),
    ("mozzarella", "tomatoes", "olive oil", "fresh herbs"),
    ("grill sausages", "lager crate", "hot mustard", "baguette"),
    ("gin 0.7 l", "tonic water 1 l", "limes"),
    ("potato crisps paprika", "cola 1 l", "frozen pizza salami"),
    ("oat drink plain", "rolled oats", "frozen berries"),
    ("toilet paper", "kitchen roll", "bin bags"),
    ("smoked salmon", "cream cheese", "sparkling wine dry"),
    ("cough syrup", "throat lozenges", "tissues", "camomile tea"),
    ("pregnancy test early", "folic acid"),
    ("condoms classic", "lubricant"),
)
"""Products that are often bought together."""

_STAPLES = """
    Milk, Bakery, Vegetables, Fruit, Eggs, Sliced cheese, Dairy, Water, Coffee, Sausages, Paper,\
    Pasta and rice
"""
STAPLES = tuple(_combined(_STAPLES))  # the families that sell most

TASTES: tuple[tuple[str, ...], ...] = (
    ("Milk", "Bakery", "Fruit", "Vegetables"),
    ("Baby", "Nappies", "Baby food", "Infant milk"),
    ("Cats", "Tins and jars"),
    ("Dogs", "Sausages"),
    ("Meat-free", "Plant drinks", "Salads", "Nuts"),
    ("Beer", "Crisps", "Frozen", "Tobacco"),
    ("Wine", "Soft cheese", "Fish", "Press"),
    ("Spirits", "Soft drinks", "Tobacco"),
    ("Baking", "Spreads", "Spices"),
    ("Health", "Pain and colds", "Stomach", "Vitamins", "Tea"),
    ("Hair", "Skin", "Period care", "Diet"),
    ("Toys", "Sweets", "Ice cream", "Juice"),
    ("Tests", "Intimate care", "Period care"),
    ("Calm and sleep", "Quitting", "Tea"),
    ("Garden", "Home", "Cleaning"),
    ("Coffee", "Biscuits", "Chocolate", "Press"),
)
"""Groups that appeal to the same households."""


_BASKETS_PER_HOUSEHOLD = 4
_FAVOURITES = 10
_FROM_FAVOURITES, _FROM_TASTE = 45, 70
"""Cumulative percentages: where a household picks an item; the rest come from the whole shop."""
_RECIPE_CHANCE = 0.15
_SMALL, _LARGE = 3.5, 14.0  # average sizes of a quick errand and of a weekly shop
_LARGE_CHANCE = 0.25


@dataclass(frozen=True)
class Shop:
    """Baskets, and the path `(product, family, ..., root)` of every product, sold or not."""

    data: Transactions
    paths: tuple[tuple[str, ...], ...]


def shop(records: int = 10_000, seed: int = 0, *, products: int | None = None) -> Shop:
    """Baskets of a synthetic shop; some of its products are ones that people keep private.

    Few products sell often and most sell rarely (Zipf, within families and between them). There is
    one household for every four baskets. It has ten favourite products and a taste (small children,
    a cat, wine, somebody ill); about 45 % of its items are favourites, 25 % suit its taste and the
    rest come from anywhere. Every seventh basket has most ingredients of a recipe. A quarter of the
    baskets are weekly shops of about 14 items, the others errands of three or four.

    The tree is uneven, as real ones are: products are two to five steps below the root, and groups
    have from 2 to more than 100 children. Baskets do not show their household. The same arguments
    and seed give the same shop on any machine.

    Cost:
        Linear; 10,000 baskets take a fraction of a second, a million about ten seconds.

    `products` is how many different ones there are; by default the whole catalogue.

    Example:
        >>> made = shop(2_000, seed=1)
        >>> len(made.data), "whole milk 1 l" in made.data.vocabulary
        (2000, True)
        >>> next(path for path in made.paths if path[0] == "oat drink plain")
        ('oat drink plain', 'Plant drinks', 'Dairy', 'Fresh food', 'All products')
    """
    draw.whole("records", records, 0)
    random = draw.source(seed)
    shelf = _stocked(products)
    weights = _popularity(random, shelf)
    small, large = draw.poisson(random, _SMALL, records), draw.poisson(random, _LARGE, records)
    sizes = np.maximum(np.where(draw.chance(random, _LARGE_CHANCE, records), large, small), 1)
    owners = np.repeat(np.arange(records), sizes)
    homes = random.integers(max(records // _BASKETS_PER_HOUSEHOLD, 1), size=records)
    items = _purchases(random, shelf, weights, homes[owners], int(homes.max(initial=0)) + 1)
    with_recipe, parts = _recipes(random, shelf, records)
    owners, items = np.concatenate((owners, with_recipe)), np.concatenate((items, parts))
    data = _transactions(owners, items, shelf, records)
    return Shop(data, tuple(product.path for product in shelf))


def _stocked(products: int | None) -> list[Product]:
    """The catalogue, or this many of its products, evenly spread."""
    catalogue = read_catalogue()
    if products is None:
        return catalogue
    if draw.whole("products", products, 1) > len(catalogue):
        raise ParameterError("products", products, f"the catalogue has {len(catalogue)} products")
    return [catalogue[place * len(catalogue) // products] for place in range(products)]


def _popularity(random: np.random.Generator, shelf: Sequence[Product]) -> Int64s:
    """Whole weights: Zipf between families (staples first) and within each; rare products less."""
    families: dict[str, list[int]] = {}
    for place, product in enumerate(shelf):
        families.setdefault(product.family, []).append(place)
    weights = np.zeros(len(shelf), dtype=np.int64)
    shuffled = [list(families)[place] for place in random.permutation(len(families)).tolist()]
    for rank, family in enumerate(sorted(shuffled, key=lambda name: name not in STAPLES)):
        members = families[family]
        places = np.array(members)[random.permutation(len(members))]
        weights[places] = 1_000_000_000 // (rank + 6) // np.arange(2, len(members) + 2)
    rare = np.array([product.is_rare for product in shelf])
    return np.where(rare, weights // 12, weights) + 1


def _purchases(
    random: np.random.Generator,
    shelf: Sequence[Product],
    weights: Int64s,
    homes: Int64s,
    households: int,
) -> Int64s:
    """An item for each entry, by its household's favourites or taste, or from anywhere."""
    count = len(homes)
    favourites = draw.weighted(random, weights, (households, _FAVOURITES))
    tastes = random.integers(len(TASTES), size=households)
    items = draw.weighted(random, weights, count)
    place = random.integers(100, size=count)
    favourite = np.flatnonzero(place < _FROM_FAVOURITES)
    which = random.integers(_FAVOURITES, size=len(favourite))
    items[favourite] = favourites[homes[favourite], which]
    tasted = np.flatnonzero((place >= _FROM_FAVOURITES) & (place < _FROM_TASTE))
    for number, groups in enumerate(TASTES):
        liked = _products_of(shelf, groups)
        entries = tasted[tastes[homes[tasted]] == number]
        if len(liked):
            flat = np.sqrt(weights[liked]).astype(np.int64) + 1
            items[entries] = liked[draw.weighted(random, flat, len(entries))]
    return items


def _products_of(shelf: Sequence[Product], groups: Iterable[str]) -> Int64s:
    wanted = set(groups)
    places = [place for place, product in enumerate(shelf) if wanted & {*product.groups}]
    return np.array(places, dtype=np.int64)


def _recipes(
    random: np.random.Generator, shelf: Sequence[Product], records: int
) -> tuple[Int64s, Int64s]:
    """The baskets with a recipe, and most of its products."""
    places = {product.name: place for place, product in enumerate(shelf)}
    cooking = np.flatnonzero(draw.chance(random, _RECIPE_CHANCE, records))
    which = draw.weighted(random, 1_000 // np.arange(1, len(RECIPES) + 1), len(cooking))
    owners, items = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for number, recipe in enumerate(RECIPES):
        for part in recipe:
            baskets = cooking[which == number]
            taken = baskets[draw.chance(random, 0.85, len(baskets))]
            if part in places:
                owners.append(taken)
                items.append(np.full(len(taken), places[part]))
    return np.concatenate(owners), np.concatenate(items)


def _transactions(
    owners: Int64s, items: Int64s, shelf: Sequence[Product], records: int
) -> Transactions:
    """The baskets; their vocabulary is the products that were sold, alphabetically."""
    sold = np.flatnonzero(np.bincount(items, minlength=len(shelf)))
    order = sorted(sold.tolist(), key=lambda place: shelf[place].name)
    number = np.zeros(len(shelf), dtype=np.int64)
    number[order] = np.arange(len(order))
    sold_names = Vocabulary(shelf[place].name for place in order)
    return Transactions.from_pairs(owners, number[items], sold_names, size=records)
