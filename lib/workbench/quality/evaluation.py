"""A ruleset on a frame: bound, measured in as few scans as there are questions, judged, and told row by row."""

import re
import threading
from contextlib import contextmanager
from operator import and_, or_

from workbench._base.errors import ArgumentError
from workbench.quality import columns, keys, references, statements
from workbench.quality.columns import percent
from workbench.quality.comparisons import joined
from workbench.quality.frames import NO_ROWS, Bound, Frame, Judged, distinguished, first_line
from workbench.quality.rules import Composite, leaves
from workbench.quality.syntax import refusal

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


def bind(spark, df, rules, references, now, composite):
    """Bind rules to a frame; nothing runs.

    Returns:
        (Frame, list of Bound, one a rule in order).

    Raises:
        ValueError: rules that cannot be evaluated on it, all of them.
    """
    frame, problems, bound = Frame(spark, df, references, now), [], {}
    statement = any(leaf.type == "CustomSql" for rule in rules for leaf in leaves(rule))
    views = statements.views(df.sparkSession, {statements.PRIMARY: df, **references} if statement else {})
    with views, _quiet():
        for leaf in (leaf for rule in rules for leaf in leaves(rule)):
            try:
                bound[leaf] = BINDERS[leaf.type](frame, leaf)
            except ValueError as error:
                problems.append((leaf.text, str(error)))
    if problems:
        raise ArgumentError(refusal(problems))
    return frame, [_joined(frame, rule, bound, composite) for rule in rules]


def _joined(frame, rule, bound, composite):
    """Return what a composite becomes: its parts' questions, and their answers joined."""
    if not isinstance(rule, Composite):
        return bound[rule]
    parts = [_joined(frame, part, bound, composite) for part in rule.parts]
    needs = {key: need for part in parts for key, need in part.needs.items()}
    attach = {key: add for part in parts for key, add in part.attach.items()}
    row = None
    if all(part.row is not None and part.joins for part in parts):
        row = joined(and_ if rule.operator == "and" else or_, [part.row for part in parts])
    whole = row is not None and all(part.whole for part in parts)
    judge = _by_column(rule, parts, lambda facts: _metrics(rule, bound, facts))
    if composite == "ROW" and whole:
        key = ("by row", rule)
        needs |= _by_row_needs(frame, key, row, attach)
        judge = _by_row(key, judge)
    return Bound(needs, judge, row=row, attach=attach, joins=row is not None, whole=whole)


def _metrics(rule, bound, facts):
    """Return a composite's metrics; one that its rules measured differently is followed by the rule."""
    measured = {}
    for leaf in leaves(rule):
        for name, value in bound[leaf].judge(facts).metrics.items():
            measured.setdefault(name, {})[leaf.text] = value
    return distinguished(measured)


def _by_column(rule, parts, metrics):
    def judge(facts):
        judged = [part.judge(facts) for part in parts]
        passed = (all if rule.operator == "and" else any)(one.passed for one in judged)
        reasons = [one.reason for one in judged if one.reason]
        return Judged(passed, None if passed else "\n".join(reasons), metrics(facts))

    return judge


def _by_row_needs(frame, key, row, attach):
    """Return what must be known of the rows that satisfy a composite; with keys or references that is a job."""
    from pyspark.sql import functions as F

    right, wrong = F.count(F.when(row, 1)), F.count(F.when(~row, 1))
    if not attach:
        return {(*key, True): right, (*key, False): wrong}

    def both():
        df = frame.df
        for add in attach.values():
            df = add(df)
        return tuple(df.agg(right, wrong).first())

    return {key: both}


def _by_row(key, by_column):
    def judge(facts):
        right, wrong = facts[key] if key in facts else (facts[*key, True], facts[*key, False])
        metrics = by_column(facts).metrics
        if not right + wrong:
            return Judged(False, NO_ROWS, metrics)
        return Judged(not wrong, percent(right, right + wrong) if wrong else None, metrics)

    return judge


def measure(frame, rules, bound):
    """Run the one scan, and each job that needs its own; return key to value.

    Raises:
        ValueError: a filter or statement raised on a row (a division by zero, a bad cast); its rule is named.
    """
    needs = {key: need for one in bound for key, need in one.needs.items()}
    with _quiet():
        facts = _named(frame, lambda some: _scan(frame, some), list(zip(rules, bound, strict=True)))
        for key in (key for key in needs if key not in facts):
            asking = [(rule, one) for rule, one in zip(rules, bound, strict=True) if key in one.needs]
            facts[key] = _named(frame, lambda _, key=key: needs[key](), asking[:1])
    return facts


