"""The rule of a release on other data, plainly."""

from itertools import combinations


def applied(records, paths, shown):
    """Each record with each item replaced by the published node on its path; others left out."""
    above = {path[0]: next((node for node in path if node in shown), None) for path in paths}
    return [{above[item] for item in record if above.get(item)} for record in records]


def keeps_km(records, k, m):
    """Whether each set of up to m items that occurs is in at least k records."""
    return all(
        sum(set(some) <= record for record in records) >= k
        for record in records
        for size in range(1, m + 1)
        for some in combinations(sorted(record), size)
    )
