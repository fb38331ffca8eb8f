"""Which Glue databases a run used, where the log of Spark's calls has the operations without their content.

A signed request has the digest of its content. That of `GetDatabase` is `{"Name":"sales"}`, so a name that stands
in the notebook or in a path of its files is proved by computing the digest again.
"""

import hashlib
import json
import re

WORD = re.compile(r"\w[\w-]*")
QUOTED = re.compile(r"`([^`]+)`")  # as SQL has a name with other characters
PROVED = {"GetDatabase", "DeleteDatabase", "GetTables"}  # the name is all that they say
ALONE = PROVED - {"GetTables"}  # from the second page on it says more
FOLDER = re.compile(r"(?:^|/)([^/]+)\.db/")


def words(*texts):
    """Return the words of texts that may be names of databases, in lower case, too: Glue's catalog keeps that."""
    found = {word for text in texts for kind in (WORD, QUOTED) for word in kind.findall(text)}
    return found | {word.lower() for word in found}


def used(calls, candidates=()):
    """Return the databases that Glue was asked for, and how many requests name one that nobody knows.

    Args:
        calls: set of calls.Call.
        candidates: words that may be names.

    Returns:
        (sorted list of names, number of requests of Spark whose database is none of the candidates).
    """
    glue = [call for call in calls if call.service == "glue"]
    told = {name for call in glue for name in call.all("database")}
    files = {
        name for call in calls if call.service == "s3" for key in call.all("key") for name in FOLDER.findall(key)
    }
    digests = {call.digest: call.operation for call in glue if call.digest and call.operation in PROVED}
    known = {
        _digest({key: name}): name for key in ("Name", "DatabaseName") for name in {*candidates, *files, *told}
    }
    proved = {known[digest] for digest in digests if digest in known}
    inferred = files if any(call.by == "spark" for call in glue) else set()
    unknown = [digest for digest, operation in digests.items() if operation in ALONE and digest not in known]
    return sorted(told | proved | inferred), len(unknown)


def _digest(content):
    return hashlib.sha256(json.dumps(content, separators=(",", ":"), ensure_ascii=False).encode()).hexdigest()
