"""Query logs: compared with the oracle and the paper's figure, and logs of all kinds."""

from __future__ import annotations

import gzip
import io
import re
from collections import Counter
from datetime import datetime, timedelta

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from setveil import Bags, read, read_querylog
from setveil.data.logterms import as_written
from setveil.errors import FileFormatError, ParameterError
from setveil.hierarchy.wordnet.network import WordNet
from tests.oracle import querylog as oracle

FIGURE_1 = """\
01\tWine\t2006-01-01 01:00:00\t3\ta.c
01\tWine\t2006-01-01 01:00:00\t8\tb.c
01\tJackets, Boots\t2006-01-01 01:15:00\t3\tc.c
01\tJackets, Boots\t2006-01-01 01:15:00\t5\td.c
01\tWine\t2006-01-01 02:05:00\t4\tx.c
"""
"""[Liu2010b] figure 1 (a), the rows of user 01."""


def made(log: str | bytes, /, **options):
    options = {"lemma": as_written, "stop_words": (), **options}
    return read_querylog(io.BytesIO(log if isinstance(log, bytes) else log.encode()), **options)


def counters(data) -> list[Counter[str]]:
    counts = data.counts.tolist() if isinstance(data, Bags) else [1] * len(data.items)
    bounds = data.indptr.tolist()
    return [
        Counter(dict(zip(row, counts[start:], strict=False)))
        for row, start in zip(data, bounds, strict=False)
    ]


def in_any_order(bags) -> list[list[tuple[str, int]]]:
    return sorted(sorted(bag.items()) for bag in bags)


def test_the_figure_of_the_paper():
    data, report = made(FIGURE_1)
    assert counters(data) == [Counter(wine=2, jackets=1, boots=1)]
    assert (
        report.rows,
        report.queries,
        report.merged_clicks,
        report.users,
        report.vocabularies,
    ) == (5, 3, 2, 1, 1)


def test_the_figure_of_the_paper_with_sessions():
    data, _ = made(FIGURE_1, gap="30m")
    assert in_any_order(counters(data)) == [
        [("boots", 1), ("jackets", 1), ("wine", 1)],
        [("wine", 1)],
    ]


def test_a_pause_as_long_as_the_gap_ends_no_session():
    assert len(made(FIGURE_1, gap="50m")[0]) == 1
    assert len(made(FIGURE_1, gap=timedelta(minutes=50, microseconds=-1))[0]) == 2


WORDS = st.sampled_from(
    [
        "Wine",
        "wine",
        "red's",
        "don't",
        "CAFÉ",
        "cafe\u0301",
        "naïve",
        "Straße",
        "STRASSE",
        "7",
        "7-up",
        "x_y",
        "'",
        "日本",
        "—",
    ]
)
TEXTS = st.lists(WORDS, max_size=3).map(" ".join)
TIMES = st.integers(0, 7200).map(
    lambda second: f"2006-03-01 {second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}"
)
USERS = st.sampled_from(["1", "2", " 10"])
CLICKS = st.sampled_from(["", "\t\t", "\t3\thttp://a.b", "\t1"])
ROWS = st.builds("{}\t{}\t{}{}".format, USERS, TEXTS, TIMES, CLICKS)
BAD = st.sampled_from(
    [
        "7\tno time",
        "\twine\t2006-03-01 00:00:00\t\t",
        "7\twine\t2006-13-01 00:00:00",
        "1\ta\tb\tc\td\te",
        "",
        oracle.HEADER,
    ]
)
LOGS = st.lists(ROWS | BAD, min_size=1, max_size=12)


