"""docs/sizing.md says nothing that docs/evidence/sizing.json does not hold."""

import json
import re

import pytest
from bench import sizing
from conftest import ROOT

PAGE = (ROOT / "docs" / "sizing.md").read_text(encoding="utf-8")
FOUND = json.loads((ROOT / "docs" / "evidence" / "sizing.json").read_text(encoding="utf-8"))
ROWS = {(row["part"], row["capability"], row["times"]): row for row in FOUND["rows"]}
TEXT = " ".join(PAGE.split())


def row(part, capability, times):
    return ROWS[part, capability, times]


def peak(capability, times):
    return f"{row('memory', capability, times)['jvm_peak_mib']:,}"


def named(part):
    return list(dict.fromkeys(name for there, name, _ in ROWS if there == part))


def table(heading):
    """Return the cells of the first table below a heading, without its head."""
    lines = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    first = re.search(r"(?:^\|.*\n)+", lines, re.M).group()
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in first.splitlines()[2:]]


def ratios(part, name, times):
    return [f"{row(part, name, n)['ratio']:.1f}" if (part, name, n) in ROWS else "–" for n in times]


@pytest.mark.parametrize(
    ("heading", "parts", "times"),
    [
        ("Data", ("data", "history"), (4, 16, 256)),
        ("Changes", ("changes",), (4, 16)),
        ("Commits", ("commits",), (4, 16)),
    ],
)
def test_a_table_of_ratios_is_the_evidence(heading, parts, times):
    expected = [
        [name, row(part, name, 1)["one"], *ratios(part, name, times)] for part in parts for name in named(part)
    ]
    assert table(heading) == expected


def test_what_it_says_of_bytes_and_requests_is_the_evidence():
    look, expiry = "planning of a query for one row", "maintenance.run, expiry of all but one"
    cow, mor = (
        [row("changes", f"upserts.merge, {mode}", n)["source_bytes_written"] for n in (1, 16)]
        for mode in ("copy-on-write", "merge-on-read")
    )
    read = [row("data", "maintenance.run, compaction of 420 files", n)["bytes_read"] for n in (1, 16)]
    left = [row("commits", expiry, n)["metadata_json_files_left_bytes"] for n in (1, 16)]
    before, after = (row("requests", name, 16)["requests"] for name in (look, f"{look}, after compaction"))
    said = [
        f"Copy-on-write wrote {cow[0]:,} bytes for 1,000 changes and {cow[1]:,} for 16,000",
        f"Merge-on-read wrote {mor[0]:,} and {mor[1]:,}.",
        f"Compaction read {read[0]:,} bytes and {read[1]:,}",
        f"16 times the commits left {round(left[1] / left[0])} times the bytes of metadata files",
        f"took the planning of a query from {before} requests to {after}.",
        f"up to {row('data', 'append', 256)['rows']:,} small rows",
        f"{peak('history.build, the first', 16)} MiB for 1,600,000 rows, {peak('history.build, the first', 1)} for 100,000.",
        f"A key of 2,560,000 readings took {peak('quality.evaluate, a key of two columns', 256)}.",
    ]
    assert [one for one in said if one not in TEXT] == []
    more, fewer = (row("memory", "history.build, an increment, copy-on-write", n)["jvm_peak_mib"] for n in (1, 16))
    assert "an increment of 1,000 changes had more than one of 16,000." in TEXT and more > fewer


def test_what_it_says_of_increments_is_the_evidence_of_histories():
    growth = json.loads((ROOT / "docs" / "evidence" / "history.json").read_text(encoding="utf-8"))["growth"]
    slower = {name: one["times_slower"] for name, one in growth.items() if isinstance(one, dict)}
    scattered, confined = (max(v for k, v in slower.items() if end in k) for end in ("scattered", "one partition"))
    assert (
        f"it took up to {scattered} times as long, and {confined} where the changes lay in one partition" in TEXT
    )


def test_it_says_how_much_the_rounds_differ():
    rounds = [one["seconds"] for (part, *_), one in ROWS.items() if part not in ("requests", "memory")]
    noisy = sum(max(seconds) >= 1.5 * min(seconds) for seconds in rounds)
    assert f"in {noisy} of {len(rounds)} rows the slowest round took 1.5 times the fastest or more" in TEXT
    assert min(map(len, rounds)) >= 3


def test_the_table_of_what_commits_leave_is_the_evidence():
    look, expiry = "planning of a query for one row", "maintenance.run, expiry of all but one"
    shown = {
        "data files": (look, "data_files"),
        "manifests": (look, "manifests"),
        "bytes of the newest metadata file": (look, "metadata_json_bytes"),
        "the same after expiry": (expiry, "metadata_json_bytes"),
        "all metadata files, bytes": (expiry, "metadata_json_files_left_bytes"),
    }
    expected = [
        [what, *(f"{row('commits', name, n)[key]:,}" for n in (1, 4, 16))] for what, (name, key) in shown.items()
    ]
    assert table("What commits leave") == expected


def test_the_table_of_requests_is_the_evidence():
    expected = [
        [name, *(f"{row('requests', name, n)['requests']:,}" for n in (1, 4, 16))] for name in named("requests")
    ]
    assert table("Requests") == expected


def test_the_table_of_peaks_is_the_evidence():
    expected = []
    for name in named("memory"):
        small, large = sorted(n for part, there, n in ROWS if (part, there) == ("memory", name))
        told = [
            f"{row('memory', name, n)[key]:,}"
            for key in ("jvm_peak_mib", "python_peak_mib")
            for n in (small, large)
        ]
        expected.append([name, f"{large}×", *told])
    assert table("Memory") == expected


def test_every_answer_was_right_and_every_cell_is_there():
    assert [key for key, one in ROWS.items() if one["right"] is not True] == []
    assert sizing.missing(FOUND["rows"]) == [] and len(ROWS) == len(FOUND["rows"])


def test_it_names_the_machine_of_the_evidence():
    machine, versions = FOUND["machine"], FOUND["versions"]
    heap = FOUND["heap"].replace("g", " GiB")
    assert f"{machine['cores']} shared cores, {machine['memory_gib']} GiB, a heap of {heap}" in TEXT
    assert f"Spark {versions['pyspark']}, Iceberg {versions['iceberg']}" in TEXT
