"""What a plan costs: the seconds that its bytes take, at the price of a managed Spark job."""

import math
from decimal import Decimal
from numbers import Real

from workbench import costs
from workbench._base import arguments
from workbench.tables.maintenance import results


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
        ValueError: the plan or the prices are none, an amount is no number from 0, or the rate none above 0.
    """
    results.check(planned)
    arguments.kind("listed", listed, costs.Prices, 'what costs.prices("compute") returns')
    for name, value in (("dpus", dpus), ("mb_per_second", mb_per_second)):
        if isinstance(value, bool) or not isinstance(value, Real | Decimal):
            raise ValueError(f"{name} is {value!r}, expected a number")
    if not 0 < mb_per_second < math.inf:
        raise ValueError(f"mb_per_second is {mb_per_second}; a rate is above 0")
    if not planned.actions:
        return costs.glue_usd(listed, dpus=0, seconds=0)
    size = sum(one.bytes_read for one in planned.actions) / 1024**2
    return costs.glue_usd(listed, dpus=dpus, seconds=round(size / float(mb_per_second), 3))