@given(
    LOGS,
    st.sampled_from([None, timedelta(0), timedelta(minutes=5), timedelta(minutes=30)]),
    st.integers(1, 2),
    st.booleans(),
)
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_vocabularies_are_those_of_the_oracle(lines, gap, least_users, headed):
    text = "\n".join(
        [oracle.HEADER, *lines] if headed else ["9\tfirst\t2006-03-01 00:00:00", *lines]
    )
    queries, rows, bad = oracle.parse(text)
    if not queries:
        with pytest.raises(FileFormatError):
            made(text)
        return
    data, report = made(text, gap=gap, min_users=least_users, stop_words=["wine"])
    assert in_any_order(counters(data)) == in_any_order(
        oracle.bags(text, gap, frozenset(["wine"]), least_users)
    )
    assert (report.queries, report.bad_rows, report.rows) == (
        len(queries),
        len(bad),
        rows + len(bad),
    )
    assert [line.line for line in report.bad_lines] == bad[:5]
    assert report.sessions == len(oracle.sessions(queries, gap))
    assert (
        report.occurrences
        == report.stopped_occurrences + report.rare_occurrences + report.kept_occurrences
    )
    assert report.kept_occurrences == data.occurrences


@given(LOGS, st.sampled_from([None, timedelta(minutes=5)]))
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_sets_of_queries_are_those_of_the_oracle(lines, gap):
    text = "\n".join([oracle.HEADER, "9\tfirst\t2006-03-01 00:00:00", *lines])
    data, _ = made(text, gap=gap, terms="queries")
    assert not isinstance(data, Bags)
    assert sorted(map(sorted, data)) == sorted(map(sorted, oracle.query_sets(text, gap)))


def test_the_order_of_rows_does_not_matter_and_neither_does_it_show():
    lines = [f"{user}\tword{user}\t2006-03-01 00:00:{user:02d}" for user in range(50)]
    forth, _ = made("\n".join(lines), seed=1)
    back, _ = made("\n".join(reversed(lines)), seed=1)
    assert forth == back
    assert list(made("\n".join(lines))[0]) != [(f"word{user}",) for user in range(50)]
    assert len({tuple(made("\n".join(lines))[0]) for _ in range(3)}) == 3


def test_a_file_with_quotes_windows_line_ends_a_byte_order_mark_and_foreign_bytes(tmp_path):
    lines = [
        b"\xef\xbb\xbf" + oracle.HEADER.encode(),
        b'1\t"unbalanced wine\t2006-03-01 00:00:00\t\t',
        b"1\tcaf\xe9\t2006-03-01 00:00:01\t\t",
        b"2\tlone\rreturn\t2006-03-01 00:00:02",
        b"2\tnul\0byte\t2006-03-01 00:00:03\t\t",
        b"3\t" + b"long " * 300_000 + b"\t2006-03-01 00:00:03\t\t",
        b"4\tlast\t2006-03-01 00:00:04",
    ]
    path = tmp_path / "log.txt"
    path.write_bytes(b"\r\n".join(lines))
    data, report = read_querylog(path, lemma=as_written)
    assert sorted(data.vocabulary) == [
        "byte",
        "last",
        "lone",
        "nul",
        "return",
        "unbalanced",
        "wine",
    ]
    assert [(bad.line, "UTF-8" in bad.reason) for bad in report.bad_lines] == [(3, True), (6, True)]
    assert report.rows == 6


def test_a_line_without_end_is_one_bad_line(tmp_path):
    path = tmp_path / "log.tsv"
    path.write_bytes(
        b"1\tgood\t2006-03-01 00:00:00\n" + b"x" * (20 << 20) + b"\n2\tgood\t2006-03-01 00:00:00\n"
    )
    data, report = read_querylog(path, lemma=as_written)
    assert (len(data), report.bad_rows, report.bad_lines[0].line) == (2, 1, 2)


def test_packed_logs_are_read_alike(tmp_path):
    zstandard = pytest.importorskip("zstandard")
    (tmp_path / "log.tsv.gz").write_bytes(gzip.compress(FIGURE_1.encode()))
    (tmp_path / "log.tsv.zst").write_bytes(zstandard.compress(FIGURE_1.encode()))
    plain, _ = made(FIGURE_1)
    for name in ("log.tsv.gz", "log.tsv.zst"):
        assert read_querylog(tmp_path / name, lemma=as_written)[0] == plain


def test_logs_put_together_may_hold_their_headers():
    data, report = made(
        f"{oracle.HEADER}\n1\tred\t2006-03-01 00:00:00\n{oracle.HEADER}\n2\tblue\t2006-03-01 "
        "00:00:00\n"
    )
    assert (len(data), report.rows, report.bad_rows) == (2, 2, 0)


