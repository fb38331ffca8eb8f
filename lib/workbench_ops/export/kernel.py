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
from importlib import metadata
from pathlib import Path
from site import getsitepackages

from ipykernel.ipkernel import IPythonKernel
from ipykernel.kernelapp import IPKernelApp

import workbench
from workbench._base import jars, java, scratch
from workbench._base.errors import ArgumentError
from workbench.session import class_data_options, configuration, launch
from workbench_ops.export import asking, magics, versions, wheel

SITE = "WORKBENCH_GLUE_SITE"  # the folder where the wheel is unpacked
KEPT = ("WORKBENCH_RUN_ID", "WORKBENCH_RUN_DIR", scratch.VARIABLE)
RECORD = "magics.json"
FETCHED_BY = {"3.5": "workbench engines install spark35"}  # Spark to what fetches the jars of its kernel
FORMATS = {"iceberg": ("iceberg", "aws", "aws-sso")}  # what --datalake-formats puts on the class path


class Kernel(IPythonKernel):
    """IPython's kernel, which sees of a cell what Glue's kernel leaves of it."""

    implementation = "glue_pyspark"
    banner = "a kernel like Glue's, on this machine"

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.asked, self.spark, self.cells = {}, None, 0

    async def do_execute(self, code, silent, *args, **kwargs):
        """Take the magics at the top of a cell; begin the session before the first code; run the rest."""
        try:
            code = code if silent else self._left(code)
        except Exception as wrong:  # whatever a session cannot begin for is the error of the cell that needs it
            code = f"raise ValueError({str(wrong)!r})"
        return await super().do_execute(code, silent, *args, **kwargs)

    def _left(self, code):
        """Return the Python that a cell comes to; it raises SyntaxError where Glue's session would."""
        found, source = magics.split(code)
        self.cells += 1
        taken = [one for one in found if one.at_top or one.name in magics.AFTER_CODE]
        told = [self._take(one) for one in taken]
        if source is None or len(taken) < len(found):
            lines = magics.lines_of(code)
            for one in taken:
                lines[one.line - 1] = ""
            return f"compile({chr(10).join(lines)!r}, '<cell>', 'exec')"
        if not ast.parse(source).body:
            return "\n".join(f"print({line!r})" for line in told)
        if self.spark is None:
            self.spark = begin(self.asked)
        return source

    def _take(self, magic):
        """Note a magic and return what is said of it.

        Raises:
            ValueError: it is none of Glue's, or its value is none.
        """
        late = self.spark is not None and magic.name in magics.SESSION
        _note(self.cells, magic, late)
        if magic.name not in (*magics.SESSION, *magics.ANY_TIME, *magics.AFTER_CODE):
            raise ArgumentError(f"{magic.name!r} is no magic of the Glue kernel")
        if late:
            return f"{magic.name}: to no effect, the session runs already"
        if magic.name == "configure":
            self.asked |= configured(magic.value)
        elif magic.name in magics.SESSION:
            self.asked[magic.name] = checked(magic.name, magic.value)
        return f"{magic.name}: {'taken' if magic.whole_cell else magic.value}"


def checked(name, value):
    """Return the value of a magic that a session is started with.

    Raises:
        ValueError: it is no value of that magic.
    """
    if name in asking.WHOLE and not (value.isdigit() and int(value) >= asking.WHOLE[name]):
        raise ArgumentError(f"%{name} takes a whole number from {asking.WHOLE[name]} on; found {value!r}")
    if name == "glue_version":
        versions.version(value)
    if name == "worker_type":
        versions.dpus(value)
    return value


def configured(text):
    """Return what %%configure asks for, name to text.

    Raises:
        ValueError: it is no JSON object of texts.
    """
    try:
        found = json.loads(text)
    except ValueError as error:
        raise ArgumentError(f"%%configure takes a JSON object: {error}") from None
    if not isinstance(found, dict) or not all(isinstance(value, str) for value in found.values()):
        raise ArgumentError(f"%%configure takes a JSON object of texts; found {text}")
    return found


