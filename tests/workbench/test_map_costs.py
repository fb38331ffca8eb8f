"""The price of a distributed map, by each way of running it: the figures of the facts page."""

from decimal import Decimal

import pytest

from workbench import costs

CENT = Decimal("0.01")


@pytest.fixture
def listed():
    return costs.prices("serverless")


def figure(listed, items, **how):
    return costs.map_run(listed, items=items, record_bytes=348, **how).usd.quantize(CENT)


@pytest.mark.parametrize(
    ("how", "million", "billion"),
    [
        ({}, "50.34", "50338.10"),
        ({"iteration": True}, "75.34", "75338.10"),
        ({"execution": "express"}, "26.44", "26442.28"),
        ({"batch": 1440, "iteration": True}, "0.06", "61.63"),
    ],
)
def test_the_figures_of_the_facts_page(listed, how, million, billion):
    assert figure(listed, 10**6, **how) == Decimal(million)
    assert abs(figure(listed, 10**9, **how) - Decimal(billion)) < 1


def test_the_parts(listed):
    cost = costs.map_run(listed, items=1000, record_bytes=5121, call_ms=100, call_mb=1024)
    assert (cost.children, cost.transitions_usd, cost.express_usd) == (1000, Decimal("0.05"), 0)
    assert cost.functions_usd == Decimal("0.0002") + 100 * Decimal("0.0000166667")
    assert cost.delivery_usd == Decimal("0.029") * 1000 * 10240 / 2**30  # two steps each
    assert cost.sources == tuple(sorted(listed.sources.values()))
    express = costs.map_run(listed, items=10, execution="express", child_ms=101, calls=0)
    assert express.express_usd == 10 * (Decimal("0.000001") + Decimal("0.2") * 64 / 1024 * Decimal("0.00001667"))
    assert costs.map_run(listed, items=0).usd == 0
    assert costs.map_run(listed, items=1441, batch=1440).children == 2


def test_the_same_items_on_spark():
    found = costs.map_on_spark(costs.prices("compute"), items=10**9, items_per_core_second=21_000)
    assert found.quantize(CENT) == Decimal("1.46")


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"items": -1}, "items must be an integer of at least 0, found -1"),
        ({"items": 1, "batch": 0}, "batch must be an integer of at least 1, found 0"),
        ({"items": 1, "execution": "fast"}, "execution must be 'standard' or 'express', found 'fast'"),
    ],
)
def test_what_is_refused(listed, how, words):
    with pytest.raises(ValueError, match=words):
        costs.map_run(listed, **how)
    with pytest.raises(ValueError, match="no requests price for 'transition'"):
        costs.map_run(costs.prices("s3"), items=1)
