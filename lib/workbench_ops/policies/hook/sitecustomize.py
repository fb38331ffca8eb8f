"""What every Python process of a recorded run loads first: each call of botocore is noted, by the names in it.

Python imports a module of this name at its start. It stands alone, since a process of the run may lack our
library, and does nothing unless WORKBENCH_AWS_CALLS names a folder. aiobotocore's sessions are botocore's, too. A
note has the names of resources and never a value: neither contents nor credentials.
"""

import importlib.util
import json
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

NAMES = {
    "Bucket": "bucket", "Key": "key", "Prefix": "prefix", "CopySource": "source", "DatabaseName": "database",
    "StreamName": "stream", "StreamARN": "stream", "RoleArn": "arn", "CatalogId": "catalog",
}  # fmt: skip
BY_NAME = {"GetDatabase": "database", "DeleteDatabase": "database", "UpdateDatabase": "database"}
EXTRAS = {"Tagging": "tagging", "ACL": "acl", "VersionId": "version"}


def names(service: str, operation: str, given: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the names of resources in a call's parameters: (kind, text) pairs.

    Args:
        service: of botocore, such as `s3`.
        operation: such as `GetObject`.
        given: the parameters.
    """
    pairs = [(kind, given[key]) for key, kind in NAMES.items() if isinstance(given.get(key), str)]
    if isinstance(given.get("CopySource"), dict):
        version = given["CopySource"].get("VersionId")
        source = "{Bucket}/{Key}".format(**given["CopySource"])
        pairs.append(("source", f"{source}?versionId={version}" if version else source))
    if service == "glue" and operation in BY_NAME and isinstance(given.get("Name"), str):
        pairs.append((BY_NAME[operation], given["Name"]))
    if service == "glue" and isinstance(given.get("DatabaseInput"), dict):
        pairs.append(("database", str(given["DatabaseInput"].get("Name"))))
    if service == "ssm" and operation == "GetParameter":
        pairs.append(("parameter", str(given.get("Name"))))
    if service == "s3" and operation == "DeleteObjects":
        keys = [each["Key"] for each in given["Delete"]["Objects"]]
        pairs += [("key", key) for key in sorted({key.rpartition("/")[0]: key for key in keys}.values())]
    return pairs + [("extra", kind) for key, kind in EXTRAS.items() if service == "s3" and given.get(key)]


def _watch(session: Any, folder: str) -> None:
    """Let a class of sessions note the calls of its clients."""
    init = session.__init__

    def begin(self: Any, *arguments: Any, **named: Any) -> None:
        init(self, *arguments, **named)
        self.register("before-parameter-build", _read)
        self.register("before-call", lambda **event: _write(folder, **event))

    session.__init__ = begin


def _read(params: Any, model: Any, context: dict[str, Any] | None = None, **event: Any) -> None:
    if context is not None:
        with suppress(LookupError, TypeError, AttributeError):  # parameters that botocore is about to refuse
            context["workbench_names"] = names(model.service_model.service_name, model.name, params)


def _write(
    folder: str, model: Any, params: Mapping[str, Any], context: Mapping[str, Any] | None = None, **event: Any
) -> None:
    context = context or {}
    line = {
        "service": model.service_model.signing_name, "operation": model.name, "url": params.get("url", ""),
        "region": context.get("client_region") or "", "names": context.get("workbench_names", []),
    }  # fmt: skip
    line["url"] = line["url"].partition("?")[0]  # a query may be signed
    text = (json.dumps(line) + "\n").encode()
    notes = os.open(Path(folder) / "python.jsonl", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(notes, text)  # at once: other processes append, too
    finally:
        os.close(notes)


class _Finder(MetaPathFinder):
    """Stands before the other finders until botocore's session is imported."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name != "botocore.session":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec and spec.loader:
            loader: Any = spec.loader
            load = loader.exec_module

            def watched(module: ModuleType) -> None:
                load(module)
                _watch(module.Session, self.folder)

            loader.exec_module = watched
        return spec


def _next() -> None:
    """Load the module of this name that Python would have imported without this one, if there is one."""
    ours = Path(__file__).resolve().parent
    for entry in sys.path:
        other = Path(entry or ".") / "sitecustomize.py"
        if other.is_file() and other.resolve().parent != ours:
            spec: Any = importlib.util.spec_from_file_location("sitecustomize_of_this_python", other)
            spec.loader.exec_module(importlib.util.module_from_spec(spec))
            return


if __name__ == "sitecustomize" and os.environ.get("WORKBENCH_AWS_CALLS"):
    sys.meta_path.insert(0, _Finder(os.environ["WORKBENCH_AWS_CALLS"]))
    _next()
