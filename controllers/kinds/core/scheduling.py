"""Rules of what the scheduler reads: affinity, taints, tolerations, topology spread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from controllers.registry import fields, internal
from scheduler_core.api.errors import Cause
from scheduler_core.api.label_names import label_value_errors

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
        causes += node_selector_term(f"{where}.preference", preferred.get("preference") or {}, preferred=True)
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


def node_selector_term(field: str, term: Mapping[str, Any], *, preferred: bool = False) -> list[Cause]:
    """Check one term: conditions on labels and on the node's name; what is `preferred` may name impossible values."""
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
        for position, value in enumerate(() if preferred else values):
            causes += fields.label_value(f"{where}.values[{position}]", value)
    for index, condition in enumerate(term.get("matchFields") or ()):
        causes += _match_field(f"{field}.matchFields[{index}]", condition)
    return causes


def _match_field(where: str, condition: Mapping[str, Any]) -> list[Cause]:
    values = condition.get("values") or []
    causes: list[Cause] = []
    if condition.get("operator") not in ("In", "NotIn"):
        causes.append(fields.bad(f"{where}.operator", condition.get("operator") or "", "not a valid selector operator"))
    elif len(values) != 1:
        why = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        causes.append(fields.required(f"{where}.values", why))
    key = condition.get("key") or ""
    if key != "metadata.name":
        return [*causes, fields.bad(f"{where}.key", key, "not a valid field selector key")]
    return causes + [
        cause for at, value in enumerate(values) for cause in fields.subdomain(f"{where}.values[{at}]", value)
    ]


def _pod_term(field: str, term: Mapping[str, Any]) -> list[Cause]:
    causes = fields.label_selector(f"{field}.labelSelector", term.get("labelSelector"))
    causes += fields.label_selector(f"{field}.namespaceSelector", term.get("namespaceSelector"))
    for name in term.get("namespaces") or ():
        causes += fields.label_name(f"{field}.namespace", name)
    causes += _label_keys(field, term)
    key = term.get("topologyKey") or ""
    if not key:
        causes.append(fields.required(f"{field}.topologyKey", "can not be empty"))
    return causes + fields.qualified_name(f"{field}.topologyKey", key)


def _label_keys(field: str, term: Mapping[str, Any]) -> list[Cause]:
    """Check keys whose values a pod brings along (ValidateMatchLabelKeysAndMismatchLabelKeys)."""
    selector = term.get("labelSelector")
    causes: list[Cause] = []
    for name in ("matchLabelKeys", "mismatchLabelKeys"):
        keys = term.get(name) or ()
        if keys and selector is None:
            why = "must not be specified when labelSelector is not set"
            causes.append(fields.not_allowed(f"{field}.{name}", why))
            continue
        for index, key in enumerate(keys):
            causes += fields.qualified_name(f"{field}.{name}[{index}]", key)
    own = {key: index for index, key in enumerate(term.get("matchLabelKeys") or ())}
    chosen = set((selector or {}).get("matchLabels") or ())
    for expression in (selector or {}).get("matchExpressions") or ():
        key = expression.get("key") or ""
        if key in own and key in chosen:
            why = "exists in both matchLabelKeys and labelSelector"
            causes.append(fields.bad(f"{field}[{own[key]}]", key, why))
        chosen.add(key)
    others = term.get("mismatchLabelKeys") or ()
    why = "exists in both matchLabelKeys and mismatchLabelKeys"
    return causes + [fields.bad(f"{field}.matchLabelKeys[{at}]", key, why) for key, at in own.items() if key in others]


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
            wrong = label_value_errors(entry.get("value") or "")
            causes += [fields.bad(f"{where}.operator", entry.get("value"), ";".join(wrong))] if wrong else []
        elif operator == "Exists":
            if entry.get("value"):
                why = "value must be empty when `operator` is 'Exists'"
                causes.append(fields.bad(f"{where}.operator", entry["value"], why))
        else:
            causes.append(fields.unsupported(f"{where}.operator", operator, ("Equal", "Exists")))
        causes += fields.one_of(f"{where}.effect", effect, EFFECTS, ordered=False)
    return causes


def taints(field: str, values: Sequence[Mapping[str, Any]] | None) -> list[Cause]:
    """Check spec.taints of a node (validateNodeTaints)."""
    causes: list[Cause] = []
    seen: set[tuple[str, str]] = set()
    for index, taint in enumerate(values or ()):
        where = f"{field}[{index}]"
        key, effect = taint.get("key") or "", taint.get("effect") or ""
        causes += fields.qualified_name(f"{where}.key", key)
        wrong = label_value_errors(taint.get("value") or "")
        causes += [fields.bad(f"{where}.value", taint.get("value"), ";".join(wrong))] if wrong else []
        causes += fields.one_of(f"{where}.effect", effect, EFFECTS, needed=True, ordered=False)
        if (key, effect) in seen:
            found = fields.duplicate(where, internal.shown(taint, "core.Taint"))
            why = f"{found.message}: taints must be unique by key and effect pair"
            causes.append(Cause(where, why, found.reason))
        seen.add((key, effect))
    return causes


def spread(field: str, constraints: Sequence[Mapping[str, Any]] | None) -> list[Cause]:
    """Check spec.topologySpreadConstraints."""
    causes: list[Cause] = []
    listed = list(constraints or ())
    pairs = [(one.get("topologyKey") or "", one.get("whenUnsatisfiable") or "") for one in listed]
    for index, constraint in enumerate(listed):
        where = f"{field}[{index}]"
        skew, (key, when) = constraint.get("maxSkew", 0), pairs[index]
        causes += fields.positive(f"{where}.maxSkew", skew)
        if not key:
            causes.append(fields.required(f"{where}.topologyKey", "can not be empty"))
        if when not in ("DoNotSchedule", "ScheduleAnyway"):
            known = ("DoNotSchedule", "ScheduleAnyway")
            causes.append(fields.unsupported(f"{where}.whenUnsatisfiable", when, known))
        if pairs[index] in pairs[index + 1 :]:
            causes.append(fields.duplicate(f"{where}.{{topologyKey, whenUnsatisfiable}}", f"{{{key}, {when}}}"))
        domains = constraint.get("minDomains")
        causes += fields.positive(f"{where}.minDomains", domains)
        if domains is not None and when != "DoNotSchedule":
            why = "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not " + when
            causes.append(fields.bad(f"{where}.minDomains", domains, why))
        for policy in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
            causes += fields.set_one_of(f"{where}.{policy}", constraint.get(policy), ("Honor", "Ignore"))
        causes += _label_keys(where, {**constraint, "mismatchLabelKeys": None})
        causes += fields.label_selector(f"{where}.labelSelector", constraint.get("labelSelector"))
    return causes
