"""Where an exported notebook is tried on this machine: its kernel, under the name of Glue's, and the wheel."""

import json
import os
import sys
import tempfile
import zipfile
from contextlib import contextmanager
from pathlib import Path

from workbench._base import java
from workbench_ops.export import studio


@contextmanager
def installed(built, python=sys.executable):
    """Let Jupyter find the kernel under the name of Glue's, as long as the context is open.

    Args:
        built: path of the wheel; unpacked into a folder of its own, the only library that the kernel sees.
        python: interpreter of the kernel, with the Spark of the Glue version that is asked for.

    Raises:
        ValueError: there is no Java.
    """
    with tempfile.TemporaryDirectory(prefix="workbench-glue-") as folder:
        site = Path(folder) / "site"
        with zipfile.ZipFile(built) as packed:
            packed.extractall(site)
        name = studio.KERNEL["kernelspec"]["name"]
        spec = Path(folder) / "kernels" / name / "kernel.json"
        spec.parent.mkdir(parents=True)
        spec.write_text(json.dumps(_spec(site, python)), encoding="utf-8")
        before = os.environ.get("JUPYTER_PATH")
        os.environ["JUPYTER_PATH"] = os.pathsep.join(filter(None, (folder, before)))
        try:
            yield
        finally:
            os.environ.pop("JUPYTER_PATH")
            if before is not None:
                os.environ["JUPYTER_PATH"] = before


def _spec(site, python):
    alone = {"PYTHONPATH": str(site), "PYTHONSAFEPATH": "1", "WORKBENCH_GLUE_SITE": str(site)}
    alone["JAVA_HOME"] = str(java.find().parent.parent)  # by pip it is in our environment only
    return {
        "argv": [str(python), "-m", "workbench_ops.export.kernel", "-f", "{connection_file}"],
        "display_name": "like Glue PySpark, on this machine",
        "language": "python",
        "env": alone | {"MPLBACKEND": "agg"},  # the session draws, and nothing shows it
    }
