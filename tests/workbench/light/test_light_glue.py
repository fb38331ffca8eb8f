"""Tables in Glue, by its own interface and by its Iceberg REST endpoint, on the stand-in of an AWS account."""

import aws_stand_in
import pyarrow as pa
import pytest

from workbench import light, session
from workbench_standins import account

WITNESS = "test_a_rest_catalog_and_its_storage has the REST protocol and S3, of another server"


@pytest.fixture
def glue(monkeypatch):
    """Properties of the account's Glue catalog with a table q.t, and the variables of the environment glue-rest."""
    with account.serve(aws_stand_in.PYTHON) as served:
        served.client("s3").create_bucket(Bucket="lake")
        for name, value in served.variables().items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("WORKBENCH_GLUE", f"{served.endpoint}/iceberg")
        monkeypatch.setenv("WORKBENCH_REGION", account.REGION)
        monkeypatch.setenv("WORKBENCH_ACCOUNT", account.ACCOUNT_ID)
        properties = {"name": "lake"} | served.properties("s3://lake/warehouse")
        catalog = light.catalogs.load(properties)
        catalog.create_namespace("q")
        catalog.create_table("q.t", pa.schema([("id", pa.int64()), ("name", pa.string())]))
        yield properties


def rows(*ids):
    return [{"id": number, "name": f"n{number}"} for number in ids]


# the stand-in is an environment of its own, which `make prove PART=account` makes first
@pytest.mark.proof(WITNESS)
def test_glue_by_its_own_interface_and_by_rest(glue):
    assert light.append(glue, "q.t", rows(1, 2), ids="a").rows == 2
    assert light.append(glue, "lake.q.t", rows(1, 2), ids="a").repeated == ("a",)
    sql = "SELECT count(*) AS n, sum(id) AS s FROM q.t"
    for catalog in (glue, light.catalogs.load(glue), session.catalog_properties("glue-rest")):
        assert light.query(catalog, sql).to_pylist() == [{"n": 2, "s": 3}]
    assert light.merge(glue, "q.t", rows(2, 3), key=["id"]).rows == 1
    assert light.query(glue, sql).to_pylist() == [{"n": 3, "s": 6}]


@pytest.mark.proof(WITNESS)
def test_what_is_not_there(glue):
    for catalog in (glue, session.catalog_properties("glue-rest")):
        with pytest.raises(ValueError, match=r"table q\.u is not in the catalog; there are q\.t"):
            light.query(catalog, "SELECT * FROM q.u")
        with pytest.raises(
            ValueError, match=r"table x\.u is not in the catalog; the catalog lists no table there"
        ):
            light.query(catalog, "SELECT * FROM x.u")
    with pytest.raises(ValueError, match="table q.u is not in the catalog; there are q.t"):
        light.append(glue, "q.u", rows(1))
