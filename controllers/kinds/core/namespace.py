"""Namespaces: they hold a finalizer of their own, so that what is in them goes first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from controllers.kinds.columns import AGE, NAME
from controllers.registry import fields
from controllers.registry.kind import VERBS, Column, Kind, Subresource
from controllers.registry.subresources import STATUS
from scheduler_core.api.document import Document, at, child
from scheduler_core.api.errors import Cause

NAMESPACE_FINALIZER: Final = "kubernetes"
_STANDARD_FINALIZERS: Final = (NAMESPACE_FINALIZER, "orphan", "foregroundDeletion")
NAME_LABEL: Final = "kubernetes.io/metadata.name"


def _is_held(document: Mapping[str, Any]) -> bool:
    return bool(document.get("spec", {}).get("finalizers"))


def _mark_deleted(document: Document) -> Document:
    metadata = {key: value for key, value in document["metadata"].items() if key != "deletionGracePeriodSeconds"}
    return {**document, "metadata": metadata, "status": {**document.get("status", {}), "phase": "Terminating"}}


def _finalized(old: Mapping[str, Any], new: Mapping[str, Any]) -> Document:
    kept = {key: value for key, value in old.items() if key != "finalizers"}
    return {**kept, "finalizers": new["finalizers"]} if new.get("finalizers") else kept


def _phase_rules(document: Document, old: Mapping[str, Any]) -> list[Cause]:
    """Check what a status may say (ValidateNamespaceStatusUpdate)."""
    phase, leaving = at(document, "status", "phase") or "", "deletionTimestamp" in document["metadata"]
    wanted, state = ("Terminating", "not empty") if leaving else ("Active", "empty")
    if phase == wanted:
        return []
    return [fields.bad("status.Phase", phase, f"may only be '{wanted}' if `deletionTimestamp` is {state}")]


def _finalize_rules(document: Document, old: Mapping[str, Any]) -> list[Cause]:
    return _finalizers("spec.finalizers", at(document, "spec", "finalizers") or (), one_by_one=True)


def _complete(document: Document, old: Mapping[str, Any], now: str) -> None:
    _defaults(document)
    status = child(document, "status")
    if not status.get("phase"):
        status["phase"] = "Active"


_STATUS: Final = replace(STATUS, complete=_complete, part_rules=_phase_rules)

FINALIZE: Final = Subresource(
    "finalize",
    verbs=("update",),
    part="spec",
    merged=_finalized,
    reset=False,
    carries=STATUS.carries,
    complete=_complete,
    part_rules=_finalize_rules,
)


def _prepare(document: dict[str, Any]) -> None:
    document["status"] = {"phase": "Active"}
    sent = (document.get("spec") or {}).get("finalizers") or []
    document["spec"] = {"finalizers": sent if NAMESPACE_FINALIZER in sent else [*sent, NAMESPACE_FINALIZER]}


def _defaults(document: dict[str, Any]) -> None:
    metadata = child(document, "metadata")
    metadata["labels"] = {**metadata.get("labels", {}), NAME_LABEL: metadata["name"]}


def _finalizers(field: str, names: Sequence[str], *, one_by_one: bool) -> list[Cause]:
    """Check what holds a namespace that is being deleted."""
    causes: list[Cause] = []
    for index, name in enumerate(names):
        where = f"{field}[{index}]" if one_by_one else field
        causes += fields.qualified_name(where, name)
        if "/" not in name and name not in _STANDARD_FINALIZERS:
            why = "name is neither a standard finalizer name nor is it fully qualified"
            causes.append(fields.bad(where, name, why))
    return causes


def _validate(document: dict[str, Any]) -> list[Cause]:
    return _finalizers("spec.finalizers", at(document, "spec", "finalizers") or (), one_by_one=False)


KIND: Final = Kind(
    "Namespace",
    "namespaces",
    metadata_looks="wc",
    short_names=("ns",),
    namespaced=False,
    verbs=tuple(verb for verb in VERBS if verb != "deletecollection"),
    subresources=(_STATUS, FINALIZE),
    keeper="namespace",
    rank=0,
    prepare=_prepare,
    whole_rules=True,
    defaults=_defaults,
    validate=_validate,
    names="label",
    is_held=_is_held,
    mark_deleted=_mark_deleted,
    marked_first=True,
    returned_when_deleted=True,
    columns=(
        NAME,
        Column("Status", "string", "The status of the namespace", lambda doc, age: at(doc, "status", "phase") or ""),
        AGE,
    ),
    selectable={"status.phase": lambda doc: at(doc, "status", "phase") or ""},
    page={"status": {"phase": True}},
)
