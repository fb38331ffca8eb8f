"""The cores and the memory of this machine, or the share of them that a container has."""

import os
from pathlib import Path

CGROUP = Path("/sys/fs/cgroup")


def cores() -> int:
    """Return how many cores this process may use, at least 1."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota, _, period = _limit("cpu.max").partition(" ")
    if quota.isdigit() and period.isdigit():
        usable = min(usable, int(quota) // int(period))
    return max(usable, 1)


def memory_bytes() -> int:
    """Return the memory of the machine, or the share of it that a container has."""
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limit = _limit("memory.max")
    return min(machine, int(limit)) if limit.isdigit() else machine


def driver_heap_bytes() -> int:
    """Return the heap of a session's driver: a quarter of the machine's memory, between 1 and 4 GiB."""
    return min(max(memory_bytes() // 4, 1 << 30), 4 << 30)


def _limit(name: str) -> str:
    """Return the text of a container's limit, empty where there is none."""
    path = CGROUP / name
    return path.read_text().strip() if path.is_file() else ""
