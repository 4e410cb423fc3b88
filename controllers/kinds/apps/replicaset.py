"""ReplicaSets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from controllers.kinds import counts
from controllers.kinds.columns import AGE, NAME, TEMPLATE, replicas_columns, selector_words
from controllers.kinds.core.pod import defaults, warnings
from controllers.kinds.core.pod import validation as pod
from controllers.kinds.masks import REVISION
from controllers.registry import fields
from controllers.registry.kind import Column, Kind
from controllers.registry.subresources import SCALE, STATUS, replicas_of
from scheduler_core.api.document import at, child
from scheduler_core.api.errors import Cause


def _prepare(document: dict[str, Any]) -> None:
    document["status"] = {"replicas": 0}


def _defaults(document: dict[str, Any]) -> None:
    spec = child(document, "spec")
    spec.setdefault("replicas", 1)
    defaults.drop_zeroes(spec, "minReadySeconds")
    defaults.pod_spec(child(child(spec, "template"), "spec"))


def _validate(document: dict[str, Any]) -> list[Cause]:
    spec = document["spec"]
    causes = fields.non_negative("spec.replicas", spec.get("replicas"))
    causes += fields.non_negative("spec.minReadySeconds", spec.get("minReadySeconds"))
    causes += pod.selector(document, "deployment", unread="invalid label selector")
    return causes + (pod.template("spec.template", spec.get("template")) if pod.selects(spec) else [])


def _warns(document: Mapping[str, Any]) -> list[str]:
    return warnings.of_template("spec.template.", at(document, "spec", "template"))


def _validate_update(new: dict[str, Any], old: Mapping[str, Any]) -> list[Cause]:
    return fields.fixed_selector(new, old)


_SELECTOR: Final = (
    "Selector is a label query over pods that should match the replica count. If the selector is empty, it is "
    "defaulted to the labels present on the pod template. Label keys and values that must match in order to be "
    "controlled by this replica set. More info: "
    "https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors"
)
"""From extensions/v1beta1, whose words upstream's printer still has."""

_STATUS: Final = replace(STATUS, part_rules=counts.REPLICAS)

KIND: Final = Kind(
    "ReplicaSet",
    "replicasets",
    group="apps",
    short_names=("rs",),
    categories=("all",),
    subresources=(_STATUS, SCALE),
    replicas=replicas_of,
    keeper="replicaset",
    rank=60,
    prepare=_prepare,
    whole_rules=True,
    defaults=_defaults,
    validate=_validate,
    warns_made=warnings.host_name,
    warns_spec=_warns,
    validate_update=_validate_update,
    generation=True,
    metadata_looks="c",
    columns=(
        NAME,
        *replicas_columns("apps_v1.ReplicaSet"),
        AGE,
        *TEMPLATE,
        Column("Selector", "string", _SELECTOR, lambda doc, age: selector_words(at(doc, "spec", "selector") or {}), 1),
    ),
    page={
        "spec": {"replicas": True, "selector": True},
        "status": {"replicas": True, "readyReplicas": True, "availableReplicas": True, "observedGeneration": True},
    },
    page_annotations=frozenset({REVISION}),
)
