"""The entries of `params/schedules.yml`, typed and validated before anything is scheduled."""

import re
import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import ErrorDetails

from workbench._base import secrets, settings, strict, yaml_files
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench_ops.schedules import times

NAME = r"^[a-z][a-z0-9_]{0,59}$"  # it stands in crontabs, file names and DAG ids: nothing there needs quoting
TABLE = r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)+"  # it stands in Airflow's assets, unquoted
FILE = "params/schedules.yml"
DATE = "{date}"  # in a command, for the date of its run
Line = Annotated[str, StringConstraints(min_length=1, max_length=4000, pattern=r"^[^\x00-\x1f\x7f]+$")]
Names = Annotated[tuple[str, ...], BeforeValidator(lambda names: (names,) if isinstance(names, str) else names)]


class Entry(BaseModel):
    """One scheduled run: a notebook, a command or a script; when: a time, entries it follows, tables' updates."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    name: str
    notebook: Line | None = None
    command: Line | None = None
    script: Line | None = None
    target: Annotated[Names, Field(strict=False)] = ()
    claims: Line | None = None
    params: Line | None = None
    environment: Line | None = None
    cron: Line | None = None
    time_zone: str = "UTC"
    run_date: Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")] | None = None
    after: Annotated[Names, Field(strict=False)] = ()
    updates: Annotated[Names, Field(strict=False)] = ()
    after_update: Annotated[Names, Field(strict=False)] = ()
    timeout_seconds: Annotated[float, Field(ge=1, le=7 * 86400)] = 3600
    retries: Annotated[int, Field(ge=0, le=10)] = 0
    retry_wait_seconds: Annotated[float, Field(ge=0, le=86400)] = 60
    while_running: Literal["refuse", "wait"] = "refuse"
    metrics: Literal["off", "run", "keep"] = "off"
    on_failure: Line | None = None

    @field_validator("on_failure", "command", "script")
    @classmethod
    def _a_command(cls, command: str | None, about: ValidationInfo) -> str | None:
        if command is None:
            return None
        try:
            words = shlex.split(command)
        except ValueError as error:
            raise ArgumentError(f"it is not a command line: {str(error).lower()}") from None
        if not words:
            raise ArgumentError("a command line must name a program, found none")
        if secret := secrets.kind(str(about.field_name), command):
            raise ArgumentError(f"it holds {secret}; let the command read it from where secrets are")
        return command

    @field_validator("updates", "after_update")
    @classmethod
    def _tables(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            if not re.fullmatch(TABLE, name):
                raise ArgumentError(f"a table must be namespace.name without its catalog, found {name!r}")
        if len(set(names)) < len(names):
            raise ArgumentError(f"it names a table twice: {', '.join(names)}")
        return names

    @model_validator(mode="after")
    def _one_of_what_runs(self) -> Self:
        kinds = [kind for kind in ("notebook", "command", "script") if getattr(self, kind)]
        if len(kinds) != 1:
            given = " and ".join(kinds) or "none"
            raise ArgumentError(f"an entry has a notebook, a command of workbench or a script, found {given}")
        of_notebook = {"params", "run_date", "metrics"} & self.model_fields_set
        if not (self.updates or self.after_update):
            of_notebook |= {"environment"} & self.model_fields_set
        if not self.notebook and of_notebook:
            has = "options" if self.command else "arguments"
            raise ArgumentError(
                f"{', '.join(sorted(of_notebook))}: of a notebook; a {kinds[0]} has {has}, and {DATE} for the date"
            )
        return self

    @model_validator(mode="after")
    def _a_script_goes_to_a_target(self) -> Self:
        if self.script and not self.target:
            raise ArgumentError(
                "a script needs target: the name of a file in params/targets, where it is submitted"
            )
        if not self.script and (self.target or self.claims):
            raise ArgumentError(
                "target and claims: of a script; a notebook or a command runs on this machine "
                "(`workbench export` makes a script of a notebook)"
            )
        return self

    @model_validator(mode="after")
    def _tables_have_an_environment(self) -> Self:
        if (self.updates or self.after_update) and not self.environment:
            key = "updates" if self.updates else "after_update"
            raise ArgumentError(f"{key} needs environment: it says which catalog has the tables")
        return self

    @property
    def takes_date(self) -> bool:
        """Say whether it is given the date of its run; of a script it is in the token, too."""
        return bool(self.run_date or self.script) or DATE in (self.command or "")

    @property
    def begins(self) -> bool:
        """Say whether it begins by itself, at a time or after an update, and not behind another entry."""
        return bool(self.cron or self.after_update)

    @model_validator(mode="after")
    def _one_of_when(self) -> Self:
        given = [key for key in ("cron", "after", "after_update") if getattr(self, key)]
        if len(given) != 1:
            expected = "cron (it begins at a time), after (it follows others) or after_update (of tables)"
            raise ArgumentError(f"an entry has {expected}, found {' and '.join(given) or 'none'}")
        if len(set(self.after)) < len(self.after):
            raise ArgumentError(f"after names an entry twice: {', '.join(self.after)}")
        if self.after and "time_zone" in self.model_fields_set:
            raise ArgumentError("time_zone belongs to cron; an entry that follows others has none")
        if self.run_date == "ENVIRONMENT":
            raise ArgumentError("run_date names the parameter that gets the date, found ENVIRONMENT")
        times.zone(self.time_zone)
        if self.cron:
            times.require(self.cron)
        return self


def path() -> Path:
    """Return the path of this project's schedules, whether the file exists or not."""
    return settings.home() / FILE


