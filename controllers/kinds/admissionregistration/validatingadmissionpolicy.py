"""ValidatingAdmissionPolicies: rules in CEL of what may be written (`controllers.admission.validatingadmissionpolicy`).

Source: pkg/apis/admissionregistration (defaults, validation), pkg/printers, v1.34.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from controllers.kinds.admissionregistration.matching import GROUP, compiles, conditions, match, match_defaults
from controllers.kinds.columns import AGE, NAME, UNSET
from controllers.registry import fields
from controllers.registry.kind import Column, Kind
from controllers.registry.subresources import STATUS_ONLY
from scheduler_core.api.document import at, child
from scheduler_core.api.errors import Cause
from scheduler_core.expressions.policies import NAMES, PARAMETERIZED, in_messages, shape_of
from scheduler_core.expressions.shapes import Shape, object_of

_FAILURES: Final = ("Fail", "Ignore")
_REASONS: Final = ("Forbidden", "Invalid", "RequestEntityTooLarge")
_ITEMS: Final = "validations or auditAnnotations must contain at least one item"
_IDENTIFIER: Final = re.compile(r"[_a-zA-Z][_a-zA-Z0-9]*")
_WORDS: Final = """
    true false null in as break const continue else for function if import let loop package namespace return var void
    while
"""
_RESERVED: Final = frozenset(_WORDS.split())

ANNOTATIONS_MAX: Final = 20
"""Audit annotations of one policy."""

EXPRESSIONS_MAX: Final = 100
"""Variables of one policy, and validations; upstream knows no such number."""

VALUE_CHARS_MAX: Final = 5 * 1024
"""Characters of the expression of an audit annotation's value."""


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
    names: dict[str, Shape] = dict(NAMES)
    if spec.get("paramKind") is not None:
        names = dict(PARAMETERIZED)
        causes += _param_kind("spec.paramKind", spec["paramKind"])
    constraints = spec.get("matchConstraints")
    if constraints is None:
        causes.append(fields.required("spec.matchConstraints"))
    causes += match("spec.matchConstraints", constraints)
    if constraints is not None and not constraints.get("resourceRules"):
        causes.append(fields.required("spec.matchConstraints.resourceRules"))
    causes += conditions("spec.matchConditions", spec.get("matchConditions") or (), names)
    for key in ("variables", "validations"):
        if len(spec.get(key) or ()) > EXPRESSIONS_MAX:
            return [*causes, fields.too_many(f"spec.{key}", len(spec[key]), EXPRESSIONS_MAX)]
    variables: dict[str, Shape] = {}
    for index, variable in enumerate(spec.get("variables") or ()):
        causes += _variable(f"spec.variables[{index}]", variable, names, variables)
    validations, annotations = spec.get("validations") or (), spec.get("auditAnnotations") or ()
    if not validations and not annotations:
        causes += [fields.required("spec.validations", _ITEMS), fields.required("spec.auditAnnotations", _ITEMS)]
    for index, rule in enumerate(validations):
        causes += _validation(f"spec.validations[{index}]", rule, names)
    return causes + _annotations("spec.auditAnnotations", annotations, document["metadata"], names)


def _param_kind(where: str, kind: Mapping[str, Any]) -> list[Cause]:
    version, name = kind.get("apiVersion") or "", kind.get("kind") or ""
    causes = []
    if not version:
        causes.append(fields.required(f"{where}.apiVersion"))
    elif version.count("/") > 1:
        causes.append(fields.bad(f"{where}.apiVersion", version, f"unexpected GroupVersion string: {version}"))
    else:
        group, _, last = version.rpartition("/")
        if group:
            causes += fields.subdomain(f"{where}.apiVersion", group)
        if not last:
            causes.append(fields.bad(f"{where}.apiVersion", version, "version must be specified"))
        else:
            causes += fields.service_name(f"{where}.apiVersion", last)
    if not name:
        return [*causes, fields.required(f"{where}.kind")]
    for cause in fields.service_name("", name.lower()):
        why = cause.message.partition(": ")[2].partition(": ")[2]
        causes.append(fields.bad(f"{where}.kind", name, f"may have mixed case, but should otherwise match: {why}"))
    return causes


