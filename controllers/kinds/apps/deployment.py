"""Deployments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from controllers.kinds import counts
from controllers.kinds.columns import AGE, NAME, READY, TEMPLATE
from controllers.kinds.core.pod import defaults, warnings
from controllers.kinds.core.pod import validation as pod
from controllers.kinds.masks import CONDITIONS, REVISION
from controllers.registry import fields, internal
from controllers.registry.kind import Column, Kind
from controllers.registry.subresources import SCALE, STATUS, replicas_of, selector_text
from scheduler_core.api.document import at, child
from scheduler_core.api.errors import Cause


def _prepare(document: dict[str, Any]) -> None:
    document["status"] = {}


def _defaults(document: dict[str, Any]) -> None:
    spec = child(document, "spec")
    spec.setdefault("replicas", 1)
    defaults.drop_zeroes(spec, "minReadySeconds", "paused")
    spec.setdefault("revisionHistoryLimit", 10)
    spec.setdefault("progressDeadlineSeconds", 600)
    strategy = child(spec, "strategy")
    if not strategy.get("type"):
        strategy["type"] = "RollingUpdate"
    if strategy["type"] == "RollingUpdate":
        rolling = child(strategy, "rollingUpdate")
        rolling.setdefault("maxUnavailable", "25%")
        rolling.setdefault("maxSurge", "25%")
    defaults.pod_spec(child(child(spec, "template"), "spec"))


_STRATEGIES: Final = ("Recreate", "RollingUpdate")


def _strategy(spec: Mapping[str, Any]) -> list[Cause]:
    strategy = spec.get("strategy") or {}
    if strategy.get("type") not in _STRATEGIES:
        shown = internal.shown(strategy, "apps.DeploymentStrategy")
        return [fields.unsupported("spec.strategy", shown, _STRATEGIES)]
    causes: list[Cause] = []
    rolling = strategy.get("rollingUpdate")
    if strategy.get("type") == "Recreate" and rolling is not None:
        why = "may not be specified when strategy `type` is 'Recreate'"
        return [*causes, fields.not_allowed("spec.strategy.rollingUpdate", why)]
    if rolling is None:
        return causes
    where = "spec.strategy.rollingUpdate"
    missing, unavailable = fields.int_or_percent(f"{where}.maxUnavailable", rolling.get("maxUnavailable"))
    extra, surge = fields.int_or_percent(f"{where}.maxSurge", rolling.get("maxSurge"))
    causes += missing + extra
    if unavailable == 0 and surge == 0:
        why = "may not be 0 when `maxSurge` is 0"
        causes.append(fields.bad(f"{where}.maxUnavailable", rolling.get("maxUnavailable"), why))
    if isinstance(rolling.get("maxUnavailable"), str) and unavailable > 100:
        why = "must not be greater than 100%"
        causes.append(fields.bad(f"{where}.maxUnavailable", rolling["maxUnavailable"], why))
    return causes


def _validate(document: dict[str, Any]) -> list[Cause]:
    spec = document["spec"]
    causes = fields.non_negative("spec.replicas", spec.get("replicas"))
    causes += pod.selector(document, "deployment", unread="invalid label selector")
    causes += pod.template("spec.template", spec.get("template")) if pod.selects(spec) else []
    causes += _strategy(spec)
    for key in ("minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"):
        causes += fields.non_negative(f"spec.{key}", spec.get(key))
    deadline, ready = spec.get("progressDeadlineSeconds"), spec.get("minReadySeconds") or 0
    if deadline is not None and deadline <= ready:
        causes.append(fields.bad("spec.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds"))
    return causes


def _warns(document: Mapping[str, Any]) -> list[str]:
    return warnings.of_template("spec.template.", at(document, "spec", "template"))


def _validate_update(new: dict[str, Any], old: Mapping[str, Any]) -> list[Cause]:
    return fields.fixed_selector(new, old)


_COUNTS: Final = counts.rules(
    (
        "observedGeneration",
        "replicas",
        "updatedReplicas",
        "readyReplicas",
        "availableReplicas",
        "unavailableReplicas",
        "collisionCount",
    ),
    ("updatedReplicas", "readyReplicas", "availableReplicas"),
    "readyReplicas",
)
_STATUS: Final = replace(
    STATUS, carries=("annotations", "finalizers", "ownerReferences", "generateName"), part_rules=_COUNTS
)
"""As upstream: the write of its status carries the revision annotation, and does not count as a change."""


def _counted(name: str, field: str) -> Column:
    return Column(
        name,
        "string",
        f"The status' {field}.",
        lambda document, age: at(document, "status", field) or 0,
        source=f"apps_v1.DeploymentStatus#{field}",
    )


_SELECTOR: Final = (
    "Label selector for pods. Existing ReplicaSets whose pods are selected by this will be the ones affected by this "
    "deployment."
)
"""From extensions/v1beta1, whose words upstream's printer still has."""

KIND: Final = Kind(
    "Deployment",
    "deployments",
    group="apps",
    short_names=("deploy",),
    categories=("all",),
    subresources=(_STATUS, SCALE),
    replicas=replicas_of,
    keeper="deployment",
    prepare=_prepare,
    whole_rules=True,
    defaults=_defaults,
    validate=_validate,
    warns_made=warnings.host_name,
    warns_spec=_warns,
    validate_update=_validate_update,
    generation=True,
    generation_counts_annotations=True,
    metadata_looks="c",
    columns=(
        NAME,
        READY,
        _counted("Up-to-date", "updatedReplicas"),
        _counted("Available", "availableReplicas"),
        AGE,
        *TEMPLATE,
        Column("Selector", "string", _SELECTOR, lambda doc, age: selector_text(at(doc, "spec", "selector") or {}), 1),
    ),
    page={
        "spec": {"replicas": True, "paused": True, "selector": True, "strategy": True},
        "status": {
            "replicas": True,
            "updatedReplicas": True,
            "readyReplicas": True,
            "availableReplicas": True,
            "unavailableReplicas": True,
            "observedGeneration": True,
            "conditions": CONDITIONS,
        },
    },
    page_annotations=frozenset({REVISION}),
)
