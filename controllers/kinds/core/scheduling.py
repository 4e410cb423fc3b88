"""Rules of what the scheduler reads: affinity, taints, tolerations, topology spread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from controllers.registry import fields
from scheduler_core.api.errors import Cause

EFFECTS: Final = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"


def affinity(field: str, value: Mapping[str, Any] | None) -> list[Cause]:
    """Check spec.affinity."""
    if value is None:
        return []
    causes: list[Cause] = []
    node = value.get("nodeAffinity") or {}
    if node.get(_REQUIRED) is not None:
        causes += node_selector(f"{field}.nodeAffinity.{_REQUIRED}", node[_REQUIRED])
    for index, preferred in enumerate(node.get(_PREFERRED) or ()):
        where = f"{field}.nodeAffinity.{_PREFERRED}[{index}]"
        causes += _weight(where, preferred)
        causes += node_selector_term(f"{where}.preference", preferred.get("preference") or {})
    for key in ("podAffinity", "podAntiAffinity"):
        pod = value.get(key) or {}
        for index, term in enumerate(pod.get(_REQUIRED) or ()):
            causes += _pod_term(f"{field}.{key}.{_REQUIRED}[{index}]", term)
        for index, preferred in enumerate(pod.get(_PREFERRED) or ()):
            where = f"{field}.{key}.{_PREFERRED}[{index}]"
            causes += _weight(where, preferred)
            causes += _pod_term(f"{where}.podAffinityTerm", preferred.get("podAffinityTerm") or {})
    return causes


def _weight(where: str, preferred: Mapping[str, Any]) -> list[Cause]:
    weight = preferred.get("weight", 0)
    return [] if 1 <= weight <= 100 else [fields.bad(f"{where}.weight", weight, "must be in the range 1-100")]


def node_selector(field: str, selector: Mapping[str, Any]) -> list[Cause]:
    """Check a v1.NodeSelector."""
    terms = selector.get("nodeSelectorTerms") or []
    if not terms:
        return [fields.required(f"{field}.nodeSelectorTerms", "must have at least one node selector term")]
    causes: list[Cause] = []
    for index, term in enumerate(terms):
        causes += node_selector_term(f"{field}.nodeSelectorTerms[{index}]", term)
    return causes


def node_selector_term(field: str, term: Mapping[str, Any]) -> list[Cause]:
    """Check one term: conditions on labels and on the node's name."""
    causes: list[Cause] = []
    for index, condition in enumerate(term.get("matchExpressions") or ()):
        where = f"{field}.matchExpressions[{index}]"
        operator, values = condition.get("operator", ""), condition.get("values") or []
        if operator in ("In", "NotIn"):
            if not values:
                causes.append(
                    fields.required(f"{where}.values", "must be specified when `operator` is 'In' or 'NotIn'")
                )
        elif operator in ("Exists", "DoesNotExist"):
            if values:
                why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
                causes.append(fields.not_allowed(f"{where}.values", why))
        elif operator in ("Gt", "Lt"):
            if len(values) != 1:
                why = "must be specified single value when `operator` is 'Lt' or 'Gt'"
                causes.append(fields.required(f"{where}.values", why))
        else:
            causes.append(fields.bad(f"{where}.operator", operator, "not a valid selector operator"))
        causes += fields.qualified_name(f"{where}.key", condition.get("key", ""))
    for index, condition in enumerate(term.get("matchFields") or ()):
        causes += _match_field(f"{field}.matchFields[{index}]", condition)
    return causes


def _match_field(where: str, condition: Mapping[str, Any]) -> list[Cause]:
    values = condition.get("values") or []
    causes: list[Cause] = []
    if condition.get("operator") not in ("In", "NotIn"):
        causes.append(fields.bad(f"{where}.operator", condition.get("operator"), "not a valid selector operator"))
    elif len(values) != 1:
        why = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        causes.append(fields.required(f"{where}.values", why))
    if condition.get("key") != "metadata.name":
        causes.append(fields.bad(f"{where}.key", condition.get("key"), "not a valid field selector key"))
    return causes


