"""What a notebook's run asks of AWS, recorded, and written as a policy that allows it and little else."""

from workbench.policies.calls import Call, to_aws
from workbench.policies.databases import words
from workbench.policies.iam import ACCOUNT, REGION, Policy, faults, policy
from workbench.policies.recording import endpoints, recorded

__all__ = ["ACCOUNT", "REGION", "Call", "Policy", "endpoints", "faults", "policy", "recorded", "to_aws", "words"]
