"""HorizontalPodAutoscalers in autoscaling/v1: the same objects; what this version has no field for is in annotations.

Source: pkg/apis/autoscaling/v1/conversion.go, pkg/apis/autoscaling/annotations.go, v1.34.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from controllers.kinds.autoscaling import horizontalpodautoscaler as v2
from controllers.kinds.autoscaling.horizontalpodautoscaler import BEHAVIOR, CONDITIONS, CURRENT, METRICS, ROUND_TRIP
from controllers.registry.kind import Column, Kind
from controllers.registry.subresources import STATUS
from scheduler_core.api.document import Document, at

_SOURCES: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    "resource": {
        "name": ("name",),
        "targetAverageUtilization": ("target", "averageUtilization"),
        "targetAverageValue": ("target", "averageValue"),
    },
    "containerResource": {
        "name": ("name",),
        "targetAverageUtilization": ("target", "averageUtilization"),
        "targetAverageValue": ("target", "averageValue"),
        "container": ("container",),
    },
    "pods": {
        "metricName": ("metric", "name"),
        "targetAverageValue": ("target", "averageValue"),
        "selector": ("metric", "selector"),
    },
    "object": {
        "target": ("describedObject",),
        "metricName": ("metric", "name"),
        "targetValue": ("target", "value"),
        "selector": ("metric", "selector"),
        "averageValue": ("target", "averageValue"),
    },
    "external": {
        "metricName": ("metric", "name"),
        "metricSelector": ("metric", "selector"),
        "targetValue": ("target", "value"),
        "targetAverageValue": ("target", "averageValue"),
    },
}
"""Source of a metric → its fields here, and where they stand in v2."""

_STATUSES: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    "resource": {
        "name": ("name",),
        "currentAverageUtilization": ("current", "averageUtilization"),
        "currentAverageValue": ("current", "averageValue"),
    },
    "containerResource": {
        "name": ("name",),
        "currentAverageUtilization": ("current", "averageUtilization"),
        "currentAverageValue": ("current", "averageValue"),
        "container": ("container",),
    },
    "pods": {
        "metricName": ("metric", "name"),
        "currentAverageValue": ("current", "averageValue"),
        "selector": ("metric", "selector"),
    },
    "object": {
        "target": ("describedObject",),
        "metricName": ("metric", "name"),
        "currentValue": ("current", "value"),
        "selector": ("metric", "selector"),
        "averageValue": ("current", "averageValue"),
    },
    "external": {
        "metricName": ("metric", "name"),
        "metricSelector": ("metric", "selector"),
        "currentValue": ("current", "value"),
        "currentAverageValue": ("current", "averageValue"),
    },
}


def _is_cpu(metric: Mapping[str, Any]) -> bool:
    return metric.get("type") == "Resource" and at(metric, "resource", "name") == "cpu"


def _outward(document: Mapping[str, Any]) -> Document:
    spec, status = document.get("spec") or {}, document.get("status") or {}
    shown: Document = {key: spec[key] for key in ("scaleTargetRef", "minReplicas", "maxReplicas") if key in spec}
    others = []
    for metric in spec.get("metrics") or ():
        percent = at(metric, "resource", "target", "averageUtilization") if _is_cpu(metric) else None
        if percent is None:
            others.append(_told(metric, _SOURCES))
        else:
            shown.setdefault("targetCPUUtilizationPercentage", percent)
    reported: Document = {
        key: status.get(key)
        for key in ("observedGeneration", "lastScaleTime", "currentReplicas", "desiredReplicas")
        if status.get(key) is not None or key.endswith("Replicas")
    }
    for key in ("currentReplicas", "desiredReplicas"):
        reported[key] = reported[key] or 0
    for metric in status.get("currentMetrics") or ():
        percent = at(metric, "resource", "current", "averageUtilization") if _is_cpu(metric) else None
        if percent is not None:
            reported["currentCPUUtilizationPercentage"] = percent
    metadata = document["metadata"]
    annotations = {key: value for key, value in (metadata.get("annotations") or {}).items() if key not in ROUND_TRIP}
    if others:
        annotations[METRICS] = _text(others)
    if status.get("currentMetrics"):
        annotations[CURRENT] = _text([_told(metric, _STATUSES) for metric in status["currentMetrics"]])
    if spec.get("behavior") is not None:
        annotations[BEHAVIOR] = _text(_capitals(spec["behavior"]))
    if status.get("conditions"):
        annotations[CONDITIONS] = _text(status["conditions"])
    metadata = {key: value for key, value in metadata.items() if key != "annotations"}
    if annotations:
        metadata["annotations"] = annotations
    return {**document, "apiVersion": KIND.api_version, "metadata": metadata, "spec": shown, "status": reported}


def _inward(document: Document) -> Document:
    spec, status, metadata = document.get("spec") or {}, document.get("status") or {}, document["metadata"]
    annotations: dict[str, str] = metadata.get("annotations") or {}
    meant: Document = {
        key: value for key, value in spec.items() if key in ("scaleTargetRef", "minReplicas", "maxReplicas")
    }
    metrics = [_read(one, _SOURCES, "target") for one in _list(annotations.get(METRICS))]
    percent = spec.get("targetCPUUtilizationPercentage")
    if percent is not None:
        metrics.append(
            {
                "type": "Resource",
                "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": percent}},
            }
        )
    if metrics:
        meant["metrics"] = metrics
    behavior = _parsed(annotations.get(BEHAVIOR))
    if isinstance(behavior, dict) and any(behavior.values()):
        meant["behavior"] = _small(behavior)
    reported: Document = {
        key: value
        for key, value in status.items()
        if key in ("observedGeneration", "lastScaleTime", "currentReplicas", "desiredReplicas")
    }
    current = [_read(one, _STATUSES, "current") for one in _list(annotations.get(CURRENT))]
    used = status.get("currentCPUUtilizationPercentage")
    if not current and used is not None:
        current = [{"type": "Resource", "resource": {"name": "cpu", "current": {"averageUtilization": used}}}]
    if current:
        reported["currentMetrics"] = current
    conditions = _list(annotations.get(CONDITIONS))
    if conditions:
        reported["conditions"] = conditions
    kept = {key: value for key, value in annotations.items() if key not in ROUND_TRIP}
    metadata = {key: value for key, value in metadata.items() if key != "annotations"}
    if kept:
        metadata["annotations"] = kept
    inward = {**document, "apiVersion": v2.KIND.api_version, "metadata": metadata, "spec": meant}
    if reported or "status" in document:
        inward["status"] = reported
    return inward


def _told(metric: Mapping[str, Any], sources: Mapping[str, Mapping[str, tuple[str, ...]]]) -> Document:
    """Return a metric of v2, or what is told of one, as this version has it."""
    told: Document = {"type": metric.get("type", "")}
    for name, places in sources.items():
        source = metric.get(name)
        if source is not None:
            found = {field: at(source, *place) for field, place in places.items()}
            told[name] = {field: value for field, value in found.items() if value is not None}
    return told


def _read(told: Mapping[str, Any], sources: Mapping[str, Mapping[str, tuple[str, ...]]], amounts: str) -> Document:
    """Return what a metric of this version is in v2; `amounts`: the struct there that holds its amounts."""
    metric: Document = {"type": told.get("type", "")}
    for name, places in sources.items():
        source = told.get(name)
        if isinstance(source, dict):
            made: Document = {}
            for field, place in places.items():
                if source.get(field) is not None:
                    inner = made
                    for key in place[:-1]:
                        inner = inner.setdefault(key, {})
                    inner[place[-1]] = source[field]
            if amounts == "target":
                made.setdefault("target", {})["type"] = _type_of(made.get("target") or {})
            metric[name] = made
    return metric


def _type_of(target: Mapping[str, Any]) -> str:
    if target.get("averageUtilization") is not None:
        return "Utilization"
    return "AverageValue" if target.get("averageValue") is not None else "Value"


def _capitals(value: Any) -> Any:
    """Return a behavior with upstream's names of its internal fields, which are written into the annotation."""
    if isinstance(value, Mapping):
        return {key[:1].upper() + key[1:]: _capitals(inner) for key, inner in value.items()}
    return [_capitals(one) for one in value] if isinstance(value, list) else value


def _small(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key[:1].lower() + key[1:]: _small(inner) for key, inner in value.items() if inner is not None}
    return [_small(one) for one in value] if isinstance(value, list) else value


def _text(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _parsed(text: str | None) -> Any:
    """Return what an annotation says; None: nothing that can be read."""
    try:
        return None if text is None else msgspec.json.decode(text)
    except msgspec.DecodeError:
        return None


def _list(text: str | None) -> list[Document]:
    found = _parsed(text)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _shown(column: Column) -> Column:
    return column._replace(cell=lambda document, age: column.cell(_inward(dict(document)), age))


KIND: Final = Kind(
    "HorizontalPodAutoscaler",
    "horizontalpodautoscalers",
    group="autoscaling",
    short_names=("hpa",),
    categories=("all",),
    stored_as=v2.KIND,
    inward=_inward,
    outward=_outward,
    subresources=(STATUS,),
    keeper=v2.KIND.keeper,
    whole_rules=True,
    columns=tuple(map(_shown, v2.KIND.columns)),
)
