"""What a Glue session is started with: workers and their price, packages, the catalog of an environment."""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from workbench import costs
from workbench._base import java, settings
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench.session import configuration
from workbench_ops.export import asking, homes, magics, rules, versions, wheel
from workbench_ops.export import cells as code

IDLE_MINUTES = 10  # Glue's own default is 2880: two days are paid for when nobody ends the session
WORKER, WORKERS = "G.1X", 2
PLACE = "s3://YOUR-BUCKET/workbench"


@dataclass(frozen=True)
class Session:
    """How a session is started.

    Attributes:
        glue: the version.
        worker: type of the workers.
        workers: how many, the driver's included; at least two.
        packages: requirements to install: the wheel on S3, others with their version, and those of the notebook's
            own magics, which would come after the session has begun.
        conf: Spark's settings, name to text.
        variables: environment variables that the environment's file refers to, name to value.
        files: modules and zips on S3 that the notebook's own magics put on the path.
        lines: magics with one value beside version, workers and packages, name to value.
        formats: of tables.
        more: further arguments, name to text.
    """

    glue: versions.Glue
    worker: str
    workers: int
    packages: tuple[str, ...]
    conf: dict[str, str]
    variables: dict[str, str]
    files: tuple[str, ...] = ()
    lines: dict[str, str] = field(default_factory=lambda: {"idle_timeout": str(IDLE_MINUTES)})
    formats: tuple[str, ...] = ("iceberg",)
    more: dict[str, str] = field(default_factory=dict)

    def price(self) -> str:
        """Return what an hour costs, in words."""
        listed = costs.prices("compute")
        usd = costs.glue_usd(listed, dpus=self.workers * versions.dpus(self.worker), seconds=3600)
        rate = costs.listing.price(listed, "glue", "standard")
        seen = "" if rate.get("seen", "at its source") == "at its source" else ", not seen at its source"
        where = f"{listed.region}, list price of {rate.get('date', listed.date)}{seen}"
        size = f"{self.workers} workers {self.worker}"
        return f"{size} cost {listed.currency} {usd:.2f} an hour ({where}: {listed.sources['glue']})"

    def arguments(self) -> dict[str, str]:
        """Return the arguments of a session or a job that have no magic of their own, name to text."""
        pairs = [f"{name}={value}" for name, value in self.conf.items()]
        files = {"--extra-py-files": ",".join(self.files)} if self.files else {}
        formats = {asking.FORMATS: ",".join(self.formats)}
        return {**formats, **files, **self.more, asking.CONF: " --conf ".join(pairs)}

    def line_magics(self) -> str:
        """Return the text of the first cell: line magics, with the price above them."""
        idle, lines = self.lines["idle_timeout"], dict(self.lines)
        own = {
            "glue_version": self.glue.name,
            "idle_timeout": lines.pop("idle_timeout"),
            "worker_type": self.worker,
            "number_of_workers": str(self.workers),
            "additional_python_modules": ",".join(self.packages),
            **lines,
        }
        engines = f"Spark {self.glue.spark}, Iceberg {self.glue.iceberg}, Python {self.glue.python}"
        return "\n".join(
            (
                f"# Glue {self.glue.name}: {engines}",
                f"# {self.price()}",
                f"# until %stop_session, or {idle} minutes after the last cell",
                f"# Before you start: aws s3 cp {wheel.name()} {self.packages[0]}",
                *(f"%{name} {value}".rstrip() for name, value in own.items()),
            )
        )

    def configure_magic(self) -> str:
        """Return the text of the second cell, which a cell magic takes whole."""
        return "%%configure\n" + json.dumps(self.arguments(), indent=4, ensure_ascii=False)

    def begin(self) -> str:
        """Return the code that takes Glue's session, so that no other one is started."""
        lines = ["from pyspark.sql import SparkSession", ""]
        if self.variables:
            text = json.dumps(self.variables, ensure_ascii=False)[1:-1]  # Python reads no pairs of surrogates
            lines = ["import os", "", *lines, f"os.environ |= {{{text}}}  # the environment's file refers to them"]
        return "\n".join(
            [*lines, "spark = SparkSession.builder.getOrCreate()  # Glue's own; none is started beside it"]
        )


