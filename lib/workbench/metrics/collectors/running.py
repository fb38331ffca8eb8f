"""Run a program under a collector, in processes of its own: what it answered, took and waited for."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from workbench._base import children, java
from workbench._base.bounds import Ge, Gt
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench.metrics.collectors import measuring
from workbench.metrics.collectors.latency import Load
from workbench.metrics.collectors.options import Name, options, require
from workbench.metrics.collectors.reading import read
from workbench.metrics.collectors.results import Collection

OPTIONS = "{options}"  # the word of a command in whose place the JVM's options stand
LOG = "gc.log"


@dataclass(frozen=True)
class Trial:
    """A program that ran under a collector, to its end or to its death.

    Attributes:
        variant: name of what was tried; trials of one name are repeats of each other.
        collection: what the JVM's log says.
        exit_code: 0 of a program that ended well, below 0 the number of the signal that killed it.
        death: why it died, the first error that it printed; None where it ended well.
        answer: what it answered; None where it died, or left requests without an answer.
        seconds: from its start to its end.
        cpu_seconds: of all its processes.
        peak_memory_bytes: the most that one of its processes held of the machine's memory.
        canary_seconds: the longest that a process beside it which does nothing overslept: below it, the machine
            may be the reason.
        load: the requests that it served, where it served some.
    """

    variant: str
    collection: Collection
    exit_code: int
    death: str | None
    answer: str | None
    seconds: float
    cpu_seconds: float
    peak_memory_bytes: int
    canary_seconds: float
    load: Load | None = None

    @property
    def out_of_memory(self) -> bool:
        """Return whether it died because its JVM's memory ran out."""
        return self.death is not None and (self.collection.out_of_memory or "OutOfMemoryError" in self.death)


@checked
def run(
    command: Sequence[str],
    collector: Name,
    *,
    folder: str | Path,
    heap_bytes: Annotated[int, Ge(1 << 24)],
    variant: str | None = None,
    env: Mapping[str, str] | None = None,
    java_program: str | Path | None = None,
    limit_seconds: Annotated[float, Gt(0)] = 3600,
) -> Trial:
    """Run a program under a collector and wait until it and all that it started have ended.

    Args:
        command: its words. The word `{options}` is replaced by the options of its JVM. Without such a word it is a
            job of Spark in the client's mode, a Python script or spark-submit, and gets them by SPARK_SUBMIT_OPTS
            and SPARK_DRIVER_MEMORY: it must set neither a collector nor spark.driver.memory. The last line that it
            prints to standard output is its answer.
        collector: its name.
        folder: that takes the logs; made when missing. One that has logs of another trial is refused.
        heap_bytes: of the JVM, fixed and touched at its start.
        variant: name of what is tried; the collector's by default.
        env: variables that it has beside ours.
        java_program: path of the `java` that it runs on, for the flags that this one takes; None for the Java of
            sessions, which a job of Spark gets as JAVA_HOME.
        limit_seconds: after which it is ended, and is not a result but an error.

    Returns:
        Trial. A program that died is one, too: where its JVM ran out of memory, say.

    Raises:
        ValueError: an argument is invalid, this Java does not have the collector, the program could not be
            started, its JVM never wrote a log, or ran with another collector or heap than it was given.
        TimeoutError: it took longer than `limit_seconds`.
    """
    if not command:
        raise ArgumentError("command has no word: expected a program and its arguments")
    program = java.find() if java_program is None else Path(java_program)
    require(collector, program)
    place = Path(folder).absolute()
    place.mkdir(parents=True, exist_ok=True)
    if (place / LOG).exists():
        raise ArgumentError(f"folder {place} has the logs of another trial: name one of its own for each")
    release = java.major(java.version(program)) or 0
    flags = options(collector, place / LOG, java=release, heap_bytes=heap_bytes)
    taken = _measured(
        _words(command, flags), _variables(command, flags, heap_bytes, program, env), place, limit_seconds
    )
    if taken["timed_out"]:
        raise TimeoutError(
            f"the program took longer than {limit_seconds:g} s and was ended; its logs are in {place}"
        )
    collection = _collection(place, collector, heap_bytes)
    died = taken["exit_code"] != 0
    return Trial(
        variant=variant or collector,
        collection=collection,
        exit_code=taken["exit_code"],
        death=_death(place, taken["exit_code"]) if died else None,
        answer=None if died else last_line(place / "out.txt"),
        seconds=taken["seconds"],
        cpu_seconds=taken["cpu_seconds"],
        peak_memory_bytes=taken["peak_memory_bytes"],
        canary_seconds=taken["canary_seconds"],
    )


