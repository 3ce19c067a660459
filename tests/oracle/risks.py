"""Prosecutor, journalist and marketer risk of known items. Plain, slow, standard library only.

`fits(record, known, lacking)` says whether a published record could be that of a person with the
known items and without the lacking ones."""

from fractions import Fraction


def holders(people, known, lacking=()):
    """How many people have all known items and none of the lacking ones."""
    return sum(set(known) <= set(one) and not set(lacking) & set(one) for one in people)


def risks(cases, people, published, population, fits):
    """The risk of equally likely cases, each a person (by number), what is known of them, and what
    they are known to lack; `published[i]` is the record that was published for person i."""
    found = {name: [] for name in ("unique", "unchanged", "prosecutor", "journalist", "marketer")}
    held = {item for one in people for item in one}
    for person, said, lacking in cases:
        known = [item for item in said if item in held]  # what nobody has is of no use
        places = [at for at, record in enumerate(published) if fits(record, known, lacking)]
        is_true = set(said) <= set(people[person])
        have = holders(people, known, lacking)
        chance = Fraction(1, len(places)) if places else Fraction(1, len(people))
        found["unique"].append(Fraction(is_true and have == 1))
        found["unchanged"].append(Fraction(int(is_true), max(have, 1)))
        found["prosecutor"].append(chance)
        found["journalist"].append(
            chance * Fraction(have, max(holders(population, known, lacking), 1))
        )
        found["marketer"].append(chance if person in places else Fraction(0))
    averages = {name: sum(values) / len(values) for name, values in found.items()}
    return averages, max(found["prosecutor"]), max(found["journalist"])


def rarest(people, person, number, among):
    """The items of a person that fewest people have, of those that may be known; ties by name."""
    supports = {item: sum(item in one for one in people) for item in among}
    own = sorted(set(people[person]) & set(among), key=lambda item: (supports[item], item))
    return tuple(own[:number])
