"""Strict JSON: a corpus of bad records, each with its reason, and good ones that come out as they went in."""

import json
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.records import parsing, schemas, types
from workbench.streams import Json

FIELDS = {
    "id": ("long", False), "name": ("string", True), "n": ("integer", True), "small": ("byte", True),
    "price": ("decimal(10,2)", True), "ratio": ("double", True), "narrow": ("float", True), "ok": ("boolean", True),
    "day": ("date", True), "at": ("timestamp", True), "local": ("timestamp_ntz", True),
    "tags": ({"type": "array", "elementType": "string", "containsNull": False}, True),
    "place": ({"type": "struct", "fields": [
        {"name": "x", "type": "double", "nullable": False}, {"name": "y", "type": "double", "nullable": True}]}, True),
    "more": ({"type": "map", "keyType": "string", "valueType": "integer", "valueContainsNull": True}, True),
}  # fmt: skip


def schema(names=FIELDS):
    fields = [{"name": n, "type": FIELDS[n][0], "nullable": FIELDS[n][1], "metadata": {}} for n in names]
    return {"type": "struct", "fields": fields}


def parse(*data, strict=False, names=FIELDS):
    return parsing.Parser(schema(names), strict)(list(data))


BAD = [
    ("empty", b""),
    ("empty", b"  \n"),
    ("not_json", b"hello"),
    ("not_json", b'{"id": 1'),
    ("not_json", b'{"id": 1,}'),
    ("not_json", b"{'id': 1}"),
    ("not_json", b'{"id": NaN}'),
    ("not_json", b'{"id": 1, "ratio": -Infinity}'),
    ("not_json", b'{"id": 01}'),
    ("not_json", b'{"id": 1, "name": "a\nb"}'),
    ("not_json", b'\xef\xbb\xbf{"id": 1}'),
    ("not_utf8", b'{"id": 1, "name": "\xff"}'),
    ("not_utf8", b'{"id": 1, "name": "\\ud800"}'),
    ("not_an_object", b'[{"id": 1}]'),
    ("not_an_object", b"17"),
    ("not_an_object", b"null"),
    ("more_than_one", b'{"id": 1}{"id": 2}'),
    ("more_than_one", b'{"id": 1} x'),
    ("duplicate_key", b'{"id": 1, "id": 2}'),
    ("duplicate_key", b'{"id": 1, "place": {"x": 1, "x": 2}}'),
    ("missing_field", b"{}"),
    ("null_in_required", b'{"id": null}'),
    ("null_in_required", b'{"id": 1, "tags": [null]}'),
    ("missing_field", b'{"id": 1, "place": {"y": 1}}'),
    ("key_case", b'{"ID": 1}'),
    ("key_case", b'{"id": 1, "Name": "x"}'),
    ("unknown_field", b'{"id": 1, "place": {"x": 1, "z": 2}}'),
    ("wrong_type", b'{"id": "1"}'),
    ("wrong_type", b'{"id": 1.0}'),
    ("wrong_type", b'{"id": 1e3}'),
    ("wrong_type", b'{"id": true}'),
    ("wrong_type", b'{"id": 1, "name": 5}'),
    ("wrong_type", b'{"id": 1, "ok": "true"}'),
    ("wrong_type", b'{"id": 1, "ok": 1}'),
    ("wrong_type", b'{"id": 1, "tags": "a"}'),
    ("wrong_type", b'{"id": 1, "place": []}'),
    ("wrong_type", b'{"id": 1, "at": 1767225600}'),
    ("out_of_range", b'{"id": 9223372036854775808}'),
    ("out_of_range", b'{"id": 1, "n": 2147483648}'),
    ("out_of_range", b'{"id": 1, "small": -129}'),
    ("out_of_range", b'{"id": 1, "price": 123456789.00}'),
    ("out_of_range", b'{"id": 1, "ratio": 1e999}'),
    ("out_of_range", b'{"id": 1, "ratio": 1e99999999999999999999}'),
    ("out_of_range", b'{"id": 1, "price": 1e1000000}'),
    ("out_of_range", b'{"id": 1, "price": 1e99999999999999999999}'),
    ("out_of_range", b'{"id": 1, "price": -1e-99999999}'),
    ("too_precise", b'{"id": 1, "price": 1e-999}'),
    ("out_of_range", b'{"id": 1, "narrow": 1e39}'),
    ("out_of_range", b'{"id": 1' + b"0" * 5000 + b"}"),
    ("too_precise", b'{"id": 1, "price": 10.999}'),
    ("too_precise", b'{"id": 1, "ratio": 9007199254740993}'),
    ("bad_date", b'{"id": 1, "day": "2026-02-30"}'),
    ("bad_date", b'{"id": 1, "day": "31.01.2026"}'),
    ("bad_date", b'{"id": 1, "day": "20260131"}'),
    ("bad_timestamp", b'{"id": 1, "at": "2026-01-31T25:00:00Z"}'),
    ("bad_timestamp", b'{"id": 1, "at": "2026-01-31T10:00:00.1234567Z"}'),
    ("bad_timestamp", b'{"id": 1, "at": "2026-01-31"}'),
    ("bad_timestamp", b'{"id": 1, "at": "soon"}'),
    ("bad_timestamp", b'{"id": 1, "local": "2026-01-31T10:00:00Z"}'),
    ("bad_timestamp", b'{"id": 1, "at": "2026-01-31T10:00:00+00:60"}'),
    ("bad_timestamp", b'{"id": 1, "at": "2026-01-31T10:00:00-01:99"}'),
    ("bad_timestamp", b'{"id": 1, "at": "2026-01-31T10:00:00+24:00"}'),
    ("bad_timestamp", b'{"id": 1, "at": "2026-01-31T24:00:00Z"}'),
    ("bad_timestamp", b'{"id": 1, "local": "2026-01-31T24:00:00"}'),
    ("bad_timestamp", b'{"id": 1, "at": "2026-01-31T10:60:00Z"}'),
    ("bad_timestamp", b'{"id": 1, "at": "2026-01-31T10:00:60Z"}'),
    ("bad_timestamp", b'{"id": 1, "at": "0001-01-01T00:00:00+00:01"}'),
    ("bad_timestamp", '{"id": 1, "at": "2026-01-31T1٠:00:00Z"}'.encode()),
    ("bad_date", '{"id": 1, "day": "2026-01-3١"}'.encode()),
    ("too_deep", b'{"id": 1, "x": ' + b"[" * 200_000 + b"]" * 200_000 + b"}"),
]


