"""Who may be meant by known items, for published records. Plain, slow, standard library only.

A published record is a set of labels; `below` gives the items that a label may represent."""


def candidates(records, below, known, lacking=(), *, suppressed=(), empty_is_anybody=False):
    """How many published records could be that of a person with the known items and without the
    lacking ones: each known item that is not suppressed everywhere is below a label of it, and no
    label means one of the lacking items and nothing else."""
    traced = [item for item in known if item not in suppressed]
    found = 0
    for record in records:
        free = empty_is_anybody and not record
        fits = free or all(any(item in below[label] for label in record) for item in traced)
        barred = any(below[label] == {item} for label in record for item in lacking)
        found += fits and not barred
    return found


def beliefs(records, below, known, *, suppressed=(), items=()):
    """How likely a person with the known items has each other one: a label over w items means each
    of them with a chance of 1/w, records are as likely as their labels mean the known items."""
    weights = []
    for record in records:
        weight = 1.0
        for item in known:
            if item not in suppressed:
                weight *= sum(1 / len(below[label]) for label in record if item in below[label])
        weights.append(weight)
    total = sum(weights)
    return {
        item: sum(
            weight * sum(1 / len(below[label]) for label in record if item in below[label])
            for record, weight in zip(records, weights, strict=True)
        )
        / total
        for item in items
    }
