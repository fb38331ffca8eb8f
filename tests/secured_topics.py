"""A broker with users, a topic and the rights of a test: what several of them begin with."""

from contextlib import contextmanager

from workbench_standins.kafka import secured

USERS = ("writer", "reader")
WRITES, READS = ("writer", "write", "topic", "sales"), ("reader", "read", "topic", "sales")


def of_group(user, group):
    """The right that a consumer with a group's name needs: it asks who coordinates it."""
    return user, "describe", "group", group


@contextmanager
def serving(*rights, partitions=1):
    """Serve a broker with the users writer and reader, the topic sales and rights: (user, operation, kind, name)."""
    with secured.serve(users=USERS) as served:
        served.owner().create_topic("sales", partitions=partitions)
        for user, operation, kind, name in rights:
            served.grant(user, operation, **{kind: name})
        yield served
