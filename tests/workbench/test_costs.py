"""Prices are dated and sourced, and sums agree with those that AWS itself works out."""

from decimal import Decimal
from pathlib import Path

import pytest

from workbench import costs

GIB = 2**30
PRICES = Path(costs.__file__).parents[1] / "prices"


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
    with pytest.raises(ValueError, match="there is no price file rent; there are compute, s3"):
        costs.prices("rent")


def test_the_file_says_when_and_from_where(listed):
    assert (listed.service, listed.region, listed.currency) == ("Amazon S3", "us-east-1", "USD")
    assert listed.date.year == 2026 and all(address.startswith("https://") for address in listed.sources.values())


def marked(table, path=()):
    """Each price's name to what it says of where it was seen."""
    if "source" in table:
        return {".".join(path[1:] if path[0] == "instance" else path): (table.get("seen"), table.get("date"))}
    return {name: told for key, below in table.items() for name, told in marked(below, (*path, key)).items()}


def test_what_was_not_seen_at_its_source_is_marked(listed, compute):
    found = {
        service: marked({kind: below for kind, below in of.table.items() if kind not in ("about", "sources")})
        for service, of in (("s3", listed), ("compute", compute))
    }
    assert {name: told for name, told in found["compute"].items()} == {
        "r5d.4xlarge.ec2": (None, "2024-12"), "r5d.4xlarge.emr": (None, "2024-12"), "volume.gp2": (None, "2024-12"),
        "glue.standard": ("elsewhere", None), "glue.flex": ("no", None), "athena.sql": ("elsewhere", None),
    }  # fmt: skip
    nowhere = {name for name, told in found["s3"].items() if told == ("no", None)}
    assert nowhere == {
        "requests.STANDARD", "requests.GLACIER", "requests.DEEP_ARCHIVE", "retrieval.DEEP_ARCHIVE.Standard",
        "retrieval.DEEP_ARCHIVE.Bulk", "retrieval.ARCHIVE_ACCESS.Expedited",
    }  # fmt: skip
    elsewhere = {name for name, told in found["s3"].items() if told == ("elsewhere", None)}
    assert elsewhere == {f"storage.{name}" for name in listed.table["storage"]}
    at_source = found["s3"].keys() - nowhere - elsewhere
    assert {found["s3"][name] for name in at_source} == {(None, None)}
    assert {name.split(".")[0] for name in at_source} == {"retrieval"}


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('source = "retrieval"', 'source = "hearsay"', "names the source 'hearsay', which is not listed"),
        ('usd_per_gb_month = "0.0036"', "usd_per_gb_month = 0.0036", "an amount is text such as '0.023'"),
        ('date = "2026-06-05"', 'date = "lately"', "lately"),
        ('currency = "USD"', "", "currency"),
        ("[storage.GLACIER_IR]", "[attic.GLACIER_IR]", "found attic"),
        ('usd_per_gb_month = "0.0036"\n', "", "storage.GLACIER has no amount"),
        ('seen = "no"', 'seen = "maybe"', "was seen 'maybe'; there are at its source, elsewhere, no"),
    ],
)
def test_a_file_of_ones_own_is_checked(tmp_path, listed, old, new, sentence):
    shipped = PRICES / "s3.toml"
    own = tmp_path / "own.toml"
    own.write_text(shipped.read_text())
    assert costs.prices(file=own) == listed
    own.write_text(shipped.read_text().replace(old, new))
    with pytest.raises(ValueError, match="is not a price file") as caught:
        costs.prices(file=own)
    assert sentence in str(caught.value)


@pytest.fixture
def compute():
    return costs.prices("compute")


PUBLISHED = {"EMR 7.5": ("1535.62", True), "EMR 7.1": ("2033.17", True), "open source": ("5546.16", False)}


@pytest.mark.parametrize(
    ("places", "rounding", "expected"),
    [
        (None, costs.SUM, ["5.47", "7.24", "16.01"]),  # with exact hours
        (2, costs.COMPONENTS, ["5.38", "7.18", "16.01"]),  # as in the published table
        (2, costs.SUM, ["5.39", "7.18", "16.00"]),  # as in its text
    ],
)
def test_the_published_benchmark_cost_what_it_says_under_its_two_roundings(compute, places, rounding, expected):
    """9 r5d.4xlarge with 20 GB each: Amazon EMR 7.5 runtime for Apache Spark and Iceberg, AWS Big Data Blog."""
    found = [
        costs.cluster(
            compute, "r5d.4xlarge", machines=9, hours=costs.hours(seconds, places=places), volume_gb=20, emr=emr
        ).usd(rounding)
        for seconds, emr in PUBLISHED.values()
    ]
    assert [str(usd) for usd in found] == expected