def test_every_bad_record_has_its_reason_and_no_good_one_is_lost():
    good = [json.dumps({"id": n}).encode() for n in range(len(BAD))]
    mixed = [one for pair in zip(good, (data for _, data in BAD), strict=True) for one in pair]
    found = parse(*mixed)
    assert [reason for _, reason, _ in found.dead] == [reason for reason, _ in BAD]
    assert [place for place, _, _ in found.dead] == list(range(1, 2 * len(BAD), 2))
    assert found.rows.column("id").to_pylist() == list(range(len(BAD))) == [n // 2 for n in found.good]
    assert all(message and len(message) <= 200 for _, _, message in found.dead)


def test_each_alone_has_the_same_reason():
    assert [parse(data).dead[0][1] for _, data in BAD] == [reason for reason, _ in BAD]
    assert all(len(parse(data).dead) == 1 and parse(data).rows.num_rows == 0 for _, data in BAD)


def test_a_good_record_comes_out_as_it_went_in():
    (row,) = parse(
        b'{"id": -9223372036854775808, "name": "\\u00fc\\ud83d\\ude00\\u0000", "n": 2147483647, "small": -128, '
        b'"price": 12345678.90, "ratio": 0.1, "narrow": 0.5, "ok": false, "day": "0001-01-01", '
        b'"at": "2026-01-31T12:00:00.000001+02:00", "local": "2026-01-31 10:00:00", "tags": [], '
        b'"place": {"x": 1}, "more": {"a": null, "b": 2}}'
    ).rows.to_pylist()
    assert row == {
        "id": -(2**63), "name": "ü😀\0", "n": 2**31 - 1, "small": -128, "price": Decimal("12345678.90"), "ratio": 0.1,
        "narrow": 0.5, "ok": False, "day": date(1, 1, 1), "at": datetime(2026, 1, 31, 10, 0, 0, 1, tzinfo=UTC),
        "local": datetime(2026, 1, 31, 10), "tags": [], "place": {"x": 1.0, "y": None}, "more": [("a", None), ("b", 2)],
    }  # fmt: skip
    (row,) = parse(b'{"id": 1, "price": 10.990, "at": "2026-01-31T10:00:00", "ratio": 3}').rows.to_pylist()
    assert (row["price"], row["at"], row["ratio"]) == (
        Decimal("10.99"),
        datetime(2026, 1, 31, 10, tzinfo=UTC),
        3.0,
    )
    assert {name for name, value in row.items() if value is None} == set(FIELDS) - {"id", "price", "at", "ratio"}


@pytest.mark.parametrize(
    ("number", "price"),
    [("0e5", 0), ("0e999", 0), ("1e3", 1000), ("1." + "0" * 40, 1), ("1.5E+0000000000001", 15)],
)
def test_a_decimal_is_its_value_however_it_is_written(number, price):
    assert parse(b'{"id": 1, "price": %s}' % number.encode()).rows.column("price").to_pylist() == [Decimal(price)]


def test_an_ignored_number_of_any_exponent_is_ignored():
    found = parse(b'{"id": 1, "new": 1e99999999999999999999}', b'{"id": 2, "new": [1e-99999999]}')
    assert (found.good, found.unknown, found.dead) == ([0, 1], 2, [])


def test_a_record_of_thirty_megabytes():
    (row,) = parse(json.dumps({"id": 1, "name": "x" * 30_000_000}).encode()).rows.to_pylist()
    assert len(row["name"]) == 30_000_000


def test_unknown_fields_are_counted_or_dead():
    data = [b'{"id": 1, "new": 5}', b'{"id": 2}', b'{"id": "x", "new": 5}']
    loose = parse(*data)
    assert (loose.unknown, loose.good, [d[1] for d in loose.dead]) == (1, [0, 1], ["wrong_type"])
    strict = parse(*data, strict=True)
    assert (strict.unknown, strict.good) == (0, [1])
    assert [d[1:] for d in strict.dead] == [("unknown_field", "field 'new' is not in the schema")] * 2


@pytest.mark.parametrize(
    ("offset", "moment"),
    [("+00:59", (2025, 12, 31, 23, 1)), ("-00:59", (2026, 1, 1, 0, 59)), ("+23:59", (2025, 12, 31, 0, 1))],
)
def test_an_offset_of_hours_and_minutes(offset, moment):
    found = parse(b'{"id": 1, "at": "2026-01-01T00:00:00%s"}' % offset.encode())
    assert found.rows.column("at").to_pylist() == [datetime(*moment, tzinfo=UTC)]


def test_a_text_that_is_no_time_of_day_is_not_proposed_as_a_time():
    for text in ("2026-01-31T10:00:00+00:60", "2026-01-31T24:00:00Z", "2026-01-31T10:00:6٠"):
        assert not types.TIMESTAMP.fullmatch(text)


@pytest.mark.parametrize(
    ("name", "other", "same"),
    [
        ("masse", "Masse", True), ("größe", "GRÖSSE", False), ("größe", "GRÖßE", True), ("masse", "maße", False),
        ("masse", "maſſe", False), ("file", "ﬁle", False), ("ς", "σ", False), ("kelvin", "\u212aelvin", True),
    ],
)  # fmt: skip
def test_a_name_in_another_case_is_one_that_spark_takes_for_the_same(name, other, same):
    """Spark and Iceberg compare names in lower case; what Python's casefold folds besides are other names."""
    kind = {"type": "struct", "fields": [{"name": name, "type": "long", "nullable": True, "metadata": {}}]}
    found = parsing.Parser(kind, False)([json.dumps({name: 1, other: 2}).encode()])
    assert [reason for _, reason, _ in found.dead] == (["key_case"] if same else [])
    assert found.unknown == (0 if same else 1)


SIMPLE = ("id", "name", "n", "ratio", "ok")
VALUE = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(codec="utf-8"), max_size=5), st.lists(st.integers(), max_size=2),
)  # fmt: skip


