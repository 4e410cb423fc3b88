"""ValidatingAdmissionPolicyBindings: where a policy holds and what follows. Stored, as the policies are.

Source: pkg/apis/admissionregistration (defaults, validation), pkg/printers, v1.34.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from controllers.kinds.admissionregistration.validatingadmissionpolicy import GROUP, match, match_defaults
from controllers.kinds.columns import AGE, NAME, UNSET, text_of
from controllers.registry import fields
from controllers.registry.kind import Column, Kind
from scheduler_core.api.document import at, child
from scheduler_core.api.errors import Cause

_TWICE: Final = (
    "must not contain both Deny and Warn (repeating the same validation failure information in the API response and "
    "headers serves no purpose)"
)
_ACTIONS: Final = ("Audit", "Deny", "Warn")


def _defaults(document: dict[str, Any]) -> None:
    match_defaults(child(document, "spec").get("matchResources"))


def _validate(document: dict[str, Any]) -> list[Cause]:
    spec = document["spec"]
    name = spec.get("policyName") or ""
    causes = fields.subdomain("spec.policyName", name) if name else [fields.required("spec.policyName")]
    causes += match("spec.matchResources", spec.get("matchResources"))
    actions, field = spec.get("validationActions") or [], "spec.validationActions"
    if not actions:
        causes.append(fields.required(field, "at least one validation action is required"))
    for index, action in enumerate(actions):
        if action not in _ACTIONS:
            causes.append(fields.unsupported(f"{field}[{index}]", action, _ACTIONS))
        if action in actions[:index]:
            causes.append(fields.duplicate(f"{field}[{index}]", action))
    if {"Deny", "Warn"} <= set(actions):
        causes.append(fields.bad(field, actions, _TWICE))
    return causes


def _parameter(document: Mapping[str, Any], age: Any) -> str:
    reference = at(document, "spec", "paramRef")
    if not reference:
        return UNSET
    if reference.get("namespace"):
        return f"{reference['namespace']}/{reference.get('name', '')}"
    return f"*/{reference.get('name', '')}"


KIND: Final = Kind(
    "ValidatingAdmissionPolicyBinding",
    "validatingadmissionpolicybindings",
    group=GROUP,
    namespaced=False,
    rank=10,
    generation=True,
    asks=True,
    whole_rules=True,
    defaults=_defaults,
    validate=_validate,
    metadata_checks=(1, 0),
    unconditional=False,
    columns=(
        NAME,
        Column(
            "PolicyName",
            "string",
            "PolicyName indicates the policy definition which the policy binding binded to",
            text_of("spec", "policyName"),
        ),
        Column(
            "ParamRef", "string", "ParamRef indicates the param resource which sets the configration param", _parameter
        ),
        AGE,
    ),
)
