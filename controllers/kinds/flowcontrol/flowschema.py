"""FlowSchemas: which requests have which priority level. Stored; a session's own limits hold.

Source: pkg/apis/flowcontrol (defaults, validation), pkg/printers, v1.34.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from controllers.kinds.columns import AGE, NAME, NONE, text_of
from controllers.kinds.flowcontrol import bootstrap
from controllers.kinds.flowcontrol.bootstrap import GROUP, LEVELS, SCHEMAS
from controllers.kinds.flowcontrol.matching import level_of, place_of
from controllers.registry import fields, internal
from controllers.registry.kind import Column, Kind, Lookup
from controllers.registry.subresources import STATUS_ONLY
from scheduler_core.api.document import Document, at, child, condition
from scheduler_core.api.errors import Cause

PRECEDENCE_DEFAULT: Final = 1000
PRECEDENCE_MAX: Final = 10_000
"""The last place in which a schema is looked at, as upstream."""

_METHODS: Final = ("ByNamespace", "ByUser")
_SUBJECTS: Final = {"Group": "group", "ServiceAccount": "serviceAccount", "User": "user"}
_VERBS: Final = ("create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch")


def _prepare(document: dict[str, Any]) -> None:
    document["status"] = {}


def _defaults(document: dict[str, Any]) -> None:
    spec = child(document, "spec")
    child(spec, "priorityLevelConfiguration")
    if not spec.get("matchingPrecedence"):
        spec["matchingPrecedence"] = PRECEDENCE_DEFAULT
    for rule in spec.get("rules") or ():
        for resources in rule.get("resourceRules") or ():
            # Upstream tells that there are none.
            resources.setdefault("namespaces", None)


def _validate(document: dict[str, Any]) -> list[Cause]:
    spec = document["spec"]
    causes = _precedence(document["metadata"]["name"], spec["matchingPrecedence"])
    method = at(spec, "distinguisherMethod", "type")
    if "distinguisherMethod" in spec and method not in _METHODS:
        shown = internal.shown(spec["distinguisherMethod"], "flowcontrol.FlowDistinguisherMethod")
        causes.append(fields.unsupported("spec.distinguisherMethod.type", shown, _METHODS))
    name, field = spec["priorityLevelConfiguration"].get("name") or "", "spec.priorityLevelConfiguration.name"
    causes += fields.subdomain(field, name) if name else [fields.required(field, "must reference a priority level")]
    for index, rule in enumerate(spec.get("rules") or ()):
        causes += _rule(f"spec.rules[{index}]", rule)
    return causes


def _precedence(name: str, number: int) -> list[Cause]:
    field = "spec.matchingPrecedence"
    if number <= 0:
        return [fields.bad(field, number, "must be a positive value")]
    if number > PRECEDENCE_MAX:
        return [fields.bad(field, number, f"must not be greater than {PRECEDENCE_MAX}")]
    if number == 1 and name != "exempt":
        return [fields.bad(field, number, "only the schema named 'exempt' may have matchingPrecedence 1")]
    return []


def _rule(where: str, rule: Mapping[str, Any]) -> list[Cause]:
    causes: list[Cause] = []
    subjects = rule.get("subjects") or ()
    if not subjects:
        causes.append(fields.required(f"{where}.subjects", "subjects must contain at least one value"))
    for index, subject in enumerate(subjects):
        causes += _subject(f"{where}.subjects[{index}]", subject)
    resources, paths = rule.get("resourceRules") or (), rule.get("nonResourceRules") or ()
    if not resources and not paths:
        why = "at least one of resourceRules and nonResourceRules has to be non-empty"
        causes.append(fields.required(where, why))
    for index, one in enumerate(resources):
        causes += _resources(f"{where}.resourceRules[{index}]", one)
    for index, one in enumerate(paths):
        place = f"{where}.nonResourceRules[{index}]"
        causes += _verbs(place, one)
        lack = "nonResourceURLs must contain at least one value"
        causes += _listed(place, one, "nonResourceURLs", "non-resource URLs", lack)
    return causes


def _subject(where: str, subject: Mapping[str, Any]) -> list[Cause]:
    of = subject.get("kind") or ""
    if of not in _SUBJECTS:
        return [fields.unsupported(f"{where}.kind", of, _SUBJECTS)]
    key = _SUBJECTS[of]
    field, named = f"{where}.{key}", subject.get(key)
    causes: list[Cause] = []
    if named is None:
        causes.append(fields.required(field, f"{key} is required when subject kind is '{of}'"))
    else:
        if not named.get("name"):
            causes.append(fields.required(f"{field}.name"))
        if of == "ServiceAccount" and not named.get("namespace"):
            causes.append(fields.required(f"{field}.namespace", "must specify namespace for service account"))
    for other, place in _SUBJECTS.items():
        if other != of and place in subject:
            why = f"{place} is forbidden when subject kind is not '{other}'"
            causes.append(fields.not_allowed(f"{where}.{place}", why))
    return causes


def _verbs(where: str, rule: Mapping[str, Any]) -> list[Cause]:
    verbs, field = rule.get("verbs") or [], f"{where}.verbs"
    if not verbs:
        return [fields.required(field, "verbs must contain at least one value")]
    if "*" in verbs:
        return [fields.bad(field, verbs, "if '*' is present, must not specify other verbs")] if len(verbs) > 1 else []
    return [] if set(verbs) <= set(_VERBS) else [fields.unsupported(field, verbs, _VERBS)]


def _listed(where: str, rule: Mapping[str, Any], key: str, what: str, lack: str) -> list[Cause]:
    values, field = rule.get(key) or [], f"{where}.{key}"
    if not values:
        return [fields.required(field, lack)]
    if "*" in values:
        why = f"if '*' is present, must not specify other {what}"
        return [fields.bad(field, values, why)] if len(values) > 1 else []
    check = _MEMBERS.get(key)
    if check is None:
        return []
    return [cause for index, value in enumerate(values) for cause in check(f"{field}[{index}]", value)]


def _namespace(field: str, name: str) -> list[Cause]:
    """Check a namespace; each sentence begins with what may stand there."""
    told = fields.label_name(field, name)
    shown = f"Invalid value: {fields.shown(name)}: "
    return [Cause(one.field, one.message.replace(shown, shown + _NAMESPACES, 1), one.reason) for one in told]


def _url(field: str, path: str) -> list[Cause]:
    """Check a path of no resource (ValidateNonResourceURLPath)."""
    if path == "/":
        return []
    wrong = (
        ("must not be empty", not path),
        ("must start with slash", not path.startswith("/")),
        ("must not contain white-space", " " in path),
        ("must not contain double slash", "//" in path),
        ("wildcard can only do suffix matching", "*" in path.removesuffix("/*")),
    )
    return [fields.bad(field, path, why) for why, told in wrong if told][:1]


_NAMESPACES: Final = "each member of this list must be '*' or a DNS-1123 label; "
_MEMBERS: Final[Mapping[str, Callable[[str, str], list[Cause]]]] = {"namespaces": _namespace, "nonResourceURLs": _url}
"""List → what each of its members has to be."""


def _resources(where: str, rule: Mapping[str, Any]) -> list[Cause]:
    causes = _verbs(where, rule)
    causes += _listed(where, rule, "apiGroups", "api groups", "resource rules must supply at least one api group")
    causes += _listed(where, rule, "resources", "resources", "resource rules must supply at least one resource")
    if rule.get("clusterScope") and not rule.get("namespaces"):
        return causes
    lack = "resource rules that are not cluster scoped must supply at least one namespace"
    return causes + _listed(where, rule, "namespaces", "namespaces", lack)


def _missing_level(document: Mapping[str, Any], age: Any) -> str:
    dangling = condition(document, "Dangling")
    return "?" if dangling is None else str(dangling.get("status", ""))


def _follow(document: Mapping[str, Any], lookup: Lookup) -> Document | None:
    """Say whether its level is there, as the server's own flow control does (apiserver, util/flowcontrol)."""
    level = level_of(document)
    found = level in bootstrap.defaults(LEVELS) or lookup.get(LEVELS, "", level) is not None
    known = condition(document, "Dangling") or {}
    told = bootstrap.dangling(level, found, lookup.now)
    if known.get("status") == told["status"]:
        told = {**told, "lastTransitionTime": known.get("lastTransitionTime")}
    if known == told:
        return None
    others = [one for one in at(document, "status", "conditions") or () if one.get("type") != "Dangling"]
    return {**document, "status": {**(document.get("status") or {}), "conditions": [*others, told]}}


