"""Pauses, stalls and stops as real JVMs of three releases logged them, and latency from when a request was due."""

import math
import re
import time

import metrics_cases
import pytest

from workbench.metrics import collectors
from workbench.metrics.collectors import latency

# collector, pauses, full collections, stalls, memory ran out
LOGS = {
    "serial": ("Serial", 53, 17, 0, False),
    "parallel": ("Parallel", 113, 29, 0, False),
    "g1": ("G1", 134, 4, 0, False),
    "g1-full": ("G1", 290, 31, 0, False),
    "g1-25": ("G1", 243, 13, 0, False),
    "shenandoah": ("Shenandoah", 344, 23, 0, False),
    "z17": ("Z", 4, 0, 4, False),
    "z": ("Z", 14, 0, 30, False),
    "z-25": ("Z", 328, 0, 667, False),
    "z-memory": ("Z", 108, 0, 43, True),
}


@pytest.mark.parametrize("name", LOGS)
def test_a_log_by_its_figures(name):
    log = metrics_cases.collection(name)
    figures = (log.collector, len(log.pauses), log.full_collections, len(log.stalls), log.out_of_memory)
    assert figures == LOGS[name] and not log.cut_off
    assert sum(log.pause_kinds.values()) == len(log.pauses)
    assert 0.9 * log.heap_bytes > 0 and 0.7 * log.heap_bytes <= log.peak_heap_bytes <= log.heap_bytes
    assert log.heap_bytes == (128 if name in ("z", "z17", "z-25") else 64) << 20


@pytest.mark.parametrize("name", LOGS)
def test_pauses_against_a_second_route(name):
    """The JVM times each stop for the collector a second time, as a safepoint: none of them is missing."""
    log, text = metrics_cases.collection(name), metrics_cases.gc_log(name).decode()
    stops = re.findall(r'Safepoint "(\w+)".*?At safepoint: +(\d+) ns', text)
    assert len(stops) == len(log.safepoints)
    theirs = [int(nanoseconds) / 1e9 for kind, nanoseconds in stops if kind not in ("Cleanup", "ICBufferFull")]
    assert log.pause_seconds <= sum(theirs) + 0.001
    assert log.pause_seconds >= 0.5 * sum(theirs) - 0.05 or name.startswith("z")  # a stop does more than its pause
    assert sum(log.safepoints) >= sum(theirs)


def test_pauses_alone_make_z_look_well():
    """The planted fault: what calls itself uptime counts pauses, and the threads stood still."""
    log = metrics_cases.collection("z-memory")
    assert log.out_of_memory and 1 - log.pause_seconds / log.seconds > 0.999
    assert log.stall_seconds > log.seconds  # four threads waited
    assert metrics_cases.collection("shenandoah").stall_seconds == pytest.approx(8.542)  # pacing


def test_a_log_of_a_killed_jvm_is_read(tmp_path):
    whole = metrics_cases.gc_log("g1").decode()
    (path := tmp_path / "gc.log").write_text(whole[: len(whole) // 2 + 7])
    log = collectors.read(path)
    assert log.cut_off and 0 < len(log.pauses) < 134


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "has no line of a collector's log"),
        ("hello\n", "has no line of a collector's log"),
        ("[1.0s][info][gc] GC(0) Pause Remark 3M->3M(9M) 1.0ms\n", "does not say which collector it is of"),
    ],
)
def test_what_is_no_log_is_refused(tmp_path, content, sentence):
    (path := tmp_path / "gc.log").write_text(content)
    with pytest.raises(ValueError, match=sentence):
        collectors.read(path)
    with pytest.raises(ValueError, match="cannot be read: No such file"):
        collectors.read(tmp_path / "missing")


def test_options_of_each_collector():
    assert collectors.options("Z", "/x/gc.log", java=21, heap_bytes=1 << 30) == [
        "-XX:+UseZGC", "-XX:+ZGenerational", "-Xms1024m", "-Xmx1024m", "-XX:+AlwaysPreTouch",
        "-Xlog:gc*=info,safepoint=info:file=/x/gc.log:uptime,level,tags:filecount=0",
    ]  # fmt: skip
    for java in (17, 25):  # 25 would warn of the option
        assert "-XX:+ZGenerational" not in collectors.options("Z", "/x/gc.log", java=java)
    with pytest.raises(
        ValueError, match="collector must be 'Serial', 'Parallel', 'G1', 'Z' or 'Shenandoah', found 'ZGC'"
    ):
        collectors.options("ZGC", "/x/gc.log", java=21)
    with pytest.raises(ValueError, match="at which the JVM would end the option"):
        collectors.options("G1", "/x/a b.log", java=21)
    with pytest.raises(ValueError, match="java must be an integer of at least 17, found 8"):
        collectors.options("G1", "/x/gc.log", java=8)


