"""Rules of what a pod takes from elsewhere: environment, keys of ConfigMaps and Secrets, its own fields.

Source: pkg/apis/core/validation (ValidateEnv, ValidateEnvFrom, validateProjectionSources), v1.34.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from controllers.registry import fields
from scheduler_core.api import quantity
from scheduler_core.api.errors import Cause

_MODE: Final = "must be a number between 0 and 0777 (octal), both inclusive"
_TOKEN_MIN: Final = 600
_TOKEN_MAX: Final = 2**32

_ENV_FIELDS: Final = (
    "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName",
    "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs",
)  # fmt: skip
_FILE_FIELDS: Final = ("metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid")
_KNOWN_FIELDS: Final = {
    *_ENV_FIELDS, *_FILE_FIELDS, "spec.restartPolicy", "spec.schedulerName", "status.phase", "spec.host",
}  # fmt: skip
_SUBSCRIPTED: Final = re.compile(r"(.*)\['(.*)'\]", re.DOTALL)
_RESOURCES: Final = (
    "limits.cpu", "limits.ephemeral-storage", "limits.memory",
    "requests.cpu", "requests.ephemeral-storage", "requests.memory",
)  # fmt: skip
_HUGE_PAGES: Final = ("limits.hugepages-", "requests.hugepages-")
_SIZES: Final = ("1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei")
_DIVISORS: Final = {
    "cpu": (("1m", "1"), "only divisor's values 1m and 1 are supported with the cpu resource"),
    "memory": (_SIZES, f"only divisor's values {', '.join(_SIZES)} are supported with the memory resource"),
    "ephemeral-storage": (
        _SIZES,
        f"only divisor's values {', '.join(_SIZES)} are supported with the local ephemeral storage resource",
    ),
    "hugepages": (_SIZES, f"only divisor's values {', '.join(_SIZES)} are supported with the hugepages resource"),
}
_ONE_OF: Final = "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`"


def mode(field: str, value: int | None) -> list[Cause]:
    """Check the mode of a file."""
    return [] if value is None or 0 <= value <= 0o777 else [fields.bad(field, value, _MODE)]


def key_to_path(where: str, item: Mapping[str, Any]) -> list[Cause]:
    """Check which key becomes which file."""
    causes = fields.missing(where, item, "key", "path")
    causes += fields.free_path(f"{where}.path", item.get("path") or "")
    return causes + mode(f"{where}.mode", item.get("mode"))


def _own_field(where: str, source: Mapping[str, Any], allowed: Iterable[str]) -> list[Cause]:
    """Check which of its own fields a pod asks for."""
    if source.get("apiVersion") == "":
        return [fields.required(f"{where}.apiVersion")]
    path = source.get("fieldPath") or ""
    field = f"{where}.fieldPath"
    if not path:
        return [fields.required(field)]
    match = _SUBSCRIPTED.fullmatch(path)
    version = source.get("apiVersion") or "v1"
    if version != "v1":
        return [fields.bad(field, path, f"error converting fieldPath: unsupported pod version: {version}")]
    if match is not None and match[1] in ("metadata.annotations", "metadata.labels"):
        key = match[2].lower() if match[1] == "metadata.annotations" else match[2]
        return fields.qualified_name(where, key)
    if match is not None:
        why = f"error converting fieldPath: field label does not support subscript: {path}"
        return [fields.bad(field, path, why)]
    if path not in _KNOWN_FIELDS:
        return [fields.bad(field, path, f"error converting fieldPath: field label not supported: {path}")]
    path = "spec.nodeName" if path == "spec.host" else path
    return [] if path in allowed else [fields.unsupported(field, path, allowed)]


def _own_resource(where: str, source: Mapping[str, Any], *, file: bool) -> list[Cause]:
    name = source.get("resource") or ""
    causes: list[Cause] = []
    if file and not source.get("containerName"):
        causes.append(fields.required(f"{where}.containerName"))
    elif not name:
        causes.append(fields.required(f"{where}.resource"))
    elif name not in _RESOURCES and not name.startswith(_HUGE_PAGES):
        causes.append(fields.unsupported(f"{where}.resource", name, _RESOURCES))
    divisor = source.get("divisor") or "0"
    told = "hugepages" if name.startswith(_HUGE_PAGES) else name.partition(".")[2] if name in _RESOURCES else ""
    if told and quantity.nano(divisor) != 0 and divisor not in _DIVISORS[told][0]:
        causes.append(fields.bad(f"{where}.divisor", name, _DIVISORS[told][1]))
    return causes


def downward_file(where: str, item: Mapping[str, Any]) -> list[Cause]:
    """Check a file that tells of the pod."""
    causes = fields.missing(where, item, "path") + fields.free_path(f"{where}.path", item.get("path") or "")
    field, resource = item.get("fieldRef"), item.get("resourceFieldRef")
    if field is not None:
        causes += _own_field(f"{where}.fieldRef", field, _FILE_FIELDS)
        if resource is not None:
            why = "fieldRef and resourceFieldRef can not be specified simultaneously"
            causes.append(fields.bad(where, "resource", why))
    elif resource is not None:
        causes += _own_resource(f"{where}.resourceFieldRef", resource, file=True)
    else:
        causes.append(fields.required(where, "one of fieldRef and resourceFieldRef is required"))
    return causes + mode(f"{where}.mode", item.get("mode"))


def _key(where: str, source: Mapping[str, Any]) -> list[Cause]:
    key = source.get("key") or ""
    causes = fields.subdomain(f"{where}.name", source.get("name") or "")
    return causes + (fields.config_key(f"{where}.key", key) if key else [fields.required(f"{where}.key")])


def _file_key(where: str, source: Mapping[str, Any]) -> list[Cause]:
    causes: list[Cause] = []
    rules = (("key", fields.env_name), ("volumeName", fields.label_name), ("path", fields.no_backsteps))
    for name, rule in rules:
        value = source.get(name) or ""
        causes += rule(f"{where}.{name}", value) if value else [fields.required(f"{where}.{name}")]
    return causes


_SOURCES: Final[Mapping[str, Callable[[str, Mapping[str, Any]], list[Cause]]]] = {
    "fieldRef": lambda where, source: _own_field(where, source, _ENV_FIELDS),
    "resourceFieldRef": lambda where, source: _own_resource(where, source, file=False),
    "configMapKeyRef": _key,
    "secretKeyRef": _key,
    "fileKeyRef": _file_key,
}


def environment(field: str, variables: Sequence[Mapping[str, Any]]) -> list[Cause]:
    """Check the variables of a container at `field` (`spec.containers[0].env`)."""
    causes: list[Cause] = []
    for index, variable in enumerate(variables):
        place = f"{field}[{index}]"
        name = variable.get("name") or ""
        causes += fields.env_name(f"{place}.name", name) if name else [fields.required(f"{place}.name")]
        source = variable.get("valueFrom")
        if source is None:
            continue
        where = f"{place}.valueFrom"
        given = [key for key in _SOURCES if source.get(key) is not None]
        for key in given:
            causes += _SOURCES[key](f"{where}.{key}", source[key])
        if not given:
            causes.append(fields.bad(where, "", _ONE_OF))
        elif variable.get("value"):
            causes.append(fields.bad(where, "", "may not be specified when `value` is not empty"))
        elif len(given) > 1:
            causes.append(fields.bad(where, "", "may not have more than one field specified at a time"))
    return causes


def environment_from(field: str, sources: Sequence[Mapping[str, Any]]) -> list[Cause]:
    """Check what a container takes all variables of, at `field` (`spec.containers[0].envFrom`)."""
    causes: list[Cause] = []
    for index, source in enumerate(sources):
        where = f"{field}[{index}]"
        causes += fields.env_name(f"{where}.prefix", source.get("prefix") or "")
        given = [key for key in ("configMapRef", "secretRef") if source.get(key) is not None]
        for key in given:
            name = source[key].get("name") or ""
            place = f"{where}.{key}.name"
            # Upstream checks it as a prefix of names: one hyphen at the end is let through.
            prefix = f"{name[:-1]}a" if len(name) > 1 and name.endswith("-") else name
            causes += fields.subdomain(place, prefix) if name else [fields.required(place)]
        if not given:
            causes.append(fields.bad(field, "", "must specify one of: `configMapRef` or `secretRef`"))
        elif len(given) > 1:
            causes.append(fields.bad(field, "", "may not have more than one field specified at a time"))
    return causes


def projected(where: str, volume: Mapping[str, Any]) -> list[Cause]:
    """Check a volume that is put together of several sources."""
    causes = mode(f"{where}.defaultMode", volume.get("defaultMode"))
    paths: set[str] = set()
    for index, source in enumerate(volume.get("sources") or ()):
        place = f"{where}.sources[{index}]"
        given = [key for key in _PROJECTIONS if source.get(key) is not None]
        for key in given:
            causes += _PROJECTIONS[key](where, f"{place}.{key}", source[key], paths)
        if len(given) > 1:
            causes.append(fields.not_allowed(place, "may not specify more than 1 volume type per source"))
    return causes


def _taken(where: str, told: str, path: str, paths: set[str]) -> list[Cause]:
    if path in paths:
        return [fields.bad(where, told, "conflicting duplicate paths")]
    paths.add(path)
    return []


def _projected_keys(where: str, place: str, source: Mapping[str, Any], paths: set[str]) -> list[Cause]:
    causes = fields.missing(place, source, "name")
    for index, item in enumerate(source.get("items") or ()):
        causes += key_to_path(f"{place}.items[{index}]", item)
        if item.get("path"):
            causes += _taken(where, source.get("name") or "", item["path"], paths)
    return causes


def _projected_fields(where: str, place: str, source: Mapping[str, Any], paths: set[str]) -> list[Cause]:
    causes: list[Cause] = []
    for item in source.get("items") or ():
        causes += downward_file(place, item)
        if item.get("path"):
            causes += _taken(where, item["path"], item["path"], paths)
    return causes


def _projected_token(where: str, place: str, source: Mapping[str, Any], paths: set[str]) -> list[Cause]:
    seconds, path = source.get("expirationSeconds") or 0, source.get("path") or ""
    field = f"{place}.expirationSeconds"
    causes: list[Cause] = []
    if seconds < _TOKEN_MIN:
        causes.append(fields.bad(field, seconds, "may not specify a duration less than 10 minutes"))
    if seconds > _TOKEN_MAX:
        causes.append(fields.bad(field, seconds, "may not specify a duration larger than 2^32 seconds"))
    return causes + (fields.free_path(f"{where}.path", path) if path else [fields.required(f"{where}.path")])


_PROJECTIONS: Final = {
    "secret": _projected_keys,
    "configMap": _projected_keys,
    "downwardAPI": _projected_fields,
    "serviceAccountToken": _projected_token,
}
