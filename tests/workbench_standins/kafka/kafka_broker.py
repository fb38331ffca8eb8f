"""What the tests of the broker share: one broker a worker.

Not a conftest: a second module of that name would be found where others import from the first.
"""

import contextlib
import functools

from workbench_standins import kafka
from workbench_standins.kafka import node


@functools.cache
def serving(config):
    """The worker's broker, which ends with it."""
    node.fetch()
    stack = contextlib.ExitStack()
    config.add_cleanup(stack.close)
    return stack.enter_context(kafka.serve())
