"""Read the tests of a dbt project from the manifest that `dbt compile` left.

A test is known by its compiled SQL and not by its name: overridden macros, packages, `where` and singular
tests are right by themselves.
"""

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from workbench._base.door import checked
from workbench._base.errors import ArgumentError

SCHEMA = "https://schemas.getdbt.com/dbt/manifest/v12.json"  # of dbt 1.8 to 1.11
ADAPTERS = ("duckdb", "spark")  # their names are those of their dialects, too
# how Jinja asks which command dbt runs: `dbt compile` then leaves another text than `dbt test` asks
_COMMAND = re.compile(r"""flags\s*(\.\s*|\[\s*["']|\.get\(\s*["'])WHICH|invocation_args_dict|invocation_command""")


@dataclass(frozen=True)
class Test:
    """A test of a dbt project.

    Attributes:
        unique_id: its name in the manifest, such as `test.shop.unique_people_id.3e1f0e6c0a`.
        sql: its compiled SQL, which gives the rows that fail.
        fail_calc: expression that counts the failures, such as `count(*)`.
        warn_if: condition on the failures, such as `!= 0`.
        error_if: condition on the failures.
        severity: `error` or `warn`.
        limit: how many failing rows dbt counts at most, or None.
        asks_command: whether it, or a macro that it calls, asks which command dbt runs, as elementary's do: what
            `dbt compile` left is then not what `dbt test` asks, often a query without rows.
    """

    __test__ = False  # pytest takes classes of this name for its own

    unique_id: str
    sql: str
    fail_calc: str = "count(*)"
    warn_if: str = "!= 0"
    error_if: str = "!= 0"
    severity: str = "error"
    limit: int | None = None
    asks_command: bool = False

    @property
    def digest(self) -> str:
        """SHA-256 of all that its outcome depends on besides the tables, constants of the SQL included."""
        parts = [self.sql, self.fail_calc, self.warn_if, self.error_if, self.severity, self.limit]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    @property
    def statement(self) -> str:
        """The statement by which dbt counts the failures, as its macro `get_test_sql` writes it."""
        limit = "" if self.limit is None else f"\n  limit {self.limit}"
        return (
            f"select\n  {self.fail_calc} as failures,\n  {self.fail_calc} {self.warn_if} as should_warn,\n"
            f"  {self.fail_calc} {self.error_if} as should_error\nfrom (\n{self.sql}\n{limit}\n) dbt_internal_test"
        )


@checked
def tests(target: str | Path) -> list[Test]:
    """List the tests of a dbt project.

    Args:
        target: folder in which dbt left `manifest.json`, usually `target`.

    Returns:
        The tests that are enabled, by `unique_id`.

    Raises:
        ArgumentError: there is no manifest, or one of another version or adapter, or it was not compiled, or it
            has no tests.
    """
    path = Path(target) / "manifest.json"
    manifest = _read(path)
    nodes = [node for node in manifest["nodes"].values() if node.get("resource_type") == "test"]
    if not nodes:
        raise ArgumentError(f"{path} has no tests")
    raw = sorted(node["unique_id"] for node in nodes if not node.get("compiled_code"))
    if raw:
        raise ArgumentError(
            f"{len(raw)} of {len(nodes)} tests in {path} are not compiled, such as {raw[0]}; run `dbt compile`"
        )
    asking = _asking(manifest.get("macros") or {})
    return sorted((_test(node, asking) for node in nodes), key=lambda test: test.unique_id)


@checked
def dialect(target: str | Path) -> Literal["duckdb", "spark"]:
    """Return the dialect of a dbt project's compiled SQL, which is the name of its adapter.

    Raises:
        ArgumentError: as of `tests`.
    """
    return "spark" if _read(Path(target) / "manifest.json")["metadata"]["adapter_type"] == "spark" else "duckdb"


def _read(path: Path) -> dict[str, Any]:
    """Return a manifest that we can read."""
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise ArgumentError(f"there is no {path}; run `dbt compile`, or name dbt's target folder") from None
    except ValueError:
        raise ArgumentError(f"{path} is not valid JSON; run `dbt compile` again") from None
    metadata = manifest.get("metadata", {}) if isinstance(manifest, dict) else {}
    version = metadata.get("dbt_schema_version")
    if version != SCHEMA:
        raise ArgumentError(f"{path} must be of the version {SCHEMA}, found {version}")
    adapter = metadata.get("adapter_type")
    if adapter not in ADAPTERS:
        raise ArgumentError(f"{path} must be of the adapter {' or '.join(ADAPTERS)}, found {adapter}")
    return dict(manifest)


def _asking(macros: dict[str, Any]) -> set[str]:
    """Return the macros that ask which command dbt runs, by themselves or through macros that they call."""
    asking = {name for name, macro in macros.items() if _COMMAND.search(macro["macro_sql"])}
    callers: dict[str, list[str]] = {}
    for name, macro in macros.items():
        for called in macro["depends_on"]["macros"]:
            callers.setdefault(called, []).append(name)
    further = [*asking]
    while further:
        others = set(callers.get(further.pop(), [])) - asking
        asking |= others
        further += others
    return asking


def _test(node: dict[str, Any], asking: set[str]) -> Test:
    config = node["config"]
    called = node.get("depends_on", {}).get("macros", [])
    return Test(
        unique_id=node["unique_id"],
        sql=node["compiled_code"],
        fail_calc=config["fail_calc"],
        warn_if=config["warn_if"],
        error_if=config["error_if"],
        severity=config["severity"].lower(),
        limit=config.get("limit"),
        asks_command=bool(asking & {*called} or _COMMAND.search(node.get("raw_code") or "")),
    )
