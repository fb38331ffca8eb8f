"""`make prove`: say what is proved, then prove what is not, a part after another; begun again, it goes on.

python -m prove [PART …] [--changed] [--list] [--count] [--ignored]
"""

import argparse
import os
import sys
from pathlib import Path

from prove import depends, ignoring, parts, rows, running
from workbench._base import locks
from workbench._base.errors import ArgumentError
from workbench_ops.cli.printing import columns
from workbench_ops.saying import silence

NICENESS = 10  # beside a person's work


def main(arguments: list[str] | None = None, root: Path = parts.ROOT) -> int:
    """Prove what is asked for; returns 1 when a part failed."""
    parser = argparse.ArgumentParser(prog="make prove")
    parser.add_argument("parts", nargs="*", help="names or patterns (home-*): run, whatever is known of them")
    parser.add_argument(
        "--changed", action="store_true", help="only parts that were proved and are out of date, or failed"
    )
    parser.add_argument("--list", action="store_true", help="say what is proved, and run nothing")
    parser.add_argument("--count", action="store_true", help="say in one line how many parts are out of date")
    parser.add_argument(
        "--ignored",
        action="store_true",
        help="print the options by which pytest leaves out what is proved and long",
    )
    given = parser.parse_args(arguments)
    table = parts.read(root)
    states = rows.states(table.values(), depends.House(root), rows.read(root))
    if given.count:
        print(counted(states))
        return 0
    if given.ignored:
        print(*(f"--ignore={name}" for name in ignoring.files(states, root)))
        return 0
    named = parts.named(table, given.parts)
    chosen = [state for state in states if not named or state.part.name in named]
    wanted = chosen if named and not given.changed else due(chosen, changed=given.changed)
    tell(chosen)
    return 0 if given.list else prove(wanted, root)


def due(states, *, changed: bool) -> list[rows.State]:
    """Return the parts that do not hold; with `changed` only those that were proved once, or failed."""
    return [state for state in states if state.state != rows.HOLDS and not (changed and state.state == rows.NEVER)]


def counted(states) -> str:
    """Return the line that `make check` ends with."""
    numbers = {
        name: sum(state.state == name for state in states) for name in (rows.OUT_OF_DATE, rows.FAILED, rows.NEVER)
    }
    said = ", ".join(f"{number} {name}" for name, number in numbers.items() if number) or "all of them hold"
    return f"proof: {len(states)} parts, {said} (make prove)"


def tell(states) -> None:
    """Print what is known of each part, and how long those that do not hold took last time."""
    lines = [("PART", "STATE", "PROVED", "SECONDS", "WHY")]
    for state in states:
        row = state.row or {}
        lines.append((state.part.name, state.state, row.get("date", ""), row.get("seconds", ""), state.why))
    columns(lines)
    again = [state for state in states if state.state != rows.HOLDS]
    minutes = sum((state.row or {}).get("seconds", 0) for state in again) / 60
    unknown = sum(state.row is None for state in again)
    print(f"\n{len(states) - len(again)} of {len(states)} parts hold; the others took {minutes:.0f} minutes last time"
          + (f", {unknown} of them were never measured" if unknown else ""), flush=True)  # fmt: skip


def prove(wanted: list[rows.State], root: Path = parts.ROOT) -> int:
    """Run parts one after another and keep a row of each; returns 1 when one failed or could not be kept."""
    os.nice(NICENESS)
    failed = 0
    for number, state in enumerate(wanted, 1):
        name, row = state.part.name, state.row
        last = f"{row['seconds']} s last time, " if row else ""
        print(f"{number} of {len(wanted)}  {name}: {state.part.what} ({last}{_log(name)})", flush=True)
        busy = f"another process proves {name}"
        try:
            with locks.held(root / _log(name).with_suffix(".lock"), busy):
                failed += not _proved(state, root)
        except ArgumentError as error:
            if str(error) != busy:
                raise
            print(f"  left: {busy}", flush=True)
            failed += 1
    return int(bool(failed))


def _proved(before: rows.State, root):
    """Run a part, as its files are when it begins, and keep its row; returns whether it passed."""
    part, log = before.part, _log(before.part.name)
    [state] = rows.states([part], depends.House(root), rows.read(root))
    if state.state == rows.HOLDS and state.row != before.row:
        print("  passed in another process meanwhile", flush=True)
        return True
    row = running.run(state, root / log, root)
    now, contents = rows.current(part, depends.House(root))
    if now != state.digest:
        print(f"  not kept: its files changed while it ran: {rows.why(state.contents, contents)}", flush=True)
        return False
    rows.keep(row, root)
    passed = row["verdict"] == "passed"
    tests = f"{row['passed']} passed, {row['failed']} failed, {row['skipped']} skipped"
    print(f"  {row['verdict']}: {tests}, {row['seconds']} s{'' if passed else f'  see {log}'}", flush=True)
    return passed


def _log(name):
    return Path(".workbench", "proof", f"{name}.log")


def command(root: Path = parts.ROOT) -> int:
    """Run `main` with the arguments of the process; what is asked for wrongly, or cannot be read, ends with a sentence."""
    try:
        return main(root=root)
    except (ValueError, ChildProcessError) as error:
        print(f"prove: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # its reader, such as `head`, has ended
        silence(sys.stdout)
        return 1
    except KeyboardInterrupt:
        print("prove: interrupted; begun again, it goes on with the parts that are left", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(command())
