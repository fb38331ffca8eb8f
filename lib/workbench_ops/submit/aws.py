"""Targets in an AWS account: EMR Serverless, EMR on EKS (containers) and Glue.

StartJobRun of both EMRs takes a token: the same one returns the run that it began. Glue's takes none, so its jobs
must ask the fence. A script is an address in a bucket; logs are where the service writes them.
"""

import gzip
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

from workbench import costs
from workbench._base.errors import ArgumentError
from workbench_ops.submit import fencing
from workbench_ops.submit.errors import TargetUnavailable
from workbench_ops.submit.jobs import Job
from workbench_ops.submit.services import CANCELLED, FAILED, PASSED, QUEUED, RUNNING, UNKNOWN, State

STATES: dict[str, State] = {
    "SUBMITTED": QUEUED, "PENDING": QUEUED, "SCHEDULED": QUEUED, "QUEUED": QUEUED, "RUNNING": RUNNING,
    "SUCCESS": PASSED, "COMPLETED": PASSED, "FAILED": FAILED, "CANCELLING": RUNNING, "CANCELLED": CANCELLED,
    "CANCEL_PENDING": RUNNING, "STARTING": QUEUED, "WAITING": QUEUED, "STOPPING": RUNNING, "STOPPED": CANCELLED,
    "SUCCEEDED": PASSED, "TIMEOUT": FAILED, "ERROR": FAILED, "EXPIRED": FAILED,
}  # fmt: skip
REFUSALS = ("ValidationException", "ConflictException", "InvalidInputException")
NOT_THERE = ("EntityNotFoundException", "ResourceNotFoundException")


class EmrServerless:
    """Job runs of an application of EMR Serverless.

    Args:
        client: boto3 client `emr-serverless`.
        application: its id.
        role: ARN of the role that jobs have.
        streaming: whether jobs run until they are cancelled, and are begun again by the service when they fail.
        logs: (boto3 client `s3`, bucket, prefix) where it writes logs, None where it writes none there.
        prices: US dollars a vCPU hour and a GB hour, as texts; None where they are not given.
    """

    once = True

    def __init__(
        self,
        client: Any,
        application: str,
        role: str,
        *,
        streaming: bool = False,
        logs: tuple[Any, str, str] | None = None,
        prices: tuple[str, str] | None = None,
    ) -> None:
        self.client, self.application, self.role = client, application, role
        self.streaming, self.kept, self.prices = streaming, logs, prices

    def healthy(self) -> None:
        """Raise TargetUnavailable where the application is not there or is going."""
        with _asking(self.application):
            state = self.client.get_application(applicationId=self.application)["application"]["state"]
        if state in ("STOPPING", "TERMINATED"):
            raise TargetUnavailable(f"the application {self.application} is {state}")

    def submit(self, job: Job, *, token: str, given: str) -> str:
        """Submit a job; the same token returns the run that it began."""
        settings = _parameters(job, "spark.emr-serverless.driverEnv", given)
        driver = {
            "entryPoint": job.script,
            "entryPointArguments": list(job.arguments),
            "sparkSubmitParameters": settings,
        }
        more: dict[str, Any] = {"mode": "STREAMING"} if self.streaming else {}
        if self.kept:
            where = {"logUri": f"s3://{self.kept[1]}/{self.kept[2]}/"}
            more["configurationOverrides"] = {"monitoringConfiguration": {"s3MonitoringConfiguration": where}}
        with _asking(self.application):
            answer = self.client.start_job_run(
                applicationId=self.application,
                clientToken=token,
                executionRoleArn=self.role,
                jobDriver={"sparkSubmit": driver},
                **more,
            )
        return str(answer["jobRunId"])

    def state(self, run_id: str) -> State:
        """Return the state of a run; unknown where there is none."""
        run = self._run(run_id)
        return STATES.get(run["state"], UNKNOWN) if run else UNKNOWN

    def logs(self, run_id: str) -> str:
        """Return what the driver has printed, once the service has written it."""
        return _written(self.kept, f"applications/{self.application}/jobs/{run_id}/SPARK_DRIVER/stdout.gz", run_id)

    def cancel(self, run_id: str) -> None:
        """End a run; nothing happens where it has ended."""
        if self.state(run_id) in (QUEUED, RUNNING):
            with _asking(self.application):
                self.client.cancel_job_run(applicationId=self.application, jobRunId=run_id)

    def cost_usd(self, run_id: str) -> str | None:
        """Return what the billed hours cost; None before the service says them, and without prices."""
        billed = (self._run(run_id) or {}).get("billedResourceUtilization")
        if not billed or self.prices is None:
            return None
        cpu, memory = (Decimal(price) for price in self.prices)
        dollars = Decimal(str(billed["vCPUHour"])) * cpu + Decimal(str(billed["memoryGBHour"])) * memory
        return f"{dollars:.4f}"

    def _run(self, run_id: str) -> Mapping[str, Any] | None:
        with _asking(self.application, missing=True) as answer:
            answer.update(self.client.get_job_run(applicationId=self.application, jobRunId=run_id))
        return answer.get("jobRun")


