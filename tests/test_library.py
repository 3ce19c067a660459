"""The library's public functions: what they take, what they refuse, how answers are shown."""

from __future__ import annotations

import inspect
import pickle
from functools import cache

import numpy as np
import pandas as pd
import pytest

import setveil as sv
from setveil.errors import DataError, MisfitError, ParameterError

ROWS = [["a", "b"], ["a", "b"], ["c"], ["c"], ["a", "c"], ["a", "c"]]
DATA = sv.Transactions.of(ROWS)
TREE = sv.Hierarchy.balanced(DATA, 2)
TABLE = pd.DataFrame({"items": ROWS})


@cache
def sets():
    """Like the other releases made by the first test that asks, as kernels may be compiled."""
    return sv.Partition().anonymize(ROWS, sv.KAnonymity(k=2), TREE)


@cache
def pieces():
    return sv.Disassociation().anonymize(ROWS, sv.KmAnonymity(k=2, m=2))


@cache
def kept():
    return sv.Suppression().anonymize(ROWS, sv.Coherence(h=0.9, k=2, p=2))


@cache
def words():
    return sv.SSC().anonymize(ROWS, sv.VocabularyKAnonymity(k=2), TREE)


RELEASES = {
    "generalized": sets,
    "disassociated": pieces,
    "suppressed": kept,
    "typical-bags": words,
}
WITH_RECORDS = ("generalized", "suppressed", "typical-bags")

each_release = pytest.mark.parametrize("release", RELEASES, indirect=True)
each_with_records = pytest.mark.parametrize("release", WITH_RECORDS, indirect=True)


@pytest.fixture
def release(request):
    """The release of a form."""
    found = RELEASES[request.param]()
    assert found.form == request.param
    return found


@pytest.mark.parametrize("name", [name for name in sv.__all__ if callable(getattr(sv, name))])
def test_every_public_name_is_explained_by_an_example(name):
    text = inspect.getdoc(getattr(sv, name))
    assert text
    assert ">>> " in text or name in ("Outcome", "SetveilError", "read_release")


@pytest.mark.parametrize(
    "data",
    [ROWS, TABLE, [np.array(row) for row in ROWS], DATA],
    ids=lambda data: type(data).__name__,
)
def test_functions_of_data_take_what_people_have(data):
    assert sv.summarize(data) == sv.summarize(DATA)
    assert sv.exposure(data) == sv.exposure(DATA)
    assert list(sv.top_itemsets(data, 3)) == list(sv.top_itemsets(DATA, 3))
    assert sv.verify(data, promise=sv.KAnonymity(k=2)).holds
    assert sv.verify(sets(), data).holds
    assert sv.measure(sets(), data) == sv.measure(sets(), DATA)
    assert sv.Hierarchy.balanced(sv.as_transactions(data), 2) == TREE


@each_with_records
def test_a_release_with_records_is_data(release):
    assert sv.summarize(release).records == 6
    assert sv.exposure(release).whole == 0
    assert list(sv.top_itemsets(release, 1)) == list(sv.top_itemsets(release.records(seed=1), 1))
    assert len(sv.convert(release, "pandas-lists")) == 6
    assert release.records().support(["a"]) == 4


def test_a_release_without_records_says_what_to_do():
    for use in (
        sv.as_transactions,
        sv.summarize,
        sv.exposure,
        sv.top_itemsets,
        lambda release: sv.convert(release, "lists"),
    ):
        with pytest.raises(
            DataError, match=r"make possible ones with setveil\.reconstruct\(release\)"
        ):
            use(pieces())
    assert sv.summarize(sv.reconstruct(pieces(), seed=1)).records == 6


@each_release
def test_every_release_is_reconstructed_from_itself_or_its_folder(release, tmp_path):
    world = sv.reconstruct(release, seed=1)
    assert world == release.reconstruct(1)
    assert len(world) == len(release)
    sv.write(release, tmp_path / "it")
    assert len(sv.reconstruct(tmp_path / "it", seed=1)) == len(release)


@pytest.mark.parametrize("data", [DATA, None], ids=repr)
def test_only_releases_are_reconstructed(data):
    with pytest.raises(ParameterError, match="it must be a release or its folder"):
        sv.reconstruct(data)


