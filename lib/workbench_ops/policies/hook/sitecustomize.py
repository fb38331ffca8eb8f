"""What every Python process of a recorded run loads first: each call of botocore is noted, by the names in it.

Python imports a module of this name at its start. It stands alone, since a process of the run may lack our
library, and does nothing unless WORKBENCH_AWS_CALLS names a folder. aiobotocore's sessions are botocore's, too. A
note has the names of resources and never a value: neither contents nor credentials.
"""

import importlib.util
import json
import os
import sys
from contextlib import suppress
from pathlib import Path

NAMES = {
    "Bucket": "bucket", "Key": "key", "Prefix": "prefix", "CopySource": "source", "DatabaseName": "database",
    "StreamName": "stream", "StreamARN": "stream", "RoleArn": "arn", "CatalogId": "catalog",
}  # fmt: skip
BY_NAME = {"GetDatabase": "database", "DeleteDatabase": "database", "UpdateDatabase": "database"}
EXTRAS = {"Tagging": "tagging", "ACL": "acl", "VersionId": "version"}


def names(service, operation, given):
    """Return the names of resources in a call's parameters: (kind, text) pairs.

    Args:
        service: of botocore, such as `s3`.
        operation: such as `GetObject`.
        given: the parameters.
    """
    found = [(kind, given[key]) for key, kind in NAMES.items() if isinstance(given.get(key), str)]
    if isinstance(given.get("CopySource"), dict):
        version = given["CopySource"].get("VersionId")
        source = "{Bucket}/{Key}".format(**given["CopySource"])
        found.append(("source", f"{source}?versionId={version}" if version else source))
    if service == "glue" and operation in BY_NAME and isinstance(given.get("Name"), str):
        found.append((BY_NAME[operation], given["Name"]))
    if service == "glue" and isinstance(given.get("DatabaseInput"), dict):
        found.append(("database", str(given["DatabaseInput"].get("Name"))))
    if service == "ssm" and operation == "GetParameter":
        found.append(("parameter", str(given.get("Name"))))
    if service == "s3" and operation == "DeleteObjects":
        listed = [one["Key"] for one in given["Delete"]["Objects"]]
        found += [("key", key) for key in sorted({key.rpartition("/")[0]: key for key in listed}.values())]
    return found + [("extra", kind) for key, kind in EXTRAS.items() if service == "s3" and given.get(key)]


def _watch(session, folder):
    """Let a class of sessions note the calls of its clients."""
    begun = session.__init__

    def begin(self, *arguments, **named):
        begun(self, *arguments, **named)
        self.register("before-parameter-build", _read)
        self.register("before-call", lambda **event: _write(folder, **event))

    session.__init__ = begin


def _read(params, model, context=None, **event):
    if context is not None:
        with suppress(LookupError, TypeError, AttributeError):  # parameters that botocore is about to refuse
            context["workbench_names"] = names(model.service_model.service_name, model.name, params)


def _write(folder, model, params, context=None, **event):
    context = context or {}
    line = {
        "service": model.service_model.signing_name, "operation": model.name, "url": params.get("url", ""),
        "region": context.get("client_region") or "", "names": context.get("workbench_names", []),
    }  # fmt: skip
    line["url"] = line["url"].partition("?")[0]  # a query may be signed
    text = (json.dumps(line) + "\n").encode()
    to = os.open(Path(folder) / "python.jsonl", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(to, text)
    finally:
        os.close(to)


class _Finder:
    """Stands before the other finders until botocore's session is imported."""

    def __init__(self, folder):
        self.folder = folder

    def find_spec(self, name, path=None, target=None):
        if name != "botocore.session":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec and spec.loader:
            load = spec.loader.exec_module

            def watched(module):
                load(module)
                _watch(module.Session, self.folder)

            spec.loader.exec_module = watched
        return spec


def _next():
    """Load the module that this one stands before, where the Python has one."""
    ours = Path(__file__).resolve().parent
    for entry in sys.path:
        other = Path(entry or ".") / "sitecustomize.py"
        if other.is_file() and other.resolve().parent != ours:
            spec = importlib.util.spec_from_file_location("sitecustomize_of_this_python", other)
            spec.loader.exec_module(importlib.util.module_from_spec(spec))
            return


if __name__ == "sitecustomize" and os.environ.get("WORKBENCH_AWS_CALLS"):
    sys.meta_path.insert(0, _Finder(os.environ["WORKBENCH_AWS_CALLS"]))
    _next()
