"""Prices are dated and sourced, and sums agree with those that AWS itself works out."""

from decimal import Decimal

import pytest

from workbench import costs

GIB = 2**30


@pytest.fixture
def listed():
    return costs.prices("s3")


@pytest.mark.parametrize(
    ("tier", "requests", "size"), [("Standard", 750, 1024), ("Expedited", 150_000, 3072), ("Bulk", 0, 0)]
)
def test_the_example_of_awss_own_page(listed, tier, requests, size):
    """15,000,000 objects, 100 TB: https://repost.aws/knowledge-center/s3-manage-data-retrieval."""
    found = costs.retrieval(listed, "GLACIER", tier, objects=15_000_000, size=102_400 * GIB, days=None)
    assert (found.requests_usd, found.retrieval_usd, found.usd) == (requests, size, requests + size)
    assert found.copies_usd == 0


def test_copies_are_billed_as_standard_beside_the_archived_object(listed):
    found = costs.retrieval(listed, "DEEP_ARCHIVE", "Bulk", objects=1000, size=100 * GIB, days=15)
    assert found == costs.Retrieval(
        1000, 100 * GIB, Decimal("0.25"), Decimal("0.025"), Decimal("1.15"), Decimal("1.425"), (2880, 2880),
        ("https://aws.amazon.com/s3/pricing/",),
    )  # fmt: skip
    assert costs.prolonging(listed, objects=1000, size=100 * GIB, days=15).usd == Decimal("1.155")


def test_storage_by_class_and_the_least_time_billed(listed):
    month = {
        name: costs.storage_usd(listed, name, 1000 * GIB, 30) for name in ("STANDARD", "GLACIER", "DEEP_ARCHIVE")
    }
    assert month == {"STANDARD": 23, "GLACIER": Decimal("3.6"), "DEEP_ARCHIVE": Decimal("0.99")}
    days = {name: costs.minimum_days(listed, name) for name in listed.table["storage"]}
    assert days == {
        "STANDARD": 0, "REDUCED_REDUNDANCY": 0, "STANDARD_IA": 30, "ONEZONE_IA": 30, "INTELLIGENT_TIERING": 0,
        "GLACIER_IR": 90, "GLACIER": 90, "DEEP_ARCHIVE": 180,
    }  # fmt: skip


def test_tiers_and_their_times(listed):
    found = {
        name: {tier: tuple(price["minutes"]) for tier, price in offered.items()}
        for name, offered in listed.table["retrieval"].items()
    }
    flexible = {"Expedited": (1, 5), "Standard": (180, 300), "Bulk": (300, 720)}
    deep = {"Standard": (720, 720), "Bulk": (2880, 2880)}
    assert found == {
        "GLACIER": flexible, "DEEP_ARCHIVE": deep, "ARCHIVE_ACCESS": flexible, "DEEP_ARCHIVE_ACCESS": deep,
    }  # fmt: skip
    assert costs.tiers(listed, "DEEP_ARCHIVE") == ("Standard", "Bulk")


def test_what_has_no_price_is_refused(listed):
    with pytest.raises(ValueError, match="DEEP_ARCHIVE offers Standard, Bulk, not 'Expedited'"):
        costs.retrieval(listed, "DEEP_ARCHIVE", "Expedited", objects=1, size=1, days=1)
    with pytest.raises(ValueError, match="no storage price for 'ATTIC' in us-east-1; there are STANDARD"):
        costs.storage_usd(listed, "ATTIC", 1, 1)
    with pytest.raises(ValueError, match="there is no price file rent; there are s3"):
        costs.prices("rent")


def test_the_file_says_when_and_from_where(listed):
    assert (listed.service, listed.region, listed.currency) == ("Amazon S3", "us-east-1", "USD")
    assert listed.date.year == 2026 and all(address.startswith("https://") for address in listed.sources.values())


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('source = "retrieval"', 'source = "hearsay"', "names the source 'hearsay', which is not listed"),
        ('usd_per_gb_month = "0.0036"', "usd_per_gb_month = 0.0036", "an amount is text such as '0.023'"),
        ('date = "2026-06-05"', 'date = "lately"', "lately"),
        ('currency = "USD"', "", "currency"),
    ],
)
def test_a_file_of_ones_own_is_checked(tmp_path, listed, old, new, sentence):
    shipped = costs.Path(costs.__file__).parent / "prices" / "s3.toml"
    own = tmp_path / "own.toml"
    own.write_text(shipped.read_text())
    assert costs.prices(file=own) == listed
    own.write_text(shipped.read_text().replace(old, new))
    with pytest.raises(ValueError, match="is no price file") as caught:
        costs.prices(file=own)
    assert sentence in str(caught.value)