@each_with_records
def test_only_releases_with_term_chunks_take_a_number_per_term(release):
    with pytest.raises(ParameterError, match="has no term chunks"):
        sv.reconstruct(release, most_per_term=2)


@each_release
def test_the_top_itemsets_of_every_release_have_bounds(release):
    for itemset, bounds in sv.top_itemsets_with_bounds(release, 3):
        assert bounds == release.support(itemset)
        assert bounds.lower <= bounds.guess <= bounds.upper


@pytest.mark.parametrize("data", [DATA, None], ids=repr)
def test_bounds_are_for_releases(data):
    with pytest.raises(ParameterError, match="top_itemsets takes data"):
        sv.top_itemsets_with_bounds(data)


def test_a_text_is_no_itemset():
    with pytest.raises(DataError, match="write \\['ab'\\] for one item"):
        pieces().support("ab")
    with pytest.raises(DataError, match="a record must be an iterable of items, not 5"):
        pieces().support(5)
    assert pieces().support(np.array(["a", "b"])) == pieces().support({"b", "a"})


@each_release
@pytest.mark.parametrize("seed", ["x", -1, 1.5, True], ids=repr)
def test_what_is_no_seed_is_refused(release, seed):
    def asked():
        yield lambda: sv.measure(release, DATA, seed=seed)
        yield lambda: sv.reconstruct(release, seed)
        if release is not pieces():
            yield lambda: release.records(seed)

    for ask in asked():
        with pytest.raises(ParameterError, match="it must be a whole number of 0 or more, or None"):
            ask()


@each_release
def test_one_measure_may_be_named_alone(release):
    name = {
        "generalized": "ncp",
        "disassociated": "tlost",
        "suppressed": "distortion",
        "typical-bags": "term_counts",
    }[release.form]
    assert sv.measure(release, DATA, name) == sv.measure(release, DATA, [name])


@each_release
def test_what_cannot_be_measured_is_refused(release):
    with pytest.raises(ParameterError, match=r"it must be a release or its folder"):
        sv.measure(DATA, release)
    with pytest.raises(ParameterError, match="it must be a list of metrics"):
        sv.measure(release, DATA, 3)
    with pytest.raises(ParameterError, match="metric = 'speed' is not allowed"):
        sv.measure(release, DATA, ["speed"])
    with pytest.raises(ParameterError, match="it must be a Hierarchy"):
        sv.measure(release, DATA, hierarchy=5)
    with pytest.raises(ParameterError, match="measure has no such parameter; did you mean 'seed"):
        sv.measure(release, DATA, seeds=5)
    with pytest.raises(DataError, match="an object of type NoneType does not hold records"):
        sv.measure(release, None)
    with pytest.raises(MisfitError, match="it has 6 records and the original has 5"):
        sv.measure(release, ROWS[:5])


@pytest.mark.parametrize(
    ("arguments", "options", "problem"),
    [
        (lambda: (None,), {}, "an object of type NoneType does not hold records"),
        (lambda: ("release",), {}, "release is not a usable release: there is no such folder"),
        (lambda: (ROWS,), {}, "plain data carries no promise"),
        (lambda: (DATA, sets()), {}, "plain data carries no promise"),
        (
            lambda: (sets(), sv.KAnonymity(k=2)),
            {},
            "an object of type KAnonymity does not hold records",
        ),
        (lambda: (sets(),), {"promise": 2}, "promise = 2 is not allowed"),
        (lambda: (sets(),), {"limit": 0}, "it must be a whole number of 1 or more"),
        (lambda: (words(), DATA), {"hierarchy": 5}, "it must be a Hierarchy"),
        (lambda: (words(), DATA), {"hierarchy": "tree.csv"}, "tree.csv: there is no such file"),
        (lambda: (sets(),), {"colour": "red"}, "verify has no such parameter"),
        (lambda: (sets(),), {"m": 2}, "m = 2 is not allowed|k = None is not allowed"),
    ],
    ids=lambda value: None if callable(value) else repr(value),
)
def test_what_cannot_be_verified_is_refused(arguments, options, problem):
    with pytest.raises((DataError, ParameterError), match=problem):
        sv.verify(*arguments(), **options)


