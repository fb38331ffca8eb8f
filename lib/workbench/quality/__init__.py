"""AWS Glue's Data Quality Definition Language (DQDL) on Spark: which rules hold, and which rows break them.

    result = quality.evaluate(spark, df, 'Rules = [ ColumnValues "temperature" between -10 and 50 ]')
    result.ruleOutcomes.show()      # Rule, Outcome, FailureReason, EvaluatedMetrics, Labels
    result.quarantined.show()       # the rows that broke a rule, and which

The attributes and the columns of the frames have the names that AWS Glue gives them. The dialect, rule type by
rule type, is described in docs/dqdl.md; the language's reference is the AWS Glue User Guide, "Data Quality
Definition Language (DQDL) reference".

A session of Spark Connect will do, also of another engine such as PySail: a rule has Spark's outcome there, or is
refused by name.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from functools import cached_property
from typing import Literal

from workbench import verdicts
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench._base.typing import DataFrame, SparkSession
from workbench.quality import evaluation, syntax
from workbench.quality.frames import distinguished, shown
from workbench.quality.syntax import parse

__all__ = ["Result", "RuleOutcome", "evaluate", "parse"]

MARKS = ("DataQualityRulesPass", "DataQualityRulesFail", "DataQualityRulesSkip", "DataQualityEvaluationResult")


@dataclass(frozen=True)
class RuleOutcome:
    """The result of one rule.

    Attributes:
        rule: its text.
        passed: whether it holds.
        reason: why not, in Glue's words; None when it passed.
        metrics: name in Glue's spelling to number: what was measured.
        labels: key to value: the rule's own and those of the ruleset. They change no verdict.
    """

    rule: str
    passed: bool
    reason: str | None
    metrics: dict[str, float]
    labels: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Result:
    """The outcome of a ruleset on a frame.

    Attributes:
        ruleset: the text.
        outcomes: tuple of RuleOutcome, in the order of the ruleset.
        ruleOutcomes: DataFrame of the same: Rule, Outcome ("Passed", "Failed"), FailureReason (NULL when passed),
            EvaluatedMetrics (map<string,double>), Labels (map<string,string>, empty without any).
        rowLevelOutcomes: DataFrame, each row of the input with DataQualityRulesPass, DataQualityRulesFail,
            DataQualityRulesSkip (array<string>, texts of rules in the order of the ruleset) and
            DataQualityEvaluationResult ("Passed", "Failed": some rule failed it). Lazy: reads the input again.
        good: DataFrame, the rows that passed, with the columns of the input. Lazy.
        quarantined: DataFrame, the rows that failed, with the columns of the input and DataQualityRulesFail. Lazy.
        tells_rows_apart: whether a rule of the ruleset says anything of single rows.
    """

    ruleset: str
    outcomes: tuple[RuleOutcome, ...]
    tells_rows_apart: bool
    _spark: SparkSession = field(repr=False)
    _mark: Callable[[], DataFrame] = field(repr=False)

    # made when asked for: of twenty rules they are two thousand calls to the JVM
    @cached_property
    def rowLevelOutcomes(self) -> DataFrame:  # noqa: D102
        return self._mark()

    @cached_property
    def ruleOutcomes(self) -> DataFrame:  # noqa: D102
        return self._spark.createDataFrame(
            [(o.rule, "Passed" if o.passed else "Failed", o.reason, o.metrics, o.labels) for o in self.outcomes],
            "Rule string, Outcome string, FailureReason string, EvaluatedMetrics map<string,double>, "
            "Labels map<string,string>",
        )

    @cached_property
    def good(self) -> DataFrame:  # noqa: D102
        rows = self.rowLevelOutcomes
        return rows.where(rows[MARKS[-1]] == "Passed").drop(*MARKS)

    @cached_property
    def quarantined(self) -> DataFrame:  # noqa: D102
        rows = self.rowLevelOutcomes
        return rows.where(rows[MARKS[-1]] == "Failed").drop(MARKS[0], *MARKS[2:])

    @property
    def passed(self) -> bool:
        """Whether every rule holds."""
        return self.rules_failed == 0

    @property
    def rules_evaluated(self) -> int:
        """How many rules the ruleset has."""
        return len(self.outcomes)

    @property
    def rules_failed(self) -> int:
        """How many of them do not hold."""
        return sum(not outcome.passed for outcome in self.outcomes)

    def verdict(self) -> verdicts.Verdict:
        """Return it as what a gate asks for.

        Returns:
            verdicts.Verdict; its figures are rules_evaluated, rules_failed and the metrics. A metric that two
            rules measured differently (under different filters) is followed by the rule in brackets; NaN and
            infinity, which JSON cannot say, are texts.
        """
        figures: dict[str, int | float | Decimal | str] = {
            "rules_evaluated": self.rules_evaluated,
            "rules_failed": self.rules_failed,
        }
        measured: dict[str, dict[str, float]] = {}
        for outcome in self.outcomes:
            for name, value in outcome.metrics.items():
                measured.setdefault(name, {})[outcome.rule] = value
        for name, value in distinguished(measured).items():
            figures[name] = value if math.isfinite(value) else shown(value)
        reasons = tuple(
            f"{outcome.rule}: {outcome.reason}".replace("\n", " ")
            for outcome in self.outcomes
            if not outcome.passed
        )
        quarantined = self.quarantined if self.tells_rows_apart else None
        return verdicts.Verdict(self.passed, self.ruleset, figures, reasons, quarantined)


@checked
def evaluate(
    spark: SparkSession,
    df: DataFrame,
    ruleset: str,
    *,
    references: Mapping[str, DataFrame] | None = None,
    now: datetime | None = None,
    composite: Literal["COLUMN", "ROW"] = "COLUMN",
) -> Result:
    """Evaluate a DQDL ruleset on a frame.

    All rules are checked before anything runs. Then one job answers all rules that a scan can answer, and one more
    each: every distinct set of key columns (with its filter) of IsUnique, Uniqueness, IsPrimaryKey,
    DistinctValuesCount and Entropy; every reference; every CustomSql. Rows are never collected. The frame is read
    once a job and again for the row-level frames: cache it first if it does not give the same rows each time.

    Args:
        spark: the user's session; of Spark Connect, too.
        df: DataFrame, the primary dataset.
        ruleset: DQDL text, such as `Rules = [ RowCount > 0, IsComplete "id" ]`.
        references: alias to DataFrame, for RowCountMatch, ReferentialIntegrity and CustomSql.
        now: datetime with a time zone, what `now()` and DataFreshness mean; the clock is never read.
        composite: how `and` and `or` join: "COLUMN", each rule over the whole data first (Glue's default), or
            "ROW", row by row (Glue's compositeRuleEvaluation.method).

    Returns:
        Result.

    Raises:
        ValueError: the text is not DQDL, or a rule cannot be evaluated (not supported, unknown column, types that
            do not fit, a missing reference or `now`; without a JVM, what another engine may take otherwise than
            Spark); all such rules are named, and nothing has run. Or a filter or statement raised on a row, such
            as a division by zero; one such rule is named.
    """
    references = dict(references or {})
    rules = syntax.parse(ruleset)
    _refuse(df, references, now)
    frame, bound = evaluation.bind(spark, df, rules, references, now, composite)
    facts = evaluation.measure(frame, rules, bound)
    judgements = [binding.judge(facts) for binding in bound]
    outcomes = tuple(
        RuleOutcome(rule.text, judgement.passed, judgement.reason, dict(judgement.metrics), dict(rule.labels))
        for rule, judgement in zip(rules, judgements, strict=True)
    )
    return Result(
        ruleset=ruleset,
        outcomes=outcomes,
        tells_rows_apart=any(binding.row is not None for binding in bound),
        _spark=spark,
        _mark=lambda: evaluation.mark(frame, rules, bound),
    )


def _refuse(df: DataFrame, references: Mapping[str, DataFrame], now: datetime | None) -> None:
    """Refuse what is wrong with the arguments beside the rules."""
    if any(alias.lower() == "primary" for alias in references):
        raise ArgumentError("a reference cannot be called primary: that is the frame itself")
    for name, frame in {"df": df, **references}.items():
        if not hasattr(frame, "columns") or not hasattr(frame, "agg"):
            raise ArgumentError(f"{name} is a {type(frame).__name__}, expected a DataFrame")
        if frame.isStreaming:
            raise ArgumentError(f"{name} is a stream, which has no end to be judged at; evaluate its batches")
    taken = [name for name in df.columns if name.lower() in {mark.lower() for mark in MARKS}]
    if taken:
        raise ArgumentError(f"the frame has columns that the outcome would add: {', '.join(taken)}")
    cases: dict[str, list[str]] = {}
    for alias in references:
        cases.setdefault(alias.lower(), []).append(alias)
    for same in cases.values():
        if len(same) > 1:
            raise ArgumentError(
                f"references differ only in case: {', '.join(same)}; SQL could not tell them apart"
            )
    if now is not None and now.utcoffset() is None:
        raise ArgumentError(f"now must be a datetime with a time zone, such as UTC; found {now!r}")
