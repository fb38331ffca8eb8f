"""What grows with data, with changes and with commits: capabilities at 1, 4 and 16 times the notebooks' defaults.

    python -m bench.sizing [PART …] [--anew]

PART is data, history, changes, commits, requests or memory. A row a capability and size, in docs/evidence/sizing.json. The sizes of one
capability are measured in turn, so that its ratios are of one run; one that has all its rows is not measured again,
so that an interrupted part goes on where it was. What is still missing is printed. Every answer is compared with what
was generated: a row that is wrong is written as wrong, and the bench then ends with 1.

Peak memory is a part of its own, at the smallest and the largest size: that of a process which opens the same lake,
makes one call and ends. A JVM that measures many calls keeps what the largest of them took.
"""

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from bench import evidence, sessions
from workbench_ops.run import record as records

PARTS = ("data", "history", "changes", "commits", "requests", "memory")
TIMES = (1, 4, 16)
HEAP = "2g"  # of every process here, so that peaks on another machine are comparable


@dataclass(frozen=True)
class Capability:
    """One call of the library, measured at several sizes.

    Attributes:
        name: of the call.
        one: what one time is, in words: the default that is multiplied.
        make: function (spark, times) that makes the input; its tables' names are functions of `times`.
        before: function (spark, times, number) that readies one call, not timed; returns what it is given.
        work: function (spark, what is given) that is timed.
        found: function (spark, times, what is given, what work returned) that returns the answer.
        expected: function (spark, times) that says what the answer must be, from what was generated.
        counts: function (spark, times, what is given, what work returned), called of the last round, that returns
            figures without noise.
        times: sizes, as multiples.
        rounds: of each size.
        warm: whether each size is called once before the rounds.
        peak: whether peak memory is measured.
    """

    name: str
    one: str
    make: Callable
    before: Callable
    work: Callable
    found: Callable
    expected: Callable
    counts: Callable = lambda *_: {}
    times: tuple[int, ...] = TIMES
    rounds: int = 3
    warm: bool = True
    peak: bool = False


def capabilities(part):
    """Return the capabilities of a part, name to Capability."""
    from bench import sizing_changes, sizing_commits, sizing_data, sizing_requests

    parts = {
        "data": sizing_data.CAPABILITIES,
        "history": sizing_data.HISTORY,
        "changes": sizing_changes.CAPABILITIES,
        "commits": sizing_commits.CAPABILITIES,
        "requests": sizing_requests.CAPABILITIES,
    }
    if part != "memory":
        return {one.name: one for one in parts[part]}
    every = [one for name in parts for one in parts[name] if one.peak]
    return {one.name: replace(one, times=(one.times[0], one.times[-1])) for one in every}


def main(*arguments):
    """Measure what is missing of some parts, all without a name; keep each capability as soon as it is there."""
    wanted = [one for one in arguments if one != "--anew"] or PARTS
    if unknown := set(wanted) - set(PARTS):
        raise SystemExit(f"no part {sorted(unknown)[0]!r}; there are {', '.join(PARTS)}")
    rows = [row for row in kept() if not ("--anew" in arguments and row["part"] in wanted)]
    for part in wanted:
        there = {(row["capability"], row["times"]) for row in rows if row["part"] == part}
        todo = [one for one in capabilities(part).values() if any((one.name, n) not in there for n in one.times)]
        if todo:
            rows = measured_part(part, todo, rows)
    absent = missing(rows)
    print(f"missing: {len(absent)} rows", *absent, sep="\n  ")
    wrong = [f"{row['part']}: {row['capability']}, {row['times']} times" for row in rows if not row["right"]]
    sys.exit(f"wrong answers: {'; '.join(wrong)}" if wrong else 0)


def kept():
    """Return the rows of docs/evidence/sizing.json; none when they were measured with other versions."""
    file = evidence.FOLDER / "sizing.json"
    found = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    return found["rows"] if found.get("versions") == records.versions() else []


