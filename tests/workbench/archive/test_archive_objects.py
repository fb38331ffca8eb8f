"""State from what S3 says, the three modes, addresses, folder keys: pure functions."""

from datetime import UTC, datetime

import pytest
from archive_attic import made

from workbench import archive
from workbench.archive import objects

UNTIL = datetime(2026, 1, 9, tzinfo=UTC)
HEADER = 'ongoing-request="false", expiry-date="Fri, 09 Jan 2026 00:00:00 GMT"'


@pytest.mark.parametrize(
    ("storage_class", "restore", "tier", "expected"),
    [
        ("STANDARD", None, None, ("active", None)),
        ("GLACIER_IR", None, None, ("active", None)),
        ("GLACIER", None, None, ("archived", None)),
        ("GLACIER", 'ongoing-request="true"', None, ("restoring", None)),
        ("GLACIER", 'ongoing-request = "true"', None, ("restoring", None)),  # as some servers write it
        ("GLACIER", HEADER, None, ("restored", UNTIL)),
        (
            "GLACIER",
            'expiry-date = "Fri, 09 Jan 2026 00:00:00 GMT", ongoing-request="false"',
            None,
            ("restored", UNTIL),
        ),
        ("DEEP_ARCHIVE", {"IsRestoreInProgress": True}, None, ("restoring", None)),
        ("DEEP_ARCHIVE", {"IsRestoreInProgress": False, "RestoreExpiryDate": UNTIL}, None, ("restored", UNTIL)),
        ("INTELLIGENT_TIERING", None, None, ("active", None)),
        ("INTELLIGENT_TIERING", 'ongoing-request="false"', None, ("active", None)),
        ("INTELLIGENT_TIERING", None, "ARCHIVE_ACCESS", ("archived", None)),
        ("INTELLIGENT_TIERING", 'ongoing-request="true"', "ARCHIVE_ACCESS", ("restoring", None)),
    ],
)
def test_state(storage_class, restore, tier, expected):
    assert objects.state_of(storage_class, restore, tier) == expected


@pytest.mark.parametrize(
    "told",
    [
        "Fri, 09 Jan 2026 00:00:00 GMT",  # RFC 1123, as the header of Amazon S3
        "Fri, 9 Jan 2026 01:00:00 +0100",
        "Friday, 09-Jan-26 00:00:00 GMT",  # RFC 850
        "Fri Jan  9 00:00:00 2026",  # asctime
        "2026-01-09T00:00:00Z",  # ISO 8601, as RestoreExpiryDate of Amazon S3
        "2026-01-09T00:00:00.000Z",
        "2026-01-09T02:00:00+02:00",
        "2026-01-09 00:00:00",
        "20260109T000000Z",
        "2026-01-09",
        " 2026-01-09T00:00:00Z ",
        datetime(2026, 1, 9),
        datetime(2026, 1, 9, tzinfo=UTC),
    ],
)
def test_a_copy_goes_at_a_time_that_is_written_in_some_form(told):
    if isinstance(told, str):
        header = f'ongoing-request="false", expiry-date="{told}"'
        assert objects.state_of("GLACIER", header) == ("restored", UNTIL)
    row = {"IsRestoreInProgress": False, "RestoreExpiryDate": told}
    assert objects.state_of("GLACIER", row) == ("restored", UNTIL)


@pytest.mark.parametrize(
    "told",
    [
        "soon", "1767916800", "Fri, 31 Feb 2026 00:00:00 GMT", "Fri, 09 Jan 2026 00:00:00 CEST", "2026-13-09T00:00:00Z",
        "9999-12-31T23:59:59-01:00",
    ],
)  # fmt: skip
def test_a_time_that_is_none_is_named_and_stops_nothing(told):
    header = f'ongoing-request="false", expiry-date="{told}"'
    head = {
        "ContentLength": 1, "StorageClass": "GLACIER", "Restore": header, "LastModified": UNTIL, "ETag": '"e"',
    }  # fmt: skip
    with pytest.warns(
        UserWarning, match="s3://attic/a is restored, and until when is not known: .*expected a time"
    ):
        found = objects.from_head("s3://attic/a", head)
    assert (found.state, found.restored_until, found.readable) == ("restored", None, True)
    row = {"Key": "a", "Size": 1, "StorageClass": "GLACIER", "LastModified": UNTIL, "ETag": '"e"'}
    with pytest.warns(UserWarning, match="s3://attic/a is restored"):
        found = objects.from_listing(
            "attic", row | {"RestoreStatus": {"IsRestoreInProgress": False, "RestoreExpiryDate": told}}
        )
    assert (found.state, found.restored_until) == ("restored", None)


STATES = [
    made("standard", "STANDARD", "active"),
    made("instant", "GLACIER_IR", "active"),
    made("archived"),
    made("under way", state="restoring"),
    made("restored", state="restored", until_hours=9),
    made("resting", "INTELLIGENT_TIERING", access_tier="ARCHIVE_ACCESS"),
]


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("READ_ALL", ["read", "read", "fail", "fail", "read", "fail"]),
        ("SKIP_ALL_GLACIER", ["read", "read", "skip", "skip", "skip", "skip"]),
        ("READ_RESTORED_GLACIER_OBJECTS", ["read", "read", "skip", "skip", "read", "skip"]),
    ],
)
def test_modes(mode, expected):
    assert [archive.decide(mode, one) for one in STATES] == expected


def test_an_unknown_mode_names_those_there_are():
    with pytest.raises(ValueError, match="mode must be 'READ_ALL', 'SKIP_ALL_GLACIER' or 'READ_.*, found 'SKIP'"):
        archive.decide("SKIP", STATES[0])


def test_folder_keys():
    keys = {"t/": 0, "t/year=2021/": 0, "t/year=2021_$folder$": 0, "t/empty": 0, "t/odd/": 3}
    assert [key for key, size in keys.items() if archive.is_folder(key, size)] == [
        "t/",
        "t/year=2021/",
        "t/year=2021_$folder$",
    ]


def test_addresses():
    assert objects.split("s3://b/a/b c") == ("b", "a/b c")
    assert objects.split("s3a://b") == objects.split("s3://b/") == ("b", "")
    for wrong in ("file:/tmp/x", "b/c", "s3:///x"):
        with pytest.raises(ValueError, match="is not an address in S3; expected s3://bucket/prefix"):
            objects.split(wrong)
