"""Let dbt itself run, with the tests that are proved emptied: for its hooks and for packages that watch its runs.

dbt renders each test as always. Where that gives the text which was proved, its statement is asked for no rows;
where it gives another one (another target, other variables), and where a test was told by dbt's own statement, dbt
runs it.
"""

import hashlib
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import workbench
from workbench._base import children, java
from workbench._base.door import checked
from workbench._base.errors import ArgumentError, ProcessError
from workbench.dbt import in_dbt
from workbench.dbt.in_dbt.child import MARK
from workbench.dbt.outcomes import Outcome
from workbench.dbt.planning import passes_at_zero


@dataclass(frozen=True)
class Replay:
    """What dbt itself said of tests that had been told.

    Attributes:
        path: dbt's own `run_results.json`; what dbt and hooks printed is `output.txt` beside it.
        emptied: how many tests dbt asked for no rows.
        differences: {unique_id: (our status and failures, dbt's)} of tests that differ, in words; tests that ask
            which command dbt runs are dbt's alone, and not compared.
        exit_code: dbt's own, 0 or 1; of tests that only dbt has, such as unit tests, too.
    """

    path: Path
    emptied: int
    differences: Mapping[str, tuple[str, str]]
    exit_code: int


@checked
def replay(
    outcomes: Sequence[Outcome],
    target: str | Path,
    *,
    python: str | Path,
    environment: str | None = None,
    arguments: Sequence[str] = (),
) -> Replay:
    """Run `dbt test` in another environment, with each test emptied that was told without its own statement.

    Artifacts go to the folder `replay` in dbt's target folder, so that the manifest there stays what it was.

    Args:
        outcomes: as `dbt.prove` returns them.
        target: dbt's target folder; the nearest folder above it with `dbt_project.yml` is the project.
        python: interpreter of an environment that has dbt and the project's adapter.
        environment: file in params/environments of the Spark session in which dbt-spark (method `session`) runs;
            None for another adapter or method.
        arguments: options of dbt, such as `--vars` or `--exclude`.

    Raises:
        ArgumentError: there is no project, or dbt could not run it.
    """
    root = project(target)
    folder = Path(target).resolve() / "replay"
    folder.mkdir(exist_ok=True)
    path, output = folder / "run_results.json", folder / "output.txt"
    path.unlink(missing_ok=True)  # an earlier one says nothing of this run
    proved = {o.test.unique_id: (_digest(o.test.sql), o.told_by) for o in outcomes if _emptied(o)}
    asked = {
        "project": str(root), "target": str(folder), "arguments": [*arguments], "proved": proved,
        "environment": environment,
    }  # fmt: skip
    with (
        _variables(Path(python), environment) as variables,
        output.open("w") as log,
        children.started("in_dbt.child", python=python, env=variables, log=log, patience_seconds=60) as child,
    ):
        try:
            answer = children.ask(child, asked, name="dbt")
        except (ArgumentError, ProcessError) as error:
            raise ArgumentError(f"dbt could not run the tests of {root}: {error}; see {output}") from None
    if not path.is_file():
        raise ArgumentError(f"dbt wrote no {path}; see {output}")
    return _compared(outcomes, json.loads(path.read_text(encoding="utf-8")), path, answer["exit_code"])


@checked
def project(target: str | Path) -> Path:
    """Return the folder of the project of a target folder: the nearest one above with `dbt_project.yml`.

    Raises:
        ArgumentError: there is none.
    """
    target = Path(target).resolve()
    for folder in (target, *target.parents):
        if (folder / "dbt_project.yml").is_file():
            return folder
    raise ArgumentError(f"there is no dbt_project.yml in {target} or above it; a replay needs the project itself")


def _emptied(outcome: Outcome) -> bool:
    """Return whether a test passes without rows, and was told so by more than its own statement of this run."""
    return outcome.status == "pass" and outcome.told_by not in ("dbt", "nothing") and passes_at_zero(outcome.test)


def _digest(text: str) -> str:
    """Return what dbt's `local_md5` gives: to know a text again, nothing is kept secret by it."""
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


@contextmanager
def _variables(python: Path, environment: str | None) -> Iterator[dict[str, str]]:
    """Give the child's variables: of our packages it sees what runs inside dbt, and the session for Spark."""
    with tempfile.TemporaryDirectory() as alone:
        Path(alone, "in_dbt").symlink_to(Path(in_dbt.__file__).parent)
        variables = {"PYTHONPATH": alone, "PYTHONNOUSERSITE": "1"}
        if environment is not None:
            # alone: in an installed wheel its neighbours are our environment's packages
            Path(alone, "workbench").symlink_to(Path(workbench.__file__).parent)
            variables["JAVA_HOME"] = str(java.find().parent.parent)  # by pip it is in our environment only
            variables |= {"PYSPARK_PYTHON": str(python), "PYSPARK_DRIVER_PYTHON": str(python)}
        yield variables


def _compared(outcomes: Sequence[Outcome], results: dict[str, Any], path: Path, exit_code: int) -> Replay:
    """Compare dbt's results with the outcomes."""
    theirs = {result["unique_id"]: result for result in results["results"]}
    differences = {}
    for outcome in outcomes:
        if outcome.test.asks_command:
            continue  # dbt alone answers it: its exit code says how
        result = theirs.get(outcome.test.unique_id)
        ours = _words(outcome.status, outcome.failures)
        dbts = _words(result["status"], result["failures"]) if result is not None else "no result"
        if ours != dbts:
            differences[outcome.test.unique_id] = (ours, dbts)
    emptied = sum(MARK in (result.get("compiled_code") or "") for result in theirs.values())
    return Replay(path, emptied, differences, exit_code)


def _words(status: str, failures: int | None) -> str:
    return status if failures is None else f"{status}, {failures:,} failures"