@pytest.mark.parametrize(
    ("ask", "problem"),
    [
        (lambda: sv.top_itemsets(DATA, 0), "count = 0 is not allowed"),
        (lambda: sv.top_itemsets(DATA, 2.5), "count = 2.5 is not allowed"),
        (lambda: sv.top_itemsets(DATA, "x"), "count = 'x' is not allowed"),
        (lambda: sv.top_itemsets(DATA, 1, least_size=0), "least_size = 0 is not allowed"),
        (
            lambda: sv.top_itemsets(DATA, 1, weights=[1]),
            "a whole number of 0 or more for each of the 6 records",
        ),
        (
            lambda: sv.top_itemsets(DATA, 1, weights=[-1] * 6),
            "a whole number of 0 or more for each of the 6 records",
        ),
        (
            lambda: sv.top_itemsets(DATA, 1, weights=[0.5] * 6),
            "a whole number of 0 or more for each of the 6 records",
        ),
        (lambda: sv.top_itemsets_with_bounds(pieces(), 0), "count = 0 is not allowed"),
        (lambda: sv.reconstruct(pieces(), most_per_term=0), "most_per_term = 0 is not allowed"),
        (lambda: sv.exposure(DATA, k=1), "k = 1 is not allowed"),
        (lambda: sv.exposure(DATA, known="2"), "known = '2' is not allowed"),
        (lambda: sv.summarize(DATA, -1), "most_frequent = -1 is not allowed"),
        (lambda: sv.summarize(DATA, "x"), "most_frequent = 'x' is not allowed"),
    ],
)
def test_numbers_outside_what_is_allowed_are_refused(ask, problem):
    with pytest.raises(ParameterError, match=problem):
        ask()


def test_numbers_of_numpy_are_numbers():
    assert list(sv.top_itemsets(DATA, np.int64(2))) == list(sv.top_itemsets(DATA, 2))
    assert sv.exposure(DATA, k=np.int64(2), known=np.int64(2)) == sv.exposure(DATA, k=2, known=[2])
    assert sets().records(np.int64(3)) == sets().records(3)
    assert sv.verify(sets(), limit=np.int64(2)).holds


def test_a_verdict_is_true_when_it_holds():
    good, bad = sv.verify(sets(), DATA), sv.verify(DATA, promise=sv.KAnonymity(k=3))
    assert good
    assert not bad
    assert repr(good) == "Verdict(holds: k-anonymity (k = 2); 4 of 4 checks hold)"
    assert repr(bad) == "Verdict(DOES NOT HOLD: k-anonymity (k = 3); 0 of 1 checks hold)"
    assert pickle.loads(pickle.dumps(bad)) == bad


def test_itemsets_are_shown_in_one_line():
    assert (
        repr(sv.top_itemsets(DATA, 2))
        == "Itemsets(2 itemsets for the 2 asked for, supports 4 to 4)"
    )
    assert repr(sv.top_itemsets([], 2)) == "Itemsets(0 itemsets for the 2 asked for)"


def test_an_index_of_pieces_is_not_sent_along():
    release = sv.Disassociation().anonymize(ROWS, sv.KmAnonymity(k=2, m=2))
    before = len(pickle.dumps(release))
    assert release.support(["a"]).lower == 4
    assert len(pickle.dumps(release)) <= before + 200
    assert pickle.loads(pickle.dumps(release)).support(["a"]) == release.support(["a"])


@pytest.mark.parametrize("path", [None, 5, TABLE], ids=lambda path: type(path).__name__)
def test_what_is_no_file_is_refused(path):
    with pytest.raises(ParameterError, match=r"setveil\.as_transactions converts tables and lists"):
        sv.read(path)
    with pytest.raises(
        ParameterError, match="give the name of a file, or of a folder for a release"
    ):
        sv.write(DATA, path)