@pytest.mark.parametrize(
    "time",
    [
        "2006-03-01T00:10:00",
        "2006/3/1 00:10",
        "2006-03-01 00:10:00.25",
        "2006-03-01T02:10:00+02:00",
        "2006-03-01T00:10:00Z",
        "1141171800",
        "1141171800000",
        "1141171800000000000",
        "20060301001000",
        "2006-03-01 02:10:00 +0200",
        "2006-03-01 00:10:00 UTC",
    ],
)
def test_times_are_understood_in_several_ways(time):
    text = f"id;text;when\n1;red;2006-03-01 00:00:00\n1;blue;{time}\n1;grey;2006-03-01 00:20:00\n"
    assert len(made(text, gap="11m")[0]) == 1
    assert len(made(text, gap="9m")[0]) == 3


@pytest.mark.parametrize(
    "time",
    [
        "060301001000",
        "200603010010",
        "20061301001000",
        "20060301001000123",
        "2006-03-01 00:10:00 CET",
    ],
)
def test_a_time_that_may_mean_several_things_is_none(time):
    _, report = made(f"id;text;when\n1;red;2006-03-01 00:00:00\n1;blue;{time}\n")
    assert [(bad.line, "not in a known form" in bad.reason) for bad in report.bad_lines] == [
        (3, True)
    ]


def lines_of(written, first: datetime, *, step: timedelta = timedelta(5), users: int = 3) -> str:
    """A log of 12 queries without a header: user, time and text."""
    times = (first + number * step for number in range(12))
    return "".join(f"u{n % users}\t{written(time)}\tred wine {n}\n" for n, time in enumerate(times))


@pytest.mark.parametrize(
    ("form", "name"),
    [
        ("%y%m%d%H%M%S", "yymmddhhmmss"),
        ("%Y%m%d%H%M%S", "yyyymmddhhmmss"),
        ("%Y%m%d", "yyyymmdd"),
        ("%d/%m/%Y %H:%M:%S", "dd/mm/yyyy"),
        ("%m/%d/%Y %H:%M", "mm/dd/yyyy"),
        ("%d.%m.%Y", "dd/mm/yyyy"),
        ("%Y-%m-%dT%H:%M:%S+02:00", "iso"),
        ("%s", "seconds"),
        ("%s000", "milliseconds"),
    ],
)
@pytest.mark.parametrize("gap", ["119h", "121h"])
def test_a_log_without_a_header_is_read_by_its_content(form, name, gap):
    """The queries are 120 hours apart: a gap of 119 hours separates them, one of 121 does not."""
    text = lines_of(lambda time: oracle.written(time, form), datetime(1997, 9, 16), users=1)
    data, report = made(text, gap=gap)
    assert (report.rows, report.bad_rows, report.has_header) == (12, 0, False)
    assert report.columns == {"user": "1", "text": "3", "time": "2"}
    assert report.time_format == name
    assert len(data) == (12 if gap == "119h" else 1)


def test_a_short_year_is_of_the_last_century_from_69_on():
    """A pause of one second over the turn of the century."""
    text = "1\tred wine\t991231235959\n1\twhite wine\t000101000000\n"
    assert len(made(text, gap="2s", time_format="yymmddhhmmss")[0]) == 1


def test_months_and_days_are_never_guessed():
    """Each day is also a month; only an option says which is which."""
    first, step = datetime(2006, 3, 1), timedelta(1)
    text = lines_of(lambda time: time.strftime("%d/%m/%Y"), first, step=step)
    with pytest.raises(FileFormatError, match="more than one way"):
        made(text, gap="30h")
    assert len(made(text, gap="80h", time_format="dd/mm/yyyy")[0]) == 3
    assert len(made(text, gap="80h", time_format="mm/dd/yyyy")[0]) == 12
    assert len(made(text, gap="80h", time_format="%d/%m/%Y")[0]) == 3
    assert len(made(text)[0]) == 3  # one record per user needs no order


