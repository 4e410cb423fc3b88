"""DaemonSets: a pod on every node that fits.

Source: pkg/registry/apps/daemonset/strategy.go, pkg/apis/apps (defaults, ValidateDaemonSet), v1.34.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from controllers.kinds import counts
from controllers.kinds.columns import AGE, NAME, TEMPLATE, pairs, selector_words
from controllers.kinds.core.pod import defaults, warnings
from controllers.kinds.core.pod import validation as pod
from controllers.registry import fields, internal
from controllers.registry.kind import Column, Kind, Lookup
from controllers.registry.subresources import STATUS
from scheduler_core.api.document import Document, at, child
from scheduler_core.api.errors import Cause

TEMPLATE_GENERATION: Final = "deprecated.daemonset.template.generation"
"""The annotation in which the server counts changes of the template."""

_STATUS: Final = ("currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady")
_STRATEGIES: Final = ("RollingUpdate", "OnDelete")


def _prepare(document: Document) -> None:
    document["status"] = dict.fromkeys(_STATUS, 0)
    annotations = child(document["metadata"], "annotations")
    given = annotations.get(TEMPLATE_GENERATION, "")
    annotations[TEMPLATE_GENERATION] = given if given.isdigit() and int(given) > 0 else "1"


def _admit_update(new: Document, old: Mapping[str, Any], lookup: Lookup) -> list[Cause]:
    """Count the changes of the template; nobody else can."""
    before = (old["metadata"].get("annotations") or {}).get(TEMPLATE_GENERATION, "1")
    number = int(before) if before.isdigit() else 1
    changed = new["spec"].get("template") != old["spec"].get("template")
    child(new["metadata"], "annotations")[TEMPLATE_GENERATION] = str(number + changed)
    return []


def _defaults(document: Document) -> None:
    # Upstream's decoding writes it, as what nobody has counted yet.
    child(document["metadata"], "annotations").setdefault(TEMPLATE_GENERATION, "0")
    spec = child(document, "spec")
    if spec.get("revisionHistoryLimit") is None:
        spec["revisionHistoryLimit"] = 10
    defaults.drop_zeroes(spec, "minReadySeconds")
    strategy = child(spec, "updateStrategy")
    if not strategy.get("type"):
        strategy["type"] = "RollingUpdate"
    if strategy["type"] == "RollingUpdate":
        rolling = child(strategy, "rollingUpdate")
        rolling.setdefault("maxUnavailable", 1)
        rolling.setdefault("maxSurge", 0)
    elif strategy.get("rollingUpdate") is not None:
        # What is not followed is filled up all the same, with nothing.
        for key in ("maxUnavailable", "maxSurge"):
            strategy["rollingUpdate"].setdefault(key, 0)
    defaults.pod_spec(child(child(spec, "template"), "spec"))


def _rolling(where: str, rolling: Mapping[str, Any]) -> list[Cause]:
    causes: list[Cause] = []
    counts = {}
    for name in ("maxUnavailable", "maxSurge"):
        wrong, counts[name] = fields.int_or_percent(f"{where}.{name}", rolling.get(name))
        causes += wrong
    for name in ("maxUnavailable", "maxSurge"):
        if isinstance(rolling.get(name), str) and counts[name] > 100:
            causes.append(fields.bad(f"{where}.{name}", rolling[name], "must not be greater than 100%"))
    if counts["maxUnavailable"] and counts["maxSurge"]:
        why = "may not be set when maxUnavailable is non-zero"
        causes.append(fields.bad(f"{where}.maxSurge", rolling.get("maxSurge"), why))
    if not counts["maxUnavailable"] and not counts["maxSurge"]:
        causes.append(fields.required(f"{where}.maxUnavailable", "cannot be 0 when maxSurge is 0"))
    return causes


def _strategy(spec: Mapping[str, Any]) -> list[Cause]:
    where, strategy = "spec.updateStrategy", spec.get("updateStrategy") or {}
    if strategy.get("type") not in _STRATEGIES:
        shown = internal.shown(strategy, "apps.DaemonSetUpdateStrategy")
        return [fields.unsupported(where, shown, _STRATEGIES, ordered=False)]
    if strategy["type"] == "OnDelete":
        return []
    return _rolling(f"{where}.rollingUpdate", strategy.get("rollingUpdate") or {})


def _validate(document: Document) -> list[Cause]:
    spec = document["spec"]
    causes = pod.selector(document, "daemonset", needed=False, unread=None)
    causes += pod.template("spec.template", spec.get("template"), "DaemonSet")
    causes += fields.non_negative("spec.minReadySeconds", spec.get("minReadySeconds"))
    causes += _strategy(spec)
    return causes + fields.non_negative("spec.revisionHistoryLimit", spec.get("revisionHistoryLimit"))


def _validate_update(new: Document, old: Mapping[str, Any]) -> list[Cause]:
    # Upstream asks this first (ValidateDaemonSetUpdate).
    return fields.fixed_selector(new, old) + _validate(new)


def _warns(document: Mapping[str, Any]) -> list[str]:
    return warnings.of_template("spec.template.", at(document, "spec", "template"))


def _counted(name: str, field: str, description: str = "") -> Column:
    return Column(
        name,
        "integer",
        description or f"The status' {field}.",
        lambda document, age: at(document, "status", field) or 0,
        source="" if description else f"apps_v1.DaemonSetStatus#{field}",
    )


_READY: Final = (
    "The number of nodes that should be running the daemon pod and have one or more of the daemon pod running and "
    "ready."
)
_SELECTOR: Final = (
    "A label query over pods that are managed by the daemon set. Must match in order to be controlled. If empty, "
    "defaulted to labels on Pod template. More info: "
    "https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors"
)
"""Both from extensions/v1beta1, whose words upstream's printer still has."""

_COUNTS: Final = counts.rules(
    (
        "currentNumberScheduled",
        "numberMisscheduled",
        "desiredNumberScheduled",
        "numberReady",
        "observedGeneration",
        "updatedNumberScheduled",
        "numberAvailable",
        "numberUnavailable",
        "collisionCount",
    )
)
_STATUS_PART: Final = replace(STATUS, part_rules=_COUNTS)

KIND: Final = Kind(
    "DaemonSet",
    "daemonsets",
    group="apps",
    short_names=("ds",),
    categories=("all",),
    subresources=(_STATUS_PART,),
    keeper="daemonset",
    prepare=_prepare,
    whole_rules=True,
    defaults=_defaults,
    admit_update=_admit_update,
    validate=_validate,
    warns_spec=_warns,
    validate_update=_validate_update,
    ratchets=True,
    generation=True,
    converted=frozenset({TEMPLATE_GENERATION}),
    metadata_looks="c",
    columns=(
        NAME,
        _counted("Desired", "desiredNumberScheduled"),
        _counted("Current", "currentNumberScheduled"),
        _counted("Ready", "numberReady", _READY),
        _counted("Up-to-date", "updatedNumberScheduled"),
        _counted("Available", "numberAvailable"),
        Column(
            "Node Selector",
            "string",
            "Labels of the nodes that its pods run on.",
            lambda document, age: pairs(at(document, "spec", "template", "spec", "nodeSelector")),
            source="core_v1.PodSpec#nodeSelector",
        ),
        AGE,
        *TEMPLATE,
        Column(
            "Selector",
            "string",
            _SELECTOR,
            lambda document, age: selector_words(at(document, "spec", "selector") or {}),
            1,
        ),
    ),
    page={"status": {"desiredNumberScheduled": True, "numberReady": True}},
    page_annotations=frozenset({TEMPLATE_GENERATION}),
)
