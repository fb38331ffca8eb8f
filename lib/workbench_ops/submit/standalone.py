"""The target Standalone: drivers on a standalone Spark cluster, by its master's REST interface.

The master takes no token: its answer lost, a repeated request starts a second driver, so a job must ask the fence.
A request is signed where the master has Spark's JWSFilter. A driver's id is gone when the master is started anew,
its state is unknown then. The state is the driver's; an application's page says FINISHED of a failed one, too.
"""

import base64
import hashlib
import hmac
import json
import re
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any

from workbench._base.errors import ArgumentError
from workbench_ops.submit import fencing
from workbench_ops.submit.errors import TargetUnavailable
from workbench_ops.submit.jobs import Job
from workbench_ops.submit.services import CANCELLED, FAILED, PASSED, QUEUED, RUNNING, UNKNOWN, State

STATES: dict[str, State] = {
    "SUBMITTED": QUEUED, "RUNNING": RUNNING, "RELAUNCHING": RUNNING, "FINISHED": PASSED, "FAILED": FAILED,
    "ERROR": FAILED, "KILLED": CANCELLED, "UNKNOWN": UNKNOWN, "NOT_FOUND": UNKNOWN,
}  # fmt: skip
SPARK_SUBMIT = "org.apache.spark.deploy.SparkSubmit"
SECONDS = 20
LOG_BYTES = 64 * 1024 * 1024
PAGE_BYTES = 1024 * 1024