def test_equal_times_are_clicks_whatever_they_mean():
    text = "1\tred wine\t1.3.2006\n1\tred wine\t1.3.2006\n1\tred wine\t3.1.2006\n"
    assert made(text)[1].merged_clicks == 1


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("user,query\n1,red wine\n1,red wine\n2,beer\n", {}),
        ("1\tred wine\n1\tred wine\n2\tbeer\n", {}),
        (
            "ann\tred wine\nann\tred wine\nbob\tbeer\n",
            {"user": "1", "text": "2", "no_header": True},
        ),
        ("kunde;suche\nk1;red wine\nk1;red wine\nk2;beer\n", {"user": "kunde", "text": "2"}),
        ("kunde;suche\nk1;red wine\nk1;red wine\nk2;beer\n", {}),
    ],
)
def test_one_record_per_user_needs_no_times(text, options):
    """Nobody can say which rows are clicks, so each is a query."""
    data, report = made(text, **options)
    assert in_any_order(counters(data)) == [[("beer", 1)], [("red", 2), ("wine", 2)]]
    assert (report.queries, report.merged_clicks, "time" in report.columns) == (3, 0, False)


def test_the_columns_of_a_header_in_another_language_are_found():
    text = "Zeit;Nutzer;Suche\n2006-03-01 10:00;u17;rote Schuhe\n2006-03-01 10:05;u18;Wein\n"
    data, report = made(text, gap="30m")
    assert (len(data), report.columns) == (2, {"user": "2", "text": "3", "time": "1"})
    assert report.has_header


def test_columns_are_named_by_position_too():
    text = "2006-03-01,ann,wine\n2006-03-02,bob,beer\n"
    data, report = made(text, user="2", text="3", time="1")
    assert (len(data), report.rows, report.has_header) == (2, 2, False)
    headed = f"{oracle.HEADER}\n1\tred\t2006-03-01\n"
    assert made(headed, user="1", text="2", time="3")[1].columns["user"] == "AnonID"


SECRETS = ("4417749", "peculiarname", "hartville")


@pytest.mark.parametrize(
    "text",
    [
        "4417749\tpeculiarname hartville\n",
        "4417749\tpeculiarname\thartville\n",
        "4417749\tsearch\thartville\n",
        "4417749,query,time,peculiarname\n",
        "4417749,peculiarname,2006-03-01\n",
        "peculiarname;query;hartville\n",
        "4417749\tpeculiarname hartville\t2006-03-01\textra\tmore\tcells\n",
        "4417749\tuser\tquery\n",
        '4417749,"peculiarname,2006-03-01\n',
        "4417749|peculiarname|hartville|date\n",
    ],
)
@pytest.mark.parametrize(
    "options",
    [
        {"gap": "30m"},
        {"gap": "30m", "user": "who"},
        {"user": "1"},
        {"gap": "30m", "user": "9"},
        {"gap": "30m", "time": "1", "text": "2", "user": "3", "no_header": True},
    ],
)
def test_no_error_shows_what_somebody_asked(text, options):
    """The first line of a log without a header is a query, not the names of the columns."""
    said = message_of(text, options)
    assert not any(secret in said for secret in SECRETS), said


def message_of(text: str, options: dict[str, object]) -> str:
    """What is said about a log that is refused; empty if it is read."""
    try:
        made(text, **options)
    except (FileFormatError, ParameterError) as error:
        return str(error)
    return ""


def test_a_real_log_without_a_header_is_read(shared_data):
    log = shared_data / "excite-small.log.gz"
    data, report = read_querylog(log, gap="30m", lemma=as_written)
    assert (report.rows, report.bad_rows, report.users) == (4501, 0, 891)
    assert (report.columns, report.time_format) == (
        {"user": "1", "text": "3", "time": "2"},
        "yymmddhhmmss",
    )
    assert report.users < report.sessions < report.queries
    assert len(data) == report.vocabularies
    with pytest.raises(FileFormatError, match="this is a query log"):
        read(log)