class EmrContainers:
    """Job runs of a virtual cluster of EMR on EKS.

    Args:
        client: boto3 client `emr-containers`.
        cluster: id of the virtual cluster.
        role: ARN of the role that jobs have.
        release: label such as emr-7.12.0-latest.
        logs: as of EmrServerless.
    """

    once = True

    def __init__(
        self, client: Any, cluster: str, role: str, *, release: str, logs: tuple[Any, str, str] | None = None
    ) -> None:
        self.client, self.cluster, self.role, self.release, self.kept = client, cluster, role, release, logs

    def healthy(self) -> None:
        """Raise TargetUnavailable where the virtual cluster is not running."""
        with _asking(self.cluster):
            state = self.client.describe_virtual_cluster(id=self.cluster)["virtualCluster"]["state"]
        if state != "RUNNING":
            raise TargetUnavailable(f"the virtual cluster {self.cluster} is {state}")

    def submit(self, job: Job, *, token: str, given: str) -> str:
        """Submit a job; the same token returns the run that it began."""
        driver = {
            "entryPoint": job.script,
            "entryPointArguments": list(job.arguments),
            "sparkSubmitParameters": _parameters(job, "spark.kubernetes.driverEnv", given),
        }
        more: dict[str, Any] = {}
        if self.kept:
            where = {"logUri": f"s3://{self.kept[1]}/{self.kept[2]}/"}
            more["configurationOverrides"] = {"monitoringConfiguration": {"s3MonitoringConfiguration": where}}
        with _asking(self.cluster):
            answer = self.client.start_job_run(
                virtualClusterId=self.cluster,
                clientToken=token,
                name=token,
                executionRoleArn=self.role,
                releaseLabel=self.release,
                jobDriver={"sparkSubmitJobDriver": driver},
                **more,
            )
        return str(answer["id"])

    def state(self, run_id: str) -> State:
        """Return the state of a run; unknown where there is none."""
        with _asking(self.cluster, missing=True) as answer:
            answer.update(self.client.describe_job_run(virtualClusterId=self.cluster, id=run_id))
        return STATES.get(answer["jobRun"]["state"], UNKNOWN) if answer else UNKNOWN

    def logs(self, run_id: str) -> str:
        """Return what the driver has printed, once the service has written it."""
        return _written(self.kept, f"{self.cluster}/jobs/{run_id}/", run_id, ending="-driver/stdout.gz")

    def cancel(self, run_id: str) -> None:
        """End a run; nothing happens where it has ended."""
        if self.state(run_id) in (QUEUED, RUNNING):
            with _asking(self.cluster):
                self.client.cancel_job_run(virtualClusterId=self.cluster, id=run_id)

    def cost_usd(self, run_id: str) -> str | None:
        """Return None: what its pods cost is the cluster's bill."""
        return None


