"""PersistentVolumes: a piece of storage; what backs it never changes.

Source: pkg/registry/core/persistentvolume, admission plugin StorageObjectInUseProtection, v1.34.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from controllers.kinds.columns import AGE, NAME, UNSET
from controllers.kinds.core import scheduling
from controllers.kinds.core import volumes as storage
from controllers.kinds.core.persistentvolumeclaim import class_name
from controllers.registry import fields
from controllers.registry.kind import Column, Kind
from controllers.registry.subresources import STATUS
from scheduler_core.api.document import at, child
from scheduler_core.api.errors import Cause

RESOURCE: Final = "persistentvolumes"

_NOT_SOURCES: Final = frozenset(
    {
        "accessModes",
        "capacity",
        "claimRef",
        "mountOptions",
        "nodeAffinity",
        "persistentVolumeReclaimPolicy",
        "storageClassName",
        "volumeAttributesClassName",
        "volumeMode",
    }
)
"""Fields of the spec that do not say what backs the volume."""

_POLICIES: Final = ("Delete", "Recycle", "Retain")


def _prepare(document: dict[str, Any]) -> None:
    document["status"] = {"phase": "Pending", "lastPhaseTransitionTime": document["metadata"]["creationTimestamp"]}


def _defaults(document: dict[str, Any]) -> None:
    spec = child(document, "spec")
    spec.setdefault("persistentVolumeReclaimPolicy", "Retain")
    spec.setdefault("volumeMode", "Filesystem")
    if isinstance(spec.get("hostPath"), dict):
        spec["hostPath"].setdefault("type", "")
    child(document, "status").setdefault("phase", "Pending")


def sources(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return what backs a volume: field → source."""
    return {key: value for key, value in spec.items() if key not in _NOT_SOURCES and value is not None}


def _validate(document: dict[str, Any]) -> list[Cause]:
    spec = document["spec"]
    causes = storage.common("spec", spec)
    capacity = spec.get("capacity") or {}
    if not capacity:
        causes.append(fields.required("spec.capacity"))
    elif set(capacity) != {"storage"}:
        causes.append(fields.unsupported("spec.capacity", ",".join(sorted(capacity)), ("storage",)))
    else:
        causes += storage.size("spec.capacity[storage]", capacity["storage"])
    policy = spec.get("persistentVolumeReclaimPolicy")
    causes += fields.one_of("spec.persistentVolumeReclaimPolicy", policy, _POLICIES)
    return causes + _affinity(spec.get("nodeAffinity")) + _source(spec)


def _source(spec: Mapping[str, Any]) -> list[Cause]:
    found = sorted(sources(spec))
    if not found:
        return [fields.required("spec", "must specify a volume type")]
    causes = [fields.not_allowed(f"spec.{key}", "may not specify more than 1 volume type") for key in found[1:]]
    if "local" in spec and not (spec.get("nodeAffinity") or {}).get("required"):
        causes.append(fields.required("spec.nodeAffinity", "Local volume requires node affinity"))
    for key in ("local", "hostPath"):
        if key in spec and not at(spec, key, "path"):
            causes.append(fields.required(f"spec.{key}.path"))
    csi = spec.get("csi")
    if csi is not None:
        for key in ("driver", "volumeHandle"):
            if not csi.get(key):
                causes.append(fields.required(f"spec.csi.{key}"))
    return causes


def _affinity(affinity: Mapping[str, Any] | None) -> list[Cause]:
    if affinity is None:
        return []
    if not affinity.get("required"):
        return [fields.required("spec.nodeAffinity.required", "must specify required node constraints")]
    return scheduling.node_selector("spec.nodeAffinity.required", affinity["required"])


def _validate_update(new: dict[str, Any], old: Mapping[str, Any]) -> list[Cause]:
    causes: list[Cause] = []
    if sources(new["spec"]) != sources(old["spec"]):
        why = "spec.persistentvolumesource is immutable after creation"
        causes.append(fields.not_allowed("spec.persistentvolumesource", why))
    for key in ("volumeMode", "nodeAffinity"):
        before = old["spec"].get(key)
        # A node affinity may come later, but not go or change.
        if before is not None:
            causes += fields.immutable(f"spec.{key}", new["spec"].get(key), before)
    return causes


def _claim(document: Mapping[str, Any], age: Any) -> str:
    reference = at(document, "spec", "claimRef")
    return f"{reference.get('namespace', '')}/{reference.get('name', '')}" if reference else ""


def _status(document: Mapping[str, Any], age: Any) -> str:
    if "deletionTimestamp" in document["metadata"]:
        return "Terminating"
    return str(at(document, "status", "phase") or "")


def _spec(*path: str, otherwise: str = "") -> Any:
    return lambda document, age: at(document, "spec", *path) or otherwise


KIND: Final = Kind(
    "PersistentVolume",
    "persistentvolumes",
    component_verbs=frozenset({"update", "patch"}),
    short_names=("pv",),
    namespaced=False,
    subresources=(STATUS,),
    keeper="persistentvolume",
    rank=8,
    prepare=_prepare,
    defaults=_defaults,
    validate=_validate,
    validate_update=_validate_update,
    returned_when_deleted=True,
    columns=(
        NAME,
        Column("Capacity", "string", "", _spec("capacity", "storage"), source="core_v1.PersistentVolumeSpec#capacity"),
        Column(
            "Access Modes",
            "string",
            "",
            lambda doc, age: storage.shortened(at(doc, "spec", "accessModes")),
            source="core_v1.PersistentVolumeSpec#accessModes",
        ),
        Column(
            "Reclaim Policy",
            "string",
            "",
            _spec("persistentVolumeReclaimPolicy"),
            source="core_v1.PersistentVolumeSpec#persistentVolumeReclaimPolicy",
        ),
        Column("Status", "string", "", _status, source="core_v1.PersistentVolumeStatus#phase"),
        Column("Claim", "string", "", _claim, source="core_v1.PersistentVolumeSpec#claimRef"),
        Column("StorageClass", "string", "StorageClass of the pv", class_name),
        Column(
            "VolumeAttributesClass",
            "string",
            "VolumeAttributesClass of the pv",
            _spec("volumeAttributesClassName", otherwise=UNSET),
        ),
        Column(
            "Reason",
            "string",
            "",
            lambda doc, age: at(doc, "status", "reason") or "",
            source="core_v1.PersistentVolumeStatus#reason",
        ),
        AGE,
        Column("VolumeMode", "string", "", _spec("volumeMode"), 1, source="core_v1.PersistentVolumeSpec#volumeMode"),
    ),
    page={
        "spec": {
            "capacity": True,
            "accessModes": True,
            "storageClassName": True,
            "persistentVolumeReclaimPolicy": True,
            "claimRef": {"namespace": True, "name": True},
            "nodeAffinity": True,
        },
        "status": {"phase": True},
    },
)