def status_rules(document: Document, old: Mapping[str, Any]) -> list[Cause]:
    """Check the conditions of a status, those of a PriorityLevelConfiguration too: each has a type of its own."""
    causes: list[Cause] = []
    seen: set[str] = set()
    for index, one in enumerate(at(document, "status", "conditions") or ()):
        field, of = f"status.conditions[{index}].type", one.get("type") or ""
        causes += [fields.duplicate(field, of)] if of in seen else []
        seen.add(of)
        causes += [] if of else [fields.required(field)]
    return causes


STATUS: Final = replace(STATUS_ONLY, part_rules=status_rules)
"""The status of both kinds of this group."""

_SPEC: Final = "flowcontrol_v1.FlowSchemaSpec"

KIND: Final = Kind(
    "FlowSchema",
    "flowschemas",
    group=GROUP,
    namespaced=False,
    subresources=(STATUS,),
    rank=9,
    generation=True,
    whole_rules=True,
    follow=_follow,
    computed=bootstrap.computed(SCHEMAS),
    row_order=place_of,
    prepare=_prepare,
    defaults=_defaults,
    validate=_validate,
    metadata_looks="w",
    columns=(
        NAME,
        Column(
            "PriorityLevel",
            "string",
            "The level that it leads to.",
            text_of("spec", "priorityLevelConfiguration", "name"),
            source="flowcontrol_v1.PriorityLevelConfigurationReference#name",
        ),
        Column(
            "MatchingPrecedence",
            "string",
            "Its place among the others.",
            lambda doc, age: at(doc, "spec", "matchingPrecedence") or 0,
            source=f"{_SPEC}#matchingPrecedence",
        ),
        Column(
            "DistinguisherMethod",
            "string",
            "What makes a flow of its own.",
            lambda doc, age: at(doc, "spec", "distinguisherMethod", "type") or NONE,
            source=f"{_SPEC}#distinguisherMethod",
        ),
        AGE,
        Column("MissingPL", "string", "references a broken or non-existent PriorityLevelConfiguration", _missing_level),
    ),
)
