"""ValidatingAdmissionPolicies: rules in CEL of what may be written. Stored; nothing evaluates them yet.

Source: pkg/apis/admissionregistration (defaults, validation), pkg/printers, v1.34.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from controllers.kinds.columns import AGE, NAME, UNSET
from controllers.registry import fields
from controllers.registry.kind import Column, Kind
from controllers.registry.subresources import STATUS_ONLY
from scheduler_core.api.document import at, child
from scheduler_core.api.errors import Cause

GROUP: Final = "admissionregistration.k8s.io"
_FAILURES: Final = ("Fail", "Ignore")
_MATCHES: Final = ("Equivalent", "Exact")
_STRUCT: Final = "admissionregistration_v1.ValidatingAdmissionPolicySpec"


def match_defaults(resources: dict[str, Any] | None) -> None:
    """Fill in what MatchResources leave out."""
    if resources is None:
        return
    resources.setdefault("matchPolicy", "Equivalent")
    resources.setdefault("namespaceSelector", {})
    resources.setdefault("objectSelector", {})
    for key in ("resourceRules", "excludeResourceRules"):
        for rule in resources.get(key) or ():
            rule.setdefault("scope", "*")


def match(field: str, resources: Mapping[str, Any] | None) -> list[Cause]:
    """Check MatchResources."""
    if resources is None:
        return []
    causes = fields.one_of(f"{field}.matchPolicy", resources["matchPolicy"], _MATCHES)
    for key in ("namespaceSelector", "objectSelector"):
        causes += fields.label_selector(f"{field}.{key}", resources[key])
    for key in ("resourceRules", "excludeResourceRules"):
        for index, rule in enumerate(resources.get(key) or ()):
            where = f"{field}.{key}[{index}]"
            causes += [
                fields.required(f"{where}.{name}")
                for name in ("apiGroups", "apiVersions", "resources", "operations")
                if not rule.get(name)
            ]
    return causes


def _prepare(document: dict[str, Any]) -> None:
    document["status"] = {}


def _defaults(document: dict[str, Any]) -> None:
    spec = child(document, "spec")
    spec.setdefault("failurePolicy", "Fail")
    match_defaults(spec.get("matchConstraints"))


def _validate(document: dict[str, Any]) -> list[Cause]:
    spec = document["spec"]
    causes: list[Cause] = []
    if spec["failurePolicy"] not in _FAILURES:
        causes.append(fields.unsupported("spec.failurePolicy", spec["failurePolicy"], _FAILURES))
    constraints = spec.get("matchConstraints")
    if constraints is None:
        causes.append(fields.required("spec.matchConstraints"))
    elif not constraints.get("resourceRules"):
        causes.append(fields.required("spec.matchConstraints.resourceRules"))
    causes += match("spec.matchConstraints", constraints)
    validations = spec.get("validations") or ()
    if not validations and not spec.get("auditAnnotations"):
        why = "validations or auditAnnotations must contain at least one item"
        causes.append(fields.required("spec.validations", why))
    for index, rule in enumerate(validations):
        if not (rule.get("expression") or "").strip():
            causes.append(fields.required(f"spec.validations[{index}].expression", "expression is not specified"))
    return causes


def _parameter(document: Mapping[str, Any], age: Any) -> str:
    kind = at(document, "spec", "paramKind")
    return f"{kind.get('apiVersion', '')}/{kind.get('kind', '')}" if kind else UNSET


KIND: Final = Kind(
    "ValidatingAdmissionPolicy",
    "validatingadmissionpolicies",
    group=GROUP,
    namespaced=False,
    subresources=(STATUS_ONLY,),
    rank=9,
    generation=True,
    asks=False,
    whole_rules=True,
    prepare=_prepare,
    defaults=_defaults,
    validate=_validate,
    metadata_checks=(1, 0),
    unconditional=False,
    columns=(
        NAME,
        Column(
            "Validations",
            "integer",
            "Validations indicates the number of validation rules defined in this configuration",
            lambda doc, age: len(at(doc, "spec", "validations") or ()),
        ),
        Column(
            "ParamKind",
            "string",
            "ParamKind specifies the kind of resources used to parameterize this policy",
            _parameter,
        ),
        AGE,
    ),
)
