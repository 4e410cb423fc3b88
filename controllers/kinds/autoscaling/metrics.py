"""Metrics of a HorizontalPodAutoscaler: their rules, and how `kubectl get` prints them.

Source: pkg/apis/autoscaling/validation (validateMetrics), pkg/printers/internalversion (formatHPAMetrics), v1.34.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from controllers.kinds.core import resources
from controllers.registry import fields
from scheduler_core.api.document import at
from scheduler_core.api.errors import Cause
from scheduler_core.api.quantity import QuantityError, amount, nano_of

SOURCES: Final = {
    "Object": "object",
    "External": "external",
    "Pods": "pods",
    "Resource": "resource",
    "ContainerResource": "containerResource",
}
"""Type of a metric → its field."""

_SHOWN_MAX: Final = 2


def validate(where: str, metrics: Sequence[Mapping[str, Any]], least: int | None) -> list[Cause]:
    """Return what is wrong with metrics; `least` is the least number of replicas."""
    causes: list[Cause] = []
    for number, metric in enumerate(metrics):
        causes += _metric(f"{where}[{number}]", metric)
    if least == 0 and not any(one.get("type") in ("Object", "External") for one in metrics):
        why = "must specify at least one Object or External metric to support scaling to zero replicas"
        causes.append(fields.not_allowed(where, why))
    return causes


def _metric(where: str, metric: Mapping[str, Any]) -> list[Cause]:
    kind = metric.get("type") or ""
    causes = [] if kind else [fields.required(f"{where}.type", "must specify a metric source type")]
    if kind not in SOURCES:
        causes.append(fields.unsupported(f"{where}.type", kind, SOURCES))
    present = [name for name in SOURCES.values() if metric.get(name) is not None]
    if present:
        causes += _source(f"{where}.{present[0]}", present[0], metric[present[0]])
    wanted = SOURCES.get(kind, "")
    if not wanted:
        # Upstream finds this twice.
        causes.append(fields.unsupported(f"{where}.type", kind, SOURCES))
    elif metric.get(wanted) is None:
        causes.append(fields.required(f"{where}.{wanted}", "must populate information for the given metric source"))
    if len(present) != 1:
        for name in present:
            if name != wanted:
                causes.append(fields.not_allowed(f"{where}.{name}", "must populate the given metric source only"))
    return causes


def _source(where: str, name: str, source: Mapping[str, Any]) -> list[Cause]:
    target = source.get("target") or {}
    value, average = target.get("value"), target.get("averageValue")
    causes: list[Cause] = []
    if name == "object":
        causes += reference(f"{where}.describedObject", source.get("describedObject") or {}, core=True)
    if name in ("object", "external", "pods"):
        causes += _identifier(f"{where}.metric", source.get("metric") or {})
    elif not source.get("name"):
        causes.append(fields.required(f"{where}.name", "must specify a resource name"))
    elif name == "containerResource":
        causes += resources.container_name(f"{where}.name", source["name"])
    if name == "containerResource":
        container = source.get("container") or ""
        missing = [fields.required(f"{where}.container", "must specify a container")]
        causes += fields.label_name(f"{where}.container", container) if container else missing
    causes += _target(f"{where}.target", target)
    if name in ("resource", "containerResource"):
        return causes + _resource_target(f"{where}.target", target)
    if name == "pods":
        why = "must specify a positive target averageValue"
        return causes if average is not None else [*causes, fields.required(f"{where}.target.averageValue", why)]
    if value is None and average is None:
        why = "must set either a target value or averageValue"
        if name == "external":
            why = "must set either a target value for metric or a per-pod target"
        causes.append(fields.required(f"{where}.target.averageValue", why))
    if name == "external" and value is not None and average is not None:
        why = "may not set both a target value for metric and a per-pod target"
        causes.append(fields.not_allowed(f"{where}.target.value", why))
    return causes


def _resource_target(where: str, target: Mapping[str, Any]) -> list[Cause]:
    share, average = target.get("averageUtilization"), target.get("averageValue")
    if share is None and average is None:
        why = "must set either a target raw value or a target utilization"
        return [fields.required(f"{where}.averageUtilization", why)]
    if share is not None and average is not None:
        why = "may not set both a target raw value and a target utilization"
        return [fields.not_allowed(f"{where}.averageValue", why)]
    return []


def _target(where: str, target: Mapping[str, Any]) -> list[Cause]:
    kind = target.get("type") or ""
    causes = [] if kind else [fields.required(f"{where}.type", "must specify a metric target type")]
    if kind not in ("Utilization", "Value", "AverageValue"):
        causes.append(fields.bad(f"{where}.type", kind, "must be either Utilization, Value, or AverageValue"))
    for name in ("value", "averageValue"):
        if target.get(name) is not None and nano_of(target[name]) <= 0:
            causes.append(fields.bad(f"{where}.{name}", target[name], "must be positive"))
    share = target.get("averageUtilization")
    if share is not None and share < 1:
        causes.append(fields.bad(f"{where}.averageUtilization", share, "must be greater than 0"))
    return causes


def _identifier(where: str, metric: Mapping[str, Any]) -> list[Cause]:
    name = metric.get("name") or ""
    return segment(f"{where}.name", name) if name else [fields.required(f"{where}.name", "must specify a metric name")]


def segment(where: str, name: str) -> list[Cause]:
    """Check a name that is a part of a path."""
    if name in (".", ".."):
        return [fields.bad(where, name, f"may not be '{name}'")]
    return [fields.bad(where, name, f"may not contain '{letter}'") for letter in "/%" if letter in name]


def reference(where: str, target: Mapping[str, Any], *, core: bool) -> list[Cause]:
    """Check what names another object; `core`: it may be of the core group."""
    causes: list[Cause] = []
    for name in ("kind", "name"):
        text = target.get(name) or ""
        causes += segment(f"{where}.{name}", text) if text else [fields.required(f"{where}.{name}")]
    version = target.get("apiVersion") or ""
    if version.count("/") > 1:
        why = f"unexpected GroupVersion string: {version}"
        causes.append(fields.bad(f"{where}.apiVersion", version, why))
    elif not core and not version.rpartition("/")[0]:
        causes.append(fields.bad(f"{where}.apiVersion", version, "apiVersion must specify API group"))
    return causes


def milli(quantity: Any) -> int:
    """Return a quantity in thousandths; 0 where it cannot be read."""
    try:
        return int(amount("cpu", quantity))
    except (QuantityError, TypeError):
        return 0


def shown(document: Mapping[str, Any]) -> str:
    """Return what is used and what is aimed at: `cpu: 12%/80%`."""
    specs = at(document, "spec", "metrics") or ()
    statuses = at(document, "status", "currentMetrics") or ()
    listed = [_shown(one, statuses[number] if number < len(statuses) else {}) for number, one in enumerate(specs)]
    if not listed:
        return "<none>"
    text = ", ".join(listed[:_SHOWN_MAX])
    return f"{text} + {len(listed) - _SHOWN_MAX} more..." if len(listed) > _SHOWN_MAX else text


def _shown(metric: Mapping[str, Any], status: Mapping[str, Any]) -> str:
    name = SOURCES.get(metric.get("type") or "", "")
    source = metric.get(name) or {}
    current, target = (status.get(name) or {}).get("current") or {}, source.get("target") or {}
    if name in ("resource", "containerResource"):
        head = f"{source.get('name')}: "
        if target.get("averageValue") is not None:
            return f"{head}{current.get('averageValue', '<unknown>')}/{target['averageValue']}"
        used, aim = current.get("averageUtilization"), target.get("averageUtilization")
        return f"{head}{'<unknown>' if used is None else f'{used}%'}/{'<auto>' if aim is None else f'{aim}%'}"
    if target.get("averageValue") is not None:
        tail = "" if name == "pods" else " (avg)"
        return f"{current.get('averageValue', '<unknown>')}/{target['averageValue']}{tail}"
    return f"{current.get('value', '<unknown>')}/{target.get('value')}" if name else "<unknown type>"
