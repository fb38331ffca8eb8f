"""`workbench maintain`: tables kept healthy by a policy file, every night."""

import sys
import traceback
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from workbench._base.errors import ArgumentError
from workbench._base.typing import SparkSession
from workbench_ops.cli.commands.doctor import doubt_of

if TYPE_CHECKING:
    from workbench.tables.maintenance import Action, Done, Planned, Policy, Remark

_SHOWN = 10  # orphans that are listed


def maintain(
    names: Annotated[list[str], typer.Argument(metavar="NAME", help="tables: namespace.name")],
    policy: Annotated[
        str, typer.Option(metavar="FILE", help="policy file: what may be done to the tables (docs/maintenance.md)")
    ],
    environment: Annotated[str, typer.Option(help="file in params/environments: where the tables are")] = "lake",
    mark: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ID_OR_REF", help="snapshot, branch or tag from which a reader continues; may be repeated"
        ),
    ] = None,
    plan: Annotated[bool, typer.Option("--plan", help="print what would be done, and change nothing")] = False,
    remove_orphans: Annotated[
        bool,
        typer.Option("--remove-orphans", help="delete the orphans that are found; without it they are listed"),
    ] = False,
) -> None:
    """Maintain tables by a policy (exit 0 done or nothing to do, 1 something is left for a person, 2 refused)."""
    from workbench import session

    rules, marks = _checked(names, policy, mark or ())
    spark = session.start(environment)
    raise typer.Exit(max(_maintained(spark, name, rules, marks, plan, remove_orphans) for name in names))


def _checked(names: list[str], policy: str, marks: Iterable[str]) -> "tuple[Policy, tuple[int | str, ...]]":
    """Validate a command before a session is started; return its Policy and its marks."""
    from workbench._base import identifiers
    from workbench.tables import maintenance
    from workbench.tables.maintenance import orphans

    rules = maintenance.read_policy(policy)
    tables = [identifiers.quoted(name) for name in names]
    if twice := [name for n, name in enumerate(names) if tables[n] in tables[:n]]:
        raise ArgumentError(f"{twice[0]} is named twice")
    if marks and len(names) > 1:
        raise ArgumentError("--mark belongs to one table; name that one alone")
    if "remove_orphans" in rules.actions:
        try:
            orphans.check(rules, now=datetime.now(UTC))
        except ValueError:
            days = f"{rules.orphans_older_than_days:g}"
            raise ArgumentError(
                f"{policy}: orphans_older_than_days is {days}, and this command takes 1 or more: younger files "
                "may belong to a commit under way. From Python maintenance.run takes your word that there is none"
            ) from None
    return rules, tuple(int(mark) if mark.isascii() and mark.isdigit() else mark for mark in marks)


def _maintained(
    spark: SparkSession, name: str, rules: "Policy", marks: tuple[int | str, ...], plan: bool, remove_orphans: bool
) -> int:
    """Plan one table, and run the plan unless only the plan was asked for; return the exit code."""
    from workbench.tables import commits, maintenance

    try:
        planned = maintenance.plan(spark, name, policy=rules, marks=marks)
    except ValueError as error:
        return _refused(error)
    except Exception as error:
        if not _foreseen(error):
            return _broken(name)
        # such as a catalog that does not answer
        return _refused(f"{name} cannot be looked at: {commits.errors.first_line(error)}")
    _say(f"{name}: {', '.join(action.name for action in planned.actions) or 'nothing to do'}")
    code = max([0, *(_noted(remark) for remark in planned.remarks)])
    if plan:
        for action in planned.actions:
            _say_planned(action)
    if doubt := doubt_of(spark, name):
        _say(f"left   nothing is done, as a commit would go on from where the pointer is: {doubt}")
        return 1
    return code if plan else max(code, _run(spark, planned, remove_orphans))