class Drivers:
    """Drivers of a standalone cluster.

    Args:
        rest: address of the master's REST interface, such as http://127.0.0.1:6066.
        master: address of the master, such as spark://127.0.0.1:7077.
        page: address of the master's page, for logs and health; None has no logs.
        secret: key of its JWSFilter as the master is given it, base64url; None where it has no filter.
        version: of Spark on the cluster.
        memory: of a driver, such as 1g.
        python: interpreter on the workers; None for theirs.
        conf: settings of Spark for all jobs.
    """

    once = False

    def __init__(
        self,
        rest: str,
        master: str,
        page: str | None,
        secret: str | None,
        *,
        version: str,
        memory: str,
        python: str | None,
        conf: Mapping[str, str],
    ) -> None:
        self.rest, self.master, self.page, self.secret = rest.rstrip("/"), master, page, secret
        self.version, self.memory, self.python, self.conf = version, memory, python, conf

    def healthy(self) -> None:
        """Raise TargetUnavailable where the master does not answer, or has no worker that lives."""
        if self.page is None:
            self._ask("GET", "status/driver-00000000000000-0000")
            return
        if not self._page(self.page, "/json/").get("aliveworkers"):
            raise TargetUnavailable(f"the master on {self.page} has no worker that lives")

    def submit(self, job: Job, *, token: str, given: str) -> str:
        """Submit a job once; return the driver's id."""
        python = {"PYSPARK_PYTHON": self.python, "PYSPARK_DRIVER_PYTHON": self.python} if self.python else {}
        variables = {**python, **job.variables, fencing.VARIABLE: given, "SPARK_ENV_LOADED": "1"}
        conf = {**self.conf, **job.conf, "spark.master": self.master, "spark.submit.deployMode": "client"}
        # settings that stand only in sparkProperties are not those of a Python script, which runs in local[*] then
        words = [word for name, value in conf.items() for word in ("--conf", f"{name}={value}")]
        answer = self._ask("POST", "create", {
            "action": "CreateSubmissionRequest",
            "clientSparkVersion": self.version,
            "appResource": "",
            "mainClass": SPARK_SUBMIT,
            "appArgs": [*words, job.script, *job.arguments],
            "environmentVariables": variables,
            "sparkProperties": {
                **self.conf,
                "spark.app.name": token,
                "spark.master": self.master,
                "spark.submit.deployMode": "cluster",
                "spark.driver.supervise": "false",  # a driver that is started again is a second run
                "spark.driver.memory": self.memory,
            },
        })  # fmt: skip
        if not answer.get("success"):
            raise ArgumentError(f"the master refused the driver: {answer.get('message') or answer}")
        return str(answer["submissionId"])

    def state(self, run_id: str) -> State:
        """Return the state of a driver; unknown where the master does not know it."""
        answer = self._ask("GET", f"status/{run_id}")
        return STATES.get(answer.get("driverState", "NOT_FOUND"), UNKNOWN)

    def logs(self, run_id: str) -> str:
        """Return what the driver has printed so far, by the page of its worker."""
        answer = self._ask("GET", f"status/{run_id}")
        worker, page = answer.get("workerId"), self.page
        if not worker or page is None:
            reason = "the master's page is not among the target's settings" if worker else "no worker has it yet"
            raise ArgumentError(f"the log of {run_id} cannot be read: {reason}")
        workers = self._page(page, "/json/").get("workers", ())
        address = next((entry["webuiaddress"] for entry in workers if entry["id"] == worker), None)
        if address is None:
            raise ArgumentError(f"the log of {run_id} cannot be read: its worker {worker} is gone")
        return self._log(address, run_id)

    def cancel(self, run_id: str) -> None:
        """End a driver; nothing happens where it has ended."""
        self._ask("POST", f"kill/{run_id}")

    def cost_usd(self, run_id: str) -> str | None:
        """Return None: a cluster of one's own sends no bill."""
        return None

    def _log(self, address: str, run_id: str) -> str:
        """Return a driver's log, page by page, at most the first LOG_BYTES of it."""
        text, start, until = "", 0, None
        while until is None or start < until:
            where = f"/log/?driverId={run_id}&logType=stdout&offset={start}&byteLength={PAGE_BYTES}"
            page = self._text(address, where)
            head, _, body = page.partition("\n")
            shown = re.match(r"==== Bytes (\d+)-(\d+) of (\d+) of ", head)
            if shown is None:
                raise ArgumentError(f"the log of {run_id} cannot be read: {address}{where} answers {head[:200]!r}")
            end, total = int(shown[2]), int(shown[3])
            until = min(total, LOG_BYTES)
            text += body
            if end <= start:
                break
            start = end
        return text

    def _ask(self, method: str, what: str, body: Any = None) -> Any:
        """Ask the master's REST interface; it answers refusals with a sentence of its own."""
        address = f"{self.rest}/v1/submissions/{what}"
        request = urllib.request.Request(
            address, method=method, data=json.dumps(body or {}).encode() if method == "POST" else None
        )
        request.add_header("Content-Type", "application/json;charset=UTF-8")
        if self.secret:
            request.add_header("Authorization", f"Bearer {signed(self.secret)}")
        try:
            with _opener().open(request, timeout=SECONDS) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            if error.code in (401, 403):
                raise TargetUnavailable(
                    f"{self.rest} refuses our signature ({error.code}): {_hint(self)}"
                ) from None
            return _refused(error, address)
        except (OSError, ValueError) as error:
            raise TargetUnavailable(f"{self.rest} does not answer: {getattr(error, 'reason', error)}") from None

    def _page(self, address: str, where: str) -> Any:
        try:
            return json.loads(self._text(address, where))
        except ValueError:
            raise TargetUnavailable(f"{address}{where} answers no JSON; is it the master's page?") from None

    def _text(self, address: str, where: str) -> str:
        try:
            with _opener().open(f"{address.rstrip('/')}{where}", timeout=SECONDS) as answer:
                return str(answer.read().decode(errors="replace"))
        except OSError as error:
            raise TargetUnavailable(f"{address} does not answer: {getattr(error, 'reason', error)}") from None


def signed(secret: str) -> str:
    """Return a bearer for Spark's JWSFilter: a JSON Web Signature, HS256, over an empty claim.

    Args:
        secret: the filter's key as the master is given it, base64url.

    Raises:
        ArgumentError: it is not base64url, or has fewer than 256 bits.
    """
    try:
        key = base64.urlsafe_b64decode(secret + "=" * (-len(secret) % 4))
    except ValueError:
        key = b""
    if len(key) < 32:
        raise ArgumentError("the secret of the master's filter must be at least 32 bytes in base64url")
    head = _base64(json.dumps({"alg": "HS256", "typ": "JWT"}).encode())
    message = f"{head}.{_base64(b'{}')}"
    return f"{message}.{_base64(hmac.digest(key, message.encode(), hashlib.sha256))}"


def _base64(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def _hint(drivers: Drivers) -> str:
    return "its secret is another one" if drivers.secret else "expected `secret` in the target's file"


def _refused(error: urllib.error.HTTPError, address: str) -> Any:
    try:
        answer = json.load(error)
    except ValueError:
        raise TargetUnavailable(f"{address} answers {error.code}: {error.reason}") from None
    if answer.get("action") == "ErrorResponse":
        raise ArgumentError(f"the master refused: {answer.get('message')}")
    return answer


def _opener() -> urllib.request.OpenerDirector:
    return urllib.request.build_opener(urllib.request.ProxyHandler({}))