@checked
def rounds(
    attempt: Callable[[str], Trial],
    variants: Sequence[str],
    *,
    rounds: Annotated[int, Ge(1)] = 3,
    on_trial: Callable[[Trial], object] | None = None,
) -> list[Trial]:
    """Try variants one after another, round by round, so that a slow minute of the machine hits all of them.

    Args:
        attempt: tries a variant, by its name.
        variants: their names; each round begins with another one.
        rounds: how often each is tried.
        on_trial: called with each trial when it is over.

    Returns:
        list of the trials, in their order.

    Raises:
        ValueError: there is no variant, or one twice.
    """
    if not variants or len(set(variants)) < len(variants):
        raise ArgumentError(
            f"variants must be different names, at least one, found {', '.join(variants) or 'none'}"
        )
    trials = []
    for number in range(rounds):
        turned = number % len(variants)
        for variant in (*variants[turned:], *variants[:turned]):
            trial = attempt(variant)
            if trial.variant != variant:
                raise ArgumentError(f"attempt of {variant} gave a trial of {trial.variant}")
            trials.append(trial)
            if on_trial:
                on_trial(trial)
    return trials


def _words(command: Sequence[str], flags: Sequence[str]) -> list[str]:
    words: list[str] = []
    for word in command:
        words += flags if word == OPTIONS else [word]
    return words


def _variables(
    command: Sequence[str], flags: Sequence[str], heap_bytes: int, program: Path, env: Mapping[str, str] | None
) -> dict[str, str]:
    """Return all variables of the program; none of them has options that we did not choose."""
    unset = ("JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS")
    variables = {key: value for key, value in os.environ.items() if key not in unset} | dict(env or {})
    if OPTIONS not in command:
        variables |= {
            "SPARK_SUBMIT_OPTS": " ".join(flags),
            "SPARK_DRIVER_MEMORY": f"{heap_bytes >> 20}m",
            "JAVA_HOME": str(java.launcher(program)),
        }
    return variables


def _measured(words: list[str], env: Mapping[str, str], place: Path, limit_seconds: float) -> dict[str, Any]:
    settings = {
        "words": words, "env": dict(env), "limit_seconds": limit_seconds,
        "out": str(place / "out.txt"), "errors": str(place / "errors.txt"),
    }  # fmt: skip
    with children.started(measuring.__name__) as process:
        return children.ask(process, settings, name="process that measures")


def _collection(place: Path, collector: str, heap_bytes: int) -> Collection:
    """Return what the JVM's log says, if it is the JVM that was asked for."""
    log = place / LOG
    if not log.is_file() or not log.stat().st_size:
        why = _said(place) or "it said nothing"
        raise ArgumentError(f"no JVM of the program began a collector's log, so nothing was tried: {why}")
    collection = read(log)
    if collection.collector != collector:
        raise ArgumentError(
            f"the program's JVM ran with {collection.collector}, expected {collector}: "
            "does the job set a collector of its own?"
        )
    if collection.heap_bytes and abs(collection.heap_bytes - heap_bytes) > 0.02 * heap_bytes + (8 << 20):
        raise ArgumentError(
            f"the program's JVM had a heap of {collection.heap_bytes >> 20} MiB, expected {heap_bytes >> 20}: "
            "does the job set a memory of its own?"
        )
    return collection


def _death(place: Path, exit_code: int) -> str:
    if exit_code < 0:
        return f"killed by signal {-exit_code}"
    for name in ("out.txt", "errors.txt"):  # HotSpot prints the end of memory to standard output
        for line in (place / name).read_text(encoding="utf-8", errors="replace").splitlines():
            if "OutOfMemoryError" in line:
                return line.strip()[:400]
    return _said(place) or f"ended with exit code {exit_code}"


def _said(place: Path) -> str:
    refusal, *why = (place / "out.txt").read_text(encoding="utf-8", errors="replace").splitlines()[:2] or [""]
    if refusal.startswith("Error occurred during initialization of VM"):  # the second line says why
        return " ".join([refusal, *why])
    return children.last_words(place / "errors.txt") or children.last_words(place / "out.txt")


def last_line(path: Path) -> str:
    """Return the last line of a file that is not blank, "" where there is none."""
    lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "")