def missing(rows):
    """Name the cells that have no row."""
    there = {(row["part"], row["capability"], row["times"]) for row in rows}
    every = [(part, one.name, n) for part in PARTS for one in capabilities(part).values() for n in one.times]
    return [f"{part}: {name}, {n} times" for part, name, n in every if (part, name, n) not in there]


def measured_part(part, todo, rows):
    """Measure some capabilities of a part in one session; returns all rows."""
    begin = time.monotonic()
    with session_of(part) as spark:
        for one in todo:
            print(f"{part}: {one.name}  ({time.monotonic() - begin:.0f} s)", flush=True)
            rows = [row for row in rows if (row["part"], row["capability"]) != (part, one.name)]
            rows += remembered(spark, one) if part == "memory" else measured(spark, part, one)
            write(rows)
    print(f"{part}: {time.monotonic() - begin:.0f} s", flush=True)
    return rows


def session_of(part):
    """Return the context in which a part has its session: a lake that is thrown away, for requests on S3."""
    if part == "requests":
        from bench import sizing_requests

        return sizing_requests.session()
    return sessions.opened(driver_memory=HEAP)


def measured(spark, part, one):
    """Measure a capability at all its sizes; returns its rows."""
    for n in one.times:
        one.make(spark, n)
    numbers = iter(range(1, 1000))
    last = {}

    def once(n):
        given = one.before(spark, n, next(numbers))
        begin = time.perf_counter()
        told = one.work(spark, given)
        seconds = time.perf_counter() - begin
        last[n] = given, told
        return seconds, one.found(spark, n, given, told)

    things = {n: lambda n=n: once(n) for n in one.times}
    if one.warm:
        evidence.in_turn(things, rounds=1, digits=4)  # what a JVM does for the first time is not what is compared
    seconds, answers = evidence.in_turn(things, rounds=one.rounds, digits=4)
    medians = {n: statistics.median(seconds[n]) for n in one.times}
    return [
        {
            "part": part,
            "capability": one.name,
            "one": one.one,
            "times": n,
            "ratio": round(medians[n] / medians[one.times[0]], 2),
            "median_seconds": round(medians[n], 4),
            "seconds": seconds[n],
            **one.counts(spark, n, *last[n]),
            "answer": answers[n][0],
            "right": set(answers[n]) == {one.expected(spark, n)},
        }
        for n in one.times
    ]


def remembered(spark, one):
    """Return the rows of a capability's peak memory: a process a size makes one call on tables made here."""
    rows = []
    for n in one.times:
        one.make(spark, n)
        command = [sys.executable, "-m", "bench.sizing", "--once", one.name, str(n)]
        said = json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)
        rows.append({"part": "memory", "capability": one.name, "one": one.one, "times": n, **said})
        print(f"    {n} times: {said}", flush=True)
    return rows


def call(name, n):
    """Make one call on tables that are there, and print the peaks of JVM and Python, MiB: what `remembered` starts."""
    with sessions.opened(driver_memory=HEAP) as spark:
        one = capabilities("memory")[name]
        given = one.before(spark, n, 900)
        told = one.work(spark, given)
        jvm = spark._jvm.java.lang.ProcessHandle.current().pid()
        peaks = {"jvm_peak_mib": peak(jvm), "python_peak_mib": peak("self")}
        answer = one.found(spark, n, given, told)
        print(json.dumps({**peaks, "answer": answer, "right": answer == one.expected(spark, n)}))


def peak(pid):
    """Return the most memory that a process has had, MiB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) >> 10


def write(rows):
    """Keep the rows, in the order of the parts."""
    rows.sort(key=lambda row: PARTS.index(row["part"]))
    path = evidence.write(
        "sizing",
        show=False,
        what="capabilities at multiples of the notebooks' defaults; seconds in turn, ratio to one time",
        heap=HEAP,
    )
    evidence.with_lines(path, "rows", rows)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--once"]:
        call(sys.argv[2], int(sys.argv[3]))
    else:
        main(*sys.argv[1:])
