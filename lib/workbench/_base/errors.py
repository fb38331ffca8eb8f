"""What the workbench raises on purpose: a sentence for the user, which the command shows without a traceback."""


class WorkbenchError(Exception):
    """An error that was foreseen: the message says what was wrong, what was expected and what is there."""


class ArgumentError(WorkbenchError, ValueError):
    """An argument is wrong; nothing was done."""


class MissingPackageError(WorkbenchError, ModuleNotFoundError):
    """A package that is not among the needed ones is not installed."""


class ProcessError(WorkbenchError, ChildProcessError):
    """A process that was started ended otherwise than it should."""