def test_hours_are_exact_or_cut():
    assert [str(round(costs.hours(seconds), 4)) for seconds, _ in PUBLISHED.values()] == [
        "0.4266", "0.5648", "1.5406",
    ]  # fmt: skip
    assert [str(costs.hours(seconds, places=2)) for seconds, _ in PUBLISHED.values()] == ["0.42", "0.56", "1.54"]
    assert costs.hours(5400.0) == Decimal("1.5")


def test_a_cluster_in_its_parts(compute):
    found = costs.cluster(compute, "r5d.4xlarge", machines=10, hours="7.3", volume_gb=100)
    assert found == costs.Cluster(
        Decimal("84.096"), Decimal("19.71"), Decimal("1"), (compute.sources["benchmark"],)
    )
    assert found.usd() == Decimal("104.806")
    assert costs.cluster(compute, "r5d.4xlarge", machines=10, hours="7.3", emr=False).service_usd == 0


def test_glue_is_billed_by_the_second_from_a_minute_on(compute):
    found = [costs.glue_usd(compute, dpus=6, seconds=seconds) for seconds in (900, 60, 1)]
    assert found == [Decimal("0.66"), Decimal("0.044"), Decimal("0.044")]  # the first is AWS's own example
    assert costs.glue_usd(compute, dpus=10, seconds=3600, execution="flex") == Decimal("2.90")


def test_athena_is_billed_by_the_megabyte_begun_and_ten_at_least(compute):
    assert costs.athena_usd(compute, size=2**40) == 5
    tenth = 5 * Decimal(10 * 2**20) / 2**40
    assert [costs.athena_usd(compute, size=size) for size in (0, 10 * 2**20)] == [tenth, tenth]
    assert costs.athena_usd(compute, size=10 * 2**20 + 1, queries=10) == tenth * 11


def test_how_many_queries_pay_for_a_layout():
    """A date-partitioned layout loads longer and is slower: nothing pays for it."""
    assert costs.break_even(10, before=3, after=1) == 5
    assert costs.break_even("10.01", before=3, after=1) == 6
    assert (costs.break_even(0, before=1, after=1), costs.break_even(1, before=1, after=1)) == (0, None)
    assert costs.break_even(239 - 36, before="1.48", after="3.33") is None
    assert costs.break_even(0, before=1, after=2) is None  # for nothing, and each query costs more
    assert costs.break_even(1, before=0.3, after=0.2) == 10  # and not 11, as with floats


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda p: costs.cluster(p, "abacus", machines=1, hours=1), "no instance price for 'abacus' in us-east-1"),
        (
            lambda p: costs.cluster(p, "r5d.4xlarge", machines=-1, hours=1),
            "machines must be an amount, a number of at least 0, found -1",
        ),
        (
            lambda p: costs.cluster(p, "r5d.4xlarge", machines=1, hours=1).usd("up"),
            "rounding must be 'exact', 'components' or 'sum', found 'up'",
        ),
        (lambda p: costs.glue_usd(p, dpus=1, seconds=1, execution="spot"), "no glue price for 'spot'"),
        (
            lambda p: costs.athena_usd(p, size=float("nan")),
            "size must be an amount, a number of at least 0, found nan",
        ),
        (
            lambda p: costs.break_even(1, before=-1, after=0),
            "before must be an amount, a number of at least 0, found -1",
        ),
        (
            lambda p: costs.break_even("much", before=1, after=0),
            "once must be an amount, a number of at least 0, found much",
        ),
        (
            lambda p: costs.glue_usd(p, dpus=None, seconds=1),
            "dpus must be an integer, a number, a text or Decimal, found None",
        ),
        (lambda p: costs.hours("-1"), "seconds must be an amount, a number of at least 0, found -1"),
        (
            lambda p: costs.hours(float("nan"), places=2),
            "seconds must be an amount, a number of at least 0, found nan",
        ),
    ],
)
def test_what_cannot_be_priced_is_refused(compute, call, sentence):
    with pytest.raises(ValueError) as caught:
        call(compute)
    assert sentence in str(caught.value)


def test_a_machine_without_an_emr_price_is_refused(tmp_path, compute):
    text = (PRICES / "compute.toml").read_text()
    start = text.index('[instance."r5d.4xlarge".emr]')
    own = tmp_path / "own.toml"
    own.write_text(text[:start] + text[text.index("[volume.gp2]") :])
    with pytest.raises(ValueError, match="r5d.4xlarge has no emr price in us-east-1; it has ec2"):
        costs.cluster(costs.prices(file=own), "r5d.4xlarge", machines=1, hours=1)