class Glue:
    """Runs of a job that is defined in AWS Glue; the script of each run is that of the submission.

    Args:
        client: boto3 client `glue`.
        name: of the job.
        logs: boto3 client `logs`.
    """

    once = False

    def __init__(self, client: Any, name: str, logs: Any) -> None:
        self.client, self.name, self.streams = client, name, logs

    def healthy(self) -> None:
        """Raise TargetUnavailable where there is no such job."""
        with _asking(self.name):
            self.client.get_job(JobName=self.name)

    def submit(self, job: Job, *, token: str, given: str) -> str:
        """Submit a job; Glue knows no token.

        Raises:
            ArgumentError: it has variables, which Glue cannot set, or arguments that are not --name value.
        """
        if job.variables:
            raise ArgumentError(
                f"Glue sets no variables of a job, found {', '.join(job.variables)}; use arguments"
            )
        names, values = job.arguments[::2], job.arguments[1::2]
        if len(names) != len(values) or not all(name.startswith("--") for name in names):
            raise ArgumentError(f"arguments for Glue must be --name value, found {' '.join(job.arguments)}")
        arguments = dict(zip(names, values, strict=True))
        arguments |= {"--scriptLocation": job.script, fencing.ARGUMENT: fencing.packed(given)}
        if job.conf:
            arguments["--conf"] = " --conf ".join(f"{name}={value}" for name, value in job.conf.items())
        with _asking(self.name):
            return str(self.client.start_job_run(JobName=self.name, Arguments=arguments)["JobRunId"])

    def state(self, run_id: str) -> State:
        """Return the state of a run; unknown where there is none."""
        run = self._run(run_id)
        return STATES.get(run["JobRunState"], UNKNOWN) if run else UNKNOWN

    def logs(self, run_id: str) -> str:
        """Return what the driver has printed so far."""
        text = ""
        page: dict[str, str] = {}
        with _asking(self.name):
            while True:
                answer = self.streams.get_log_events(
                    logGroupName="/aws-glue/jobs/output", logStreamName=run_id, startFromHead=True, **page
                )
                text += "".join(f"{event['message'].rstrip()}\n" for event in answer["events"])
                if answer["nextForwardToken"] == page.get("nextToken"):
                    return text
                page = {"nextToken": answer["nextForwardToken"]}

    def cancel(self, run_id: str) -> None:
        """End a run; nothing happens where it has ended."""
        if self.state(run_id) in (QUEUED, RUNNING):
            with _asking(self.name):
                self.client.batch_stop_job_run(JobName=self.name, JobRunIds=[run_id])

    def cost_usd(self, run_id: str) -> str | None:
        """Return what its DPUs cost by the price list of the library; None before it says them."""
        run = self._run(run_id)
        if not run or not run.get("MaxCapacity") or not run.get("ExecutionTime"):
            return None
        kind = "flex" if run.get("ExecutionClass") == "FLEX" else "standard"
        dpus, seconds = Decimal(str(run["MaxCapacity"])), int(run["ExecutionTime"])
        return f"{costs.glue_usd(costs.prices('compute'), dpus=dpus, seconds=seconds, execution=kind):.4f}"

    def _run(self, run_id: str) -> Mapping[str, Any] | None:
        with _asking(self.name, missing=True) as answer:
            answer.update(self.client.get_job_run(JobName=self.name, RunId=run_id))
        return answer.get("JobRun")


def _parameters(job: Job, variables: str, given: str) -> str:
    """Return settings and variables as the one text that EMR splits at its spaces."""
    environment = {**job.variables, fencing.VARIABLE: fencing.packed(given)}
    values = {**job.conf, **{f"{variables}.{name}": value for name, value in environment.items()}}
    for name, value in values.items():
        if any(character.isspace() or character in "'\"" for character in name + value):
            raise ArgumentError(
                f"{name} must have no spaces and quotes: EMR splits settings at them, found {value!r}"
            )
    return " ".join(f"--conf {name}={value}" for name, value in values.items())


def _written(kept: tuple[Any, str, str] | None, key: str, run_id: str, *, ending: str | None = None) -> str:
    """Return a log in a bucket: of a key, or of the first key below one that ends so."""
    if kept is None:
        raise ArgumentError(f"the log of {run_id} cannot be read: the target's file has no `logs`")
    s3, bucket, prefix = kept
    key = f"{prefix}/{key}"
    with _asking(f"s3://{bucket}/{key}"):
        pages = s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=key)
        keys = [entry["Key"] for page in pages for entry in page.get("Contents", ())]
        matching = [name for name in keys if name.endswith(ending or key)]
        if not matching:
            return ""
        return gzip.decompress(s3.get_object(Bucket=bucket, Key=matching[0])["Body"].read()).decode(
            errors="replace"
        )


@contextmanager
def _asking(what: str, *, missing: bool = False) -> Iterator[dict[str, Any]]:
    """Yield a dict for an answer; turn errors of AWS into sentences.

    Args:
        what: that is asked, for the sentence.
        missing: whether what is not there is no error, and the dict stays empty.
    """
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        yield {}
    except ClientError as error:
        code, message = error.response["Error"].get("Code", ""), error.response["Error"].get("Message", "")
        if missing and code in NOT_THERE:
            return
        if code in REFUSALS:
            raise ArgumentError(f"AWS refuses {what}: {message} ({code})") from None
        raise TargetUnavailable(f"AWS does not serve {what}: {message} ({code})") from None
    except BotoCoreError as error:
        raise TargetUnavailable(f"AWS does not answer for {what}: {error}") from None
