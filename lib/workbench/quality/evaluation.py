"""A ruleset on a frame: bound, measured in as few scans as there are questions, judged, and marked row by row."""

import logging
import re
import threading
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import datetime
from functools import partial
from operator import and_, or_
from typing import Any

from workbench._base.errors import ArgumentError
from workbench._base.typing import Column, DataFrame, SparkSession
from workbench.quality import columns, connected, keys, references, statements
from workbench.quality.columns import percent
from workbench.quality.comparisons import joined
from workbench.quality.frames import NO_ROWS, Bound, Facts, Frame, Judge, Judged, Needs, distinguished, first_line
from workbench.quality.rules import Composite, Rule, leaves
from workbench.quality.syntax import refusal

Rules = Sequence[Rule | Composite]
Pair = tuple[Rule | Composite, Bound]
Pairs = Sequence[Pair]
# the SQLSTATE classes of what an expression makes of a row: bad values, functions of the user's, raise_error
_OF_A_ROW = re.compile(r"\[[A-Z_.]+\].*? SQLSTATE: (?:22|38|39|P0)\w{3}")
BINDERS = {
    "ColumnCount": columns.column_count,
    "ColumnDataType": columns.data_type,
    "ColumnExists": columns.column_exists,
    "ColumnLength": columns.column_length,
    "ColumnValues": columns.column_values,
    "Completeness": columns.completeness,
    "CustomSql": statements.custom_sql,
    "DataFreshness": columns.freshness,
    "DistinctValuesCount": keys.distinct,
    "Entropy": keys.distinct,
    "IsComplete": columns.completeness,
    "IsPrimaryKey": keys.unique,
    "IsUnique": keys.unique,
    "Mean": columns.statistic,
    "ReferentialIntegrity": references.referential_integrity,
    "RowCount": columns.row_count,
    "RowCountMatch": references.row_count_match,
    "StandardDeviation": columns.statistic,
    "Sum": columns.statistic,
    "Uniqueness": keys.unique,
}


def bind(
    spark: SparkSession,
    df: DataFrame,
    rules: Rules,
    references: Mapping[str, DataFrame],
    now: datetime | None,
    composite: str,
) -> tuple[Frame, list[Bound]]:
    """Bind rules to a frame; nothing runs.

    Returns:
        (Frame, list of Bound, one a rule in order).

    Raises:
        ValueError: rules cannot be evaluated on the frame; all of them are named.
    """
    frame, problems = Frame(spark, df, references, now), []
    bound: dict[Rule, Bound] = {}
    statement = any(leaf.type == "CustomSql" for rule in rules for leaf in leaves(rule))
    views: AbstractContextManager[None] = nullcontext()
    if frame.jvm and statement:
        views = statements.views(df.sparkSession, {statements.PRIMARY: df, **references})
    if not frame.jvm:
        connected.refuse_others(frame)
    with views, _quiet():
        for leaf in (leaf for rule in rules for leaf in leaves(rule)):
            try:
                bound[leaf] = BINDERS[leaf.type](frame, leaf if frame.jvm else connected.answerable(frame, leaf))
            except ValueError as error:
                problems.append((leaf.text, str(error)))
    if problems:
        raise ArgumentError(refusal(problems))
    return frame, [_joined(frame, rule, bound, composite) for rule in rules]


def _joined(frame: Frame, rule: Rule | Composite, bound: Mapping[Rule, Bound], composite: str) -> Bound:
    """Return a composite on a frame: its parts' questions, and their answers joined."""
    if not isinstance(rule, Composite):
        return bound[rule]
    parts = [_joined(frame, part, bound, composite) for part in rule.parts]
    needs = {key: need for part in parts for key, need in part.needs.items()}
    attach = {key: add for part in parts for key, add in part.attach.items()}
    row: Column | None = None
    if all(part.row is not None and part.joins for part in parts):
        row = joined(and_ if rule.operator == "and" else or_, [part.row for part in parts])
    whole = row is not None and all(part.whole for part in parts)
    judge = _by_column(rule, parts, lambda facts: _metrics(rule, bound, facts))
    if composite == "ROW" and whole and row is not None:
        key = ("by row", rule)
        needs |= _by_row_needs(frame, key, row, attach)
        judge = _by_row(key, judge)
    return Bound(needs, judge, row=row, attach=attach, joins=row is not None, whole=whole)


