"""Rules of a pod's volumes, one source each.

Source: pkg/apis/core/validation (ValidateVolumes, validateVolumeSource), v1.34.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from controllers.kinds.core import volumes as storage
from controllers.kinds.core.pod import references
from controllers.kinds.storage.common import driver_name
from controllers.registry import fields
from scheduler_core.api import quantity
from scheduler_core.api.errors import Cause

Source = Mapping[str, Any]
Rule = Callable[[str, Source], list[Cause]]

_HOST_PATH_TYPES: Final = (
    "", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket",
)  # fmt: skip
_PARTITION: Final = "must be between 1 and 255, inclusive"
_HOST_AND_PORT: Final = "must be a host:port pair or multiple pairs separated by commas"
_ISCSI: Final = {
    "iqn": re.compile(r"iqn\.\d{4}-\d{2}\.([a-zA-Z0-9.-]+)(:[^,;*&$|\s]+)"),
    "eui": re.compile(r"eui.[a-zA-Z0-9]{16}"),
    "naa": re.compile(r"naa.[a-zA-Z0-9]{32}"),
}
_OWN_DOMAINS: Final = (".kubernetes.io", ".k8s.io")
_MANAGED_DISK: Final = "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"
_BLOB_DISK: Final = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"
_TOO_LONG_PORTAL: Final = (
    "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is "
    "specified."
)


def _empty_dir(where: str, source: Source) -> list[Cause]:
    limit = source.get("sizeLimit")
    if limit is not None and quantity.nano(limit) < 0:
        return [fields.not_allowed(f"{where}.sizeLimit", "SizeLimit field must be a valid resource quantity")]
    return []


def host_path(where: str, source: Source) -> list[Cause]:
    """Check a path on the node."""
    if not source.get("path"):
        return [fields.required(f"{where}.path")]
    causes = fields.no_backsteps(f"{where}.path", source["path"])
    return causes + fields.set_one_of(f"{where}.type", source.get("type"), _HOST_PATH_TYPES)


def _git_repo(where: str, source: Source) -> list[Cause]:
    causes = fields.missing(where, source, "repository")
    return causes + fields.relative_path(f"{where}.directory", source.get("directory") or "")


def disk(where: str, source: Source) -> list[Cause]:
    """Check a disk of GCE or AWS."""
    name = "pdName" if "persistentDisk" in where or "gcePersistentDisk" in where else "volumeID"
    partition = source.get("partition") or 0
    wrong = [] if 0 <= partition <= 255 else [fields.bad(f"{where}.partition", partition, _PARTITION)]
    return fields.missing(where, source, name) + wrong


def _keys(where: str, source: Source) -> list[Cause]:
    causes = references.mode(f"{where}.defaultMode", source.get("defaultMode"))
    for index, item in enumerate(source.get("items") or ()):
        causes += references.key_to_path(f"{where}.items[{index}]", item)
    return causes


def _secret(where: str, source: Source) -> list[Cause]:
    return fields.missing(where, source, "secretName") + _keys(where, source)


def _config_map(where: str, source: Source) -> list[Cause]:
    return fields.missing(where, source, "name") + _keys(where, source)


def nfs(where: str, source: Source) -> list[Cause]:
    """Check an export of NFS."""
    path = source.get("path") or ""
    causes = fields.missing(where, source, "server", "path")
    return causes + ([] if path.startswith("/") else [fields.bad(f"{where}.path", path, "must be an absolute path")])


def _initiator(field: str, name: str, begins: str) -> list[Cause]:
    pattern = _ISCSI.get(name[:3])
    if pattern is None:
        return [fields.bad(field, name, f"must be valid format{begins}")]
    return [] if pattern.fullmatch(name) else [fields.bad(field, name, "must be valid format")]


def iscsi(where: str, source: Source, begins: str = " starting with iqn, eui, or naa") -> list[Cause]:
    """Check a volume of iSCSI; `begins`: what is said of how names begin."""
    causes = fields.missing(where, source, "targetPortal")
    name = source.get("iqn")
    causes += _initiator(f"{where}.iqn", name, begins) if name else [fields.required(f"{where}.iqn")]
    causes += fields.within(f"{where}.lun", source.get("lun"), 0, 255)
    if (source.get("chapAuthDiscovery") or source.get("chapAuthSession")) and source.get("secretRef") is None:
        causes.append(fields.required(f"{where}.secretRef"))
    if source.get("initiatorName") is not None:
        causes += _initiator(f"{where}.initiatorname", source["initiatorName"], begins)
    return causes


def flocker(where: str, source: Source) -> list[Cause]:
    """Check a volume of Flocker."""
    name, uuid = source.get("datasetName") or "", source.get("datasetUUID") or ""
    causes: list[Cause] = []
    if not name and not uuid:
        causes.append(fields.required(where, "one of datasetName and datasetUUID is required"))
    if name and uuid:
        why = "datasetName and datasetUUID can not be specified simultaneously"
        causes.append(fields.bad(where, "resource", why))
    if "/" in name:
        causes.append(fields.bad(f"{where}.datasetName", name, "must not contain '/'"))
    return causes


def quobyte(where: str, source: Source) -> list[Cause]:
    """Check a volume of Quobyte."""
    registry = source.get("registry") or ""
    causes: list[Cause] = []
    if not registry:
        causes.append(fields.required(f"{where}.registry", _HOST_AND_PORT))
    elif len(source.get("tenant") or "") >= 65:
        why = "must be a UUID and may not exceed a length of 64 characters"
        causes.append(fields.required(f"{where}.tenant", why))
    else:
        pairs = [pair for pair in registry.split(",") if not re.fullmatch(r"([^:\[\]]*|\[[^\[\]]*\]):[^:\[\]]*", pair)]
        causes += [fields.bad(f"{where}.registry", registry, _HOST_AND_PORT) for _ in pairs]
    return causes + fields.missing(where, source, "volume")


def _downward(where: str, source: Source) -> list[Cause]:
    causes = references.mode(f"{where}.defaultMode", source.get("defaultMode"))
    for item in source.get("items") or ():
        causes += references.downward_file(where, item)
    return causes


def fibre_channel(where: str, source: Source) -> list[Cause]:
    """Check a volume of Fibre Channel."""
    names, ids, lun = source.get("targetWWNs") or [], source.get("wwids") or [], source.get("lun")
    causes: list[Cause] = []
    if not names and not ids:
        why = "must specify either targetWWNs or wwids, but not both"
        causes.append(fields.required(f"{where}.targetWWNs", why))
    if names and ids:
        why = "targetWWNs and wwids can not be specified simultaneously"
        causes.append(fields.bad(f"{where}.targetWWNs", names, why))
    if names and lun is None:
        causes.append(fields.required(f"{where}.lun", "lun is required if targetWWNs is specified"))
    return causes + (fields.within(f"{where}.lun", lun, 0, 255) if names else [])


def flex(where: str, source: Source) -> list[Cause]:
    """Check a volume of a driver of its own."""
    causes = fields.missing(where, source, "driver")
    for key in source.get("options") or {}:
        if f".{key.partition('/')[0].lower()}".endswith(_OWN_DOMAINS):
            why = "kubernetes.io and k8s.io namespaces are reserved"
            causes.append(fields.bad(f"{where}.options[{key}]", key, why))
    return causes


def azure_disk(where: str, source: Source) -> list[Cause]:
    """Check a disk of Azure."""
    uri, kind = source.get("diskURI") or "", source.get("kind")
    causes = fields.missing(where, source, "diskName", "diskURI")
    causes += fields.set_one_of(f"{where}.cachingMode", source.get("cachingMode"), ("None", "ReadOnly", "ReadWrite"))
    causes += fields.set_one_of(f"{where}.kind", kind, ("Dedicated", "Managed", "Shared"))
    if kind == "Managed" and not uri.startswith("/subscriptions/"):
        causes.append(fields.unsupported(f"{where}.diskURI", uri, (_MANAGED_DISK,)))
    if kind not in (None, "Managed") and not uri.startswith("https://"):
        causes.append(fields.unsupported(f"{where}.diskURI", uri, (_BLOB_DISK,)))
    return causes


def _storage_os(where: str, source: Source) -> list[Cause]:
    name, home = source.get("volumeName") or "", source.get("volumeNamespace") or ""
    field = f"{where}.volumeName"
    causes = fields.label_name(field, name) if name else [fields.required(field)]
    causes += fields.label_name(f"{where}.volumeNamespace", home) if home else []
    return causes + _secret_name(where, source)


def _secret_name(where: str, source: Source) -> list[Cause]:
    secret = source.get("secretRef")
    return [] if secret is None else fields.missing(f"{where}.secretRef", secret, "name")


def _cinder(where: str, source: Source) -> list[Cause]:
    return fields.missing(where, source, "volumeID") + _secret_name(where, source)


def _csi(where: str, source: Source) -> list[Cause]:
    causes = driver_name(f"{where}.driver", source.get("driver") or "")
    secret = source.get("nodePublishSecretRef")
    if secret is not None:
        name = secret.get("name")
        field = f"{where}.nodePublishSecretRef.name"
        causes += fields.subdomain(f"{where}.name", name) if name else [fields.required(field)]
    return causes


def _ephemeral(where: str, source: Source) -> list[Cause]:
    claim = source.get("volumeClaimTemplate")
    field = f"{where}.volumeClaimTemplate"
    if claim is None:
        return [fields.required(field)]
    metadata = claim.get("metadata") or {}
    causes = fields.labels(f"{field}.metadata.labels", metadata.get("labels"))
    causes += [
        fields.not_allowed(f"{field}.metadata.{key}", "cannot be set")
        for key in metadata
        if key not in ("annotations", "labels", "creationTimestamp")
    ]
    return causes + storage.claim_spec(f"{field}.spec", claim.get("spec") or {})


def _image(where: str, source: Source) -> list[Cause]:
    causes = fields.missing(where, source, "reference")
    policies = ("Always", "IfNotPresent", "Never")
    return causes + fields.one_of(f"{where}.pullPolicy", source.get("pullPolicy"), policies)


def needs(*keys: str) -> Rule:
    """Return the rule that some members have to be there."""
    return lambda where, source: fields.missing(where, source, *keys)


_SOURCES: Final[Mapping[str, Rule]] = {
    "emptyDir": _empty_dir,
    "hostPath": host_path,
    "gitRepo": _git_repo,
    "gcePersistentDisk": disk,
    "awsElasticBlockStore": disk,
    "secret": _secret,
    "nfs": nfs,
    "iscsi": iscsi,
    "glusterfs": needs("endpoints", "path"),
    "flocker": flocker,
    "persistentVolumeClaim": needs("claimName"),
    "rbd": needs("monitors", "image"),
    "cinder": _cinder,
    "cephfs": needs("monitors"),
    "quobyte": quobyte,
    "downwardAPI": _downward,
    "fc": fibre_channel,
    "flexVolume": flex,
    "configMap": _config_map,
    "azureFile": needs("secretName", "shareName"),
    "vsphereVolume": needs("volumePath"),
    "photonPersistentDisk": needs("pdID"),
    "portworxVolume": needs("volumeID"),
    "azureDisk": azure_disk,
    "storageos": _storage_os,
    "projected": references.projected,
    "scaleIO": needs("gateway", "system", "volumeName"),
    "csi": _csi,
    "ephemeral": _ephemeral,
    "image": _image,
}
"""The sources in upstream's order, each with its rule."""