def _variable(
    where: str, variable: Mapping[str, Any], names: dict[str, Shape], variables: dict[str, Shape]
) -> list[Cause]:
    name, source = variable.get("name") or "", variable.get("expression") or ""
    causes = []
    if not name.strip():
        causes.append(fields.required(f"{where}.name", "name is not specified"))
    elif not _IDENTIFIER.fullmatch(name) or name in _RESERVED:
        causes.append(fields.bad(f"{where}.name", name, "must be a valid CEL identifier"))
    names["variables"] = object_of(**variables)
    if not source.strip():
        return [*causes, fields.required(f"{where}.expression", "expression is not specified")]
    causes += compiles(f"{where}.expression", source, names, ("any",))
    variables[name] = shape_of(source, names)
    names["variables"] = object_of(**variables)
    return causes


def _validation(where: str, rule: Mapping[str, Any], names: Mapping[str, Shape]) -> list[Cause]:
    source, told = rule.get("expression") or "", rule.get("messageExpression") or ""
    message, reason = rule.get("message") or "", rule.get("reason")
    if source.strip():
        causes = compiles(f"{where}.expression", source, names, ("bool",))
    else:
        causes = [fields.required(f"{where}.expression", "expression is not specified")]
    if told and not told.strip():
        causes.append(fields.bad(f"{where}.messageExpression", told, "must be non-empty if specified"))
    elif told:
        causes += compiles(f"{where}.messageExpression", told, in_messages(names), ("string",))
    if message and not message.strip():
        causes.append(fields.bad(f"{where}.message", message, "must be non-empty if specified"))
    elif re.search(r"[\n\r]", message.strip()):
        causes.append(fields.bad(f"{where}.message", message, "must not contain line breaks"))
    if reason is not None and reason not in _REASONS:
        causes.append(fields.unsupported(f"{where}.reason", reason, _REASONS))
    return causes


def _annotations(
    where: str, annotations: Sequence[Mapping[str, Any]], metadata: Mapping[str, Any], names: Mapping[str, Shape]
) -> list[Cause]:
    causes = []
    if len(annotations) > ANNOTATIONS_MAX:
        why = f"must not have more than {ANNOTATIONS_MAX} auditAnnotations"
        return [fields.bad(where, list(annotations), why)]
    for index, one in enumerate(annotations):
        key, source = one.get("key") or "", (one.get("valueExpression") or "").strip()
        causes += fields.qualified_name(f"{where}[{index}].key", f"{metadata.get('name', '')}/{key}")
        place = f"{where}[{index}].valueExpression"
        if not source:
            causes.append(fields.required(place, "valueExpression is not specified"))
        elif len(source) > VALUE_CHARS_MAX:
            causes.append(fields.required(place, f"must not exceed {VALUE_CHARS_MAX} bytes in length"))
        else:
            causes += compiles(place, source, names, ("string", "null_type"))
        if key in [other.get("key") or "" for other in annotations[:index]]:
            causes.append(fields.duplicate(f"{where}[{index}].key", key))
    return causes


def _parameter(document: Mapping[str, Any], age: Any) -> str:
    kind = at(document, "spec", "paramKind")
    return f"{kind.get('apiVersion', '')}/{kind.get('kind', '')}" if kind else UNSET


def _status_rules(document: dict[str, Any], old: Mapping[str, Any]) -> list[Cause]:
    causes: list[Cause] = []
    for index, one in enumerate(at(document, "status", "typeChecking", "expressionWarnings") or ()):
        where = f"status.typeChecking.expressionWarnings[{index}]"
        causes += [] if one.get("warning") else [fields.required(f"{where}.warning")]
        causes += [] if (one.get("fieldRef") or "").strip() else [fields.required(f"{where}.fieldRef")]
    return causes + fields.conditions("status.conditions", document["status"].get("conditions") or ())


KIND: Final = Kind(
    "ValidatingAdmissionPolicy",
    "validatingadmissionpolicies",
    group=GROUP,
    categories=("api-extensions",),
    namespaced=False,
    subresources=(replace(STATUS_ONLY, part_rules=_status_rules),),
    rank=9,
    generation=True,
    keeper="validatingadmissionpolicy-status",
    whole_rules=True,
    prepare=_prepare,
    defaults=_defaults,
    validate=_validate,
    any_finalizers=True,
    metadata_looks="w",
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
