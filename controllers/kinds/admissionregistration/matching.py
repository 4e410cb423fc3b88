"""What requests a policy or a webhook is asked about: rules, selectors and conditions, checked as upstream does.

Source: pkg/apis/admissionregistration/validation, v1.34.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from controllers.registry import fields
from scheduler_core.api.errors import Cause
from scheduler_core.expressions.language import CompileError, expression
from scheduler_core.expressions.shapes import Shape

GROUP: Final = "admissionregistration.k8s.io"
CONDITIONS_MAX: Final = 64
"""Match conditions of one webhook or policy."""

_OPERATIONS: Final = ("*", "CREATE", "UPDATE", "DELETE", "CONNECT")
_SCOPES: Final = ("*", "Cluster", "Namespaced")
_MATCHES: Final = ("Equivalent", "Exact")


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
    causes = word(f"{field}.matchPolicy", resources["matchPolicy"], _MATCHES)
    for key in ("namespaceSelector", "objectSelector"):
        causes += fields.label_selector(f"{field}.{key}", resources[key])
    for key in ("resourceRules", "excludeResourceRules"):
        for index, rule in enumerate(resources.get(key) or ()):
            where = f"{field}.{key}[{index}]"
            names = rule.get("resourceNames") or ()
            for at, name in enumerate(names):
                causes += fields.path_segment(f"{where}.resourceNames[{at}]", name)
                if name in names[:at]:
                    causes.append(fields.duplicate(f"{where}.resourceNames[{at}]", name))
            causes += rule_causes(where, rule)
    return causes


def rule_causes(where: str, rule: Mapping[str, Any]) -> list[Cause]:
    """Check a rule with operations."""
    operations = rule.get("operations") or ()
    causes = _several(f"{where}.operations", operations, "operations")
    for index, operation in enumerate(operations):
        causes += word(f"{where}.operations[{index}]", operation, _OPERATIONS)
    causes += _several(f"{where}.apiGroups", rule.get("apiGroups") or (), "API groups")
    versions = rule.get("apiVersions") or ()
    causes += _several(f"{where}.apiVersions", versions, "API versions")
    causes += [fields.required(f"{where}.apiVersions[{index}]") for index, one in enumerate(versions) if not one]
    causes += _resources(f"{where}.resources", rule.get("resources") or ())
    return causes + word(f"{where}.scope", rule["scope"], _SCOPES)


def _several(where: str, values: Sequence[str], what: str) -> list[Cause]:
    if not values:
        return [fields.required(where)]
    if len(values) > 1 and "*" in values:
        return [fields.bad(where, list(values), f"if '*' is present, must not specify other {what}")]
    return []


def _resources(where: str, resources: Sequence[str]) -> list[Cause]:
    causes = [] if resources else [fields.required(where)]
    whole, below = set(), set()
    for index, one in enumerate(resources):
        if not one:
            causes.append(fields.required(f"{where}[{index}]"))
            continue
        resource, slash, part = one.partition("/")
        if not slash:
            continue
        if resource in whole:
            why = f"if '{resource}/*' is present, must not specify {one}"
            causes.append(fields.bad(f"{where}[{index}]", one, why))
        if part in below:
            causes.append(fields.bad(f"{where}[{index}]", one, f"if '*/{part}' is present, must not specify {one}"))
        if part == "*":
            whole.add(resource)
        if resource == "*":
            below.add(part)
    if len(resources) > 1 and "*/*" in resources:
        causes.append(fields.bad(where, list(resources), "if '*/*' is present, must not specify other resources"))
    # As upstream's: what counts is the last one without a part below it.
    plain = [one for one in resources if one and "/" not in one]
    if "*" in resources and plain and plain[-1] != "*":
        why = "if '*' is present, must not specify other resources without subresources"
        causes.append(fields.bad(where, list(resources), why))
    return causes


def word(where: str, value: str, allowed: Sequence[str]) -> list[Cause]:
    """Check one of a few words."""
    return [] if value in allowed else [fields.unsupported(where, value, allowed)]


def conditions(where: str, written: Sequence[Mapping[str, Any]], names: Mapping[str, Shape]) -> list[Cause]:
    """Check match conditions, whose expressions may name these variables."""
    causes = [fields.too_many(where, len(written), CONDITIONS_MAX)] if len(written) > CONDITIONS_MAX else []
    seen: set[str] = set()
    for index, condition in enumerate(written):
        one, name = f"{where}[{index}]", condition.get("name") or ""
        source = (condition.get("expression") or "").strip()
        causes += (
            compiles(f"{one}.expression", source, names, ("bool",))
            if source
            else [fields.required(f"{one}.expression")]
        )
        causes += fields.qualified_name(f"{one}.name", name) if name else [fields.required(f"{one}.name")]
        if name in seen:
            causes.append(fields.duplicate(f"{one}.name", name))
        elif name:
            seen.add(name)
    return causes


def compiles(where: str, source: str, names: Mapping[str, Shape], wanted: tuple[str, ...]) -> list[Cause]:
    """Check an expression."""
    try:
        expression(source, names, wanted)
    except CompileError as wrong:
        return [fields.internal(where, str(wrong)) if wrong.internal else fields.bad(where, source, str(wrong))]
    return []
