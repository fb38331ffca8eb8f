"""A client's SQL, read by sqlglot and written anew: what reaches the server is ours, and no table in it is theirs.

Each table is replaced by the governed subquery that the caller gives for its name, under an alias, which hides
what the subquery does not select. Texts and names between quotes go through letter by letter, and nothing else of
the client's text does.
"""

import functools
import re
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from workbench._base import identifiers
from workbench._base.errors import MissingPackageError
from workbench.access.statements import apart as keep_apart
from workbench_ops.front import moments, types
from workbench_ops.front.functions import FUNCTIONS, SIMPLE, TABLE_FUNCTIONS
from workbench_ops.front.refusals import Refused

Table = Callable[[tuple[str, ...]], str]  # parts of a table's name to the text of its governed subquery

MOST_CHARACTERS = 200_000
MOST_TABLES = 1000  # each is looked for among the queries of WITH
NONE: Mapping[str, str] = MappingProxyType({})
# kinds of node that are let through; all of them are written by sqlglot as Spark reads them
_NODES = """
Add Alias Aliases All And Anonymous Any Between BitwiseAnd BitwiseNot BitwiseOr BitwiseXor Boolean Bracket CTE
Case Cast Cluster Column Cube CurrentDate CurrentTimestamp DPipe DataType DataTypeParam Distinct Distribute Div
Dot EQ Escape Except Exists Extract Filter From GT GTE Group GroupingSets Having ILike Identifier If IgnoreNulls
In IntDiv Intersect Interval Is Join LT LTE Lambda Lateral Like Limit Literal Mod Mul NEQ Neg Not Null
NullSafeEQ NullSafeNEQ Offset Or Order Ordered Paren Pivot Placeholder PropertyEQ RegexpLike RespectNulls Rollup
Select Sort Star Sub Subquery Table TableAlias Trim TryCast Tuple Union Values Var Where Window WindowSpec With
WithinGroup
"""
NODES = frozenset(_NODES.split())
# of these none can fail on a row of NULLs
_SIMPLE_NODES = """
Alias All And Anonymous Between Boolean CTE Column Distinct EQ Except Exists From GT GTE Group Having Identifier In
Intersect Is Join LT LTE Like Limit Literal NEQ Not Null NullSafeEQ Offset Or Order Ordered Paren Placeholder
Select Star Subquery Table TableAlias Tuple Union Values Var Where With
"""
SIMPLE_NODES = frozenset(_SIMPLE_NODES.split())
REASONS = {
    "Version": "an older state of a table is not shared with the state of now",
    "TableSample": "which rows a sample holds depends on rows that are hidden",
    "Concat": "write texts that follow each other as one",
}
UNITS = {"timestampdiff", "timestampadd", "dateadd", "datediff", "date_add", "date_diff"}
_PARTS = re.compile(
    r"""(?P<comment>--(?:\\\n|[^\r\n])*)
    |(?P<bracket>/\*)
    |(?P<name>`(?:[^`]|``)*`)
    |(?P<text>'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*")
    |(?P<other>.)""",
    re.DOTALL | re.VERBOSE,
)
_WORD = re.compile(r"[\w ]*")
_PLAIN = re.compile(r"[A-Za-z0-9_ .:+-]*")


def query(text: str, table: Table, named: Mapping[str, str] = NONE, ordered: Sequence[str] = ()) -> str:
    """Write a query anew, with each table replaced by its governed subquery.

    Args:
        text: one query of Spark SQL.
        named: name of each argument, for `:name`, to its literal.
        ordered: literals of the arguments in their order, for `?`.
        table: gives the text of the governed subquery for the parts of a table's name, or refuses it.

    Returns:
        Text of Spark SQL that names no table of the client's.

    Raises:
        Refused: the text is no query, or holds something that is not among what is let through.
    """
    writing = _Writing(table, named=named, ordered=ordered)
    tree = writing.read(text)
    if type(tree).__name__ not in ("Select", "Union", "Except", "Intersect", "Values", "Subquery"):
        raise Refused("of SQL only queries are answered: SELECT, VALUES, and WITH before them")
    return writing.written(tree)


def expression(text: str, table: Table) -> str:
    """Write an expression anew, as those of `filter("…")` and `selectExpr`; subqueries in it are as in `query`.

    Args:
        text: one expression of Spark SQL.
        table: as of `query`.

    Raises:
        Refused: as `query`.
    """
    writing = _Writing(table)
    tree = writing.read(f"SELECT {text}\n")
    rest = {name for name, value in tree.args.items() if value and name != "expressions"}
    if type(tree).__name__ != "Select" or rest or len(tree.expressions) != 1:
        raise Refused(
            "an expression is expected where a frame takes one as a text, and nothing before or after it"
        )
    return writing.written(tree).removeprefix("SELECT ")


