"""The products of the generated shop, with its departments, aisles and families."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

ROOT = "All products"

# Each line is a group; subgroups are indented. `=` lists products of the group above it, `~` lists
# products that few people buy. Words on both sides of a bar are combined: `= tea, coffee | 100 g,
# 500 g` lists four products.
_TEXT = """
Fresh food
  Dairy
    Milk
      = whole milk, semi-skimmed milk, skimmed milk, lactose-free milk, organic whole milk,\
        goat milk | 0.5 l, 1 l, 2 l
      = buttermilk, kefir, chocolate milk
    Plant drinks
      = oat drink, soy drink, almond drink, rice drink, coconut drink | plain, unsweetened, vanilla
    Yogurt
      = plain yogurt, greek yogurt, lactose-free yogurt | 150 g, 500 g
      = fruit yogurt | strawberry, cherry, peach, blueberry, mango, vanilla, lemon, hazelnut
      = soy yogurt | plain, berry, vanilla
    Cheese
      Hard cheese
        = grated hard cheese, hard cheese piece, aged hard cheese
      Soft cheese
        = camembert, brie, blue cheese, goat cheese, feta, ricotta, mascarpone, cream cheese,\
          herb cream cheese
      Sliced cheese
        = young gouda, aged gouda, edam, emmental, cheddar, butter cheese | 200 g slices,\
          400 g slices
      = mozzarella, cottage cheese, grill cheese
    = salted butter, unsalted butter, margarine, whipping cream, sour cream, custard
  Eggs
    = free-range eggs, organic eggs, barn eggs | 6, 10
  Fruit
    = apples, pears, bananas, oranges, lemons, limes, grapefruit, mandarins, kiwis, mangoes,\
      pineapple, melon, watermelon, plums
    = peaches, nectarines, apricots, cherries, dates, figs
    Berries
      = strawberries, blueberries, raspberries, blackberries, red currants, gooseberries
    Grapes
      = white grapes, red grapes
  Vegetables
    Roots
      = carrots, potatoes, sweet potatoes, beetroot, celeriac, parsnips, radishes, ginger root
    Salads
      = iceberg lettuce, rocket, lamb's lettuce, baby spinach, mixed salad, chicory
    Cabbages
      = broccoli, cauliflower, white cabbage, red cabbage, kale, brussels sprouts, kohlrabi
    = tomatoes, cherry tomatoes, cucumber, courgette, aubergine, red peppers, green peppers, leek,\
      onions, red onions, garlic, celery
    = green beans, peas in pods, sweetcorn, asparagus, pumpkin, avocado, fresh herbs
    Mushrooms
      = button mushrooms, oyster mushrooms, shiitake
  Meat and fish
    Poultry
      = chicken breast, chicken legs, whole chicken, turkey slices, duck breast
    Beef
      = minced beef, beef steak, roast beef, beef stew cuts
    Pork
      = pork chops, pork fillet, minced pork, bacon
    Lamb
      = lamb chops, lamb shoulder
    Sausages
      = cooked ham, smoked ham, salami, liver sausage, frankfurters, grill sausages, turkey sausage
    Fish
      = salmon fillet, smoked salmon, cod fillet, trout, herring, prawns, mussels
    Meat-free
      = tofu, smoked tofu, soy mince, vegetable burger, falafel, seitan slices, lentil patties
  Bakery
    = white bread, rye bread, wholemeal bread, sourdough loaf, toast bread, gluten-free bread,\
      baguette, bread rolls, wholemeal rolls
    = croissants, pretzels, apple cake, cheesecake, doughnuts, cinnamon buns
