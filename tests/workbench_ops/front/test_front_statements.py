"""SQL made anew: tables are governed, texts and names between quotes stay as they are, all else is on a list."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench_ops.front import statements
from workbench_ops.front.refusals import Refused

SHARED = {("s", "a"), ("s", "b"), ("lake", "s", "a"), ("s", "x y`z")}


def table(parts):
    if parts not in SHARED:
        raise Refused(f"{'.'.join(parts)} is not shared")
    return f"SELECT {parts[-1][0]}"


def anew(text):
    """The text made anew, with the random names of queries of WITH as c0, c1 in their order."""
    new = statements.query(text, table)
    for number, name in enumerate(dict.fromkeys(re.findall(r"c_[0-9a-f]{32}", new))):
        new = new.replace(name, f"c{number}")
    return re.sub(r"(\(SELECT [abx])\n\)", r"\1)", new)


@pytest.mark.parametrize(
    ("text", "new"),
    [
        ("select * from s.a", "SELECT * FROM (SELECT a) AS `a`"),
        ("SELECT x.i FROM lake.s.a AS x, s.b", "SELECT `x`.`i` FROM (SELECT a) AS `x` CROSS JOIN (SELECT b) AS `b`"),
        ("select `c``d`, `e f`.g from s.`x y``z`", "SELECT `c``d`, `e f`.`g` FROM (SELECT x) AS `x y``z`"),
        ("select 'it''s', \"a'b\", '\\n\\'' from s.a -- ; from s.c", "SELECT 'it''s', \"a'b\", '\\n\\'' FROM (SELECT a) AS `a`"),
        ("select /*+ broadcast(a) /* in */ */ i from s.a", "SELECT `i` FROM (SELECT a) AS `a`"),
        ("from s.a select i", "SELECT `i` FROM (SELECT a) AS `a`"),
        ("with s as (select 1 as i) select * from s join s.a using (i)", "WITH `c0` AS (SELECT 1 AS `i`) SELECT * FROM `c0` AS `s` JOIN (SELECT a) AS `a` USING (`i`)"),
        ("with t as (select 1), u as (select * from T) select * from u v", "WITH `c0` AS (SELECT 1), `c1` AS (SELECT * FROM `c0` AS `T`) SELECT * FROM `c1` AS `v`"),
        ("select * from (with t as (select 1) select * from t) t", "WITH `c0` AS (SELECT 1) SELECT * FROM (SELECT * FROM `c0` AS `t`) AS `t`"),
        ("with `t u` as (select 1) select * from `T U`", "WITH `c0` AS (SELECT 1) SELECT * FROM `c0` AS `T U`"),
        ("select i from s.a where i in (select j from s.b) or exists (select 1 from s.b)", "SELECT `i` FROM (SELECT a) AS `a` WHERE `i` IN (SELECT `j` FROM (SELECT b) AS `b`) OR EXISTS(SELECT 1 FROM (SELECT b) AS `b`)"),
        ("select i from s.a except select j from s.b intersect select 1", "SELECT `i` FROM (SELECT a) AS `a` EXCEPT (SELECT `j` FROM (SELECT b) AS `b` INTERSECT SELECT 1)"),
        ("select t.v from s.a lateral view explode(i) `e) x` as v", "SELECT `t`.`v` FROM (SELECT a) AS `a` LATERAL VIEW explode(`i`) `e) x` AS `v`"),
        ("select a, sum(b) filter (where c) over (partition by d order by e rows between 1 preceding and current row) from s.a", "SELECT `a`, sum(`b`) FILTER(WHERE `c`) OVER (PARTITION BY `d` ORDER BY `e` rows BETWEEN 1 preceding AND CURRENT ROW) FROM (SELECT a) AS `a`"),
        ("select transform(a, x -> x + 1), timestampdiff(DAY, b, c), extract(year from d), cast(e as array<int>)", "SELECT transform(`a`, `x` -> `x` + 1), timestampdiff(DAY, `b`, `c`), EXTRACT(YEAR FROM `d`), CAST(`e` AS ARRAY<INT>)"),
        ("select interval '1 day', date '2026-01-31', i <=> j, k rlike l from s.a", "SELECT INTERVAL '1 day', CAST('2026-01-31' AS DATE), `i` IS NOT DISTINCT FROM `j`, `k` RLIKE `l` FROM (SELECT a) AS `a`"),
        ("select a, b, count(*) from s.a group by grouping sets ((a, b), ()) having count(*) > 1 order by all limit 3 offset 2", "SELECT `a`, `b`, count(*) FROM (SELECT a) AS `a` GROUP BY GROUPING SETS ((`a`, `b`), ()) HAVING count(*) > 1 ORDER BY ALL LIMIT 3 OFFSET 2"),
        ("select * from s.a pivot (sum(c) for b in ('p', 'q')) as p", "SELECT * FROM (SELECT * FROM (SELECT a) AS `a` PIVOT(sum(`c`) FOR `b` IN ('p', 'q'))) AS `p`"),
        ("select * from range(3) r join explode(array(1, 2)) as t(v)", "SELECT * FROM range(3) AS `r` JOIN explode(array(1, 2)) AS `t`(`v`) ON TRUE"),
        ("values (1, 'a'), (2, null)", "VALUES (1, 'a'), (2, NULL)"),
    ],
)  # fmt: skip
def test_a_query_made_anew(text, new):
    assert anew(text) == new


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("select * from s.c", "s.c is not shared"),
        ("select * from s.a.files", "s.a.files is not shared"),
        ("select * from parquet.`/etc/passwd`", "parquet./etc/passwd is not shared"),
        ("select * from t", "t is not shared"),
        ("with t as (select * from u), u as (select 1) select * from t", "u is not shared"),
        ("with t as (with u as (select 1) select * from u) select * from t, u", "u is not shared"),
        ("select 1 union all (with t as (select 1) select 1) union all select * from t", "t is not shared"),
        ("with t as (select * from t) select * from t", "t is not shared"),
        ("with recursive t as (select 1 union all select * from t) select * from t", "WITH RECURSIVE"),
        ("select * from s.a version as of 3", "an older state of a table"),
        ("select * from s.a timestamp as of '2026-01-31'", "an older state of a table"),
        ("select * from s.a for version as of 3", "cannot be read|an older state"),
        ("select * from s.a tablesample (10 percent)", "sample"),
        ("select * from identifier('s.c')", "the function identifier"),
        ("select * from identifier(:t)", "the function identifier"),
        ("table s.c", "only queries"),
        ("select java_method('java.lang.System', 'exit')", "the function java_method"),
        ("select `java_method`('java.lang.System', 'exit')", "cannot be read|the function"),
        ("select reflect('java.lang.System', 'exit')", "the function reflect"),
        ("select lake.system.bucket(4, i) from s.a", "the function bucket"),
        ("select s.sum(i) from s.a", "the function sum"),
        ("select input_file_name() from s.a", "the function input_file_name"),
        ("select rand() from s.a", "the function rand"),
        ("select * from python_worker_logs()", "the function python_worker_logs"),
        ("select * from sum(1)", "the function sum"),
        ("select transform(i) using 'cat' from s.a", "cannot be read"),
        ("select '${spark.connect.authenticate.token}'", r"\$\{ is not let through"),
        ("select ${x} from s.a", r"\$\{ is not let through"),
        ("select i from s.a |> where i > 1", r"\|> is not let through"),
        ("select r'x'", "texts with r or x"),
        ("select X'1F'", "texts with r or x"),
        ("select 'x", "a quote is open"),
        ("select `x", "a quote is open"),
        ("select 1 /* x", "a comment is open"),
        ("select 1; select 2", "one query is expected, found 2"),
        ("", "only queries"),
        ("insert into s.a select 1", "only queries"),
        ("with t as (select 1) insert into s.a select * from t", "only queries"),
        ("show tables", "only queries"),
        ("describe s.a", "only queries"),
        ("explain select 1", "only queries"),
        ("set spark.sql.ansi.enabled = false", "only queries"),
        ("call lake.system.rollback_to_snapshot('s.a', 1)", "only queries"),
        ("cache table s.a", "only queries"),
        ("create temporary view v as select 1", "only queries"),
        ("select i from s.a qualify row_number() over (order by i) = 1", "qualify in SQL"),
        ("select @@x", "cannot be read|in SQL is refused"),
        ("select" + " (" * 5000 + "1" + ")" * 5000, "cannot be read|nested too deeply"),
        ("select " + "x" * 300_000, "at most 200,000 characters"),
        ("with " + ", ".join(f"t{n} as (select 1)" for n in range(1001)) + " select 1", "at most 1,000 tables"),
    ],
)  # fmt: skip
def test_what_is_refused(text, sentence):
    with pytest.raises(Refused, match=sentence):
        statements.query(text, table)


def test_a_text_that_looks_like_our_mark_is_a_text():
    mark = "g_" + "0" * 32
    assert statements.query(f"select '`{mark}`', `{mark}`", table) == f"SELECT '`{mark}`', `{mark}`"


def test_arguments_are_literals_in_their_places():
    text = "with t as (select ? as p) select :b, '?', `:b`, ? from t, s.a where i = :B or j = ? or k = :b"
    new = statements.query(text, table, {"b": "'x :b ?'", "B": "(7L)"}, ["(1)", "(2)", "(3)"])
    new = re.sub("c_[0-9a-f]{32}", "c", new).replace("\n)", ")")
    assert new == (
        "WITH `c` AS (SELECT (1) AS `p`) SELECT 'x :b ?', '?', `:b`, (2) FROM `c` AS `t` CROSS JOIN (SELECT a) AS `a` "
        "WHERE `i` = (7L) OR `j` = (3) OR `k` = 'x :b ?'"
    )
    for wrong in (
        {},
        {"named": {"a": "1"}, "ordered": ["1", "2", "3"]},
        {"named": {"b": "1", "B": "1"}, "ordered": ["1"]},
    ):
        with pytest.raises(Refused, match=r"no argument for :|and \d arguments in an order"):
            statements.query(text, table, **wrong)
    with pytest.raises(Refused, match="no argument for :x"):
        statements.expression("i = :x", table)


def test_an_expression_is_one():
    assert statements.expression("i > 1 and j like 'a%'", table) == "`i` > 1 AND `j` LIKE 'a%'"
    assert statements.expression("*", table) == "*"
    assert statements.expression("upper(j) as `u v`", table) == "upper(`j`) AS `u v`"
    for text in (
        "i, j",
        "1 from s.a",
        "distinct i",
        "i) from s.a where (1=1",
        "1 union select 2",
        "",
        "i -- \n, j",
    ):
        with pytest.raises(Refused):
            statements.expression(text, table)


def test_a_query_that_is_let_through_as_it_came_is_seen(monkeypatch):
    """The planted fault: a query that is forwarded names the client's table."""
    monkeypatch.setattr(statements._Writing, "_replace", lambda self, node: None)
    with pytest.raises(AssertionError):
        test_a_query_made_anew("select * from s.a", "SELECT * FROM (SELECT a) AS `a`")


