"""A kernel on this machine that takes a notebook as Glue's does: magics first, then a session that runs already.

Not Glue: the session is Spark of this machine, started from what the magics ask for and nothing else. As there,
cells are plain Python (no shell, no magics of IPython), they see the library as the wheel that the magics name and
no checkout, the working folder is another one, and variables of the caller's project are unset.
`studio.installed` lets Jupyter find it.
"""

import ast
import json
import os
import re
import sys
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from site import getsitepackages
from typing import Any

from ipykernel.ipkernel import IPythonKernel
from ipykernel.kernelapp import IPKernelApp

import workbench
from workbench._base import aws, jars, java, scratch
from workbench._base.errors import ArgumentError
from workbench._base.typing import SparkSession
from workbench.session import class_data_options, configuration, launch
from workbench_ops.export import asking, magics, versions, wheel

SITE = "WORKBENCH_GLUE_SITE"  # the folder where the wheel is unpacked
KEPT = ("WORKBENCH_RUN_ID", "WORKBENCH_RUN_DIR", scratch.VARIABLE)
RECORD = "magics.json"
FETCHED_BY = {
    "3.5": "workbench engines install spark35"
}  # Spark to the command that fetches the jars of its kernel
FORMATS = {"iceberg": ("iceberg", "aws", "aws-sso")}  # what --datalake-formats puts on the class path


class Kernel(IPythonKernel):
    """IPython's kernel, which sees the part of a cell that Glue's kernel passes on."""

    implementation = "glue_pyspark"
    banner = "a kernel like Glue's, on this machine"

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)  # type: ignore[no-untyped-call]
        self.asked: dict[str, str] = {}
        self.spark: SparkSession | None = None
        self.cells = 0

    async def do_execute(self, code: str, silent: bool, *args: Any, **kwargs: Any) -> Any:
        """Take the magics at the top of a cell; begin the session before the first code; run the rest."""
        try:
            code = code if silent else self._rest(code)
        except Exception as wrong:  # whatever a session cannot begin for is the error of the cell that needs it
            code = f"raise ValueError({str(wrong)!r})"
        return await super().do_execute(code, silent, *args, **kwargs)  # type: ignore[no-untyped-call]

    def _rest(self, code: str) -> str:
        """Return the Python of a cell without its magics; it raises SyntaxError where Glue's session would."""
        in_cell, source = magics.split(code)
        self.cells += 1
        taken = [magic for magic in in_cell if magic.at_top or magic.name in magics.AFTER_CODE]
        answers = [self._take(magic) for magic in taken]
        if source is None or len(taken) < len(in_cell):
            lines = magics.lines_of(code)
            for magic in taken:
                lines[magic.line - 1] = ""
            return f"compile({chr(10).join(lines)!r}, '<cell>', 'exec')"
        if not ast.parse(source).body:
            return "\n".join(f"print({line!r})" for line in answers)
        if self.spark is None:
            self.spark = begin(self.asked)
        return source

    def _take(self, magic: magics.Magic) -> str:
        """Note a magic and return the kernel's answer.

        Raises:
            ArgumentError: it is not one of Glue's, or its value is invalid.
        """
        late = self.spark is not None and magic.name in magics.SESSION
        _note(self.cells, magic, late)
        if magic.name not in (*magics.SESSION, *magics.ANY_TIME, *magics.AFTER_CODE):
            raise ArgumentError(f"{magic.name!r} is not a magic of the Glue kernel")
        if late:
            return f"{magic.name}: to no effect, the session runs already"
        if magic.name == "configure":
            self.asked |= configured(magic.value)
        elif magic.name in magics.SESSION:
            self.asked[magic.name] = checked(magic.name, magic.value)
        return f"{magic.name}: {'taken' if magic.whole_cell else magic.value}"


def checked(name: str, value: str) -> str:
    """Return the value of a magic that a session is started with.

    Raises:
        ArgumentError: it is invalid.
    """
    if name in asking.WHOLE and not (value.isdigit() and int(value) >= asking.WHOLE[name]):
        raise ArgumentError(f"%{name} must be an integer of at least {asking.WHOLE[name]}, found {value!r}")
    if name == "glue_version":
        versions.version(value)
    if name == "worker_type":
        versions.dpus(value)
    return value


def configured(text: str) -> dict[str, str]:
    """Return what %%configure asks for, name to text.

    Raises:
        ArgumentError: it is not a JSON object of texts.
    """
    try:
        arguments = json.loads(text)
    except ValueError as error:
        raise ArgumentError(f"%%configure must be a JSON object: {error}") from None
    if not isinstance(arguments, dict) or not all(isinstance(value, str) for value in arguments.values()):
        raise ArgumentError(f"%%configure must be a JSON object of texts, found {text}")
    return arguments


