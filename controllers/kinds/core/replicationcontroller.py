"""ReplicationControllers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from controllers.kinds import counts
from controllers.kinds.columns import AGE, NAME, TEMPLATE, pairs, replicas_columns
from controllers.kinds.core.pod import defaults, warnings
from controllers.kinds.core.pod import validation as pod
from controllers.registry import fields
from controllers.registry.kind import Column, Kind
from controllers.registry.subresources import STATUS, replicas_of, scale
from scheduler_core.api.document import at, child
from scheduler_core.api.errors import Cause


def _prepare(document: dict[str, Any]) -> None:
    document["status"] = {"replicas": 0}


def _defaults(document: dict[str, Any]) -> None:
    spec = child(document, "spec")
    spec.setdefault("replicas", 1)
    defaults.drop_zeroes(spec, "minReadySeconds")
    if spec.get("template") is None:
        return
    template = child(spec, "template")
    labels = at(template, "metadata", "labels")
    if labels:
        if not spec.get("selector"):
            spec["selector"] = dict(labels)
        if not document["metadata"].get("labels"):
            document["metadata"]["labels"] = dict(labels)
    defaults.pod_spec(child(template, "spec"))


def _validate(document: dict[str, Any]) -> list[Cause]:
    spec = document["spec"]
    causes = fields.non_negative("spec.minReadySeconds", spec.get("minReadySeconds"))
    selector = spec.get("selector")
    causes += [] if selector else [fields.required("spec.selector")]
    causes += fields.non_negative("spec.replicas", spec.get("replicas"))
    if spec.get("template") is None:
        return [*causes, fields.required("spec.template")]
    labels = at(spec, "template", "metadata", "labels")
    if selector and any((labels or {}).get(key) != value for key, value in selector.items()):
        why = "`selector` does not match template `labels`"
        causes.append(fields.bad("spec.template.metadata.labels", labels, why))
    return causes + pod.template("spec.template", spec.get("template"), "ReplicationController")


def _warns(document: Mapping[str, Any]) -> list[str]:
    return warnings.of_template("spec.template.", at(document, "spec", "template"))


def _selector(document: Mapping[str, Any], age: Any) -> str:
    return pairs(at(document, "spec", "selector"))


def _warns_changed(new: Mapping[str, Any], old: Mapping[str, Any]) -> list[str]:
    """As upstream, which takes the template that was for the one that is."""
    return _warns(old) if new["metadata"].get("generation") != old["metadata"].get("generation") else []


_SCALE: Final = scale(lambda spec: {"matchLabels": spec.get("selector", {})})
"""Its selector is plain labels."""

_STATUS: Final = replace(STATUS, part_rules=counts.REPLICAS)

KIND: Final = Kind(
    "ReplicationController",
    "replicationcontrollers",
    metadata_looks="wc",
    orphans=True,
    key="controllers",
    short_names=("rc",),
    categories=("all",),
    subresources=(_STATUS, _SCALE),
    replicas=replicas_of,
    keeper="replication",
    prepare=_prepare,
    whole_rules=True,
    defaults=_defaults,
    rule_checks=2,
    validate=_validate,
    warns_made=warnings.host_name,
    warns_spec=_warns,
    warns_changed=_warns_changed,
    generation=True,
    columns=(
        NAME,
        *replicas_columns("core_v1.ReplicationController"),
        AGE,
        *TEMPLATE,
        Column(
            "Selector",
            "string",
            "Pods it counts.",
            _selector,
            1,
            source="core_v1.ReplicationControllerSpec#selector",
        ),
    ),
    selectable={"status.replicas": lambda doc: str(at(doc, "status", "replicas") or 0)},
)