TEXTS = st.text(st.sampled_from("ab'\"`\\;-/*(){}$ \n%_.0\x00é"), max_size=12)


@given(TEXTS, TEXTS.filter(bool))
def test_texts_and_names_stay_letter_by_letter_and_are_nothing_else(text, name):
    """Whatever stands between quotes, the query around it is the same, and it comes out as it went in."""
    quoted = "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
    between = "`" + name.replace("`", "``") + "`"
    query = f"select {quoted} as {between}, t.{between} from s.a t lateral view explode(i) {between} as v"
    if "${" in query:
        with pytest.raises(Refused):
            statements.query(query, table)
        return
    assert anew(query) == (
        f"SELECT {quoted} AS {between}, `t`.{between} FROM (SELECT a) AS `t` LATERAL VIEW explode(`i`) {between} AS `v`"
    )


WORDS = st.lists(
    st.sampled_from(
        [
            "select",
            "from",
            "s.a",
            "s.c",
            "t",
            ",",
            "(",
            ")",
            "'x'",
            "`",
            "as",
            "with",
            "union",
            "where",
            "i",
            "=",
            "*",
            "--",
            "/*",
            "*/",
            ";",
            "join",
            "lateral",
            "values",
            "explode(",
            "u.v",
            "\n",
        ]
    ),
    max_size=14,
)


@given(WORDS)
def test_no_table_of_the_clients_is_left(words):
    """Of random texts none names a table that is not shared, or comes out with one that is."""
    text = "select " + " ".join(words)
    try:
        new = statements.query(text, table)
    except Refused:
        return
    assert not re.search(r"FROM\s+`?s`?\.|JOIN\s+`?s`?\.|, `?s`?\.`?[ac]`? AS", new), (text, new)
    assert {parts for parts in statements.tables_of(new)} == set(), (text, new)
