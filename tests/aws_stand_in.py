"""An AWS account on this machine, for `make prove PART='home-*'` and what tries the environment aws-glue: Glue, S3 and STS.

The environment file is used as it is: addresses and keys come by the standard variables of the AWS tools.
"""

from contextlib import contextmanager
from pathlib import Path

from workbench_standins import account as stand_in

PYTHON = Path(__file__).resolve().parents[1] / ".workbench" / "ministack" / "venv" / "bin" / "python"
BUCKET, REGION = "wb-account", stand_in.REGION


def require():
    """Refuse where it is not installed.

    Raises:
        ModuleNotFoundError: its environment is not there.
    """
    stand_in.require(PYTHON)


@contextmanager
def account():
    """Serve an empty account with one bucket as long as the context is open.

    Yields:
        dict: the variables with which AWS's tools, Spark and PyIceberg reach it, and those of aws-glue.yml.
    """
    with stand_in.serve(PYTHON) as served:
        served.client("s3").create_bucket(Bucket=BUCKET)
        own = {"WORKBENCH_WAREHOUSE": f"s3://{BUCKET}/warehouse", "WORKBENCH_REGION": REGION}
        yield served.variables() | own