def _metrics(rule: Composite, bound: Mapping[Rule, Bound], facts: Facts) -> dict[str, float]:
    """Return a composite's metrics; one that its rules measured differently is followed by the rule."""
    measured: dict[str, dict[str, float]] = {}
    for leaf in leaves(rule):
        for name, value in bound[leaf].judge(facts).metrics.items():
            measured.setdefault(name, {})[leaf.text] = value
    return distinguished(measured)


def _by_column(rule: Composite, parts: Sequence[Bound], metrics: Callable[[Facts], Mapping[str, float]]) -> Judge:
    def judge(facts: Facts) -> Judged:
        judged = [part.judge(facts) for part in parts]
        passed = (all if rule.operator == "and" else any)(judgement.passed for judgement in judged)
        reasons = [judgement.reason for judgement in judged if judgement.reason]
        return Judged(passed, None if passed else "\n".join(reasons), metrics(facts))

    return judge


def _by_row_needs(
    frame: Frame, key: tuple[Hashable, ...], row: Column, attach: Mapping[str, Callable[[DataFrame], DataFrame]]
) -> Needs:
    """Return what must be known of the rows that satisfy a composite; with keys or references that is a job."""
    from pyspark.sql import functions as F

    right, wrong = F.count(F.when(row, 1)), F.count(F.when(~row, 1))
    if not attach:
        return {(*key, True): right, (*key, False): wrong}

    def both() -> tuple[int, int]:
        df = frame.df
        for add in attach.values():
            df = add(df)
        return tuple(df.agg(right, wrong).collect()[0])

    return {key: both}


def _by_row(key: tuple[Hashable, ...], by_column: Judge) -> Judge:
    def judge(facts: Facts) -> Judged:
        right, wrong = facts[key] if key in facts else (facts[*key, True], facts[*key, False])
        metrics = by_column(facts).metrics
        if not right + wrong:
            return Judged(False, NO_ROWS, metrics)
        return Judged(not wrong, percent(right, right + wrong) if wrong else None, metrics)

    return judge


def measure(frame: Frame, rules: Rules, bound: Sequence[Bound]) -> dict[Hashable, Any]:
    """Run the one scan, and each job that needs its own; return key to value.

    Raises:
        ValueError: a filter or statement raised on a row (a division by zero, a bad cast); its rule is named.
    """
    needs = {key: need for binding in bound for key, need in binding.needs.items()}
    with _quiet():
        facts = _named(frame, lambda some: _scan(frame, some), list(zip(rules, bound, strict=True)))
        for key in (key for key in needs if key not in facts):
            asking = [(rule, binding) for rule, binding in zip(rules, bound, strict=True) if key in binding.needs]
            facts[key] = _named(frame, partial(_alone, needs[key]), asking[:1])
    return facts


def _alone(job: Callable[[], Any], pairs: Pairs) -> Any:
    return job()


def _scan(frame: Frame, pairs: Pairs) -> dict[Hashable, Any]:
    """Return the figures that one scan gives of (rule, Bound) pairs."""
    from pyspark.sql import Column

    needs = {key: need for _, binding in pairs for key, need in binding.needs.items() if isinstance(need, Column)}
    if not needs:
        return {}
    # the names are ours: Spark's own of long expressions cost more than the expressions
    figures = frame.df.agg(*(column.alias(f"f{i}") for i, column in enumerate(needs.values()))).collect()[0]
    return dict(zip(needs, figures, strict=True))


