"""Sales: the truth is that of the records themselves."""

import json
from collections import Counter
from datetime import datetime
from decimal import Decimal

import pytest

from workbench.data import sales


def test_the_minutes_are_those_of_the_records():
    made = sales.made(records=500, seed=3)
    totals = Counter()
    for key, data in made.records:
        row = json.loads(data, parse_float=Decimal)
        assert key == row["customer_id"] and len(row["transaction_id"]) == 15 and len(key) == 10
        assert row["product_name"] in sales.PRODUCTS[row["product_category"]] and 18 <= row["age"] <= 50
        assert (
            row["total_amount"] == row["quantity"] * row["price_per_unit"] and 10 <= row["price_per_unit"] <= 500
        )
        assert Decimal("0.49") < row["cogs"] / row["price_per_unit"] <= Decimal("0.9")
        totals[datetime.fromisoformat(row["date"]).replace(second=0)] += row["total_amount"]
    assert made.minutes == totals and len(totals) == 28


def test_the_same_arguments_give_the_same_sales():
    assert sales.made(records=50, seed=3) == sales.made(records=50, seed=3) != sales.made(records=50, seed=4)
    with pytest.raises(ValueError, match="records must be an integer of at least 1, found 0"):
        sales.made(records=0)
