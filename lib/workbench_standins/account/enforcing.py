"""Run by ministack's own Python: an account that judges requests by IAM policies, and a judge of kept ones.

    python -P enforcing.py serve LOG      the account; LOG gets a line for each judgement, never a key
    python -P enforcing.py judge          policies and kept requests on standard input, verdicts on standard output

ministack asks Glue's rights on one ARN, for a database's name on that of a table. AWS asks them on the catalog,
the database and the table (Service Authorization Reference, AWS Glue), and so does this account.
"""

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

DATABASE = {"CreateDatabase", "GetDatabase", "UpdateDatabase", "DeleteDatabase"}
FREE = {"sts:GetCallerIdentity", "sts:GetSessionToken"}  # which need no right
TABLES = {"GetTables": "*", "DeleteDatabase": "*"}  # all of a database


class Several(str):
    """An ARN that stands for several, each of which must be allowed."""

    arns: tuple[str, ...]


def of_glue(operation: str, content: dict[str, Any], place: str) -> list[str]:
    """Return the ARNs that a call of Glue needs its right on.

    Args:
        operation: such as GetTable.
        content: of the request.
        place: partition, service, region and account, with a colon at its end.
    """
    described = content.get("DatabaseInput") or {}
    name = content.get("Name") or described.get("Name") if operation in DATABASE else content.get("DatabaseName")
    table = (content.get("TableInput") or {}).get("Name") or content.get("TableName") or TABLES.get(operation)
    if operation not in DATABASE:
        table = table or content.get("Name")
    arns = [f"{place}catalog"]
    arns += [f"{place}database/{name}"] if name else []
    arns += [f"{place}table/{name}/{table}"] if name and table else []
    return arns + ([f"{place}userDefinedFunction/{name}/*"] if operation == "DeleteDatabase" else [])


def _patched(log: Any) -> None:
    """Let the account judge Glue as AWS does, and keep each judgement."""
    actions: Any = import_module("ministack.core.iam_actions")
    evaluator: Any = import_module("ministack.core.iam_evaluator")
    arn_of, enforce = actions.extract_resource_arn, evaluator.enforce

    def extract_resource_arn(
        service: str, method: str, path: str, headers: Any, body: bytes, params: Any, region: str, number: str
    ) -> str:
        plain: str = arn_of(service, method, path, headers, body, params, region, number)
        operation = headers.get("x-amz-target", "").rpartition(".")[2]
        if service != "glue" or not operation:
            return plain
        try:
            content = json.loads(body or b"{}")
        except ValueError:
            return plain
        arns = of_glue(operation, content, f"arn:aws:glue:{region}:{content.get('CatalogId') or number}:")
        several = Several(arns[-1])
        several.arns = tuple(arns)
        return several

    def enforced(key: str, action: str, service: str, region: str, resource_arn: str = "*", **named: Any) -> Any:
        for arn in getattr(resource_arn, "arns", (resource_arn,)):
            denied = enforce(key, action, service, region, resource_arn=arn, **named)
            of_user = key and not evaluator.is_root_access_key(key) and action not in FREE
            if of_user and not isinstance(denied, evaluator.AuthError):
                _keep(log, action, arn, region, named.get("service_context") or {}, denied is None)
            if denied:
                return denied
        return None

    actions.extract_resource_arn, evaluator.enforce = extract_resource_arn, enforced


def _keep(log: Any, action: str, arn: str, region: str, context: dict[str, Any], allowed: bool) -> None:
    account = import_module("ministack.core.responses").get_account_id()
    kept = {
        "action": action,
        "resource": str(arn),
        "region": region,
        "account": account,
        "context": {name.lower(): value for name, value in context.items() if _is_plain(value)},
        "allowed": allowed,
    }
    log.write(json.dumps(kept, sort_keys=True) + "\n")
    log.flush()


def _is_plain(value: Any) -> bool:
    return isinstance(value, str | int | bool) or (
        isinstance(value, list) and all(isinstance(each, str) for each in value)
    )


def judged(policies: list[dict[str, Any]], requests: list[dict[str, Any]]) -> list[list[int]]:
    """Return for each policy the positions of the requests that it does not allow."""
    evaluator = import_module("ministack.core.iam_evaluator")
    contexts = [
        evaluator.EvalContext(
            principal_arn=f"arn:aws:iam::{request['account']}:user/job",
            principal_type="User",
            principal_account=request["account"],
            action=request["action"],
            resource_arn=request["resource"],
            region=request["region"],
            service_context=request["context"],
        )
        for request in requests
    ]
    verdicts = []
    for policy in policies:
        statements = [evaluator.parse_policy_document(policy)]
        verdicts.append(
            [n for n, each in enumerate(contexts) if evaluator.evaluate(each, statements).decision != "Allow"]
        )
    return verdicts


def main() -> None:
    """Serve the account, or judge what stands on standard input."""
    if sys.argv[1] == "judge":
        given = json.load(sys.stdin)
        json.dump(judged(given["policies"], given["requests"]), sys.stdout)
        return
    with Path(sys.argv[2]).open("a", encoding="utf-8") as log:
        _patched(log)
        del sys.argv[1:]
        import_module("ministack.app").main()


if __name__ == "__main__":
    main()