def _pod_term(field: str, term: Mapping[str, Any]) -> list[Cause]:
    causes = fields.label_selector(f"{field}.labelSelector", term.get("labelSelector"))
    causes += fields.label_selector(f"{field}.namespaceSelector", term.get("namespaceSelector"))
    for index, name in enumerate(term.get("namespaces") or ()):
        causes += fields.label_name(f"{field}.namespaces[{index}]", name)
    key = term.get("topologyKey") or ""
    if not key:
        causes.append(fields.required(f"{field}.topologyKey", "can not be empty"))
    else:
        causes += fields.qualified_name(f"{field}.topologyKey", key)
    return causes


def tolerations(field: str, values: Sequence[Mapping[str, Any]] | None) -> list[Cause]:
    """Check spec.tolerations."""
    causes: list[Cause] = []
    for index, entry in enumerate(values or ()):
        where = f"{field}[{index}]"
        key, operator, effect = entry.get("key") or "", entry.get("operator") or "", entry.get("effect") or ""
        if key:
            causes += fields.qualified_name(f"{where}.key", key)
        elif operator != "Exists":
            why = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
            causes.append(fields.bad(f"{where}.operator", operator, why))
        if "tolerationSeconds" in entry and effect != "NoExecute":
            why = "effect must be 'NoExecute' when `tolerationSeconds` is set"
            causes.append(fields.bad(f"{where}.effect", effect, why))
        if operator in ("Equal", ""):
            causes += fields.label_value(f"{where}.operator", entry.get("value") or "")
        elif operator == "Exists":
            if entry.get("value"):
                why = "value must be empty when `operator` is 'Exists'"
                causes.append(fields.bad(f"{where}.operator", entry["value"], why))
        else:
            causes.append(fields.unsupported(f"{where}.operator", operator, ("Equal", "Exists")))
        causes += fields.one_of(f"{where}.effect", effect, EFFECTS)
    return causes


def taints(field: str, values: Sequence[Mapping[str, Any]] | None) -> list[Cause]:
    """Check spec.taints of a node."""
    causes: list[Cause] = []
    seen: set[tuple[str, str]] = set()
    for index, taint in enumerate(values or ()):
        where = f"{field}[{index}]"
        key, effect = taint.get("key") or "", taint.get("effect") or ""
        causes += fields.qualified_name(f"{where}.key", key)
        causes += fields.label_value(f"{where}.value", taint.get("value") or "")
        causes += fields.one_of(f"{where}.effect", effect, EFFECTS, needed=True)
        if (key, effect) in seen:
            causes.append(fields.duplicate(where, f"{key}:{effect}"))
        seen.add((key, effect))
    return causes


def spread(field: str, constraints: Sequence[Mapping[str, Any]] | None) -> list[Cause]:
    """Check spec.topologySpreadConstraints."""
    causes: list[Cause] = []
    seen: set[tuple[str, str]] = set()
    for index, constraint in enumerate(constraints or ()):
        where = f"{field}[{index}]"
        skew, key = constraint.get("maxSkew", 0), constraint.get("topologyKey") or ""
        when = constraint.get("whenUnsatisfiable") or ""
        if skew <= 0:
            causes.append(fields.bad(f"{where}.maxSkew", skew, "must be greater than zero"))
        if not key:
            causes.append(fields.required(f"{where}.topologyKey", "can not be empty"))
        else:
            causes += fields.qualified_name(f"{where}.topologyKey", key)
        known = ("DoNotSchedule", "ScheduleAnyway")
        causes += fields.one_of(f"{where}.whenUnsatisfiable", when, known, needed=True)
        if (key, when) in seen:
            causes.append(fields.duplicate(f"{where}.{{topologyKey, whenUnsatisfiable}}", f"{{{key}, {when}}}"))
        seen.add((key, when))
        domains = constraint.get("minDomains")
        if domains is not None and domains <= 0:
            causes.append(fields.bad(f"{where}.minDomains", domains, "must be greater than zero"))
        if domains is not None and when != "DoNotSchedule":
            why = "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not " + when
            causes.append(fields.bad(f"{where}.minDomains", domains, why))
        for policy in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
            causes += fields.one_of(f"{where}.{policy}", constraint.get(policy), ("Honor", "Ignore"))
        causes += fields.label_selector(f"{where}.labelSelector", constraint.get("labelSelector"))
    return causes
