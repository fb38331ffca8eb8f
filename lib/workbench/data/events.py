"""Flights as JSON events for a stream, with planted bad, late, duplicate and swapped ones, and the truth of it."""

import json
import random
from dataclasses import dataclass
from typing import Annotated, Any

from workbench._base.bounds import Ge, Le
from workbench._base.door import checked
from workbench.data import nyc

SCHEMA = (
    "flight_id BIGINT NOT NULL, carrier STRING NOT NULL, flight INT NOT NULL, tailnum STRING, "
    "origin STRING NOT NULL, dest STRING NOT NULL, scheduled TIMESTAMP NOT NULL, dep_delay INT, arr_delay INT, "
    "air_time INT, distance INT NOT NULL"
)
COLUMNS = [part.split()[0] for part in SCHEMA.split(", ")]
NUMBERS = ("flight", "dep_delay", "arr_delay", "air_time", "distance")
Flight = dict[str, Any]  # column of SCHEMA to value
Count = Annotated[int, Ge(1), Le(336_776)]  # of the flights in the file
Share = Annotated[float, Ge(0), Le(1)]


@dataclass(frozen=True)
class Events:
    """Records in the order in which they are to be sent, and what is in them.

    Attributes:
        records: (partition key, bytes); the key is the carrier.
        unique: flight ids of the events that are right, once each.
        bad: (reason, bytes) of each planted bad record, in the order of sending; the reason is the parser's.
        duplicates: how many good records are sent a second time.
        late: flight ids that are sent long after their neighbours.
        out_of_order: flight ids that changed places with the one before.
    """

    records: list[tuple[str, bytes]]
    unique: list[int]
    bad: list[tuple[str, bytes]]
    duplicates: int
    late: list[int]
    out_of_order: list[int]


@checked
def rows(count: Count) -> list[Flight]:
    """Read the first flights of 2013 as dictionaries with the columns of SCHEMA, by pandas and without Spark.

    Args:
        count: how many, 1 to 336,776.

    Raises:
        ValueError: there are fewer.
    """
    import pandas as pd

    columns = [*NUMBERS, "carrier", "tailnum", "origin", "dest", "time_hour", "minute"]
    table = pd.read_csv(nyc.csv("flights"), usecols=columns, nrows=count, dtype=str, keep_default_na=False)
    flights = []
    for number, row in enumerate(table.to_dict("records")):
        numbers = {name: None if row[name] == "NA" else int(row[name]) for name in NUMBERS}
        hour = row["time_hour"].replace(" ", "T").removesuffix("Z")
        flight = {
            "flight_id": number,
            "carrier": row["carrier"],
            "tailnum": None if row["tailnum"] == "NA" else row["tailnum"],
            "origin": row["origin"],
            "dest": row["dest"],
            "scheduled": f"{hour[:14]}{int(row['minute']):02}:00Z",
        } | numbers
        flights.append({name: flight[name] for name in COLUMNS})
    return flights


@checked
def flights(
    *,
    records: Count = 20_000,
    seed: int = 1,
    bad_share: Share = 0.01,
    duplicate_share: Share = 0.01,
    late_share: Share = 0.01,
    swapped_share: Share = 0.01,
) -> Events:
    """Make the events of the first flights of 2013, with planted faults; the same arguments give the same events.

    Args:
        records: flights; bad records and duplicates come on top.
        seed: any integer.
        bad_share: bad records, as a share of the flights.
        duplicate_share: share of the flights that are sent twice.
        late_share: share of the flights that are sent at least a tenth of all records late, 0.7 at most.
        swapped_share: share of the flights that change places with the one before.

    Returns:
        Events.

    Raises:
        ValueError: a share is not from 0 to 1, or records is not a number of flights.
    """
    shares = {"bad": bad_share, "duplicate": duplicate_share, "late": late_share, "swapped": swapped_share}
    all_rows, chance = rows(records), random.Random(seed)
    counts = {name: round(share * records) for name, share in shares.items()}
    # place in the order of sending, and the flight, or the reason and bytes of a bad record
    sending: list[tuple[float, Flight, tuple[str, bytes] | None]]
    sending = [(float(number), row, None) for number, row in enumerate(all_rows)]
    early = range(round(records * 0.7))  # those behind have too few left behind them to be late
    late = sorted(chance.sample(early, min(counts["late"], len(early))))
    for number in late:
        sending[number] = (number + chance.uniform(0.1, 0.3) * records, all_rows[number], None)
    # only such as stand beside each other when they are sent
    pairs = [n for n in range(1, records, 2) if {n, n - 1}.isdisjoint(late)]
    swapped = sorted(chance.sample(pairs, min(counts["swapped"], len(pairs))))
    for number in swapped:
        sending[number], sending[number - 1] = (
            (number - 1.0, all_rows[number], None),
            (float(number), all_rows[number - 1], None),
        )
    others = sorted(set(range(records)) - set(late))
    twice = chance.sample(others, min(counts["duplicate"], len(others)))
    for number in twice:
        sending.append((number + chance.uniform(0.5, records * 0.1), all_rows[number], None))
    for number in range(counts["bad"]):
        reason, data = spoiled(all_rows[chance.randrange(records)], number)
        sending.append((chance.uniform(0, records), {}, (reason, data)))
    sending.sort(key=lambda item: item[0])
    plain = [("bad", bad[1]) if bad else (row["carrier"], text(row)) for _, row, bad in sending]
    return Events(
        records=plain,
        unique=list(range(records)),
        bad=[bad for _, _, bad in sending if bad],
        duplicates=len(twice),
        late=late,
        out_of_order=swapped,
    )


def text(row: Flight) -> bytes:
    """Return an event's bytes."""
    return json.dumps(row, separators=(",", ":")).encode()


@checked
def spoiled(row: Flight, number: int) -> tuple[str, bytes]:
    """Return (the parser's reason, bytes) of a bad record made from a row; the kinds take turns.

    Args:
        row: dictionary with the columns of SCHEMA.
        number: of the bad record, from 0.
    """
    plain = text(row)
    kinds = [
        ("not_json", plain[: len(plain) // 2]),
        ("empty", b""),
        ("duplicate_key", plain[:-1] + b',"flight_id":-1}'),
        ("more_than_one", plain + plain),
        ("null_in_required", text(row | {"carrier": None})),
        ("missing_field", text({name: value for name, value in row.items() if name != "origin"})),
        ("wrong_type", text(row | {"flight": str(row["flight"])})),
        ("out_of_range", text(row | {"distance": 2**31})),
        ("bad_timestamp", text(row | {"scheduled": "2013-02-30T10:00:00Z"})),
        ("key_case", text({name.upper() if name == "dest" else name: value for name, value in row.items()})),
        ("not_an_object", b"[" + plain + b"]"),
        ("not_utf8", plain.replace(b'"', b"\xff", 1)),
    ]
    return kinds[number % len(kinds)]
