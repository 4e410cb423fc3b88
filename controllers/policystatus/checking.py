"""Expressions of a policy compiled with the types that its rules name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import product
from typing import Any, Final

from controllers.expressions.language import CompileError, compiled
from controllers.expressions.policies import NAMES, shape_of
from controllers.expressions.shapes import BOOL, DYN, INT, TEXT, TIME, Object, Shape, lazy, object_of
from controllers.kinds.table import SERVED, find_kind
from controllers.registry.kind import Kind
from controllers.registry.schema import FieldType, model

TYPES_MAX: Final = 10
"""Kinds that one rule's expressions are checked against at most, as upstream's maxTypesToCheck."""

_SCALARS: Final[Mapping[str, Shape]] = {
    "string": TEXT,
    "integer": INT,
    "number": Shape("double"),
    "boolean": BOOL,
    "time": TIME,
    "micro-time": TIME,
    "bytes": Shape("bytes"),
}


def warnings_of(spec: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return (field, warning) of each expression that does not fit one of the types."""
    kinds = _kinds(spec)
    names = _given(spec)
    found = []
    for index, rule in enumerate(spec.get("validations") or ()):
        for key in ("expression", "messageExpression"):
            source = rule.get(key) or ""
            wrong = [text for kind in kinds if (text := _checked(source, kind, names, spec))] if source else []
            if wrong:
                found.append((f"spec.validations[{index}].{key}", "\n".join(wrong)))
    return found


def _given(spec: Mapping[str, Any]) -> dict[str, Shape]:
    """Return what expressions may name; parameters of a kind that nobody knows are not there."""
    names = dict(NAMES)
    asked = spec.get("paramKind")
    kind = find_kind(str(asked.get("apiVersion")), str(asked.get("kind"))) if asked else None
    if kind is not None:
        names["params"] = shape_of_model(kind.schema)
    return names


def _checked(source: str, kind: Kind, names: Mapping[str, Shape], spec: Mapping[str, Any]) -> str:
    shape = shape_of_model(kind.schema)
    typed = {**names, "object": shape, "oldObject": shape}
    variables: dict[str, Shape] = {}
    for one in spec.get("variables") or ():
        typed["variables"] = object_of(**variables)
        variables[one["name"]] = shape_of(one["expression"], typed)
    if variables:
        typed["variables"] = object_of(**variables)
    try:
        compiled(source, typed)
    except CompileError as wrong:
        group = f"{kind.group}/" if kind.group else "/"
        return f"{group}{kind.version}, Kind={kind.kind}: {wrong}\n"
    return ""


def _kinds(spec: Mapping[str, Any]) -> list[Kind]:
    """Return the kinds that rules name without wildcards, in order of group, version and kind."""
    found: dict[str, Kind] = {}
    for rule in (spec.get("matchConstraints") or {}).get("resourceRules") or ():
        for kind in _named(rule):
            found.setdefault(kind.resource + kind.version, kind)
            if len(found) >= TYPES_MAX:
                break
    return sorted(found.values(), key=lambda kind: (kind.group, kind.version, kind.kind))


def _named(rule: Mapping[str, Any]) -> Iterator[Kind]:
    groups, versions = rule.get("apiGroups") or (), rule.get("apiVersions") or ()
    if any("*" in one for one in (*groups, *versions)):
        return
    plurals = sorted(one for one in rule.get("resources") or () if "*" not in one and "/" not in one)
    for group, version, plural in product(sorted(groups), sorted(versions), plurals):
        yield from (kind for kind in SERVED if (kind.group, kind.version, kind.plural) == (group, version, plural))


@cache
def shape_of_model(key: str) -> Object:
    """Return the shape of one struct of the schema."""
    return lazy(lambda: {name: _shape(field) for name, field in model(key).fields.items()})


def _shape(field: FieldType) -> Shape:
    if field.scalar is None:
        one: Shape = DYN if model(field.model).open else shape_of_model(field.model)
    else:
        one = _SCALARS.get(field.scalar, DYN)
    if field.container:
        # Of what is in lists and maps only single values are told apart.
        return Shape(f"list<{one.cel}>" if field.container == "list" else f"map<string,{one.cel}>")
    return one