def _scan(frame, pairs):
    """Return the figures that one scan gives of (rule, Bound) pairs."""
    from pyspark.sql import Column

    needs = {key: need for _, one in pairs for key, need in one.needs.items() if isinstance(need, Column)}
    if not needs:
        return {}
    # the names are ours: Spark's own of long expressions cost more than the expressions
    found = frame.df.agg(*(column.alias(f"f{i}") for i, column in enumerate(needs.values()))).first()
    return dict(zip(needs, found, strict=True))


def _named(frame, run, pairs):
    """Return what a job for (rule, Bound) pairs gives; where it raised on a row, name a rule that did."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    def raises(some):
        try:
            run(some) if some else frame.df.count()
        except (PySparkException, Py4JJavaError):
            return True
        return False

    try:
        return run(pairs)
    except (PySparkException, Py4JJavaError) as error:
        said = _raised_on_a_row(error)
        if said is None or raises([]):  # no rule is to blame for a frame that cannot be read
            raise
        if (guilty := _culprit(pairs, raises)) is None:
            raise
        raise ArgumentError(f"{guilty[0].text}: Spark could not evaluate it on a row: {said}") from error


def mark(frame, rules, bound):
    """Return the frame's rows with what each rule says of them; lazy."""
    from pyspark.sql import functions as F

    df = frame.df
    for name, add in {name: add for one in bound for name, add in one.attach.items()}.items():
        if name not in df.columns:
            df = add(df)
    said = {i: frame.helper(("said", i)) for i, one in enumerate(bound) if one.row is not None}
    df = df.select("*", *(bound[i].row.alias(name) for i, name in said.items()))

    def listed(when):
        texts = [F.when(when(i), F.lit(rule.text)) for i, rule in enumerate(rules)]
        return F.array_compact(F.array(*texts)).cast("array<string>")

    yes = {i: F.coalesce(F.col(name), F.lit(False)) for i, name in said.items()}
    no = {i: F.coalesce(~F.col(name), F.lit(False)) for i, name in said.items()}
    failed = joined(or_, no.values()) if no else F.lit(False)
    marked = df.select(
        "*",
        listed(lambda i: yes.get(i, F.lit(False))).alias("DataQualityRulesPass"),
        listed(lambda i: no.get(i, F.lit(False))).alias("DataQualityRulesFail"),
        listed(lambda i: F.col(said[i]).isNull() if i in said else F.lit(True)).alias("DataQualityRulesSkip"),
        F.when(failed, "Failed").otherwise("Passed").alias("DataQualityEvaluationResult"),
    )
    return marked.drop(*frame.helpers.values())


@contextmanager
def _quiet():
    """Keep PySpark's loggers, for the block and this thread, from printing errors as JSON on stderr.

    What Spark refuses inside the block becomes an error of ours that says the same; nobody needs it twice.
    """
    try:
        from pyspark.logger import PySparkLogger
    except ImportError:  # before PySpark 4 nothing was printed
        yield
        return
    thread = threading.get_ident()

    def of_others(record):
        return record.thread != thread

    loggers = [PySparkLogger.getLogger(f"{kind}QueryContextLogger") for kind in ("SQL", "DataFrame")]
    for logger in loggers:
        logger.addFilter(of_others)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(of_others)


def _raised_on_a_row(error):
    """Return what an expression raised on a row, in a line; None for errors of the cluster or the storage.

    It is read from the text: of a job with a shuffle PySpark leaves the error inside one that it does not know.
    """
    if type(error).__name__ == "PythonException":  # the user's own function
        return first_line(error)
    return found[0] if (found := _OF_A_ROW.search(str(error))) else None


def _culprit(rules, raises):
    """Return the first rule that raises when it is alone, None when none does, in as many tries as halvings.

    Args:
        rules: those that raised together.
        raises: function of some of them: do they raise?
    """
    while len(rules) > 1:
        half = rules[: len(rules) // 2]
        rules = half if raises(half) else rules[len(half) :]
    return rules[0] if rules and raises(rules) else None
