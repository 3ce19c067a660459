"""Rows of a long DataFrame: whether each has its record, and some records of each person."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from setveil.data.account import TOTALS
from setveil.data.people import PER_PERSON, SEPARATOR, draw_key, of_several
from setveil.data.tables.columns import Fail
from setveil.data.tables.frames import repeated_names, several_sums

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def bounded(
    rows: DataFrame, column: str, reading: Mapping[str, Any], fail: Fail
) -> tuple[DataFrame, dict[int, int]]:
    """The rows of the records that stay, drawn as `Whose.kept` does, and how many people have 1, 2,
    ... records.

    Raises:
        DataError: if a record has several people, or none.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    person, record = F.col("person").cast("string"), F.col("record").cast("string")
    rows = rows.withColumns({"person": F.when(person != "", person), "record": record})
    owners = rows.groupBy("record").agg(
        F.min("person").alias("person"),
        ((F.countDistinct("person") != 1) | (F.count("person") < F.count("*"))).alias("wrong"),
    )
    wrong = owners.where("wrong").count()
    if wrong:
        raise of_several(wrong, column, fail)
    held = owners.groupBy("person").agg(F.count("*").alias("records"))
    found = held.groupBy("records").agg(F.count("*").alias("people")).collect()
    holdings = {row["records"]: row["people"] for row in found}
    most = reading.get(PER_PERSON)
    if most is None:
        return rows, holdings
    key = F.lit(reading.get("key") or draw_key(None))
    text = F.concat("person", F.lit(SEPARATOR), "record")
    place = F.sha2(F.concat(key, F.sha2(F.concat(key, text), 256)), 256)
    own = Window.partitionBy("person").orderBy("place")
    drawn = owners.withColumn("place", place).withColumn("at", F.row_number().over(own))
    return rows.join(drawn.where(F.col("at") <= most).select("record"), "record"), holdings


def check_rows(rows: DataFrame, names: tuple[str, str], fail: Fail) -> None:
    """Refuse rows that belong to nobody, repeat the names of the columns, or are sums."""
    from pyspark.sql import functions as F

    record, item = F.col("record").cast("string"), F.col("item").cast("string")
    letters = F.regexp_replace(F.lower(record), r"[^\p{L}]", "")
    is_sum = item.isNull() & letters.isin(sorted(TOTALS))
    nobody, repeated, sums = rows.agg(
        F.sum(record.isNull().cast("long")),
        F.sum(((record == names[0]) & (item == names[1])).cast("long")),
        F.count_distinct(F.when(is_sum, record)),
    ).collect()[0]
    if nobody:
        raise fail("a row has no record: every row must belong to one")
    if repeated and not any(map(str.isdecimal, names)):
        raise repeated_names(repeated, names[0], fail)
    if sums > 1:
        raise several_sums(sums, fail)