def _named(frame: Frame, run: Callable[[Pairs], Any], pairs: Pairs) -> Any:
    """Return what a job for (rule, Bound) pairs gives; where it raised on a row, name a rule that did."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    def raises(some: Pairs) -> bool:
        try:
            run(some) if some else frame.df.count()
        except (PySparkException, Py4JJavaError):
            return True
        return False

    try:
        return run(pairs)
    except (PySparkException, Py4JJavaError) as error:
        reason = _raised_on_a_row(error)
        if reason is None or raises([]):  # no rule is to blame for a frame that cannot be read
            raise
        if (guilty := _culprit(pairs, raises)) is None:
            raise
        raise ArgumentError(f"{guilty[0].text}: Spark could not evaluate it on a row: {reason}") from error


def mark(frame: Frame, rules: Rules, bound: Sequence[Bound]) -> DataFrame:
    """Return the frame's rows with what each rule says of them; lazy."""
    from pyspark.sql import functions as F

    df = frame.df
    for name, add in {name: add for binding in bound for name, add in binding.attach.items()}.items():
        if name not in df.columns:
            df = add(df)
    rows = {i: binding.row for i, binding in enumerate(bound) if binding.row is not None}
    row_columns = {i: frame.helper(("row", i)) for i in rows}
    df = df.select("*", *(rows[i].alias(name) for i, name in row_columns.items()))

    def listed(when: Callable[[int], Column]) -> Column:
        texts = [F.when(when(i), F.lit(rule.text)) for i, rule in enumerate(rules)]
        return F.array_compact(F.array(*texts)).cast("array<string>")

    yes = {i: F.coalesce(F.col(name), F.lit(False)) for i, name in row_columns.items()}
    no = {i: F.coalesce(~F.col(name), F.lit(False)) for i, name in row_columns.items()}
    failed = joined(or_, no.values()) if no else F.lit(False)
    marked = df.select(
        "*",
        listed(lambda i: yes.get(i, F.lit(False))).alias("DataQualityRulesPass"),
        listed(lambda i: no.get(i, F.lit(False))).alias("DataQualityRulesFail"),
        listed(lambda i: F.col(row_columns[i]).isNull() if i in row_columns else F.lit(True)).alias(
            "DataQualityRulesSkip"
        ),
        F.when(failed, "Failed").otherwise("Passed").alias("DataQualityEvaluationResult"),
    )
    return marked.drop(*frame.helpers.values())


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep PySpark's loggers, for the block and this thread, from printing errors as JSON on stderr.

    What Spark refuses inside the block becomes an error of ours that says the same; nobody needs it twice.
    """
    try:
        from pyspark.logger import PySparkLogger
    except ImportError:  # before PySpark 4 nothing was printed
        yield
        return
    thread = threading.get_ident()

    def of_others(record: logging.LogRecord) -> bool:
        return record.thread != thread

    loggers = [PySparkLogger.getLogger(f"{kind}QueryContextLogger") for kind in ("SQL", "DataFrame")]
    for logger in loggers:
        logger.addFilter(of_others)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(of_others)


def _raised_on_a_row(error: Exception) -> str | None:
    """Return what an expression raised on a row, in a line; None for errors of the cluster or the storage.

    It is read from the text: of a job with a shuffle PySpark leaves the error inside one that it does not know.
    """
    if type(error).__name__ == "PythonException":  # the user's own function
        return first_line(error)
    return match[0] if (match := _OF_A_ROW.search(str(error))) else None


def _culprit(pairs: Pairs, raises: Callable[[Pairs], bool]) -> Pair | None:
    """Return the first rule that raises when it is alone, None when none does, in as many tries as halvings.

    Args:
        pairs: those that raised together.
        raises: function of some of them: do they raise?
    """
    while len(pairs) > 1:
        half = pairs[: len(pairs) // 2]
        pairs = half if raises(half) else pairs[len(half) :]
    return pairs[0] if pairs and raises(pairs) else None
