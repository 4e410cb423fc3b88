"""Rules of what backs a PersistentVolume, one source each.

Source: pkg/apis/core/validation (ValidatePersistentVolumeSpec), v1.34.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from controllers.kinds.core.pod import volumes as inline
from controllers.kinds.core.pod.volumes import Rule, Source, needs
from controllers.kinds.storage.common import driver_name
from controllers.registry import fields
from scheduler_core.api.errors import Cause

_SECRETS: Final = (
    "controllerPublishSecretRef", "controllerExpandSecretRef", "nodePublishSecretRef", "nodeExpandSecretRef",
)  # fmt: skip
_TOO_LONG_PORTAL: Final = (
    "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is "
    "specified."
)


def _glusterfs(where: str, source: Source) -> list[Cause]:
    causes = fields.missing(where, source, "endpoints", "path")
    home = source.get("endpointsNamespace")
    if home == "":
        why = "if the endpointnamespace is set, it must be a valid namespace name"
        causes.append(fields.bad(f"{where}.endpointsNamespace", home, why))
    return causes + (fields.label_name(f"{where}.endpointsNamespace", home) if home else [])


def _secret(where: str, source: Source) -> list[Cause]:
    secret = source.get("secretRef")
    return [] if secret is None else fields.missing(f"{where}.secretRef", secret, "name", "namespace")


def _cinder(where: str, source: Source) -> list[Cause]:
    return fields.missing(where, source, "volumeID") + _secret(where, source)


def _iscsi(where: str, source: Source) -> list[Cause]:
    causes = inline.iscsi(where, source, begins="")
    secret = source.get("secretRef")
    return causes + ([] if secret is None else fields.missing(f"{where}.secretRef", secret, "name"))


def _azure_file(where: str, source: Source) -> list[Cause]:
    causes = fields.missing(where, source, "secretName", "shareName")
    return causes + ([fields.required(f"{where}.secretNamespace")] if source.get("secretNamespace") == "" else [])


def _local(where: str, source: Source) -> list[Cause]:
    path = source.get("path")
    return fields.no_backsteps(f"{where}.path", path) if path else [fields.required(f"{where}.path")]


def _storage_os(where: str, source: Source) -> list[Cause]:
    name, home = source.get("volumeName") or "", source.get("volumeNamespace") or ""
    field = f"{where}.volumeName"
    causes = fields.label_name(field, name) if name else [fields.required(field)]
    causes += fields.label_name(f"{where}.volumeNamespace", home) if home else []
    return causes + _secret(where, source)


def _csi(where: str, source: Source) -> list[Cause]:
    causes = driver_name(f"{where}.driver", source.get("driver") or "")
    causes += fields.missing(where, source, "volumeHandle")
    for key in _SECRETS:
        if source.get(key) is None:
            continue
        for part, rule in (("name", fields.subdomain), ("namespace", fields.label_name)):
            place, value = f"{where}.{key}.{part}", source[key].get(part)
            causes += rule(place, value) if value else [fields.required(place)]
    return causes


_SOURCES: Final[Mapping[str, Rule]] = {
    "hostPath": inline.host_path,
    "gcePersistentDisk": inline.disk,
    "awsElasticBlockStore": inline.disk,
    "glusterfs": _glusterfs,
    "flocker": inline.flocker,
    "nfs": inline.nfs,
    "rbd": needs("monitors", "image"),
    "quobyte": inline.quobyte,
    "cephfs": needs("monitors"),
    "iscsi": _iscsi,
    "cinder": _cinder,
    "fc": inline.fibre_channel,
    "flexVolume": inline.flex,
    "azureFile": _azure_file,
    "vsphereVolume": needs("volumePath"),
    "photonPersistentDisk": needs("pdID"),
    "portworxVolume": needs("volumeID"),
    "azureDisk": inline.azure_disk,
    "scaleIO": needs("gateway", "system", "volumeName"),
    "local": _local,
    "storageos": _storage_os,
    "csi": _csi,
}
"""The sources in upstream's order, each with its rule."""

_PLACES: Final = {"gcePersistentDisk": "persistentDisk"}
_SECOND_PLACES: Final = {"cephfs": "cephFS"}


def sources(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return what backs a volume: field → source."""
    return {key: spec[key] for key in _SOURCES if spec.get(key) is not None}


def validate(spec: Mapping[str, Any], name: str, at: str = "spec") -> list[Cause]:
    """Check what backs the volume of a name; `at` is where its spec stands."""
    found = sources(spec)
    if not found:
        return [fields.required(at, "must specify a volume type")]
    causes: list[Cause] = []
    for number, (key, source) in enumerate(found.items()):
        # Of a driver of its own upstream does not ask whether it is alone.
        if number and key != "flexVolume":
            place = f"{at}.{_SECOND_PLACES.get(key, key)}"
            causes.append(fields.not_allowed(place, "may not specify more than 1 volume type"))
            continue
        causes += _SOURCES[key](f"{at}.{_PLACES.get(key, key)}", source)
        portal = f"{name}:{source.get('targetPortal') or ''}" if key == "iscsi" else ""
        if len(portal) > 64 and source.get("initiatorName") is not None:
            causes.append(fields.bad(f"{at}.iscsi.targetportal", source.get("targetPortal"), _TOO_LONG_PORTAL))
        if key == "local" and not (spec.get("nodeAffinity") or {}).get("required"):
            causes.append(fields.required(f"{at}.nodeAffinity", "Local volume requires node affinity"))
    return causes
