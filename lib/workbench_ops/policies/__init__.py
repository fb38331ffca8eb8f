"""What a notebook's run asks of AWS, recorded, and written as a policy that allows it and little else."""

from workbench_ops.policies.calls import Call, to_aws, words
from workbench_ops.policies.iam import ACCOUNT, REGION, Policy, faults, policy
from workbench_ops.policies.recording import endpoints, recorded

__all__ = ["ACCOUNT", "REGION", "Call", "Policy", "endpoints", "faults", "policy", "recorded", "to_aws", "words"]
