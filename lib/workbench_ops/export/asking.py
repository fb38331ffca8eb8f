"""What a notebook's own magics ask a session for, before its first code begins one: an export takes it over."""

import ast
import json
import re
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from workbench_ops.export import cells as code
from workbench_ops.export import magics, versions

WHOLE = {"idle_timeout": 1, "timeout": 1, "number_of_workers": 2}  # least: minutes, minutes, the driver's included
CONF, FORMATS = "--conf", "--datalake-formats"
PACKAGES = {"--additional-python-modules": "additional_python_modules", "--extra-py-files": "extra_py_files"}


@dataclass(frozen=True)
class Asked:
    """What a session would have had, the last value of each kind.

    Attributes:
        lines: magics with one value, name to value, in the order in which they last came.
        arguments: of %%configure, name to text, without those that are kept apart here.
        conf: settings of Spark.
        formats: of tables, in order.
        requirements: magics that name packages and files, in order.
        taken: arguments of %%configure that are in one of these; the others are lost.
    """

    lines: dict[str, str] = field(default_factory=dict)
    arguments: dict[str, str] = field(default_factory=dict)
    conf: dict[str, str] = field(default_factory=dict)
    formats: list[str] = field(default_factory=list)
    requirements: list[magics.Magic] = field(default_factory=list)
    taken: set[str] = field(default_factory=set)


def asked(cells: list[code.Cell]) -> Asked:
    """Return what the magics ask for that the kernel takes before the session begins.

    The version is the export's own, which the wheel and the check are for. Values that the kernel would refuse are
    not taken, nor are magics of a whole cell but %%configure.
    """
    request = Asked()
    for cell in cells:
        for magic in cell.magics:
            if not magic.at_top:
                continue
            if magic.name == "configure":
                for name, value in (configured(magic.value) or {}).items():
                    _argument(request, name, value)
            elif not magic.whole_cell:
                _line(request, magic.name, magic.value.strip("'\""))
        if begins(cell):
            break
    return request


def begins(cell: code.Cell) -> bool:
    """Say whether a cell has code, for which the kernel begins the session."""
    return cell.nodes is None or len(cell.nodes) > 1


def configured(text: str) -> dict[str, Any] | None:
    """Return the arguments of a %%configure as the published kernel reads it; None where it is not a mapping."""
    try:
        return {str(name): value for name, value in ast.literal_eval(text).items()}
    except (ValueError, SyntaxError, AttributeError, MemoryError, RecursionError):
        return None


def _line(request: Asked, name: str, value: str) -> bool:
    """Take a magic with one value; return whether it was taken."""
    if name == "spark_conf":
        return _conf(request, value)
    if name not in magics.SESSION or name in (*magics.TAKEN_OVER, "glue_version") or not _good(name, value):
        return False
    if name in ("etl", "streaming"):  # one or the other
        request.lines.pop("etl" if name == "streaming" else "streaming", None)
    request.lines.pop(name, None)
    request.lines[name] = value
    return True


def _good(name: str, value: str) -> bool:
    """Say whether the kernel starts a session with a value."""
    if name in WHOLE:
        return value.isdecimal() and int(value) >= WHOLE[name]
    if name == "worker_type":
        with suppress(ValueError):
            return bool(versions.dpus(value))
        return False
    return value.isprintable()


def _argument(request: Asked, name: str, value: Any) -> None:
    """Take an argument of %%configure: a magic by its name, or an argument of the session."""
    text = value if isinstance(value, str) else json.dumps(value)
    if name in PACKAGES:
        request.requirements.append(magics.Magic(1, PACKAGES[name], text, True))
    elif name == CONF:
        if not _conf(request, text):
            return
    elif name == FORMATS:
        new = [form for form in map(str.strip, text.split(",")) if form and form not in request.formats]
        request.formats.extend(new)
    elif not name.startswith("--"):
        if not _line(request, name, text):
            return
    else:
        request.arguments[name] = text
    request.taken.add(name)


def _conf(request: Asked, text: str) -> bool:
    """Take settings as `a=1 --conf b=2`; return whether they have that form."""
    pairs = [pair.partition("=") for pair in re.split(r"\s+--conf\s+", text.strip())]
    if not all(name.strip() and equal for name, equal, _ in pairs):
        return False
    request.conf.update({name.strip(): value for name, _, value in pairs})
    return True