_PLACES: Final = {"gcePersistentDisk": "persistentDisk"}
_SECOND_PLACES: Final = {"cephfs": "cephFS", "downwardAPI": "downwarAPI"}
"""Where upstream says that something is wrong, where that is not the field's name."""


def _volume(where: str, volume: Source, pod: str) -> list[Cause]:
    causes: list[Cause] = []
    name = volume.get("name") or ""
    found = ""
    for key, rule in _SOURCES.items():
        source = volume.get(key)
        if source is None:
            continue
        if found:
            field = f"{where}.{_SECOND_PLACES.get(key, key)}"
            causes.append(fields.not_allowed(field, "may not specify more than 1 volume type"))
        else:
            found = key
            causes += rule(f"{where}.{_PLACES.get(key, key)}", source)
            if key == "ephemeral" and pod and name:
                claim = f"{pod}-{name}"
                causes += [
                    fields.bad(f"{where}.name", name, f'PVC name "{claim}": {one.message.split(": ", 2)[2]}')
                    for one in fields.subdomain("", claim)
                ]
        portal = f"{name}:{source.get('targetPortal') or ''}" if key == "iscsi" else ""
        if len(portal) > 64 and source.get("initiatorName") is not None:
            causes.append(fields.bad(f"{where}.name", name, _TOO_LONG_PORTAL))
    return causes if found else [*causes, fields.required(where, "must specify a volume type")]


def volumes(field: str, listed: Sequence[Source], pod: str = "") -> tuple[list[Cause], dict[str, Source]]:
    """Check a pod's volumes; return what is wrong, and by its name each that is not.

    Args:
        field: `spec.volumes`.
        listed: the volumes.
        pod: the pod's name; empty where it has none yet.
    """
    causes: list[Cause] = []
    good: dict[str, Source] = {}
    claims = {f"{pod}-{one.get('name')}" for one in listed if pod and one.get("ephemeral") is not None}
    for index, volume in enumerate(listed):
        where, name = f"{field}[{index}]", volume.get("name") or ""
        wrong = _volume(where, volume, pod)
        wrong += fields.label_name(f"{where}.name", name) if name else [fields.required(f"{where}.name")]
        if name in good:
            wrong.append(fields.duplicate(f"{where}.name", name))
        if not wrong:
            good[name] = volume
        causes += wrong
        claim = (volume.get("persistentVolumeClaim") or {}).get("claimName")
        if claim in claims:
            why = "must not reference a PVC that gets created for an ephemeral volume"
            causes.append(fields.bad(f"{where}.persistentVolumeClaim.claimName", claim, why))
    return causes, good
