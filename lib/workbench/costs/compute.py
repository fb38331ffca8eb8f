"""What machines, managed Spark and scans cost, and how many queries pay for making a table better."""

from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_DOWN, ROUND_HALF_UP, Decimal, InvalidOperation

from workbench._base.errors import ArgumentError
from workbench.costs.listing import price

CENT = Decimal("0.01")
EXACT, COMPONENTS, SUM = "exact", "components", "sum"


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

    def usd(self, rounding=EXACT):
        """Return all of it.

        Args:
            rounding: `exact`; `components`: each part to cents, then added; `sum`: added, then to cents. Published
                figures mix the last two, which differ by up to a cent and a half.

        Raises:
            ValueError: no such rounding.
        """
        if rounding not in (EXACT, COMPONENTS, SUM):
            raise ArgumentError(f"no rounding {rounding!r}; there are {EXACT}, {COMPONENTS}, {SUM}")
        parts = (self.machines_usd, self.service_usd, self.volumes_usd)
        if rounding == COMPONENTS:
            return sum(_cents(part) for part in parts)
        return _cents(sum(parts)) if rounding == SUM else sum(parts)


def hours(seconds, *, places=None):
    """Return seconds as hours.

    Args:
        seconds: int, text or Decimal; a float is taken as it is written.
        places: digits behind the point that are kept, the rest cut off, as published figures do; all by default.

    Raises:
        ValueError: seconds are below 0.
    """
    (seconds,) = _amounts(seconds=seconds)
    found = seconds / 3600
    return found if places is None else found.quantize(Decimal(1).scaleb(-places), ROUND_DOWN)


def cluster(listed, instance, *, machines, hours, volume_gb=20, volume="gp2", emr=True):
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
    machines, hours, volume_gb = _amounts(machines=machines, hours=hours, volume_gb=volume_gb)
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
        machines * rate["ec2"] * hours, machines * rate.get("emr", Decimal(0)) * hours,
        machines * volume_gb * hourly * hours, tuple(sorted(listed.sources[name] for name in used)),
    )  # fmt: skip


def glue_usd(listed, *, dpus, seconds, execution="standard"):
    """Return what a Glue job costs: DPUs by the second, a shortest time at least.

    Args:
        listed: Prices of compute.
        dpus: data processing units; a G.1X worker is one, a G.2X two.
        seconds: that the job ran.
        execution: `standard`, or `flex`: spare capacity.

    Raises:
        ValueError: there is no such execution class, or an amount is below 0.
    """
    dpus, seconds = _amounts(dpus=dpus, seconds=seconds)
    rate = price(listed, "glue", execution)
    return Decimal(rate["usd_per_dpu_hour"]) * dpus * max(seconds, Decimal(rate["minimum_seconds"])) / 3600


def athena_usd(listed, *, size, queries=1):
    """Return what queries of Athena cost that scan so many bytes each: by the megabyte begun, ten at least.

    Args:
        listed: Prices of compute.
        size: bytes scanned by one query.
        queries: how many.

    Raises:
        ValueError: an amount is below 0.
    """
    size, queries = _amounts(size=size, queries=queries)
    rate = price(listed, "athena", "sql")
    unit = Decimal(rate["bytes_per_step"])
    billed = max((size / unit).to_integral_value(ROUND_CEILING) * unit, Decimal(rate["minimum_bytes"]))
    return Decimal(rate["usd_per_tb"]) * billed * queries / rate["bytes_per_tb"]


def break_even(once, *, before, after):
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
    once, before, after = _amounts(once=once, before=before, after=after)
    if once == 0 and after <= before:
        return 0
    if after >= before:
        return None
    return int((once / (before - after)).to_integral_value(ROUND_CEILING))


def _amounts(**named):
    """Return amounts as Decimal; a float is taken as it is written."""
    found = []
    for name, value in named.items():
        try:
            found.append(amount := Decimal(str(value)))
        except InvalidOperation:
            amount = Decimal("NaN")
        if not amount.is_finite() or amount < 0:
            raise ArgumentError(f"{name} is {value}; an amount is a number from 0")
    return found


def _cents(amount):
    return amount.quantize(CENT, ROUND_HALF_UP)
