"""docs/first_table.md: its job loads its files as it says, and its commands do what it says, block by block."""

import csv
import json
import os
import re
import shutil
import subprocess
import sys
from decimal import Decimal

import jupytext
import pytest
import yaml
from conftest import ENVIRONMENT, ROOT, drop_namespace
from pyspark.errors import ArithmeticException, NumberFormatException

from workbench import checks, quality
from workbench.tables import maintenance

PAGE = (ROOT / "docs" / "first_table.md").read_text(encoding="utf-8")
SHELL = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
JOB = "".join(re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE))
# the programs in the shell's blocks that make the files of the three nights
FILES = [text for text in re.findall(r"<<'END'\n(.*?)^END$", PAGE, re.DOTALL | re.MULTILINE) if "inbox/" in text]
REFUSED = {  # line of the first file, counted from 1 behind the header: the rules that it breaks
    11: ['ColumnValues "amount" matches "[0-9]{1,8}[.][0-9]{2}"'],
    22: ['ColumnValues "amount" matches "[0-9]{1,8}[.][0-9]{2}"'],
    33: ['ColumnValues "amount" matches "[0-9]{1,8}[.][0-9]{2}"'],
    44: ['ColumnValues "broken_line" = NULL'],
    55: ['ColumnValues "order_id" matches "[1-9][0-9]{0,17}"', 'IsPrimaryKey "order_id"'],
    66: [
        'ColumnValues "changed_at" matches "[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}"',
        'ColumnDataType "changed_at" = "Timestamp"',
    ],
    77: ['ColumnValues "quantity" matches "[1-9][0-9]{0,3}"'],
    88: ['IsPrimaryKey "order_id"'],
    3001: ['IsPrimaryKey "order_id"'],
}


@pytest.fixture
def shop(spark, tmp_path, monkeypatch):
    """A folder as the page makes it, with a namespace of its own; calling it runs the job there."""
    name = "first_table_page"
    (tmp_path / "jobs" / "inbox").mkdir(parents=True)

    def arrive(night):
        monkeypatch.chdir(tmp_path)
        exec(FILES[night], {})

    def run(job=JOB):
        """Run the job with the tests' environment, and return what it defined."""
        monkeypatch.chdir(tmp_path / "jobs")
        held = {}
        values = job.replace('ENVIRONMENT: str = "lake"', f'ENVIRONMENT: str = "{ENVIRONMENT}"')
        try:
            exec(re.sub(r"\bsales\b", name, values), held)
        finally:
            spark.catalog.clearCache()
            spark.catalog.dropTempView("news")
        return held

    run.arrive, run.inbox, run.name = arrive, tmp_path / "jobs" / "inbox", name
    yield run
    drop_namespace(spark, name)


def expected(*files):
    """What the table holds after good files, by plain Python: the newest state of each order; {order: (time, amount)}."""
    orders = {}
    for path in files:
        for row in csv.DictReader(path.open(encoding="utf-8")):
            if row["order_id"] not in orders or row["changed_at"] > orders[row["order_id"]][0]:
                orders[row["order_id"]] = row["changed_at"], Decimal(row["amount"])
    return {int(key): value for key, value in orders.items()}


def held(spark, shop):
    rows = spark.sql(f"SELECT order_id, CAST(changed_at AS STRING), amount FROM {shop.name}.orders").collect()
    assert len({row.order_id for row in rows}) == len(rows)
    return {row.order_id: (row.changed_at, row.amount) for row in rows}


def without_faults(path):
    """The lines of the first file that break no rule, in a file beside the inbox."""
    lines = path.read_text(encoding="utf-8").splitlines()
    good = "\n".join(line for number, line in enumerate(lines) if number not in REFUSED)
    (target := path.parents[2] / "good.csv").write_text(good, encoding="utf-8")
    return target


def load_the_first_night(spark, shop, job=JOB):
    """Load the first file, and compare what is in the tables with it."""
    shop.arrive(0)
    shop(job)
    path = shop.inbox / "loaded" / "orders_2026-11-01.csv"
    lines = path.read_text(encoding="utf-8").splitlines()
    wanted = {}
    for number, rules in REFUSED.items():
        (values,) = csv.reader([lines[number]])
        texts = {name: value for name, value in zip(lines[0].split(","), values, strict=False) if value}
        whole = len(values) > len(lines[0].split(","))
        wanted[lines[number] if whole else json.dumps(texts, separators=(",", ":"))] = rules
    refused = spark.table(f"{shop.name}.orders_refused").collect()
    assert {row.line: row.rules for row in refused} == wanted and len(refused) == 9
    assert held(spark, shop) == expected(without_faults(path))
    assert spark.table(f"{shop.name}.orders").count() == 2_992 and list(shop.inbox.glob("*.csv")) == []


