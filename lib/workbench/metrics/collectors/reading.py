"""Read the log of a JVM's collector: pauses, waits of threads for memory, stops of all threads.

Unified logging of Java 17 and later (JEP 158), with the tags and the uptime as `options` asks for. The lines are
those of HotSpot's share/gc: `Pause …` with a duration at its end, `Allocation Stall (thread) …`, `Safepoint "…"`.
"""

import re
from collections import Counter
from pathlib import Path
from typing import Annotated

from workbench._base.bounds import Ge
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench.metrics.collectors.results import Collection

_LINE = re.compile(r"\[(?P<uptime>[\d.]+)s\]\[(?P<level>\w+) *\]\[(?P<tags>[\w,]+) *\] (?P<message>.*)")
_USING = re.compile(r"Using (?:the )?(.+)$")
_PAUSE = re.compile(r"(?:GC\(\d+\) )?(?:[yYoO]: )?(Pause .+?)(?: (\d+)M->(\d+)M\((\d+)M\))? ([\d.]+)ms$")
_STALL = re.compile(r"(?:GC\(\d+\) )?(?:[yYoO]: )?(?:Allocation|Relocation) Stall \((.*)\) ([\d.]+)ms$")
_SAFEPOINT = re.compile(r'Safepoint "(\w+)".*Total: +(\d+) ns')
_USE = re.compile(r"(\d+)M\(\d+%\)->(\d+)M\(\d+%\)")
_HEAP = re.compile(r"(?:Heap )?Max(?:imum)? Capacity: (\d+)([MG])\b|(\d+)M->(\d+)M\((\d+)M\)")
_PACED_ALL = re.compile(r" *Pacing += +([\d.]+) s ")  # at the JVM's end
_PACED = re.compile(r" *Pacing +(\d+) us$")  # of a cycle
_COLLECTORS = {
    "Serial": "Serial", "Parallel": "Parallel", "G1": "G1", "The Z Garbage Collector": "Z",
    "Z Garbage Collector": "Z", "Shenandoah": "Shenandoah", "Epsilon": "Epsilon",
}  # fmt: skip
_MEMORY = re.compile(r"Out Of Memory \(|.*OutOfMemoryError")
_DEGENERATED = "Pause Degenerated GC"


@checked
def read(path: str | Path, *, since_seconds: Annotated[float, Ge(0)] = 0.0) -> Collection:
    """Read a collector's log, also of a JVM that was killed.

    Args:
        path: the file that `options` named.
        since_seconds: after the JVM's start; pauses, waits and stops that ended before are left out.

    Returns:
        Collection.

    Raises:
        ValueError: it cannot be read, is no such log, or names no collector.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise ArgumentError(f"{path} cannot be read: {error.strerror or error}") from None
    *lines, rest = text.split("\n")
    log = _Log(since_seconds)
    known = 0
    for line in lines:
        if parts := _LINE.match(line):
            known += 1
            log.take(float(parts["uptime"]), parts["tags"].split(","), parts["message"])
    if not known:
        raise ArgumentError(
            f"{path} has no line of a collector's log, [uptime][level][tags] message: "
            "start the JVM with collectors.options"
        )
    if log.collector is None:
        raise ArgumentError(f"{path} does not say which collector it is of: its first lines are missing")
    return log.collection(cut_off=bool(rest))


class _Log:
    """What the lines said until now."""

    def __init__(self, since_seconds: float) -> None:
        self.since = self.seconds = since_seconds
        self.collector: str | None = None
        self.pauses: list[float] = []
        self.kinds: Counter[str] = Counter()
        self.stalls: list[float] = []
        self.safepoints: list[float] = []
        self.paced = 0.0
        self.full = self.peak = self.heap = 0
        self.memory = False

    def take(self, uptime: float, tags: list[str], message: str) -> None:
        self.seconds = max(self.seconds, uptime)
        if _MEMORY.match(message):
            self.memory = True
        if tags[0] == "safepoint":
            if uptime >= self.since and (stop := _SAFEPOINT.search(message)):
                self.safepoints.append(int(stop[2]) / 1e9)
            return
        if tags[0] != "gc":
            return
        self._take_heap(message)
        if self.collector is None and (using := _USING.match(message)) and tags in (["gc"], ["gc", "init"]):
            self.collector = _COLLECTORS.get(using[1].strip(), using[1].strip())
        if uptime < self.since:
            return
        if (whole := _PACED_ALL.match(message)) and not self.since:  # the sum of the JVM's whole life
            self.paced = float(whole[1])
        elif paced := _PACED.match(message):
            self.paced += int(paced[1]) / 1e6
        if stall := _STALL.match(message):
            self.stalls.append(float(stall[2]) / 1e3)
        elif (tags in (["gc"], ["gc", "phases"])) and (pause := _PAUSE.match(message)):
            self._take_pause(tags, pause)

    def _take_pause(self, tags: list[str], pause: re.Match[str]) -> None:
        # G1, Parallel and Serial tell a pause at [gc] and its parts at [gc,phases]; Z tells pauses at [gc,phases]
        if tags == ["gc", "phases"] and self.collector != "Z":
            return
        kind = pause[1].strip()
        self.pauses.append(float(pause[5]) / 1e3)
        self.kinds[kind] += 1
        self.full += kind.startswith(("Pause Full", _DEGENERATED))

    def _take_heap(self, message: str) -> None:
        for match in _USE.finditer(message):
            self.peak = max(self.peak, int(match[1]) << 20, int(match[2]) << 20)
        for match in _HEAP.finditer(message):
            if match[1]:
                self.heap = int(match[1]) << (30 if match[2] == "G" else 20)
            else:
                self.peak = max(self.peak, int(match[3]) << 20, int(match[4]) << 20)
                self.heap = max(self.heap, int(match[5]) << 20)

    def collection(self, *, cut_off: bool) -> Collection:
        return Collection(
            collector=self.collector or "",
            seconds=self.seconds - self.since,
            pauses=tuple(self.pauses),
            pause_kinds=dict(self.kinds),
            stalls=tuple(self.stalls),
            paced_seconds=self.paced,
            safepoints=tuple(self.safepoints),
            full_collections=self.full,
            out_of_memory=self.memory,
            peak_heap_bytes=self.peak,
            heap_bytes=self.heap,
            cut_off=cut_off,
        )
