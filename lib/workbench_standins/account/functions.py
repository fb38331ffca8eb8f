"""A function of Lambda in the stand-in, fed by a queue: what a deployment on AWS needs, in its smallest form."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench_standins.account import ACCOUNT_ID, Account

ROLE = f"arn:aws:iam::{ACCOUNT_ID}:role/lambda"
RECEIVES = 5  # of a message before it goes to the dead letters


@dataclass(frozen=True)
class Deployed:
    """A function with its queue.

    Attributes:
        queue: address of the queue that feeds it.
        dead_letters: address of the queue that gets the messages it never took.
    """

    queue: str
    dead_letters: str


def deploy(
    account: Account,
    zip_path: Path,
    *,
    handler: str,
    variables: Mapping[str, str],
    name: str = "ingest",
    batch: int = 10,
    concurrency: int = 2,
    timeout_seconds: int = 60,
    visibility_seconds: int = 360,
    receives: int = RECEIVES,
) -> Deployed:
    """Create a function from a zip, a queue with dead letters, and the mapping between them.

    Args:
        account: to deploy to.
        zip_path: of the function.
        handler: `module.function`.
        variables: of the function's environment.
        name: of function and queues.
        batch: messages of one call at most.
        concurrency: calls at once at most; AWS takes 2 to 1000.
        timeout_seconds: of one call.
        visibility_seconds: until a message that nobody acknowledged comes again; on AWS six times the timeout.
        receives: how often a message comes before it goes to the dead letters.
    """
    queues, functions = account.client("sqs"), account.client("lambda")
    dead = queues.create_queue(QueueName=f"{name}-dead-letters")["QueueUrl"]
    redrive = json.dumps({"deadLetterTargetArn": arn(queues, dead), "maxReceiveCount": receives})
    settings = {"VisibilityTimeout": str(visibility_seconds), "RedrivePolicy": redrive}
    queue = queues.create_queue(QueueName=name, Attributes=settings)["QueueUrl"]
    bucket, key = f"{name}-code", zip_path.name
    account.client("s3").create_bucket(Bucket=bucket)
    account.client("s3").upload_file(str(zip_path), bucket, key)
    functions.create_function(
        FunctionName=name, Runtime="python3.11", Handler=handler, Role=ROLE, Timeout=timeout_seconds,
        MemorySize=1024, Code={"S3Bucket": bucket, "S3Key": key}, Environment={"Variables": variables},
    )  # fmt: skip
    functions.create_event_source_mapping(
        FunctionName=name, EventSourceArn=arn(queues, queue), BatchSize=batch,
        FunctionResponseTypes=["ReportBatchItemFailures"], ScalingConfig={"MaximumConcurrency": concurrency},
    )  # fmt: skip
    return Deployed(queue, dead)


def arn(queues: Any, queue: str) -> str:
    """Return the name that AWS gives a queue."""
    return queues.get_queue_attributes(QueueUrl=queue, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]


def waiting(queues: Any, queue: str) -> int:
    """Return how many messages a queue holds, those that are being worked on too."""
    names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
    counts = queues.get_queue_attributes(QueueUrl=queue, AttributeNames=names)["Attributes"]
    return sum(int(counts[name]) for name in names)


def drained(queues: Any, queue: str, *, patience_seconds: float) -> None:
    """Wait until a queue is empty.

    Raises:
        TimeoutError: it is not, in that time.
    """
    until = time.monotonic() + patience_seconds
    while messages := waiting(queues, queue):
        if time.monotonic() > until:
            raise TimeoutError(f"{messages} messages are still there after {patience_seconds:g} seconds")
        time.sleep(0.5)
