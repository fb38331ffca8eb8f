"""What is raised where a table could not equal its source."""

from workbench._base.errors import WorkbenchError


class AnswerRefused(WorkbenchError, ValueError):
    """What a source answered cannot become rows of the table; the table stays as it was."""


class PullRefused(WorkbenchError, RuntimeError):
    """Rows were not published; the table stays as it was."""