def tables_of(text: str) -> list[tuple[str, ...]]:
    """Return the parts of the names of the tables that a query reads, each once.

    Args:
        text: one query of Spark SQL, such as a governed subquery.

    Raises:
        Refused: the text cannot be read.
    """
    writing, exp = _Writing(lambda parts: ""), _sqlglot().exp
    tables = [node for node in writing.read(text).find_all(exp.Table) if isinstance(node.this, exp.Identifier)]
    named = [node.parts for node in tables if _cte_of(node, writing.spelled) is None]
    return list(dict.fromkeys(tuple(writing.spelled(part.name) for part in parts) for parts in named))


def simple(text: str) -> bool:
    """Return whether no condition in a query or an expression can fail on a row of NULLs, dates and times."""
    writing = _Writing(lambda parts: "")
    tree = writing.read(text)
    within = {id(part) for node in tree.walk() if _is_moment(node, writing.texts) for part in node.walk()}
    return all(
        id(node) in within
        or (type(node).__name__ in SIMPLE_NODES and (node.key != "anonymous" or str(node.this).lower() in SIMPLE))
        for node in tree.walk()
    )


def _is_moment(node: Any, texts: Sequence[str]) -> bool:
    """Return whether a node is a date or a time that is written down as ISO 8601 has it: no such cast fails."""
    exp = _sqlglot().exp
    if not isinstance(node, exp.Cast) or not node.this.is_string:
        return False
    kinds = exp.DType.DATE, exp.DType.TIMESTAMP, exp.DType.TIMESTAMPTZ, exp.DType.TIMESTAMPNTZ
    return node.to.this in kinds and moments.is_valid(texts[int(node.this.this.strip().removeprefix("s"))][1:-1])


def apart(text: str) -> str:
    """Return a governed subquery whose rows are chosen first; one that hides none as it is."""
    exp = _sqlglot().exp
    chooses = (exp.Where, exp.Having, exp.Join, exp.Lateral, exp.Subquery, exp.Limit, exp.With)
    if _Writing(lambda parts: "").read(text).find(*chooses) is None:
        return text
    return keep_apart(text)


