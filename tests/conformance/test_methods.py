"""What every method must do on every engine, whatever the data."""

from __future__ import annotations

from random import Random

import pytest

from setveil.audit import verify
from setveil.data.transactions import Bags, Transactions
from setveil.engines.local import Local
from setveil.errors import InfeasibleError, ParameterError, UnknownItemError
from setveil.hierarchy.tree import Hierarchy
from setveil.methods import METHODS
from setveil.parameters import parameters
from setveil.promises import VocabularyKAnonymity

ENGINES = {"one thread": Local(1), "three threads": Local(3)}

AWKWARD = {
    "no record": [],
    "one item only": [["a"]] * 7,
    "all equal": [["a", "b", "c"]] * 9,
    "all different": [[str(i), str(i + 1)] for i in range(20)],
    "one very long record": [[str(i) for i in range(300)]] + [[str(i)] for i in range(30)],
    "only empty records": [[]] * 6,
    "one empty record": [[], ["a"], ["a"], ["b"], ["b"], ["a", "b"], ["b", "c"]],
    "mostly empty records": [[]] * 6 + [["a"]],
    "k = n": [["a"], ["b"], ["c", "d"]],
    "labels of any kind": [
        ["red wine", "x;y", "日本"],
        ["*", "*1"],
        ["1,2", 'the "best"'],
        ["*1.1", "-"],
    ],
}

INFEASIBLE = {
    (
        "disassociation",
        "mostly empty records",
    ): "only 1 record has items, but a cluster needs 3",
}
"""What a method cannot do, and how it says so: disassociation keeps every item, so those of few
records have nowhere to hide."""

sets = {name: method for name, method in METHODS.items() if method.reads != "tables"}
"""The methods that need no columns beside the sets; `test_tables` has the others."""
exact = {name: method for name, method in sets.items() if not method.draws_noise}
"""The methods whose result depends on the records alone."""
noisy = {name: method for name, method in METHODS.items() if method.draws_noise}
each_method = pytest.mark.parametrize("method", exact.values(), ids=exact)
each_noisy_method = pytest.mark.parametrize("method", noisy.values(), ids=noisy)
by_tree = {name: method for name, method in exact.items() if method.needs_hierarchy}
each_method_by_tree = pytest.mark.parametrize("method", by_tree.values(), ids=by_tree)
each_engine = pytest.mark.parametrize("engine", ENGINES.values(), ids=ENGINES)


of_bags = {
    name: method for name, method in METHODS.items() if VocabularyKAnonymity in method.promises
}
"""The methods that anonymize bags with their counts."""


def promise_of(method, k):
    """The first promise that a method keeps, with k for its first whole number."""
    kind, numbers = method.promises[0], {}
    for name, parameter in parameters(kind).items():
        if parameter.required:
            whole = int in parameter.kinds
            numbers[name] = 0.8 if not whole else 2 if any(map(is_whole, numbers.values())) else k
    return kind(**numbers)


def is_whole(number):
    return isinstance(number, int)


@each_method
@each_engine
@pytest.mark.parametrize("case", AWKWARD)
@pytest.mark.parametrize("fanout", [2, 5, 1000])
def test_every_release_verifies_and_keeps_the_number_of_records(method, engine, case, fanout):
    data = Transactions.of(AWKWARD[case])
    tree = Hierarchy.balanced(data.vocabulary, fanout)
    if (method.name, case) in INFEASIBLE:
        with pytest.raises(InfeasibleError, match=INFEASIBLE[method.name, case]):
            method().anonymize(data, promise_of(method, 3), tree, engine=engine)
        return
    release = method().anonymize(data, promise_of(method, 3), tree, engine=engine)
    assert len(release) == len(data)
    assert release.form == method.form
    assert verify(release, data).holds


@each_noisy_method
@each_engine
@pytest.mark.parametrize("case", AWKWARD)
@pytest.mark.parametrize("fanout", [2, 5, 1000])
def test_every_noisy_release_verifies(method, engine, case, fanout):
    data = Transactions.of(AWKWARD[case])
    tree = Hierarchy.balanced(data.vocabulary, fanout, public_items=True)
    release = method().anonymize(data, promise_of(method, 3), tree, engine=engine)
    assert release.form == method.form
    assert release.alignment is None
    assert verify(release, data).holds
    assert set(release.items) <= set(tree.labels[: tree.leaf_count])


@each_noisy_method
def test_two_noisy_releases_of_the_same_records_differ(method):
    data = Transactions.of([[str(number % 7)] for number in range(3000)])
    tree = Hierarchy.balanced(data.vocabulary, 3, public_items=True)
    one, other = (method().anonymize(data, promise_of(method, 3), tree) for _ in range(2))
    assert min(len(one), len(other)) > 0
    assert one != other