def test_a_number_in_a_query_is_not_a_time():
    """Of a log without a header: the second column is the time, though one query looks like one."""
    text = lines_of(lambda time: time.strftime("%y%m%d%H%M%S"), datetime(1997, 9, 16))
    _, report = made(text + "u1\t970916001949\t5551234567\n")
    assert (report.columns["time"], report.bad_rows) == ("2", 0)


def test_a_csv_keeps_cells_together_by_quotes_and_reports_its_bad_rows():
    text = (
        'when,who,words\n2006-03-01 00:00:00,ann,"red, ""wine"""\n2006-03-01 00:00:00,ann\n'
        "never,bob,blue\n2006-03-01 00:00:00,bob,a,b\n"
        "2006-03-01 00:00:00,bob,white\n"
    )
    data, report = made(text, user="who", text="words", time="when")
    assert in_any_order(counters(data)) == [[("red", 1), ("wine", 1)], [("white", 1)]]
    assert report.bad_rows == 3


@pytest.mark.parametrize("mark", [",", ";"])
@pytest.mark.parametrize(
    ("tail", "users"), [("", 2), ("!!", 2), ("! ", 1), ("!!!x", 1), (" ! !", 1)]
)
def test_cells_beyond_the_last_column_may_be_empty_but_not_blank(mark, tail, users):
    head = mark.join(["AnonID", "Query", "QueryTime"])
    rows = [mark.join([user, "wine", "2006-01-01 01:00:00"]) for user in "12"]
    text = "\n".join([head, rows[0], rows[1] + tail.replace("!", mark)])
    _, report = made(text)
    assert (report.users, report.bad_rows) == (users, 2 - users)


def test_a_parquet_table_is_a_log(tmp_path):
    import duckdb

    path = tmp_path / "log.parquet"
    rows = (
        "(7, 'red wine', TIMESTAMP '2006-03-01 00:00:00'), "
        "(7, 'red', TIMESTAMP '2006-03-01 09:00:00'), (NULL, 'x', NULL)"
    )
    duckdb.sql(f"SELECT * FROM (VALUES {rows}) AS log (user_id, search, ts)").write_parquet(
        str(path)
    )
    data, report = read_querylog(path, lemma=as_written)
    assert counters(data) == [Counter(red=2, wine=1)]
    assert report.bad_rows == 1


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        ("", {}, "the log is empty"),
        ("\n\n", {}, "the log is empty"),
        (oracle.HEADER + "\n", {}, "a header and no rows"),
        ("1\twine\n2\tbeer\n", {}, "does not name the columns of a log"),
        ("1\twine\tyesterday\n2\tbeer\ttoday\n", {}, "does not name the columns of a log"),
        (
            oracle.HEADER + "\n1\twine\tyesterday\n",
            {},
            "none of its rows can be used (line 2: the time is not in a known form",
        ),
        (
            oracle.HEADER + "\n1\twine\t1.3.2006\n",
            {"gap": "30m"},
            "its days and months can be read in more than one way; say how, such as time_format=",
        ),
        (
            oracle.HEADER + "\n1\twine\t970916001949\n",
            {"gap": "30m"},
            "its times of 12 digits can be read in more than one way",
        ),
        ("user,query\n1,red wine\n", {"gap": "30m"}, "or leave out gap=...: one record per user"),
        (
            "1\tred wine\t2006-03-01\n",
            {"user": "7", "no_header": True},
            "there is no column '7' for the user: the columns are '1', '2', '3'",
        ),
        (
            oracle.HEADER + "\n1\twine\t2006-03-01\n",
            {"time_format": "seconds"},
            "none of its rows can be used (line 2: the time is not seconds)",
        ),
        (
            "user,query,time\n1,a,2006-03-01\n",
            {"text": "words"},
            "there is no column 'words' for the text",
        ),
        ("user,query,time\n1,a,2006-03-01\n", {"text": "time"}, "must be different columns"),
        (
            "user,query,text,time\n1,a,b,2006-03-01\n",
            {},
            "could each be the text; choose one with text=",
        ),
        ("just a text\n", {}, "does not name the columns of a log"),
        (
            'user,query,time\n1,"a,2006-03-01\n2,b,2006-03-01\n',
            {},
            "line 2: a quote is opened and never closed",
        ),
        (oracle.HEADER.encode("utf-16"), {}, "UTF-16"),
        (b"\xff\xfd\n" * 9, {}, "this is not text"),
        (b"\t\n3\t\xf2ed\t2006-03-06\n3\tred\t2006", {}, "does not name the columns"),
    ],
)
def test_a_file_that_is_no_log_is_refused_in_one_line(text, options, said):
    with pytest.raises(FileFormatError, match=re.escape(said)):
        made(text, **options)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"gap": "30"}, "gap = '30' is not allowed"),
        ({"gap": timedelta(-1)}, "gap"),
        ({"min_users": 0}, "min_users = 0"),
        ({"terms": "verbs"}, "terms = 'verbs'"),
        ({"terms": "queries", "known": ["wine"]}, "known"),
        ({"time_format": "soon"}, "choose one of iso, yyyymmdd"),
        ({"time_format": "%Q"}, "not a pattern of strptime"),
        ({"memory_limit": "much"}, "memory"),
        ({"stop_words": "english"}, "a list of words"),
        ({"known": "words.txt"}, "a list of words"),
    ],
)
def test_options_outside_what_is_allowed_are_refused(options, said):
    with pytest.raises(ParameterError, match=said):
        made(FIGURE_1, **options)