def begin(asked: Mapping[str, str]) -> SparkSession:
    """Start the session that magics ask for and return it.

    Args:
        asked: values of magics and arguments of %%configure, name to text.

    Returns:
        SparkSession: its settings are those of `--conf`, what this machine needs for itself, and a way to S3.

    Raises:
        ArgumentError: this kernel lacks what was asked for (version, packages, wheel), or nothing names Iceberg.
    """
    pair = java.pair()
    here = pair["spark"]
    glue = versions.version(asked.get("glue_version", versions.names()[0]))
    if not glue.spark.startswith(f"{here}."):
        raise ArgumentError(f"Glue {glue.name} has Spark {glue.spark}; this kernel's is {here}")
    _packages(asked.get("additional_python_modules", ""))
    names = tuple(jar for form in asked.get("--datalake-formats", "").split(",") for jar in FORMATS.get(form, ()))
    names = (*(pair["glue"].get(name, name) for name in names), *pair["s3"])
    jars.require(
        jars.named(*names), fetch_by=FETCHED_BY.get(here, "workbench doctor --fix --environment aws-glue")
    )
    options = launch.log_options() + class_data_options(names)
    conf = (
        configuration.machine(scratch.enter())
        | configuration.LOOPBACK
        | {
            "spark.master": "local[*]",
            "spark.driver.memory": configuration.driver_memory("auto"),
            "spark.driver.extraClassPath": os.pathsep.join(str(jars.path(name)) for name in names),
            "spark.driver.extraJavaOptions": launch.line(options),
        }
    )
    builder = launch.session_class().builder.appName("glue")
    for key, value in (s3() | settings_of(asked.get("--conf", "")) | conf).items():
        builder = builder.config(key, value)
    with launch.environment():
        return builder.getOrCreate()


def s3() -> dict[str, str]:
    """Return the settings of Spark's own file system for S3, S3A as in Glue; none where its jars are missing.

    It is given what AWS's newer tools read from variables: the address of S3, if it is not AWS's.
    """
    if not java.pair()["s3"]:
        return {}
    hadoop = {
        "fs.s3.impl": "org.apache.hadoop.fs.s3a.S3AFileSystem",
        "fs.s3a.aws.credentials.provider": "com.amazonaws.auth.DefaultAWSCredentialsProviderChain",
    }
    if endpoint := aws.s3_endpoint():
        hadoop |= {"fs.s3a.endpoint": endpoint, "fs.s3a.path.style.access": "true"}
    return {f"spark.hadoop.{name}": value for name, value in hadoop.items()}


def settings_of(text: str) -> dict[str, str]:
    """Return the settings of `--conf`, name to text: the first bare, each other one after another --conf.

    Raises:
        ArgumentError: one is not name=value.
    """
    settings = {}
    for pair in re.split(r"\s+--conf\s+", text.strip()) if text.strip() else ():
        name, equals, value = pair.partition("=")
        if not (name and equals):
            raise ArgumentError(f"--conf must be name=value, found {pair!r}")
        settings[name] = value
    return settings


def _packages(text: str) -> None:
    """Validate that what Glue would install is installed here, in that version."""
    for name, asked in magics.requirements((magics.Magic(1, "additional_python_modules", text, True),)).items():
        if asked.endswith(".whl"):
            if asked.rpartition("/")[2] != wheel.name():
                raise ArgumentError(f"Glue would install {asked}, here is {wheel.name()}")
            continue
        try:
            installed = metadata.version(name)
        except metadata.PackageNotFoundError:
            installed = "none"
        if installed == "none" or ("==" in asked and asked.partition("==")[2] != installed):
            raise ArgumentError(f"Glue would install {asked}, here is {installed}; the kernel installs nothing")


def _note(cell: int, magic: magics.Magic, late: bool) -> None:
    """Note a magic in the run's folder."""
    if folder := os.environ.get("WORKBENCH_RUN_DIR"):
        path = Path(folder) / RECORD
        notes = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else []
        notes.append({"cell": cell, "magic": magic.name, "value": magic.value, "to_effect": not late})
        path.write_text(json.dumps(notes, indent=1), encoding="utf-8")


def apart() -> None:
    """Leave the caller's project: its variables, its folder, its library.

    Raises:
        ArgumentError: the library is not the one of the wheel.
    """
    site = Path(os.environ[SITE]).resolve()
    if not Path(workbench.__file__).resolve().is_relative_to(site):
        raise ArgumentError(f"the library is {workbench.__file__}, and not the wheel in {site}")
    for name in [name for name in os.environ if name.startswith("WORKBENCH_") and name not in KEPT]:
        del os.environ[name]
    kept = (str(site), *getsitepackages())  # an engine has a link to us among its packages, behind the wheel
    ours = [
        entry for entry in sys.path if (Path(entry) / "workbench" / "__init__.py").is_file() and entry not in kept
    ]
    sys.path[:] = [entry for entry in sys.path if entry not in ours]
    elsewhere = site.parent / "elsewhere"
    elsewhere.mkdir(exist_ok=True)
    os.chdir(elsewhere)


if __name__ == "__main__":
    apart()
    IPKernelApp.launch_instance(kernel_class=Kernel)