def load_the_second_night(spark, shop, job=JOB):
    """Load the correction and, behind it, an older state of the same order."""
    shop.arrive(1)
    first, second = (
        shop.inbox / "loaded" / "orders_2026-11-01.csv",
        shop.inbox / "loaded" / "orders_2026-11-02.csv",
    )
    lines = first.read_text(encoding="utf-8").splitlines(keepends=True)
    (shop.inbox / "orders_2026-11-02_late.csv").write_text("".join([lines[0], *lines[100:200]]), encoding="utf-8")
    shop(job)
    assert held(spark, shop) == expected(without_faults(first), second)
    assert held(spark, shop)[100] == ("2026-11-02 23:00:00", Decimal("1.00")) and len(held(spark, shop)) == 4_992


@pytest.mark.proof("the rules, the policy and the entry of the page, read without a session")
def test_faulty_rows_are_put_aside_and_all_others_are_loaded(spark, shop):
    load_the_first_night(spark, shop)


@pytest.mark.proof("the rules, the policy and the entry of the page, read without a session")
def test_a_late_correction_stays_and_a_new_column_waits_for_a_person(spark, shop):
    load_the_first_night(spark, shop)
    load_the_second_night(spark, shop)
    shop.arrive(2)
    before = held(spark, shop)
    with pytest.raises(checks.CheckFailed, match=re.escape("found ['channel'], expected []")):
        shop()
    assert held(spark, shop) == before
    spark.sql(f"ALTER TABLE {shop.name}.orders ADD COLUMN channel STRING")
    shop()
    channels = spark.table(f"{shop.name}.orders").groupBy("channel").count().collect()
    assert {row.channel: row["count"] for row in channels} == {None: 4_992, "web": 1_000, "shop": 1_000}
    loaded = sorted((shop.inbox / "loaded").glob("*.csv"))
    for path in loaded:  # all of it again: what was published is skipped
        path.rename(shop.inbox / path.name)
    snapshots = spark.table(f"{shop.name}.orders.snapshots").count()
    shop()
    assert spark.table(f"{shop.name}.orders.snapshots").count() == snapshots
    assert sorted((shop.inbox / "loaded").glob("*.csv")) == loaded
    good = without_faults(loaded[0])  # mended by its sender, under its old name: the orders that were refused come
    lines = [*good.read_text(encoding="utf-8").splitlines(), "11,2026-11-01 11:11:00,Oslo,4,12.50"]
    (shop.inbox / loaded[0].name).write_text("\n".join(lines), encoding="utf-8")
    shop()
    assert set(held(spark, shop)) - set(before) - set(range(5001, 7001)) == {11}
    assert spark.table(f"{shop.name}.orders_refused").count() == 0


@pytest.mark.proof("the rules, the policy and the entry of the page, read without a session")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param('    ColumnValues "broken_line" = NULL,\n', "", id="a column too many is dropped unseen"),
        pytest.param('    IsPrimaryKey "order_id",\n', "", id="a key comes twice"),
        pytest.param(' AND n.changed_at > t.changed_at', "", id="an old state undoes a newer one"),
        pytest.param('20 * bad <= rows', '2_000 * bad <= rows', id="too many rows are refused"),
        pytest.param('judged.good.select', 'texts.limit(2_992).select', id="rows that were not judged"),
        pytest.param('.overwrite(F.col("file") == path.name)', '.append(); refused.writeTo("sales.orders_refused").append()',
                     id="refused rows are kept twice"),
    ],
)  # fmt: skip
def test_a_planted_fault_is_seen(spark, shop, old, new):
    assert JOB.count(old) == 1
    with pytest.raises((AssertionError, checks.CheckFailed, ArithmeticException, NumberFormatException)):
        load_the_first_night(spark, shop, JOB.replace(old, new))
        load_the_second_night(spark, shop, JOB.replace(old, new))


def cells(job=JOB):
    """The cells of the notebook that the page's command makes of the job."""
    return jupytext.reads(job, fmt="py:percent").cells


def test_the_blocks_are_cells_of_a_notebook():
    kinds = [(cell.cell_type, cell.metadata.get("tags", [])) for cell in cells()]
    assert kinds == [("code", ["parameters"])] + [("code", [])] * 5 and len(FILES) == 3 and len(SHELL) == 8
    for cell in cells():
        compile(cell.source, "cell", "exec")


def test_the_rules_are_of_the_language_and_each_fault_of_the_first_file_is_one_of_them():
    wanted = {rule for rules in REFUSED.values() for rule in rules}
    (row_rules,) = re.findall(r'^ROW_RULES = """(.*?)"""$', JOB, re.DOTALL | re.MULTILINE)
    (table_rules,) = re.findall(r"^TABLE_RULES = '(.*?)'$", JOB, re.MULTILINE)
    assert {rule.text for rule in quality.parse(row_rules)} == wanted
    assert len(quality.parse(table_rules)) == 3
    with pytest.raises(ValueError, match="amount"):
        quality.parse(row_rules.replace("matches", "resembles"))


