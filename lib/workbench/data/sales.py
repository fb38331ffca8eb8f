"""Sales as JSON events, as a shop's tills would send them, and the total of each minute."""

import random
from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Annotated

from workbench._base.bounds import Ge
from workbench._base.door import checked

SCHEMA = (
    "transaction_id STRING NOT NULL, date TIMESTAMP NOT NULL, customer_id STRING NOT NULL, "
    "gender STRING NOT NULL, age INT NOT NULL, product_category STRING NOT NULL, product_name STRING NOT NULL, "
    "quantity INT NOT NULL, price_per_unit DECIMAL(10, 2) NOT NULL, cogs DECIMAL(10, 2) NOT NULL, "
    "total_amount DECIMAL(12, 2) NOT NULL"
)
PRODUCTS = {
    "Electronics": ("Phone", "Laptop", "Tablet", "Headset", "Camera"),
    "Clothing": ("Shirt", "Trousers", "Jacket", "Dress", "Shoes"),
    "Beauty": ("Soap", "Cream", "Perfume", "Lipstick", "Shampoo"),
}
FIRST, SECONDS_BETWEEN = datetime(2026, 1, 1, 9), 10
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"


@dataclass(frozen=True)
class Sales:
    """Records in the order in which they are sent, and what is in them.

    Attributes:
        records: (key, bytes); the key is the customer.
        minutes: minute of the sale, a datetime without a zone in UTC, to the sum of total_amount, a Decimal.
    """

    records: list[tuple[str, bytes]]
    minutes: dict[datetime, Decimal]


@checked
def made(*, records: Annotated[int, Ge(1)] = 1_000, seed: int = 1) -> Sales:
    """Make sales, three in ten seconds; the same arguments give the same sales.

    The amount is quantity times price, in whole cents: a price is a decimal here, not a float.

    Args:
        records: how many.
        seed: any integer.

    Returns:
        Sales.

    Raises:
        ValueError: records is not an integer of at least 1.
    """
    chance, sales = random.Random(seed), []
    minutes: Counter[datetime] = Counter()
    for number in range(records):
        at = FIRST + timedelta(seconds=number // 3 * SECONDS_BETWEEN)
        category = chance.choice(list(PRODUCTS))
        quantity, price = chance.randint(1, 5), chance.randint(1_000, 50_000)
        customer = _text(chance, 10)
        cogs, total = price * chance.randint(50, 90) // 100, quantity * price
        text = (
            f'{{"transaction_id":"{_text(chance, 15)}","date":"{at}","customer_id":"{customer}",'
            f'"gender":"{chance.choice(("Male", "Female"))}","age":{chance.randint(18, 50)},'
            f'"product_category":"{category}","product_name":"{chance.choice(PRODUCTS[category])}",'
            f'"quantity":{quantity},"price_per_unit":{_amount(price)},"cogs":{_amount(cogs)},'
            f'"total_amount":{_amount(total)}}}'
        )
        sales.append((customer, text.encode()))
        minutes[at.replace(second=0)] += total
    return Sales(sales, {minute: Decimal(cents).scaleb(-2) for minute, cents in minutes.items()})


def _text(chance: random.Random, length: int) -> str:
    return "".join(chance.choices(_LETTERS, k=length))


def _amount(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02}"