@checked
def session(
    notebook: code.NotebookNode,
    values: Mapping[str, Any],
    *,
    version: str = "6.0",
    environment: settings.Environment | None = None,
    place: str = PLACE,
    worker: str | None = None,
    workers: int | None = None,
) -> Session:
    """Return how a session for a notebook is started.

    Args:
        notebook: as it was read.
        values: the run's parameters, name to value.
        version: of Glue.
        environment: the run's own; None for a notebook without one.
        place: folder on S3 where the wheel will be.
        worker: type of the workers; that of the notebook's own magics by default, or G.1X.
        workers: how many; by default likewise, or 2.

    Returns:
        Session. Values of variables that are not set here are texts that begin with YOUR-.

    Raises:
        ArgumentError: no such version or worker type, the place is not on S3, or a variable holds a line break.
    """
    if not re.fullmatch(r"s3://\w[^\s,'\"]*", place):  # it is in a list that commas part
        raise ArgumentError(f"{place} is not a folder on S3; expected s3://bucket/folder")
    glue, cells = versions.version(version), code.read(notebook, values)
    lacking = [module for _, module, _ in rules.missing(cells, code.imported(cells), glue)]
    pins = sorted({pin for module in lacking if (pin := rules.pin(module)) and module not in glue.removed})
    taken = asking.asked(cells)
    lines = {"idle_timeout": str(IDLE_MINUTES)} | taken.lines
    worker, workers = (
        worker or lines.get("worker_type", WORKER),
        workers or int(lines.get("number_of_workers", WORKERS)),
    )
    versions.dpus(worker)
    ours = (f"{place.rstrip('/')}/{wheel.name()}", *pins)
    own, files = (_own(cells, taken, name) for name in magics.TAKEN_OVER)
    provided = magics.requirements([magics.Magic(1, "additional_python_modules", ",".join(ours), True)])
    packages = (*ours, *(text for name, text in own.items() if name not in provided))
    conf, variables = _catalog(environment, glue)
    return Session(
        glue, worker, workers, packages, conf | taken.conf, variables, tuple(files.values()),
        {name: value for name, value in lines.items() if name not in ("worker_type", "number_of_workers")},
        tuple(dict.fromkeys(("iceberg", *taken.formats))), taken.arguments,
    )  # fmt: skip


def defaults(glue: versions.Glue) -> dict[str, str]:
    """Return the magics with one value that every exported notebook begins with, name to value."""
    workers = {"worker_type": WORKER, "number_of_workers": str(WORKERS)}
    return {"glue_version": glue.name, "idle_timeout": str(IDLE_MINUTES), **workers}


def _own(cells: list[code.Cell], taken: asking.Asked, name: str) -> dict[str, str]:
    """Return the requirements of the notebook's magics of a name: what is installed to its text."""
    at_top = [magic for cell in cells for magic in cell.magics if magic.at_top]
    return magics.requirements([magic for magic in (*at_top, *taken.requirements) if magic.name == name])


def _catalog(env: settings.Environment | None, glue: versions.Glue) -> tuple[dict[str, str], dict[str, str]]:
    """Return Spark's settings for the catalog of an environment, and the variables that its file refers to.

    For an environment of this machine they are those of a Glue catalog of its name, at a place to be filled in.
    """
    variables: dict[str, str] = {}
    values = {"type": "glue", "warehouse": _asked("WAREHOUSE")}
    if env and not homes.local_only(env):
        variables, values = _remote(env)
    key = env.catalog.name if env else "lake"
    conf = {
        "spark.sql.extensions": configuration.EXTENSIONS,
        "spark.sql.defaultCatalog": key,
        f"spark.sql.catalog.{key}": "org.apache.iceberg.spark.SparkCatalog",
        **{f"spark.sql.catalog.{key}.{name}": value for name, value in values.items()},
        "spark.sql.session.timeZone": "UTC",
        # as in session.configuration: file counts do not depend on sizes
        "spark.sql.adaptive.coalescePartitions.enabled": "false",
    }
    # and what belongs to the pair: markers of parameters are bound, ANSI mode is on where it is not the default
    return conf | java.pairs().get(glue.spark.rpartition(".")[0], {}).get("conf", {}), variables


def _remote(env: settings.Environment) -> tuple[dict[str, str], dict[str, str]]:
    """Return the variables that an environment refers to, and its catalog's properties with their values."""
    values = {name: getattr(env.catalog, name, None) for name in ("type", "uri", "warehouse")}
    values |= env.catalog.properties
    variables: dict[str, str] = {}
    for name, reference in settings.catalog_references(env).items():
        values.pop(name)  # what may not be written down is left out; the check says so
        if homes.writable(name, reference):
            variable = reference.partition(":")[2]
            value = os.environ.get(variable) or _asked(variable)
            values[name] = variables[variable] = value
            if not value.isprintable():
                raise ArgumentError(f"{variable} holds a line break or another character that is not printed")
    return variables, {name: value for name, value in values.items() if value}


def _asked(name: str) -> str:
    """Return the placeholder of a value that is not known here."""
    shown = name.removeprefix("WORKBENCH_").replace("_", "-")
    return f"s3://YOUR-BUCKET/{shown.lower()}" if shown == "WAREHOUSE" else f"YOUR-{shown}"
