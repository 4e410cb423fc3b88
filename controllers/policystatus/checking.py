"""Expressions of a policy compiled with the types that its rules name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from typing import Any, Final

from controllers.custom.node import read
from controllers.custom.rules import shape_of as shape_of_node
from controllers.kinds.table import SERVED, find_kind
from controllers.registry.kind import Kind
from controllers.registry.schema import FieldType, model
from scheduler_core.expressions.language import CompileError, compiled
from scheduler_core.expressions.policies import NAMES, shape_of
from scheduler_core.expressions.shapes import BOOL, DYN, INT, TEXT, TIME, Object, Shape, lazy, object_of

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


def warnings_of(spec: Mapping[str, Any], defined: Sequence[Kind] = ()) -> list[tuple[str, str]]:
    """Return (field, warning) of each expression that does not fit one of the types.

    Args:
        spec: the policy's.
        defined: the kinds that the session defines.
    """
    kinds = _kinds(spec, defined)
    names = _given(spec, defined)
    found = []
    for index, rule in enumerate(spec.get("validations") or ()):
        for key in ("expression", "messageExpression"):
            source = rule.get(key) or ""
            wrong = [text for kind in kinds if (text := _checked(source, kind, names, spec))] if source else []
            if wrong:
                found.append((f"spec.validations[{index}].{key}", "\n".join(wrong)))
    return found


def _given(spec: Mapping[str, Any], defined: Sequence[Kind]) -> dict[str, Shape]:
    """Return what expressions may name; parameters of a kind that nobody knows are not there."""
    names = dict(NAMES)
    asked = spec.get("paramKind")
    if asked:
        version, name = str(asked.get("apiVersion")), str(asked.get("kind"))
        own = (kind for kind in defined if (kind.api_version, kind.kind) == (version, name))
        kind = find_kind(version, name) or next(own, None)
        if kind is not None:
            names["params"] = _shape_of_kind(kind)
    return names


def _shape_of_kind(kind: Kind) -> Shape:
    """Return the shape of a kind's objects; one that the session defines has a schema of its own."""
    if kind.published is None:
        return shape_of_model(kind.schema)
    whole = shape_of_node(read(kind.published), root=True)
    if not isinstance(whole, Object):
        return whole
    return lazy(lambda: {**whole.fields, "metadata": shape_of_model("meta_v1.ObjectMeta")})


def _checked(source: str, kind: Kind, names: Mapping[str, Shape], spec: Mapping[str, Any]) -> str:
    shape = _shape_of_kind(kind)
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


def _kinds(spec: Mapping[str, Any], defined: Sequence[Kind]) -> list[Kind]:
    """Return the kinds that rules name without wildcards, in order of group, version and kind."""
    found: dict[str, Kind] = {}
    for rule in (spec.get("matchConstraints") or {}).get("resourceRules") or ():
        for kind in _named(rule, defined):
            found.setdefault(kind.resource + kind.version, kind)
            if len(found) >= TYPES_MAX:
                break
    return sorted(found.values(), key=lambda kind: (kind.group, kind.version, kind.kind))


def _named(rule: Mapping[str, Any], defined: Sequence[Kind]) -> Iterator[Kind]:
    groups, versions = rule.get("apiGroups") or (), rule.get("apiVersions") or ()
    if any("*" in one for one in (*groups, *versions)):
        return
    plurals = sorted(one for one in rule.get("resources") or () if "*" not in one and "/" not in one)
    for group, version, plural in product(sorted(groups), sorted(versions), plurals):
        known = (kind for kind in (*SERVED, *defined) if (kind.group, kind.version) == (group, version))
        yield from (kind for kind in known if kind.plural == plural)


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