def right(name, value):
    """The oracle: whether a value is of a field's type, said once more and simply."""
    if value is None:
        return FIELDS[name][1]
    if name in ("id", "n"):
        return type(value) is int and abs(value + 0.5) < 2 ** (63 if name == "id" else 31)
    if name == "ratio":
        return type(value) is float or (type(value) is int and int(float(value)) == value)
    return type(value) is {"name": str, "ok": bool}[name]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.fixed_dictionaries({}, optional=dict.fromkeys(SIMPLE, VALUE)), min_size=1, max_size=12))
def test_a_record_is_good_exactly_when_each_of_its_values_is(records):
    found = parse(*[json.dumps(one).encode() for one in records], names=SIMPLE)
    expected = [n for n, one in enumerate(records) if all(right(name, one.get(name)) for name in SIMPLE)]
    assert found.good == expected
    assert found.rows.to_pylist() == [{name: records[n].get(name) for name in SIMPLE} for n in expected]
    assert [place for place, _, _ in found.dead] == [n for n in range(len(records)) if n not in expected]


def test_types_that_json_cannot_give_and_other_refusals():
    for kind in ("binary", "interval day to second", "variant"):
        with pytest.raises(ValueError, match="which a JSON record cannot give"):
            schemas.checked({"fields": [{"name": "a", "type": kind}]})
    with pytest.raises(ValueError, match="unknown must be one of ignore, dead, found"):
        Json("id BIGINT", unknown="drop")