@pytest.mark.parametrize(
    "name",
    [
        "data.csv",
        "data.tsv",
        "data.dat",
        "data.baskets",
        "data.parquet",
        "data.jsonl",
        "data.csv.gz",
    ],
)
def test_data_is_written_as_it_is_handed_over_and_read_again(tmp_path, name):
    sv.write(TABLE, tmp_path / name)
    assert sv.read(tmp_path / name) == DATA
    with pytest.raises(DataError, match="read files with"):
        sv.write("data.csv", tmp_path / name, force=True)
    assert sv.read(tmp_path / name) == DATA


@each_release
def test_a_release_is_the_same_after_writing_and_reading(tmp_path, release):
    sv.write(release, tmp_path / "release", public_items=release.form == "generalized")
    again = sv.read_release(tmp_path / "release")
    assert again == release
    assert again.promise == release.promise
    assert repr(again) == repr(release)
    assert (
        sv.verify(again, DATA, hierarchy=TREE).holds
        == sv.verify(release, DATA, hierarchy=TREE).holds
        is True
    )
    assert sv.measure(again, DATA, hierarchy=TREE) == sv.measure(release, DATA, hierarchy=TREE)
    if release.form != "disassociated":
        assert again.records(seed=1) == release.records(seed=1)


BASKETS = "who,what\n1,a\n1,b\n2,a\n2,b\n3,c\n4,c\n5,a\n5,c\n6,a\n6,c\n"
WORDS_OF_FILES = {"record": "who", "item": "what"}


@pytest.fixture
def baskets(tmp_path):
    (tmp_path / "baskets.csv").write_text(BASKETS, encoding="utf-8")
    return tmp_path / "baskets.csv"


def test_the_verbs_take_files_and_the_words_of_the_command_line(baskets, tmp_path):
    found = sv.inspect(baskets, k=2, **WORDS_OF_FILES)
    assert found.summary == sv.summarize(DATA)
    assert str(found) == sv.exposure(DATA, k=2).text
    how = {"k": 2, "m": 2, "method": "mhghs", "restarts": 1, "hierarchy": "balanced:2"}
    done = sv.anonymize(baskets, output=tmp_path / "release", **how, **WORDS_OF_FILES)
    assert done.release.promise == sv.KmAnonymity(k=2, m=2)
    assert done.release.method["restarts"] == 1
    assert sv.verify(tmp_path / "release", baskets, **WORDS_OF_FILES).holds
    assert not sv.verify(tmp_path / "release", k=7).holds
    assert sv.measure(tmp_path / "release", baskets, "ncp", **WORDS_OF_FILES)["ncp"] >= 0
    assert sv.verify(str(baskets), k=2, **WORDS_OF_FILES).holds


def test_the_verbs_take_objects_and_give_what_a_job_gives():
    done = sv.anonymize(ROWS, k=2, hierarchy=TREE)
    twin = sv.run(
        sv.Job(data=ROWS, promise=sv.KAnonymity(k=2), method=sv.Partition(), hierarchy=TREE)
    )
    assert done.release == twin.release
    assert done.losses == twin.losses
    assert sv.anonymize(ROWS, promise=sv.KAnonymity(k=2), method=sv.Partition(), hierarchy=TREE)


def test_items_are_named_as_on_the_command_line():
    done = sv.anonymize(ROWS, method="coherence", k=2, p=1, h=0.9, private="b*")
    assert done.release.method["name"] == "suppression"
    assert done.verdict.promise.private == {"b"}
    nested = sv.anonymize(ROWS, method="disassociation", k=2, m=2, l=2, sensitive=["b", "c"])
    assert nested.release.promise.diversity == sv.LDiversity(l=2, sensitive=["b", "c"])


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ({}, r"say how many records each person is hidden among, such as k=10"),
        ({"k": 2, "method": "magic"}, "choose one of partition, "),
        ({"k": 2, "promise": "magic"}, "choose one of k-anonymity, "),
        ({"k": 2, "hierachy": TREE}, "anonymize has no such parameter; did you mean 'hierarchy"),
        (
            {"k": 2, "method": "partition", "restarts": 2},
            "the method partition does not use it; apriori, hghs and mhghs do",
        ),
        ({"k": 2, "m": 2, "p": 1}, "does not use it"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, dict) else None,
)
def test_words_that_do_not_fit_are_refused(words, problem):
    with pytest.raises(ParameterError, match=problem):
        sv.anonymize(ROWS, **words)
