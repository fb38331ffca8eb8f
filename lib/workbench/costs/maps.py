"""What a distributed map costs on Step Functions, by how its items are run, and as a job of Spark."""

from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from typing import Annotated, Literal

from workbench._base.bounds import Ge, Gt
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench.costs.listing import Prices, price

Count = Annotated[int, Ge(0)]


@dataclass(frozen=True)
class MapCost:
    """What a run of a distributed map costs, in USD.

    Attributes:
        children: workflows that were run: items, or batches of them.
        transitions_usd: of Standard workflows.
        express_usd: requests and time of Express workflows.
        functions_usd: calls of Lambda, and their time where it was given.
        delivery_usd: records of Firehose.
        sources: addresses of the prices.
    """

    children: int
    transitions_usd: Decimal
    express_usd: Decimal
    functions_usd: Decimal
    delivery_usd: Decimal
    sources: tuple[str, ...]

    @property
    def usd(self) -> Decimal:
        """The whole cost, exact."""
        return self.transitions_usd + self.express_usd + self.functions_usd + self.delivery_usd


@checked
def map_run(
    listed: Prices,
    *,
    items: Count,
    batch: Annotated[int, Ge(1)] = 1,
    execution: Literal["standard", "express"] = "standard",
    transitions: Count = 2,
    iteration: bool = False,
    calls: Count = 1,
    call_ms: Count = 0,
    call_mb: Count = 128,
    child_ms: Count = 100,
    record_bytes: Count = 0,
) -> MapCost:
    """Return what a run of a distributed map costs.

    Args:
        listed: Prices of `serverless`.
        items: of the run.
        batch: items in a child, by ItemBatcher; a child delivers those of all its items in one record.
        execution: of the children, as ExecutionType has it.
        transitions: states of a child; a Standard one pays each of them, an Express one none.
        iteration: whether starting a child is a transition of the workflow around, too. An Express child always
            pays it.
        calls: of functions, by each child.
        call_ms: milliseconds that a call takes; 0 leaves them out.
        call_mb: memory of the function.
        child_ms: milliseconds of an Express child.
        record_bytes: of what an item delivers; 0 for nothing.

    Returns:
        MapCost.

    Raises:
        ValueError: an argument is wrong, or a price is not there.
    """
    children = -(-items // batch)
    express = execution == "express"
    rates = {name: price(listed, "requests", name) for name in ("transition", "express", "function", "delivery")}
    paid = children * ((0 if express else transitions) + (1 if express or iteration else 0))
    time = _seconds(child_ms, rates["express"]["step_ms"]) * Decimal(rates["express"]["step_mb"]) / 1024
    workflow = _a_thousand(rates["express"], 1) + time * Decimal(rates["express"]["usd_per_gb_second"])
    call = _a_thousand(rates["function"], 1) + (
        Decimal(call_ms) / 1000 * call_mb / 1024 * Decimal(rates["function"]["usd_per_gb_second"])
    )
    return MapCost(
        children, _a_thousand(rates["transition"], paid), workflow * children if express else Decimal(0),
        call * calls * children, _delivered(rates["delivery"], items, batch, record_bytes),
        tuple(sorted({listed.sources[entry["source"]] for entry in rates.values()})),
    )  # fmt: skip


@checked
def map_on_spark(
    listed: Prices, *, items: Count, items_per_core_second: Annotated[float, Gt(0)], execution: str = "standard"
) -> Decimal:
    """Return what the same items cost as a job of Spark on Glue, a core taken as a vCPU, without its start.

    Args:
        listed: Prices of `compute`.
        items: of the run.
        items_per_core_second: that were measured.
        execution: `standard`, or `flex`.

    Raises:
        ValueError: an argument is wrong, or a price is not there.
    """
    rate = Decimal(price(listed, "glue", execution)["usd_per_dpu_hour"])
    try:
        seconds = Decimal(items) / Decimal(str(items_per_core_second))
    except ArithmeticError:
        raise ArgumentError(
            f"items_per_core_second must be a finite number, found {items_per_core_second}"
        ) from None
    return rate / 4 / 3600 * seconds  # a DPU has four vCPUs


def _a_thousand(entry: dict[str, str], count: int) -> Decimal:
    return Decimal(entry["usd_per_1000"]) * count / 1000


def _seconds(milliseconds: int, step: int) -> Decimal:
    return (Decimal(milliseconds) / step).to_integral_value(ROUND_CEILING) * step / 1000


def _delivered(entry: dict[str, str], items: int, batch: int, record_bytes: int) -> Decimal:
    """Return what records cost, one a child, each in whole steps."""
    step, gb = int(entry["step_bytes"]), int(entry["bytes_per_gb"])
    full, rest = divmod(items, batch)
    billed = full * -(-batch * record_bytes // step) + -(-rest * record_bytes // step)
    return Decimal(entry["usd_per_gb"]) * billed * step / gb
