"""What docs/collectors.md says of a measurement, written from docs/evidence/collectors.json.

    python -m bench.collectors_page

Between two comments of the page stands what a part measured; everything else of the page is written by hand.
"""

import json
import re

from bench import evidence

PAGE = evidence.FOLDER.parent / "collectors.md"
HEADS = {
    "enough": "| collector | pauses | longest, ms | all, ms | p99 by service, ms | p50 due, ms | p99 due, ms | p99.9 due, ms | CPU, s | memory, MiB |",
    "small": '| collector | died | answered | not answered | pauses, s | "uptime" | stopped | stalls | stalls, thread-s | p99 by service, ms | p99 due, ms | CPU, s |',
    "spark": "| collector | seconds | CPU, s | pauses | all, s | longest, ms | memory, MiB |",
}


def block(found, part):
    """Return what the page says of a part, as text."""
    settings, head = found[part]["settings"], HEADS[part]
    names = ["| " + " | ".join(["---"] * (head.count("|") - 1)) + " |"]
    held = max(row["canary_seconds"] or 0 for row in found[part]["medians"])
    load = (
        "" if "rate" not in settings else f"{settings['rate']:,} requests a second for {settings['seconds']} s, "
    )
    said = (
        f"{load}{settings['rows']:,} rows, heap {settings['heap_bytes'] >> 20:,} MiB, {found[part]['rounds']} rounds, medians. "
        f"Java {found['java']}, HBase {found['hbase']}, {found['machine']['cores']} cores, {found['date']}. Load of the machine "
        f"{found[part]['load']}; a process that does nothing was held up for as long as {held * 1000:,.0f} ms."
    )
    return "\n".join([said, "", head, *names, *rows(found, part)])


def rows(found, part):
    """Return the lines of a part's table."""
    return [f"| {' | '.join(cells(row, part))} |" for row in found[part]["medians"]]


def cells(row, part):
    """Return the cells of a collector's line."""
    memory, cpu = number(row["peak_memory_bytes"], factor=2**-20), number(row["cpu_seconds"], 1)
    if part == "enough":
        clocks = ("service_p99", "response_p50", "response_p99", "response_p99.9")
        pauses = [number(row["pauses"]), ms(row["longest_pause_seconds"]), ms(row["pause_seconds"])]
        return [row["variant"], *pauses, *(ms(row.get(f"{clock}_seconds")) for clock in clocks), cpu, memory]
    if part == "small":
        return [
            row["variant"], f"{row['died']} of {row['rounds']}", number(row.get("requests")), number(row.get("errors")),
            number(row["pause_seconds"], 2), percent(uptime(row)), percent(1 - row["running_share"]),
            number(row["stalls"]), number(row["stall_seconds"], 1), ms(row.get("service_p99_seconds")),
            ms(row.get("response_p99_seconds")), cpu,
        ]  # fmt: skip
    pauses = [number(row["pauses"]), number(row["pause_seconds"], 2), ms(row["longest_pause_seconds"])]
    return [row["variant"], number(row["seconds"], 1), cpu, *pauses, memory]


def uptime(row):
    """Return the share of a load's time without a pause, as the walkthrough counts it; None where nothing was answered.

    It is not `running_share`, which counts each stop of all threads, and the time until the last of them stands.
    """
    if not row.get("requests"):
        return None
    return 1 - row["pause_seconds"] / (row["requests"] / row["reached"])


def percent(share):
    """Return a share as the page has it."""
    return "–" if share is None else f"{number(share, 2, 100)} %"


def number(value, digits=0, factor=1):
    """Return a figure as the page has it; a dash for what there is not."""
    return "–" if value is None else f"{value * factor:,.{digits}f}"


def ms(seconds):
    """Return seconds as milliseconds."""
    return number(seconds, 1 if (seconds or 0) < 0.1 else 0, 1000)


def written(text, found):
    """Return a page with what was measured put between its comments.

    Raises:
        ValueError: the page has not both comments of a part.
    """
    for part in HEADS:
        place = re.compile(rf"(<!-- measured: {part} -->\n).*?(\n<!-- end -->)", re.DOTALL)
        if len(place.findall(text)) != 1:
            raise ValueError(
                f"{PAGE.name} has no place for {part}: expected <!-- measured: {part} --> and <!-- end -->"
            )
        if part in found:
            text = place.sub(lambda match, part=part: match[1] + block(found, part) + match[2], text)
    return text


def main():
    """Write the page."""
    found = json.loads((evidence.FOLDER / "collectors.json").read_text(encoding="utf-8"))
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), found), encoding="utf-8")


if __name__ == "__main__":
    main()
