"""`workbench local kafka`: the broker by hand."""

from functools import partial

from workbench_standins import by_hand, kafka


def serve(folder=None, *, port=9092, say=None):
    """Serve until SIGINT, SIGTERM or SIGHUP.

    Args:
        folder: where the data stay; None makes a throw-away one.
        port: TCP port on 127.0.0.1; 0 takes a free one.
        say: called with each line that tells what there is; None prints them.

    Raises:
        ValueError: an argument does not go, the port or the folder cannot be had, a jar is missing.
        ModuleNotFoundError: confluent-kafka is not installed.
    """
    say = say or partial(print, flush=True)
    with by_hand.interrupted() as ended, kafka.serve(folder, port=port) as broker:
        say(f"Kafka on {broker.bootstrap}; topics are made by whoever needs them, none by a record that names it")
        say(f"Ctrl-C ends it; {f'the data stay in {broker.folder}' if folder is not None else 'nothing stays'}")
        ended.wait()


def fetch(say=None):
    """Fetch the broker's jars into the user's cache.

    Raises:
        ValueError: one cannot be had.
    """
    from workbench_standins.kafka import node

    found = node.fetch()
    (say or print)(f"{len(found)} jars of the Kafka broker are there")
