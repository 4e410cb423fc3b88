"""Says in the status of ValidatingAdmissionPolicies which expressions do not fit the types asked about."""

from controllers.policystatus.controller import PolicyStatus

__all__ = ["PolicyStatus"]