Pantry
  Pasta and rice
    = spaghetti, penne, fusilli, lasagne sheets, egg noodles, wholemeal pasta, gluten-free pasta
    = long grain rice, basmati rice, risotto rice, brown rice, couscous, bulgur, quinoa, polenta
  Tins and jars
    = chopped tomatoes, peeled tomatoes, tomato paste, tomato sauce, basil pesto, red pesto,\
      chickpeas, kidney beans, baked beans, lentils
    = tinned tuna, sardines, gherkins, olives, capers, sauerkraut, coconut milk, apple sauce
    Soups
      = tomato soup, chicken soup, lentil soup, vegetable soup, goulash soup | tin, carton
  Baking
    = wheat flour, spelt flour, sugar, brown sugar, icing sugar, baking powder, dry yeast,\
      vanilla sugar, cocoa powder, baking chocolate
    = ground almonds, raisins, marzipan, gelatine, cake decorations
  Spices
    = salt, sea salt, black pepper, sweet paprika, hot paprika, curry powder, turmeric, cumin,\
      cinnamon, nutmeg, oregano, basil, thyme
    = rosemary, bay leaves, chilli flakes, ginger powder, garlic powder, vanilla pods, cloves,\
      cardamom, saffron
  Oils and sauces
    = olive oil, sunflower oil, rapeseed oil, sesame oil, balsamic vinegar, wine vinegar,\
      soy sauce, ketchup, mayonnaise, mild mustard
    = hot mustard, hot sauce, salad dressing, vegetable stock
  Breakfast
    = rolled oats, muesli, chocolate muesli, cornflakes, honey cereal, wheat bran
    Spreads
      = jam | strawberry, apricot, cherry, raspberry, orange
      = honey, hazelnut spread, peanut butter, maple syrup, yeast spread
  Snacks
    Crisps
      = potato crisps | salted, paprika, sour cream, vinegar, chilli
      = tortilla chips, pretzel sticks, popcorn, rice crackers
    Nuts
      = peanuts, cashews, almonds, walnuts, pistachios, mixed nuts | 100 g, 250 g
    Sweets
      Chocolate
        = chocolate bar | milk, dark 70 %, dark 85 %, white, hazelnut, marzipan, caramel, mint,\
          orange, sea salt, vegan, sugar-free
        = pralines, chocolate eggs, cocoa wafers
      = fruit gums, liquorice, peppermints, caramels, lollipops, chewing gum, marshmallows
      = sugar-free sweets, sugar-free gum
    Biscuits
      = butter biscuits, oat biscuits, chocolate biscuits, wafers, gingerbread, gluten-free biscuits
  Frozen
    = frozen pizza | cheese, salami, vegetable, tuna, spinach, gluten-free
    = frozen peas, frozen spinach, frozen berries, chips, fish fingers, frozen vegetables
    Ice cream
      = ice cream | vanilla, chocolate, strawberry, hazelnut, lemon, mint, caramel, cookie
Drinks
  Water
    = still water, sparkling water, medium sparkling water | 0.5 l, 1 l, 1.5 l
  Juice
    = orange juice, apple juice, grape juice, tomato juice, multivitamin juice, cherry juice,\
      carrot juice | 0.33 l, 1 l
  Soft drinks
    = cola, sugar-free cola, lemonade, orange soda, iced tea, tonic water, ginger ale,\
      energy drink, isotonic drink | 0.33 l, 1 l
  Hot drinks
    Coffee
      = ground coffee, coffee beans, instant coffee, espresso beans, decaffeinated coffee | 250 g,\
        500 g
      = coffee pods
    Tea
      = black tea, green tea, peppermint tea, camomile tea, fruit tea, fennel tea, ginger tea,\
        rooibos tea, white tea, sage tea
      ~ nursing tea, sleep tea, bladder tea
    = drinking chocolate
  Alcohol
    Beer
      = lager, pilsner, wheat beer, dark beer, pale ale, stout | 0.33 l, 0.5 l, crate
      = alcohol-free beer, radler, cider
    Wine
      = riesling, chardonnay, pinot gris | dry, sweet, organic, oak-aged, reserve, late harvest,\
        young, half bottle, magnum, box
      = pinot blanc, sauvignon, silvaner | dry, sweet, organic, oak-aged, reserve, late harvest,\
        young, half bottle, magnum, box
      = pinot noir, merlot, cabernet | dry, sweet, organic, oak-aged, reserve, late harvest,\
        young, half bottle, magnum, box
      = tempranillo, syrah | dry, sweet, organic, oak-aged, reserve, late harvest, young,\
        half bottle, magnum, box
      = red table wine, white table wine, rosé wine
      ~ alcohol-free wine, dessert wine, port wine, mulled wine
    Sparkling wine
      = sparkling wine dry, sparkling wine sweet
    Spirits
      ~ vodka, gin, rum, whisky, brandy, tequila, fruit brandy, herb liqueur,\
        coffee liqueur | 0.2 l, 0.7 l
Household
  Cleaning
    = all-purpose cleaner, glass cleaner, bathroom cleaner, toilet cleaner, oven cleaner,\
      limescale remover, scouring powder, floor cleaner
  Laundry
    = washing powder, liquid detergent, wool detergent, fabric softener, stain remover, bleach,\
      dye catcher cloths
  Dishes
    = washing-up liquid, dishwasher tabs, dishwasher salt, rinse aid, sponges, tea towels
  Paper
    = toilet paper, kitchen roll, tissues, paper napkins, baking paper, aluminium foil,\
      cling film, freezer bags, bin bags
  Home
    = batteries, light bulb, candles, matches, tea lights, firelighters, shoe polish, sewing kit,\
      drain cleaner, mousetrap, moth paper
  Stationery
    = notebook, ballpoint pens, pencils, envelopes, glue, sticky tape, scissors, felt-tip pens,\
      printer paper, folders
    Cards
      = birthday card, sympathy card
  Garden
    = potting soil, flower seeds, herb seeds, plant food, slug pellets, bird food, garden gloves
    = cut flowers, potted plant
