"""Whether a value fits a schema, in upstream's words.

Source: k8s.io/kube-openapi/pkg/validation (validate, errors), and apiextensions-apiserver's
pkg/apiserver/validation (validation.go; ratcheting.go: what is unchanged is not refused), v1.34.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any, Final, NamedTuple

import msgspec

from controllers.custom.formats import FORMATS, matches, plain
from controllers.registry import fields
from controllers.registry.gotext import quoted
from controllers.registry.reading import is_same
from scheduler_core.api.errors import Cause

_NONE: Final = object()
"""There is no value before."""

NOWHERE: Final = "<nil>"
"""Where upstream says that a rule on a whole (oneOf …) is broken."""

CAUSES_MAX: Final = 200
"""Things that are wrong with one value and are told; more are not looked for."""


class Found(NamedTuple):
    """What one look at a value found."""

    causes: list[Cause]
    good: int
    """How many looks were well: which of several schemas fits best."""


def below(path: str, field: str) -> str:
    """Return where something in a value lies that itself lies at a path."""
    return path if field in ("", NOWHERE) else f"{path}.{field.removeprefix('.')}"


def validate(value: Any, schema: Mapping[str, Any], path: str = "", old: Any = _NONE) -> list[Cause]:
    """Return what is wrong with a value.

    Args:
        value: JSON.
        schema: JSONSchemaProps.
        path: where it lies.
        old: the value before a change; what is equal to it is not looked at.
    """
    return _schema(value, schema, path, old).causes[:CAUSES_MAX]


def _schema(value: Any, schema: Mapping[str, Any], path: str, old: Any) -> Found:
    if old is not _NONE and is_same(value, old):
        return Found([], 1)
    if value is None:
        return Found(_type(value, schema, path) + _enum(value, schema, path), 1)
    causes = _type(value, schema, path)
    good = 2 if _types(schema) or schema.get("format") else 0
    good -= 1 if causes else 0
    looks = [_junctors, *_BY_TYPE.get(type(value), ()), _common]
    if isinstance(value, dict):
        looks.append(_object)
    for look in looks:
        found = look(value, schema, path, old)
        causes += found.causes
        good += found.good + 1
        if len(causes) > CAUSES_MAX:
            break
    return Found(causes, good + 1)


_WHOLE_MAX: Final = 2**53
"""From here on a number with a point is no whole one, whatever it is (swag.IsFloat64AJSONInteger)."""


def _types(schema: Mapping[str, Any]) -> tuple[str, ...]:
    if schema.get("x-kubernetes-int-or-string"):
        return ("integer", "string")
    return (schema["type"],) if schema.get("type") else ()


def _json_type(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        # Go reads it as a number with a point.
        return "number"
    names = {str: "string", int: "integer", float: "number", list: "array", dict: "object"}
    return names.get(type(value), "null")


def _type(value: Any, schema: Mapping[str, Any], path: str) -> list[Cause]:
    types = _types(schema)
    given = _json_type(value)
    if value is None:
        return [] if not types or schema.get("nullable") else [_mistyped(path, ",".join(types), given)]
    form = plain(schema.get("format") or "")
    known = form in FORMATS
    if not types and not known:
        return []
    whole = given == "number" and abs(value) < _WHOLE_MAX and float(value).is_integer() and "integer" in types
    fits = given in types or whole or (given == "integer" and "number" in types)
    if known and given not in ("string", "array") and not fits:
        return [_mistyped(path, schema["format"], "int64" if given == "integer" else "")]
    if known and given in ("string", "array") and not {"number", "integer"} & set(types):
        return []
    return [] if fits else [_mistyped(path, ",".join(types), given)]


def _mistyped(path: str, wanted: str, given: Any) -> Cause:
    data = f": {quoted(given)}" if isinstance(given, str) else ""
    why = f"{path} in body must be of type {wanted}{data}"
    return Cause(path or NOWHERE, f"Invalid value: {fields.shown(given)}: {why}", "FieldValueTypeInvalid")


def _bad(path: str, value: Any, why: str) -> Cause:
    return fields.bad(path or NOWHERE, value, f"{path} in body {why}")


def _whole(path: str, why: str) -> Cause:
    return fields.bad(NOWHERE, "", f"{quoted(path)} {why}")


def _enum(value: Any, schema: Mapping[str, Any], path: str) -> list[Cause]:
    allowed = schema.get("enum")
    if not allowed or any(_equals(value, one) for one in allowed):
        return []
    told = [one if isinstance(one, str) else msgspec.json.encode(one).decode() for one in allowed]
    return [fields.unsupported(path or NOWHERE, value, told, ordered=False)]


def _equals(value: Any, one: Any) -> bool:
    if isinstance(value, bool) or isinstance(one, bool):
        return value is one
    if isinstance(value, float) and isinstance(one, int) and isfinite(value):
        # Go makes a value one of the type that is allowed before it compares the two.
        return int(value) == one
    return one is not None and bool(value == one)


def _common(value: Any, schema: Mapping[str, Any], path: str, old: Any) -> Found:
    return Found(_enum(value, schema, path), 0)


def _junctors(value: Any, schema: Mapping[str, Any], path: str, old: Any) -> Found:
    causes: list[Cause] = []
    good = 1
    if schema.get("anyOf"):
        found = _any_of(value, schema["anyOf"], path, old)
        causes, good = causes + found.causes, good + found.good
    if schema.get("oneOf"):
        found = _one_of(value, schema["oneOf"], path, old)
        causes, good = causes + found.causes, good + found.good
    if schema.get("allOf"):
        each = [_schema(value, one, path, old) for one in schema["allOf"]]
        causes += [cause for found in each for cause in found.causes]
        good += sum(found.good for found in each)
        well = sum(not found.causes for found in each)
        if well != len(each):
            causes.append(_whole(path, f"must validate all the schemas (allOf){'' if well else '. None validated'}"))
    if schema.get("not") is not None and not _schema(value, schema["not"], path, _NONE).causes:
        causes.append(_whole(path, "must not validate the schema (not)"))
    return Found(causes, good)


def _any_of(value: Any, schemas: Sequence[Mapping[str, Any]], path: str, old: Any) -> Found:
    best: Found | None = None
    for one in schemas:
        found = _schema(value, one, path, old)
        if not found.causes:
            return found
        best = found if best is None or found.good > best.good else best
    assert best is not None, "there are some"
    return Found([_whole(path, "must validate at least one schema (anyOf)"), *best.causes], best.good)


def _one_of(value: Any, schemas: Sequence[Mapping[str, Any]], path: str, old: Any) -> Found:
    best: Found | None = None
    well: list[Found] = []
    for one in schemas:
        found = _schema(value, one, path, old)
        if not found.causes:
            well.append(found)
        elif not well and (best is None or found.good > best.good):
            best = found
    if len(well) == 1:
        return well[0]
    told = f"Found {len(well)} valid alternatives" if well else "Found none valid"
    cause = _whole(path, f"must validate one and only one schema (oneOf). {told}")
    if well or best is None:
        return Found([cause], 0)
    return Found([cause, *best.causes], best.good)


def _text(value: str, schema: Mapping[str, Any], path: str, old: Any) -> Found:
    most, least, pattern = schema.get("maxLength"), schema.get("minLength"), schema.get("pattern")
    causes: list[Cause] = []
    if most is not None and len(value) > most:
        causes = [fields.too_long(path or NOWHERE, most)]
    elif least is not None and len(value) < least:
        causes = [_bad(path, value, f"should be at least {least} chars long")]
    elif pattern and not matches(pattern, value):
        causes = [_bad(path, value, f"should match '{pattern}'")]
    return Found(causes, 0)


def _format(value: str, schema: Mapping[str, Any], path: str, old: Any) -> Found:
    known = FORMATS.get(plain(schema.get("format") or ""))
    if known is None or known(value):
        return Found([], 1)
    return Found([_mistyped(path, schema["format"], value)], 0)


def _number(value: float, schema: Mapping[str, Any], path: str, old: Any) -> Found:
    causes: list[Cause] = []
    factor, most, least = schema.get("multipleOf"), schema.get("maximum"), schema.get("minimum")

    def limit(number: float) -> float:
        return int(number) if isinstance(value, int) and isfinite(number) else number

    if factor is not None:
        step = limit(factor)
        if step <= 0:
            why = f"factor MultipleOf declared for {path} must be positive: {go_number(step)}"
            causes.append(fields.bad(path or NOWHERE, fields.Written(go_number(step)), why))
        elif not _divides(step, value):
            causes.append(_number_bad(path, value, f"should be a multiple of {go_number(step)}"))
    if most is not None:
        strict = bool(schema.get("exclusiveMaximum"))
        if value > limit(most) or (strict and value == limit(most)):
            words = "less than" if strict else "less than or equal to"
            causes.append(_number_bad(path, value, f"should be {words} {go_number(limit(most))}"))
    if least is not None:
        strict = bool(schema.get("exclusiveMinimum"))
        if value < limit(least) or (strict and value == limit(least)):
            words = "greater than" if strict else "greater than or equal to"
            causes.append(_number_bad(path, value, f"should be {words} {go_number(limit(least))}"))
    return Found(causes, 1)


def _number_bad(path: str, value: float, why: str) -> Cause:
    return _bad(path, fields.Written(go_number(value)), why)


def _divides(step: float, value: float) -> bool:
    if isinstance(step, int) and isinstance(value, int):
        return value % step == 0
    ratio = 1 / step * value if step < 1 else value / step
    return isfinite(ratio) and abs(ratio - round(ratio)) <= 1e-9 * max(1.0, abs(ratio))


def go_number(value: float) -> str:
    """Return a number as `%v` prints it."""
    if isinstance(value, int):
        return str(value)
    # Shortest digits that read back the same; with an exponent below -4 or from 6 on.
    text = f"{value!r}"
    exponent = int(f"{value:e}".partition("e")[2])
    digits = text.partition("e")[0].lstrip("-").replace(".", "").strip("0") or "0"
    sign = "-" if value < 0 else ""
    if -4 <= exponent < 6:
        shown = f"{abs(value):.{max(len(digits) - exponent - 1, 0)}f}"
        return sign + shown
    return f"{sign}{digits[0]}{'.' + digits[1:] if len(digits) > 1 else ''}e{exponent:+03d}"


def _array(value: list[Any], schema: Mapping[str, Any], path: str, old: Any) -> Found:
    causes: list[Cause] = []
    good = 1
    items = schema.get("items")
    if isinstance(items, Mapping):
        before = _correlated(schema, value, old)
        for index, item in enumerate(value):
            found = _schema(item, items, f"{path}[{index}]", before[index] if before is not None else _NONE)
            causes += found.causes
            good += found.good
            if len(causes) > CAUSES_MAX:
                return Found(causes, good)
    least, most = schema.get("minItems"), schema.get("maxItems")
    if least is not None and len(value) < least:
        causes.append(_bad(path, len(value), f"should have at least {least} items"))
    if most is not None and len(value) > most:
        causes.append(fields.too_many(path or NOWHERE, len(value), most))
    return Found(causes, good)


def _correlated(schema: Mapping[str, Any], value: list[Any], old: Any) -> list[Any] | None:
    """Return for each item the one before it: only of lists whose items have keys."""
    keys = schema.get("x-kubernetes-list-map-keys")
    if not isinstance(old, list) or schema.get("x-kubernetes-list-type") != "map" or not keys:
        return None

    def key_of(item: Any) -> bytes:
        return msgspec.json.encode([item.get(key) if isinstance(item, dict) else None for key in keys])

    before = {key_of(item): item for item in old}
    return [before.get(key_of(item), _NONE) for item in value]


def _object(value: dict[str, Any], schema: Mapping[str, Any], path: str, old: Any) -> Found:
    causes: list[Cause] = []
    good = 0
    before = old if isinstance(old, dict) else {}
    least, most = schema.get("minProperties"), schema.get("maxProperties")
    if least is not None and len(value) < least:
        causes.append(_bad(path, len(value), f"should have at least {least} properties"))
    if most is not None and len(value) > most:
        causes.append(fields.too_many(path or NOWHERE, len(value), most))
    properties, more = schema.get("properties") or {}, schema.get("additionalProperties")
    for name, inner in value.items():
        if name in properties:
            continue
        if more is False:
            causes.append(fields.bad(path or NOWHERE, name, f"{path}.{name} in body is a forbidden property"))
        elif isinstance(more, Mapping):
            found = _schema(inner, more, f"{path}.{name}", before.get(name, _NONE))
            causes, good = causes + found.causes, good + found.good
        if len(causes) > CAUSES_MAX:
            return Found(causes, good)
    for name, one in properties.items():
        if name in value:
            found = _schema(value[name], one, f"{path}.{name}" if path else name, before.get(name, _NONE))
            causes, good = causes + found.causes, good + found.good
    for name in schema.get("required") or ():
        if name not in value:
            causes.append(fields.required(f"{path}.{name}".lstrip(".")))
    return Found(causes, good)


_BY_TYPE: Final[Mapping[type, Sequence[Any]]] = {
    str: (_text, _format),
    int: (_number,),
    float: (_number,),
    list: (_array,),
}
