"""The ten queries that are slowest against DuckDB: what each engine took, what was read, and Spark's plan as a tree."""

from bench.tpcds_goals import BOUND, TUNED, last, rows
from workbench.engines import profiles as engines
from workbench_proofs import tpcds as derived
from workbench_proofs.tpcds import figures

WORST, LINES = 10, 150


def write(about, results, best, path):
    """Write the profile of the worst queries to a text file; nothing where one of the two was not measured.

    Args:
        about: (catalog, data, layout to namespace).
        results: Results of the measured rounds.
        best: query to the engine that takes it.
        path: file.
    """
    catalog, data, spaces = about
    worse = worst(results)
    if not worse or engines.lacks(engines.engine(TUNED)) or "flat" not in spaces:
        return
    cells = rows(results)
    parts = [f"{derived.DERIVED}, scale factor {data.scale}: the {len(worse)} queries slowest against DuckDB.\n"]
    with derived.opened(engines.engine(TUNED), catalog, spaces["flat"], data) as process:
        for query, factor in worse.items():
            (row,) = process.ask(f"EXPLAIN FORMATTED {derived.text(query)}")[0].to_pylist()
            parts.append(profile(query, factor, best.get(query), cells, row["plan"]))
    path.write_text("\n".join(parts), encoding="utf-8")


def worst(results):
    """Return the worst queries: query to how many times as long as DuckDB the tuned profile took, the worst first."""
    times = figures.medians(results, layout="flat", phase=last(results))
    bound, tuned = times.get(BOUND, {}), times.get(TUNED, {})
    found = {query: seconds / bound[query] for query, seconds in tuned.items() if query in bound}
    return {query: found[query] for query in sorted(found, key=lambda one: -found[one])[:WORST]}


def profile(query, factor, best, cells, plan):
    """Return the text on one query."""
    lines = [f"== {query}: {TUNED} takes {factor:.3g} times as long as {BOUND}; best by {best or 'nobody'}"]
    for engine, layout, name, verdict, cold, warm, size, count in cells:
        if (name, layout) == (query, "flat"):
            read = "" if size is None else f", read {size:,.0f} bytes"
            read += "" if count is None else f", {count:,.0f} rows"
            times = {"cold": cold, "warm": warm}.items()
            told = ", ".join(f"{phase} {seconds:.3f} s" for phase, seconds in times if seconds is not None)
            lines.append(f"   {engine:10} {verdict}: {told}{read}")
    return "\n".join([*lines, tree(plan), ""])


def tree(plan):
    """Return the tree of a formatted plan, without the page on each node behind it, and its top where it is long."""
    lines = plan.split("\n\n\n")[0].rstrip().splitlines()
    more = [f"… and {len(lines) - LINES} lines"] if len(lines) > LINES else []  # q14a has 2,148 nodes
    return "\n".join(lines[:LINES] + more)