Health and body
  Body care
    Hair
      = shampoo, conditioner | for dry hair, for oily hair, for fine hair, against dandruff,\
        for coloured hair, for children
      = hair dye | blond, light brown, dark brown, black, red, grey cover
      = hair spray, hair gel, comb
      ~ lice shampoo, hair loss tonic
    Teeth
      = toothpaste, toothbrush, dental floss, mouthwash, electric brush heads,\
        toothpaste for children
      ~ denture cleaner, denture glue
    Skin
      = hand cream, face cream, body lotion, lip balm, sun lotion, baby oil, cleansing milk,\
        face mask
      ~ anti-wrinkle cream, acne gel, wart remover, eczema cream, scar cream
    Shaving
      = razor, razor blades, shaving foam, aftershave, hair removal cream
    = soap bar, liquid soap, shower gel, bath foam, deodorant, deodorant roll-on, cotton buds,\
      cotton pads
    ~ incontinence pads, incontinence pants
  Period care
    = tampons, sanitary towels, panty liners, menstrual cup
  Health
    Pain and colds
      = cough syrup, throat lozenges, nasal spray, cold ointment, inhaler salt, fever thermometer
      ~ pain relief tablets, fever syrup for children, cold sore cream, migraine tablets
    Stomach
      ~ antacid tablets, laxative, diarrhoea tablets, travel sickness tablets,\
        haemorrhoid ointment, bloating drops
    Vitamins
      = vitamin C, vitamin D, vitamin B12, multivitamin, zinc, magnesium, iron tablets,\
        calcium tablets
      ~ folic acid, pregnancy vitamins, vitamins for over 60, hair and nail capsules
    Wounds
      = plasters, bandage, disinfectant, gauze, cooling gel
      ~ support stocking, knee brace
    Tests
      ~ pregnancy test | early, digital, double pack
      ~ ovulation test, blood sugar strips, blood pressure monitor, virus self-test,\
        HIV self-test, drug test
    Calm and sleep
      ~ valerian drops, sleep tablets, St John's wort, calming drops
    Quitting
      ~ nicotine patches, nicotine gum
    Diet
      = protein bar, meal replacement shake, sweetener
      ~ slimming tea, appetite blocker
  Intimate care
    ~ condoms | classic, extra thin, latex-free, large pack
    ~ lubricant, intimate wash, yeast infection cream, massage oil
  Glasses
    = reading glasses | 1.0, 1.5, 2.0, 2.5
    = contact lens solution
Family and pets
  Baby
    Nappies
      = nappies, night nappies, swim nappies | size 1, size 2, size 3, size 4, size 5
    Baby food
      = baby porridge | oat, rice, banana, vegetable
      = fruit jar, vegetable jar, meat jar | 4 months, 6 months, 8 months
      Infant milk
        = infant milk | first, follow-on, hypoallergenic, lactose-free
    = wet wipes, dummy, feeding bottle, baby shampoo, nappy cream
    ~ breast pads, nipple ointment
  Cats
    = cat food | beef, chicken, fish, rabbit, kitten, senior, kidney diet, dry
    = cat litter, cat treats, cat toy
  Dogs
    = dog food | beef, chicken, lamb, puppy, senior, grain-free, dry
    = dog treats, chew bone, dog waste bags
    ~ flea collar, worming tablets
  Small animals
    = hamster food, hay
  Toys
    = jigsaw puzzle, playing cards, building bricks, toy car, soft toy, colouring book,\
      modelling clay, soap bubbles, balloons
Tobacco and press
  Tobacco
    ~ cigarettes, rolling tobacco, cigars, rolling papers, lighter
    ~ e-cigarette liquid | tobacco, menthol, fruit
  Press
    = daily paper, weekly paper, television guide, women's magazine, men's magazine, car magazine,\
      cookery magazine, puzzle book
    ~ job paper, bridal magazine, parents' magazine, poker magazine
  = lottery ticket, gift card, phone credit, postage stamps, carrier bag
"""


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
    """All products in the order of the catalogue."""
    products: list[Product] = []
    groups: list[str] = []
    for line in _TEXT.strip().splitlines():
        depth, text = (len(line) - len(line.lstrip())) // 2, line.strip()
        del groups[depth:]
        if text[0] in "=~":
            above = (*reversed(groups), ROOT)
            products.extend(Product(name, above, text[0] == "~") for name in _combined(text[2:]))
        else:
            groups.append(text)
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
STAPLES = tuple(_combined(_STAPLES))
"""The families that sell most."""

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
