"""Causes that the text of an error tells, whoever wrote it: Spark, Iceberg, Hadoop, a storage, Python.

Only the first cause that a text tells is taken: an executor that was lost because its memory was full is out of
memory. Patterns hold names of exceptions, error classes and codes, not sentences, where there are any.
"""

import re

PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = tuple((cause, re.compile(pattern)) for cause, pattern in (
    ("disk_full", r"No space left on device|\bENOSPC\b|Disk quota exceeded"),
    ("out_of_memory", r"\bOutOfMemoryError\b|\bMemoryError\b|UNABLE_TO_ACQUIRE_MEMORY|OOMKilled|[Ee]xit (?:code|status) (?:is )?(?:52|137)\b"
                      r"|code (?:52|137) \(|exceeding (?:physical )?memory limits|Container killed by YARN for exceeding"
                      r"|exceeds (?:spark\.)?(?:driver\.)?maxResultSize|COLLECTION_SIZE_LIMIT_EXCEEDED"),
    ("commit_conflicts", r"\bCommitFailedException\b|Found (?:new )?conflicting (?:files|deletes|delete files)"
                         r"|Cannot commit[^\n]{0,200}(?:changed|stale|conflict)|Found concurrently|\bCommitStateUnknown"),
    ("fetch_failure", r"^FetchFailed\b|\bFetchFailedException\b|\bMetadataFetchFailedException\b"),
    ("lost_executor", r"^ExecutorLostFailure\b|^ExecutorLost\b"),
    ("permission_denied", r"\bAccessControlException\b|\bAccessDenied(?:Exception)?\b|\bPermissionError\b|\bForbiddenException\b"
                          r"|Status Code: 40[13]\b|\bNotAuthorizedException\b|Permission denied|is not authorized to perform"),
    ("missing_class", r"\bClassNotFoundException\b|\bNoClassDefFoundError\b|DATA_SOURCE_NOT_FOUND|\bModuleNotFoundError\b"
                      r"|Cannot load class|CLASS_NOT_FOUND"),
    ("schema_change", r"UNRESOLVED_COLUMN|INCOMPATIBLE_DATA_FOR_TABLE|INSERT_COLUMN_ARITY_MISMATCH|Cannot find field"
                      r"|UNRESOLVED_USING_COLUMN_FOR_JOIN|MISSING_COLUMN|FIELD_NOT_FOUND|COLUMN_NOT_FOUND"),
))  # fmt: skip


def cause(text: str) -> str | None:
    """Return the cause that an error's text tells; None where it tells none."""
    return next((name for name, pattern in PATTERNS if pattern.search(text)), None)


def line(text: str, name: str) -> str:
    """Return the line of a text that tells a cause, cut to a length that can be read."""
    pattern = next(pattern for known, pattern in PATTERNS if known == name)
    match = pattern.search(text)
    start = text.rfind("\n", 0, match.start()) + 1 if match else 0
    end = text.find("\n", start)
    return text[start : end if end >= 0 else len(text)].strip()[:300]
