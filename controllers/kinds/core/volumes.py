"""Rules that claims and volumes share: access modes, sizes, modes, classes.

Source: pkg/apis/core/validation (ValidatePersistentVolumeClaim, ValidatePersistentVolume), v1.34.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from controllers.registry import fields
from scheduler_core.api import quantity
from scheduler_core.api.document import at
from scheduler_core.api.errors import Cause
from scheduler_core.api.storage import CLASS_ANNOTATION

ACCESS_MODES: Final[Mapping[str, str]] = {
    "ReadWriteOnce": "RWO",
    "ReadOnlyMany": "ROX",
    "ReadWriteMany": "RWX",
    "ReadWriteOncePod": "RWOP",
}
"""Access modes and how kubectl shortens them, in the order in which it lists them."""

VOLUME_MODES: Final = ("Block", "Filesystem")
_KNOWN_SOURCES: Final = (("", "PersistentVolumeClaim"), ("snapshot.storage.k8s.io", "VolumeSnapshot"))
"""(group, kind) of what `dataSource` alone may name."""

_PATH: Final = fields.Written("{}")
"""How upstream shows a path that it takes for a value."""


def access_modes(field: str, modes: Sequence[str] | None) -> list[Cause]:
    """Check access modes: all known, ReadWriteOncePod alone."""
    causes = [fields.unsupported(field, mode, ACCESS_MODES) for mode in modes or () if mode not in ACCESS_MODES]
    known = set(modes or ()) & ACCESS_MODES.keys()
    if "ReadWriteOncePod" in known and len(known) > 1:
        causes.append(fields.not_allowed(field, "may not use ReadWriteOncePod with other access modes"))
    return causes


def shortened(modes: Sequence[str] | None) -> str:
    """Return access modes as kubectl prints them: `RWO,RWX`."""
    return ",".join(short for mode, short in ACCESS_MODES.items() if mode in (modes or ()))


def size(field: str, text: Any) -> list[Cause]:
    """Check an amount of storage."""
    if quantity.nano(text) <= 0:
        return [fields.bad(field, text, "must be greater than zero")]
    return []


def settle_sources(spec: dict[str, Any]) -> None:
    """Make both fields that tell where a claim's first content comes from say the same, and drop what is not known.

    Source: pkg/api/persistentvolumeclaim (DropDisabledFields, EnforceDataSourceBackwardsCompatibility,
    NormalizeDataSources), v1.34.
    """
    if (spec.get("dataSourceRef") or {}).get("namespace"):
        # Of a feature that is off in v1.34 (CrossNamespaceVolumeDataSource).
        del spec["dataSourceRef"]
    old, new = spec.get("dataSource"), spec.get("dataSourceRef")
    if new is None and old is not None and (old.get("apiGroup") or "", old.get("kind")) not in _KNOWN_SOURCES:
        del spec["dataSource"]
    elif new is None and old is not None:
        spec["dataSourceRef"] = dict(old)
    elif old is None and new is not None:
        spec["dataSource"] = dict(new)


def _source(where: str, source: Mapping[str, Any], *, elsewhere: bool) -> list[Cause]:
    """Check where a claim's first content comes from; `elsewhere`: it may be of another namespace."""
    group, kind = source.get("apiGroup") or "", source.get("kind") or ""
    causes = fields.missing(where, source, "name", "kind")
    if not group and kind != "PersistentVolumeClaim":
        why = "must be 'PersistentVolumeClaim' when referencing the default apiGroup"
        causes.append(fields.bad(where, kind, why))
    causes += fields.subdomain(f"{where}.apiGroup", group) if group else []
    home = source.get("namespace") if elsewhere else ""
    return causes + (fields.label_name(f"{where}.namespace", home) if home else [])


def _sources(field: str, spec: Mapping[str, Any]) -> list[Cause]:
    old, new = spec.get("dataSource"), spec.get("dataSourceRef")
    causes = [] if old is None else _source(f"{field}.dataSource", old, elsewhere=False)
    causes += [] if new is None else _source(f"{field}.dataSourceRef", new, elsewhere=True)
    if old is None or new is None:
        return causes
    if new.get("namespace"):
        why = "may not be specified when dataSourceRef.namespace is specified"
        return [*causes, fields.bad(field, _PATH, why)]
    same = all(old.get(key) == new.get(key) for key in ("apiGroup", "kind", "name"))
    return causes if same else [*causes, fields.bad(field, _PATH, "must match dataSourceRef")]


def claim_spec(field: str, spec: Mapping[str, Any]) -> list[Cause]:
    """Check the spec of a claim, or of a template of one (ValidatePersistentVolumeClaimSpec)."""
    where, modes = f"{field}.accessModes", spec.get("accessModes")
    causes = [] if modes else [fields.required(where, "at least 1 access mode is required")]
    causes += fields.label_selector(f"{field}.selector", spec.get("selector"))
    causes += access_modes(where, modes)
    requested = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    where = f"{field}.resources[storage]"
    causes += [fields.required(where)] if requested is None else size(where, requested)
    if spec.get("storageClassName"):
        causes += fields.subdomain(f"{field}.storageClassName", spec["storageClassName"])
    causes += fields.set_one_of(f"{field}.volumeMode", spec.get("volumeMode"), VOLUME_MODES)
    causes += _sources(field, spec)
    if spec.get("volumeAttributesClassName"):
        causes += fields.subdomain(f"{field}.volumeAttributesClassName", spec["volumeAttributesClassName"])
    return causes


def claimed(where: str, spec: Mapping[str, Any]) -> Iterator[str]:
    """Tell of sizes of a claim that are no whole bytes (pkg/api/persistentvolumeclaim)."""
    for key in ("requests", "limits"):
        text = at(spec, "resources", key, "storage")
        if text is not None and quantity.nano(text) < 2**63 * 10**6 and quantity.milli_value(text) % 1000:
            why = f'fractional byte value "{text}" is invalid, must be an integer'
            yield f"{where}.resources.{key}[storage]: {why}"


_DEPRECATED: Final = {
    CLASS_ANNOTATION: 'deprecated since v1.8; use "storageClassName" attribute instead',
    "volume.beta.kubernetes.io/mount-options": 'deprecated since v1.31; use "mountOptions" attribute instead',
}


def warns_of_annotations(document: Mapping[str, Any], only: Sequence[str] = tuple(_DEPRECATED)) -> Iterator[str]:
    """Tell of annotations that fields have taken the place of (pkg/api/persistentvolume)."""
    annotations = document["metadata"].get("annotations") or {}
    for key in only:
        if key in annotations:
            yield f"metadata.annotations[{key}]: {_DEPRECATED[key]}"
