"""A name goes into SQL text only as a name, whatever is in it."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from workbench._base import identifiers


@pytest.mark.parametrize(
    "text, parts",
    [
        ("sales.orders", ("sales", "orders")),
        ("lake.sales.orders_2", ("lake", "sales", "orders_2")),
        ("my-db.my-table", ("my-db", "my-table")),
        ("2024_sales.1b", ("2024_sales", "1b")),
        ("häuser.größe", ("häuser", "größe")),
        ("हिन्दी.ไทย", ("हिन्दी", "ไทย")),  # vowel signs are no letters of their own
        ("`a b`.t", ("a b", "t")),
        ("a.`b`", ("a", "b")),
        ('`a``b`.`it\'s "so"; --`', ("a`b", 'it\'s "so"; --')),
        ("a.b.`branch_v1.2`", ("a", "b", "branch_v1.2")),
    ],
)
def test_the_parts_of_a_name(text, parts):
    assert identifiers.parts(text) == parts
    assert identifiers.parts(identifiers.quoted(text)) == parts
    assert identifiers.parts(identifiers.shown(text)) == parts


def test_names_are_quoted():
    assert identifiers.quoted("sales.orders") == "`sales`.`orders`"
    assert identifiers.quoted("lake.sales.orders_2") == "`lake`.`sales`.`orders_2`"
    assert identifiers.quoted("`my-db`.`a``b`") == "`my-db`.`a``b`"


def test_what_people_are_shown_has_backticks_only_where_it_needs_them():
    assert identifiers.shown("sales.orders_2") == "sales.orders_2"
    assert identifiers.shown("my-db.`orders`") == "`my-db`.orders"
    assert identifiers.shown("größen.2024") == "`größen`.`2024`"  # older releases of Spark take these so alone
    assert identifiers.namespace("lake.my-db.orders") == "`lake`.`my-db`"
    assert identifiers.within("lake.my-db", "a b") == "lake.`my-db`.`a b`"
    assert identifiers.on_branch("sales.orders", "audit") == "sales.orders.branch_audit"
    assert identifiers.on_branch("my-db.orders", "fix-1.2") == "`my-db`.orders.`branch_fix-1.2`"


@pytest.mark.parametrize(
    "bad",
    ["orders", "a.b; DROP TABLE x", "a..b", "a.b c", "", ".", "a.", ".a", "a.``", "a.`b", "a.`b`c", "a.`b``", "a.b'", "`a.b`", None],
)  # fmt: skip
def test_anything_else_is_refused(bad):
    with pytest.raises(
        ValueError, match="is not a table name; expected namespace.name or catalog.namespace.name of"
    ):
        identifiers.quoted(bad)


@pytest.mark.parametrize(
    "bad, why",
    [
        ("a.`b\nc`", r"its part 'b\\nc' has a character that is not printed, '\\n'"),
        ("a.`b\u202ec`", r"has a character that is not printed, '\\u202e'"),  # turns what follows it round
        ("a.`${spark.app.name}`", r"contains \$\{, where Spark substitutes a variable in every statement"),
        ("`a.b`.c", "holds a dot, and Iceberg, which joins parts by dots, could not tell it from two of them"),
        ("a." + "b" * 256, "has 256 characters, at most 255 are taken"),
        (".".join("abcdefghijklmnopq"), "it has 17 parts, at most 16 are taken"),
    ],
)
def test_what_cannot_be_kept_apart_is_refused_with_the_reason(bad, why):
    with pytest.raises(ValueError, match="is not a table name: .*" + why):
        identifiers.parts(bad)


@pytest.mark.parametrize("bad", [None, "", "a\tb", "${x}", "b" * 256])
def test_names_that_no_branch_has(bad):
    with pytest.raises(ValueError, match="is not the name of a branch or tag"):
        identifiers.on_branch("a.b", bad)


def test_a_namespace_is_one_part_or_more():
    assert identifiers.parts("my-db", least=1) == ("my-db",)
    with pytest.raises(ValueError, match="'a b' is not the name of a namespace; expected one part or more"):
        identifiers.parts("a b", least=1)


def test_a_column_that_spark_would_name_otherwise_goes_into_no_sql():
    assert identifiers.in_sql("a.`b") == "`a.``b`" and identifiers.in_sql("$1 {a}") == "`$1 {a}`"
    with pytest.raises(ValueError, match=r"the column '\${spark.app.name}' contains \${, where Spark substitutes"):
        identifiers.in_sql("${spark.app.name}")


# what SQL gives a meaning to, and letters of several alphabets and planes
_CHARACTERS = st.one_of(
    st.sampled_from(list("`.'\"\\$-_;/* (){}=,:@aA1ß漢é\u0301𝒳\n\u2028\ud800")), st.characters()
)
_PARTS = st.lists(st.text(_CHARACTERS, min_size=1, max_size=8), min_size=1, max_size=4)
_TEXTS = st.one_of(
    st.text(_CHARACTERS, max_size=20), _PARTS.map(".".join),
    _PARTS.map(lambda parts: ".".join("`" + part.replace("`", "``") + "`" for part in parts)),
)  # fmt: skip


@given(_TEXTS)
@example("a.`${spark.app.name}`")
@example("a.`b`` ; DROP TABLE c`")
def test_spark_reads_the_parts_that_were_meant_or_nothing(spark, text):
    try:
        parts = identifiers.parts(text)
    except ValueError:
        return
    state = spark._jsparkSession.sessionState()
    for sql in (identifiers.quoted(text), identifiers.shown(text)):
        found = state.sqlParser().parseMultipartIdentifier(sql)
        assert tuple(found.apply(n) for n in range(found.size())) == parts
        assert identifiers.parts(sql) == parts


@given(st.text(_CHARACTERS, max_size=20))
@example("${spark.app.name}")
@example("\\' OR 1 = 1 --")
def test_spark_reads_a_literal_as_the_text_it_was(spark, text):
    if "\ud800" <= max(text, default="") <= "\udfff" or any("\ud800" <= one <= "\udfff" for one in text):
        return  # half a character, which no text of Java's holds
    found = spark._jsparkSession.sessionState().sqlParser().parseExpression(identifiers.literal(text))
    assert found.value().toString() == text
