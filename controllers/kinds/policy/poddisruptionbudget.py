"""PodDisruptionBudgets: how many pods of a group must stay; preemption tries to respect them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from controllers.kinds.columns import AGE, NAME
from controllers.registry import fields, internal
from controllers.registry.kind import Column, Kind
from controllers.registry.subresources import STATUS
from scheduler_core.api.document import at, child
from scheduler_core.api.errors import Cause

_POLICIES: Final = ("AlwaysAllow", "IfHealthyBudget")
_COUNTS: Final = ("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods")


def _prepare(document: dict[str, Any]) -> None:
    document["status"] = dict.fromkeys(_COUNTS, 0)


def _defaults(document: dict[str, Any]) -> None:
    child(document, "spec")


def _validate(document: dict[str, Any]) -> list[Cause]:
    spec = document["spec"]
    causes: list[Cause] = []
    if spec.get("minAvailable") is not None and spec.get("maxUnavailable") is not None:
        shown = internal.shown(spec, "policy.PodDisruptionBudgetSpec")
        causes.append(fields.bad("spec", shown, "minAvailable and maxUnavailable cannot be both set"))
    for key in ("minAvailable", "maxUnavailable"):
        if spec.get(key) is None:
            continue
        wrong, number = fields.int_or_percent(f"spec.{key}", spec[key])
        causes += wrong
        if not wrong and isinstance(spec[key], str) and number > 100:
            causes.append(fields.bad(f"spec.{key}", spec[key], "must not be greater than 100%"))
    causes += fields.label_selector("spec.selector", spec.get("selector"))
    policy = spec.get("unhealthyPodEvictionPolicy")
    return causes + fields.set_one_of("spec.unhealthyPodEvictionPolicy", policy, _POLICIES)


def _complete_status(document: dict[str, Any], old: Mapping[str, Any], now: str) -> None:
    for key in _COUNTS:
        document["status"].setdefault(key, 0)


def _status_rules(document: dict[str, Any], old: Mapping[str, Any]) -> list[Cause]:
    """Check a status (ValidatePodDisruptionBudgetStatusUpdate)."""
    status = document["status"]
    causes = fields.conditions("status.conditions", status.get("conditions") or ())
    return causes + [cause for key in _COUNTS for cause in fields.non_negative(f"status.{key}", status.get(key))]


_STATUS: Final = replace(STATUS, complete=_complete_status, part_rules=_status_rules)


def _number(key: str) -> Any:
    def cell(document: Mapping[str, Any], age: Any) -> str:
        value = at(document, "spec", key)
        return "N/A" if value is None else str(value)

    return cell


KIND: Final = Kind(
    "PodDisruptionBudget",
    "poddisruptionbudgets",
    group="policy",
    short_names=("pdb",),
    names="path",
    subresources=(_STATUS,),
    keeper="disruption",
    prepare=_prepare,
    whole_rules=True,
    defaults=_defaults,
    validate=_validate,
    generation=True,
    metadata_looks="",
    any_finalizers=True,
    unconditional=False,
    columns=(
        NAME,
        Column(
            "Min Available", "string", "The minimum number of pods that must be available.", _number("minAvailable")
        ),
        Column(
            "Max Unavailable",
            "string",
            "The maximum number of pods that may be unavailable.",
            _number("maxUnavailable"),
        ),
        Column(
            "Allowed Disruptions",
            "integer",
            "Calculated number of pods that may be disrupted at this time.",
            lambda doc, age: at(doc, "status", "disruptionsAllowed") or 0,
        ),
        AGE,
    ),
    page={
        "spec": {"minAvailable": True, "maxUnavailable": True, "selector": True},
        "status": {"disruptionsAllowed": True, "currentHealthy": True, "desiredHealthy": True, "expectedPods": True},
    },
)