@checked
def read(file: Path | str | None = None) -> dict[str, Entry]:
    """Read the schedules.

    Args:
        file: the YAML file; the project's own by default.

    Returns:
        dict, name to Entry, in the order of the file; empty where the file is empty.

    Raises:
        ArgumentError: the file is missing or wrong; the message names the entry, the key and what is expected.
    """
    file = file or path()
    if not Path(file).is_file():
        raise ArgumentError(f"there is no file {file} of schedules; docs/schedules.md has one to begin with")
    values = yaml_files.read(file)
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise ArgumentError(f"{file}: expected names of entries, found a {type(values).__name__}")
    entries = {name: _entry(name, keys, file) for name, keys in values.items()}
    try:
        _submitted_once(entries, roots(entries))
        _no_circle_of_updates(entries)
    except ValueError as error:
        raise ArgumentError(f"{file}: {error}") from None
    return entries


def named(entries: Mapping[str, Entry], name: str) -> Entry:
    """Return the entry of that name.

    Raises:
        ArgumentError: there is none; the message names the nearest one and those there are.
    """
    if name in entries:
        return entries[name]
    raise ArgumentError(
        f"no entry {name!r} in {FILE}{meant(name, entries)}; it has {', '.join(entries) or 'none'}"
    )


def meant(name: str, names: Iterable[str]) -> str:
    """Return the hint at the name that is nearest to an unknown one, or nothing."""
    close = strict.nearest(str(name), names)
    return f" (did you mean {close}?)" if close else ""


def roots(entries: Mapping[str, Entry]) -> dict[str, str]:
    """Return for each entry the one that it follows, over however many others: itself, if it begins by itself.

    Raises:
        ArgumentError: a predecessor is unknown, entries follow each other in a circle, or an entry follows two
            that begin at times of their own (whose end would it wait for?).
    """
    root: dict[str, str] = {}

    def visit(name: str, way: tuple[str, ...]) -> str:
        if name in root:
            return root[name]
        if name in way:
            raise ArgumentError(f"{name} follows itself: {' after '.join((*way[way.index(name) :], name))}")
        if name not in entries:
            raise ArgumentError(f"{way[-1]}: after names {name!r}, which is not an entry{meant(name, entries)}")
        entry = entries[name]
        first = {name} if entry.begins else {visit(before, (*way, name)) for before in entry.after}
        if len(first) > 1:
            raise ArgumentError(
                f"{name} follows entries with times of their own: {', '.join(sorted(first))}; name one"
            )
        root[name] = first.pop()
        return root[name]

    return {name: visit(name, ()) for name in entries}


def chain(entries: Mapping[str, Entry], name: str) -> list[str]:
    """Return the names of an entry and of all that follow it, each after those that it follows."""
    inside = {name}
    while more := {other for other in entries if inside & set(entries[other].after)} - inside:
        inside |= more
    ordered = [name]
    while len(ordered) < len(inside):
        ordered.append(
            next(
                other
                for other in entries
                if other in inside - set(ordered) and inside & set(entries[other].after) <= set(ordered)
            )
        )
    return ordered


def followers(entries: Mapping[str, Entry], environment: str | None, table: str) -> list[str]:
    """Return the names of the entries that begin after an update of a table, in the order of the file."""
    return [
        name for name, entry in entries.items() if table in entry.after_update and entry.environment == environment
    ]


def _submitted_once(entries: Mapping[str, Entry], root: Mapping[str, str]) -> None:
    """Refuse a script that may be due twice a day: its token is its name and the date."""
    for name, entry in entries.items():
        first = entries[root[name]]
        if entry.script and not (first.cron and times.once_a_day(first.cron)):
            when = first.cron or f"an update of {', '.join(first.after_update)}"
            raise ArgumentError(
                f"{name}: a script is submitted once a date, and {root[name]} may begin more often ({when}); "
                "expected a cron expression with one minute and one hour"
            )


def _no_circle_of_updates(entries: Mapping[str, Entry]) -> None:
    """Refuse entries whose updates start each other for ever."""

    def visit(name: str, way: tuple[str, ...]) -> None:
        if name in way:
            raise ArgumentError(
                f"{name} would start itself again: {' updates '.join((*way[way.index(name) :], name))}"
            )
        for other in chain(entries, name):
            for table in entries[other].updates:
                for follower in followers(entries, entries[other].environment, table):
                    visit(follower, (*way, name))

    for name, entry in entries.items():
        if entry.after_update:
            visit(name, ())


def _entry(name: Any, values: Any, file: Path | str) -> Entry:
    if not isinstance(name, str) or not re.fullmatch(NAME, name):
        raise ArgumentError(f"{file}: {name!r} is not a name of an entry: small letters, digits, _, at most 60")
    if not isinstance(values, dict):
        raise ArgumentError(f"{file}: {name}: expected keys and values, found {secrets.redact(repr(values))}")
    try:
        return Entry(name=name, **{str(key): value for key, value in values.items()})
    except (ValidationError, TypeError) as error:
        problems = error.errors() if isinstance(error, ValidationError) else []
        sentences = "; ".join(_problem(problem) for problem in problems) or "the name of an entry is its key"
        raise ArgumentError(f"{file}: {name}: {sentences}") from None


def _problem(problem: ErrorDetails) -> str:
    key = ".".join(str(part) for part in problem["loc"])
    if problem["type"] == "extra_forbidden":
        valid = [field for field in Entry.model_fields if field != "name"]
        return f"{key} is not a key{meant(key, valid)}; there are {', '.join(valid)}"
    message = problem["msg"].removeprefix("Value error, ")
    if problem["type"] == "string_pattern_mismatch":
        message = "expected one line without control characters"
    printable = isinstance(problem["input"], str | int | float) and not secrets.kind(key, problem["input"])
    shown = f", found {problem['input']!r}" if printable else ""
    return f"{key}: {message}{shown}" if key else message
