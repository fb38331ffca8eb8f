"""Real logs of small runs (golden/make.py made them), and how a test changes one."""

import functools
import gzip
import json
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from workbench.metrics import collectors, events, reports

GOLDEN = Path(__file__).parent / "golden"
HEALTHY = ("aggregate", "merged", "python", "reported", "streamed", "windows", "written")
PLANTED = {  # to the cause, and what the same run has besides, rightly
    "skewed": ("skew", set()),
    "small_files": ("small_files", {"file_explosion"}),
    "exploded": ("file_explosion", set()),
    "refused": ("commit_conflicts", set()),
    "stormed": ("retry_storm", set()),
    "dropped": ("schema_change", set()),
    "denied": ("permission_denied", set()),
    "full": ("disk_full", set()),
    "spilled": ("spill", set()),
}


def log(name):
    return next(path for path in (GOLDEN / name).iterdir() if ".zstd" in path.name)


@functools.cache
def run(name):
    return events.read(log(name))


@functools.cache
def kept(name):
    return reports.read(GOLDEN / name)


@functools.cache
def text(name):
    return pa.CompressedInputStream(pa.OSFile(str(log(name))), "zstd").read().decode()


def listed(name):
    """Return the events of a run, each a dict of the test's own."""
    return [json.loads(line) for line in text(name).splitlines()]


def write(path, happenings):
    path.write_text("".join(json.dumps(event) + "\n" for event in happenings))
    return path


def ended(happenings):
    """Return events with the end of the application behind them."""
    return [*happenings, {"Event": "SparkListenerApplicationEnd", "Timestamp": 1795899999000}]


@functools.cache
def collection(name):
    with log_file(name) as path:
        return collectors.read(path)


@contextmanager
def log_file(name):
    """Yield the path of a collector's log."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(gc_log(name))
        file.flush()
        yield file.name


def gc_log(name):
    return gzip.decompress((GOLDEN / "collectors" / f"{name}.gc.log.gz").read_bytes())
