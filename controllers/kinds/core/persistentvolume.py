"""PersistentVolumes: a piece of storage; what backs it never changes.

Source: pkg/registry/core/persistentvolume, admission plugin StorageObjectInUseProtection, v1.34.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from controllers.kinds.columns import AGE, NAME, UNSET
from controllers.kinds.core import backing, scheduling
from controllers.kinds.core import volumes as storage
from controllers.kinds.core.persistentvolumeclaim import class_name
from controllers.kinds.core.pod import warnings
from controllers.kinds.core.pod.defaults import fill_sources, round_resources
from controllers.registry import fields, internal
from controllers.registry.kind import Column, Kind
from controllers.registry.subresources import STATUS
from scheduler_core.api import quantity
from scheduler_core.api.document import at, child
from scheduler_core.api.errors import Cause

RESOURCE: Final = "persistentvolumes"

_POLICIES: Final = ("Delete", "Recycle", "Retain")


def _prepare(document: dict[str, Any]) -> None:
    document["status"] = {"phase": "Pending", "lastPhaseTransitionTime": document["metadata"]["creationTimestamp"]}


def _defaults(document: dict[str, Any]) -> None:
    spec = child(document, "spec")
    spec.setdefault("persistentVolumeReclaimPolicy", "Retain")
    spec.setdefault("volumeMode", "Filesystem")
    round_resources(spec.get("capacity"))
    fill_sources(spec)
    if spec.get("azureFile") is not None:
        # Upstream's struct tells it always.
        spec["azureFile"].setdefault("secretNamespace", None)
    child(document, "status").setdefault("phase", "Pending")


_UNTOLD: Final = ("flocker", "quobyte")
"""Volumes that pods are warned of, and upstream forgets to warn of here."""


def _warns(document: Mapping[str, Any]) -> list[str]:
    """Tell of what is better not used any more (pkg/api/persistentvolume)."""
    spec = document["spec"]
    told = list(storage.warns_of_annotations(document))
    if spec.get("persistentVolumeReclaimPolicy") == "Recycle":
        why = (
            "The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use "
            "dynamic provisioning."
        )
        told.append(f"spec.persistentVolumeReclaimPolicy: {why}")
    for index, term in enumerate(at(spec, "nodeAffinity", "required", "nodeSelectorTerms") or ()):
        told += warnings.deprecated_keys(f"spec.nodeAffinity.required.nodeSelectorTerms[{index}]", term)
    return told + warnings.deprecated_volume("spec", {key: spec[key] for key in spec if key not in _UNTOLD})


def _complete_status(document: dict[str, Any], old: Mapping[str, Any], now: str) -> None:
    """Tell since when it is in its phase (persistentvolumeStatusStrategy.PrepareForUpdate)."""
    status, before = document["status"], old.get("status") or {}
    status.setdefault("phase", "Pending")
    time, last = status.get("lastPhaseTransitionTime"), before.get("lastPhaseTransitionTime")
    if status["phase"] != before.get("phase"):
        if time is None or time == last:
            status["lastPhaseTransitionTime"] = now
    elif time is None and last is not None:
        status["lastPhaseTransitionTime"] = last


def _validate(document: dict[str, Any]) -> list[Cause]:
    spec = document["spec"]
    causes = [] if spec.get("accessModes") else [fields.required("spec.accessModes")]
    causes += storage.access_modes("spec.accessModes", spec.get("accessModes"))
    causes += _capacity(spec.get("capacity"))
    policy = spec.get("persistentVolumeReclaimPolicy")
    causes += fields.one_of("spec.persistentVolumeReclaimPolicy", policy, _POLICIES)
    causes += _affinity(spec.get("nodeAffinity"))
    causes += backing.validate(spec, document["metadata"].get("name") or "")
    path = at(spec, "hostPath", "path")
    if path and posixpath.normpath(path) == "/" and policy == "Recycle":
        why = "may not be 'recycle' for a hostPath mount of '/'"
        causes.append(fields.not_allowed("spec.persistentVolumeReclaimPolicy", why))
    if spec.get("storageClassName"):
        causes += fields.subdomain("spec.storageClassName", spec["storageClassName"])
    causes += fields.set_one_of("spec.volumeMode", spec.get("volumeMode"), storage.VOLUME_MODES)
    name, field = spec.get("volumeAttributesClassName"), "spec.volumeAttributesClassName"
    if name is not None:
        causes += fields.subdomain(field, name) if name else [fields.required(field, "an empty string is disallowed")]
        if spec.get("csi") is None:
            causes.append(fields.required("spec.csi", "has to be specified when using volumeAttributesClassName"))
    if _MOUNTED_BY in (document["metadata"].get("annotations") or {}) and not _MOUNTED & spec.keys():
        why = "may not specify mount options for this volume type"
        causes.append(fields.not_allowed(f"metadata.annotations.{_MOUNTED_BY}", why))
    return causes


_MOUNTED_BY: Final = "volume.beta.kubernetes.io/mount-options"
_MOUNTED: Final = {
    "gcePersistentDisk", "awsElasticBlockStore", "glusterfs", "nfs", "rbd", "quobyte", "iscsi", "cinder", "cephfs",
    "azureFile", "vsphereVolume", "azureDisk", "photonPersistentDisk",
}  # fmt: skip
"""Sources that are mounted with options."""


def _capacity(amounts: Mapping[str, str] | None) -> list[Cause]:
    field = "spec.capacity"
    causes = [] if amounts else [fields.required(field)]
    if set(amounts or ()) != {"storage"}:
        causes.append(fields.unsupported(field, None if amounts is None else dict(amounts), ("storage",)))
    for name, text in (amounts or {}).items():
        number = quantity.int64(-(-quantity.nano(text) // 10**9))
        if number < 0:
            causes.append(fields.bad(f"{field}[{name}]", number, "must be a valid resource quantity"))
        causes += storage.size(f"{field}[{name}]", text)
    return causes


def _affinity(affinity: Mapping[str, Any] | None) -> list[Cause]:
    if affinity is None:
        return []
    if affinity.get("required") is None:
        return [fields.required("spec.nodeAffinity.required", "must specify required node constraints")]
    return scheduling.node_selector("spec.nodeAffinity.required", affinity["required"])


def _validate_update(new: dict[str, Any], old: Mapping[str, Any]) -> list[Cause]:
    causes: list[Cause] = []
    now, was = backing.sources(new["spec"]), backing.sources(old["spec"])
    if "csi" in now and "csi" in was and "controllerExpandSecretRef" not in was["csi"]:
        # A secret to grow the volume with may come later.
        secret = "controllerExpandSecretRef"
        now["csi"] = {key: value for key, value in now["csi"].items() if key != secret}
    if now != was:
        difference = internal.difference(was, now, "core.PersistentVolumeSource")
        why = f"spec.persistentvolumesource is immutable after creation\n{difference}"
        causes.append(fields.not_allowed("spec.persistentvolumesource", why))
    causes += fields.immutable("volumeMode", new["spec"].get("volumeMode"), old["spec"].get("volumeMode"))
    before, after = old["spec"].get("nodeAffinity"), new["spec"].get("nodeAffinity")
    # A node affinity may come later, but not go or change.
    if before is not None and after != before:
        shown = fields.written(internal.form(after, "*core.VolumeNodeAffinity"))
        causes.append(
            fields.bad("nodeAffinity", shown, "field is immutable, except for updating from beta label to GA")
        )
    name = "volumeAttributesClassName"
    if old["spec"].get(name) is not None and new["spec"].get(name) is None:
        causes.append(fields.not_allowed(f"spec.{name}", "update from non-nil value to nil is forbidden"))
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
    subresources=(replace(STATUS, complete=_complete_status, metadata_looks="c"),),
    keeper="persistentvolume",
    rank=8,
    prepare=_prepare,
    defaults=_defaults,
    rule_checks=2,
    warns=_warns,
    validate=_validate,
    validate_update=_validate_update,
    whole_rules=True,
    returned_when_deleted=True,
    metadata_looks="ww",
    columns=(
        NAME,
        Column(
            "Capacity",
            "string",
            "",
            _spec("capacity", "storage", otherwise="0"),
            source="core_v1.PersistentVolumeSpec#capacity",
        ),
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
        Column(
            "VolumeMode",
            "string",
            "",
            _spec("volumeMode", otherwise=UNSET),
            1,
            source="core_v1.PersistentVolumeSpec#volumeMode",
        ),
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
