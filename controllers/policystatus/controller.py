"""Checks the expressions of ValidatingAdmissionPolicies against the types that their rules name.

Source: pkg/controller/validatingadmissionpolicystatus/controller.go,
k8s.io/apiserver/pkg/admission/plugin/policy/validating/typechecking.go, v1.34.
"""

from __future__ import annotations

from typing import ClassVar, Final

from controllers.custom.kinds import RESOURCE as DEFINITIONS
from controllers.custom.kinds import kinds_of
from controllers.kit.manager import Reconcile, Setup, Work, key_of, split_key
from controllers.log.operations import Patch
from controllers.policystatus.checking import warnings_of
from scheduler_core.api.document import Document

POLICIES: Final = "validatingadmissionpolicies.admissionregistration.k8s.io"


class PolicyStatus:
    """Reconciles ValidatingAdmissionPolicies, by key."""

    NAME: ClassVar[str] = "validatingadmissionpolicy-status"
    RESOURCES: ClassVar[tuple[str, ...]] = (POLICIES, DEFINITIONS)

    def __init__(self, setup: Setup) -> None:
        """Listen to the policies; definitions say which other kinds there are."""
        self._policies = setup.informers[POLICIES]
        self._definitions = setup.informers[DEFINITIONS]
        self._queue = setup.queue
        self._policies.add_handler(self._changed)

    def _changed(self, old: Document | None, new: Document | None) -> None:
        if new is not None:
            self._queue.add(key_of(new))

    def reconcile(self, key: str, work: Work) -> Reconcile:
        """Check one policy, once a generation."""
        policy = self._policies.get(*split_key(key))
        if policy is None:
            return
        generation = policy["metadata"].get("generation", 0)
        observed = (policy.get("status") or {}).get("observedGeneration", 0)
        work.tell(
            "checked" if generation <= observed else "its types are checked",
            desired={"generation": generation},
            actual={"observedGeneration": observed},
        )
        if generation <= observed:
            return
        defined = [kind for definition in self._definitions.all() for kind in kinds_of(definition)]
        found = warnings_of(policy["spec"], defined)
        warnings = [{"fieldRef": field, "warning": warning} for field, warning in found]
        status = {"observedGeneration": generation, "typeChecking": {"expressionWarnings": warnings or None}}
        (result,) = yield [Patch(POLICIES, "", policy["metadata"]["name"], {"status": status}, "merge", "status")]
        if result.error is not None and result.error.code != 404:
            raise result.error
