"""docs/commits.md says of the soak and of the benchmark what their evidence says."""

import json
import re

from conftest import ROOT

PAGE = (ROOT / "docs" / "commits.md").read_text(encoding="utf-8")
SOAK = json.loads((ROOT / "docs" / "evidence" / "commits_soak.json").read_text(encoding="utf-8"))
BENCH = json.loads((ROOT / "docs" / "evidence" / "commits.json").read_text(encoding="utf-8"))
NAMES = {"SQLite, local files": "local", "SQLite, S3": "s3", "REST, S3": "rest"}


def test_the_table_of_the_soak_is_its_evidence():
    rows = re.findall(r"^\| (SQLite.*?|REST.*?) \| (.*) \|$", PAGE.partition("## Proven by force")[2], re.M)
    assert {NAMES[name] for name, _ in rows} == set(SOAK["catalogs"])
    for name, said in rows:
        one = SOAK["catalogs"][NAMES[name]]
        expected = [
            f"{one['commits']:,}",
            f"{one['rows_lost'] + one['killed_rows_lost']}, {one['rows_doubled'] + one['killed_rows_doubled']}",
            f"{one['files_twice']}",
            f"{one['compactions_that_replaced_files']}",
            f"{one['killed_after_their_swap']}, {one['killed_found_by_the_rerun']}",
            f"{one.get('answers_cut_off', '–')}",
        ]
        assert [cell.strip() for cell in said.split(" | ")] == expected
        assert (one["rows_lost"], one["rows_doubled"], one["files_twice"]) == (0, 0, 0)


def test_what_it_says_of_lost_and_held_answers_is_its_evidence():
    rest, versions = SOAK["catalogs"]["rest"], SOAK["versions"]
    assert f"\n{rest['found_by_their_mark']} of the REST catalog's commits were found by their mark" in PAGE
    assert (rest["late_append_said_to_be"], rest["late_append_found_by_its_name"]) == ("OutcomeUnknown", True)
    assert rest["late_update_tries"] > 1 and rest["late_rows_lost"] == rest["late_rows_doubled"] == 0
    assert f"Spark {versions['pyspark']}, Iceberg {versions['iceberg']}" in PAGE


def test_the_tables_of_the_benchmark_are_its_evidence():
    parts = BENCH["parts"]
    rows = dict(re.findall(r"^\| (.+? writes|.+?`retrying`) \| (.*) \|$", PAGE, re.M))
    for name in ("defaults, plain writes", "profile, plain writes", "defaults, retrying"):
        one = parts[name]
        refused = sum(one["failures"].values())
        assert [cell.strip(" *") for cell in rows[name.replace("retrying", "`retrying`")].split(" | ")] == [
            f"{one['acknowledged']:,}",
            f"{refused}",
            f"{one['commits_a_second']}",
            f"{one['median_ms']} ms, {one['slowest_ms'] / 1000:.1f} s",
        ]
        assert (one["acknowledged"] + refused, one["rows"]) == (1000, one["acknowledged"])
        assert (refused > 0) is (name == "defaults, plain writes") and one["rows_doubled"] == 0
    for name in ("expiry every 100 commits", "no expiry"):
        *medians, ratio = parts[name].values()
        assert f"| {name} | " + " | ".join(f"{one} ms" for one in medians) + f" | {ratio} |" in PAGE
    assert parts["expiry every 100 commits"]["last_over_10th"] <= BENCH["goal_last_over_10th"] == 2.0
    assert parts["a true conflict under the profile"] == "validation"
