"""Entries that are a script for a target: submitted once a date, by whoever is due, tries again or fills a gap."""

import shlex

from workbench._base.errors import ArgumentError, WorkbenchError
from workbench_ops import submit
from workbench_ops.run import watch
from workbench_ops.run.record import EXIT_CODES
from workbench_ops.saying import say
from workbench_ops.schedules import running
from workbench_ops.schedules.entries import DATE, Entry, meant
from workbench_ops.submit import services

FENCED = ("standalone", "glue")  # types of targets whose service may start a job twice


def token(entry: Entry, day: str) -> str:
    """Return the token of an entry's run: the same for cron, each try and each backfill of a date."""
    return f"{entry.name} {day}"


def job(entry: Entry, day: str) -> submit.Job:
    """Return what is submitted, the date in the script's arguments.

    Raises:
        ArgumentError: the script is not there or is no Python.
    """
    words = [word.replace(DATE, day) for word in shlex.split(entry.script or "")]
    return submit.job(words[0], *words[1:])


def targets(entry: Entry) -> dict[str, submit.Target]:
    """Return the targets of an entry, name to target.

    Raises:
        ArgumentError: there is none of that name, or a file is wrong; the message names those there are.
    """
    known = submit.all_in()
    for name in entry.target:
        if name not in known:
            hint = meant(name, known)
            raise ArgumentError(f"target: params/targets has no {name!r}{hint}; there are {', '.join(known)}")
    return {name: known[name] for name in entry.target}


def refusal(entry: Entry) -> str | None:
    """Return why an entry would be refused, or None; no target is asked."""
    try:
        script, named = job(entry, running.SOME_DAY), targets(entry)
        submit.place(entry.claims)
    except ArgumentError as error:
        return str(error)
    unfenced = [name for name, target in named.items() if target.type in FENCED]
    if unfenced and script.asks_fence is False:
        return (
            f"{script.script} never calls fence(), and {', '.join(unfenced)} may start it twice; expected as its "
            "first act: from workbench_ops.submit import fence, and to end where fence() is False"
        )
    return None


def run(entry: Entry, day: str) -> int:
    """Submit an entry's script, or adopt the run of its date, and wait; return an exit code of the runner.

    The run goes on where this process is ended or the time is over: the next call adopts it.

    Args:
        entry: with a script.
        day: the date that is due, as 2026-01-31.
    """
    try:
        with watch.signals():
            begun = submit.start(
                job(entry, day), targets(entry), token=token(entry, day), claims=submit.place(entry.claims)
            )
            how = "adopted" if begun.adopted else "started"
            say(f"{entry.name}: {how} {begun.run_id} on {begun.target}, generation {begun.generation}")
            state = submit.wait(begun, timeout_seconds=entry.timeout_seconds)
            _print_log(begun)
    except watch.Interrupted:
        say(f"{entry.name} of {day} goes on, if it has begun; this command was ended")
        return running.INTERRUPTED
    except TimeoutError as error:
        say(f"{error}; it goes on")
        return EXIT_CODES["timed_out"]
    except ArgumentError as refused:
        say(str(refused))
        return EXIT_CODES["refused"]
    except WorkbenchError as error:  # the target does not answer: another time it may
        say(str(error))
        return EXIT_CODES["failed"]
    say(f"{entry.name}: {begun.run_id} {state}")
    print(begun.run_id, flush=True)
    return services.EXIT_CODES[state]


def _print_log(begun: submit.Run) -> None:
    try:
        print(submit.logs(begun), end="", flush=True)
    except WorkbenchError as error:  # a target without logs: the run's state stands all the same
        say(str(error))
