"""Whole numbers of seven bits a byte, as Avro, Protobuf and Confluent's framing write them.

Source: avro.apache.org, Specification 1.12, Binary encoding; protobuf.dev, Encoding.
"""


def unsigned(data: bytes, place: int, most_bytes: int = 10) -> tuple[int, int]:
    """Return the number at a place, and the place behind it.

    Raises:
        IndexError: the bytes end before the number does.
        OverflowError: it has more bytes than it may.
    """
    number = 0
    for shift in range(0, 7 * most_bytes, 7):
        byte = data[place]
        place += 1
        number |= (byte & 0x7F) << shift
        if byte <= 0x7F:
            return number, place
    raise OverflowError(f"a number has more than {most_bytes} bytes")


def signed(number: int) -> int:
    """Return the number that was written in zigzag: 0, -1, 1, -2 as 0, 1, 2, 3."""
    return (number >> 1) ^ -(number & 1)
