"""The proof of all notebooks' rights: what holds and what does not, what is left out, and what a run swallows."""

import pytest
from bench import rights
from conftest import write_notebook
from test_policy_proving import CALLS, ON_STAND_IN

from workbench._base import settings
from workbench_ops.policies import proving, rehearsing
from workbench_ops.run.preparing import Job

HOLDS = {
    "notebook": "n", "passed": True, "requests": 3, "rights": 2, "needed": 2, "for_failures": 0, "unneeded": [],
    "refused": {}, "missing": [], "swallowed": 0,
}  # fmt: skip


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ({"passed": False}, "WRONG: did not pass"),
        ({"requests": 0}, "needed by 0 requests"),
        ({"unneeded": ["s3:GetObject on x"]}, "WRONG: s3:GetObject on x"),
        ({"refused": {"s3:DeleteObject on x": 12}}, "WRONG: s3:DeleteObject on x"),
        ({"missing": ["s3tables:GetTable"]}, "WRONG: s3tables:GetTable"),
        ({"failed": "died when it was recorded: None"}, "WRONG: died when it was recorded"),
    ],
)
def test_each_fault_is_seen_and_said(fault, said):
    assert rights.right(HOLDS) and "WRONG" not in rights.sentence(HOLDS)
    assert not rights.right(HOLDS | fault) and said in rights.sentence(HOLDS | fault)


def test_a_notebook_that_no_account_has_stands_there_with_its_reason():
    row = rights.reasoned("22_race_writers")
    assert rights.right(row) and "the proxy stands before a store on plain HTTP" in rights.sentence(row)
    assert not rights.due("22_race_writers", row)
    assert rights.due("22_race_writers", row | {"of": "another"}) and rights.due("22_race_writers", None)
    assert rights.reasoned("00_template") is None


@pytest.fixture
def calls(account, project):
    """A notebook that makes a database and writes, and does not care whether it may delete."""
    place = project / "params" / "environments"
    place.mkdir(parents=True)
    (place / "lake.yml").write_text(
        "description: Glue\ncatalog: {type: glue, warehouse: s3://wb-account/w}\n"
        "spark: {master: 'local[1]', shuffle_partitions: 1}\njars: []\n"
    )
    path = project / "notebooks" / "01_calls.ipynb"
    write_notebook(path, CALLS, parameters='ENVIRONMENT: str = "lake"  # where')
    return path


@ON_STAND_IN
def test_a_refusal_that_a_run_survives_is_swallowed(calls):
    row = rights.row_of("01_calls", "lake")
    assert rights.right(row) and (row["rights"], row["needed"]) == (4, 4)
    assert (row["passed_without_deletes"], row["swallowed"]) == (True, 1)


@ON_STAND_IN
def test_a_right_that_is_left_out_or_too_many_is_seen(calls):
    job = Job(str(calls), environment="lake")
    policy, known = rehearsing.policy_of(rehearsing.record(job, 1), settings.environment("lake"), say=print)
    document = policy.document
    [makes, *_] = [right for right in proving.rights(document) if right.action == "glue:CreateDatabase"]
    less = rehearsing.rehearse(proving.without(document, makes), known, job, 1)
    assert not less.passed and "glue:CreateDatabase" in " ".join(rights.refusals(less.judgements))
    more = {"Effect": "Allow", "Action": ["s3:GetBucketLocation"], "Resource": ["arn:aws:s3:::wb-account"]}
    wider = document | {"Statement": [*document["Statement"], more]}
    enough = rehearsing.rehearse(wider, known, job, 1)
    proof = proving.prove(enough.document, enough.judgements)
    assert enough.passed and [str(right) for right in proof.unneeded] == [
        "s3:GetBucketLocation on arn:aws:s3:::wb-account"
    ]
