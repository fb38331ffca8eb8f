"""The library as a wheel: Glue has no checkout, so it is installed when a session starts."""

import subprocess
import sys
from importlib import util
from pathlib import Path

import workbench
from workbench._base.door import checked
from workbench._base.errors import ProcessError

ROOT = Path(workbench.__file__).resolve().parents[2]
# what it holds: a notebook may import proofs and stand-ins, too, which may be useful there or excluded
PACKAGES = ("workbench", "workbench_ops", "workbench_proofs", "workbench_standins")


def name() -> str:
    """Return the file name of the wheel."""
    return f"iceberg_workbench-{workbench.__version__}-py3-none-any.whl"


def environments() -> Path:
    """Return the folder whose environments the wheel contains."""
    inside = Path(workbench.__file__).resolve().parent / "environments"
    return inside if inside.is_dir() else ROOT / "params" / "environments"


@checked
def build(folder: Path | str) -> Path | None:
    """Build the wheel of the checkout that this library runs from.

    Args:
        folder: of the wheel; made when missing.

    Returns:
        Path of the wheel, or None where the library is installed and not a checkout: its wheel is the one it was
        installed from.

    Raises:
        ProcessError: it could not be built; the message has the last line of the tool.
    """
    if not (ROOT / "pyproject.toml").is_file():
        return None
    folder = Path(folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    command = ["hatchling", "build", "-t", "wheel", "-d", str(folder)]
    if util.find_spec("hatchling") is None:
        command = ["pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), "."]
    built = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False)
    if built.returncode or not (folder / name()).is_file():
        last = (built.stderr.strip().splitlines() or ["it printed nothing"])[-1]
        raise ProcessError(f"the wheel could not be built by {command[0]}: {last}")
    return folder / name()
