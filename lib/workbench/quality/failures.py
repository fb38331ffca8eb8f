"""What Spark raises while rules are bound and measured: said once, in our words, with the rule it is about."""

import re
import threading
from contextlib import contextmanager

from workbench.quality.frames import first_line

# the SQLSTATE classes of what an expression makes of a row: bad values, functions of the user's, raise_error
_OF_A_ROW = re.compile(r"\[[A-Z_.]+\].*? SQLSTATE: (?:22|38|39|P0)\w{3}")


@contextmanager
def quiet():
    """Keep PySpark's loggers, for the block and this thread, from printing errors as JSON on stderr.

    What Spark refuses inside the block becomes an error of ours that says the same; nobody needs it twice.
    """
    try:
        from pyspark.logger import PySparkLogger
    except ImportError:  # before PySpark 4 nothing was printed
        yield
        return
    thread = threading.get_ident()

    def of_others(record):
        return record.thread != thread

    loggers = [PySparkLogger.getLogger(f"{kind}QueryContextLogger") for kind in ("SQL", "DataFrame")]
    for logger in loggers:
        logger.addFilter(of_others)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(of_others)


def of_a_row(error):
    """Return what an expression raised on a row, in a line; None for errors of the cluster or the storage.

    It is read from the text: of a job with a shuffle PySpark leaves the error inside one that it does not know.
    """
    if type(error).__name__ == "PythonException":  # the user's own function
        return first_line(error)
    return found[0] if (found := _OF_A_ROW.search(str(error))) else None


def culprit(rules, raises):
    """Return the first rule that raises when it is alone, None when none does, in as many tries as halvings.

    Args:
        rules: those that raised together.
        raises: function of some of them: do they raise?
    """
    while len(rules) > 1:
        half = rules[: len(rules) // 2]
        rules = half if raises(half) else rules[len(half) :]
    return rules[0] if rules and raises(rules) else None
