"""HorizontalPodAutoscalers: as many replicas as the usage of their pods asks for.

Source: pkg/apis/autoscaling (validation, v2/defaults.go), v1.34.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from controllers.kinds import counts
from controllers.kinds.autoscaling import metrics
from controllers.kinds.columns import AGE, NAME, UNSET
from controllers.registry import fields
from controllers.registry.kind import Column, Kind
from controllers.registry.subresources import STATUS
from scheduler_core.api.document import Document, at, child
from scheduler_core.api.errors import Cause

WINDOW_SECONDS_MAX: Final = 3_600
PERIOD_SECONDS_MAX: Final = 1_800
CPU_PERCENT: Final = 80
"""Of its requests, what a pod is to use where an autoscaler names no metric."""

_UP: Final[Mapping[str, Any]] = {
    "stabilizationWindowSeconds": 0,
    "selectPolicy": "Max",
    "policies": [
        {"type": "Pods", "value": 4, "periodSeconds": 15},
        {"type": "Percent", "value": 100, "periodSeconds": 15},
    ],
}
_DOWN: Final[Mapping[str, Any]] = {
    "selectPolicy": "Max",
    "policies": [{"type": "Percent", "value": 100, "periodSeconds": 15}],
}


_PARTS: Final = {
    "resource": ("target",),
    "containerResource": ("target",),
    "pods": ("metric", "target"),
    "external": ("metric", "target"),
    "object": ("describedObject", "metric", "target"),
}
"""Structs that a source always has, empty where nobody has filled them in."""


_METRIC: Final[Document] = {"name": ""}
_MEASURED: Final[Mapping[str, Document]] = {
    "resource": {"name": "", "current": {}},
    "containerResource": {"name": "", "container": "", "current": {}},
    "pods": {"metric": _METRIC, "current": {}},
    "external": {"metric": _METRIC, "current": {}},
    "object": {"metric": _METRIC, "current": {}, "describedObject": {"kind": "", "name": ""}},
}
"""The same of what is measured."""


def _status(old: Any, new: Any) -> Document:
    """Return a status as the wire has it: these two stand in every one, and structs that nobody has filled in."""
    status = {"desiredReplicas": 0, "currentMetrics": None, **(new or {})}
    if isinstance(status["currentMetrics"], list):
        status["currentMetrics"] = [_current(one) if isinstance(one, dict) else one for one in status["currentMetrics"]]
    return status


def _current(metric: Document) -> Document:
    """Return what is measured, with all that its source always has."""
    told = dict(metric)
    for kind, parts in _MEASURED.items():
        source = told.get(kind)
        if isinstance(source, dict):
            told[kind] = {**parts, **{key: value for key, value in source.items() if value is not None}}
            for part, usual in parts.items():
                if isinstance(usual, dict) and isinstance(told[kind][part], dict):
                    told[kind][part] = {**usual, **told[kind][part]}
    return {"type": "", **told}


_COUNTS: Final = counts.rules(("currentReplicas", "desiredReplicas"))


def _prepare(document: Document) -> None:
    document["status"] = _status({}, {})


_PREFIX: Final = "autoscaling.alpha.kubernetes.io/"
METRICS: Final = f"{_PREFIX}metrics"
CURRENT: Final = f"{_PREFIX}current-metrics"
CONDITIONS: Final = f"{_PREFIX}conditions"
BEHAVIOR: Final = f"{_PREFIX}behavior"
ROUND_TRIP: Final = frozenset(
    {METRICS, CURRENT, CONDITIONS, BEHAVIOR, f"{_PREFIX}scale-down-tolerance", f"{_PREFIX}scale-up-tolerance"}
)
"""Annotations that hold in `autoscaling/v1` what it has no field for; objects themselves never have them."""


def _defaults(document: Document) -> None:
    annotations = document["metadata"].get("annotations") or {}
    if not ROUND_TRIP.isdisjoint(annotations):
        kept = {key: text for key, text in annotations.items() if key not in ROUND_TRIP}
        document["metadata"]["annotations"] = kept
        if not kept:
            del document["metadata"]["annotations"]
    spec = child(document, "spec")
    if spec.get("minReplicas") is None:
        spec["minReplicas"] = 1
    if not spec.get("metrics"):
        target = {"type": "Utilization", "averageUtilization": CPU_PERCENT}
        spec["metrics"] = [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]
    for metric in spec["metrics"]:
        for kind, parts in _PARTS.items():
            if metric.get(kind) is not None:
                for part in parts:
                    metric[kind][part] = metric[kind].get(part) or {}
    behavior = spec.get("behavior")
    if behavior is not None:
        for name, usual in (("scaleUp", _UP), ("scaleDown", _DOWN)):
            given = {key: value for key, value in (behavior.get(name) or {}).items() if value is not None}
            behavior[name] = {**usual, **given}


def _validate(document: Document) -> list[Cause]:
    spec = document["spec"]
    least, most = spec.get("minReplicas"), spec.get("maxReplicas") or 0
    causes: list[Cause] = []
    if least is not None and least < 1:
        causes.append(fields.bad("spec.minReplicas", least, "must be greater than or equal to 1"))
    if most < 1:
        causes.append(fields.bad("spec.maxReplicas", most, "must be greater than 0"))
    if least is not None and most < least:
        causes.append(fields.bad("spec.maxReplicas", most, "must be greater than or equal to `minReplicas`"))
    target = spec.get("scaleTargetRef") or {}
    # The only kind of the core group that has a size.
    is_core = target.get("kind") == "ReplicationController"
    causes += metrics.reference("spec.scaleTargetRef", target, core=is_core)
    causes += metrics.validate("spec.metrics", spec.get("metrics") or (), least)
    for name in ("scaleUp", "scaleDown"):
        rules = at(spec, "behavior", name)
        if rules is not None:
            causes += _rules(f"spec.behavior.{name}", rules)
    return causes


def _rules(where: str, rules: Mapping[str, Any]) -> list[Cause]:
    window, select, policies = rules.get("stabilizationWindowSeconds"), rules.get("selectPolicy"), rules.get("policies")
    causes: list[Cause] = []
    if window is not None and window < 0:
        causes.append(
            fields.bad(f"{where}.stabilizationWindowSeconds", window, "must be greater than or equal to zero")
        )
    if window is not None and window > WINDOW_SECONDS_MAX:
        why = f"must be less than or equal to {WINDOW_SECONDS_MAX}"
        causes.append(fields.bad(f"{where}.stabilizationWindowSeconds", window, why))
    if select is not None and select not in ("Max", "Min", "Disabled"):
        causes.append(fields.unsupported(f"{where}.selectPolicy", select, ("Disabled", "Max", "Min")))
    if not policies:
        causes.append(fields.required(f"{where}.policies", "must specify at least one Policy"))
    for number, policy in enumerate(policies or ()):
        causes += _policy(f"{where}.policies[{number}]", policy)
    return causes


def _policy(where: str, policy: Mapping[str, Any]) -> list[Cause]:
    kind, value, period = policy.get("type") or "", policy.get("value") or 0, policy.get("periodSeconds") or 0
    causes: list[Cause] = []
    if kind not in ("Pods", "Percent"):
        causes.append(fields.unsupported(f"{where}.type", kind, ("Pods", "Percent")))
    if value <= 0:
        causes.append(fields.bad(f"{where}.value", value, "must be greater than zero"))
    if period <= 0:
        causes.append(fields.bad(f"{where}.periodSeconds", period, "must be greater than zero"))
    if period > PERIOD_SECONDS_MAX:
        why = f"must be less than or equal to {PERIOD_SECONDS_MAX}"
        causes.append(fields.bad(f"{where}.periodSeconds", period, why))
    return causes


def _reference(document: Mapping[str, Any], age: Any) -> str:
    target = at(document, "spec", "scaleTargetRef") or {}
    return f"{target.get('kind', '')}/{target.get('name', '')}"


def _least(document: Mapping[str, Any], age: Any) -> str:
    least = at(document, "spec", "minReplicas")
    return UNSET if least is None else str(least)


def _column(name: str, kind: Any, cell: Any, source: str) -> Column:
    return Column(name, kind, "", cell, source=f"autoscaling_v2.HorizontalPodAutoscaler{source}")


KIND: Final = Kind(
    "HorizontalPodAutoscaler",
    "horizontalpodautoscalers",
    group="autoscaling",
    version="v2",
    short_names=("hpa",),
    categories=("all",),
    subresources=(replace(STATUS, merged=_status, part_rules=_COUNTS),),
    keeper="horizontal-pod-autoscaler",
    rank=60,
    prepare=_prepare,
    whole_rules=True,
    defaults=_defaults,
    validate=_validate,
    metadata_looks="c",
    columns=(
        NAME,
        _column("Reference", "string", _reference, "Spec#scaleTargetRef"),
        # The server describes it in the words of v2beta1, which the models do not carry.
        Column(
            "Targets",
            "string",
            "metrics contains the specifications for which to use to calculate the desired replica count (the maximum "
            "replica count across all metrics will be used).  The desired replica count is calculated multiplying the "
            "ratio between the target value and the current value by the current number of pods.  Ergo, metrics used "
            "must decrease as the pod count is increased, and vice-versa.  See the individual metric source types for "
            "more information about how each type of metric must respond.",
            lambda doc, age: metrics.shown(doc),
        ),
        _column("MinPods", "string", _least, "Spec#minReplicas"),
        _column("MaxPods", "string", lambda doc, age: at(doc, "spec", "maxReplicas") or 0, "Spec#maxReplicas"),
        _column(
            "Replicas", "string", lambda doc, age: at(doc, "status", "currentReplicas") or 0, "Status#currentReplicas"
        ),
        AGE,
    ),
)
