"""Read the policy of a table from a file: what maintenance may do to it."""

from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError, ValidationInfo, field_validator
from pydantic_core import ErrorDetails

from workbench._base import arguments, strict, yaml_files
from workbench._base.door import checked
from workbench._base.errors import ArgumentError

MIB = 1024 * 1024
_DAYS = 36_500  # at most: a date that far back can be written
_INT = 2**31 - 1  # Java's: such options are refused by it in the middle of a run
ACTIONS = (
    "compact_data",
    "rewrite_deletes",
    "rewrite_manifests",
    "expire_snapshots",
    "remove_orphans",
    "compute_statistics",
)


class Block(strict.Strict):
    """A block of a policy, whose numbers are numbers."""

    @field_validator("*", mode="before")
    @classmethod
    def no_truth_for_a_number(cls, value: Any, about: ValidationInfo) -> Any:
        """Refuse what would be read as 1 or 0: `keep_snapshots: true` keeps one."""
        kind = cls.model_fields[str(about.field_name)].annotation
        if isinstance(value, bool) and kind in (int, float, int | None, float | None):
            raise ArgumentError("expected a number")
        return value


class Limits(Block):
    """The limits of one run; the next run does the rest. None means no limit.

    Attributes:
        max_bytes: read by rewriting data files.
        max_minutes: after which nothing new is begun.
        max_commits: of all actions.
    """

    max_bytes: int | None = Field(default=None, ge=1)
    max_minutes: float | None = Field(default=None, gt=0)
    max_commits: int | None = Field(default=None, ge=1, le=_INT)


class Policy(Block):
    """What maintenance may do to a table.

    Attributes:
        actions: which of `ACTIONS` are on, in the order in which they run. Statistics read all the data, so they
            are off unless named.
        target_file_bytes: what data files should have; those below 75 % of it are small.
        min_input_files: small files that a partition has before they are compacted.
        min_deletes_per_file: delete files that apply to a data file before it is rewritten without its deleted
            rows.
        min_delete_ratio: share of a file's rows that are deleted before it is rewritten.
        min_manifests: small manifests before they are written together.
        fast: small groups of plain files are rewritten without Spark; see `arrow`.
        snapshots_older_than_days: what snapshots are expired by age.
        keep_snapshots: how many of main's newest stay whatever their age.
        solitary_refs: names of tags and branches that need no snapshot but their own and those of their own
            branch; all others are taken for places from which somebody goes on reading, so that every later
            snapshot stays too. A star at the end stands for any ending.
        orphans_older_than_days: what files that no snapshot knows are removed by age.
        limits: how much one run may do.
    """

    actions: tuple[str, ...] = ACTIONS[:-1]
    target_file_bytes: int = Field(default=512 * MIB, ge=1, lt=2**62)
    min_input_files: int = Field(default=5, ge=2, le=_INT)
    min_deletes_per_file: int = Field(default=5, ge=1, le=_INT)
    min_delete_ratio: float = Field(default=0.3, gt=0, le=1)
    min_manifests: int = Field(default=20, ge=2)
    fast: bool = True
    snapshots_older_than_days: float = Field(default=5, ge=0, le=_DAYS)
    keep_snapshots: int = Field(default=10, ge=1)
    solitary_refs: tuple[str, ...] = ()
    orphans_older_than_days: float = Field(default=3, ge=0, le=_DAYS)
    limits: Limits = Limits()

    def model_post_init(self, _: Any) -> None:
        """Refuse what is not an action, and one that is named twice."""
        if wrong := sorted(set(self.actions) - set(ACTIONS)):
            raise ArgumentError(f"{wrong[0]!r} is not an action; there are {', '.join(ACTIONS)}")
        if len(set(self.actions)) < len(self.actions):
            twice = sorted(action for action in set(self.actions) if self.actions.count(action) > 1)
            raise ArgumentError(f"the action {twice[0]!r} is given twice, expected each once")


@checked
def read_policy(path: str | Path) -> Policy:
    """Read a table's policy from a YAML file; what it does not name keeps its default.

    Args:
        path: the file. Duplicate keys, aliases and numbers that YAML would change are refused.

    Returns:
        Policy.

    Raises:
        ValueError: the file cannot be read or a key or value is wrong; the message names file and key.
    """
    values = yaml_files.read(arguments.place("path", path, "the path of a YAML file"))
    if values is None:
        return Policy()
    if not isinstance(values, dict):
        raise ArgumentError(f"{path}: expected keys and values, found {type(values).__name__}")
    try:
        return Policy(**values)
    except ValidationError as error:
        raise ArgumentError(f"{path}: " + "; ".join(map(_problem, error.errors()))) from None


def _problem(error: ErrorDetails) -> str:
    where = [str(part) for part in error["loc"]]
    if error["type"] == "extra_forbidden":
        block = Limits if where[0] == "limits" else Policy
        near = strict.nearest(where[-1], list(block.model_fields))
        meant = f" (did you mean {near}?)" if near else ""
        return f"{'.'.join(where)} is not a setting{meant}; there are {', '.join(block.model_fields)}"
    given = f", found {error['input']!r}" if isinstance(error.get("input"), str | int | float) else ""
    if error["type"] == "tuple_type":  # a word of Python; the file has lists
        return f"{'.'.join(where)}: expected a list, such as [{error['input']}]{given}"
    return f"{'.'.join(where) or 'policy'}: {error['msg'].removeprefix('Value error, ')}{given}"
