"""What a plan costs: the seconds that its bytes take, at the price of a managed Spark job."""

from workbench import costs


def usd(planned, listed, *, dpus, mb_per_second):
    """Return what it would cost to do a plan as a managed Spark job of its own.

    Args:
        planned: Planned.
        listed: costs.Prices of compute.
        dpus: data processing units of the job.
        mb_per_second: MB of 2^20 bytes that such a job reads and rewrites a second: measure it.

    Returns:
        Decimal, USD; also a plan of few bytes costs the shortest time that is billed. 0 when nothing is to do.

    Raises:
        ValueError: an amount is below 0, or the rate is not above 0.
    """
    if not mb_per_second > 0:
        raise ValueError(f"mb_per_second is {mb_per_second}; a rate is above 0")
    if not planned.actions:
        return costs.glue_usd(listed, dpus=0, seconds=0)
    size = sum(one.bytes_read for one in planned.actions) / 1024**2
    return costs.glue_usd(listed, dpus=dpus, seconds=round(size / mb_per_second, 3))
