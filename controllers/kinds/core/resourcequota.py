"""ResourceQuotas: limits of what a namespace may ask for in sum."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from controllers.kinds.columns import AGE, NAME
from controllers.kinds.core import resources
from controllers.kinds.core.pod.defaults import round_resources
from controllers.registry import fields, internal
from controllers.registry.kind import Column, Kind
from controllers.registry.subresources import STATUS
from scheduler_core.api.document import at, child
from scheduler_core.api.errors import Cause


def _prepare(document: dict[str, Any]) -> None:
    document["status"] = {}


def _defaults(document: dict[str, Any]) -> None:
    round_resources(child(document, "spec").get("hard"))


_SCOPES: Final = (
    "Terminating", "NotTerminating", "BestEffort", "NotBestEffort", "PriorityClass", "CrossNamespacePodAffinity",
    "VolumeAttributesClass",
)  # fmt: skip
_TOLD_BY_EXISTENCE: Final = (
    "BestEffort",
    "NotBestEffort",
    "Terminating",
    "NotTerminating",
    "CrossNamespacePodAffinity",
)
_CONFLICTS: Final = ({"BestEffort", "NotBestEffort"}, {"Terminating", "NotTerminating"})
_OF_PODS: Final = ("pods", "cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory")
_OF_CLAIMS: Final = ("persistentvolumeclaims", "requests.storage")
_MUST_EXIST: Final = (
    "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, "
    "ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"
)


def _applies(scope: str, resource: str) -> bool:
    """Return whether a scope says something of a resource (IsResourceQuotaScopeValidForResource)."""
    if scope == "BestEffort":
        return resource == "pods"
    if scope == "VolumeAttributesClass":
        return resource in _OF_CLAIMS
    return scope not in _SCOPES or resource in _OF_PODS


def _scopes(spec: Mapping[str, Any]) -> list[Cause]:
    """Check spec.scopes (validateResourceQuotaScopes)."""
    scopes = spec.get("scopes") or []
    causes: list[Cause] = []
    bounded = [name for name in sorted(spec.get("hard") or ()) if resources.is_of_quotas(name)]
    for scope in scopes:
        if scope not in _SCOPES:
            causes.append(fields.bad("spec.scopes", scopes, "unsupported scope"))
        why = "unsupported scope applied to resource"
        causes += [fields.bad("spec.scopes", scopes, why) for name in bounded if not _applies(scope, name)]
    return causes + [
        fields.bad("spec.scopes", scopes, "conflicting scopes") for one in _CONFLICTS if one <= set(scopes)
    ]


def _selector(spec: Mapping[str, Any]) -> list[Cause]:
    """Check spec.scopeSelector (validateScopedResourceSelectorRequirement)."""
    where = "spec.scopeSelector.matchExpressions"
    selector = spec.get("scopeSelector") or {}
    causes: list[Cause] = []
    bounded = [name for name in sorted(spec.get("hard") or ()) if resources.is_of_quotas(name)]
    seen: set[str] = set()
    for one in selector.get("matchExpressions") or ():
        scope, operator, values = one.get("scopeName") or "", one.get("operator") or "", one.get("values") or []
        if scope not in _SCOPES:
            causes.append(fields.bad(f"{where}.scopeName", scope, "unsupported scope"))
        shown = internal.shown(selector, "core.ScopeSelector")
        why = "unsupported scope applied to resource"
        causes += [fields.bad(where, shown, why) for name in bounded if not _applies(scope, name)]
        if scope in _TOLD_BY_EXISTENCE and operator != "Exists":
            causes.append(fields.bad(f"{where}.operator", operator, _MUST_EXIST))
        if operator in ("In", "NotIn") and not values:
            why = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"
            causes.append(fields.required(f"{where}.values", why))
        elif operator in ("Exists", "DoesNotExist") and values:
            why = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"
            causes.append(fields.bad(f"{where}.values", values, why))
        elif operator not in ("In", "NotIn", "Exists", "DoesNotExist"):
            causes.append(fields.bad(f"{where}.operator", operator, "not a valid selector operator"))
        seen.add(scope)
    told = spec.get("scopes")
    return causes + [
        fields.bad("spec.scopeSelector.scopes", told, "conflicting scopes") for one in _CONFLICTS if one <= seen
    ]


def _validate(document: dict[str, Any]) -> list[Cause]:
    spec = document.get("spec") or {}
    causes = resources.amounts("spec.hard", spec.get("hard"), resources.quota_name)
    return causes + _scopes(spec) + _selector(spec)


def _validate_update(new: dict[str, Any], old: Mapping[str, Any]) -> list[Cause]:
    now, was = (at(document, "spec", "scopes") or [] for document in (new, old))
    return [] if set(now) == set(was) else [fields.bad("spec.scopes", now or None, "field is immutable")]


def _status_rules(document: dict[str, Any], old: Mapping[str, Any]) -> list[Cause]:
    """Check a status (ValidateResourceQuotaStatusUpdate)."""
    status = document["status"]
    return [
        cause
        for key in ("hard", "used")
        for cause in resources.amounts(f"status.{key}", status.get(key), resources.quota_name)
    ]


def _used(prefix: str) -> Any:
    def cell(document: Mapping[str, Any], age: Any) -> str:
        hard = at(document, "status", "hard") or {}
        used = at(document, "status", "used") or {}
        names = sorted(name for name in hard if name.startswith("limits.") == (prefix == "limits."))
        return ", ".join(f"{name}: {used.get(name, '0')}/{hard[name]}" for name in names)

    return cell


KIND: Final = Kind(
    "ResourceQuota",
    "resourcequotas",
    short_names=("quota",),
    subresources=(replace(STATUS, part_rules=_status_rules),),
    keeper="resourcequota",
    rank=2,
    students=False,
    prepare=_prepare,
    defaults=_defaults,
    validate=_validate,
    validate_update=_validate_update,
    whole_rules=True,
    returned_when_deleted=True,
    metadata_looks="c",
    columns=(
        NAME,
        Column(
            "Request",
            "string",
            "Request represents a minimum amount of cpu/memory that a container may consume.",
            _used(""),
        ),
        Column(
            "Limit",
            "string",
            "Limits control the maximum amount of cpu/memory that a container may use independent of contention on "
            "the node.",
            _used("limits."),
        ),
        AGE,
    ),
)
