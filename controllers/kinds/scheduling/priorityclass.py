"""PriorityClasses: a name for a number; the number never changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from controllers.kinds.columns import AGE, NAME
from controllers.registry import fields
from controllers.registry.kind import Column, Kind
from scheduler_core.api.errors import Cause

HIGHEST_USER_PRIORITY: Final = 1_000_000_000
"""The largest priority that people may give; above it is the system's."""

SYSTEM_PREFIX: Final = "system-"
SYSTEM_CLASSES: Final = {"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}
"""The classes every cluster has."""

_RESOURCE: Final = "priorityclasses.scheduling.k8s.io"


def _prepare(document: dict[str, Any]) -> None:
    # Upstream counts no change of it.
    document["metadata"]["generation"] = 1


def _defaults(document: dict[str, Any]) -> None:
    document.setdefault("preemptionPolicy", "PreemptLowerPriority")
    document.setdefault("value", 0)


def _validate(document: dict[str, Any]) -> list[Cause]:
    name, value = document["metadata"]["name"], document["value"]
    causes: list[Cause] = []
    if name.startswith(SYSTEM_PREFIX):
        if SYSTEM_CLASSES.get(name) != value or document.get("globalDefault"):
            known = "is not a known system priority class"
            if name in SYSTEM_CLASSES:
                known = f"with value {value} is not a system class"
            why = f"priority class names with 'system-' prefix are reserved for system use only. error: {name} {known}"
            causes.append(fields.not_allowed("metadata.name", why))
    elif value > HIGHEST_USER_PRIORITY:
        why = f"maximum allowed value of a user defined priority is {HIGHEST_USER_PRIORITY}"
        causes.append(fields.not_allowed("value", why))
    if value < -(2**31):
        causes.append(fields.bad("value", value, "must fit into 32 bits"))
    policy = document.get("preemptionPolicy")
    policies = ("PreemptLowerPriority", "Never")
    return causes + fields.one_of("preemptionPolicy", policy, policies, needed=True, ordered=False)


def _validate_update(new: dict[str, Any], old: Mapping[str, Any]) -> list[Cause]:
    causes: list[Cause] = []
    if new["value"] != old["value"]:
        causes.append(fields.not_allowed("value", "may not be changed in an update."))
    return causes + fields.immutable("preemptionPolicy", new.get("preemptionPolicy"), old.get("preemptionPolicy"))


KIND: Final = Kind(
    "PriorityClass",
    "priorityclasses",
    lasting=frozenset(SYSTEM_CLASSES),
    lasting_because="this is a system priority class and cannot be deleted",
    group="scheduling.k8s.io",
    short_names=("pc",),
    namespaced=False,
    rank=1,
    whole_rules=True,
    defaults=_defaults,
    rule_checks=0,
    validate=_validate,
    validate_update=_validate_update,
    prepare=_prepare,
    metadata_looks="c",
    columns=(
        NAME,
        Column(
            "Value", "integer", "", lambda doc, age: doc.get("value", 0), source="scheduling_v1.PriorityClass#value"
        ),
        Column(
            "Global-Default",
            "boolean",
            "",
            lambda doc, age: bool(doc.get("globalDefault")),
            source="scheduling_v1.PriorityClass#globalDefault",
        ),
        AGE,
        Column(
            "PreemptionPolicy",
            "string",
            "",
            lambda doc, age: doc.get("preemptionPolicy", ""),
            source="scheduling_v1.PriorityClass#preemptionPolicy",
        ),
    ),
    page={
        "value": True,
        "globalDefault": True,
        "preemptionPolicy": True,
        "description": True,
    },
)
