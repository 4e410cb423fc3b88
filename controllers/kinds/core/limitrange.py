"""LimitRanges: what one pod, container or claim of a namespace may ask for, and what it gets where it says nothing.

Source: pkg/apis/core (SetDefaults_LimitRangeItem, ValidateLimitRange), v1.34. Admission acts on them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from controllers.kinds.columns import CREATED_AT, NAME
from controllers.kinds.core import resources
from controllers.kinds.core.pod.defaults import round_resources
from controllers.registry import fields
from controllers.registry.kind import Kind
from scheduler_core.api import quantity
from scheduler_core.api.document import child
from scheduler_core.api.errors import Cause

TYPES: Final = ("Container", "PersistentVolumeClaim", "Pod")
_BOUNDS: Final = ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio")
_NOT_OF_PODS: Final = ("default", "defaultRequest")

_ORDERS: Final = (
    ("min", "max", "min", "min value {0} is greater than max value {1}"),
    ("min", "defaultRequest", "defaultRequest", "min value {0} is greater than default request value {1}"),
    ("defaultRequest", "max", "defaultRequest", "default request value {0} is greater than max value {1}"),
    (
        "defaultRequest",
        "default",
        "defaultRequest",
        "default request value {0} is greater than default limit value {1}",
    ),
    ("min", "default", "default", "min value {0} is greater than default value {1}"),
    ("default", "max", "default", "default value {0} is greater than max value {1}"),
)
"""(the smaller bound, the larger one, the field that is told, why), in upstream's order."""

_VALUE_TOLD: Final = {("min", "default"): 0, ("default", "max"): 1}
"""Where the value told is not that of the field that is told: which of the two."""


def _defaults(document: dict[str, Any]) -> None:
    spec = child(document, "spec")
    spec.setdefault("limits", None)
    for item in spec["limits"] or ():
        for key in ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio"):
            round_resources(item.get(key))
        if item.get("type") == "Container":
            default = {**(item.get("max") or {}), **(item.get("default") or {})}
            request = {**(item.get("min") or {}), **default, **(item.get("defaultRequest") or {})}
            item.update({key: value for key, value in (("default", default), ("defaultRequest", request)) if value})


def _validate(document: dict[str, Any]) -> list[Cause]:
    causes: list[Cause] = []
    seen: set[str] = set()
    for index, item in enumerate(document["spec"]["limits"] or ()):
        where, of = f"spec.limits[{index}]", item.get("type") or ""
        causes += _type(f"{where}.type", of)
        if of in seen:
            causes.append(fields.duplicate(f"{where}.type", of))
        seen.add(of)
        causes += _item(where, of, item)
    return causes


def _type(field: str, of: str) -> list[Cause]:
    causes = fields.qualified_name(field, of)
    if causes or "/" in of or of in TYPES:
        return causes
    return [fields.bad(field, of, "must be a standard limit type or fully qualified")]


def _item(where: str, of: str, item: Mapping[str, Any]) -> list[Cause]:
    causes: list[Cause] = []
    bounds: dict[str, Mapping[str, str]] = {}
    for key in _BOUNDS:
        amounts: Mapping[str, str] = item.get(key) or {}
        if of == "Pod" and key in _NOT_OF_PODS:
            if amounts:
                causes.append(fields.not_allowed(f"{where}.{key}", "may not be specified when `type` is 'Pod'"))
            amounts = {}
        if key == "maxLimitRequestRatio" and of == "PersistentVolumeClaim":
            causes += _storage(where, item)
        for name in sorted(amounts):
            causes += (resources.container_name if of in ("Container", "Pod") else resources.any_name)(
                f"{where}.{key}[{name}]", name
            )
        bounds[key] = amounts
    for name in sorted(set().union(*bounds.values())):
        causes += _resource(where, name, {key: amounts[name] for key, amounts in bounds.items() if name in amounts})
    return causes


def _storage(where: str, item: Mapping[str, Any]) -> list[Cause]:
    if "storage" in (item.get("min") or {}) or "storage" in (item.get("max") or {}):
        return []
    why = "either minimum or maximum storage value is required, but neither was provided"
    return [fields.required(f"{where}.limits", why)]


def _resource(where: str, name: str, texts: Mapping[str, str]) -> list[Cause]:
    """Check one resource; `texts` is bound → amount."""
    numbers = {key: quantity.nano(text) for key, text in texts.items()}
    shown = {key: quantity.canonical(text) for key, text in texts.items()}
    causes: list[Cause] = []
    for low, high, told, why in _ORDERS:
        if low in numbers and high in numbers and numbers[low] > numbers[high]:
            value = shown[(low, high)[_VALUE_TOLD[low, high]] if (low, high) in _VALUE_TOLD else told]
            causes.append(fields.bad(f"{where}.{told}[{name}]", value, why.format(shown[low], shown[high])))
    ratio, field = "maxLimitRequestRatio", f"{where}.maxLimitRequestRatio[{name}]"
    if ratio in numbers:
        if numbers[ratio] < 10**9:
            causes.append(fields.bad(field, shown[ratio], f"ratio {shown[ratio]} is less than 1"))
        if numbers.get("min") and "max" in numbers and numbers[ratio] / 10**9 > numbers["max"] / numbers["min"]:
            most = numbers["max"] / numbers["min"]
            causes.append(fields.bad(field, shown[ratio], f"ratio {shown[ratio]} is greater than max/min = {most:f}"))
    both = "default" in numbers and "defaultRequest" in numbers
    if both and not resources.may_overcommit(name) and numbers["default"] != numbers["defaultRequest"]:
        why = f"default value {shown['default']} must equal to defaultRequest value {shown['defaultRequest']} in {name}"
        causes.append(fields.bad(f"{where}.defaultRequest[{name}]", shown["defaultRequest"], why))
    return causes


KIND: Final = Kind(
    "LimitRange",
    "limitranges",
    short_names=("limits",),
    rank=2,
    made_by_put=True,
    names_itself=True,
    whole_rules=True,
    students=False,
    defaults=_defaults,
    validate=_validate,
    metadata_looks="w",
    columns=(NAME, CREATED_AT),
)
