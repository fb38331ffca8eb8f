"""Loads under which collectors are compared: a store in the memory of one JVM, and HBase of this machine.

attempt = lambda name: collectors.memory(name, folder=new_folder(), heap_bytes=256 << 20, rate=500, seconds=3)
metrics.collectors.medians(metrics.collectors.rounds(attempt, ["G1", "Parallel", "Z"]))
"""

import math
import os
import re
import time
from pathlib import Path
from typing import Annotated

from workbench._base import children, java
from workbench._base.bounds import Ge, Gt
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench.metrics import collectors
from workbench.metrics.collectors import driving, running
from workbench_standins import hbase as servers

SOURCES = Path(__file__).with_name("java")
ROW_BYTES, LEFT_BYTES, LIVE_BYTES, WARM_UP_SECONDS = 1000, 20_000, 32 << 20, 0.5
CLIENT_BYTES = 512 << 20
_NO_ANSWER = re.compile(r"org\.apache\.hadoop\.hbase\.\S*Exception|java\.(io|net)\.\w+Exception|Timeout")


@checked
def memory(
    collector: collectors.Name,
    *,
    folder: str | Path,
    heap_bytes: int,
    rate: Annotated[float, Gt(0)],
    seconds: Annotated[float, Gt(0)],
    live_bytes: Annotated[int, Ge(ROW_BYTES)] = LIVE_BYTES,
    warm_up_seconds: float = WARM_UP_SECONDS,
    variant: str | None = None,
    java_program: str | Path | None = None,
) -> collectors.Trial:
    """Ask a store in the memory of a JVM, half reads and half writes, at a fixed rate.

    Args:
        collector: of the JVM.
        folder: that takes the logs.
        heap_bytes: of the JVM.
        rate: requests a second.
        seconds: that count.
        live_bytes: that the store holds; each request leaves about 20,000 bytes of which nothing is needed.
        warm_up_seconds: that do not count.
        variant: name of what is tried; the collector's by default.
        java_program: path of `java`; None for the Java of sessions.

    Returns:
        Trial; one whose heap does not hold the store has died.

    Raises:
        ValueError, TimeoutError: as of `collectors.drive`.
    """
    arguments = [str(live_bytes // ROW_BYTES), str(ROW_BYTES), "50", str(LEFT_BYTES)]
    return collectors.drive(
        SOURCES / "Memory.java", arguments, collector, rate=rate, seconds=seconds, warm_up_seconds=warm_up_seconds,
        threads=8, folder=folder, heap_bytes=heap_bytes, variant=variant, java_program=java_program,
    )  # fmt: skip


@checked
def memory_answer(
    *,
    rate: Annotated[float, Gt(0)],
    seconds: Annotated[float, Gt(0)],
    live_bytes: Annotated[int, Ge(ROW_BYTES)] = LIVE_BYTES,
    warm_up_seconds: float = WARM_UP_SECONDS,
) -> str:
    """Return what `memory` must answer, computed without Java: the rows asked and what stands in them are known.

    Args:
        rate: as of `memory`, and so are the others.
        seconds: that count.
        live_bytes: that the store holds.
        warm_up_seconds: that do not count.
    """
    first, rows = int(rate * warm_up_seconds), live_bytes // ROW_BYTES
    asked = [_mixed(number) // 100 % rows for number in range(first, first + int(rate * seconds))]
    signed = ((_mixed(row) + 128) % 256 - 128 for row in asked)
    return f"{sum(asked) + sum(signed)} wrong 0"


def _mixed(number: int) -> int:
    """Return what SplitMix64's last step makes of a number, as Memory.java does."""
    drawn = (number + 1) * 0x9E3779B97F4A7C15 % (1 << 64)
    drawn = (drawn ^ (drawn >> 30)) * 0xBF58476D1CE4E5B9 % (1 << 64)
    drawn = (drawn ^ (drawn >> 27)) * 0x94D049BB133111EB % (1 << 64)
    return (drawn ^ (drawn >> 31)) & ((1 << 63) - 1)


@checked
def hbase(
    collector: collectors.Name,
    *,
    folder: str | Path,
    heap_bytes: int,
    rate: Annotated[float, Gt(0)],
    seconds: Annotated[float, Gt(0)],
    writes_percent: Annotated[int, Ge(0)] = 50,
    rows: Annotated[int, Ge(1)] = 50_000,
    row_bytes: Annotated[int, Ge(1)] = ROW_BYTES,
    warm_up_seconds: float = 10.0,
    variant: str | None = None,
    java_program: str | Path | None = None,
) -> collectors.Trial:
    """Ask HBase, standalone in a JVM of its own, at a fixed rate; look for each acknowledged write at the end.

    The load is a second JVM on the same machine, with a collector and a heap that are the same for each variant.

    Args:
        collector: of HBase's JVM.
        folder: that takes the logs and HBase's data; it must be empty or missing.
        heap_bytes: of HBase's JVM.
        rate: requests a second.
        seconds: that count.
        writes_percent: of the requests; the others read.
        rows: that are there before.
        row_bytes: of a value.
        warm_up_seconds: that do not count.
        variant: name of what is tried; the collector's by default.
        java_program: path of `java`, of both JVMs; None for the Java of sessions.

    Returns:
        Trial of HBase's JVM, whose CPU seconds are those since it was ready, its warm-up included. Its pauses and
        stalls are those from the first request on that counts, or from the beginning where the load saw none.
        Where it died, the load has what was answered until then. One that lives and did not even take the rows
        that are there before has died as well, for its clients: `death` says that it did not answer.

    Raises:
        ValueError: an argument is invalid, jars are missing, or HBase lost a write that it had acknowledged.
        ChildProcessError: HBase did not start.
    """
    place = Path(folder).absolute()
    place.mkdir(parents=True, exist_ok=True)
    if any(place.iterdir()):
        raise ArgumentError(f"folder {place} must be empty: expected one of its own for each trial")
    begin = time.monotonic()
    flags = collectors.options(collector, place / running.LOG, java=_release(java_program), heap_bytes=heap_bytes)
    with servers.serve(options=flags, java_program=java_program, within=place) as server:
        started = _start_epoch(server.process_id)
        try:
            client: collectors.Trial | str = collectors.drive(
                servers.SOURCES / "Rows.java", [str(rows), str(row_bytes), str(writes_percent)], "Parallel",
                rate=rate, seconds=seconds, warm_up_seconds=warm_up_seconds, class_path=server.client_path(),
                folder=place / "client", heap_bytes=CLIENT_BYTES, java_options=servers.CLIENT_OPTIONS,
                java_program=java_program,
            )  # fmt: skip
        except ChildProcessError as error:
            client = str(error)
    return _trial(
        variant or collector, place, server.folder, client, started=started, seconds=time.monotonic() - begin
    )


def _trial(
    variant: str, place: Path, folder: Path, client: collectors.Trial | str, *, started: float, seconds: float
) -> collectors.Trial:
    """Return what HBase's JVM did, by its log, by what it took and by what its load met.

    Args:
        variant: name of what was tried.
        place: of the logs.
        folder: of HBase, which has ended.
        client: its load, or why that ended before it began.
        started: when HBase's JVM began, in seconds since 1970.
        seconds: that the trial took.
    """
    usage = servers.usage(folder)
    death, since, canary = _death(folder, usage.exit_code), 0.0, math.nan
    load = answer = None
    if isinstance(client, str) or client.load is None:
        why = client if isinstance(client, str) else client.death
        if death is None and not _NO_ANSWER.search(str(why)):
            raise ArgumentError(f"the load of HBase ended, and HBase did not: {why}")
        death = death or f"did not answer: {why}"
    else:
        epoch, closing = driving.ending(place / "client")
        looked = closing.startswith("lost ")  # an HBase that stands still answers not even that
        if death is None and looked and closing != "lost 0":
            raise ArgumentError(f"HBase lives and has not all writes that it acknowledged: {closing}")
        load, since, canary = client.load, max(0.0, epoch - started), client.canary_seconds
        answer = client.answer if looked and death is None else None
    return collectors.Trial(
        variant=variant,
        collection=collectors.read(place / running.LOG, since_seconds=since),
        exit_code=usage.exit_code or 0,
        death=death,
        answer=answer,
        seconds=seconds,
        cpu_seconds=usage.cpu_seconds,
        peak_memory_bytes=usage.peak_memory_bytes,
        canary_seconds=canary,
        load=load,
    )


def _release(java_program: str | Path | None) -> int:
    servers.require(java_program)
    return java.major(java.version(java.find() if java_program is None else java_program)) or 0


def _start_epoch(process_id: int) -> float:
    """Return when a process began, in seconds since 1970, to a hundredth."""
    stat = Path(f"/proc/{process_id}/stat")
    if not stat.is_file():
        import psutil

        return float(psutil.Process(process_id).create_time())
    # psutil and Java reckon by the second in which the machine was started
    ticks = int(stat.read_text(encoding="utf-8").rpartition(")")[2].split()[19])
    return time.time() - (time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK"))


def _death(folder: Path, exit_code: int | None) -> str | None:
    if exit_code is None:
        return None
    if exit_code < 0:
        return f"killed by signal {-exit_code}"
    log = folder / "hbase.log"
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    memory_line = next((line.strip()[:400] for line in lines if "OutOfMemoryError" in line), None)
    return memory_line or children.last_words(log) or f"ended with exit code {exit_code}"
