"""ValidatingAdmissionPolicyBindings: where a policy holds and what follows.

Source: pkg/apis/admissionregistration (defaults, validation), pkg/printers, v1.34.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from controllers.kinds.admissionregistration.matching import GROUP, match, match_defaults
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
_NOT_FOUND: Final = ("Deny", "Allow")
_EXCLUSIVE: Final = "name and selector are mutually exclusive"


def _defaults(document: dict[str, Any]) -> None:
    match_defaults(child(document, "spec").get("matchResources"))


def _validate(document: dict[str, Any]) -> list[Cause]:
    spec = document["spec"]
    name = spec.get("policyName") or ""
    causes = fields.subdomain("spec.policyName", name) if name else [fields.required("spec.policyName")]
    causes += _param_ref("spec.paramRef", spec.get("paramRef"))
    causes += match("spec.matchResources", spec.get("matchResources"))
    actions, field = spec.get("validationActions") or [], "spec.validationActions"
    for index, action in enumerate(actions):
        if action not in _ACTIONS:
            causes.append(fields.unsupported(f"{field}[{index}]", action, _ACTIONS))
        if action in actions[:index]:
            causes.append(fields.duplicate(f"{field}[{index}]", action))
    if {"Deny", "Warn"} <= set(actions):
        causes.append(fields.bad(field, actions, _TWICE))
    if not actions:
        causes.append(fields.required(field, "at least one validation action is required"))
    return causes


def _param_ref(field: str, reference: Mapping[str, Any] | None) -> list[Cause]:
    if reference is None:
        return []
    name, selector = reference.get("name") or "", reference.get("selector")
    causes = fields.path_segment(f"{field}.name", name) if name else []
    if name and selector is not None:
        causes.append(fields.not_allowed(f"{field}.name", _EXCLUSIVE))
    if selector is not None:
        causes += fields.label_selector(f"{field}.selector", selector)
        if name:
            causes.append(fields.not_allowed(f"{field}.selector", _EXCLUSIVE))
    elif not name:
        causes.append(fields.required(field, "one of name or selector must be specified"))
    action = reference.get("parameterNotFoundAction") or ""
    if not action:
        causes.append(fields.required(f"{field}.parameterNotFoundAction"))
    elif action not in _NOT_FOUND:
        causes.append(fields.unsupported(f"{field}.parameterNotFoundAction", action, _NOT_FOUND, ordered=False))
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
    categories=("api-extensions",),
    namespaced=False,
    rank=10,
    generation=True,
    asks=False,
    whole_rules=True,
    defaults=_defaults,
    validate=_validate,
    any_finalizers=True,
    metadata_looks="w",
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
