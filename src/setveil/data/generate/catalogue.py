"""The products of the generated shop, with its departments, aisles and families."""

from dataclasses import dataclass
from importlib.resources import files
from itertools import product

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
    return [" ".join(words) for words in product(*columns)]


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