def test_a_pause_is_met_by_all_who_were_due_meanwhile():
    """Coordinated omission: one stop of 0.3 s, seen by one request of a closed loop and by sixty of an open one."""
    begin = time.perf_counter()
    stop = begin + 0.5

    def call(_):
        now = time.perf_counter()
        if stop <= now < stop + 0.3:
            time.sleep(stop + 0.3 - now)

    met = collectors.load(call, rate=200, seconds=1.5, threads=1)
    assert met.requests == 300 and not met.errors and met.late >= 40
    # a fifth of the requests were due within the stop; one call alone saw it
    assert met.service_seconds["p90"] < 0.1 < met.response_seconds["p90"]
    assert met.response_seconds["max"] >= met.service_seconds["max"] > 0.25
    assert set(met.response_seconds) == {"p50", "p90", "p99", "max"}  # 300 requests have no p99.9
    assert met.canary_seconds > 0


def test_percentiles_are_values_that_were_met():
    """By hand: of 1 to 1,000 ms the 500th, the 900th, the 990th and the 999th, and no fifth."""
    met = latency.percentiles([number / 1000 for number in range(1000, 0, -1)])
    assert met == pytest.approx({"p50": 0.5, "p90": 0.9, "p99": 0.99, "p99.9": 0.999, "max": 1.0})
    assert latency.percentiles([0.25]) == {"max": 0.25} and latency.percentiles([]) == {}
    assert set(latency.percentiles([0.1] * 10_000)) == {"p50", "p90", "p99", "p99.9", "p99.99", "max"}


def test_errors_are_counted_and_not_timed():
    def call(number):
        if number % 4 == 0:
            raise ConnectionError("down")

    met = collectors.load(call, rate=1000, seconds=0.1)
    assert (met.requests, met.errors) == (75, {"ConnectionError": 25})
    dead = collectors.load(lambda number: 1 / 0, rate=100, seconds=0.05)
    assert (dead.requests, dead.errors, dead.response_seconds) == (0, {"ZeroDivisionError": 5}, {})
    with pytest.raises(ValueError, match="rate 1 for 0.5 s is no request"):
        collectors.load(call, rate=1, seconds=0.5)
    with pytest.raises(ValueError, match="rate must be a number above 0, found 0"):
        collectors.load(call, rate=0, seconds=1)


def test_variants_beside_each_other():
    logs = {"G1 small": metrics_cases.collection("g1-full"), "Z small": metrics_cases.collection("z-memory")}
    met = collectors.load(lambda number: None, rate=500, seconds=0.1)
    table = collectors.compare(logs, {"G1 small": met}, cpu_seconds={"G1 small": 3.5})
    g1, z = (row for _, row in table.iterrows())
    assert list(table.variant) == ["G1 small", "Z small"] and (g1.pauses, z.stalls) == (290, 43)
    assert (g1.out_of_memory, z.out_of_memory, g1.requests, z.requests) == (False, True, 50, 0)  # death is a row
    assert g1.running_share == pytest.approx(1 - sum(logs["G1 small"].safepoints) / logs["G1 small"].seconds)
    assert z.running_share > 0.95 and z.stall_seconds > 12
    assert math.isnan(z.response_p50_seconds) and math.isnan(z.cpu_seconds) and g1.cpu_seconds == 3.5
    with pytest.raises(
        ValueError, match="loads has Parallel, of which there is no log; there are G1 small, Z small"
    ):
        collectors.compare(logs, {"Parallel": met})
    other = collectors.load(lambda number: None, rate=400, seconds=0.1)
    with pytest.raises(ValueError, match="the loads have different rates"):
        collectors.compare(logs, {"G1 small": met, "Z small": other})
    with pytest.raises(ValueError, match="collections has none"):
        collectors.compare({})
