"""The quarantine: rows that an audit refused, each with the run and the snapshot it was refused in."""

from workbench._base import identifiers
from workbench._base.errors import ArgumentError
from workbench._base.typing import DataFrame, Java, SparkSession, jvm
from workbench.tables import commits, snapshots
from workbench.wap import attestation, branches
from workbench.wap.branches import Stage

RUN, BRANCH, SNAPSHOT = "wap_run_id", "wap_branch", "wap_snapshot_id"
PROPERTY = "write.spark.accept-any-schema"  # lets a column that the source gained later come in


def check(spark: SparkSession, quarantine: str, table: str, loaded: Java) -> None:
    """Refuse a quarantine table that cannot take a run's rows, before anything is staged.

    Which columns the rows will have is the audit's choice; that a column of the table stays what it is, is not.

    Args:
        spark: classic session.
        quarantine: its name.
        table: the audited table's name.
        loaded: Iceberg's own object of the audited table.

    Raises:
        ValueError: it is the audited table; its name is wrong, or its namespace is not there; it is a table of
            another kind; or one of its columns cannot take the audited table's column of that name.
    """
    name = identifiers.quoted(quarantine)
    if name == identifiers.quoted(table):
        raise ArgumentError(f"{quarantine} is the table to be published to; the quarantine must be another one")
    if not snapshots.exists(spark, quarantine):
        snapshots.refuse_no_namespace(spark, quarantine)
        return
    types = {field.name: field.dataType.simpleString() for field in spark.table(name).schema}
    missing = sorted({RUN, BRANCH, SNAPSHOT} - types.keys())
    if missing:
        raise ArgumentError(
            f"{quarantine} exists but lacks {', '.join(missing)}; "
            "drop it and let the gate make it, or name another"
        )
    if (types[RUN], types[BRANCH], types[SNAPSHOT]) != ("string", "string", "bigint"):
        raise ArgumentError(
            f"{quarantine} needs {RUN} string, {BRANCH} string, {SNAPSHOT} bigint, as the gate makes it"
        )
    existing = commits.load(spark, quarantine)
    if existing.properties().get(PROPERTY) != "true":
        raise ArgumentError(f"{quarantine} needs the table property {PROPERTY} = true, as the gate makes it")
    wrong, _ = _unfit(spark, existing, loaded.schema(), f"in {table}")
    if wrong:
        raise ArgumentError(f"{quarantine} cannot take rows of {table}: {'; '.join(wrong)}")


def _unfit(spark: SparkSession, existing: Java, schema: Java, whose: str) -> tuple[list[str], list[str]]:
    """Say which columns of an Iceberg schema a quarantine cannot take, and which it needs and does not get.

    Iceberg decides, by the rule by which it merges the schemas when the rows are written.
    """
    sensitive = (spark.conf.get("spark.sql.caseSensitive", None) or "").lower() == "true"
    own = {field.name() if sensitive else field.name().lower(): field for field in existing.schema().columns()}
    wrong = []
    for field in schema.columns():
        known = own.pop(field.name() if sensitive else field.name().lower(), None)
        alone = jvm(spark).org.apache.iceberg.Schema([field])
        try:
            existing.updateSchema().caseSensitive(sensitive).unionByNameWith(alone).apply()
        except Exception:
            wrong.append(f"its {known.name()} is {known.type()}, and {field.type()} {whose}")
    return wrong, [
        f"its {field.name()} is NOT NULL, and not {whose}" for field in own.values() if field.isRequired()
    ]


def append(spark: SparkSession, quarantine: str, rows: DataFrame, *, stage: Stage, audited: int) -> int | None:
    """Append the refused rows in one commit, to a table that is made where it is missing; return how many.

    Raises:
        ValueError: the rows have one of the gate's columns already, or columns that the table cannot take.
        OutcomeUnknown: they may be in the table or not.
    """
    from pyspark.sql import functions as F

    ours = {RUN: F.lit(stage.run_id), BRANCH: F.lit(stage.branch), SNAPSHOT: F.lit(audited).cast("bigint")}
    if taken := sorted(name for name in rows.columns if name.lower() in ours):
        raise ArgumentError(f"the quarantined rows have a column {taken[0]} of their own; the gate adds one")
    labelled = rows.withColumns(ours)
    if not snapshots.exists(spark, quarantine):
        _make(spark, quarantine, labelled, like=commits.load(spark, stage.of))
    schema = jvm(spark).org.apache.iceberg.spark.SparkSchemaUtil.convert(labelled._jdf.schema())
    wrong, missing = _unfit(spark, commits.load(spark, quarantine), schema, "in the rows")
    if wrong or missing:
        raise ArgumentError(f"{quarantine} cannot take the quarantined rows: {'; '.join(wrong + missing)}")
    # columns are matched by name: one that the source gained later comes in, whatever its place
    writer = labelled.writeTo(identifiers.quoted(quarantine)).option("mergeSchema", "true")
    writer = writer.option("check-ordering", "false")
    writer = writer.option(f"snapshot-property.{attestation.AUDITED}", str(audited))

    def landed() -> int | None:
        summaries = [
            snapshot["summary"] for snapshot in commits.snapshots_of(spark, commits.load(spark, quarantine))
        ]
        added = [s.get("added-records") for s in summaries if s.get(attestation.AUDITED) == str(audited)]
        return sum(int(count or 0) for count in added) if added else None

    commits.attempt(writer.append, landed=landed)
    return landed()


def forget(spark: SparkSession, quarantine: str, audited: int, run_id: str) -> None:
    """Remove the rows of a run that died between its quarantine and its end: its repetition brings them again."""
    from pyspark.sql import functions as F

    if not snapshots.exists(spark, quarantine):
        return
    commits.load(spark, quarantine)
    name = identifiers.quoted(quarantine)
    branches.refuse_id(run_id)  # it goes into a statement
    if not spark.table(name).where((F.col(SNAPSHOT) == audited) & (F.col(RUN) == run_id)).isEmpty():
        spark.sql(f"DELETE FROM {name} WHERE {SNAPSHOT} = {int(audited)} AND {RUN} = '{run_id}'")


def _make(spark: SparkSession, quarantine: str, labelled: DataFrame, *, like: Java) -> None:
    version = jvm(spark).org.apache.iceberg.TableUtil.formatVersion(like)
    table = labelled.limit(0).writeTo(identifiers.quoted(quarantine)).using("iceberg")
    table = table.tableProperty(PROPERTY, "true").tableProperty("format-version", str(version))
    try:
        table.create()
    except Exception:
        if not snapshots.exists(spark, quarantine):  # else another run was quicker
            raise
