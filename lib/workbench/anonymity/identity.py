"""Check what in the rows identifies somebody: patterns, raw values, digests, tokens."""

from collections.abc import Mapping, Sequence
from typing import Any

from workbench._base import identifiers
from workbench._base.typing import DataFrame, Row
from workbench.anonymity import pairs, patterns, values
from workbench.anonymity.pairs import Pair

_DIGESTS = ("md5(v)", "sha1(v)", *(f"sha2(v, {bits})" for bits in (224, 256, 384, 512)))


def with_patterns(pair: Pair) -> None:
    """Note rows that hold a mail address, a phone number or a number with check digits."""
    from pyspark.sql import functions as F

    texts = pairs.texts(pair.table)
    if not texts:
        return
    counts = [
        F.count_if(patterns.matches(name, text)).alias(f"{number}.{name}")
        for number, text in enumerate(texts.values())
        for name in patterns.NAMES
    ]
    row: Any = pair.table.agg(*counts).head()
    for number, column in enumerate(texts):
        for name in patterns.NAMES:
            pair.add("patterns", column, row[f"{number}.{name}"], f"rows of {column} hold {patterns.NAMES[name]}")


def with_raw_values(pair: Pair, columns: Sequence[str], least: int) -> None:
    """Note rows that hold an identifier of the source."""
    from pyspark.sql import functions as F

    assert pair.source is not None
    if not pairs.texts(pair.table):
        return
    given = {
        name: [row[0] for row in pair.source.select(pairs.named(name)).distinct().toLocalIterator()]
        for name in columns
    }
    sought = values.Sought(given, least=least)
    known = pair.spark.createDataFrame(
        [(text, sought.kinds[kind]) for text, kind in zip(sought.texts, sought.kind_of, strict=True)],
        "part STRING, identifier STRING",
    )
    parts = pairs.cells(pair.table).withColumn("part", F.explode(values.words(F.col("text"), sought.words)))
    for row in _counted(parts.join(known, "part")):
        pair.add("raw values", row.column, row.rows, f"rows of {row.column} hold a {row.identifier} of the source")


def with_digests(pair: Pair, columns: Sequence[str]) -> None:
    """Note rows that hold an unsalted digest of an identifier of the source."""
    from pyspark.sql import functions as F

    assert pair.source is not None
    if not pairs.texts(pair.table):
        return
    of = [
        F.struct(F.lit(name).alias("identifier"), pairs.named(name).cast("string").alias("v")) for name in columns
    ]
    raw = pair.source.select(F.explode(F.array(*of)).alias("of")).select("of.*").where("v IS NOT NULL").distinct()
    spelled = F.array("v", F.lower("v"), F.upper("v"), F.trim("v"), F.lower(F.trim("v")), F.upper(F.trim("v")))
    forms = raw.withColumn("v", F.explode(spelled)).distinct()
    hexed = forms.select("identifier", F.explode(F.array(*map(F.expr, _DIGESTS))).alias("digest"))
    based = F.translate(F.base64(F.unhex("digest")), "-_=\r\n", "+/")  # as an address has it, without its end, too
    known = hexed.union(hexed.select("identifier", based)).distinct()
    parts = F.transform(F.split("text", "[^0-9A-Za-z+/_-]+"), lambda part: F.translate(part, "-_", "+/"))
    hexes = F.transform(F.split("text", "[^0-9A-Fa-f]+"), F.lower)
    cells = pairs.cells(pair.table).withColumn("digest", F.explode(F.array_distinct(F.concat(parts, hexes))))
    for row in _counted(cells.join(known, "digest")):
        pair.add(
            "digests", row.column, row.rows,
            f"rows of {row.column} hold an unsalted digest of a {row.identifier} of the source",
        )  # fmt: skip


def _counted(hits: DataFrame) -> list[Row]:
    """Return how many rows of each column hold each identifier, in the columns' order."""
    from pyspark.sql import functions as F

    counts = hits.groupBy("number", "column", "identifier").agg(F.countDistinct("row").alias("rows"))
    return counts.orderBy("number", "identifier").collect()


def token_forms(pair: Pair, token: str, form: str) -> None:
    """Note rows without a token, or with one of another form."""
    from pyspark.sql import functions as F

    column = F.col(identifiers.column(token)).cast("string")
    wrong = pair.table.where(column.isNull() | ~column.rlike(rf"\A(?:{form})\z")).count()
    pair.add("tokens", token, wrong, f"rows have no token in {token}, or one of another form")


def one_token_a_person(pair: Pair, key: Sequence[str], person: str, token: str) -> None:
    """Note people with several tokens, and tokens of several people."""
    from pyspark.sql import functions as F

    assert pair.source is not None
    people = pair.source.select(*map(pairs.named, key), F.col(identifiers.column(person)).alias("_person"))
    tokens = pair.table.select(*map(pairs.named, key), F.col(identifiers.column(token)).alias("_token"))
    both = people.join(tokens, list(key)).select("_person", "_token").distinct().localCheckpoint()
    for owner, counted, words in (("_person", "_token", "people have more than one token"),
                                  ("_token", "_person", "tokens stand for more than one person")):  # fmt: skip
        count = both.groupBy(owner).agg(F.countDistinct(counted).alias("n")).where("n > 1").count()
        pair.add("one token a person", token, count, words)


def unknown_tokens(pair: Pair, token: str, children: Mapping[str, str]) -> None:
    """Note rows of other tables whose token the table lacks."""
    from pyspark.sql import functions as F

    known = pair.table.select(F.col(identifiers.column(token)).alias("t")).distinct()
    for name, column in children.items():
        child = pairs.read(pair.spark, name)
        pairs.columns(name, child, [column])
        tokens = child.select(F.col(identifiers.column(column)).alias("t"))
        pair.add(
            "children",
            column,
            tokens.join(known, "t", "left_anti").count(),
            f"rows of {name} have a token that {pair.name} lacks",
        )
