"""Causes that the text of an error tells, whoever wrote it: Spark, Iceberg, Hadoop, a storage, Python.

Only the first cause that a text tells is taken: an executor that was lost because its memory was full is out of
memory. Patterns hold names of exceptions, error classes and codes, not sentences, where there are any.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType

_WORDS = {
    "disk_full": (r"No space left on device", r"\bENOSPC\b", r"Disk quota exceeded"),
    "out_of_memory": (
        r"\bOutOfMemoryError\b",
        r"\bMemoryError\b",
        r"UNABLE_TO_ACQUIRE_MEMORY",
        r"OOMKilled",
        r"\bcode 52\b",  # SparkExitCode.OOM; 137 is any SIGKILL
        r"exceeding (?:physical )?memory limits",
        r"is bigger than spark\.driver\.maxResultSize",
        r"COLLECTION_SIZE_LIMIT_EXCEEDED",
        r"_LEGACY_ERROR_TEMP_2250",  # a table that is too large to be broadcast
    ),
    "commit_conflicts": (
        r"\bCommitFailedException\b",
        r"\bCommitStateUnknownException\b",
        r"Found (?:new )?conflicting (?:files|deletes|delete files)",
        r"Found concurrently",
    ),
    "fetch_failure": (r"^FetchFailed\b", r"\bFetchFailedException\b", r"\bMetadataFetchFailedException\b"),
    "lost_executor": (r"^ExecutorLostFailure\b",),
    "permission_denied": (
        r"\bAccessControlException\b",
        r"\bAccessDenied(?:Exception)?\b",
        r"\bPermissionError\b",
        r"\bForbiddenException\b",
        r"\bNotAuthorizedException\b",
        r"Status Code: 40[13]\b",
        r"Permission denied",
        r"is not authorized to perform",
    ),
    "missing_class": (
        r"\bClassNotFoundException\b",
        r"\bNoClassDefFoundError\b",
        r"\bModuleNotFoundError\b",
        r"DATA_SOURCE_NOT_FOUND",
        r"Unsupported format in USING",  # Iceberg's catalog, of a data source that it does not know
    ),
    "schema_change": (
        r"UNRESOLVED_COLUMN",
        r"UNRESOLVED_USING_COLUMN_FOR_JOIN",
        r"INCOMPATIBLE_DATA_FOR_TABLE",
        r"INSERT_COLUMN_ARITY_MISMATCH",
        r"FIELD_NOT_FOUND",
        r"COLUMN_NOT_FOUND",
        r"Cannot find field",
    ),
}
PATTERNS: Mapping[str, re.Pattern[str]] = MappingProxyType(
    {cause: re.compile("|".join(words)) for cause, words in _WORDS.items()}
)


# What Spark quotes behind an error or within it: the plan, the statement, a value. They are the user's own words.
_QUOTED = re.compile(
    r"(?<=SQLSTATE: \w{5})(?:; line \d+ pos \d+)?;\n.*?(?=\n\n|\n\tat |\Z)"
    r"|== SQL[^\n]*==\n.*?\n[ -]*\^+"
    r"|(?<=\[CAST_INVALID_INPUT\] The value ').*?(?=' of the type)",
    re.DOTALL,
)


def cause(text: str) -> str | None:
    """Return the cause that an error's text tells; None where it tells none."""
    own = _QUOTED.sub("", text)
    return next((name for name, pattern in PATTERNS.items() if pattern.search(own)), None)


def line(text: str, name: str) -> str:
    """Return the line of a text that tells a cause, cut to a length that can be read."""
    text = _QUOTED.sub("", text)
    match = PATTERNS[name].search(text)
    start = text.rfind("\n", 0, match.start()) + 1 if match else 0
    end = text.find("\n", start)
    return text[start : end if end >= 0 else len(text)].strip()[:300]