@dataclass
class _Writing:
    """One text on its way: what stood between quotes, and what is put in the place of tables."""

    table: Table
    texts: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    tables: dict[str, str] = field(default_factory=dict)
    named: Mapping[str, str] = field(default_factory=dict)
    ordered: Sequence[str] = ()
    asked: int = 0  # how many `?` there are
    mark: str = field(default_factory=lambda: secrets.token_hex(8))  # which no name of the client's has

    def read(self, text: str) -> Any:
        """Return the tree of a text, in which what stood between quotes is a number, and comments are gone."""
        if len(text) > MOST_CHARACTERS:
            raise Refused(f"a text of SQL has at most {MOST_CHARACTERS:,} characters, found {len(text):,}")
        if "${" in text:
            raise Refused("${ is not let through: the server would put one of its settings in its place")
        clean = "".join(self._clean(text))
        if "|>" in clean:
            raise Refused("|> is not let through: write the query with SELECT")
        if not re.match(r"\s*(\(\s*)*(select|with|values|from)\b", clean, re.IGNORECASE):
            raise Refused("of SQL only queries are answered: SELECT, VALUES, and WITH before them")
        sqlglot = _sqlglot()
        try:
            trees = sqlglot.parse(clean, dialect=_dialect())
        except (sqlglot.errors.SqlglotError, RecursionError, ValueError):
            raise Refused("this SQL cannot be read: is it one query of Spark SQL?") from None
        if len(trees) != 1 or trees[0] is None:
            raise Refused(f"one query is expected, found {len([tree for tree in trees if tree])}")
        return trees[0]

    def _clean(self, text: str) -> Iterator[str]:
        place = 0
        while place < len(text):
            part = _PARTS.match(text, place)
            assert part  # it matches any character
            place = part.end()
            if part["comment"]:
                yield " "
            elif part["bracket"]:  # hints too: none of them changes the answer
                place = _end_of_comment(text, place)
                yield " "
            elif part["text"]:
                if re.search(r"(?:^|[^A-Za-z0-9_])[rRxX]$", text[: part.start()][-2:]):
                    raise Refused("texts with r or x before the quote are not let through: write them plainly")
                self.texts.append(part[0])
                yield f" 's{len(self.texts) - 1}' "
            elif part["name"]:
                self.names.append(part[0])
                yield f"`q_{self.mark}_{len(self.names) - 1}`"
            elif part["other"] == "?":  # a tree would not tell which is the first
                yield f":p_{self.mark}_{self.asked} "
                self.asked += 1
            elif part["other"] in ("'", '"', "`"):
                raise Refused("a quote is open at the end of the SQL")
            else:
                yield part[0]

    def written(self, tree: Any) -> str:
        """Return the text of a tree, with governed subqueries in the place of its tables."""
        try:
            for node in list(tree.walk()):
                _check(node)
                types.require_written(node, self.texts)
            literals = self._bound(tree)
            self._rename_ctes(tree)
            for node in list(tree.find_all(_sqlglot().exp.Table)):
                self._replace(node)
            text = self._generated(tree)
            again = _sqlglot().parse_one(text, dialect=_dialect())
            if self._generated(again) != text:
                raise Refused("this SQL cannot be written anew without a change; write it more plainly")
        except (_sqlglot().errors.SqlglotError, RecursionError):
            raise Refused("this SQL is nested too deeply, or cannot be written anew: write it plainly") from None
        text = re.sub(r"'s([0-9]+)'", lambda mark: self.texts[int(mark[1])], text)
        text = re.sub(rf"`?q_{self.mark}_([0-9]+)`?", lambda mark: self.names[int(mark[1])], text)
        text = re.sub(rf":p_{self.mark}_([0-9]+)\b", lambda mark: literals[int(mark[1])], text)
        governed = {f"`{mark}`": f"({subquery}\n)" for mark, subquery in self.tables.items()}
        return re.sub(r"`g_[0-9a-f]{32}`", lambda mark: governed.get(mark[0], mark[0]), text)

    def _bound(self, tree: Any) -> list[str]:
        """Return the literals of the arguments; in the tree each of these is a number then."""
        literals, known = list(self.ordered), f"p_{self.mark}_"
        if len(literals) != self.asked:
            raise Refused(f"there are {self.asked} ? in the SQL, and {len(literals)} arguments in an order")
        for node in list(tree.find_all(_sqlglot().exp.Placeholder)):
            name = str(node.this or "")
            if name.startswith(known):
                continue
            if name not in self.named:
                raise Refused(f"there is no argument for :{name[:80]} in the SQL")
            node.set("this", f"{known}{len(literals)}")
            literals.append(self.named[name])
        return literals

    def spelled(self, name: str) -> str:
        """Return a name of the tree as the client has it."""
        number = name.removeprefix(f"q_{self.mark}_")
        return name if number == name else self.names[int(number)][1:-1].replace("``", "`")

    def _generated(self, tree: Any) -> str:
        _write_units(tree)
        return str(tree.sql(dialect=_dialect(), comments=False, identify=True, normalize_functions=False))

    def _rename_ctes(self, tree: Any) -> None:
        """Give the queries of each WITH names that no table has, where they are made and where they are read."""
        exp = _sqlglot().exp
        tables = list(tree.find_all(exp.Table))
        if (count := len(tables) + len(list(tree.find_all(exp.CTE)))) > MOST_TABLES:
            raise Refused(f"a query names at most {MOST_TABLES:,} tables and queries of WITH, found {count:,}")
        readers = [(node, cte) for node in tables if (cte := _cte_of(node, self.spelled)) is not None]
        names = {id(cte): f"c_{secrets.token_hex(16)}" for cte in tree.find_all(exp.CTE)}
        for node, cte in readers:
            if not node.args.get("alias"):
                node.set("alias", exp.TableAlias(this=node.this.copy()))
            node.set("this", exp.to_identifier(names[id(cte)], quoted=True))
        for cte in tree.find_all(exp.CTE):
            cte.args["alias"].set("this", exp.to_identifier(names[id(cte)], quoted=True))
        self.tables |= {name: "" for name in names.values()}

    def _replace(self, node: Any) -> None:
        exp = _sqlglot().exp
        # a function that gives a table, whose name has been checked, or a query of a WITH
        if isinstance(node.this, exp.Anonymous) or node.name in self.tables:
            return
        *_, last = parts = node.parts
        mark = f"g_{secrets.token_hex(16)}"
        self.tables[mark] = self.table(tuple(self.spelled(part.name) for part in parts))
        if not node.args.get("alias"):
            node.set("alias", exp.TableAlias(this=last.copy()))
        node.set("this", exp.to_identifier(mark, quoted=True))
        node.set("db", None)
        node.set("catalog", None)


