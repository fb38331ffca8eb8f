"""What the tests of aggregates share: one written by hand, from the format's page.

Not a conftest: a second module of that name would be found where others import from the first.
"""

import hashlib

MAGIC = bytes.fromhex("F3899AC2")


def varint(number):
    """A number of seven bits a byte."""
    found = b""
    while number > 0x7F:
        found, number = found + bytes([number & 0x7F | 0x80]), number >> 7
    return found + bytes([number])


def field(number, value):
    """A field of a Protobuf message: a number, or bytes with their length."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def record(data, key_at=0, hash_key_at=None):
    """A record in the message of an aggregate."""
    hash_key = b"" if hash_key_at is None else field(2, hash_key_at)
    return field(3, field(1, key_at) + hash_key + field(3, data))


def message(*records, keys=("key",), hash_keys=()):
    """The message of an aggregate: its tables, then its records, which are bytes or made by `record`'s arguments."""
    made = [record(*one) if isinstance(one, tuple) else record(one) for one in records]
    tables = [field(1, one.encode()) for one in keys] + [field(2, one.encode()) for one in hash_keys]
    return b"".join(tables + made)


def sealed(body):
    """A message between the four bytes and its digest."""
    return MAGIC + body + hashlib.md5(body).digest()


def aggregate(*records, **tables):
    return sealed(message(*records, **tables))
