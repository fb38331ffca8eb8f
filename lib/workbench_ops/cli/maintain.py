"""`workbench maintain`: tables kept healthy by their policy file, for whoever runs it every night."""

import sys
import traceback
from datetime import UTC, datetime
from typing import Annotated

import typer

from workbench._base.errors import ArgumentError
from workbench_ops.cli.doctor import doubt_of

_SHOWN = 10  # orphans that are named


def maintain(
    names: Annotated[list[str], typer.Argument(metavar="NAME", help="tables: namespace.name")],
    policy: Annotated[str, typer.Option(metavar="FILE", help="what may be done to them: docs/maintenance.md")],
    environment: Annotated[str, typer.Option(help="file in params/environments: where they are")] = "lake",
    mark: Annotated[
        list[str] | None,
        typer.Option(metavar="ID_OR_REF", help="snapshot, branch or tag from which a reader goes on"),
    ] = None,
    plan: Annotated[bool, typer.Option("--plan", help="say what would be done, and change nothing")] = False,
    remove_orphans: Annotated[
        bool, typer.Option("--remove-orphans", help="delete the orphans that are found; else they are named")
    ] = False,
):
    """Keep tables healthy by a policy (exit 0 done, or nothing to do, 1 something was left, 2 refused)."""
    from workbench import session

    rules, marks = _checked(names, policy, mark or ())
    spark = session.start(environment)
    raise typer.Exit(max(_one(spark, name, rules, marks, plan, remove_orphans) for name in names))


def _checked(names, policy, marks):
    """Return the Policy and the marks of a command that can be carried out, before any session is started."""
    from workbench._base import identifiers
    from workbench.tables import maintenance
    from workbench.tables.maintenance import orphans

    rules = maintenance.read_policy(policy)
    tables = [identifiers.quoted(name) for name in names]
    if twice := [name for n, name in enumerate(names) if tables[n] in tables[:n]]:
        raise ArgumentError(f"{twice[0]} stands twice")
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
    return rules, tuple(int(one) if one.isascii() and one.isdigit() else one for one in marks)


def _one(spark, name, rules, marks, plan, remove_orphans):
    """Plan one table, and do it unless only the plan is asked for; returns the exit code."""
    from workbench.tables import commits, maintenance

    try:
        planned = maintenance.plan(spark, name, policy=rules, marks=marks)
    except ValueError as error:
        return _refused(error)
    except Exception as error:
        if not _foreseen(error):
            return _broken(name)
        # such as a catalog that nobody answers for
        return _refused(f"{name} cannot be looked at: {commits.errors.first_line(error)}")
    _say(f"{name}: {', '.join(one.name for one in planned.actions) or 'nothing to do'}")
    code = max([0, *(_noted(remark) for remark in planned.remarks)])
    if plan:
        for action in planned.actions:
            _say_planned(action)
    if doubt := doubt_of(spark, name):
        _say(f"left   nothing is done, for a commit would go on from where the pointer is: {doubt}")
        return 1
    return code if plan else max(code, _run(spark, planned, remove_orphans))


def _run(spark, planned, remove_orphans):
    """Run a plan and print what it did; returns the exit code."""
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
    return max([0, *(_say_done(one, remove_orphans) for one in done)])


def _say_planned(action):
    from workbench.tables.maintenance import wording

    _say(f"plan   {action.name}: {wording.action(action)}")
    if action.files is not None:
        sizes = ((action.bytes_read, "read"), (action.bytes_written, "written"), (action.bytes_freed, "freed"))
        about = ", ".join(f"{size:,} bytes {what}" for size, what in sizes if size) or "no bytes"
        before = wording.count(action.files, "file")
        _say(f"       {before} before, {action.files_after:,} after; about {about}")
    for sentence in wording.breaks(action):
        _say(f"       {sentence}")


def _say_done(done, remove_orphans):
    """Print what an action did and what it left; returns the exit code."""
    from workbench.tables.maintenance import wording

    _say(f"done   {done.name}: {wording.figures(done)}")
    if done.name == "remove_orphans":
        return _say_orphans(done, remove_orphans)
    if done.name == "expire_snapshots" and not done.remarks:
        _say(f"note   {done.name}: {wording.gone(done)}")
    return max([0, *(_noted(remark, done) for remark in done.remarks)])


def _say_orphans(done, remove_orphans):
    from workbench.tables.maintenance import Reason, Remark

    found, left = len(done.orphans), len(done.orphans) - done.files
    remarks = [remark for remark in done.remarks if remark.kind != "asked"]  # that is the option's own word
    if remove_orphans and left:
        remarks.append(Remark(Reason.ORPHANS_LEFT, limit="max_minutes", count=left))
    if remove_orphans or not found:
        return max([0, *(_noted(remark, done) for remark in remarks)])
    for location in done.orphans[:_SHOWN]:
        _say(f"       {location}")
    if found > _SHOWN:
        _say(f"       and {found - _SHOWN:,} more")
    _say(f"left   {done.name}: --remove-orphans deletes them; the policy's actions may leave remove_orphans out")
    return 1


def _noted(remark, done=None):
    """Print a remark; returns the exit code: 1 where a person has to see to it. A limit is the owner's own."""
    from workbench.tables.maintenance import wording

    about, text = f"{done.name}: " if done else "", wording.sentence(remark)
    never = remark.too_small and not done.files
    if never:
        text += "; the next run will have no more, so the limit has to be raised"
    harmless = not never and remark.kind in ("fact", "limited")
    _say(f"{'note' if harmless else 'left'}   {about}{text}")
    return 0 if harmless else 1


def _refused(why):
    _say(f"workbench: {why}", sys.stderr)
    return 2


def _foreseen(error):
    """Say whether an error is Java's, a storage's or a lost connection's, which a sentence tells: no defect."""
    from py4j.protocol import Py4JError

    from workbench.tables import commits

    known = isinstance(error, ValueError | OSError | Py4JError | commits.OutcomeUnknown)
    return known or bool(commits.causes(error))


def _broken(name):
    """Say all of an error that nobody foresaw, as it would be told without the tables that come after this one."""
    _say(f"workbench: {name}: an error that is not the table's or the catalog's", sys.stderr)
    _say(traceback.format_exc().rstrip(), sys.stderr)
    return 1


def _say(text, file=None):
    print(text, file=file, flush=True)  # a scheduler's log has both streams: each line in its place
