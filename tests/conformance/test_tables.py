"""What every method for tables, columns beside sets, must do, whatever the data."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from setveil import Hierarchy, Table, Transactions, measure, verify
from setveil.data.tables.beside import column_of
from setveil.engines.local import Local
from setveil.errors import InfeasibleError
from setveil.methods import METHODS
from tests.conformance.test_methods import AWKWARD, promise_of

tables = {name: method for name, method in METHODS.items() if method.reads == "tables"}
each_method = pytest.mark.parametrize("method", tables.values(), ids=tables)
COLUMNS = {
    "all equal": lambda row: "7",
    "all different": str,
    "few numbers": lambda row: str(row % 3),
    "few words": lambda row: "abc"[row % 3],
    "dates, some missing": lambda row: f"2001-01-{row % 28 + 1:02}" if row % 4 else "",
}
WITHIN = ("disassociation", "partition", "apriori", "mhghs", "suppression")


def table(case, columns=tuple(COLUMNS)):
    """The sets of a case with these columns."""
    rows = AWKWARD[case]
    made = [column_of(name, [COLUMNS[name](row) for row in range(len(rows))]) for name in columns]
    return Table.beside(Transactions.of(rows), made)


def people_of(data):
    return int((data.lengths > 0).sum())


@each_method
@pytest.mark.parametrize("within", WITHIN)
@pytest.mark.parametrize("case", [case for case in AWKWARD if case != "no record"])
def test_every_release_of_a_table_verifies(method, within, case):
    for columns in (("few words",), tuple(COLUMNS)):
        data = table(case, columns)
        tree = Hierarchy.balanced(data.vocabulary, 3)
        made = method(within=within)
        if 0 < people_of(data) < 3:
            with pytest.raises(InfeasibleError, match="a group needs 3"):
                made.anonymize(data, promise_of(method, 3), tree)
            continue
        release = made.anonymize(data, promise_of(method, 3), tree)
        assert len(release) == len(data)
        verdict = verify(release, data)
        assert verdict.holds, verdict


@each_method
def test_the_order_of_the_rows_and_the_threads_do_not_matter(method):
    data = table("all different")
    order = np.random.default_rng(3).permutation(len(data))
    forwards = method().anonymize(data, promise_of(method, 3), engine=Local(1))
    backwards = method().anonymize(data.take(order), promise_of(method, 3), engine=Local(3))
    assert forwards == backwards


@each_method
def test_a_method_and_its_release_can_be_sent_to_another_process(method):
    data = table("one very long record")
    for twin in (pickle.loads(pickle.dumps(method())), copy.deepcopy(method())):
        assert twin == method()
    release = method().anonymize(data, promise_of(method, 3))
    twin = pickle.loads(pickle.dumps(release))
    assert twin == release
    assert measure(twin, data) == measure(release, data)
    assert verify(twin, data).holds