def _check(node: Any) -> None:
    """Refuse a node that is not let through, or that holds a text where only a word can be."""
    exp, kind = _sqlglot().exp, type(node).__name__
    if kind not in NODES:
        because = REASONS.get(kind, "it is not among what the front lets through")
        raise Refused(f"{_spoken(kind)} in SQL is refused: {because}")
    if kind == "With" and node.args.get("recursive"):
        raise Refused("WITH RECURSIVE is refused: it is not among what the front lets through")
    if kind == "Anonymous":
        _check_function(node)
    if kind == "Table":
        _check_table(node)
    if kind == "DataType" and node.this == exp.DataType.Type.USERDEFINED:
        raise Refused("types of one's own are not let through")
    for name, value in node.args.items():
        if isinstance(value, str) and (kind, name) != ("Literal", "this") and not _WORD.fullmatch(value):
            raise Refused(f"{_spoken(kind)} in SQL is refused: names of other signs stand between backticks")
    if kind == "Literal" and node.args.get("is_string") and not _PLAIN.fullmatch(node.this):
        raise Refused("a text between quotes cannot be written anew; write it more plainly")
    if kind == "Literal" and not node.args.get("is_string") and not re.fullmatch(r"[0-9.eE+-]+", node.this):
        raise Refused("a number cannot be read; write it in digits")


def _check_function(node: Any) -> None:
    exp, name = _sqlglot().exp, str(node.this).lower()
    allowed = TABLE_FUNCTIONS if isinstance(node.parent, exp.Table) else FUNCTIONS
    of_a_name = isinstance(node.parent, exp.Dot) and node.arg_key != "this"  # a function in a catalog
    if not isinstance(node.this, str) or name not in allowed or of_a_name:
        raise Refused(f"the function {name[:80]} is not among those that the front lets through")


def _write_units(tree: Any) -> None:
    """Let the units of `timestampdiff(DAY, a, b)` be words and not columns, which would go between backticks."""
    exp = _sqlglot().exp
    for node in list(tree.find_all(exp.Anonymous)):
        first = node.expressions[0] if len(node.expressions) == 3 else None
        if node.this.lower() in UNITS and isinstance(first, exp.Column) and not first.table:
            first.replace(exp.Var(this=first.name))


def _check_table(node: Any) -> None:
    exp = _sqlglot().exp
    known = {"this", "db", "catalog", "alias", "joins", "laterals", "pivots"}
    if more := {name for name, value in node.args.items() if value} - known:
        word = "an older state of a table" if more & {"version", "when"} else f"{min(more)} after a table"
        raise Refused(f"{word} is refused: tables are read as they are shared, in their state of now")
    if isinstance(node.this, exp.Anonymous):
        if node.args.get("db"):
            raise Refused("a function that gives a table has a name without dots")
        return
    if not all(isinstance(part, exp.Identifier) for part in node.parts):
        raise Refused("a table is named by identifiers: catalog.namespace.table")


def _cte_of(table: Any, spelled: Callable[[str], str]) -> Any:
    """Return the query of a WITH that a table's name means; None where it means a table."""
    exp = _sqlglot().exp
    if isinstance(table.this, exp.Anonymous) or table.args.get("db"):
        return None
    node: Any = table
    while node.parent is not None:
        child, node = node, node.parent
        if isinstance(node, exp.With):  # one of its queries sees those before it
            earlier = node.expressions[: next(n for n, cte in enumerate(node.expressions) if cte is child)]
            node, ctes = node.parent, earlier
        else:
            ctes = clause.expressions if (clause := node.args.get("with_") or node.args.get("with")) else []
        for cte in reversed(ctes):
            if spelled(cte.alias).lower() == spelled(table.name).lower():
                return cte
    return None


def _end_of_comment(text: str, place: int) -> int:
    """Return the place after a comment in brackets, which may hold others."""
    depth = 1
    for mark in re.finditer(r"/\*|\*/", text[place:]):
        depth += 1 if mark[0] == "/*" else -1
        if not depth:
            return place + mark.end()
    raise Refused("a comment is open at the end of the SQL")


def _spoken(kind: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", kind).lower()


@functools.cache
def _sqlglot() -> Any:
    try:
        import sqlglot
        import sqlglot.errors
    except ModuleNotFoundError:
        raise MissingPackageError(
            "sqlglot is not installed: pip install 'iceberg-workbench[access]'", name="sqlglot"
        ) from None
    return sqlglot


@functools.cache
def _dialect() -> Any:
    """Return Spark's dialect with functions as they are written: sqlglot would turn some into others."""
    spark: Any = _sqlglot().Dialect.get_or_raise("spark").__class__
    reads, writes = spark.Parser, spark.Generator
    syntax, words = ("CAST", "TRY_CAST", "EXTRACT", "TRIM"), ("CASE", "IF")
    kept = {
        "FUNCTIONS": {},
        "FUNCTION_PARSERS": {name: reads.FUNCTION_PARSERS[name] for name in syntax},
        "NO_PAREN_FUNCTION_PARSERS": {name: reads.NO_PAREN_FUNCTION_PARSERS[name] for name in words},
    }
    names = {"identifier_sql": lambda generator, node: identifiers.column(node.this)}
    parts = {"Parser": type("Parser", (reads,), kept), "Generator": type("Generator", (writes,), names)}
    return type("Governed", (spark,), parts)
