"""A real server behind the front: a fixture that tests name by `pytest_plugins`."""

import pytest

from workbench import session
from workbench._base import settings
from workbench_standins import spark_connect


@pytest.fixture(scope="module")
def server(lake):
    """A Spark Connect server behind the test file's own `lake`."""
    conf = session.spark_conf(settings.environment("local")) | {"spark.driver.memory": "1g"}
    with spark_connect.serve(conf) as serving:
        yield serving