def _run(spark: SparkSession, planned: "Planned", remove_orphans: bool) -> int:
    """Run a plan and print what it did; return the exit code."""
    from workbench.tables import commits, maintenance
    from workbench.tables.maintenance import wording

    try:
        done = maintenance.run(spark, planned, remove_orphans=remove_orphans)
    except Exception as error:
        before = maintenance.done_before(error)
        if isinstance(error, ValueError) and not before:
            return _refused(error)
        if not _foreseen(error):
            return _broken(planned.table)
        _say(f"workbench: {planned.table} was left in the middle: {commits.errors.first_line(error)}", sys.stderr)
        for action in before:
            _say(f"       done before: {action.name}: {wording.figures(action)}", sys.stderr)
        return 1
    return max([0, *(_say_done(action, remove_orphans) for action in done)])


def _say_planned(action: "Action") -> None:
    from workbench.tables.maintenance import wording

    _say(f"plan   {action.name}: {wording.action(action)}")
    if action.files is not None:
        sizes = ((action.bytes_read, "read"), (action.bytes_written, "written"), (action.bytes_freed, "freed"))
        about = ", ".join(f"{size:,} bytes {what}" for size, what in sizes if size) or "no bytes"
        before = wording.count(action.files, "file")
        _say(f"       {before} before, {action.files_after:,} after; about {about}")
    for sentence in wording.breaks(action):
        _say(f"       {sentence}")


def _say_done(done: "Done", remove_orphans: bool) -> int:
    """Print what an action did and did not do; return the exit code."""
    from workbench.tables.maintenance import wording

    _say(f"done   {done.name}: {wording.figures(done)}")
    if done.name == "remove_orphans":
        return _say_orphans(done, remove_orphans)
    if done.name == "expire_snapshots" and not done.remarks:
        _say(f"note   {done.name}: {wording.gone(done)}")
    return max([0, *(_noted(remark, done) for remark in done.remarks)])


def _say_orphans(done: "Done", remove_orphans: bool) -> int:
    from workbench.tables.maintenance import Reason, Remark

    count, not_removed = len(done.orphans), len(done.orphans) - done.files
    remarks = [remark for remark in done.remarks if remark.kind != "asked"]  # which the option says
    if remove_orphans and not_removed:
        remarks.append(Remark(Reason.ORPHANS_LEFT, limit="max_minutes", count=not_removed))
    if remove_orphans or not count:
        return max([0, *(_noted(remark, done) for remark in remarks)])
    for location in done.orphans[:_SHOWN]:
        _say(f"       {location}")
    if count > _SHOWN:
        _say(f"       and {count - _SHOWN:,} more")
    _say(f"left   {done.name}: --remove-orphans deletes them; the policy's actions may leave remove_orphans out")
    return 1


def _noted(remark: "Remark", done: "Done | None" = None) -> int:
    """Print a remark; return 1 if a person must see to it, otherwise 0, as for a limit that its owner set."""
    from workbench.tables.maintenance import wording

    about, text = f"{done.name}: " if done else "", wording.sentence(remark)
    never = remark.too_small and done is not None and not done.files
    if never:
        text += "; the next run will have no more, so the limit has to be raised"
    harmless = not never and remark.kind in ("fact", "limited")
    _say(f"{'note' if harmless else 'left'}   {about}{text}")
    return 0 if harmless else 1


def _refused(why: object) -> int:
    _say(f"workbench: {why}", sys.stderr)
    return 2


def _foreseen(error: BaseException) -> bool:
    """Say whether an error is Java's, a storage's or a lost connection's, for which one sentence is enough."""
    from py4j.protocol import Py4JError

    from workbench.tables import commits

    known = isinstance(error, ValueError | OSError | Py4JError | commits.OutcomeUnknown)
    return known or bool(commits.causes(error))


def _broken(name: str) -> int:
    """Print the traceback of an unforeseen error; the tables after this one are still maintained."""
    _say(f"workbench: {name}: an error that is not the table's or the catalog's", sys.stderr)
    _say(traceback.format_exc().rstrip(), sys.stderr)
    return 1


def _say(text: str, file: TextIO | None = None) -> None:
    print(text, file=file, flush=True)  # a scheduler's log has both streams: each line in its place