def begin(asked):
    """Start the session that magics ask for and return it.

    Args:
        asked: what the magics said: name to text.

    Returns:
        SparkSession: its settings are those of `--conf`, what this machine needs for itself, and a way to S3.

    Raises:
        ValueError: this kernel has not what was asked for: version, packages, wheel; or nothing names Iceberg.
    """
    pair = java.pair()
    here = pair["spark"]
    if not (named := versions.version(asked.get("glue_version", versions.names()[0]))).spark.startswith(
        here + "."
    ):
        raise ArgumentError(f"Glue {named.name} has Spark {named.spark}; this kernel's is {here}")
    _packages(asked.get("additional_python_modules", ""))
    names = tuple(jar for one in asked.get("--datalake-formats", "").split(",") for jar in FORMATS.get(one, ()))
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


def s3():
    """Return the settings of Spark's own file system for S3, S3A as in Glue; none where its jars are not.

    What AWS's newer tools read from variables it is told: where S3 is, when it is not AWS.
    """
    if not java.pair()["s3"]:
        return {}
    found = {
        "fs.s3.impl": "org.apache.hadoop.fs.s3a.S3AFileSystem",
        "fs.s3a.aws.credentials.provider": "com.amazonaws.auth.DefaultAWSCredentialsProviderChain",
    }
    if endpoint := os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL"):
        found |= {"fs.s3a.endpoint": endpoint, "fs.s3a.path.style.access": "true"}
    return {f"spark.hadoop.{name}": value for name, value in found.items()}


def settings_of(text):
    """Return the settings of `--conf`, name to text: the first bare, each other one behind another --conf.

    Raises:
        ValueError: one is not name=value.
    """
    found = {}
    for one in re.split(r"\s+--conf\s+", text.strip()) if text.strip() else ():
        name, equals, value = one.partition("=")
        if not (name and equals):
            raise ArgumentError(f"--conf takes name=value; found {one!r}")
        found[name] = value
    return found


def _packages(text):
    """Refuse what Glue would install and is not here in that version."""
    for name, asked in magics.requirements((magics.Magic(1, "additional_python_modules", text, True),)).items():
        if asked.endswith(".whl"):
            if asked.rpartition("/")[2] != wheel.name():
                raise ArgumentError(f"Glue would install {asked}, here is {wheel.name()}")
            continue
        try:
            found = metadata.version(name)
        except metadata.PackageNotFoundError:
            found = "none"
        if found == "none" or ("==" in asked and asked.partition("==")[2] != found):
            raise ArgumentError(f"Glue would install {asked}, here is {found}; the kernel installs nothing")


def _note(cell, magic, late):
    """Write a magic down beside what the run leaves behind."""
    if folder := os.environ.get("WORKBENCH_RUN_DIR"):
        path = Path(folder) / RECORD
        kept = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else []
        kept.append({"cell": cell, "magic": magic.name, "value": magic.value, "to_effect": not late})
        path.write_text(json.dumps(kept, indent=1), encoding="utf-8")


def apart():
    """Leave the caller's project: its variables, its folder, its library.

    Raises:
        ValueError: the library is not the one of the wheel.
    """
    site = Path(os.environ[SITE]).resolve()
    if not Path(workbench.__file__).resolve().is_relative_to(site):
        raise ArgumentError(f"the library is {workbench.__file__}, and not the wheel in {site}")
    for name in [name for name in os.environ if name.startswith("WORKBENCH_") and name not in KEPT]:
        del os.environ[name]
    kept = (str(site), *getsitepackages())  # an engine has a link to us among its packages, behind the wheel
    ours = [one for one in sys.path if (Path(one) / "workbench" / "__init__.py").is_file() and one not in kept]
    sys.path[:] = [one for one in sys.path if one not in ours]
    elsewhere = site.parent / "elsewhere"
    elsewhere.mkdir(exist_ok=True)
    os.chdir(elsewhere)


if __name__ == "__main__":
    apart()
    IPKernelApp.launch_instance(kernel_class=Kernel)
