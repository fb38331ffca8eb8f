"""What machines, managed Spark and scans cost, and how many queries pay for making a table better."""

from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_DOWN, ROUND_HALF_UP, Decimal, InvalidOperation
from typing import Final, Literal

from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench.costs.listing import Amount, Prices, price

CENT = Decimal("0.01")
EXACT: Final = "exact"
COMPONENTS: Final = "components"
SUM: Final = "sum"


@dataclass(frozen=True)
class Cluster:
    """What a cluster cost for some hours.

    Attributes:
        machines_usd: EC2, for the machines.
        service_usd: EMR, on top of each machine; 0 without it.
        volumes_usd: EBS.
        sources: addresses of the prices.
    """

    machines_usd: Decimal
    service_usd: Decimal
    volumes_usd: Decimal
    sources: tuple[str, ...]

    @checked
    def usd(self, rounding: Literal["exact", "components", "sum"] = EXACT) -> Decimal:
        """Return the whole cost in USD.

        Args:
            rounding: `exact`; `components`: each part to cents, then added; `sum`: added, then to cents. Published
                figures mix the last two, which differ by up to a cent and a half.

        Raises:
            ValueError: no such rounding.
        """
        parts = (self.machines_usd, self.service_usd, self.volumes_usd)
        total = sum(map(_cents, parts) if rounding == COMPONENTS else parts, Decimal(0))
        return _cents(total) if rounding == SUM else total


@checked
def hours(seconds: Amount, *, places: int | None = None) -> Decimal:
    """Return seconds as hours.

    Args:
        seconds: int, text or Decimal; a float is taken as it is written.
        places: digits behind the point that are kept, the rest cut off, as published figures do; all by default.

    Raises:
        ValueError: seconds are below 0.
    """
    exact = _amounts(seconds=seconds)[0] / 3600
    return exact if places is None else exact.quantize(Decimal(1).scaleb(-places), ROUND_DOWN)


@checked
def cluster(
    listed: Prices,
    instance: str,
    *,
    machines: Amount,
    hours: Amount,
    volume_gb: Amount = 20,
    volume: str = "gp2",
    emr: bool = True,
) -> Cluster:
    """Return what machines cost: EC2, EMR on top of it, and a volume each.

    Args:
        listed: Prices of compute.
        instance: such as r5d.4xlarge.
        machines: how many, the primary included.
        hours: for how long.
        volume_gb: size of the volume of each machine.
        volume: its kind.
        emr: False for software one installs oneself.

    Returns:
        Cluster.

    Raises:
        ValueError: something has no price, or an amount is below 0.
    """
    count, duration, gb = _amounts(machines=machines, hours=hours, volume_gb=volume_gb)
    offered, disk = price(listed, "instance", instance), price(listed, "volume", volume)
    kinds = ("ec2", "emr") if emr else ("ec2",)
    if missing := [kind for kind in kinds if kind not in offered]:
        raise ArgumentError(
            f"{instance} has no {missing[0]} price in {listed.region}; it has {', '.join(offered)}"
        )
    rate = {kind: Decimal(offered[kind]["usd_per_hour"]) for kind in kinds}
    hourly = Decimal(disk["usd_per_gb_month"]) / listed.table["about"]["hours_per_month"]
    used = {disk["source"], *(offered[kind]["source"] for kind in kinds)}
    return Cluster(
        count * rate["ec2"] * duration, count * rate.get("emr", Decimal(0)) * duration,
        count * gb * hourly * duration, tuple(sorted(listed.sources[name] for name in used)),
    )  # fmt: skip


@checked
def glue_usd(listed: Prices, *, dpus: Amount, seconds: Amount, execution: str = "standard") -> Decimal:
    """Return what a Glue job costs: DPUs by the second, a shortest time at least.

    Args:
        listed: Prices of compute.
        dpus: data processing units; a G.1X worker is one, a G.2X two.
        seconds: that the job ran.
        execution: `standard`, or `flex`: spare capacity.

    Raises:
        ValueError: there is no such execution class, or an amount is below 0.
    """
    units, duration = _amounts(dpus=dpus, seconds=seconds)
    rate = price(listed, "glue", execution)
    return Decimal(rate["usd_per_dpu_hour"]) * units * max(duration, Decimal(rate["minimum_seconds"])) / 3600


@checked
def athena_usd(listed: Prices, *, size: Amount, queries: Amount = 1) -> Decimal:
    """Return what queries of Athena cost that scan so many bytes each: by the megabyte begun, ten at least.

    Args:
        listed: Prices of compute.
        size: bytes scanned by one query.
        queries: how many.

    Raises:
        ValueError: an amount is below 0.
    """
    scanned, count = _amounts(size=size, queries=queries)
    rate = price(listed, "athena", "sql")
    unit = Decimal(rate["bytes_per_step"])
    billed = max((scanned / unit).to_integral_value(ROUND_CEILING) * unit, Decimal(rate["minimum_bytes"]))
    return Decimal(rate["usd_per_tb"]) * billed * count / rate["bytes_per_tb"]


@checked
def break_even(once: Amount, *, before: Amount, after: Amount) -> int | None:
    """Return how many queries pay for work done once: a compaction, a layout that takes longer to load.

    Args:
        once: what the work costs, in any unit: USD or seconds of the same machines.
        before: what a query costs without it, in the same unit.
        after: with it.

    Returns:
        int, the number of queries from which on it was worth it; 0 when the work cost nothing and a query not more
        than before. None when a query does not get cheaper: nothing pays for it.

    Raises:
        ValueError: an amount is below 0.
    """
    work, dear, cheap = _amounts(once=once, before=before, after=after)
    if work == 0 and cheap <= dear:
        return 0
    if cheap >= dear:
        return None
    return int((work / (dear - cheap)).to_integral_value(ROUND_CEILING))


def _amounts(**named: Amount) -> list[Decimal]:
    """Return amounts as Decimal; a float is taken as it is written."""
    amounts = []
    for name, value in named.items():
        try:
            amounts.append(amount := Decimal(str(value)))
        except InvalidOperation:
            amount = Decimal("NaN")
        if not amount.is_finite() or amount < 0:
            raise ArgumentError(f"{name} must be an amount, a number of at least 0, found {value}")
    return amounts


def _cents(amount: Decimal) -> Decimal:
    return amount.quantize(CENT, ROUND_HALF_UP)