@each_noisy_method
def test_a_noisy_method_takes_plain_lists_and_bags(method):
    records = [["a", "b"], ["b", "b"], []] * 50
    tree = Hierarchy.from_paths([("a", "ALL"), ("b", "ALL")])
    for data in (records, Bags.of(records)):
        release = method().anonymize(data, promise_of(method, 2), tree)
        assert verify(release, data).holds


@each_noisy_method
def test_a_noisy_method_needs_public_items(method):
    data = Transactions.of([["a"]] * 3)
    with pytest.raises(ParameterError, match="must be public knowledge"):
        method().anonymize(data, promise_of(method, 3), Hierarchy.balanced(data.vocabulary, 2))


@each_method
def test_the_order_of_the_records_does_not_matter(method):
    records = AWKWARD["one very long record"] + AWKWARD["all different"] + AWKWARD["all equal"]
    tree = Hierarchy.balanced(Transactions.of(records).vocabulary, 3)
    forwards, backwards = (
        method().anonymize(Transactions.of(given), promise_of(method, 3), tree)
        for given in (records, records[::-1])
    )
    assert forwards == backwards


@each_method
@pytest.mark.parametrize("kind", [Transactions, Bags], ids=["sets", "bags"])
def test_the_order_of_random_records_does_not_matter(method, kind):
    for seed in range(25):
        chance = Random(seed)
        records = [chance.choices("abcdef", k=chance.randint(0, 5)) for _ in range(12)]
        tree = Hierarchy.balanced(Transactions.of(records).vocabulary, chance.choice([2, 3]))
        mixed = chance.sample(records, len(records))
        forwards, backwards = (
            method().anonymize(kind.of(given), promise_of(method, 2), tree)
            for given in (records, mixed)
        )
        assert forwards == backwards


@each_method
def test_more_than_all_records_is_refused_with_both_numbers(method):
    data = Transactions.of([["a"], ["b"]])
    with pytest.raises(
        InfeasibleError, match="the data has only 2 records: nobody can be hidden among 3"
    ):
        method().anonymize(data, promise_of(method, 3), Hierarchy.balanced(data.vocabulary, 2))


@each_method_by_tree
def test_items_absent_from_the_hierarchy_are_named(method):
    tree = Hierarchy.balanced(Transactions.of([["a", "b"]]).vocabulary, 2)
    with pytest.raises(UnknownItemError, match="'zebra'"):
        method().anonymize(Transactions.of([["a", "zebra"]] * 3), promise_of(method, 3), tree)


@each_method_by_tree
def test_a_missing_hierarchy_is_asked_for(method):
    with pytest.raises(ParameterError, match="needs a hierarchy"):
        method().anonymize(Transactions.of([["a"]] * 3), promise_of(method, 3))


@each_method
def test_records_may_be_plain_lists(method):
    records = [["a", "b"], ["b"], ["a"], ["a", "b"]]
    tree = Hierarchy.balanced(Transactions.of(records).vocabulary, 2)
    assert method().anonymize(records, promise_of(method, 2), tree) == method().anonymize(
        Transactions.of(records), promise_of(method, 2), tree
    )


@pytest.mark.parametrize("method", of_bags.values(), ids=of_bags)
@each_engine
@pytest.mark.parametrize("case", AWKWARD)
def test_every_release_of_bags_verifies_with_its_counts(method, engine, case):
    data = Bags.of([*record, *record[:2], *record[:1]] for record in AWKWARD[case])
    tree = Hierarchy.balanced(data.vocabulary, 3)
    release = method().anonymize(data, VocabularyKAnonymity(k=3), tree, engine=engine)
    assert len(release) == len(data)
    assert release.form == method.form
    assert isinstance(release.classes, Bags)
    verdict = verify(release, data, hierarchy=tree)
    assert verdict.holds, verdict.text
    assert verify(release.without_alignment(), data, hierarchy=tree).holds


@pytest.mark.parametrize("method", of_bags.values(), ids=of_bags)
def test_bags_are_published_alike_by_any_number_of_threads(method):
    data = Bags.of(
        [
            ["a", "b", "b"],
            ["a", "b"],
            ["c", "c", "d"],
            ["c", "d", "d"],
            ["a", "d"],
            ["b", "c"],
            ["e"] * 4,
            ["e"] * 3,
        ]
    )
    tree, promise = Hierarchy.balanced(data.vocabulary, 2), VocabularyKAnonymity(k=2)
    first, second = (
        method().anonymize(data, promise, tree, engine=engine) for engine in ENGINES.values()
    )
    assert first == second
    assert first.alignment.tolist() == second.alignment.tolist()
