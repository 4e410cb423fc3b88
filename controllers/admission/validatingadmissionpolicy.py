"""ValidatingAdmissionPolicy: what policies with a binding forbid, warn of or note.

Source: k8s.io/apiserver/pkg/admission/plugin/policy/validating (dispatcher.go, validator.go); …/policy/generic; v1.34.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from controllers.admission.evaluating import Decision, Evaluation
from controllers.admission.matching import GROUP, match, select, watches
from controllers.registry.admission import Attempt, Plugin
from controllers.registry.kind import Kind
from scheduler_core.api.errors import ApiError, Cause

POLICIES: Final = f"validatingadmissionpolicies.{GROUP}"
BINDINGS: Final = f"validatingadmissionpolicybindings.{GROUP}"

_CODES: Final[Mapping[str, int]] = {"Forbidden": 403, "Invalid": 422, "RequestEntityTooLarge": 413, "Unauthorized": 401}
_ANNOTATION_CHARS_MAX: Final = 10 * 1024
_NOT_FOUND: Final = "no params found for policy binding with `Deny` parameterNotFoundAction"
_HOMELESS: Final = "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources"
_CLUSTERWIDE: Final = "paramRef.namespace must not be provided for a cluster-scoped `paramKind`"


class Misconfigured(Exception):
    """A policy or a binding that cannot be asked."""


class _Denied(NamedTuple):
    policy: str
    binding: str
    decision: Decision


class _Round:
    """All policies asked about one write."""

    def __init__(self, attempt: Attempt) -> None:
        self.attempt = attempt
        self.denied: list[_Denied] = []
        self.notes: dict[str, str] = {}
        self.evaluation = Evaluation(attempt)

    def ask(self, policy: Mapping[str, Any], bindings: Sequence[Mapping[str, Any]]) -> None:
        """Ask one policy, for each of its bindings that takes the write."""
        spec = policy["spec"]
        kind = match(self.attempt, spec["matchConstraints"])
        if kind is None:
            return
        try:
            parameters = _kind_of_parameters(self.attempt, spec.get("paramKind"))
        except Misconfigured as wrong:
            self._misconfigured(policy, "", f"failed to configure policy: {wrong}")
            return
        annotations: dict[str, list[str]] = {}
        for binding in bindings:
            if match(self.attempt, binding["spec"].get("matchResources") or {}) is None:
                continue
            name = binding["metadata"]["name"]
            try:
                found = _parameters(self.attempt, parameters, binding["spec"].get("paramRef"))
            except Misconfigured as wrong:
                self._misconfigured(policy, name, f"failed to configure binding: {wrong}")
                continue
            for one in found:
                self._decide(policy, binding, kind, one, annotations)
        for key, values in annotations.items():
            self.notes[f"{policy['metadata']['name']}/{key}"] = ", ".join(values)

    def _decide(
        self,
        policy: Mapping[str, Any],
        binding: Mapping[str, Any],
        kind: Kind,
        parameters: Mapping[str, Any] | None,
        annotations: dict[str, list[str]],
    ) -> None:
        title, name = policy["metadata"]["name"], binding["metadata"]["name"]
        decisions, annotated = self.evaluation.of(policy["spec"], kind, parameters)
        for decision in decisions:
            for action in binding["spec"].get("validationActions") or ():
                if action == "Deny":
                    self.denied.append(_Denied(title, name, decision))
                elif action == "Warn":
                    self.attempt.context.warnings.append(
                        f"Validation failed for ValidatingAdmissionPolicy '{title}' with binding '{name}': "
                        f"{decision.message}"
                    )
                else:
                    self._note(title, binding, decision)
        for key, value, wrong in annotated:
            if wrong:
                self.denied.append(_Denied(title, name, Decision(wrong)))
            elif value[:_ANNOTATION_CHARS_MAX] not in annotations.setdefault(key, []):
                annotations[key].append(value[:_ANNOTATION_CHARS_MAX])

    def _note(self, policy: str, binding: Mapping[str, Any], decision: Decision) -> None:
        failure = {
            "message": decision.message,
            "policy": policy,
            "binding": binding["metadata"]["name"],
            "expressionIndex": decision.place,
            "validationActions": list(binding["spec"]["validationActions"]),
        }
        key = "validation.policy.admission.k8s.io/validation_failure"
        # As upstream: an annotation that is there already stays.
        self.notes.setdefault(key, msgspec.json.encode([failure]).decode())

    def _misconfigured(self, policy: Mapping[str, Any], binding: str, why: str) -> None:
        if policy["spec"].get("failurePolicy") != "Ignore":
            self.denied.append(_Denied(policy["metadata"]["name"], binding, Decision(why)))


def _kind_of_parameters(attempt: Attempt, asked: Mapping[str, Any] | None) -> Kind | None:
    if asked is None:
        return None
    version, name = str(asked.get("apiVersion")), str(asked.get("kind"))
    found = attempt.kinds.find_kind(version, name)
    if found is None:
        raise Misconfigured(f"failed to find resource referenced by paramKind: '{version}, Kind={name}'")
    return found


def _parameters(
    attempt: Attempt, kind: Kind | None, reference: Mapping[str, Any] | None
) -> Sequence[Mapping[str, Any] | None]:
    """Return the objects that a binding names as parameters; one None: it names none."""
    if kind is None or reference is None:
        return (None,)
    namespace = reference.get("namespace") or ""
    if kind.namespaced:
        namespace = namespace or attempt.namespace
        if not namespace:
            raise Misconfigured(_HOMELESS)
    elif namespace:
        raise Misconfigured(_CLUSTERWIDE)
    if reference.get("name"):
        one = attempt.lookup.get(kind.stored_resource, namespace, reference["name"])
        found = [] if one is None else [one]
    else:
        everything = attempt.lookup.list(kind.stored_resource, namespace if kind.namespaced else None)
        found = select(reference.get("selector") or {}, everything)
    if not found and reference.get("parameterNotFoundAction") == "Deny":
        raise Misconfigured(_NOT_FOUND)
    return [kind.outward(one) for one in found]


def _refusal(attempt: Attempt, denied: _Denied) -> ApiError:
    bound = f" with binding '{denied.binding}'" if denied.binding else ""
    why = f"ValidatingAdmissionPolicy '{denied.policy}'{bound} denied request: {denied.decision.message}"
    refused = attempt.refuse(why)
    refused.reason = denied.decision.reason
    refused.code = _CODES.get(refused.reason, 422)
    refused.causes = [Cause("", why, "")]
    return refused


def _validate(attempt: Attempt) -> str:
    bindings: dict[str, list[Mapping[str, Any]]] = {}
    for binding in attempt.lookup.list(BINDINGS):
        bindings.setdefault(binding["spec"]["policyName"], []).append(binding)
    if not bindings:
        return ""
    asked = _Round(attempt)
    for name in sorted(bindings):
        policy = attempt.lookup.get(POLICIES, "", name)
        if policy is not None:
            asked.ask(policy, bindings[name])
    if asked.denied:
        raise _refusal(attempt, asked.denied[0])
    return "; ".join(f"{key}: {value}" for key, value in asked.notes.items())


PLUGIN: Final = Plugin(
    "ValidatingAdmissionPolicy",
    "Asks ValidatingAdmissionPolicies that have a binding: they refuse, warn or note.",
    watches=watches,
    validate=_validate,
    rules=BINDINGS,
)