def test_the_policy_and_the_paths_of_the_page_are_right(tmp_path):
    (policy,) = re.findall(r"orders_policy.yml <<'END'\n(.*?)^END$", PAGE, re.DOTALL | re.MULTILINE)
    (tmp_path / "policy.yml").write_text(policy)
    read = maintenance.read_policy(tmp_path / "policy.yml")
    assert (read.snapshots_older_than_days, read.keep_snapshots, read.limits.max_minutes) == (5, 10, 20)
    (entries,) = re.findall(r"schedules.yml <<'END'\n(.*?)^END$", PAGE, re.DOTALL | re.MULTILINE)
    (entry,) = yaml.safe_load(entries).values()
    assert entry["notebook"] in SHELL[1] and entry["on_failure"] in PAGE


@pytest.fixture
def clone(tmp_path):
    """A folder that a clone is to the page's commands: its page, its environments, its Python."""
    for name in ("docs", "locks"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / ".venv").symlink_to(sys.prefix)
    shutil.copytree(ROOT / "params" / "environments", tmp_path / "params" / "environments")
    (tmp_path / "notebooks").mkdir()
    return tmp_path


@pytest.mark.proof("the rules, the policy and the entry of the page, read without a session")
def test_every_command_does_what_the_page_says(clone):
    """The blocks in their order, in processes of their own; behind them the line for the crontab."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("WORKBENCH_")}

    def said(command):
        made = subprocess.run(
            ["bash", "-e", "-c", command], cwd=clone, env=variables, capture_output=True, text=True, check=False
        )
        assert made.returncode == 0, made.stdout + made.stderr
        return made.stdout + made.stderr

    outputs = [said(block) for block in SHELL]
    assert len(outputs) == 8
    assert re.search(r"^load_orders  passed", outputs[1], re.MULTILINE)
    assert re.search(r"^44,2026-11-01 20:44:00,Oslo,5,45.50,EUR +ColumnValues", outputs[2], re.MULTILINE)
    assert re.search(r"^load_orders  passed", outputs[3], re.MULTILINE)
    (sentence,) = re.findall(r"\*(columns of orders_2026-11-03.csv that .*?)\*", " ".join(PAGE.split()))
    assert f"CheckFailed: {sentence.rstrip('.')}" in outputs[4] and "exit code 1" in outputs[4]
    assert re.search(r"^load_orders  passed", outputs[5], re.MULTILINE)
    assert re.search(
        r"^plan   compact_data: \d+ data files of 1 partition become about 1$", outputs[6], re.MULTILINE
    )
    assert re.search(
        r"^done   compact_data: \d+ files before, 1 after, .*, 1 commit, 1 try$", outputs[6], re.MULTILINE
    )
    assert outputs[6].rstrip().endswith("sales.orders is healthy")
    assert re.search(r"^nightly_orders +load_orders +lake", outputs[7], re.MULTILINE)
    assert "nightly_orders" in (clone / "crontab.txt").read_text() and not (clone / "jobs" / "failed.log").exists()
    (line,) = re.findall(r"^```text\n30 3 \* \* \* (.*)\n```$", PAGE, re.MULTILINE)
    said(line.replace("/srv/iceberg-workbench", str(clone)).replace("|| jobs/tell.sh maintenance", ""))
    assert "done   remove_orphans: 0 orphans found" in (clone / ".workbench" / "maintain.log").read_text()
    said("chmod 755 jobs/tell.sh; jobs/tell.sh maintenance")
    assert (clone / "jobs" / "failed.log").read_text() == "failed: maintenance\n"


@pytest.mark.proof("test_wap.py has the gate's own cases in the check")
def test_the_way_of_the_gate_with_a_key_that_is_null(spark, namespace):
    """docs/wap.md: good rows in, bad rows aside; a bad row without a key is aside too, and the second run publishes."""
    text = (ROOT / "docs" / "wap.md").read_text(encoding="utf-8")
    (code,) = [
        block
        for block in re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
        if "left_anti" in block
    ]
    spark.sql(f"CREATE TABLE {namespace}.readings (id BIGINT, temperature INT) USING iceberg")
    new_rows = spark.createDataFrame([(1, 20), (None, 21), (2, 900)], "id BIGINT, temperature INT")
    rules = 'Rules = [ IsComplete "id", ColumnValues "temperature" < 50 ]'
    held = {
        "spark": spark, "new_rows": new_rows, "table": f"{namespace}.readings", "refused": f"{namespace}.refused",
        "audit": lambda df: quality.evaluate(spark, df, rules).verdict(), "night": "2026-01-31",
    }  # fmt: skip
    exec(code, held)
    assert held["done"].published
    assert [tuple(row) for row in spark.table(held["table"]).collect()] == [(1, 20)]
    refused = spark.table(held["refused"]).select("id", "temperature").collect()
    assert sorted(map(tuple, refused), key=lambda row: row[1]) == [(None, 21), (2, 900)]
    by_name = 'new_rows["id"].eqNullSafe(bad["id"])'  # the fault that the page had: NULL equals nothing
    assert code.count(by_name) == 1
    spark.sql(f"CREATE TABLE {namespace}.again (id BIGINT, temperature INT) USING iceberg")
    held |= {"table": f"{namespace}.again", "refused": f"{namespace}.refused_again"}
    exec(code.replace(by_name, '"id"'), held)
    assert not held["done"].published and spark.table(held["table"]).count() == 0
