"""VolumeAttachments: which volume is to be attached to which node.

Source: pkg/apis/storage (defaults, validation), v1.34.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from controllers.kinds.columns import AGE, NAME, text_of
from controllers.kinds.core import backing, volumes
from controllers.kinds.core.pod.defaults import fill_sources
from controllers.kinds.storage.common import driver_name
from controllers.registry import fields, internal
from controllers.registry.kind import Column, Kind
from controllers.registry.subresources import STATUS_ONLY
from scheduler_core.api.document import Document, at
from scheduler_core.api.errors import Cause

_METADATA_BYTES_MAX: Final = 256 << 10
_MESSAGE_BYTES_MAX: Final = 1024


def _attachment_prepare(document: dict[str, Any]) -> None:
    document["status"] = {"attached": False}


def _spec(document: Mapping[str, Any]) -> list[Cause]:
    spec = document.get("spec") or {}
    causes = [] if spec.get("attacher") else [fields.required("spec.attacher")]
    source = spec.get("source") or {}
    name, inline = source.get("persistentVolumeName"), source.get("inlineVolumeSpec")
    if name is None and inline is None:
        causes.append(
            fields.required("spec.source", "must specify exactly one of inlineVolumeSpec and persistentVolumeName")
        )
    elif name is not None and inline is not None:
        why = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"
        causes.append(fields.not_allowed("spec.source", why))
    elif name == "":
        why = "must specify non empty persistentVolumeName"
        causes.append(fields.required("spec.source.persistentVolumeName", why))
    elif inline is not None:
        causes += _inline("spec.source.inlineVolumeSpec", inline)
    return causes + fields.subdomain("spec.nodeName", spec.get("nodeName") or "")


_OUTSIDE: Final = "may not be specified in the context of inline volumes"


def _inline(field: str, spec: Mapping[str, Any]) -> list[Cause]:
    """Check a volume that stands in the attachment itself: one of a CSI driver that nobody claims."""
    said = {"claimRef": spec.get("claimRef") is not None, "capacity": bool(spec.get("capacity"))}
    causes = [fields.not_allowed(f"{field}.{key}", _OUTSIDE) for key, is_said in said.items() if is_said]
    if spec.get("csi") is None:
        causes.append(fields.required(f"{field}.csi", "has to be specified in the context of inline volumes"))
    if not spec.get("accessModes"):
        causes.append(fields.required(f"{field}.accessModes"))
    causes += volumes.access_modes(f"{field}.accessModes", spec.get("accessModes"))
    if spec.get("persistentVolumeReclaimPolicy") not in (None, "", "Retain"):
        why = "may only be Retain in the context of inline volumes"
        causes.append(fields.not_allowed(f"{field}.persistentVolumeReclaimPolicy", why))
    if spec.get("nodeAffinity") is not None:
        causes.append(fields.not_allowed(f"{field}.nodeAffinity", _OUTSIDE))
    causes += backing.validate(spec, "", field)
    if spec.get("storageClassName"):
        causes.append(fields.not_allowed(f"{field}.storageClassName", _OUTSIDE))
    if spec.get("volumeMode") not in (None, "Filesystem"):
        why = "may not specify volumeMode other than Filesystem in the context of inline volumes"
        causes.append(fields.not_allowed(f"{field}.volumeMode", why))
    return causes


def _attachment(document: dict[str, Any]) -> list[Cause]:
    """Check a new one: what has come since the first version of the kind is looked at by itself."""
    spec = document.get("spec") or {}
    name = (spec.get("source") or {}).get("persistentVolumeName")
    causes = _spec(document) + driver_name("spec.attacher", spec.get("attacher") or "")
    return causes + (fields.subdomain("spec.source.persistentVolumeName", name) if name is not None else [])


def _attachment_update(new: dict[str, Any], old: Mapping[str, Any]) -> list[Cause]:
    causes = _spec(new) * 2
    if new.get("spec") == old.get("spec"):
        return causes
    shown = internal.shown(new.get("spec") or {}, "storage.VolumeAttachmentSpec")
    return [*causes, fields.bad("spec", shown, "field is immutable")]


def _defaults(document: dict[str, Any]) -> None:
    inline = at(document, "spec", "source", "inlineVolumeSpec")
    if inline is not None:
        fill_sources(inline)


def _status_rules(document: Document, old: Mapping[str, Any]) -> list[Cause]:
    """Check what is said of a volume's errors and of how it is attached (validateVolumeAttachmentStatus)."""
    status = document.get("status") or {}
    size = sum(
        len(key.encode()) + len(value.encode()) for key, value in (status.get("attachmentMetadata") or {}).items()
    )
    causes = [fields.too_long("status.attachmentMetadata", _METADATA_BYTES_MAX)] if size > _METADATA_BYTES_MAX else []
    for key in ("attachError", "detachError"):
        if len(((status.get(key) or {}).get("message") or "").encode()) > _MESSAGE_BYTES_MAX:
            # Upstream names the bound of the metadata here.
            causes.append(fields.too_long(f"status.{key}.message", _METADATA_BYTES_MAX))
    return causes


def _complete(document: Document, old: Mapping[str, Any], now: str) -> None:
    """Forget codes of errors: their feature is off in v1.34 (MutableCSINodeAllocatableCount)."""
    for key in ("attachError", "detachError"):
        error = document["status"].get(key)
        if error is not None:
            document["status"][key] = {name: value for name, value in error.items() if name != "errorCode"}


KIND: Final = Kind(
    "VolumeAttachment",
    "volumeattachments",
    group="storage.k8s.io",
    namespaced=False,
    subresources=(replace(STATUS_ONLY, complete=_complete, part_rules=_status_rules),),
    prepare=_attachment_prepare,
    defaults=_defaults,
    rule_checks=0,
    validate=_attachment,
    validate_update=_attachment_update,
    whole_rules=True,
    returned_when_deleted=True,
    metadata_looks="ww",
    unconditional=False,
    columns=(
        NAME,
        Column(
            "Attacher",
            "string",
            "",
            text_of("spec", "attacher"),
            source="storage_v1.VolumeAttachmentSpec#attacher",
            names=True,
        ),
        Column(
            "PV",
            "string",
            "",
            text_of("spec", "source", "persistentVolumeName"),
            source="storage_v1.VolumeAttachmentSource#persistentVolumeName",
        ),
        Column("Node", "string", "", text_of("spec", "nodeName"), source="storage_v1.VolumeAttachmentSpec#nodeName"),
        Column(
            "Attached",
            "boolean",
            "",
            lambda doc, age: bool(at(doc, "status", "attached")),
            source="storage_v1.VolumeAttachmentStatus#attached",
        ),
        AGE,
    ),
)