def test_stop_words_known_words_and_lemmas():
    text = "1\tThe Boots of a Woman's wine\t2006-03-01 00:00:00"
    data, report = read_querylog(
        io.BytesIO(text.encode()), lemma={"boots": "boot"}.get, known=["boot", "WOMAN"]
    )
    assert counters(data) == [Counter(boot=1, woman=1)]
    assert (
        report.occurrences,
        report.stopped_occurrences,
        report.unknown_occurrences,
        report.kept_occurrences,
    ) == (6, 3, 1, 2)


def test_nouns_are_what_wordnet_knows():
    if WordNet.find() is None:
        pytest.skip("WordNet is not installed")
    data, report = read_querylog(
        io.BytesIO(b"1\tcheap leather boots myspace mice\t2006-03-01 00:00:00"), terms="nouns"
    )
    assert counters(data) == [Counter(leather=1, boot=1, mouse=1)]
    assert report.lemmas == "WordNet"


def test_empty_vocabularies_are_left_out_or_kept():
    text = "1\twine\t2006-03-01 00:00:00\n2\t-\t2006-03-01 00:00:00\n3\t\t2006-03-01 00:00:00"
    data, report = made(text)
    assert (
        len(data),
        report.vocabularies,
        report.empty_vocabularies,
        report.queries_without_terms,
    ) == (1, 1, 2, 2)
    data, report = made(text, keep_empty=True)
    assert (len(data), report.vocabularies, report.empty_vocabularies) == (3, 3, 2)
    assert sorted(data.lengths) == [0, 0, 1]


def test_rare_queries_are_dropped_and_the_loss_is_reported():
    lines = [f"{user}\tweather\t2006-03-01 00:00:00" for user in range(3)] + [
        f"{user}\tmy {user}\t2006-03-01 00:00:01" for user in range(3)
    ]
    data, report = made("\n".join(lines), terms="queries", min_users=3)
    assert list(data) == [("weather",)] * 3
    assert (report.rare_terms, report.rare_occurrences, report.kept_terms) == (3, 3, 1)
    assert (report.rare_share, report.rare_term_share) == (0.5, 0.75)


def test_unknown_terms_are_named_only_when_many_users_issued_them():
    lines = [f"{user}\tmyspace secret{user % 9}\t2006-03-01 00:00:00" for user in range(12)] + [
        "1\twine\t2006-03-02 00:00:00"
    ]
    _, report = made("\n".join(lines), known=["wine"])
    assert report.often_unknown == (("myspace", 12),)
    assert report.to_dict()["private"] is True


def test_numbers_alone_are_in_numeric_order():
    data, _ = made("1\t10 9 111\t2006-03-01 00:00:00")
    assert list(data.vocabulary) == ["9", "10", "111"]
    assert np.array_equal(data.counts, [1, 1, 1])
