"""ControllerRevisions: what a StatefulSet or DaemonSet looked like once; controllers keep them.

Source: pkg/apis/apps (ValidateControllerRevision), v1.34.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from controllers.kinds.columns import AGE, CONTROLLER, NAME
from controllers.registry import fields
from controllers.registry.kind import Column, Kind
from scheduler_core.api.errors import Cause


def _defaults(document: dict[str, Any]) -> None:
    document.setdefault("revision", 0)


def _validate(document: dict[str, Any]) -> list[Cause]:
    causes = fields.non_negative("revision", document["revision"])
    if document.get("data") is None:
        causes.append(fields.required("data", "data is mandatory"))
    elif not isinstance(document["data"], dict):
        causes.append(fields.required("data", "data must be a valid JSON object"))
    return causes


def _validate_update(new: dict[str, Any], old: Mapping[str, Any]) -> list[Cause]:
    return fields.non_negative("revision", new["revision"]) + fields.immutable("data", new.get("data"), old.get("data"))


KIND: Final = Kind(
    "ControllerRevision",
    "controllerrevisions",
    group="apps",
    rank=45,
    whole_rules=True,
    students=False,
    defaults=_defaults,
    validate=_validate,
    validate_update=_validate_update,
    rule_checks=0,
    spelled=("data",),
    columns=(
        NAME,
        CONTROLLER,
        Column(
            "Revision",
            "string",
            "revision indicates the revision of the state represented by Data.",
            lambda doc, age: doc.get("revision", 0),
        ),
        AGE,
    ),
)
